// Answers questions in a thread of its own, so that the page stays usable. A message: `{id, module}` first, then
// `{id, files, against, reading, view}`, with lists of `{name, source}`; the sources are bytes or files.

import { Engine, split } from './engine.js';
import { isZip, unzip } from './zip.js';

let engine;

// The files of a list. If its only file is an archive, these are the files in the archive.
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
    // Files may be unpacked first, and then they are read. Each of the two has a bar of its own.
    const bar = () => {
      let last = 0;
      return part => {
        if (part - last > 0.02 || part === 1 && last > 0) postMessage({ id, progress: last = part });
      };
    };
    [files, against] = [await unpacked(files, bar()), await unpacked(against, bar())];
    postMessage({ id, answer: await engine.answer(...split({ files, against, reading, view, width }), bar()) });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
