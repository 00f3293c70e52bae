// How quickly the pages of a program with 100,000 instructions react. `XLA_SHAPE=PROGRAM node measure.mjs FOLDER`

import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { program } from './programs.mjs';

const folder = resolve(process.argv[2] ?? 'measured'), at = name => join(folder, name);
mkdirSync(folder, { recursive: true });
writeFileSync(at('huge.hlo'), program(100_000));
writeFileSync(at('wider.hlo'), program(100_000, 256));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const pages = [
  ['memory', ['hlo', at('huge.hlo')], ['#curve svg', '#map', '#table tbody tr:nth-child(5)']], ['cost', ['cost', at('huge.hlo')], ['#lines tbody tr:nth-child(5)']],
  ['diff', ['hlo', 'diff', at('huge.hlo'), at('wider.hlo')], ['#values tbody tr:nth-child(5)']], ['graph', ['hlo', 'show', at('huge.hlo'), '%v60000'], ['#graph button']],
];
for (const [name, args, places] of pages) {
  const begun = Date.now();
  execFileSync(process.env.XLA_SHAPE, [...args, '--html', at(`${name}.html`)], { stdio: 'ignore' });
  console.log(`${name}: ${Date.now() - begun} ms to write ${statSync(at(`${name}.html`)).size} bytes`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(pathToFileURL(at(`${name}.html`)).href, { waitUntil: 'load' });
  const paint = await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(() =>
    done(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? performance.now())))));
  console.log(`${name}: first paint after ${Math.round(paint)} ms`);
  for (const place of places) {
    const element = page.locator(place).first();
    await element.scrollIntoViewIfNeeded();
    const box = await element.boundingBox();
    // From the arrival of the pointer's event to the end of the frame that shows its effect.
    await page.evaluate(() => {
      globalThis.frames_ = [];
      addEventListener('pointermove', () => {
        const begun = performance.now();
        requestAnimationFrame(() => setTimeout(() => frames_.push(performance.now() - begun)));
      }, { capture: true });
    });
    for (let n = 0; n < 40; n += 1) await page.mouse.move(box.x + box.width * (0.1 + 0.02 * n), box.y + box.height / 2 + n % 3);
    await page.waitForTimeout(100);
    const times = (await page.evaluate(() => frames_.splice(0))).sort((a, b) => a - b);
    console.log(`${name}: pointer over ${place}: median ${times[times.length >> 1].toFixed(1)} ms, most ${times.at(-1).toFixed(1)} ms`);
  }
  const click = async (what, act) => {
    const begun = await page.evaluate(() => performance.now());
    await act();
    const ended = await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
    console.log(`${name}: ${what}: ${Math.round(ended - begun)} ms`);
  };
  if (name === 'memory') {
    await click('a step on the curve', () => page.locator('#curve svg').press('PageDown'));
    await click('search', () => page.locator('#search').fill('layer_7/'));
  }
  if (name === 'graph') await click('another instruction', () => page.locator('#graph button').first().click());
  await page.close();
}
await browser.close();
