// The pages of `xla-shape draw --html` and `xla-shape hlo --html`, in a real browser: what a page says of a cell must be
// what `xla-shape index` says. XLA_SHAPE is the program, CHROMIUM the browser.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const program = process.env.XLA_SHAPE;
const run = (...args) => execFileSync(program, args, { encoding: 'utf8' });
let browser, folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'xla-shape-pages-'));
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

async function open(path) {
  const errors = [];
  const page = await browser.newPage({ viewport: { width: 1800, height: 1000 } });
  page.on('console', message => { if (message.type() === 'error') errors.push(message.text()); });
  page.on('pageerror', error => errors.push(String(error)));
  page.on('request', request => { if (!/^(file|data):/.test(request.url())) errors.push(request.url()); });
  await page.goto(pathToFileURL(path).href);
  return { page, errors };
}

// What the page must say of a position.
function expected(shape, position) {
  const answer = JSON.parse(run('index', shape, '--linear', String(position), '--format', 'json'));
  const what = answer.padding ? 'padding' : `element [${answer.index}]`;
  const bit = answer.bit_offset ? `, bit ${answer.bit_offset}` : '';
  return `${what} at position ${position}, byte ${answer.byte_offset}${bit}`;
}

// The same, without the tile that the page adds.
const said = async page => (await page.textContent('#info')).replace(/, tile \[.*\]$/, '');

for (const shape of [
  'f32[3,5]{1,0:T(2,2)}',
  'bf16[100,300]{1,0:T(8,128)(2,1)}',
  's4[3,7]{1,0:T(2,4)E(4)}',
  'f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}',
  'u8[]',
]) {
  test(`draw ${shape}`, async () => {
    const path = join(folder, 'drawing.html');
    run('draw', shape, '--html', path);
    assert.ok(statSync(path).size < 300_000);
    const { page, errors } = await open(path);

    const cells = page.locator('.c');
    const count = await cells.count();
    assert.ok(count > 0);
    for (let n = 0; n < count; n += Math.ceil(count / 12)) {
      const cell = cells.nth(n);
      const position = await cell.getAttribute('data-p');
      await cell.hover();
      assert.equal(await said(page), expected(shape, position));
      // Both views show it.
      const twins = await page.locator(`.c[data-p="${position}"]`).count();
      assert.equal(await page.locator('.c.on').count(), twins);
    }

    // A click follows the element: what is hovered afterwards does not lose it.
    const element = page.locator('.c[data-i]').first();
    const position = await element.getAttribute('data-p');
    await element.click();
    assert.equal(await page.locator(`.c.pin[data-p="${position}"]`).count(), 2);
    await page.mouse.move(1, 1);
    assert.equal(await said(page), expected(shape, position));

    // The slider walks through memory in order.
    const last = Number(await page.getAttribute('#walk', 'max'));
    const walked = [];
    for (const step of new Set([0, Math.floor(last / 2), last])) {
      await page.locator('#walk').fill(String(step));
      const shown = await page.locator('.c.on').first().getAttribute('data-p');
      assert.equal(await said(page), expected(shape, shown));
      walked.push(Number(shown));
    }
    assert.deepEqual(walked, walked.toSorted((a, b) => a - b));

    // The keyboard: one cell is a tab stop, arrow keys go to the next in their direction, and Enter follows.
    await page.reload();
    assert.equal(await page.locator('.c[tabindex="0"]').count(), 1);
    await page.locator('#walk').focus();
    await page.keyboard.press('Tab');
    const focused = page.locator('.c:focus');
    assert.equal(await focused.count(), 1);
    const label = await focused.getAttribute('aria-label');
    assert.equal(label.replace(/, tile \[.*\]$/, ''), expected(shape, await focused.getAttribute('data-p')));
    const before = await focused.boundingBox();
    await page.keyboard.press('ArrowRight');
    const behind = await focused.boundingBox();
    assert.ok(behind.x > before.x);
    assert.equal(await said(page), expected(shape, await focused.getAttribute('data-p')));
    await page.keyboard.press('Enter');
    assert.ok(await page.locator(`.c.pin[data-p="${await focused.getAttribute('data-p')}"]`).count() > 0);
    await page.keyboard.press('ArrowLeft');
    assert.equal((await focused.boundingBox()).x, before.x);
    assert.equal(await page.locator('.c[tabindex="0"]').count(), 1);

    assert.deepEqual(errors, []);
    await page.close();
  });
}

test('hlo', async () => {
  const path = join(folder, 'memory.html');
  const module = new URL('../../../examples/hlo/v5e__rnn_scan.hlo', import.meta.url).pathname;
  run('hlo', module, '--html', path);
  const { page, errors } = await open(path);
  const largest = JSON.parse(run('hlo', module, '--top', '1', '--space', '0', '--format', 'json')).largest[0];
  await page.locator('.v').first().hover({ position: { x: 5, y: 5 } });
  const text = await page.textContent('#info');
  assert.ok(text.startsWith(`%${largest.name} (${largest.opcode}): ${largest.shape}, ${largest.bytes} bytes, `), text);

  // The keyboard walks from value to value.
  await page.locator('.v').first().focus();
  await page.keyboard.press('ArrowRight');
  const next = await page.locator('.v:focus').getAttribute('aria-label');
  assert.ok(next !== text);
  assert.equal(await page.textContent('#info'), next);

  // The curve: its peak is the program's, and what is listed there adds up to it.
  const spaces = JSON.parse(run('hlo', module, '--format', 'json')).spaces;
  let curves = 0;
  for (const { space, peak_bytes: bytes, peak_at: at } of spaces) {
    const curve = page.locator(`svg.curve[data-space="${space}"]`);
    if (await curve.count() === 0) continue;
    curves += 1;
    await curve.scrollIntoViewIfNeeded();
    const data = JSON.parse(await page.textContent(`.curve-data[data-space="${space}"]`));
    const box = await curve.boundingBox();
    const over = async (column, act) => {
      await act(box.x + (column + 0.5) * box.width / data.columns.length, box.y + box.height / 2);
      return page.textContent('#info');
    };
    const here = await over(data.peak, (x, y) => page.mouse.move(x, y));
    assert.ok(here.includes(`%${at}: ${bytes} bytes live`), here);
    await over(data.peak, (x, y) => page.mouse.click(x, y));
    const list = page.locator(`.live[data-space="${space}"]`);
    assert.ok((await list.textContent()).startsWith(`Live at %${at}`));
    const named = new Set(data.values.filter(v => v.made <= data.columns[data.peak].step && v.last >= data.columns[data.peak].step));
    const others = bytes - [...named].reduce((sum, v) => sum + v.bytes, 0);
    assert.ok(others >= 0);
    assert.equal(await list.locator('tr').count(), named.size + (others > 0 ? 1 : 0));
    // Elsewhere it answers too.
    const first = await over(0, (x, y) => page.mouse.click(x, y));
    assert.ok(first.includes(`%${data.columns[0].name}: ${data.columns[0].bytes} bytes live`), first);
    // The keyboard walks too.
    await curve.press('End');
    const last = data.columns.at(-1);
    assert.ok((await page.textContent('#info')).includes(`%${last.name}: ${last.bytes} bytes live`));
    assert.ok((await list.textContent()).startsWith(`Live at %${last.name}`));
  }
  assert.ok(curves > 0);
  assert.ok(statSync(path).size < 300_000);
  assert.deepEqual(errors, []);
  await page.close();
});
