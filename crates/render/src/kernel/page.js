const lines = new Map([...document.querySelectorAll('.line button')].map(button => [button.dataset.l, button]));
const slots = new Map();
for (const slot of document.querySelectorAll('.bundle span[data-l]')) {
  if (!slots.has(slot.dataset.l)) slots.set(slot.dataset.l, []);
  slots.get(slot.dataset.l).push(slot);
}
// Each line and its slots have one of six tints, so that the eye finds them in the other list.
const TINTS = 6;
[...lines].forEach(([line, button], n) => {
  for (const part of [button, ...slots.get(line) ?? []]) part.classList.add('tint' + n % TINTS);
});
// What the pointer is on is lit in both lists.
function light(line) {
  for (const old of document.querySelectorAll('.near')) old.classList.remove('near');
  if (line) for (const part of [lines.get(line), ...slots.get(line) ?? []]) part?.classList.add('near');
}
let chosen = null;
function choose(line, from) {
  for (const old of document.querySelectorAll('.bundles .on')) old.classList.remove('on');
  if (chosen !== null) {
    lines.get(chosen).setAttribute('aria-pressed', false);
    lines.get(chosen).nextElementSibling.hidden = true;
  }
  chosen = chosen === line ? null : line;
  remember({ line: chosen ?? '' });
  if (chosen === null) return;
  const button = lines.get(line), lit = slots.get(line) || [];
  button.setAttribute('aria-pressed', true);
  button.nextElementSibling.hidden = false;
  for (const slot of lit) { slot.classList.add('on'); slot.parentElement.classList.add('on'); }
  // Only the two lists scroll, not the page.
  const show = (list, item) => {
    const top = item.getBoundingClientRect().top - list.getBoundingClientRect().top;
    if (top < 0 || top > list.clientHeight - 40) list.scrollTop += top - list.clientHeight / 3;
  };
  if (from !== 'bundles' && lit.length) show(lit[0].closest('.bundles'), lit[0]);
  if (from === 'bundles') show(button.closest('.lines'), button);
}
for (const kernel of document.querySelectorAll('.kernel')) rove([...kernel.querySelectorAll('.line button')]);
for (const [line, button] of lines) button.addEventListener('click', () => choose(line, 'lines'));
for (const [line, button] of lines) {
  button.addEventListener('pointerenter', () => light(line));
  button.addEventListener('pointerleave', () => light(null));
}
for (const [line, list] of slots) {
  for (const slot of list) {
    slot.addEventListener('pointerenter', () => light(line));
    slot.addEventListener('pointerleave', () => light(null));
  }
  for (const slot of list) slot.addEventListener('click', () => { if (lines.has(line)) choose(line, 'bundles'); });
}

for (const bar of document.querySelectorAll('.split .bar')) {
  const panes = bar.parentElement;
  resizable(bar, true, () => bar.previousElementSibling.offsetWidth, wide => {
    panes.style.setProperty('--first', Math.min(panes.offsetWidth - 200, Math.max(200, wide)) + 'px');
  });
}

// A search in lines and bundles: what has all of its words is marked, and Enter goes to the next one.
const parts = [...document.querySelectorAll('.line, .other, .bundle')], texts = parts.map(part => part.textContent.toLowerCase());
let found = [], at = -1;
function find(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  found = wanted.length ? parts.filter((part, n) => wanted.every(word => texts[n].includes(word))) : [];
  at = -1;
  const isFound = new Set(found);
  for (const part of parts) {
    part.classList.toggle('match', isFound.has(part));
    part.classList.remove('here');
  }
  tell();
  remember({ q: words.trim() });
}
function tell() {
  const isSearch = el('search').value.trim() !== '';
  el('found').textContent = !isSearch ? '' : found.length === 0 ? 'nothing found' : (at < 0 ? '' : grouped(at + 1) + ' of ') + grouped(found.length) + ' found';
}
function go(way) {
  if (found.length === 0) return;
  found[at]?.classList.remove('here');
  at = at < 0 ? (way > 0 ? 0 : found.length - 1) : (at + way + found.length) % found.length;
  found[at].classList.add('here');
  found[at].scrollIntoView({ block: 'nearest' });
  tell();
}
searchField(find, go, 'place found', 'the chosen line', () => { if (chosen !== null) choose(chosen, 'lines'); });
keyList.push(['↑ ↓ Enter', 'go to another line, and choose it']);
function openLink() {
  const line = link.get('line'), words = link.get('q') ?? '';
  el('search').value = words;
  find(words);
  if (lines.has(line) && line !== chosen) {
    choose(line, 'lines');
    lines.get(line).scrollIntoView({ block: 'nearest' });
  }
}
whenLinked.push(openLink);
if (link.size) openLink();
