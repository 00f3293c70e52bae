// What a reader does on the pages besides looking: keys, search, zoom, links, panes, and the graph beside the selected buffer.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { examples, findings, folder, HOSTILE, open, run } from './open.mjs';
import { program as made } from './programs.mjs';

const scan = join(examples, 'hlo/v5e__rnn_scan.hlo');
const written = (name, ...args) => {
  const path = join(folder, `${name}.html`);
  run(...args, '--html', path);
  return path;
};
// The address changes a moment later.
const fragment = async (page, part) => {
  await page.waitForFunction(part => decodeURIComponent(location.hash).includes(part), part);
  return page.evaluate(() => location.hash);
};

for (const [name, ...args] of [
  ['memory', 'hlo', scan], ['cost', 'cost', scan], ['graph', 'hlo', 'show', scan, '%convert_add_fusion.2'],
  ['kernel', 'kernel', join(examples, 'kernels/first')], ['tiles', 'draw', 'f32[3,5]{1,0:T(2,2)}'],
]) {
  test(`${name}: the list of keys`, async () => {
    const { page, errors } = await open(written(`keys-${name}`, ...args));
    await page.keyboard.press('?');
    assert.ok(await page.locator('#keys').isVisible());
    const listed = await page.locator('#keys dd').allTextContents();
    assert.ok(listed.length > 2 && listed.every(Boolean), listed.join());
    assert.deepEqual(await findings(page), []);
    await page.keyboard.press('Escape');
    assert.ok(!await page.locator('#keys').isVisible());
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await back();
    await page.keyboard.press('t');
    assert.notEqual(await back(), before);
    assert.deepEqual(errors, []);
    await page.close();
  });
}

for (const width of [420, 1400]) {
  test(`memory: the graph around the selected buffer, ${width} pixels`, async () => {
    const module = join(folder, 'graph.hlo');
    writeFileSync(module, made(400));
    const { page, errors } = await open(written('beside', 'hlo', module), { width, height: 900 });
    const panes = page.locator('#panes');
    // A phone has room for one line until it asks for more.
    assert.equal(await panes.isVisible(), width > 700);
    if (width < 700) await page.locator('#fold').click();
    await page.locator('#search').fill('%v144');
    await page.locator('#table tbody button', { hasText: /^%v144$/ }).click();
    const shown = name => JSON.parse(run('hlo', 'show', module, name, '--format', 'json'));
    const boxes = async () => (await page.locator('#graph button span:first-child').allTextContents()).map(name => name.slice(1)).sort();
    const { operands, readers } = shown('%v144');
    assert.deepEqual(await boxes(), [...new Set(['v144', ...operands, ...readers])].sort());
    // The same as the page of `hlo show`, also with more steps.
    const alone = await open(written('alone', 'hlo', 'show', module, '%v144'), { width, height: 900 });
    for (const steps of ['3', '4']) {
      for (const one of [page, alone.page]) await one.getByRole('button', { name: steps, exact: true }).click();
      const found = await boxes();
      assert.deepEqual(found, (await alone.page.locator('#graph button span:first-child').allTextContents()).map(name => name.slice(1)).sort());
      assert.ok(found.length <= 60);
    }
    await alone.page.close();
    // The fusion opens, and what is in it has no memory of its own.
    await page.getByRole('button', { name: '1', exact: true }).click();
    await page.getByRole('button', { name: 'Open the fusion' }).click();
    assert.equal(await page.locator('#graph button.inside').count(), 4);
    assert.ok((await page.textContent('#chosen')).includes('no memory of its own'));
    assert.equal(await page.locator('#table tr.on').count(), 0);
    await page.getByRole('button', { name: 'Close %v144' }).click();
    assert.ok((await page.textContent('#chosen')).startsWith('%v144: '));
    // A neighbour in the graph is selected in all panes; a link in the facts too.
    await page.locator('#search').fill('');
    await page.locator('#graph button', { hasText: `%${operands[0]}` }).first().click();
    assert.ok((await page.textContent('#chosen')).startsWith(`%${operands[0]}: `));
    assert.equal((await page.locator('#selected dd').first().textContent()), `%${operands[0]}`);
    await page.locator('#selected button', { hasText: '%v144' }).click();
    assert.ok((await page.textContent('#chosen')).startsWith('%v144: '));
    assert.equal((await page.locator('#graph button[aria-pressed=true] span').first().textContent()), '%v144');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(await findings(page), []);
    await page.locator('#fold').click();
    assert.ok(!await panes.isVisible());
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test('memory: never the whole program', async () => {
  const module = join(folder, 'many.hlo');
  writeFileSync(module, made(12_000));
  const { page, errors } = await open(written('many', 'hlo', module));
  assert.ok(await page.evaluate(() => nodes.length) <= 10_000);
  for (const steps of ['4', '1']) {
    await page.getByRole('button', { name: steps, exact: true }).click();
    assert.ok(await page.locator('#graph button').count() <= 60);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test('memory: zoom and pan', async () => {
  const { page, errors } = await open(written('zoom', 'hlo', scan), { width: 1400, height: 1000 });
  const steps = await page.evaluate(() => data.steps), view = () => page.evaluate(() => [...state.view]);
  assert.deepEqual(await view(), [0, steps]);
  assert.ok(await page.locator('#whole').isDisabled());
  // The step that is chosen stays at its place.
  const share = async () => { const [first, end] = await view(); return (await page.evaluate(() => state.step) + 0.5 - first) / (end - first); };
  const before = await share();
  await page.keyboard.press('w');
  const [first, end] = await view();
  assert.ok(end - first <= steps / 2 + 1 && Math.abs(await share() - before) < 0.02);
  assert.equal(await page.textContent('#range'), `steps ${first + 1} to ${end} of ${steps}`);
  // The labels are steps of the view.
  const labels = (await page.locator('#over-time .axis.across span').allTextContents()).filter(Boolean).map(Number);
  assert.ok(labels.length > 1 && labels.every(step => first < step && step <= end), labels.join());
  assert.deepEqual((await page.locator('#offsets .axis.across span').allTextContents()).filter(Boolean).map(Number), labels);
  await page.keyboard.press('d');
  assert.ok((await view())[0] > first && (await view())[1] - (await view())[0] === end - first);
  await page.keyboard.press('a');
  assert.deepEqual(await view(), [first, end]);
  await page.keyboard.press('0');
  assert.deepEqual(await view(), [0, steps]);
  // Dragging over a part shows it, a click chooses a step of it, and a double click shows everything.
  const box = await page.locator('#curve svg').boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
  assert.ok(await page.locator('.band').isVisible());
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60);
  await page.mouse.up();
  const [from, to] = await view();
  assert.ok(Math.abs(from - steps * 0.25) <= 1 && Math.abs(to - steps * 0.5) <= 1, `${from} ${to}`);
  assert.equal(await page.locator('.band').count(), 0);
  await page.mouse.click(box.x + 2, box.y + 50);
  assert.equal(await page.evaluate(() => state.step), from);
  await fragment(page, `view=${from + 1}-${to}`);
  const link = await fragment(page, `step=${from + 1}`);
  await page.mouse.dblclick(box.x + 200, box.y + 50);
  assert.deepEqual(await view(), [0, steps]);
  // With Ctrl, the wheel zooms around the pointer; without, it scrolls the page.
  await page.mouse.move(box.x + box.width * 0.75, box.y + 50);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await page.waitForFunction(() => state.view[1] - state.view[0] < data.steps);
  const [left, right] = await view();
  assert.ok(Math.abs((steps * 0.75 - left) / (right - left) - 0.75) < 0.05);
  const again = await open(join(folder, 'zoom.html'), { width: 1400, height: 1000 }, 'light', link);
  assert.deepEqual(await again.page.evaluate(() => [...state.view, state.step]), [from, to, from]);
  assert.deepEqual([...errors, ...again.errors], []);
  await page.close();
  await again.page.close();
});

test('memory: search, keys in the table, and the address', async () => {
  const path = written('search', 'hlo', scan);
  const { page, errors } = await open(path, { width: 1400, height: 1000 });
  await page.keyboard.press('/');
  await page.keyboard.type('copy');
  const count = await page.locator('#table tbody tr').count();
  const place = async () => /^buffer (\d+) of (\d+),/.exec(await page.textContent('#found'))?.slice(1).map(Number);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  assert.equal(await page.inputValue('#search'), '');
  assert.equal(await page.textContent('#chosen'), 'Nothing is selected');
  await page.keyboard.press('/');
  await page.keyboard.type('copy');
  await page.keyboard.press('Enter');
  assert.deepEqual(await place(), [1, count]);
  await page.keyboard.press('Enter');
  assert.deepEqual(await place(), [2, count]);
  await page.keyboard.press('Shift+Enter');
  assert.deepEqual(await place(), [1, count]);
  // Arrow keys in the table.
  await page.locator('#table tbody tr:not(.sum) button').first().focus();
  await page.keyboard.press('ArrowDown');
  assert.deepEqual(await place(), [2, count]);
  const name = await page.locator('#table tr.on button').textContent();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
  // The address opens the same buffer, search and memory space.
  const link = await fragment(page, `buffer=${name}`);
  const again = await open(path, { width: 1400, height: 1000 }, 'light', link);
  assert.equal(await again.page.inputValue('#search'), 'copy');
  assert.ok((await again.page.textContent('#chosen')).startsWith(`${name}: `));
  await page.locator('#spaces button').nth(1).click();
  const other = await fragment(page, 'space=1');
  await again.page.evaluate(hash => { location.hash = hash; }, other);
  await again.page.waitForFunction(() => state.space.space === 1);
  assert.deepEqual([...errors, ...again.errors], []);
  await again.page.close();
  await page.close();
});

test('memory: an address that names nothing', async () => {
  const path = written('nothing', 'hlo', scan);
  for (const fragment of ['#buffer=%25none&space=99&step=-3&view=9-2&scope=a/b&at=x', `#buffer=${encodeURIComponent(HOSTILE)}&q=${encodeURIComponent(HOSTILE)}`, '#view=NaN-&step=1e99']) {
    const { page, errors } = await open(path, undefined, 'light', fragment);
    assert.ok(await page.locator('#summary').textContent());
    assert.equal(await page.locator('img').count(), 0);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test('memory: panes light up together, and change their size', async () => {
  const { page, errors } = await open(written('panes', 'hlo', scan), { width: 1400, height: 1000 });
  await page.locator('#tree button[data-id]').first().hover();
  const id = await page.locator('#tree .lit').getAttribute('data-id');
  assert.equal(await page.locator('#table tr.lit').getAttribute('data-id'), id);
  const height = () => page.locator('#panes').evaluate(pane => pane.offsetHeight);
  const before = await height();
  await page.locator('#grip').focus();
  await page.keyboard.press('ArrowUp');
  assert.ok(await height() > before);
  const wide = () => page.locator('#selected').evaluate(pane => pane.offsetWidth), narrow = await wide();
  await page.locator('#split').focus();
  await page.keyboard.press('ArrowRight');
  assert.ok(await wide() > narrow);
  assert.deepEqual(errors, []);
  await page.close();
});

for (const width of [420, 1400]) {
  test(`cost: search in all tables, ${width} pixels`, async () => {
    const path = written('find', 'cost', scan);
    const { page, errors } = await open(path, { width, height: 900 });
    const rows = page.locator('main tbody tr:visible, main .copies li:visible'), all = await rows.count();
    // A click on a line searches for it: its instructions and copies stay.
    const line = page.locator('#lines button.name').first(), name = await line.textContent();
    await line.click();
    const some = await rows.count();
    assert.ok(some > 0 && some < all);
    for (const text of await rows.allTextContents()) assert.ok(text.includes(name), text);
    assert.ok((await page.textContent('#found')).startsWith(`${some} of `));
    assert.ok(await page.locator('#instructions tbody tr:visible').count() > 0);
    // A list without an entry that fits is not shown open and empty.
    for (const part of await page.locator('main details:visible').all()) assert.ok(await part.locator('li:visible').count() > 0);
    assert.deepEqual(await findings(page), []);
    // The rows share a tab stop; the chosen one is in the address.
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('main tbody tr:focus, main .copies li:focus').count(), 1);
    await page.keyboard.press('Escape');
    assert.equal(await rows.count(), all);
    assert.equal(await page.locator('#lines tbody tr[tabindex="0"]').count(), 1);
    await page.locator('#lines tbody tr').nth(1).locator('td').first().click();
    await page.keyboard.press('ArrowUp');
    const link = await fragment(page, 'row=lines.0');
    const again = await open(path, { width, height: 900 }, 'light', link);
    assert.equal(await again.page.locator('#lines tbody tr').first().getAttribute('class'), 'on');
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual([...errors, ...again.errors], []);
    await again.page.close();
    await page.close();
  });
}

test('kernel: search, light and address', async () => {
  const path = written('lines', 'kernel', join(examples, 'kernels/first'), '--source', join(examples, 'kernels/shifted_sum.py'));
  const { page, errors } = await open(path, { width: 1400, height: 900 });
  const line = page.locator('.line button').nth(1), name = await line.getAttribute('data-l');
  await line.hover();
  assert.equal(await page.locator('.bundle .near').count(), await page.locator(`.bundle span[data-l="${name}"]`).count());
  await page.keyboard.press('/');
  await page.keyboard.type('vrot.slane');
  const count = await page.locator('.match').count();
  assert.ok(count > 1);
  await page.keyboard.press('Enter');
  assert.equal(await page.textContent('#found'), `1 of ${count} found`);
  assert.equal(await page.locator('.match.here').count(), 1);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.match').count(), 0);
  await line.click();
  const link = await fragment(page, `line=${name}`);
  const again = await open(path, { width: 1400, height: 900 }, 'light', link);
  assert.equal(await again.page.locator('.line button[aria-pressed=true]').getAttribute('data-l'), name);
  const wide = () => page.locator('.lines').evaluate(pane => pane.offsetWidth), before = await wide();
  await page.locator('.split .bar').focus();
  await page.keyboard.press('ArrowRight');
  assert.ok(await wide() > before);
  assert.deepEqual([...errors, ...again.errors], []);
  await again.page.close();
  await page.close();
});

test('graph and drawing: the address opens what was chosen', async () => {
  const graph = await open(written('linked', 'hlo', 'show', scan, '%convert_add_fusion.2'));
  const box = graph.page.locator('#graph button[aria-pressed=false]').first();
  const name = await box.locator('span').first().textContent();
  await box.click();
  const graphAgain = await open(join(folder, 'linked.html'), undefined, 'light', await fragment(graph.page, `at=${name}`));
  assert.ok((await graphAgain.page.textContent('#summary')).startsWith(`${name} (`));
  const tiles = await open(written('linked-tiles', 'draw', 'f32[3,5]{1,0:T(2,2)}'));
  const cell = tiles.page.locator('.c[data-i]').nth(3), position = await cell.getAttribute('data-p');
  await cell.click();
  const tilesAgain = await open(join(folder, 'linked-tiles.html'), undefined, 'light', await fragment(tiles.page, `at=${position}`));
  assert.ok(await tilesAgain.page.locator(`.c.pin[data-p="${position}"]`).count() > 0);
  assert.equal(await tilesAgain.page.textContent('#info'), await tiles.page.textContent('#info'));
  await tilesAgain.page.keyboard.press('n');
  assert.equal(await tilesAgain.page.inputValue('#walk'), String(Number(await tiles.page.inputValue('#walk')) + 1));
  for (const { page, errors } of [graph, graphAgain, tiles, tilesAgain]) {
    assert.deepEqual(errors, []);
    await page.close();
  }
});
