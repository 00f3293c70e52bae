// Answers questions beside the page, which stays usable. A message: `{id, module}` first, then `{id, files, against, reading, view}`,
// with lists of `{name, source}`; the sources are bytes, files, or `{url, size}` of files beside the page.

import { Engine, split } from './engine.js';
import { isZip, unzip } from './zip.js';

let engine;

// How many files are fetched at once.
const AT_ONCE = 6;

async function fetched({ name, source }) {
  if (!source.url) return { name, source };
  const response = await fetch(source.url).catch(() => { throw new Error(`${name} cannot be read: perhaps \`xla-shape serve\` has ended`); });
  if (!response.ok) throw new Error(response.status === 404 ? `${name} is no longer there` : `${name} cannot be read: the server answers ${response.status}`);
  const blob = await response.blob().catch(() => { throw new Error(`${name} changed while it was read`); });
  return { name, source: blob };
}

// A list whose sources are here.
async function here(list, progress) {
  const found = [];
  let next = 0, done = 0;
  const lane = async () => {
    while (next < list.length) {
      const at = next;
      next += 1;
      found[at] = await fetched(list[at]);
      done += 1;
      progress(done / list.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return found;
}

// A list without archives: the only file of a list may be one.
async function unpacked(list, progress) {
  if (list.length !== 1) return list;
  const [{ source }] = list;
  const blob = source instanceof Uint8Array ? new Blob([source]) : source;
  if (!isZip(new Uint8Array(await blob.slice(0, 4).arrayBuffer()))) return list;
  return (await unzip(blob, undefined, progress)).map(({ name, bytes }) => ({ name, source: bytes }));
}

onmessage = async ({ data: { id, module, files, against, reading, view, width } }) => {
  if (module) {
    engine = new Engine(module);
    postMessage({ isReady: true });
  }
  if (!files) return;
  try {
    // Files may be fetched, then unpacked, then read; each is a bar of its own.
    const bar = () => {
      let last = 0;
      return part => {
        if (part - last > 0.02 || part === 1 && last > 0) postMessage({ id, progress: last = part });
      };
    };
    if ([...files, ...against].some(({ source }) => source.url)) [files, against] = [await here(files, bar()), await here(against, bar())];
    [files, against] = [await unpacked(files, bar()), await unpacked(against, bar())];
    postMessage({ id, answer: await engine.answer(...split({ files, against, reading, view, width }), bar()) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
