// Measures the page in a browser: the first answer, and large modules. SITE is the site, CHROMIUM the browser. Writes a line for each.

import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { program } from '../crates/cli/tests/browser/programs.mjs';
import { toFragment } from './link.js';

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm' };
const server = createServer((request, response) => {
  const name = new URL(request.url, 'http://x').pathname.replace(/^\/$/, '/index.html');
  response.setHeader('content-type', TYPES[name.split('.').pop()] ?? 'text/plain');
  response.setHeader('cache-control', 'max-age=600');
  response.end(readFileSync(join(process.env.SITE, name)));
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const folder = mkdtempSync(join(tmpdir(), 'explorer-'));

const answered = page => page.waitForFunction(
  () => /This is|error/.test(document.getElementById('status').textContent) && !document.querySelector('[aria-busy=true]'), null, { timeout: 240_000 });

// The time from the start of the navigation until the answer is in the page: on the first visit, and with the compiled module that the browser keeps.
async function first() {
  const fragment = await toFragment({ text: 'bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}' });
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const times = [];
  for (let n = 0; n < 8; n += 1) {
    const page = await context.newPage();
    await page.addInitScript(() => addEventListener('DOMContentLoaded', () => {
      new MutationObserver((_, observer) => {
        const status = document.getElementById('status').textContent;
        if (status.startsWith('This is')) { window.answered = performance.now(); observer.disconnect(); }
      }).observe(document.getElementById('status'), { childList: true });
    }));
    await page.goto(`${address}#${fragment}`);
    await page.waitForFunction(() => window.answered);
    times.push(await page.evaluate(() => [window.answered, performance.timing.domInteractive - performance.timing.navigationStart]));
    await page.close();
  }
  await context.close();
  const ms = ([all, loaded]) => `${all.toFixed(0)} (page read after ${loaded})`;
  console.log(`first answer, ms: first visit ${ms(times[0])}; later visits ${times.slice(1).map(ms).join(', ')}`);
}

async function large(mebibytes) {
  const path = join(folder, 'large.hlo');
  const perInstruction = program(2000).length / 2000;
  writeFileSync(path, program(Math.floor(mebibytes * (1 << 20) / perInstruction)));
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const page = await context.newPage();
  await page.goto(address);
  await page.evaluate(() => {
    window.tasks = [];
    window.bars = 0;
    new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(({ startTime, duration }) => [startTime, duration]))).observe({ type: 'longtask' });
    setInterval(() => { window.bars += !document.getElementById('progress').hidden; }, 50);
  });
  const from = Date.now();
  await page.locator('#open').setInputFiles(path);
  const start = await page.evaluate(() => performance.now());
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]'));
  await answered(page);
  const seconds = (Date.now() - from) / 1000;
  const { tasks, bars, status, said } = await page.evaluate(() => ({ tasks: window.tasks, bars: window.bars, status: document.getElementById('status').textContent, said: document.getElementById('said').textContent }));
  const during = tasks.map(([, duration]) => duration);
  console.log(`${(readFileSync(path).length / (1 << 20)).toFixed(1)} MiB: ${status} ${said.slice(0, 200)} after ${seconds.toFixed(1)} s; tasks of the page over 50 ms: ${during.map(ms => ms.toFixed(0)).join(', ') || 'none'}; the bar was seen ${bars} times`);
  await page.locator('#text').fill('f32[8]');
  await page.waitForFunction(() => document.getElementById('status').textContent === 'This is a shape.', null, { timeout: 60_000 });
  await context.close();
}

for (const what of process.argv.slice(2)) await (what === 'first' ? first() : large(Number(what)));
await browser.close();
server.close();
rmSync(folder, { recursive: true });
