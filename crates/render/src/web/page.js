'use strict';
// What all pages have: colours, keys, the address, lists that arrow keys walk through. Texts from files are always set as text, never as markup.
const el = id => document.getElementById(id);
function node(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'class') element.className = value;
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
const grouped = number => number.toLocaleString('en-US');

// `whenThemed` has functions that draw parts of the page again, in the other colours.
const whenThemed = [];
function changeTheme() {
  const root = document.documentElement, isDark = matchMedia('(prefers-color-scheme:dark)').matches;
  root.dataset.theme = (root.dataset.theme ?? (isDark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
  for (const draw of whenThemed) draw();
}
el('theme').addEventListener('click', changeTheme);

// What is selected is in the address, so that a link opens it. `whenLinked` has what a page does when the address changes.
const whenLinked = [];
const readLink = () => new URLSearchParams(location.hash.includes('=') ? location.hash.slice(1) : '');
let link = readLink();
let writing = 0;
function remember(values) {
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === '') link.delete(key); else link.set(key, value);
  }
  // A browser refuses an address that changes very often; a page in a frame has none of its own.
  clearTimeout(writing);
  writing = setTimeout(() => { try { history.replaceState(null, '', '#' + link); } catch { /* nothing to remember */ } }, 150);
}
addEventListener('hashchange', () => { link = readLink(); for (const open of whenLinked) open(); });

// The keys of the page. What a key does is known by its name in the list.
const keyList = [], keyActs = new Map();
function onKey(names, what, act) {
  if (what) keyList.push([names, what]);
  for (const name of names.split(' ')) keyActs.set(name, act);
}
function showKeys() {
  el('keys').querySelector('dl').replaceChildren(...keyList.flatMap(([names, what]) =>
    [node('dt', {}, ...names.split(' ').flatMap((name, n) => [n ? ' ' : '', node('kbd', {}, name)])), node('dd', {}, what)]));
  el('keys').showModal();
}
el('help').addEventListener('click', showKeys);
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || el('keys').open) return;
  const isTyping = event.target.matches?.('input:not([type=range],[type=checkbox]),textarea,select');
  if (isTyping && event.key !== 'Escape') return;
  const act = keyActs.get(event.key === 'Escape' ? 'Esc' : event.key);
  if (!act) return;
  event.preventDefault();
  act(event);
});
onKey('?', 'this list', showKeys);
onKey('t', 'dark or light', changeTheme);

// The search field of the page. `find` searches for words; `go` goes to the next or the previous result; `what` is the word for a result.
// Escape clears the search. If nothing is searched for, it calls `otherwise`, which clears what `also` names.
function searchField(find, go, what, also = '', otherwise = () => {}) {
  const field = el('search');
  field.addEventListener('input', () => find(field.value));
  field.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  el('filter').addEventListener('submit', event => event.preventDefault());
  onKey('/', 'search; Enter goes to the next ' + what, () => { field.focus(); field.select(); });
  onKey('n', 'the next ' + what, () => go(1));
  onKey('p', 'the one before', () => go(-1));
  onKey('Esc', 'clear the search' + (also && ', then ' + also), () => {
    if (field.value) { field.value = ''; find(''); } else otherwise();
    document.activeElement.blur();
  });
}

// The items share one tab stop, and an arrow key moves to the nearest item in its direction.
function rove(items) {
  const middle = item => { const r = item.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
  items.forEach((item, n) => {
    item.setAttribute('tabindex', n ? -1 : 0);
    item.addEventListener('focus', () => {
      for (const other of items) other.setAttribute('tabindex', other === item ? 0 : -1);
    });
    item.addEventListener('keydown', event => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!way) return;
      event.preventDefault();
      const [x, y] = middle(item);
      let nearest = null, least = Infinity;
      for (const other of items) {
        const [a, b] = middle(other).map((to, axis) => to - [x, y][axis]);
        const along = a * way[0] + b * way[1], far = along + 2 * Math.abs(a * way[1] + b * way[0]);
        if (along > 1 && far < least) [nearest, least] = [other, far];
      }
      if (nearest) nearest.focus();
    });
  });
}

// A bar between two panes, moved by the pointer and by arrow keys. `size` says how large the first pane is, `set` changes that; both in pixels.
function resizable(bar, isAcross, size, set) {
  const tell = () => bar.setAttribute('aria-valuenow', Math.round(size()));
  const resize = pixels => { set(pixels); tell(); };
  const place = event => isAcross ? event.clientX : event.clientY;
  bar.addEventListener('pointerdown', event => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    const begun = place(event), before = size();
    const move = event => resize(before + place(event) - begun);
    bar.addEventListener('pointermove', move);
    bar.addEventListener('lostpointercapture', () => bar.removeEventListener('pointermove', move), { once: true });
  });
  bar.addEventListener('keydown', event => {
    const way = (isAcross ? { ArrowLeft: -1, ArrowRight: 1 } : { ArrowUp: -1, ArrowDown: 1 })[event.key];
    if (!way) return;
    event.preventDefault();
    resize(size() + 24 * way);
  });
  tell();
}
