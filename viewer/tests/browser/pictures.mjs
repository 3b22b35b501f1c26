// Pictures of the page for the docs: view_NAME.webp.
//   node pictures.mjs PATH_OF_ROTULE FOLDER [NAME]...

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, page_address, Program, require_chromium, take_page_from_folder } from './support.mjs';

const laptop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

// What to show: the scene, when, with which settings of the page, what is done there, on which screen.
const pictures = {
  mannequin: { scene: 'mannequin', time: 1, settings: { theme: 'light', show: 'forces,joints', panel: 'plots' } },
  brick_wall: { scene: 'brick_wall', time: 0.2, settings: { theme: 'dark', panel: 'recipe' }, ball: [0.42, 0.45], after: 0.9 },
  chain_fall: { scene: 'chain_fall', time: 0.6, settings: { theme: 'light', show: 'velocities' } },
  marble_box: { scene: 'marble_box', time: 0.7, settings: { theme: 'light' } },
  tripods: { scene: 'tripods', time: 1.2, settings: { theme: 'dark' } },
  cloth: { scene: 'cloth', time: 0.9, settings: { theme: 'light' } },
  gyroscope: { scene: 'gyroscope', time: 0.6, settings: { theme: 'dark', show: 'forces,velocities,joints', panel: 'layers' } },
  masonry_arch: { scene: 'masonry_arch', time: 0.1, settings: { theme: 'light', show: 'forces,xray', panel: 'layers' } },
  ragdoll_heap: { scene: 'ragdoll_heap', time: 0.75, settings: { theme: 'light' } },
  bridge_truss: { scene: 'bridge_truss', time: 0.1, settings: { theme: 'light', show: 'forces', panel: 'layers' } },
  card_house: { scene: 'card_house', time: 0.1, settings: { theme: 'dark', show: 'contacts' } },
  planets: { scene: 'planets', time: 3e7, settings: { theme: 'dark', show: 'names', panel: 'layers' } },
  load: { scene: 'pyramid_40', time: 0.5, settings: { theme: 'light', show: 'load', panel: 'layers' } },
  phone: { scene: 'tripods', time: 1.2, settings: { theme: 'light' }, screen: phone },
  phone_plots: { scene: 'newton_cradle', time: 0.8, settings: { theme: 'dark', panel: 'plots' }, screen: phone },
  scenes: { scene: 'rock_pile', time: 0.1, settings: { theme: 'light', scenes: '1' } },
  body: {
    scene: 'slider_crank',
    time: 0.4,
    settings: { theme: 'light', show: 'forces,joints', panel: 'body' },
    act: async (page) => {
      const [x, y] = await page.evaluate(() => window.rotule.on_screen(1));
      await page.mouse.click(x, y);
      await page.waitForFunction(() => window.rotule.body !== null);
    },
  },
  modes: {
    scene: 'hanging_chain_1000',
    time: 0,
    settings: { theme: 'dark', panel: 'modes' },
    act: async (page) => {
      await page.click('#find_modes');
      await page.click('.mode:has-text("Hz") >> nth=4');
      await page.waitForFunction(() => window.rotule.swinging);
    },
  },
  help: { scene: 'newton_cradle', time: 0.4, settings: { theme: 'light' }, act: (page) => page.keyboard.press('?') },
  fluid: { scene: 'vortex_street', time: 40, settings: { theme: 'dark', show: 'fluid,streamlines', panel: 'layers' } },
};

require_chromium();
const [path, folder, ...names] = process.argv.slice(2);
if (!folder) throw new Error('usage: pictures.mjs PATH_OF_ROTULE FOLDER [NAME]...');

/** PNG to WebP, by the browser. */
async function to_webp(browser, png, quality) {
  const page = await browser.newPage();
  const text = await page.evaluate(
    async ([data, q]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext('2d').drawImage(image, 0, 0);
      return canvas.toDataURL('image/webp', q).split(',')[1];
    },
    [png.toString('base64'), quality],
  );
  await page.close();
  return Buffer.from(text, 'base64');
}

for (const [name, picture] of Object.entries(pictures)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { scene, time, settings, ball, after, act, screen = laptop } = picture;
  const program = await Program.start(path, scene);
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: screen, deviceScaleFactor: screen === phone ? 2 : 1 });
    page.setDefaultTimeout(240000);
    page.on('console', (message) => console.log(`${name}: ${message.text()}`));
    page.on('pageerror', (error) => console.log(`${name}: ${error.message}`));
    await take_page_from_folder(page);
    await page.goto(page_address(program, settings));
    await page.waitForFunction(() => window.rotule?.frames > 0);
    // From the start again, in steps of a thirtieth of a second (of a hundredth of the way, where that is more): the same picture on
    // fast and slow machines.
    const generation = await page.evaluate(() => {
      window.rotule.send({ do: 'restart' });
      window.rotule.send({ do: 'pause' });
      return window.rotule.scene.generation;
    });
    await page.waitForFunction((before) => window.rotule.scene.generation !== before && !window.rotule.state.playing, generation);
    const reach = async (end) => {
      for (;;) {
        const frames = await page.evaluate((t) => {
          const { time, frames: count, scene: now } = window.rotule;
          if (time >= t - now.dt / 2) return -1;
          window.rotule.send({ do: 'step', count: Math.min(1000, Math.max(1, Math.round(Math.min(Math.max(1 / 30, t / 100), t - time) / now.dt))) });
          return count;
        }, end);
        if (frames < 0) return;
        await page.waitForFunction((before) => window.rotule.frames > before, frames, { polling: 10 });
      }
    };
    await reach(time);
    if (ball) {
      await page.mouse.move(ball[0] * screen.width, ball[1] * screen.height);
      const bodies = await page.evaluate(() => window.rotule.bodies);
      await page.keyboard.press('b');
      await page.waitForFunction((before) => window.rotule.bodies > before, bodies);
      await reach(after);
    }
    await act?.(page);
    await page.waitForFunction(() => document.querySelector('.notice') === null);
    await page.waitForTimeout(600);
    const webp = await to_webp(browser, await page.screenshot(), 0.88);
    writeFileSync(join(folder, `view_${name}.webp`), webp);
    console.log(`view_${name}.webp: ${(webp.length / 1000).toFixed(0)} kB, ${await page.evaluate(() => window.rotule.summary)}`);
  } finally {
    await browser.close();
    await program.stop();
  }
}
