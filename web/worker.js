// Answers questions beside the page, which stays usable. A message: `{id, module}` first, then `{id, files, against, reading, view}`,
// with lists of `{name, source}`; the sources are bytes or files.

import { Engine } from './engine.js';
import { isZip, unzip } from './zip.js';

let engine;

// A list without archives: the only file of a list may be one.
async function unpacked(list) {
  if (list.length !== 1) return list;
  const [{ source }] = list;
  const blob = source instanceof Uint8Array ? new Blob([source]) : source;
  if (!isZip(new Uint8Array(await blob.slice(0, 4).arrayBuffer()))) return list;
  return (await unzip(blob)).map(({ name, bytes }) => ({ name, source: bytes }));
}

onmessage = async ({ data: { id, module, files, against, reading, view, width } }) => {
  if (module) engine = new Engine(module);
  if (!files) return;
  try {
    [files, against] = [await unpacked(files), await unpacked(against)];
    let last = 0;
    const progress = part => {
      if (part - last > 0.02 || part === 1) postMessage({ id, progress: last = part });
    };
    const names = list => list.map(({ name }) => name);
    const sources = [...files, ...against].map(({ source }) => source);
    const answer = await engine.answer({ files: names(files), against: names(against), reading, view, width }, sources, progress);
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
