// How smooth it is: brick_wall with a ball thrown at it, watched for some seconds. Measured are gaps between frames as they arrive and
// between pictures as they are drawn, and how long the program takes to answer each control.
//   node viewer_pace.mjs PATH_OF_ROTULE [SCENE] [SECONDS]
// What is judged is the program's part: frames that arrive, and answers. A machine without a GPU draws as fast as it can. Other work on
// the machine shows in all of it: with ROTULE_PACE=shared only standstills count.

import assert from 'node:assert/strict';
import { launch, page_address, page_under_test, Program, require_chromium } from './support.mjs';

require_chromium();
const [path, scene = 'brick_wall', seconds = '4'] = process.argv.slice(2);
assert.ok(path, 'usage: viewer_pace.mjs PATH_OF_ROTULE [SCENE] [SECONDS]');

/** Runs in the browser: throws a ball, notes when frames come, and how long each control takes to be answered. */
async function watch(seconds) {
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const socket = new WebSocket(`ws://${location.host}/stream`, 'rotule.1');
  socket.binaryType = 'arraybuffer';
  let state = null;
  let scene = null;
  let waiting = [];
  const frames = [];
  const answers = [];
  const until = (holds) => (holds() ? Promise.resolve() : new Promise((done) => waiting.push({ holds, done })));
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') return frames.push(performance.now());
    const message = JSON.parse(data);
    if (message.say === 'state') state = message;
    if (message.say === 'scene') scene = message;
    waiting = waiting.filter(({ holds, done }) => !holds() || (done(), false));
  };
  await new Promise((open) => (socket.onopen = open));
  await until(() => state?.playing && scene);
  const [low, high] = scene.bounds;
  const middle = low.map((x, k) => (x + high[k]) / 2);
  const size = Math.hypot(...low.map((x, k) => high[k] - x));
  const send = (command) => socket.send(JSON.stringify(command));
  const ball = () => send({ do: 'throw', from: [middle[0], middle[1] - 0.8 * size, middle[2]], velocity: [0, 15, 1], radius: 0.035 * size, mass: 5 });
  await sleep(500);
  ball();
  frames.length = 0;
  await sleep(1000 * seconds);
  const watched = frames.slice();
  const answer = async (command, holds) => {
    const begun = performance.now();
    send(command);
    await until(holds);
    answers.push([command.do, performance.now() - begun]);
  };
  for (let k = 0; k < 5; ++k) {
    ball();
    await sleep(200);
    await answer({ do: 'pause' }, () => !state.playing);
    await answer({ do: 'play' }, () => state.playing);
    await answer({ do: 'speed', factor: 0.5 }, () => state.speed === 0.5);
    await answer({ do: 'speed', factor: 1 }, () => state.speed === 1);
    const { dt } = scene;
    await answer({ do: 'recipe', changes: { dt: dt === 0.01 ? 1 / 60 : 0.01 } }, () => scene.dt !== dt);
    await answer({ do: 'seek', time: 0.1 }, () => state.time <= 0.2);
    await answer({ do: 'play' }, () => state.playing);
  }
  await answer({ do: 'restart' }, () => state.live_end < 0.2);
  socket.close();
  return { frames: watched, answers };
}

const gaps = (times) => times.slice(1).map((t, k) => t - times[k]);
const worst = (values) => Math.max(...values);
const figures = {};

const program = await Program.start(path, scene);
const browser = await launch();
try {
  // First a viewer that draws nothing: the program's own part. A picture's address is of the same origin as the page.
  const bare = await browser.newPage();
  await bare.goto(`${program.address}thumbnails/${scene}.webp`);
  const { frames, answers } = await bare.evaluate(watch, Number(seconds));
  await bare.close();
  figures.frame_gap = worst(gaps(frames));
  figures.frames_per_second = frames.length / Number(seconds);
  figures.answer = worst(answers.map(([, ms]) => ms));
  figures.slowest_answer = answers.find(([, ms]) => ms === figures.answer)[0];

  // Then in the browser: arrival and drawing.
  const t = await page_under_test(browser);
  await t.page.goto(page_address(program, { light: '1', theme: 'light' }));
  await t.until('r.connected && r.state?.playing && r.frames > 10');
  await t.page.mouse.move(400, 280);
  await t.page.keyboard.press('b');
  const seen = await t.page.evaluate(async (ms) => {
    const pictures = [];
    const arrived = [];
    let frames = window.rotule.frames;
    const end = performance.now() + ms;
    await new Promise((done) => {
      const look = (now) => {
        pictures.push(now);
        if (window.rotule.frames !== frames) {
          frames = window.rotule.frames;
          arrived.push(now);
        }
        if (now < end) requestAnimationFrame(look);
        else done();
      };
      requestAnimationFrame(look);
    });
    return { pictures, arrived };
  }, 1000 * Number(seconds));
  figures.picture_gap = worst(gaps(seen.pictures));
  figures.pictures_per_second = seen.pictures.length / Number(seconds);
  figures.moving_picture_gap = worst(gaps(seen.arrived));

  for (const [name, value] of Object.entries(figures)) console.log(`${name.padEnd(20)} ${typeof value === 'number' ? value.toFixed(1) : value}${/per|slowest/.test(name) ? '' : ' ms'}`);
  const shared = process.env.ROTULE_PACE === 'shared';
  assert.ok(figures.frames_per_second > (shared ? 5 : 30), `${figures.frames_per_second} frames a second`);
  assert.ok(figures.frame_gap < (shared ? 2000 : 34), `${figures.frame_gap} ms without a frame`);
  assert.ok(figures.answer < (shared ? 2000 : 100), `${figures.slowest_answer} was answered after ${figures.answer} ms`);
} finally {
  await browser.close();
  await program.stop();
}
