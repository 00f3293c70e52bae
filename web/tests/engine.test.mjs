// The module in Node: the same file that the page loads. XLA_SHAPE, if it is given, is the program, which must say the same. SITE is the site.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { Engine } from '../engine.js';
import { EXAMPLES } from '../examples.js';
import { LONGEST, fromFragment, toFragment } from '../link.js';
import { isZip, unzip } from '../zip.js';

const site = process.env.SITE, program = process.env.XLA_SHAPE;
const engine = new Engine(await WebAssembly.compile(readFileSync(join(site, 'xla_shape_web.wasm'))));
const bytes = text => new TextEncoder().encode(text);
const ask = (text, more = {}) => engine.answer({ files: ['-'], against: [], ...more }, [bytes(text)]);

test('Node: examples have the answers of the program', async () => {
  for (const { title, text, files = ['-'], against = [] } of EXAMPLES) {
    const folder = join(import.meta.dirname, '../../examples');
    const read = name => text === undefined ? new Uint8Array(readFileSync(join(folder, name))) : bytes(text);
    const sources = [...files, ...against].map(read);
    const { reading, views } = await engine.answer({ files, against }, sources);
    assert.ok(reading, title);
    for (const { name: view } of views) {
      const answer = await engine.answer({ files, against, view }, sources);
      assert.equal(answer.shown, view);
      assert.equal(answer.view.said, '', `${title}: ${view}`);
      assert.ok(answer.view.text.length > 10 && answer.view.json.includes('"schema"'), title);
      if (program) {
        // A program that reads no input may have ended before it is written, which is an error.
        const input = answer.view.command.includes('-') ? text : undefined;
        const said = execFileSync(program, answer.view.command, { cwd: folder, input, encoding: 'utf8', env: { COLUMNS: '80' } });
        assert.equal(answer.view.text, said, title);
      }
    }
  }
});

test('Node: wrong inputs are told with their positions', async () => {
  const { view } = await ask('f32[2,3]{1,1}');
  assert.match(view.said, /expected every dimension once .*\n.*\n.*\n *\| +\^/);
  assert.equal(view.text, '');
  const { error } = await engine.answer({ files: [], against: [] }, []);
  assert.match(error, /found nothing/);
});

test('Node: names that are no Unicode text are names', async () => {
  const { view } = await engine.answer({ files: ['a\ud800.hlo'], against: [] }, [bytes('f32[8]')]);
  assert.ok(view.text.length > 10);
});

test('Node: an instance answers many questions, and frees them', async () => {
  const module = readFileSync(join(import.meta.dirname, '../../examples/hlo/v5e__rnn_scan.hlo'), 'utf8');
  await ask(module);
  const before = engine.instance.memory.buffer.byteLength;
  for (let n = 0; n < 20; n += 1) await ask(module, { view: n % 2 ? 'cost' : 'hlo' });
  assert.ok(engine.instance.memory.buffer.byteLength <= before + (8 << 20));
});

test('Node: too little memory is told as such, and the next question is answered', async () => {
  // Only 256 KiB of the possible 4 GiB are left.
  class Small extends Engine {
    async restart() {
      await super.restart();
      if (!this.isLarge) this.instance.memory.grow(65536 - this.instance.memory.buffer.byteLength / 65536 - 4);
    }
  }
  const small = new Small(engine.module), module = readFileSync(join(import.meta.dirname, '../../examples/hlo/v5e__rnn_scan.hlo'));
  const question = () => small.answer({ files: ['a.hlo'], against: [] }, [new Uint8Array(module)]);
  await assert.rejects(question(), /more memory than the browser gives a page/);
  small.isLarge = true;
  assert.equal((await question()).reading.name, 'hlo');
  // What cannot fit is refused before it is read.
  await assert.rejects(small.answer({ files: ['a'], against: [] }, [{ size: 2 ** 31 }]), /2049 MiB are more than fit/);
  assert.equal((await question()).reading.name, 'hlo');
});

test('Node: links hold the whole state', async () => {
  for (const state of [{ text: '' }, { text: 'f32[8]\u{1f600}\n', against: 'x', reading: 'shape', view: 'draw' }]) {
    const fragment = await toFragment(state);
    assert.match(fragment, /^[\w-]*$/);
    assert.deepEqual(await fromFragment(fragment), state);
    await assert.rejects(fromFragment(fragment.slice(0, -4)), /not whole/);
  }
  for (const wrong of ['', '%', 'AAAA', await toFragment({ text: 1 }), await toFragment([]), await toFragment({ text: 'x', view: {} })]) {
    await assert.rejects(fromFragment(wrong), /not whole/);
  }
  // A small link whose unpacked content is large.
  await assert.rejects(fromFragment(deflateRawSync(JSON.stringify({ text: ' '.repeat(20 << 20) })).toString('base64url')), /not whole/);
  assert.ok((await toFragment({ text: 'f32[8]'.repeat(1000) })).length < LONGEST);
});

// An archive with these entries; `change` edits one before it is written.
function archive(entries, change = () => {}) {
  const parts = [], list = [];
  let offset = 0;
  for (const [name, text] of entries) {
    const content = Buffer.from(text), packed = deflateRawSync(content);
    const entry = { name: Buffer.from(name), method: 8, flags: 0, packed: packed.length, unpacked: content.length, offset };
    change(entry);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(entry.name.length, 26);
    const row = Buffer.alloc(46);
    row.writeUInt32LE(0x02014b50, 0);
    row.writeUInt16LE(entry.flags, 8);
    row.writeUInt16LE(entry.method, 10);
    row.writeUInt32LE(entry.packed, 20);
    row.writeUInt32LE(entry.unpacked, 24);
    row.writeUInt16LE(entry.name.length, 28);
    row.writeUInt32LE(entry.offset, 42);
    parts.push(head, entry.name, packed);
    list.push(row, entry.name);
    offset += 30 + entry.name.length + packed.length;
  }
  const directory = Buffer.concat(list), end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Blob([...parts, directory, end]);
}

test('Node: archives are read', async () => {
  const blob = archive([['d/', ''], ['d/after.hlo', 'HloModule m'], ['../../etc/x', 'names only'], ['inner.zip', 'PK\x03\x04']]);
  assert.ok(isZip(new Uint8Array(await blob.arrayBuffer())));
  const files = await unzip(blob);
  assert.deepEqual(files.map(({ name }) => name), ['d/after.hlo', '../../etc/x', 'inner.zip']);
  assert.equal(new TextDecoder().decode(files[0].bytes), 'HloModule m');
  assert.deepEqual(await unzip(archive([])), []);
});

test('Node: archives are bounded', async () => {
  const one = [['a', 'x'.repeat(3000)]];
  await assert.rejects(unzip(archive([...one, ['b', '']]), { entries: 1 }), /at most 1 entries, found 2/);
  const limits = { entries: 9, bytes: 4000, ratio: 1000, small: 0 };
  await assert.rejects(unzip(archive([...one, ['b', 'y'.repeat(3000)]]), limits), /at most 4000 bytes in all, b has 3000/);
  await assert.rejects(unzip(archive(one), { ...limits, ratio: 10 }), /times larger/);
  // The entry states a size that is too small or too large.
  await assert.rejects(unzip(archive(one, entry => { entry.unpacked = 5; })), /larger than 5 bytes/);
  await assert.rejects(unzip(archive(one, entry => { entry.unpacked = 3001; })), /has 3000 bytes, expected 3001/);
  await assert.rejects(unzip(archive(one, entry => { entry.flags = 1; })), /encrypted/);
  await assert.rejects(unzip(archive(one, entry => { entry.method = 12; })), /method 12/);
  await assert.rejects(unzip(archive(one, entry => { entry.packed = 1e6; })), /ends before it/);
  await assert.rejects(unzip(archive(one, entry => { entry.offset = 7; })), /expected an entry at byte 7/);
  const whole = new Uint8Array(await archive(one).arrayBuffer());
  for (let length = 0; length < whole.length; length += 7) await assert.rejects(unzip(new Blob([whole.slice(0, length)])), /zip: /);
});
