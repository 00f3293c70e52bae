import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNamesInOrder } from '../order.mjs';

const size = length => (length < 128 ? [length] : [length % 128 + 128, length >> 7]);
const part = (...bytes) => [...size(bytes.length), ...bytes];
const text = text => part(...Buffer.from(text));
const named = names => [0, ...part(...text('name'), 1, ...part(names.length, ...names.flatMap((name, place) => [place, ...text(name)])))];

// A module of functions without parameters, whose bodies are as many `nop` as given.
const module = (lengths, ...more) => Buffer.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, ...part(1, 0x60, 0, 0),
  3, ...part(lengths.length, ...lengths.map(() => 0)),
  10, ...part(lengths.length, ...lengths.flatMap(length => part(0, ...Array(length).fill(1), 0x0b))),
  ...more,
]);

test('Node: similar functions have names side by side', () => {
  const mangled = (name, hash) => `_ZN${name.length}${name}17h${hash.repeat(16)}E`;
  const lengths = [40, 1, 2, 1];
  const names = [mangled('same', '0'), mangled('other', '1'), mangled('same', '2'), mangled('same', '3')];
  const result = withNamesInOrder(module(lengths, ...named(names)));
  assert.ok(WebAssembly.validate(result));
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(result), 'name');
  const found = Buffer.from(section).toString('latin1').match(/f\d{6}/g);
  // `other` comes first; of `same`, the shortest comes first, whatever its hash.
  assert.deepEqual(found, ['f000003', 'f000000', 'f000002', 'f000001']);
});

test('Node: a module without names stays as it is', () => {
  const plain = module([1, 2]);
  assert.deepEqual(withNamesInOrder(plain), plain);
});
