// What a person meets on the page: speeds that fit, names, colours, the camera, keys after clicks, signs of work, the dial.
//   node viewer_person.mjs PATH_OF_ROTULE

import assert from 'node:assert/strict';
import { launch, page_address, page_under_test, Program, require_chromium } from './support.mjs';

require_chromium();
const path = process.argv[2];
assert.ok(path, 'usage: viewer_person.mjs PATH_OF_ROTULE');

let program = await Program.start(path, 'planets');
const browser = await launch();
const t = await page_under_test(browser);
const { page, until, read, test, is_pausing, is_playing } = t;
const open = async (scene) => {
  await read('r.send({ do: "open", scene: a })', scene);
  await until('r.scene.name === a && r.frames > 0', scene);
  await until('r.state.playing');
};
const show_tab = async (name) => {
  if (await page.isHidden('#panel')) await page.keyboard.press('p');
  await page.click(`#tab_${name}`);
};
const inside = ([x, y], margin = 0) => x > -margin && x < 800 + margin && y > -margin && y < 560 + margin;

try {
  await test('planets move at once, by days, and the speeds on offer fit', async () => {
    await page.goto(page_address(program, { light: '1', theme: 'light', panel: 'layers' }));
    await until('r.connected && r.frames > 3');
    assert.equal(await read('r.state.speed'), 20 * 86400);
    const time = await read('r.time');
    await until('r.time > a + 10 * 86400', time);
    const speeds = await page.$$eval('#speed option', (all) => all.map((o) => o.textContent));
    assert.ok(speeds.includes('20 d/s') && speeds.includes('1 d/s') && speeds.includes('500 d/s'), speeds.join());
    assert.ok(!speeds.includes('1×'), speeds.join());
    assert.match(await page.textContent('#clock'), / (d|yr)$/);
    await page.keyboard.press(']');
    await until('r.state.speed === 50 * 86400');
  });

  await test('planets are drawn about an origin and in a unit of their own', async () => {
    const { unit, reach } = await read('r.space');
    assert.equal(unit, 1e12);
    assert.ok(reach < 100, `the camera is ${reach} units away: floats would do`);
    await until("document.querySelector('#legend').textContent.includes('e11 m')");
    await page.keyboard.press('a');
    await until("[...document.querySelectorAll('.label')].some((l) => !l.hidden && l.textContent === 'saturn')");
    await page.keyboard.press('a');
    await until("[...document.querySelectorAll('.label')].every((l) => l.hidden)");
  });

  await test('the pointer tells names; A shows all of them', async () => {
    await open('mannequin');
    await is_pausing();
    const chest = await read('r.scene.bodies.findIndex((b) => b.name === "chest")');
    const [x, y] = await read('r.on_screen(a)', chest);
    await page.mouse.move(x - 3, y);
    await page.mouse.move(x, y);
    await until("(document.querySelector('.label.over')?.hidden === false)");
    const name = await page.textContent('.label.over');
    assert.ok(await read('r.scene.bodies.some((b) => b.name === a)', name), name);
    await page.mouse.move(400, 540);
    await until("document.querySelector('.label.over').hidden");
    await page.keyboard.press('a');
    await until("[...document.querySelectorAll('.label:not(.over)')].filter((l) => !l.hidden).length > 5");
    await page.keyboard.press('a');
  });

  await test('colours mean something: speed, load, mass, islands', async () => {
    await open('brick_wall');
    await until('r.time > 0.1');
    const brick = await read('r.scene.bodies.findIndex((b) => !b.static)');
    const own = await read('r.colour(a)', brick);
    const scale = () => page.$eval('#colour_scale', (e) => (e.hidden ? null : e.textContent));
    assert.equal(await scale(), null);
    await page.selectOption('#colour_by', 'load');
    await until('r.colour(a[0]) !== a[1]', [brick, own]);
    await until("/[1-9].* N$/.test(document.querySelector('#colour_scale').textContent)");
    // The lowest bricks bear more than the topmost.
    const height = await read('r.scene.bodies.map((b, k) => (b.static ? NaN : r.position(k)[2]))');
    const bricks = height.map((z, k) => [z, k]).filter(([z]) => !Number.isNaN(z)).sort((a, b) => a[0] - b[0]);
    assert.notEqual(await read('r.colour(a)', bricks[3][1]), await read('r.colour(a)', bricks.at(-1)[1]));
    await page.selectOption('#colour_by', 'mass');
    await until("/kg$/.test(document.querySelector('#colour_scale').textContent)");
    await page.selectOption('#colour_by', 'speed');
    await until("/m\\/s$/.test(document.querySelector('#colour_scale').textContent)");
    await page.keyboard.press('i');
    assert.equal(await page.inputValue('#colour_by'), 'islands');
    await page.keyboard.press('i');
    await until('r.colour(a[0]) === a[1]', [brick, own]);
  });

  await test('Space plays and pauses after a click on the time bar, and on any button', async () => {
    await is_playing();
    await until('r.state.live_end > 0.3');
    const bar = await page.locator('#scrub').boundingBox();
    await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2);
    const playing = await read('r.state.playing');
    await page.keyboard.press(' ');
    await until('r.state.playing !== a', playing);
    await page.keyboard.press(' ');
    await until('r.state.playing === a', playing);
    const theme = await read('document.documentElement.dataset.theme');
    await page.click('[aria-label="Dark or light"]');
    await page.keyboard.press(' ');
    await until('r.state.playing !== a', playing);
    assert.notEqual(await read('document.documentElement.dataset.theme'), theme, 'the button was pressed once');
    await page.click('[aria-label="Dark or light"]');
  });

  await test('the camera keeps what moves in the picture, and follows through zooming', async () => {
    await page.click('[aria-label="Close panel"]');
    await open('slide_to_roll');
    const ball = await read('r.scene.bodies.findIndex((b) => !b.static)');
    await until('r.time > 3');
    await is_pausing();
    assert.ok((await read('r.position(a)', ball))[0] > 10, 'it has gone far');
    assert.ok(inside(await read('r.on_screen(a)', ball)), 'seen without a hand on the camera');
    // Taken by hand, then told to follow.
    await page.mouse.move(200, 300);
    await page.mouse.down();
    await page.mouse.move(260, 310, { steps: 4 });
    await page.mouse.up();
    await page.mouse.click(...(await read('r.on_screen(a)', ball)));
    await until('r.picked === a', ball);
    await page.keyboard.press('t');
    await page.mouse.move(120, 150);
    await page.mouse.wheel(0, -240);
    const place = await read('r.position(a)', ball);
    await is_playing();
    await until('r.position(a[0])[0] > a[1] + 8', [ball, place[0]]);
    await is_pausing();
    await read('r.draw()');
    assert.ok(inside(await read('r.on_screen(a)', ball)), 'still seen');
    await page.keyboard.press('t');
    await page.keyboard.press('Escape');
  });

  await test('plots have no axes for what a scene does not have', async () => {
    await open('pendulum');
    await show_tab('plots');
    await until('r.plotted > 30 && r.time > 0.5');
    await until("document.querySelector('#absent').textContent.includes('contacts')");
    const shown = await page.$$eval('#page_plots figure', (all) => all.filter((f) => !f.hidden).map((f) => f.dataset.number));
    assert.ok(shown.includes('kinetic_energy') || shown.includes('energy'), shown.join());
    assert.ok(!shown.some((key) => /contact|penetration|shock/.test(key)), shown.join());
  });

  await test('solvers stand in groups, and those that do not fit stand apart with the reason', async () => {
    await show_tab('recipe');
    const groups = await page.$$eval('[id="field_solver"] optgroup', (all) => all.map((g) => [g.label, g.children.length]));
    assert.ok(groups.length >= 3, JSON.stringify(groups));
    assert.equal(groups[0][0], 'recommended');
    await open('brick_wall');
    await until('r.scene.dial === "realtime"'); // what touches is watched in real time
    await page.click('#dial_balanced');
    await until('r.scene.dial === "balanced"');
    await until("document.querySelector('[id=field_solver]').value === r.scene.recipe.solver.name || document.querySelector('[id=field_solver]').value === r.scene.recipe.solver");
    const unfit = await page.$$eval('[id="field_solver"] optgroup:last-child option', (all) => all.map((o) => [o.value, o.title]));
    const ldlt = unfit.find(([name]) => name === 'ldlt');
    assert.ok(ldlt && ldlt[1].length > 10, `ldlt knows no bounds: ${JSON.stringify(unfit)}`);
    assert.ok(!unfit.some(([name]) => name === 'auto' || name === 'pgs'), JSON.stringify(unfit));
  });

  await test('a refusal can be read in full, and goes: by a click, or when a change is accepted', async () => {
    const refuse = async () => {
      const before = await read('r.errors.length');
      await read("r.send({ do: 'recipe', changes: { solver: 'ldlt' } })");
      await until('r.errors.length > a', before);
      await page.waitForSelector('.notice.error');
    };
    await refuse();
    const [text, cut] = await page.$eval('.notice.error', (e) => [e.textContent, e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflowY !== 'auto']);
    assert.equal(text, await read('r.errors.at(-1)'));
    assert.ok(!cut, 'all of it can be read');
    await page.click('.notice.error');
    assert.equal(await page.locator('.notice.error').count(), 0);
    await refuse();
    await read("r.send({ do: 'recipe', changes: { solver: 'pgs' } })");
    await until("document.querySelector('.notice.error') === null");
  });

  await test('what is said is said beside the panel, on small screens too', async () => {
    for (const [width, height] of [[800, 560], [1280, 800], [390, 700], [844, 390]]) {
      await page.setViewportSize({ width, height });
      if (await page.isHidden('#panel')) await page.keyboard.press('p');
      const before = await read('r.errors.length');
      await read("r.send({ do: 'recipe', changes: { solver: 'ldlt' } })");
      await until('r.errors.length > a', before);
      await page.waitForSelector('.notice.error');
      const over = await page.evaluate(() => {
        const [a, b] = ['.notice.error', '#panel'].map((s) => document.querySelector(s).getBoundingClientRect());
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
      });
      assert.equal(over, false, `at ${width} x ${height}`);
      await page.click('.notice.error');
    }
    await page.setViewportSize({ width: 800, height: 560 });
  });

  await test('the dial makes a recipe that fits, and an accuracy does too', async () => {
    await page.click('#dial_exact');
    await until('r.scene.dial === "exact" && r.scene.accuracy === null');
    assert.equal(await page.inputValue('#dial'), '2');
    const exact = await read('r.scene.dt');
    await page.click('#dial_realtime');
    await until('r.scene.dial === "realtime"');
    assert.ok((await read('r.scene.dt')) > exact, 'coarser steps');
    const keeps_time = await read('JSON.stringify(r.scene.recipe.stepper).includes("realtime") || r.scene.recipe.budget_seconds > 0');
    assert.ok(keeps_time, 'pictures keep coming');
    await page.fill('#accuracy', '1e-3');
    await page.keyboard.press('Enter');
    await until('r.scene.accuracy === 1e-3 && r.scene.dial === null');
    const time = await read('r.state.live_end');
    await until('r.state.live_end > a', time);
    // A field that is changed by hand ends it.
    await read("r.send({ do: 'recipe', changes: { dt: 0.01 } })");
    await until('r.scene.accuracy === null && r.scene.dt === 0.01');
    await until("document.querySelector('#dial').classList.contains('unset')");
  });

  await test('titles, help and dialogs are not cut off, on small screens too', async () => {
    for (const [width, height] of [[800, 560], [1280, 800], [390, 700]]) {
      await page.setViewportSize({ width, height });
      const title = await page.$eval('.names', (e) => [e.scrollWidth <= e.clientWidth + 1, [...e.children].every((c) => c.scrollHeight <= c.clientHeight + 1)]);
      assert.deepEqual(title, [true, true], `the title at ${width} x ${height}`);
      await page.keyboard.press('?');
      const fits = await page.$eval('#help', (dialog) => {
        const box = dialog.getBoundingClientRect();
        const last = [...dialog.querySelectorAll('.keys')].at(-1).lastElementChild;
        last.scrollIntoView({ block: 'nearest' });
        const end = last.getBoundingClientRect();
        return [box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth, end.bottom <= box.bottom + 0.5 && end.right <= box.right + 0.5];
      });
      assert.deepEqual(fits, [true, true], `help at ${width} x ${height}`);
      await page.keyboard.press('Escape');
    }
    await page.setViewportSize({ width: 800, height: 560 });
    // A description ends where a sentence does.
    for (const scene of ['bridge_truss', 'kepler', 'newton_cradle_joints']) {
      await open(scene);
      const about = await page.textContent('#about');
      const whole = await read('r.scene.about');
      assert.ok(whole.startsWith(about) && /^([.;]|$)/.test(whole.slice(about.replace(/\.$/, '').length)), about);
    }
  });

  await test('with Shift a body is posed: joints hold, and nothing moves afterwards', async () => {
    await open('mannequin');
    await is_pausing();
    const hand = await read("r.scene.bodies.findIndex((b) => b.name === 'left_hand')");
    const apart = () => read("r.numbers[r.scene.numbers.findIndex((n) => n.key === 'joint_error')]");
    const before = await read('r.position(a)', hand);
    const time = await read('r.time');
    const [x, y] = await read('r.on_screen(a)', hand);
    await page.keyboard.down('Shift');
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let k = 1; k <= 6; ++k) await page.mouse.move(x, y - 12 * k);
    assert.equal(await read('r.dragging'), true);
    await until('r.position(a[0])[2] > a[1] + 0.05', [hand, before[2]]);
    assert.ok((await apart()) < 1e-6, `joints are ${await apart()} m apart`);
    await page.mouse.up();
    await page.keyboard.up('Shift');
    assert.equal(await read('r.state.playing'), false);
    assert.equal(await read('r.time'), time, 'no time has passed');
    // Stepped on from there, it starts from rest.
    await read("r.send({ do: 'pick', body: a })", hand);
    await until('r.body !== null && r.body.body === a', hand);
    assert.ok((await read('Math.hypot(...r.body.velocity)')) < 1e-9);
  });

  await test('switches of a fluid are there where one is', async () => {
    for (const [scene, expected] of [
      ['vortex_street', true],
      ['double_pendulum', false],
    ]) {
      await open(scene);
      await show_tab('layers');
      for (const id of ['layer_fluid', 'layer_streamlines', 'layer_flow_arrows', 'fluid_colour']) assert.equal(await page.isVisible(`#${id}`), expected, `${scene}: ${id}`);
      assert.ok(await page.isVisible('#layer_forces'));
    }
  });

  await test('modes are listed, and one is shown in motion', async () => {
    await open('double_pendulum');
    await show_tab('modes');
    await page.click('#find_modes');
    await page.waitForSelector('.mode');
    await until('!r.state.playing');
    const count = await page.locator('.mode').count();
    assert.ok(count >= 2, `${count} modes`);
    assert.match(await page.textContent('#modes_about'), /equilibrium/);
    await page.click('.mode >> nth=0');
    await until('r.swinging');
    const place = () => read('r.on_screen(r.bodies - 1)');
    const seen = [];
    for (let k = 0; k < 12; ++k) {
      seen.push(await place());
      await page.waitForTimeout(120);
    }
    const spread = Math.max(...seen.map(([x]) => x)) - Math.min(...seen.map(([x]) => x)) + Math.max(...seen.map(([, y]) => y)) - Math.min(...seen.map(([, y]) => y));
    assert.ok(spread > 4, `it moves by ${spread} pixels`);
    await page.click('#stop_mode');
    await until('!r.swinging');
    await is_playing();
  });

  await test('a step that was cut says so, with its residual', async () => {
    t.server_away = true;
    await program.stop();
    await page.waitForSelector('#lost');
    assert.equal(await page.getAttribute('#play', 'aria-label'), 'Play', 'nothing plays where no program is');
    assert.ok(await page.isDisabled('#play'));
    program = await Program.start(path, 'brick_wall', program.port, ['budget_seconds=1e-5']);
    await until('r.connected && r.scene.name === "brick_wall" && r.state.playing');
    await until("!document.querySelector('#cut').hidden && /[1-9]\\d* steps? cut, residual \\S+/.test(document.querySelector('#cut').textContent)");
    assert.equal(await page.getAttribute('#play', 'aria-label'), 'Pause');
  });

  await test('a step that takes long is seen to be computed', async () => {
    await program.stop();
    await page.waitForSelector('#lost');
    const endless = ['budget_seconds=0', 'solver=pgs', 'solver.tolerance=1e-300', 'solver.change_tolerance=0', 'solver.max_iterations=1000000000'];
    program = await Program.start(path, 'brick_wall', program.port, endless);
    await until('r.connected && r.state.playing');
    await until("!document.querySelector('#busy').hidden && document.querySelector('#busy').textContent.startsWith('computing a step')");
    await page.click('#play');
    await until("!r.state.playing && document.querySelector('#busy').hidden");
  });

  assert.deepEqual(t.complaints, [], 'console free of errors');
  console.log(`${t.passed} tests passed, console free of errors`);
} finally {
  await browser.close();
  await program.stop();
}
