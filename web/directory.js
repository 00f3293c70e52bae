// The files of the directory that `xla-shape serve` serves beside the page, in a list to choose from.

import { SERVED } from './served.js';

export const isServed = SERVED !== null;

// A directory of at most so many bytes is opened with the page.
const OPENED = 32 << 20;

export const size = bytes => bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;

export const count = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

// What the worker fetches when it needs it: the address and the size of a file.
const source = ([name, bytes]) => ({
  name, source: { url: new URL(`served/${name.split('/').map(encodeURIComponent).join('/')}`, location.href.split('#')[0]).href, size: bytes },
});

function entry(list, kind, title, about, choose) {
  const row = document.createElement('li'), button = document.createElement('button'), note = document.createElement('span');
  row.className = kind;
  button.type = 'button';
  button.textContent = title;
  button.addEventListener('click', choose);
  note.textContent = about;
  row.append(button, note);
  list.append(row);
}

// Shows the list, if there is one; `take` gets the files that are chosen. Returns the whole directory, if it is small enough to open at once.
export function showDirectory(place, take) {
  if (!SERVED) return null;
  const { name, files, is_partial } = SERVED;
  const sum = files => files.reduce((sum, [, bytes]) => sum + bytes, 0);
  const title = document.createElement('h2'), list = document.createElement('ul');
  title.textContent = `Files of ${name}`;
  list.setAttribute('aria-label', 'Files');
  const folders = new Map();
  for (const file of files) {
    const folder = file[0].slice(0, file[0].lastIndexOf('/') + 1);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  // Thousands of rows would be slow to show: of a large directory, each folder has its own files when it is asked for.
  const isLong = files.length > 300;
  if (folders.size > 1 || !folders.has('')) entry(list, 'folder', 'All of it', `${count(files.length, 'file')}, ${size(sum(files))}`, () => take(files.map(source)));
  for (const [folder, inside] of folders) {
    entry(list, 'folder', folder || 'Its own files', `${count(inside.length, 'file')}, ${size(sum(inside))}`, () => take(inside.map(source)));
    if (isLong && inside.length > 100) continue;
    for (const file of inside) entry(list, 'file', file[0].slice(folder.length), size(file[1]), () => take([source(file)]));
  }
  place.replaceChildren(title, list);
  if (is_partial || !files.length) {
    const note = document.createElement('p');
    note.className = 'hint';
    note.textContent = files.length ? `There are more files than these ${files.length}: name a directory further down to see the others.` : 'There are no files in it.';
    place.append(note);
  }
  place.hidden = false;
  return files.length && sum(files) <= OPENED ? files.map(source) : null;
}
