// The order of a WebAssembly module's functions in which the module compresses best: similar functions stand together.

// Reads unsigned LEB128 numbers and texts of a module, one after the other.
class Reader {
  constructor(bytes, at = 0) { this.bytes = bytes; this.at = at; }
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }
  part() {
    const length = this.number();
    return this.bytes.subarray(this.at, this.at += length);
  }
  text() { return this.part().toString(); }
}

function number(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Buffer.from([...bytes, value]);
}

const withLength = bytes => Buffer.concat([number(bytes.length), bytes]);

const CUSTOM = 0, IMPORT = 2, CODE = 10, FUNCTION_NAMES = 1;

/**
 * The module, with names of functions whose order is that of similar functions: those of one path (a generic function is compiled for many types), then
 * those of about the same length, then those that begin alike. Without a name section, or with imports, the module is returned unchanged.
 */
export function withNamesInOrder(module) {
  const sections = [], bodies = [], names = [];
  for (const reader = new Reader(module, 8); reader.at < module.length;) {
    const start = reader.at, id = module[reader.at++];
    const content = new Reader(reader.part());
    if (id === IMPORT) return module;
    if (id === CODE) for (let count = content.number(); count > 0; count--) bodies.push(content.part());
    if (id !== CUSTOM || content.text() !== 'name') {
      sections.push(module.subarray(start, reader.at));
      continue;
    }
    while (content.at < content.bytes.length) {
      const kind = content.bytes[content.at++], list = new Reader(content.part());
      if (kind === FUNCTION_NAMES) for (let count = list.number(); count > 0; count--) names[list.number()] = list.text();
    }
  }
  if (names.length === 0) return module;
  // A mangled name begins with the length of its first part, and ends with a hash.
  const path = name => name.replace(/^_ZN\d+_?(\$LT\$)?/, '').replace(/17h[0-9a-f]{16}E.*$/, '');
  const keys = bodies.map((body, place) => {
    const length = String(Math.floor(2 * Math.log2(body.length))).padStart(2, '0');
    return [path(names[place] ?? ''), length, body.subarray(0, 200).toString('hex')].join(' ');
  });
  const order = [...bodies.keys()].sort((a, b) => keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b);
  const named = [];
  for (const [rank, place] of order.entries()) named[place] = `f${String(rank).padStart(6, '0')}`;
  const list = Buffer.concat([number(named.length), ...named.flatMap((name, place) => [number(place), withLength(Buffer.from(name))])]);
  const section = Buffer.concat([withLength(Buffer.from('name')), Buffer.from([FUNCTION_NAMES]), withLength(list)]);
  return Buffer.concat([module.subarray(0, 8), ...sections, Buffer.from([CUSTOM]), withLength(section)]);
}
