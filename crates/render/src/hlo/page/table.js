// The table of buffers, its search and its order.
const COLUMNS = [
  ['bytes', 'Bytes', buffer => buffer.bytes, buffer => units(buffer.bytes), 'number'],
  ['padding', 'Padding', buffer => buffer.padding, buffer => units(buffer.padding), 'number'],
  ['name', 'Name', buffer => buffer.name, null, ''],
  ['opcode', 'Operation', buffer => buffer.opcode, buffer => buffer.opcode, 'word wide'],
  ['shape', 'Shape', buffer => buffer.shape, buffer => buffer.shape, ''],
  ['role', 'Role', buffer => buffer.role, buffer => buffer.role, 'word wide'],
  ['live', 'First step', buffer => buffer.spans[0] ?? 0, buffer => buffer.spans.length ? grouped(buffer.spans[0] + 1) : '', 'number wide'],
  ['op', 'op_name', buffer => buffer.op, buffer => buffer.op, 'wide'],
  ['source', 'Source', buffer => buffer.source, buffer => buffer.source, 'wide'],
];

function drawTable() {
  const words = el('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const isWanted = buffer => {
    const all = (buffer.name + ' ' + buffer.opcode + ' ' + buffer.shape + ' ' + buffer.role + ' ' + buffer.op + ' ' + buffer.source).toLowerCase();
    return words.every(word => all.includes(word));
  };
  const list = (el('live').checked ? live() : here()).filter(isWanted);
  const [, , key] = COLUMNS.find(([id]) => id === state.sort), sign = state.down ? -1 : 1;
  list.sort((a, b) => { const [x, y] = [key(a), key(b)]; return sign * (x < y ? -1 : x > y ? 1 : 0) || b.bytes - a.bytes; });
  state.list = list;
  const head = node('tr', {}, ...COLUMNS.map(([id, title, , , kind]) => {
    const cell = node('th', { class: kind, scope: 'col' }, node('button', {
      type: 'button',
      onclick: () => {
        state.down = state.sort === id ? !state.down : ['bytes', 'padding'].includes(id);
        state.sort = id;
        drawTable();
        el('table').querySelector('th[aria-sort] button').focus();
      },
    }, title));
    if (state.sort === id) cell.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
    return cell;
  }));
  const row = buffer => {
    const row = node('tr', {}, ...COLUMNS.map(([, title, , show, kind]) => node('td', { class: kind, 'data-name': title }, show ? show(buffer)
      : node('button', { type: 'button', onclick: () => select(buffer.id) }, buffer.name))));
    row.dataset.id = buffer.id;
    row.addEventListener('pointerenter', () => light(buffer.id));
    row.addEventListener('pointerleave', () => light(null));
    return row;
  };
  // Sorted by a text that several buffers share, each group has its sum.
  const groups = ['opcode', 'shape', 'role', 'op', 'source'].includes(state.sort) ? new Map() : null;
  if (groups) {
    for (const buffer of list) {
      const group = groups.get(key(buffer)) ?? [0, 0];
      groups.set(key(buffer), [group[0] + 1, group[1] + buffer.bytes]);
    }
  }
  const rows = list.slice(0, state.rows).flatMap((buffer, n) => {
    if (!groups || (n && key(list[n - 1]) === key(buffer))) return [row(buffer)];
    const [count, bytes] = groups.get(key(buffer));
    const sum = units(bytes) + ' in ' + grouped(count) + (count === 1 ? ' buffer: ' : ' buffers: ') + (key(buffer) || 'none');
    return [node('tr', { class: 'sum' }, node('th', { colSpan: COLUMNS.length, scope: 'rowgroup' }, sum)), row(buffer)];
  });
  // A narrow window has the wide columns below the others.
  const beside = COLUMNS.filter(([, , , , kind]) => !kind.includes('wide'));
  el('table').style.setProperty('--tracks', beside.map(([, , , , kind]) => kind === 'number' ? 'max-content' : 'auto').join(' '));
  el('table').replaceChildren(node('thead', {}, head), node('tbody', {}, ...rows));
  el('more').hidden = list.length <= state.rows;
  markTable();
  remember({ q: words.join(' ') });
}

// How many buffers the table has, and which of them is selected.
function drawFound() {
  const list = state.list, count = list.length, place = list.findIndex(buffer => buffer.id === state.selected);
  const bytes = units(list.reduce((sum, buffer) => sum + buffer.bytes, 0)), isSearch = el('search').value.trim() !== '';
  el('found').textContent = (isSearch && place >= 0 ? 'buffer ' + grouped(place + 1) + ' of ' + grouped(count) : grouped(count) + (count === 1 ? ' buffer' : ' buffers')) +
    ', ' + bytes + (state.space.rest.count ? '; ' + grouped(state.space.rest.count) + ' more are not in this page' : '');
}

// Selects the next buffer of the table, or the one before, and shows its row.
function walk(way, hasFocus) {
  const list = state.list;
  if (!list.length) return;
  const now = list.findIndex(buffer => buffer.id === state.selected);
  const next = now < 0 ? (way > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, now + way));
  if (next >= state.rows) {
    state.rows = next + 200;
    drawTable();
  }
  const buffer = list[next];
  if (!isLive(buffer, state.step)) setStep(buffer.spans[0]);
  select(buffer.id);
  const row = el('table').querySelector('tr.on');
  row?.scrollIntoView({ block: 'nearest' });
  if (hasFocus) row?.querySelector('button').focus({ preventScroll: true });
}

function markTable() {
  for (const row of el('table').querySelectorAll('tbody tr')) row.classList.toggle('on', row.dataset.id === String(state.selected));
  drawFound();
}


searchField(() => { state.rows = 200; drawTable(); }, way => walk(way, false), 'buffer of the table', 'the selection', () => select(null));
el('table').addEventListener('keydown', event => {
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!way || !event.target.closest('tbody')) return;
  event.preventDefault();
  walk(way, true);
});
el('live').addEventListener('change', drawTable);
el('more').addEventListener('click', () => { state.rows += 500; drawTable(); });
