// The site in a real browser: every kind of input, wrong input, links, the policy, both themes, narrow screens, offline.
// SITE is the site, CHROMIUM the browser.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { program } from '../../crates/cli/tests/browser/programs.mjs';
import { EXAMPLES } from '../examples.js';

const site = process.env.SITE, examples = new URL('../../examples/', import.meta.url).pathname;
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm' };
const LONG = 60_000;
let browser, server, other, address, strange, folder;
const asked = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'explorer-'));
  server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url, 'http://x').pathname).replace(/^\/$/, '/index.html');
    try {
      const type = TYPES[name.split('.').pop()] ?? 'text/plain';
      response.setHeader('content-type', type);
      response.end(readFileSync(join(site, name)));
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  // Another origin, which must not get any request.
  other = createServer((request, response) => {
    asked.push(request.url);
    response.setHeader('access-control-allow-origin', '*');
    response.end('x');
  });
  for (const each of [server, other]) await new Promise(resolve => each.listen(0, '127.0.0.1', resolve));
  [address, strange] = [server, other].map(each => `http://127.0.0.1:${each.address().port}/`);
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
});

after(async () => {
  await browser?.close();
  for (const each of [server, other]) { each.closeAllConnections(); each.close(); }
  rmSync(folder, { recursive: true });
});

async function open({ at = address, fragment = '', width = 1280, colorScheme = 'light', ...more } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, permissions: ['clipboard-read', 'clipboard-write'], ...more });
  const page = await context.newPage();
  const errors = [];
  page.on('console', message => { if (message.type() === 'error') errors.push(message.text()); });
  page.on('pageerror', error => errors.push(String(error)));
  page.on('request', request => { if (!request.url().startsWith(at) && !/^(blob|data|about):/.test(request.url())) errors.push(request.url()); });
  await page.goto(at + fragment);
  return { page, errors, close: () => context.close() };
}

const status = (page, text) => page.waitForFunction(
  text => document.getElementById('status').textContent.includes(text) && !document.querySelector('[aria-busy=true]'), text, { timeout: LONG });
const paste = async (page, text) => {
  // The answer before this one does not count.
  await page.locator('#status').evaluate(place => { place.textContent = ''; });
  await page.locator('#text').fill(text);
};

for (const [index, { title }] of EXAMPLES.entries()) {
  test(`example: ${title}`, async () => {
    const { page, errors, close } = await open({ colorScheme: index % 2 ? 'dark' : 'light' });
    await page.getByRole('button', { name: title, exact: true }).click();
    await status(page, 'This is ');
    const views = page.locator('#views button');
    // Without a choice, there are no buttons.
    const count = await views.first().isVisible() ? await views.count() : 0;
    for (let n = 0; n < Math.max(1, count); n += 1) {
      if (count) {
        await views.nth(n).click();
        await page.waitForFunction(n => document.querySelectorAll('#views button')[n].getAttribute('aria-pressed') === 'true' && !document.querySelector('[aria-busy=true]'), n);
      }
      assert.ok((await page.textContent('#shell')).startsWith('xla-shape '));
      if (await page.locator('#page').isVisible()) {
        // The program's page works in its frame: its script has run.
        const frame = page.frameLocator('#page');
        await frame.locator('h1').waitFor();
        await frame.locator('#theme').evaluate(button => button.click());
        await frame.locator('html[data-theme]').waitFor();
      }
      for (const [form, place, pattern] of [['Text', '#output', /\w{3}/], ['JSON', '#json', /"schema"/]]) {
        await page.locator('#forms').getByText(form, { exact: true }).click();
        assert.match(await page.textContent(place), pattern);
        assert.ok(await page.locator('#page').isHidden());
      }
      const first = page.locator('#forms button').first();
      await first.click();
      assert.equal(await first.getAttribute('aria-pressed'), 'true');
    }
    assert.deepEqual(errors, []);
    await close();
  });
}

test('the first answer to an error text is there within ten seconds of opening the page', async () => {
  const from = performance.now();
  const { page, errors, close } = await open({ width: 420 });
  assert.equal(await page.evaluate(() => document.activeElement.id), 'text');
  await paste(page, EXAMPLES.find(({ title }) => title === 'Out of memory').text);
  await status(page, 'a log or a message');
  assert.ok(performance.now() - from < 10_000);
  assert.match(await page.textContent('#output'), /hbm: 41\.7 GiB of 16 GiB/);
  // The answer is visible without a click and without scrolling.
  const { y, height } = await page.locator('#output').boundingBox();
  assert.ok(y + Math.min(height, 60) < 900, `${y}`);
  await page.getByRole('button', { name: 'Advice: s32[8388608,8,4]' }).click();
  await status(page, 'a shape');
  assert.equal(await page.locator('#views [aria-pressed=true]').textContent(), 'Advice');
  assert.deepEqual(errors, []);
  await close();
});

test('wrong input is told with its position; other readings are offered', async () => {
  const { page, errors, close } = await open();
  await paste(page, 'f32[2,3]{1,1}');
  await status(page, 'a shape');
  assert.match(await page.textContent('#said'), /expected every dimension once/);
  assert.ok(await page.locator('#output').isHidden());
  await paste(page, 'f32[8,1024] f32[8192]');
  await status(page, 'two shapes to compare');
  await page.getByRole('button', { name: /kernel's block/ }).click();
  await status(page, "a kernel's block");
  await paste(page, '   ');
  await status(page, 'found nothing');
  assert.ok(await page.locator('#answer').isHidden());
  await paste(page, '</pre><script>document.title="owned"</script><img src=x onerror=alert(1)> f32[8,1]{1,0:T(8,128)}');
  await status(page, 'a log');
  assert.notEqual(await page.title(), 'owned');
  assert.deepEqual(errors, []);
  await close();
});

test('links', async () => {
  const { page, errors, close } = await open();
  await paste(page, 'f32[3,5]{1,0:T(2,2)}');
  await status(page, 'a shape');
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  await page.locator('#page').waitFor();
  await page.locator('[data-copy=link]').click();
  await page.getByText('Copied.').waitFor();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const again = await open({ fragment: link.slice(address.length) });
  await status(again.page, 'a shape');
  await again.page.locator('#page').waitFor();
  assert.equal(await again.page.inputValue('#text'), 'f32[3,5]{1,0:T(2,2)}');
  assert.equal(await again.page.locator('#views [aria-pressed=true]').textContent(), 'Picture');
  // The same for a link that is pasted into the address of an open page.
  await again.page.evaluate(() => { location.hash = '#broken'; });
  await status(again.page, 'not whole');
  await again.close();
  // Too large: the page says why there is no link.
  let text = '';
  for (let n = 1, x = 1; n < 6000; n += 1) text += `f32[${x = x * 48271 % 2147483647}] `;
  await paste(page, text);
  await status(page, 'a log');
  await page.locator('[data-copy=link]').click();
  await page.getByText('at most 16384 characters').waitFor();
  assert.equal(new URL(page.url()).hash, '');
  assert.deepEqual([...errors, ...again.errors], []);
  await close();
});

test('copies', async () => {
  const { page, errors, close } = await open();
  const copied = async what => {
    await page.locator('#copied').evaluate(place => { place.textContent = ''; });
    await page.locator(`[data-copy=${what}]`).click();
    await page.getByText('Copied.').waitFor();
    return page.evaluate(async () => {
      const [item] = await navigator.clipboard.read();
      const type = item.types.find(type => type !== 'text/html');
      const blob = await item.getType(type);
      return [type, blob.size, type.startsWith('text') ? await blob.text() : ''];
    });
  };
  await paste(page, 'f32[3,5]{1,0:T(2,2)}');
  await status(page, 'a shape');
  assert.ok(await page.locator('[data-copy=svg]').isHidden(), 'an explanation has no picture');
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  await page.locator('#page').waitFor();
  assert.match((await copied('svg'))[2], /^<svg /);
  const [type, bytes] = await copied('png');
  assert.equal(type, 'image/png');
  assert.ok(bytes > 2000);
  const [, , markdown] = await copied('markdown');
  assert.match(markdown, /^```sh\nxla-shape draw 'f32\[3,5\]\{1,0:T\(2,2\)\}'\n```\n\n```text\n[^]*\n```\n\n\[Open in the explorer\]\(http.*#/);
  assert.match((await copied('json'))[2], /"schema":"xla-shape\/draw\/1"/);
  assert.deepEqual(errors, []);
  await close();
});

test('nothing leaves the page', async () => {
  const { page, close } = await open();
  await paste(page, 'f32[8]');
  await status(page, 'a shape');
  const refused = await page.evaluate(async strange => {
    const tried = {};
    const attempt = async (name, act) => { tried[name] = await act().then(() => 'done', () => 'refused'); };
    const loaded = (name, parts) => new Promise((resolve, reject) => {
      const element = Object.assign(document.createElement(name), parts, { onload: resolve, onerror: reject });
      document.body.append(element);
      setTimeout(() => reject(new Error('nothing happened')), 2000);
    });
    await attempt('fetch', () => fetch(`${strange}fetch`, { mode: 'no-cors' }));
    await attempt('image', () => loaded('img', { src: `${strange}image` }));
    await attempt('script', () => loaded('script', { src: `${strange}script` }));
    await attempt('style', () => loaded('link', { rel: 'stylesheet', href: `${strange}style` }));
    await attempt('inline script', () => loaded('script', { textContent: 'document.title = "owned"' }));
    await attempt('socket', () => new Promise((resolve, reject) => {
      const socket = new WebSocket(strange.replace('http', 'ws'));
      [socket.onopen, socket.onerror] = [resolve, reject];
    }));
    await attempt('form', async () => {
      const form = Object.assign(document.createElement('form'), { action: `${strange}form`, target: '_blank' });
      document.body.append(form);
      form.submit();
      await new Promise(resolve => { setTimeout(resolve, 300); });
      throw new Error();
    });
    navigator.sendBeacon(`${strange}beacon`, 'x');
    // A worker of this page has its policy, too.
    await attempt('worker', () => new Promise((resolve, reject) => {
      const code = `fetch('${strange}worker', { mode: 'no-cors' }).then(() => postMessage('done'), () => postMessage('refused'));`;
      const worker = new Worker(URL.createObjectURL(new Blob([code])));
      worker.onmessage = ({ data }) => (data === 'done' ? resolve() : reject());
    }));
    await new Promise(resolve => { setTimeout(resolve, 300); });
    return tried;
  }, strange);
  assert.deepEqual(new Set(Object.values(refused)), new Set(['refused']), JSON.stringify(refused));
  assert.notEqual(await page.title(), 'owned');
  // The frame of a picture may do even less.
  await page.getByRole('button', { name: 'Picture', exact: true }).click();
  const frame = await (await page.waitForSelector('#page')).contentFrame();
  await frame.waitForSelector('h1');
  for (const url of [`${strange}frame`, `${address}index.html`]) {
    assert.equal(await frame.evaluate(url => fetch(url, { mode: 'no-cors' }).then(() => 'done', () => 'refused'), url), 'refused');
  }
  assert.equal(await frame.evaluate(() => { try { return parent.document.title; } catch { return 'refused'; } }), 'refused');
  assert.deepEqual(asked, []);
  await close();
});

test('files, directories and archives', async () => {
  const { page, errors, close } = await open();
  await page.locator('#open').setInputFiles(join(examples, 'hlo/v5e__rnn_scan.hlo'));
  await status(page, 'an HLO module');
  assert.match(await page.textContent('#files'), /v5e__rnn_scan\.hlo, 52 KiB/);
  await page.locator('#open').setInputFiles([join(examples, 'hlo/v5e__gather_step.hlo'), join(examples, 'hlo/v5e__gather_step_transposed.hlo')]);
  await status(page, 'two HLO modules');
  await page.locator('#folder').setInputFiles(join(examples, 'kernels/first'));
  await status(page, 'texts about kernels');
  const broken = join(folder, 'broken.zip');
  writeFileSync(broken, 'PK\x03\x04 and nothing else');
  await page.locator('#open').setInputFiles(broken);
  await status(page, 'the archive is cut off');
  const binary = join(folder, 'array.npy');
  writeFileSync(binary, Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 255]));
  await page.locator('#open').setInputFiles(binary);
  await status(page, 'an HLO module');
  assert.match(await page.textContent('#said'), /this is an array of NumPy/);
  assert.deepEqual(errors, []);
  await close();
});

test('two of any are compared', async () => {
  const { page, errors, close } = await open();
  await paste(page, 'f32[8,1024]');
  await status(page, 'a shape');
  await page.locator('#compare').click();
  await page.locator('#against').fill('f32[8192]');
  await status(page, 'two shapes');
  await page.locator('#against').fill('HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }');
  await status(page, 'cannot be compared');
  await page.locator('#clear').click();
  await status(page, 'Nothing is given');
  assert.deepEqual(errors, []);
  await close();
});

test('a large module does not freeze the page', async () => {
  const path = join(folder, 'large.hlo');
  writeFileSync(path, program(80_000));
  const { page, errors, close } = await open();
  await page.evaluate(() => {
    window.longest = 0;
    let last = performance.now();
    setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; }, 20);
  });
  await page.locator('#open').setInputFiles(path);
  // Another input stops the work; then the file is opened again.
  await page.waitForTimeout(300);
  await paste(page, 'f32[8]');
  await status(page, 'a shape');
  await page.locator('#open').setInputFiles(path);
  await status(page, 'an HLO module');
  // The answer is shown at the end; until then, timers run.
  const longest = await page.evaluate(() => window.longest);
  assert.ok(longest < 2000, `${longest} ms`);
  assert.deepEqual(errors, []);
  await close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { iframes: false }));
  return found.violations.map(({ id, nodes }) => [id, nodes[0].html]);
}

// A text of each notation, as docs/notations.md writes them, and the answer.
const LAYOUTS = [
  ['std::layout_right_padded<128>::mapping<std::extents<std::size_t, 100, 100>>()', 'mdspan', 'f32[100,100]{1,0:T(128)}'],
  ['np.ndarray(shape=(5,), dtype=np.float64, strides=(48,))', 'NumPy', 'f64[5]{0:T(1)(6)}'],
  ['torch.empty((8, 3, 224, 224), dtype=torch.float16, memory_format=torch.channels_last)', 'torch', 'f16[8,3,224,224]{1,3,2,0}'],
  ['- lane=1 -> (0, 1)\n- warp=1 -> (1, 0)\nwhere out dims are: [dim0 (size 2), dim1 (size 2)]', 'linear layout', 'f32[2,2]{1,0}'],
  ['memref<8x128xf32, strided<[128, 1]>>', 'memref', 'f32[8,128]{1,0}'],
  ['f32::blocked:aBc16b::f0 2x32x7', 'oneDNN', 'f32[2,32,7]{2,1,0:T(16,1)}'],
  ['((8,16),64):((64,512),1)', 'CuTe', 'f32[128,64]{1,0}'],
];
test('layouts in other notations', async () => {
  const { page, errors, close } = await open();
  for (const [text, notation, array] of LAYOUTS) {
    await paste(page, text);
    await status(page, notation);
    assert.equal((await page.textContent('#output')).trim(), `xla  ${array}`, text);
  }
  await paste(page, 'f33[2,3]');
  await status(page, 'a shape');
  assert.match(await page.textContent('#said'), /did you mean `f32`/);
  await paste(page, 'hello world');
  await status(page, 'nothing known here');
  assert.ok(await page.locator('#answer').isHidden());
  assert.deepEqual(errors, []);
  await close();
});

for (const width of [420, 1280]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${width} pixels, ${colorScheme}`, async () => {
      const { page, errors, close } = await open({ width, colorScheme, bypassCSP: true, serviceWorkers: 'block' });
      for (const text of ['', 'bf16[100,300]{1,0:T(8,128)(2,1)}', 'f32[2,3]{1,1}', `${'x'.repeat(300)} f32[8,1]{1,0:T(8,128)}`]) {
        if (text) await paste(page, text);
        await status(page, text ? 'This is' : 'Nothing');
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), text);
        assert.deepEqual(await violations(page), [], text);
      }
      const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(await back() === 'rgb(255, 255, 255)', colorScheme === 'light');
      await page.locator('#theme').click();
      assert.equal(await back() === 'rgb(255, 255, 255)', colorScheme !== 'light');
      assert.deepEqual(errors, []);
      await close();
    });
  }
}

test('the keyboard reaches everything', async () => {
  const { page, errors, close } = await open();
  await page.locator('#text').focus();
  await page.keyboard.type('f32[3,5]{1,0:T(2,2)}');
  await status(page, 'a shape');
  const reached = new Set();
  for (let n = 0; n < 40; n += 1) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.textContent));
    if (await page.evaluate(() => document.activeElement.textContent === 'Picture')) {
      await page.keyboard.press('Enter');
      await page.locator('#page').waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Picture', 'the focus stays');
    }
  }
  for (const wanted of ['open', 'folder', 'compare', 'Picture', 'Drawing', 'Text', 'JSON', 'Link', 'PNG', 'page']) assert.ok(reached.has(wanted), wanted);
  assert.deepEqual(errors, []);
  await close();
});

test('works offline after the first visit', async () => {
  const { page, errors, close } = await open();
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) await new Promise(resolve => navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
  });
  await page.context().setOffline(true);
  await page.reload();
  await page.getByRole('button', { name: 'A program', exact: true }).click();
  await status(page, 'an HLO module');
  await page.frameLocator('#page').locator('h1').waitFor();
  assert.deepEqual(errors, []);
  await close();
});

test('the module is small', () => {
  assert.ok(gzipSync(readFileSync(join(site, 'xla_shape_web.wasm')), { level: 9 }).length <= 1_000_000);
});
