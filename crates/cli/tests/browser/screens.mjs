// Writes every page, with a small program and one with 10,000 instructions, and pictures of each: light and dark, wide and narrow. Says what axe
// finds. `XLA_SHAPE=PROGRAM node screens.mjs FOLDER`

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { program } from './programs.mjs';

const folder = resolve(process.argv[2] ?? 'screens'), only = process.argv[3];
mkdirSync(folder, { recursive: true });
const at = name => join(folder, name);
const examples = new URL('../../../../examples/', import.meta.url).pathname;
const small = join(examples, 'hlo/v5e__rnn_scan.hlo');
writeFileSync(at('large.hlo'), program(10_000));
writeFileSync(at('wider.hlo'), program(10_050, 256));
writeFileSync(at('changed.hlo'), readFileSync(small, 'utf8').replaceAll('bf16[20,4,', 'bf16[40,4,'));
const pages = [
  ['memory', 'hlo', small], ['memory-large', 'hlo', at('large.hlo')],
  ['profile', 'cost', join(examples, '../tests/corpus/profiles/train.xplane.pb')], ['roofline', 'cost', join(examples, '../tests/corpus/profiles/v6e.xplane.pb')],
  ['cost', 'cost', small], ['cost-large', 'cost', at('large.hlo')],
  ['diff', 'hlo', 'diff', small, at('changed.hlo')], ['diff-large', 'hlo', 'diff', at('large.hlo'), at('wider.hlo')],
  ['graph', 'hlo', 'show', small, '%fusion.8'], ['graph-large', 'hlo', 'show', at('large.hlo'), '%v6000'],
  ['kernel', 'kernel', join(examples, 'kernels/first'), '--source', join(examples, 'kernels/shifted_sum.py')],
  ['tune', 'tune', small, '--share', 'x=arg0'],
  ['tiles', 'draw', 'f32[3,5]{1,0:T(2,2)}'], ['tiles-large', 'draw', 'bf16[10000,3000]{1,0:T(8,128)(2,1)}'],
  ['devices', 'draw', 'f32[64,128]{1,0:T(8,128)}', '--sharding', '{devices=[4,2]<=[8]}'],
  ['registers', 'draw', 'bf16[20,300]', '--vector', '16,{1,0},(16,128)'],
].filter(([name]) => !only || name.startsWith(only));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
for (const [name, ...args] of pages) {
  try {
    execFileSync(process.env.XLA_SHAPE, [...args, '--html', at(`${name}.html`)], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    console.log(`${name}: ${String(error.stderr).trim().split('\n')[0]}`);
  }
  for (const width of [1400, 420]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      await page.goto(pathToFileURL(at(`${name}.html`)).href);
      await page.screenshot({ path: at(`${name}-${width}-${colorScheme}.png`), fullPage: true, clip: { x: 0, y: 0, width, height: width > 700 ? 1500 : 1600 } });
      // Playwright evaluates axe, which the page's own policy does not forbid.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run());
      for (const { id, nodes } of violations) console.log(`${name} ${width} ${colorScheme}: ${id}: ${nodes.length}x ${nodes[0].html.slice(0, 120)} ${nodes[0].any[0]?.message ?? nodes[0].failureSummary}`);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wider > 0) console.log(`${name} ${width}: ${wider} pixels wider than the screen`);
      await page.close();
    }
  }
}
await browser.close();
