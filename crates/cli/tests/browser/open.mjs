// What the browser tests share: the program, a browser, a folder for pages, and what axe finds. XLA_SHAPE is the program, CHROMIUM the browser.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const run = (...args) => execFileSync(process.env.XLA_SHAPE, args, { encoding: 'utf8' });
export const examples = new URL('../../../../examples/', import.meta.url).pathname;
export const folder = mkdtempSync(join(tmpdir(), 'xla-shape-pages-'));
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });

after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

// The widths and schemes in which pages are seen: a narrow and a wide one, or with VIEWS=all each width in both schemes.
export const views = [[420, 'dark'], [1400, 'light'], [420, 'light'], [1400, 'dark']].slice(0, process.env.VIEWS === 'all' ? 4 : 2);

// A name that would do harm if a page used it as markup.
export const HOSTILE = '</script><script>document.title="owned"</script><!--<img src=x onerror=alert(1)>';

// Opens a page, perhaps with a fragment, and collects its errors and requests.
export async function open(path, viewport = { width: 1800, height: 1000 }, colorScheme = 'light', fragment = '') {
  const errors = [];
  const page = await browser.newPage({ viewport, colorScheme });
  page.on('console', message => { if (message.type() === 'error') errors.push(message.text()); });
  page.on('pageerror', error => errors.push(String(error)));
  page.on('request', request => { if (!/^(file|data):/.test(request.url())) errors.push(request.url()); });
  await page.goto(pathToFileURL(path).href + fragment);
  return { page, errors };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export async function findings(page) {
  await page.evaluate(axe);
  return (await page.evaluate(() => axe.run())).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}
