// The pages that verbs write with `--html`, in a real browser: a page must show the same as the text, and for a cell
// the same as `xla-shape explain --position`. XLA_SHAPE is the program, CHROMIUM the browser.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { examples, findings, folder, HOSTILE, open, run, views } from './open.mjs';
import { program as made } from './programs.mjs';

// The text that the page must show about a position.
function expected(shape, position) {
  const answer = JSON.parse(run('explain', shape, '--position', String(position), '--format', 'json'));
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

    // A click follows the element: it stays shown when the pointer moves on.
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
    // The followed element may be in the address by now, and must not be followed again.
    await page.goto(page.url().split('#')[0]);
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

for (const [width, scheme] of views) {
  test(`hlo, ${width} pixels, ${scheme}`, async () => {
    const path = join(folder, 'memory.html');
    const module = new URL('../../../../examples/hlo/v5e__rnn_scan.hlo', import.meta.url).pathname;
    const summary = run('hlo', module, '--all', '--html', path);
    assert.ok(summary.startsWith('needs ') && summary.includes('\nmodule jit_rnn_scan'), 'the text is printed as well');
    assert.ok(statSync(path).size < 300_000);
    const { page, errors } = await open(path, { width, height: 900 }, scheme);
    const answer = JSON.parse(run('hlo', module, '--format', 'json', '--top', '1000'));

    // Nothing is wider than the screen.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(back === 'rgb(255, 255, 255)', scheme === 'light');

    // The same numbers as the text: each memory space with its peak.
    const tabs = await page.locator('#spaces button').allTextContents();
    assert.equal(tabs.length, answer.spaces.length);
    for (const [n, space] of answer.spaces.entries()) {
      const units = await page.evaluate(bytes => units(bytes), space.peak_bytes);
      assert.ok(tabs[n].startsWith(`S(${space.space})`) && tabs[n].endsWith(units), tabs[n]);
      assert.ok(summary.includes(units), units);
    }
    assert.ok((await page.textContent('#summary')).includes(`at %${answer.spaces[0].peak_at}`));

    // A step: a click into the curve, or its arrow keys.
    const curve = page.locator('#curve svg');
    await curve.scrollIntoViewIfNeeded();
    const before = await page.textContent('#summary');
    await curve.click({ position: { x: 1, y: 20 } });
    assert.ok((await page.textContent('#summary')).includes('Now at step 1 of'));
    await curve.press('End');
    const last = await page.textContent('#summary');
    assert.ok(/Now at step (\d+) of \1,/.test(last), last);
    await curve.press('Home');
    await curve.press('ArrowRight');
    assert.ok((await page.textContent('#summary')).includes('Now at step 2 of'));
    assert.notEqual(before, last);

    // The axes have bytes and steps, and the tip says what is at the pointer.
    const labels = await page.locator('#over-time .axis.up span').allTextContents();
    assert.ok(labels[0] === '0 B' && labels.length > 2 && labels.slice(1).every(label => / [KM]iB$/.test(label)), labels.join());
    assert.ok((await page.locator('#offsets .axis.across span').count()) > 2);
    await curve.hover({ position: { x: 3, y: 20 } });
    assert.match(await page.textContent('#tip'), /^step [12], %.+ live$/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    // Each role has an area. The area of all live bytes, whose end is the curve, is the first.
    const areas = await page.locator('#curve path:not(.limit)').evaluateAll(paths => paths.map(path => path.getAttribute('class')));
    assert.ok(areas[0] === 'rest' && areas.includes('argument') && areas.includes('temporary'), areas.join());

    // The map: a click chooses what is there, arrow keys walk.
    await page.reload();
    const map = page.locator('#map');
    await map.scrollIntoViewIfNeeded();
    const box = await page.evaluate(() => boxes.length && boxes.toSorted((a, b) => b[2] * b[3] - a[2] * a[3])[0].slice(0, 4));
    await map.click({ position: { x: box[0] + box[2] / 2, y: box[1] + box[3] / 2 } });
    const chosen = await page.locator('#selected dd').first().textContent();
    assert.ok(chosen.startsWith('%'));
    const shape = await page.locator('#selected dd').nth(2).textContent();
    await map.hover({ position: { x: box[0] + box[2] / 2, y: box[1] + box[3] / 2 } });
    assert.ok((await page.textContent('#tip')).startsWith(`${chosen} ${shape}`));
    assert.ok(answer.largest.some(value => `%${value.name}` === chosen.replace(/#\d+$/, '') && value.shape === shape), chosen + shape);
    await map.press('ArrowDown');
    await map.press('ArrowUp');
    assert.ok((await page.locator('#selected dd').first().textContent()).startsWith('%'));

    // The table searches and sorts.
    const rows = page.locator('#table tbody tr');
    const all = await rows.count();
    assert.ok(all > 5);
    await page.locator('#search').fill('copy-start');
    const some = await rows.count();
    assert.ok(some > 0 && some < all);
    await page.locator('#search').fill('nothing has this name');
    assert.equal(await rows.count(), 0);
    await page.locator('#search').fill('');
    await page.locator('th button', { hasText: 'Padding' }).click();
    assert.equal(await page.locator('th[aria-sort=descending]').textContent(), 'Padding');
    // Sorted by operation, each group has its sum; the sums are those of all rows.
    const found = await page.textContent('#found');
    await page.locator('th button:text-is("Operation")').click();
    const groups = await page.locator('tr.sum').allTextContents();
    assert.ok(groups.length > 1 && groups.every(group => /^\S+ \S?B|^\S+ [KM]iB in [\d,]+ buffers?: /.test(group)), groups.join());
    const counted = groups.reduce((sum, group) => sum + Number(/ in ([\d,]+) buffer/.exec(group)[1].replace(',', '')), 0);
    assert.ok(found.startsWith(`${counted} buffers`), found);
    await page.locator('th button', { hasText: 'Padding' }).click();
    // In a narrow window, the columns at the right are below the others; they are still headings to sort by.
    for (const name of ['Operation', 'Role', 'First step', 'op_name', 'Source']) {
      assert.ok(await page.locator(`th button:text-is("${name}")`).isVisible(), name);
    }
    const [left, below] = await page.locator('#table tbody tr:has(td[data-name="op_name"]:not(:empty))').first()
      .evaluate(row => ['Name', 'op_name'].map(name => row.querySelector(`td[data-name="${name}"]`).getBoundingClientRect()).map(({ x, y }) => [x, y]));
    assert.equal(below[1] > left[1], width < 700);
    await page.locator('#live').check();
    assert.ok(await rows.count() <= all);
    await page.locator('#live').uncheck();
    await rows.first().locator('button').click();
    assert.equal(await page.locator('tr.on').count(), 1);

    // What the selected buffer reads, and what reads it, lead to these buffers.
    await page.evaluate(() => select(here().find(({ place }) => buffersAt.has([...nodes[place].operands, ...nodes[place].readers][0])).id));
    const first = await page.locator('#selected dd').first().textContent();
    if (width < 700) await page.locator('#fold').click();
    const neighbour = page.locator('#selected button.name').first();
    const name = await neighbour.textContent();
    await neighbour.click();
    const now = await page.locator('#selected dd').first().textContent();
    assert.ok(now !== first && now.replace(/#\d+$/, '') === name, `${first} ${name} ${now}`);

    // Scopes: what is in one, and back.
    const scope = page.locator('#tree button.group').first();
    if (await scope.count()) {
      await scope.focus();
      await page.keyboard.press('Enter');
      assert.ok(await page.locator('#scope button').count() > 1);
      await page.locator('#scope button').first().click();
    }

    // Another memory space; the other colours.
    await page.locator('#spaces button').nth(1).click();
    assert.ok((await page.textContent('#summary')).startsWith('S(1) VMEM'));
    if (process.env.BLESS && width > 1000 && scheme === 'light') {
      // The picture in the README.
      await page.setViewportSize({ width: 1100, height: 990 });
      await page.evaluate(() => scrollTo(0, 0));
      await page.screenshot({ path: new URL('../../../../docs/pictures/page.png', import.meta.url).pathname });
    }
    await page.locator('#theme').click();
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), back);
    assert.ok((await page.textContent('pre')).includes('module jit_rnn_scan'));
    assert.deepEqual(errors, []);
    await page.close();
  });
}

for (const [width, scheme] of views) {
  test(`cost, ${width} pixels, ${scheme}`, async () => {
    const path = join(folder, 'cost.html');
    const module = new URL('../../../../examples/hlo/v5e__rnn_scan.hlo', import.meta.url).pathname;
    run('cost', module, '--html', path);
    const { page, errors } = await open(path, { width, height: 900 }, scheme);
    const answer = JSON.parse(run('cost', module, '--format', 'json'));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(back === 'rgb(255, 255, 255)', scheme === 'light');

    // Every entry of the answer is there, with its number.
    assert.ok((await page.textContent('#summary')).startsWith(`${answer.cycles.total.toLocaleString('en')} cycles`));
    for (const list of ['lines', 'scopes', 'opcodes', 'instructions']) {
      assert.equal(await page.locator(`#${list} tbody tr`).count(), answer[list].length, list);
    }
    const first = page.locator('#lines tbody tr').first();
    assert.equal(await first.locator('td').nth(0).textContent(), answer.lines[0].cycles.toLocaleString('en'));
    assert.equal(await first.locator('td').nth(2).textContent(), answer.lines[0].source);
    const copies = await page.locator('#copies li').allTextContents();
    assert.equal(copies.length, answer.copies.length);
    for (const [n, copy] of answer.copies.entries()) {
      assert.ok(copies[n].startsWith(`%${copy.instruction} (`) && copies[n].includes(copy.cause), copies[n]);
    }
    // A longer bar for more cycles.
    const bars = await page.locator('#lines .part').evaluateAll(parts => parts.map(part => part.getBoundingClientRect().width));
    assert.ok(bars[0] > 0);
    assert.deepEqual(bars, bars.toSorted((a, b) => b - a));
    await page.locator('#theme').click();
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), back);
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test('cost, names that try to be markup', async () => {
  const module = join(folder, 'hostile-cost.hlo'), path = join(folder, 'hostile-cost.html');
  const quoted = HOSTILE.replaceAll('"', '\\"');
  writeFileSync(module, `HloModule m
ENTRY e {
  p = f32[8,128]{1,0} parameter(0), metadata={op_name="${quoted}"}
  ROOT q = f32[8,128]{0,1} copy(p), metadata={op_name="${quoted}/x" source_file="${quoted}" source_line=7}, backend_config={"window_config":{"estimated_cycles":"7"}}
}
`);
  run('cost', module, '--html', path);
  const { page, errors } = await open(path);
  assert.equal(await page.title(), 'Cost of m');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 1);
  assert.ok((await page.textContent('#lines')).includes(HOSTILE.split('/').at(-1)));
  assert.deepEqual(errors, []);
  await page.close();
});

for (const [width, scheme] of views) {
  test(`kernel, ${width} pixels, ${scheme}`, async () => {
    const path = join(folder, 'kernel.html');
    const kernels = new URL('../../../../examples/kernels/', import.meta.url).pathname;
    run('kernel', join(kernels, 'first'), '--html', path, '--source', join(kernels, 'shifted_sum.py'));
    const { page, errors } = await open(path, { width, height: 900 }, scheme);
    const [kernel] = JSON.parse(run('kernel', join(kernels, 'first'), '--format', 'json')).kernels;
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(back === 'rgb(255, 255, 255)', scheme === 'light');

    // Every line is there with the text of the file, and every bundle.
    const buttons = page.locator('.line button');
    assert.equal(await buttons.count(), kernel.lines.length);
    assert.equal(await page.locator('.bundle').count(), kernel.bundles);
    assert.ok((await buttons.nth(1).textContent()).includes('y_ref[3:3 + ROWS, :]'));

    // A click on a line lights its bundles, and shows its relayouts.
    for (const [n, line] of kernel.lines.entries()) {
      await buttons.nth(n).click();
      assert.equal(await page.locator('.bundle.on').count(), line.bundles, line.source);
      assert.equal(await page.locator('.bundle span.on').count(), line.slots, line.source);
      assert.equal(await page.locator('.line button[aria-pressed=true]').count(), 1);
      const shown = page.locator('.line ul:visible');
      assert.equal(await shown.count(), 1);
      assert.equal((await shown.textContent()).split('relayout of').length - 1, line.relayouts);
    }
    assert.ok((await page.locator('.line ul:visible').textContent()).includes('dynamic_rotate'));
    await buttons.last().click();
    assert.equal(await page.locator('.bundle.on').count(), 0);

    // A click on a slot chooses its line.
    const slot = page.locator('.bundle span[data-l]').first();
    await slot.click();
    assert.equal(await page.locator('.line button[aria-pressed=true]').getAttribute('data-l'), await slot.getAttribute('data-l'));

    // The keyboard: the lines share one tab stop, arrow keys go to the next one, and Enter chooses it.
    assert.equal(await page.locator('.line button[tabindex="0"]').count(), 1);
    await buttons.first().focus();
    await page.keyboard.press('ArrowDown');
    const focused = page.locator('.line button:focus');
    assert.equal(await focused.getAttribute('data-l'), await buttons.nth(1).getAttribute('data-l'));
    const before = await focused.getAttribute('aria-pressed');
    await page.keyboard.press('Enter');
    assert.notEqual(await focused.getAttribute('aria-pressed'), before);

    // The registers of the vectors that relayouts move.
    const drawings = page.locator('.registers');
    assert.ok(await drawings.count() >= 2);
    await drawings.first().locator('summary').click();
    assert.ok(await drawings.first().locator('svg').isVisible());
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.locator('#theme').click();
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), back);
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test('kernel, names that try to be markup', async () => {
  const dump = join(folder, 'hostile-kernel'), path = join(folder, 'hostile-kernel.html');
  mkdirSync(dump);
  const name = HOSTILE.replaceAll('"', '').replaceAll('*/', '');
  writeFileSync(join(dump, 'llo.k.final_bundles.txt'),
    `   0 LB:  { %v1_v0 = vadd.f32 <b>%v0_v0</b>, ${name} /* loc("${name}":7:1 to :9) */ } /* exit bundle: %k = custom-call(%x) */\n`);
  run('kernel', dump, '--html', path);
  const { page, errors } = await open(path);
  assert.equal(await page.title(), 'Kernel k');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 1);
  assert.equal(await page.locator('.bundle b').count(), 1);
  assert.ok((await page.textContent('.lines')).includes('<img src=x'));
  assert.deepEqual(errors, []);
  await page.close();
});

test('draw, the registers of a vector', async () => {
  const path = join(folder, 'registers.html');
  run('draw', 'bf16[20,300]', '--vector', '16,{1,0},(16,128)', '--html', path);
  const { page, errors } = await open(path);
  const { shown } = JSON.parse(run('draw', 'bf16[20,300]', '--vector', '16,{1,0},(16,128)', '--format', 'json'));
  assert.equal(await page.locator('svg rect.e').count(), shown.length);
  const runs = shown.flatMap(register => register.sublanes.flat());
  assert.equal(await page.locator('svg .c').count(), runs.length);
  assert.deepEqual(errors, []);
  await page.close();
});

const profiles = join(examples, '../tests/corpus/profiles');

// The picture of a run and the tables light what belongs together. What is drawn is in a canvas, so the test asks for its colours.
test('cost of a profile, one run', async () => {
  const path = join(folder, 'profile.html');
  run('cost', join(profiles, 'train.xplane.pb'), '--html', path);
  const { page, errors } = await open(path);
  const canvas = page.locator('#lanes canvas'), drawn = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() =>
    done(document.querySelector('#lanes canvas').toDataURL())))));
  const event = async () => Object.fromEntries(await page.locator('#event dt').evaluateAll(all => all.map(one => [one.textContent, one.nextElementSibling.textContent])));
  // The keyboard chooses events; the rows about them are lit.
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  assert.equal((await event()).instruction, '%copy.11 (copy)');
  await page.keyboard.press('ArrowRight');
  const { instruction, line } = await event();
  assert.equal(line, 'train.py:4');
  assert.ok((await page.locator('#measured-instructions tr.lit').textContent()).includes(instruction));
  assert.ok((await page.locator('#measured-lines tr.lit').textContent()).includes(line));
  assert.equal(await page.locator('#measured-copies li.lit').count(), 1);
  // A click chooses the event below the pointer.
  const before = await drawn(), box = await canvas.boundingBox();
  const [x, name] = await page.evaluate(() => {
    const [lane] = lanes, n = lane.starts.findIndex((start, n) => lane.ends[n] - start > 1e8);
    return [across(canvas.clientWidth)((lane.starts[n] + lane.ends[n]) / 2), known[lane.ids[n]].name];
  });
  await page.mouse.click(box.x + x, box.y + 20 + 16 + 5);
  assert.ok((await event()).instruction.startsWith(`%${name} (`));
  assert.notEqual(await drawn(), before);
  // Zoom and pan, by buttons, keys and the pointer.
  const range = () => page.textContent('#range'), whole = await range();
  await page.locator('#in').click();
  assert.match(await range(), / to .* of /);
  await canvas.focus();
  await page.keyboard.press('Home');
  assert.equal(await range(), whole);
  await page.mouse.move(box.x + 100, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 40);
  await page.mouse.up();
  assert.match(await range(), / to .* of /);
  await page.locator('#whole').click();
  assert.equal(await range(), whole);
  // What is searched, and the row that is chosen, is lit.
  const plain = await drawn();
  await page.locator('#search').fill('train.py:8');
  const searched = await drawn();
  assert.notEqual(searched, plain);
  await page.locator('#search').fill('');
  assert.equal(await drawn(), plain);
  await page.locator('#measured-lines tbody tr').first().click();
  assert.equal(await drawn(), searched, 'its line');
  await page.locator('#theme').click();
  assert.notEqual(await drawn(), searched);
  assert.deepEqual(errors, []);
  await page.close();
});

// The button changes the colours of every page and its drawings, no page is wider than the screen, and axe finds nothing.
const scan = join(examples, 'hlo/v5e__rnn_scan.hlo');
for (const [name, ...args] of [
  ['profile', 'cost', join(profiles, 'train.xplane.pb')],
  ['roofline', 'cost', join(profiles, 'v6e.xplane.pb')],
  ['memory', 'hlo', scan],
  ['cost', 'cost', scan],
  ['comparison', 'hlo', 'diff', scan, scan],
  ['graph', 'hlo', 'show', scan, '%convert_add_fusion.2'],
  ['kernel', 'kernel', join(examples, 'kernels/first'), '--source', join(examples, 'kernels/shifted_sum.py')],
  ['tune', 'tune', scan, '--share', 'x=arg0'],
  ['tiles', 'draw', 'f32[3,5]{1,0:T(2,2)}'],
  ['registers', 'draw', 'bf16[20,300]', '--vector', '16,{1,0},(16,128)'],
  ['devices', 'draw', 'f32[64,128]{1,0:T(8,128)}', '--sharding', '{devices=[4,2]<=[8]}'],
]) {
  for (const [width, scheme] of views) {
    test(`style of ${name}, ${width} pixels, ${scheme}`, async () => {
      const path = join(folder, `style-${name}.html`);
      run(...args, '--html', path);
      const { page, errors } = await open(path, { width, height: 900 }, scheme);
      for (const details of await page.locator('details').all()) await details.evaluate(element => { element.open = true; });
      const ids = await page.locator('[id]').evaluateAll(all => all.map(element => element.id));
      assert.equal(new Set(ids).size, ids.length, ids.join());
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      // Every cell of every table is on the screen.
      const lost = await page.locator('td').evaluateAll(all => all.filter(one => one.textContent &&
        !(one.checkVisibility() && one.getBoundingClientRect().right <= innerWidth)).map(one => one.textContent));
      assert.deepEqual(lost, []);
      const colours = () => page.evaluate(() => [...document.querySelectorAll('body, svg .back, svg .e, svg .a')].map(one => {
        const { backgroundColor, fill, stroke } = getComputedStyle(one);
        return [one.tagName, one === document.body ? backgroundColor : fill, stroke];
      }));
      const before = await colours();
      assert.deepEqual(await findings(page), []);
      await page.locator('#theme').click();
      const after = await colours();
      for (const [n, colour] of before.entries()) assert.notDeepEqual(after[n], colour);
      assert.deepEqual(await findings(page), []);
      assert.deepEqual(errors, []);
      await page.close();
    });
  }
}

test('hlo diff, the same figures as the text', async () => {
  const module = (size, layout) => `HloModule m, is_scheduled=true
ENTRY e {
  p = f32[${size},128]{1,0:T(8,128)} parameter(0)
  n = f32[${size},128]{${layout}:T(8,128)} ${layout === '1,0' ? 'negate' : 'copy'}(p), metadata={op_name="${HOSTILE.replaceAll('"', '\\"')}" source_file="a.py" source_line=3}, backend_config={"window_config":{"estimated_cycles":"${size}"}}
  ROOT r = f32[${size},128]{${layout}:T(8,128)} negate(n), backend_config={"window_config":{"estimated_cycles":"5"}}
}
`;
  const paths = ['before.hlo', 'after.hlo'].map(name => join(folder, name)), path = join(folder, 'diff.html');
  writeFileSync(paths[0], module(800, '1,0'));
  writeFileSync(paths[1], module(1600, '0,1'));
  const text = run('hlo', 'diff', ...paths, '--html', path);
  const { page, errors } = await open(path);
  // Unlike the page, the text wraps to the terminal and writes arrows in ASCII.
  assert.ok(text.replace(/\s+/g, ' ').replaceAll(' -> ', ' → ').startsWith(await page.textContent('#summary') + ' '), text);
  const answers = run('hlo', 'diff', ...paths, '--format', 'json').trim().split('\n').map(line => JSON.parse(line));
  for (const { name, before, after } of answers.filter(answer => answer.change === 'measure' && answer.name !== 'memory')) {
    const row = await page.locator('#measures tbody tr', { hasText: name }).locator('td').allTextContents();
    assert.deepEqual(row.slice(0, 2), [before, after].map(number => number.toLocaleString('en')));
  }
  // The larger figure has the longer bar.
  const bars = await page.locator('#measures tbody tr', { hasText: 'cycles' }).locator('.part').evaluateAll(parts => parts.map(part => part.getBoundingClientRect().width));
  assert.ok(bars[1] > bars[0] * 1.9 && bars[0] > 0, bars.join());
  assert.equal(await page.locator('#parts li').count(), answers.filter(answer => / (added|removed)$/.test(answer.change)).length);
  assert.equal(await page.locator('#values tbody tr').count(), answers.filter(answer => answer.leaf !== undefined && answer.cause).length);
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 1);
  assert.deepEqual(errors, []);
  await page.close();
});

test('hlo show, the graph around an instruction', async () => {
  const module = join(folder, 'graph.hlo'), path = join(folder, 'graph.html');
  writeFileSync(module, made(400));
  run('hlo', 'show', module, '%v144', '--html', path);
  const { page, errors } = await open(path, { width: 420, height: 900 });
  const shown = name => JSON.parse(run('hlo', 'show', module, name, '--format', 'json'));
  const boxes = async () => (await page.locator('#graph button span:first-child').allTextContents()).sort();
  // One step: the instruction, its operands and its readers, operands above and readers below.
  const { operands, readers } = shown('%v144');
  assert.deepEqual(await boxes(), [...new Set(['v144', ...operands, ...readers])].map(name => '%' + name).sort());
  const top = name => page.locator('#graph button', { hasText: new RegExp(`^%${name}\\D`) }).evaluate(box => box.offsetTop);
  for (const name of operands) assert.ok(await top(name) < await top('v144'), name);
  for (const name of readers) assert.ok(await top(name) > await top('v144'), name);
  // No box is on another one, and the same graph is drawn each time.
  const places = () => page.locator('#graph button').evaluateAll(all => all.map(({ offsetLeft, offsetTop }) => [offsetLeft, offsetTop]));
  for (const count of ['4', '1']) {
    await page.getByRole('button', { name: count, exact: true }).click();
    const found = await places();
    assert.ok(found.length <= 60);
    for (const [n, [x, y]] of found.entries()) for (const [a, b] of found.slice(n + 1)) assert.ok(Math.abs(x - a) >= 156 || Math.abs(y - b) >= 44, `${x} ${y} ${a} ${b}`);
    // No line passes behind a box.
    const hidden = await page.locator('#graph svg > path').evaluateAll((lines, boxes) => lines.flatMap(line => {
      const points = Array.from({ length: Math.ceil(line.getTotalLength()) }, (_, at) => line.getPointAtLength(at));
      return points.filter(({ x, y }) => boxes.some(([left, top]) => x > left + 1 && x < left + 155 && y > top + 1 && y < top + 57)).map(({ x, y }) => [x, y]);
    }), found);
    assert.deepEqual(hidden, []);
  }
  const once = await places();
  // The address is written a little later.
  await page.waitForFunction(() => location.hash.includes('steps=1'));
  await page.reload();
  assert.deepEqual(await places(), once);
  // The facts are those of the text.
  const facts = (await page.locator('#selected dd').allTextContents()).join('\n');
  assert.ok(facts.includes(shown('%v144').op_name) && operands.every(name => facts.includes('%' + name)), facts);
  // The fusion opens and closes.
  await page.getByRole('button', { name: 'Open the fusion' }).click();
  const inside = await page.locator('#graph button.inside').count();
  assert.equal(inside, 4);
  assert.ok(!(await boxes()).includes('%v144'));
  await page.getByRole('button', { name: 'Close %v144' }).click();
  assert.deepEqual(await places(), once);
  // The keyboard: the boxes share a tab stop; an arrow key goes to the next one, Enter chooses it, and Back returns.
  assert.equal(await page.locator('#graph button[tabindex="0"]').count(), 1);
  await page.locator('#graph button[aria-pressed=true]').focus();
  await page.keyboard.press('ArrowUp');
  const name = (await page.locator('#graph button:focus span').first().textContent()).slice(1);
  assert.ok(operands.includes(name), name);
  await page.keyboard.press('Enter');
  assert.ok((await page.textContent('#summary')).startsWith(`%${name} (`));
  assert.ok((await page.locator('#graph button:focus span').first().textContent()).slice(1) === name);
  await page.getByRole('button', { name: 'Back' }).click();
  assert.ok((await page.textContent('#summary')).startsWith('%v144 ('));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(errors, []);
  await page.close();
});

test('hlo, names that try to be markup', async () => {
  const module = join(folder, 'hostile.hlo'), path = join(folder, 'hostile.html');
  const quoted = HOSTILE.replaceAll('"', '\\"');
  writeFileSync(module, `HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8]{0} parameter(0), metadata={op_name="${quoted}" source_file="${quoted}" source_line=7}
  q = f32[8]{0} negate(p), metadata={op_name="${quoted}/${quoted}"}
  ROOT r = f32[8]{0} negate(q), metadata={op_name="${quoted}/x"}
}
`);
  run('hlo', module, '--html', path);
  const { page, errors } = await open(path);
  assert.equal(await page.title(), 'Memory of m');
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(await page.locator('script').count(), 2);
  await page.locator('#table tbody button').first().click();
  assert.ok((await page.textContent('#selected')).includes(HOSTILE));
  assert.deepEqual(errors, []);
  await page.close();
});

test('hlo, a large program', async () => {
  const module = join(folder, 'large.hlo'), path = join(folder, 'large.html');
  const lines = ['HloModule large, is_scheduled=true', 'ENTRY e {', '  v0 = f32[512,1024]{1,0:T(8,128)} parameter(0)'];
  for (let n = 1; n < 100_000; n += 1) {
    const name = `jit(step)/layer_${n % 48}/block_${n % 7}/dot_general`;
    lines.push(`  v${n} = f32[512,${128 * (1 + n % 9)}]{1,0:T(8,128)} custom-call(v${n - 1}), custom_call_target="f", metadata={op_name="${name}" ` +
      `source_file="model.py" source_line=${n % 900}}, backend_config={"flags":[],"pad":"${'x'.repeat(60)}"}`);
  }
  lines.push('  ROOT r = f32[512,128]{1,0:T(8,128)} negate(v99999)', '}', '');
  writeFileSync(module, lines.join('\n'));
  assert.ok(statSync(module).size > 20_000_000);
  run('hlo', module, '--html', path);
  assert.ok(statSync(path).size < 5_000_000);
  const { page, errors } = await open(path);
  assert.ok((await page.textContent('#summary')).includes('this page knows'));
  assert.equal(await page.locator('#table tbody tr').count(), 200);
  await page.locator('#more').click();
  assert.equal(await page.locator('#table tbody tr').count(), 700);
  assert.deepEqual(errors, []);
  await page.close();
});
