// Reads zip archives (APPNOTE.TXT, 4.3): stored and deflated entries, bounded in number, size and ratio. Names are only names: nothing is
// written anywhere. Archives in an archive stay as they are.

import { parts } from './engine.js';

export const LIMITS = { entries: 10_000, bytes: 1 << 29, ratio: 1000, small: 1 << 20 };

const END = 0x06054b50, ENTRY = 0x02014b50, LOCAL = 0x04034b50, LONGEST_COMMENT = 65_535;

export const isZip = bytes => bytes.length >= 4 && bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);

// The files of an archive, as `{name, bytes}`; throws an error that says what is wrong. `file` is a blob. Calls `progress` with numbers from 0 to 1.
export async function unzip(file, limits = LIMITS, progress = () => {}) {
  const slice = async (from, to) => new DataView(await file.slice(from, to).arrayBuffer());
  const entries = [];
  let all = 0;
  for (const entry of await directory(file, slice, limits)) {
    if (entry.name.endsWith('/')) continue;
    const header = await slice(entry.offset, entry.offset + 30);
    if (header.byteLength < 30 || header.getUint32(0, true) !== LOCAL) throw new Error(`zip: ${entry.name}: expected an entry at byte ${entry.offset}`);
    const from = entry.offset + 30 + header.getUint16(26, true) + header.getUint16(28, true);
    if (from + entry.packed > file.size) throw new Error(`zip: ${entry.name}: the archive ends before it`);
    const packed = file.slice(from, from + entry.packed);
    const bytes = await contents(entry, packed, limits, limits.bytes - all);
    all += bytes.length;
    progress((from + entry.packed) / file.size);
    entries.push({ name: entry.name, bytes });
  }
  return entries;
}

// The list of entries at the end of an archive.
async function directory(file, slice, limits) {
  const from = Math.max(0, file.size - 22 - LONGEST_COMMENT), tail = await slice(from, file.size);
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== END) end -= 1;
  if (end < 0) throw new Error('zip: expected an end of the directory, found none: the archive is cut off');
  const count = tail.getUint16(end + 10, true), size = tail.getUint32(end + 12, true), offset = tail.getUint32(end + 16, true);
  if (count === 0xffff || offset === 0xffffffff) throw new Error('zip: archives in the form ZIP64 are not read');
  if (count > limits.entries) throw new Error(`zip: expected at most ${limits.entries} entries, found ${count}`);
  if (offset + size > file.size) throw new Error('zip: the directory is not in the archive');
  const list = await slice(offset, offset + size), names = new TextDecoder(), found = [];
  let at = 0;
  for (let n = 0; n < count; n += 1) {
    if (at + 46 > list.byteLength || list.getUint32(at, true) !== ENTRY) throw new Error(`zip: expected entry ${n} at byte ${offset + at}`);
    const [flags, method] = [list.getUint16(at + 8, true), list.getUint16(at + 10, true)];
    const [packed, unpacked] = [list.getUint32(at + 20, true), list.getUint32(at + 24, true)];
    const [name, extra, comment] = [28, 30, 32].map(field => list.getUint16(at + field, true));
    if (at + 46 + name > list.byteLength) throw new Error(`zip: expected entry ${n} at byte ${offset + at}`);
    const text = names.decode(new Uint8Array(list.buffer, at + 46, name));
    if (flags & 1) throw new Error(`zip: ${text} is encrypted`);
    found.push({ name: text, method, packed, unpacked, offset: list.getUint32(at + 42, true) });
    at += 46 + name + extra + comment;
  }
  return found;
}

async function contents({ name, method, packed, unpacked }, data, limits, left) {
  if (unpacked > left) throw new Error(`zip: expected at most ${limits.bytes} bytes in all, ${name} has ${unpacked}`);
  if (unpacked > limits.small && unpacked > packed * limits.ratio) throw new Error(`zip: ${name} is ${Math.round(unpacked / packed)} times larger than its compressed form, at most ${limits.ratio} times are read`);
  if (method === 0) {
    if (packed !== unpacked) throw new Error(`zip: ${name} is stored, with two sizes`);
    return new Uint8Array(await data.arrayBuffer());
  }
  if (method !== 8) throw new Error(`zip: ${name} is compressed by method ${method}; 0 and 8 are read`);
  // The archive states this size, which may be wrong: the unpacked bytes are counted.
  const bytes = new Uint8Array(unpacked);
  let at = 0;
  try {
    for await (const part of parts(data.stream().pipeThrough(new DecompressionStream('deflate-raw')))) {
      if (at + part.length > unpacked) throw new RangeError(`it is larger than ${unpacked} bytes`);
      bytes.set(part, at);
      at += part.length;
    }
  } catch (error) {
    throw new Error(`zip: ${name} cannot be unpacked: ${error.message}`);
  }
  if (at !== unpacked) throw new Error(`zip: ${name} has ${at} bytes, expected ${unpacked}`);
  return bytes;
}
