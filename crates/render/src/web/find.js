// A search in the rows of tables and the entries of lists: those without all of its words are hidden. A row that is chosen is in the address.
const rows = [...document.querySelectorAll('main tbody tr, main .copies li')];
const texts = rows.map(row => row.textContent.toLowerCase());
const places = rows.map(row => {
  const section = row.closest('section');
  return section.id + '.' + [...section.querySelectorAll('tbody tr, .copies li')].indexOf(row);
});
let shown = rows;
// What a page does after a search: functions of the words.
const whenFound = [];
function find(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  rows.forEach((row, n) => { row.hidden = !wanted.every(word => texts[n].includes(word)); });
  shown = rows.filter(row => !row.hidden);
  for (const section of document.querySelectorAll('main section:has(tbody, .copies)')) {
    section.hidden = wanted.length > 0 && !section.querySelector('tbody tr:not([hidden]), .copies li:not([hidden])');
    // What the search opens, it closes again.
    for (const part of section.querySelectorAll('details')) {
      part.hidden = wanted.length > 0 && !part.querySelector('tr:not([hidden]), li:not([hidden])');
      if (wanted.length && !part.open) part.open = part.wasClosed = true;
      else if (!wanted.length && part.wasClosed) part.open = part.wasClosed = false;
    }
  }
  el('found').textContent = wanted.length ? grouped(shown.length) + ' of ' + grouped(rows.length) + (rows.length === 1 ? ' entry' : ' entries') : '';
  for (const act of whenFound) act(words);
  remember({ q: words.trim() });
}
function go(way) {
  if (shown.length === 0) return;
  const now = shown.indexOf(document.activeElement.closest?.('tr, li'));
  shown[now < 0 ? (way > 0 ? 0 : shown.length - 1) : (now + way + shown.length) % shown.length].focus();
}
for (const list of document.querySelectorAll('main tbody, main .copies')) {
  const own = [...list.children];
  own.forEach((row, n) => {
    row.tabIndex = n ? -1 : 0;
    row.addEventListener('focus', () => {
      for (const other of own) other.tabIndex = other === row ? 0 : -1;
      for (const other of document.querySelectorAll('main .on')) other.classList.remove('on');
      row.classList.add('on');
      remember({ row: places[rows.indexOf(row)] });
    });
    row.addEventListener('click', event => { if (!event.target.closest('button')) row.focus(); });
    row.addEventListener('keydown', event => {
      const here = own.filter(other => !other.hidden), now = here.indexOf(row);
      const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: here.length - 1 }[event.key];
      if (next === undefined || event.target !== row) return;
      event.preventDefault();
      here[Math.min(here.length - 1, Math.max(0, next))].focus();
    });
  });
}
for (const button of document.querySelectorAll('button[data-find]')) {
  button.addEventListener('click', () => { el('search').value = button.dataset.find; find(button.dataset.find); el('search').focus(); });
}
searchField(find, go, 'entry');
// The sections of the page, in the bar.
const sections = [...document.querySelectorAll('main section:has(h2)')];
if (sections.length > 2) {
  document.querySelector('header').append(node('nav', { id: 'sections', 'aria-label': 'Sections' }, ...sections.map(section => node('button', {
    type: 'button', onclick: () => section.scrollIntoView(),
  }, section.querySelector('h2').textContent.split(/[,:]/)[0]))));
}
keyList.push(['↑ ↓ Home End', 'go through a list']);
function openLink() {
  el('search').value = link.get('q') ?? '';
  const row = rows[places.indexOf(link.get('row'))];
  find(el('search').value);
  row?.closest('details')?.setAttribute('open', '');
  row?.focus();
}
whenLinked.push(openLink);
if (link.size) openLink();
