// The page in a real browser, fed by the real program. Asserts on window.rotule, never on pixels.
//   node viewer_browser.mjs PATH_OF_ROTULE

import assert from 'node:assert/strict';
import { launch, page_address, page_under_test, Program, require_chromium } from './support.mjs';

require_chromium();
const path = process.argv[2];
assert.ok(path, 'usage: viewer_browser.mjs PATH_OF_ROTULE');

let program = await Program.start(path, 'mannequin');
const browser = await launch();
const t = await page_under_test(browser);
const { page, until, read, test, is_pausing, is_playing } = t;
const distance = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));

try {
  await test('the page loads and bodies move', async () => {
    await page.goto(page_address(program, { light: '1', theme: 'light' }));
    await until('r.connected && r.frames > 3');
    assert.equal(await read('r.bodies'), 15);
    const hand = await read('r.scene.bodies.findIndex((b) => b.name === "left_hand")');
    const before = await read('r.position(a)', hand);
    const frames = await read('r.frames');
    await is_playing();
    await until('r.frames > a + 5', frames);
    assert.ok(distance(before, await read('r.position(a)', hand)) > 0.01, 'the hand has moved');
    assert.ok((await read('r.draw()')).calls > 0, 'something is drawn');
  });

  await test('pause holds the time; a step moves it by dt', async () => {
    await is_pausing();
    const time = await read('r.time');
    await page.waitForTimeout(400);
    assert.equal(await read('r.time'), time);
    const dt = await read('r.scene.dt');
    await page.click('#step');
    await until('r.time > a', time);
    assert.ok(Math.abs((await read('r.time')) - time - dt) < 1e-9, 'one step is dt');
    assert.equal(await read('r.state.playing'), false);
  });

  await test('a picked body tells its numbers, and they agree with the picture', async () => {
    const chest = await read('r.scene.bodies.findIndex((b) => b.name === "chest")');
    await page.mouse.click(...(await read('r.on_screen(a)', chest)));
    await until('r.picked !== null && r.body && r.body.body === r.picked');
    const body = await read('r.body');
    const drawn = await read('r.position(r.picked)');
    const quantum = await read('r.scene.position_quantum');
    assert.ok(distance(body.position, drawn) <= quantum, `${body.position} and ${drawn}`);
    await page.click('[aria-label="Panel"]');
    await page.click('#tab_body');
    assert.equal(await page.textContent('#body_name'), body.name);
    await page.keyboard.press('Escape');
    await until('r.picked === null');
  });

  await test('scrubbing shows the past, and play goes back to now', async () => {
    const early = await read('[r.time, r.position(5)]');
    await is_playing();
    await until('r.state.live_end > a + 0.15', early[0]);
    await is_pausing();
    const late = await read('r.position(5)');
    assert.ok(distance(early[1], late) > 0.005, 'it has moved meanwhile');
    await page.$eval(
      '#scrub',
      (bar, time) => {
        bar.value = String(time);
        bar.dispatchEvent(new Event('input'));
        bar.dispatchEvent(new Event('change'));
      },
      early[0],
    );
    await until('Math.abs(r.time - a) < 0.02', early[0]);
    assert.ok(await read('r.state.live_end > r.time + 0.1'), 'the newest time is kept');
    assert.ok(distance(early[1], await read('r.position(5)')) < 0.5 * distance(early[1], late), 'it is near where it was');
    await until("document.querySelector('#clock').textContent.includes('/')"); // the clock says that this is the past
  });

  await test('a field of the recipe changes the run; a refused one changes nothing', async () => {
    await page.click('#tab_recipe');
    const before = await read('r.scene.recipe.integrator');
    const now = (await read('JSON.stringify(r.scene.recipe.integrator)')).includes('rk4') ? 'rk2' : 'rk4';
    await page.selectOption('[id="field_integrator"]', now);
    await until('JSON.stringify(r.scene.recipe.integrator).includes(a)', now);
    assert.notDeepEqual(await read('r.scene.recipe.integrator'), before);
    const dt = await read('r.scene.recipe.dt');
    await page.fill('[id="field_dt"]', '-1');
    await page.keyboard.press('Enter');
    await until('r.errors.length > 0');
    assert.equal(await read('r.scene.recipe.dt'), dt);
    assert.equal(Number(await page.inputValue('[id="field_dt"]')), dt, 'the form shows what holds');
    await page.keyboard.press('Tab');
    const time = await read('r.state.live_end');
    await is_playing();
    await until('r.state.live_end > a', time);
  });

  await test('plots fill', async () => {
    await until('r.plotted > 3');
    await is_pausing(); // leaves the processor to the clicks
    await page.click('#tab_plots');
    assert.ok((await page.locator('#page_plots canvas').count()) >= 3);
    assert.equal(await read('r.numbers.length'), await read('r.scene.numbers.length'));
    await page.click('[aria-label="Close panel"]');
  });

  await test('another scene is opened from the list', async () => {
    await page.click('[aria-label="Scenes"]');
    assert.ok((await page.locator('.card').count()) > 30);
    await page.fill('#scenes input[type="search"]', 'sliding');
    await page.click('[data-scene="sliding_block"]');
    await until('r.scene.name === "sliding_block" && r.bodies === 2 && r.frames > 0 && r.time >= 0');
  });

  const block = await read('r.scene.bodies.findIndex((b) => !b.static)');

  await test('a body is dragged by a spring', async () => {
    await is_playing();
    await until('r.time > 0.05');
    const before = await read('r.position(a)', block);
    const [x, y] = await read('r.on_screen(a)', block);
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let k = 1; k <= 6; ++k) await page.mouse.move(x, y - 25 * k);
    assert.equal(await read('r.dragging'), true);
    await until('r.position(a[0])[2] > a[1] + 0.05', [block, before[2]]);
    await page.mouse.up();
    assert.equal(await read('r.dragging'), false);
    await until('r.position(a[0])[2] < a[1] + 0.04', [block, before[2]]); // and falls down again
  });

  await test('contacts and forces are shown', async () => {
    await page.keyboard.press('c');
    await page.keyboard.press('f');
    await until('r.contacts > 0');
  });

  await test('a ball is thrown', async () => {
    await page.keyboard.press('b');
    await until('r.bodies === 3');
    const ball = await read('r.position(2)');
    await until('Math.hypot(...r.position(2).map((v, k) => v - a[k])) > 0.1', ball);
  });

  await test('help, theme and speed', async () => {
    await page.keyboard.press('?');
    await page.waitForSelector('#help[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#help:not([open])', { state: 'attached' });
    await page.click('[aria-label="Dark or light"]');
    assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
    await page.selectOption('#speed', '0.5');
    await until('r.state.speed === 0.5');
    const nameless = await page.$$eval('button', (all) => all.filter((b) => !b.getAttribute('aria-label') && !b.textContent.trim()).length);
    assert.equal(nameless, 0, 'every button has a name');
  });

  await test('the page reconnects after the program restarts', async () => {
    t.server_away = true;
    assert.equal(await program.stop(), 0, 'Ctrl-C ends it cleanly');
    await page.waitForSelector('#lost');
    program = await Program.start(path, 'pendulum', program.port);
    await until('r.connected && r.scene.name === "pendulum"');
    const frames = await read('r.frames');
    await is_playing();
    await until('r.frames > a + 3', frames);
    assert.equal(await page.locator('#lost').count(), 0);
  });

  await test('pause and a changed recipe act in the midst of a step that would not end', async () => {
    await program.stop();
    await page.waitForSelector('#lost');
    const endless = ['budget_seconds=0', 'solver=pgs', 'solver.tolerance=1e-300', 'solver.change_tolerance=0', 'solver.max_iterations=1000000000'];
    program = await Program.start(path, 'brick_wall', program.port, endless);
    await until('r.connected && r.scene.name === "brick_wall" && r.state.playing');
    await page.waitForTimeout(300); // by now it is at work
    const time = await read('r.state.live_end');
    const begun = Date.now();
    await page.click('#play');
    await until('!r.state.playing');
    assert.ok(Date.now() - begun < 5000, `${Date.now() - begun} ms until it paused`);
    assert.equal(await read('r.state.live_end'), time, 'the step counts as not begun');
    await page.click('#play');
    await until('r.state.playing');
    await page.click('[aria-label="Panel"]');
    await page.click('#tab_recipe');
    await page.selectOption('[id="field_solver"]', 'auto');
    await until('r.state.live_end > a', time);
  });

  assert.deepEqual(t.complaints, [], 'console free of errors');
  console.log(`${t.passed} tests passed, console free of errors`);
} finally {
  await browser.close();
  await program.stop();
}
