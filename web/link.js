// Links: the input in the fragment of the address, which browsers do not send. JSON, deflated, as base64url.

import { parts } from './engine.js';

// The longest fragment that programs pass on as it is, in characters.
export const LONGEST = 16 << 10;
// The most bytes that a fragment may become.
const MOST = 8 << 20;

async function through(stream, bytes, most) {
  const found = [];
  let length = 0;
  for await (const part of parts(new Blob([bytes]).stream().pipeThrough(stream))) {
    length += part.length;
    if (length > most) throw new RangeError('the link has too much in it');
    found.push(part);
  }
  return new Uint8Array(await new Blob(found).arrayBuffer());
}

// The fragment for a state, without `#`.
export async function toFragment(state) {
  const packed = await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(JSON.stringify(state)), Infinity);
  let text = '';
  for (const byte of packed) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

// The state of a fragment: texts, and names of a reading and a view. Throws an error if it is not a whole link.
export async function fromFragment(fragment) {
  try {
    const packed = Uint8Array.from(atob(fragment.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), packed, MOST)));
    const text = value => value === undefined || typeof value === 'string';
    if (typeof state.text !== 'string' || ![state.against, state.reading, state.view].every(text)) throw new TypeError('not a state');
    return state;
  } catch {
    throw new Error('this link is not whole: the part behind # is cut off or changed');
  }
}
