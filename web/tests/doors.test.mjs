// The module in Node gives the answers of the program: `tests/corpus/doors.jsonl` has the questions and its answers (see `crates/cli/tests/doors.rs`).
// SITE is the site.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Engine } from '../engine.js';

const engine = new Engine(await WebAssembly.compile(readFileSync(join(process.env.SITE, 'xla_shape_web.wasm'))));
const rows = readFileSync(join(import.meta.dirname, '../../tests/corpus/doors.jsonl'), 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line));

// The text that leads to the command, if the page has it.
function pasted({ command: [verb, ...words], input }) {
  if (words.length === 1 && words[0] === '-') return input;
  if (words.length === 1) return words[0];
  if (['compare', 'block'].includes(verb) && words.length === 2) return words.join(' -> ');
  if (words[1] === '--sharding') return `${words[0]} ${words[2]}`;
  if (words[0] === '--from') return words[2];
  return undefined;
}

test('Node: the answers of the program to the questions of all doors', async () => {
  let compared = 0;
  for (const row of rows) {
    const text = pasted(row);
    if (text === undefined && !row.files) continue;
    const files = row.files ?? { '-': text };
    const sources = Object.values(files).map(file => new TextEncoder().encode(file));
    const ask = more => engine.answer({ files: Object.keys(files), against: [], ...more }, sources);
    for (const { name: reading } of (await ask({})).readings ?? []) {
      const { view } = await ask({ reading, view: row.command[0] });
      if (JSON.stringify(view?.command) !== JSON.stringify(row.command)) continue;
      assert.deepEqual(view.json.split('\n').filter(Boolean).map(line => JSON.parse(line)), row.answer ?? [], `${row.command}`);
      assert.equal(view.said.trimEnd(), (row.error ?? '').trimEnd(), `${row.command}`);
      compared += 1;
      break;
    }
  }
  assert.ok(compared >= 120, `${compared}`);
});
