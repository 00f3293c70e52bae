// XLA's own answers (tests/corpus), and the program's about all example programs, against the module that the page loads, in Node: the core, HLO,
// Mosaic and rendering as they are shipped, on wasm32-unknown-unknown. SITE is the site, XLA_SHAPE the program.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Engine } from '../engine.js';

const project = join(import.meta.dirname, '../..');
const engine = new Engine(await WebAssembly.compile(readFileSync(join(process.env.SITE, 'xla_shape_web.wasm'))));
const rows = name => readFileSync(join(project, 'tests/corpus', `${name}.jsonl`), 'utf8').trim().split('\n').map(row => JSON.parse(row));
const bytes = text => new TextEncoder().encode(text);

// The JSON of a view, or what was said if there is none.
async function answer(text, reading, view) {
  const found = await engine.answer({ files: ['-'], against: [], reading, view }, [bytes(text)]);
  if (found.reading?.name !== reading || found.shown !== view) return `read as ${found.reading?.name}, ${found.shown}`;
  return found.view.json === '' ? found.view.said : JSON.parse(found.view.json);
}

test('Node: shapes: text, validity and bytes', async () => {
  const counts = { valid: 0, error: 0, any: 0 };
  for (const { input, expect, canonical, bytes } of rows('shapes')) {
    const found = await answer(input, 'shape', 'explain');
    counts[expect] += 1;
    if (expect === 'error') assert.equal(typeof found, 'string', input);
    else if (expect === 'valid') {
      assert.equal(found.shape, canonical, input);
      if (found.bytes !== undefined && bytes !== undefined) assert.equal(found.bytes, bytes, input);
    }
  }
  assert.ok(counts.valid > 2700 && counts.error > 1900, JSON.stringify(counts));
});

test('Node: sizes in memory', async () => {
  for (const { shape, bytes } of rows('sizes')) assert.equal((await answer(shape, 'shape', 'explain')).bytes, bytes, shape);
});

test('Node: the element at each position', async () => {
  let compared = 0;
  for (const { layout, physical_to_logical } of rows('linear_index')) {
    const { dimensions } = await answer(layout, 'shape', 'explain');
    const drawn = await answer(layout, 'shape', 'draw');
    // A drawing of a large array has only a part of it.
    for (const { position, index } of (drawn.memory ?? []).flat()) {
      const linear = index?.reduce((sum, at, dimension) => sum * dimensions[dimension] + at, 0) ?? -1;
      assert.equal(linear, physical_to_logical[position], `${layout}: ${position}`);
      compared += 1;
    }
  }
  assert.ok(compared > 10_000, `${compared}`);
});

test('Node: bitcasts of real programs', async () => {
  for (const { operand, result, bytes, same_row_major_order } of rows('bitcasts')) {
    const text = `${operand} -> ${result}`;
    for (const shape of [operand, result]) assert.equal((await answer(shape, 'shape', 'explain')).bytes, bytes, text);
    // A reshape keeps the elements; some bitcasts of the compiler do not.
    const elements = shape => [shape.split('[')[0], shape.match(/\[(.*?)\]/)[1].split(',').reduce((product, size) => product * size, 1)].join();
    if (elements(operand) !== elements(result)) continue;
    const found = await answer(text, 'shapes', 'compare');
    assert.equal(typeof found.reshape.free, 'boolean', text);
    if (same_row_major_order !== undefined && same_row_major_order !== null) assert.equal(found.reshape.free, same_row_major_order, text);
  }
});

test('Node: shards', async () => {
  for (const { sizes, mesh, hlo, shard } of rows('partitions')) {
    for (const sharding of [hlo, mesh]) {
      const text = `f32[${sizes}] ${sharding}`;
      const found = await answer(text, 'sharding', 'explain');
      assert.match(found.sharding.shard, new RegExp(`^f32\\[${shard}\\]`), text);
    }
  }
});

test('Node: layouts that TPUs give to parameters', async () => {
  let compared = 0;
  for (const { parameters } of rows('tpu_entry_layouts')) {
    const { tuple_shapes } = await answer(parameters, 'shape', 'explain');
    for (const { shape } of tuple_shapes) {
      assert.ok(parameters.includes(shape), shape);
      compared += 1;
    }
  }
  assert.ok(compared > 30, `${compared}`);
});

test('Node: all example programs and kernels have the answers of the program', { skip: !process.env.XLA_SHAPE }, async () => {
  const examples = join(project, 'examples');
  const inputs = readdirSync(join(examples, 'hlo')).filter(name => name.endsWith('.hlo')).map(name => [`hlo/${name}`]);
  for (const folder of readdirSync(join(examples, 'kernels'), { withFileTypes: true }).filter(entry => entry.isDirectory())) {
    inputs.push(readdirSync(join(examples, 'kernels', folder.name)).map(name => `kernels/${folder.name}/${name}`));
  }
  let compared = 0;
  assert.ok(inputs.length >= 9, `${inputs.length}`);
  // What it writes to standard output and to standard error.
  const say = command => spawnSync(process.env.XLA_SHAPE, command, { cwd: examples, encoding: 'utf8', env: { COLUMNS: '80' }, maxBuffer: 1 << 28 }).output.slice(1);
  for (const files of inputs) {
    const sources = files.map(name => new Uint8Array(readFileSync(join(examples, name))));
    const { readings } = await engine.answer({ files, against: [] }, sources);
    for (const { name: reading } of readings) {
      const { views } = await engine.answer({ files, against: [], reading }, sources);
      for (const { name } of views) {
        const { view } = await engine.answer({ files, against: [], reading, view: name }, sources);
        assert.deepEqual([view.text, view.said.trim()], say(view.command).map((text, at) => at ? text.trim() : text), `${view.command}`);
        if (view.json) assert.equal(view.json, say([...view.command, '--format', 'json'])[0], `${view.command}`);
        if (view.page) assert.equal(view.page, say([...view.command, '--html', '-'])[0], `${view.command}`);
        compared += 1;
      }
    }
  }
  assert.ok(compared > inputs.length, `${compared}`);
});
