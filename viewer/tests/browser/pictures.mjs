// Pictures of the page for the docs: view_NAME.webp.
//   node pictures.mjs PATH_OF_ROTULE FOLDER [NAME]...

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, page_address, Program, require_chromium, take_page_from_folder } from './support.mjs';

const laptop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

// What to show: the scene, when, with which settings of the page and keys pressed, on which screen.
const pictures = {
  mannequin: { scene: 'mannequin', time: 1.4, settings: { theme: 'light', show: 'forces,joints', panel: 'plots' } },
  brick_wall: { scene: 'brick_wall', time: 0.2, settings: { theme: 'dark', panel: 'recipe' }, ball: [0.42, 0.45], after: 1.5 },
  chain_fall: { scene: 'chain_fall', time: 0.3, settings: { theme: 'light', show: 'velocities' } },
  marble_box: { scene: 'marble_box', time: 0.9, settings: { theme: 'light' } },
  tripods: { scene: 'tripods', time: 1.2, settings: { theme: 'dark' } },
  cloth: { scene: 'cloth', time: 0.9, settings: { theme: 'light' } },
  gyroscope: { scene: 'gyroscope', time: 0.6, settings: { theme: 'dark', show: 'forces,velocities,joints', panel: 'layers' } },
  masonry_arch: { scene: 'masonry_arch', time: 0.1, settings: { theme: 'light', show: 'forces,xray', panel: 'layers' } },
  ragdoll_heap: { scene: 'ragdoll_heap', time: 1.15, settings: { theme: 'light' } },
  domino_run: { scene: 'domino_run', time: 0.7, settings: { theme: 'dark' } },
  phone: { scene: 'tripods', time: 1.2, settings: { theme: 'light' }, screen: phone },
  phone_plots: { scene: 'newton_cradle', time: 0.8, settings: { theme: 'dark', panel: 'plots' }, screen: phone },
  scenes: { scene: 'rock_pile', time: 0.1, settings: { theme: 'light', scenes: '1' } },
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

const browser = await launch();
for (const [name, picture] of Object.entries(pictures)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { scene, time, settings, ball, after, screen = laptop, speed = 0.5 } = picture;
  const program = await Program.start(path, scene);
  try {
    const page = await browser.newPage({ viewport: screen, deviceScaleFactor: screen === phone ? 2 : 1 });
    page.setDefaultTimeout(240000);
    page.on('console', (message) => console.log(`${name}: ${message.text()}`));
    page.on('pageerror', (error) => console.log(`${name}: ${error.message}`));
    await take_page_from_folder(page);
    await page.goto(page_address(program, settings));
    const reach = (t) => page.waitForFunction((at) => (window.rotule?.time ?? 0) >= at, t, { polling: 15 });
    // Slowly, and from the start again: by now the run is somewhere.
    await page.waitForFunction(() => window.rotule?.frames > 0);
    const generation = await page.evaluate((factor) => {
      window.rotule.send({ do: 'speed', factor });
      window.rotule.send({ do: 'restart' });
      return window.rotule.scene.generation;
    }, speed);
    await page.waitForFunction((before) => window.rotule.scene.generation !== before, generation);
    await reach(time);
    if (ball) {
      await page.mouse.move(ball[0] * screen.width, ball[1] * screen.height);
      await page.keyboard.press('b');
      await reach(after);
    }
    await page.evaluate(() => {
      window.rotule.send({ do: 'pause' });
      window.rotule.send({ do: 'speed', factor: 1 });
    });
    await page.waitForFunction(() => !window.rotule.state.playing && window.rotule.state.speed === 1);
    await page.waitForTimeout(600);
    const webp = await to_webp(browser, await page.screenshot(), 0.88);
    writeFileSync(join(folder, `view_${name}.webp`), webp);
    console.log(`view_${name}.webp: ${(webp.length / 1000).toFixed(0)} kB, ${await page.evaluate(() => window.rotule.summary)}`);
    await page.close();
  } finally {
    await program.stop();
  }
}
await browser.close();
