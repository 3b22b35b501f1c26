// Starts `rotule view` and a browser for tests and pictures.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

export const chromium_path = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Ends with the status that ctest takes for "skipped" where there is no browser. */
export function require_chromium() {
  if (existsSync(chromium_path)) return;
  console.log(`skipped: no browser at ${chromium_path} (Debian: chromium); CHROMIUM names another`);
  process.exit(77);
}

export async function launch() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath: chromium_path,
    args: [
      '--no-sandbox',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-quic',
      // Without a GPU these two make pictures several times as fast.
      '--in-process-gpu',
      '--disable-gpu-rasterization',
      // A page from a folder counts as one from elsewhere.
      ...(process.env.ROTULE_PAGE ? ['--disable-features=LocalNetworkAccessChecks'] : []),
    ],
  });
}

export class Program {
  /** Starts the viewer and waits for the address that it prints. */
  static async start(path, scene, port = 0, settings = []) {
    const program = new Program();
    program.process = spawn(path, ['view', scene, '--port', String(port), '--no-open', ...settings.flatMap((s) => ['--set', s])], { stdio: ['ignore', 'pipe', 'pipe'] });
    program.ended = new Promise((done) => program.process.once('exit', (code, signal) => done(code ?? signal)));
    let said = '';
    program.address = await new Promise((found, failed) => {
      const listen = (chunk) => {
        said += chunk;
        const match = /http:\/\/\S+/.exec(said);
        if (match) found(match[0]);
      };
      program.process.stdout.on('data', listen);
      program.process.stderr.on('data', listen);
      program.process.once('exit', (code) => failed(new Error(`rotule view ended with ${code}: ${said}`)));
    });
    program.port = Number(new URL(program.address).port);
    return program;
  }

  /** Ctrl-C; gives the exit status. */
  async stop() {
    this.process.kill('SIGINT');
    return this.ended;
  }
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.webp': 'image/webp' };

/** With ROTULE_PAGE=FOLDER the page comes from there, and only the stream from the program. */
export async function take_page_from_folder(page) {
  const folder = process.env.ROTULE_PAGE;
  if (!folder) return;
  await page.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url());
    const file = join(folder, pathname === '/' ? 'index.html' : pathname);
    if (existsSync(file) && statSync(file).isFile()) return route.fulfill({ body: readFileSync(file), contentType: types[extname(file)] ?? 'application/octet-stream' });
    return route.continue();
  });
}

/** A page with what its tests need: waiting for and reading window.rotule (called r), complaints of the console, named tests. */
export async function page_under_test(browser, { width = 800, height = 560 } = {}) {
  const page = await browser.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(60000); // a machine without a GPU may be busy with other tests
  await take_page_from_folder(page);
  const t = { page, complaints: [], server_away: false, passed: 0 };
  page.on('pageerror', (error) => t.complaints.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    const failed_socket = t.server_away && /WebSocket connection|ERR_CONNECTION/.test(message.text());
    const missing_thumbnail = /404/.test(message.text()) && /thumbnails/.test(message.location().url);
    if (message.type() === 'error' && !failed_socket && !missing_thumbnail) t.complaints.push(`console: ${message.text()}`);
  });
  /** Waits until an expression holds. */
  t.until = (condition, argument) =>
    page.waitForFunction(new Function('a', `const r = window.rotule; return r && (${condition});`), argument, { polling: 30 });
  t.read = (expression, argument) => page.evaluate(new Function('a', `const r = window.rotule; return ${expression};`), argument);
  t.test = async (name, body) => {
    const start = Date.now();
    try {
      await body();
    } catch (error) {
      console.log(`FAILED  ${name}`);
      console.log(await t.read('r?.summary').catch(() => 'the page does not answer'));
      if (t.complaints.length > 0) console.log(t.complaints.join('\n'));
      throw error;
    }
    ++t.passed;
    console.log(`ok      ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
  };
  t.is_pausing = async () => {
    if (await t.read('r.state.playing')) await page.click('#play');
    await t.until('!r.state.playing');
    // Frames under way arrive before the next message.
    await t.until('Math.abs(r.time - r.state.time) < 1e-9 * Math.max(1, r.time)');
  };
  t.is_playing = async () => {
    if (!(await t.read('r.state.playing'))) await page.click('#play');
    await t.until('r.state.playing');
  };
  return t;
}

/** The program's address with further settings of the page. */
export function page_address(program, settings) {
  const address = new URL(program.address);
  for (const [name, value] of Object.entries(settings)) address.searchParams.set(name, value);
  return address.href;
}
