// Draws the page from the data in it. Texts from the program are always set as text, never as markup.
const data = JSON.parse(document.getElementById('data').textContent);
const el = id => document.getElementById(id);
const text = number => data.strings[number];

// A number of bytes to three digits, as the text report writes it.
function units(bytes) {
  let amount = bytes, unit = 'B';
  for (const larger of ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']) {
    if (amount < 1023.5) break;
    amount /= 1024;
    unit = larger;
  }
  const decimals = Number.isInteger(amount) || amount >= 100 ? 0 : (amount < 10 ? 2 : 1);
  const scaled = amount * 10 ** decimals, floor = Math.floor(scaled);
  const rounded = scaled - floor === 0.5 ? floor + floor % 2 : Math.round(scaled);
  return (rounded / 10 ** decimals).toFixed(decimals) + ' ' + unit;
}
const grouped = number => number.toLocaleString('en-US');
// The bytes, and in a larger unit if they have one.
const exact = bytes => bytes < 1024 ? units(bytes) : grouped(bytes) + ' (' + units(bytes) + ')';

const buffers = data.buffers.map(([space, name, leaf, opcode, shape, bytes, padding, role, op, path, source, offset, spans, operands, readers, moreReaders], id) => ({
  id, space, bytes, padding, offset, spans, name: '%' + text(name) + (leaf ? '#' + leaf : ''), opcode: text(opcode),
  shape: text(shape), role: text(role), op: text(op), path: data.paths[path], source: text(source),
  operands: operands.map(text), readers: readers.map(text), moreReaders,
}));
// The buffers of an instruction.
const named = Map.groupBy ? Map.groupBy(buffers, buffer => buffer.name.split('#')[0])
  : buffers.reduce((map, buffer) => map.set(buffer.name.split('#')[0], [...map.get(buffer.name.split('#')[0]) ?? [], buffer]), new Map());
const isLive = (buffer, step) => {
  const spans = buffer.spans;
  if (spans.length === 0) return true;
  for (let n = 0; n < spans.length; n += 2) if (spans[n] <= step && step <= spans[n + 1]) return true;
  return false;
};

const state = { space: data.spaces[0], step: 0, selected: null, scope: [], sort: 'bytes', down: true, rows: 200 };
const here = () => buffers.filter(buffer => buffer.space === state.space.space);
const live = () => here().filter(buffer => isLive(buffer, state.step));

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

// The point of the curve with the nearest step.
function pointAt(step) {
  const curve = state.space.curve;
  let low = 0, high = curve.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve[middle][0] < step) low = middle + 1; else high = middle;
  }
  if (low > 0 && step - curve[low - 1][0] < curve[low][0] - step) low -= 1;
  return low;
}

function drawSpaces() {
  el('spaces').replaceChildren(...data.spaces.map(space => {
    const peak = space.curve.length ? space.curve.reduce((most, point) => Math.max(most, point[1]), 0) : space.bytes;
    return node('button', {
      type: 'button', 'aria-pressed': String(space === state.space), onclick: () => setSpace(space),
    }, space.name + ' ' + units(peak));
  }));
}

function drawLegend() {
  const roles = [...new Set(here().map(buffer => buffer.role))].sort();
  el('legend').replaceChildren(...roles.map(role => node('span', {}, node('i', { class: role }), ' ' + role)));
}

function drawSummary() {
  const space = state.space;
  const parts = [grouped(space.count) + (space.count === 1 ? ' buffer' : ' buffers') + ', ' + units(space.bytes) + ' in all'];
  if (space.curve.length) {
    const [step, bytes, name] = space.curve[pointAt(state.step)];
    const most = space.curve[pointAt(space.peak)];
    parts.push('at most ' + units(most[1]) + ' at %' + text(most[2]));
    parts.push('now at step ' + grouped(step + 1) + ' of ' + grouped(data.steps) + ', %' + text(name) + ': ' + units(bytes));
  }
  if (space.capacity) {
    const free = space.capacity - space.used;
    parts.push('the program takes ' + units(space.used) + ' of ' + units(space.capacity) + ', ' + units(Math.abs(free)) + (free < 0 ? ' over' : ' free'));
  }
  const shown = here().length;
  if (space.rest.count) {
    parts.push('this page knows ' + grouped(shown) + ' of the buffers, those that are live at the peak and the largest first; the other ' +
      grouped(space.rest.count) + ', ' + units(space.rest.bytes) + ' in all, are drawn as a sum');
  }
  el('summary').textContent = space.name + ': ' + parts.join('; ') + '.';
}

// Numbers from 0 to `most` for an axis, at most `count` steps. A step is 1 times some of the factors, in turn.
function ticks(most, count, factors) {
  let step = 1;
  for (let n = 0; most / step > count; n += 1) step *= factors[n % factors.length];
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => n * step);
}

// Writes the axes of a plot: bytes at the left, of which `share` of the height shows `most`, and steps below.
function drawAxes(plot, most, share) {
  const up = ticks(most, 5, [2]).map(bytes => {
    const label = node('span', {}, units(bytes));
    label.style.bottom = 100 * share * bytes / most + '%';
    return label;
  });
  const across = ticks(data.steps, 6, [2, 2.5, 2]).map(step => {
    // Steps are counted from 1; a label stands below the middle of its step.
    const label = node('span', {}, step ? grouped(step) : 'step');
    label.style.left = 100 * Math.max(0, step - 0.5) / data.steps + '%';
    return label;
  });
  plot.querySelectorAll('.axis').forEach(axis => axis.remove());
  plot.prepend(node('div', { class: 'axis up', ariaHidden: 'true' }, ...up));
  plot.append(node('div', { class: 'axis across', ariaHidden: 'true' }, ...across));
}

// Shows lines beside the pointer, until it leaves the picture.
function tip(event, lines) {
  const box = el('tip');
  box.hidden = lines.length === 0;
  box.replaceChildren(...lines.map(line => node('div', {}, line)));
  const [wide, tall] = [box.offsetWidth, box.offsetHeight];
  box.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - wide - 4)) + 'px';
  box.style.top = Math.max(0, event.clientY + 14 + tall > innerHeight ? event.clientY - tall - 8 : event.clientY + 14) + 'px';
}

// The live bytes of each role at each point of the curve.
function byRole() {
  const steps = state.space.curve.map(point => point[0]), sums = new Map();
  // The first point at or after a step.
  const point = step => {
    let low = 0, high = steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle] < step) low = middle + 1; else high = middle;
    }
    return low;
  };
  for (const buffer of here()) {
    if (!sums.has(buffer.role)) sums.set(buffer.role, new Float64Array(steps.length + 1));
    const changes = sums.get(buffer.role), spans = buffer.spans.length ? buffer.spans : [0, data.steps];
    for (let n = 0; n < spans.length; n += 2) {
      changes[point(spans[n])] += buffer.bytes;
      changes[point(spans[n + 1] + 1)] -= buffer.bytes;
    }
  }
  for (const changes of sums.values()) for (let n = 1; n < changes.length; n += 1) changes[n] += changes[n - 1];
  return [...sums].sort(([a], [b]) => a < b ? -1 : 1);
}

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 1000, HEIGHT = 100;
function drawCurve() {
  const space = state.space, curve = space.curve;
  el('over-time').hidden = curve.length === 0;
  if (curve.length === 0) return;
  let most = Math.max(...curve.map(point => point[1]), 1);
  // The limit is shown if it is near enough to the curve that the curve stays readable.
  const limit = space.capacity && space.capacity < 3 * most ? space.capacity : 0;
  most = Math.max(most, limit);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 ' + WIDTH + ' ' + HEIGHT);
  svg.setAttribute('preserveAspectRatio', 'none');
  const column = WIDTH / curve.length;
  const area = (role, heights) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', role);
    path.setAttribute('d', 'M0 ' + HEIGHT +
      heights.map(bytes => 'V' + (HEIGHT * (1 - 0.95 * bytes / most)).toFixed(2) + 'h' + column.toFixed(4)).join('') + 'V' + HEIGHT + 'Z');
    return path;
  };
  // The highest area is drawn first, and the others before it: each role is what is left of it.
  const areas = [area('rest', curve.map(point => point[1]))], below = curve.map(() => 0);
  for (const [role, bytes] of byRole()) {
    curve.forEach((point, n) => { below[n] = Math.min(point[1], below[n] + bytes[n]); });
    areas.splice(1, 0, area(role, [...below]));
  }
  const line = document.createElementNS(SVG, 'line');
  line.setAttribute('y1', 0);
  line.setAttribute('y2', HEIGHT);
  svg.append(...areas, line);
  if (limit) {
    const mark = document.createElementNS(SVG, 'path'), y = (HEIGHT * (1 - 0.95 * limit / most)).toFixed(2);
    mark.setAttribute('class', 'limit');
    mark.setAttribute('d', 'M0 ' + y + 'H' + WIDTH);
    const title = document.createElementNS(SVG, 'title');
    title.textContent = 'capacity: ' + units(limit);
    mark.append(title);
    svg.append(mark);
  }
  svg.tabIndex = 0;
  svg.setAttribute('role', 'slider');
  svg.setAttribute('aria-label', 'Step of the program');
  svg.setAttribute('aria-valuemin', 1);
  svg.setAttribute('aria-valuemax', data.steps);
  const at = event => {
    const box = svg.getBoundingClientRect();
    return Math.min(curve.length - 1, Math.max(0, Math.floor((event.clientX - box.x) / box.width * curve.length)));
  };
  svg.addEventListener('pointerdown', event => { svg.setPointerCapture(event.pointerId); setStep(curve[at(event)][0]); });
  svg.addEventListener('pointermove', event => {
    const [step, bytes, name] = curve[at(event)];
    if (event.buttons) setStep(step);
    tip(event, ['step ' + grouped(step + 1) + ', %' + text(name), units(bytes) + ' live']);
  });
  svg.addEventListener('pointerleave', event => tip(event, []));
  svg.addEventListener('keydown', event => {
    const now = pointAt(state.step), last = curve.length - 1;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, PageUp: now - 10, PageDown: now + 10, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setStep(curve[Math.min(last, Math.max(0, next))][0]);
  });
  el('curve').replaceChildren(svg);
  drawAxes(el('curve').parentElement, most, 0.95);
  markCurve();
}

function markCurve() {
  const svg = el('curve').querySelector('svg'), line = svg?.querySelector('line');
  if (!line) return;
  const point = pointAt(state.step), x = (point + 0.5) * WIDTH / state.space.curve.length;
  line.setAttribute('x1', x);
  line.setAttribute('x2', x);
  svg.setAttribute('aria-valuenow', state.step + 1);
  const [, bytes, name] = state.space.curve[point];
  svg.setAttribute('aria-valuetext', 'step ' + (state.step + 1) + ', %' + text(name) + ', ' + units(bytes));
}

// The grid of `rest.places`.
const GRID = { rows: 128, columns: 256 };
// The live bytes of the buffers that are in the page only as a sum.
const restNow = () => {
  const { rest, curve } = state.space;
  return curve.length ? rest.curve[pointAt(state.step)] ?? 0 : rest.bytes;
};

const placed = () => here().filter(buffer => buffer.offset >= 0);
let boxes = [];
function drawMap() {
  const space = state.space, canvas = el('map');
  el('offsets').hidden = space.heap === 0;
  if (space.heap === 0) return;
  drawFragments();
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.setAttribute('aria-label', 'Offsets over time: left and right choose a step, up and down a buffer that is live there');
  const context = canvas.getContext('2d'), colours = new Map();
  // The browser says which colour a name means in the chosen theme.
  const colour = name => {
    if (!colours.has(name)) {
      canvas.style.color = 'var(--' + name + ', var(--temporary))';
      colours.set(name, getComputedStyle(canvas).color);
    }
    return colours.get(name);
  };
  context.scale(scale, scale);
  context.fillStyle = colour('back');
  context.fillRect(0, 0, width, height);
  boxes = [];
  // The places of the buffers that are in the page only as a sum.
  context.fillStyle = colour('line');
  for (const [row, first, last] of space.rest.places) {
    context.fillRect(width * first / GRID.columns, height * (1 - (row + 1) / GRID.rows), width * (last + 1 - first) / GRID.columns, Math.ceil(height / GRID.rows));
  }
  for (const buffer of placed()) {
    const top = height * (1 - (buffer.offset + buffer.bytes) / space.heap), tall = Math.max(1, height * buffer.bytes / space.heap);
    for (let n = 0; n < buffer.spans.length; n += 2) {
      const left = width * buffer.spans[n] / data.steps;
      const wide = Math.max(1, width * (Math.min(buffer.spans[n + 1] + 1, data.steps) - buffer.spans[n]) / data.steps);
      boxes.push([left, top, wide, tall, buffer]);
      context.fillStyle = colour(buffer.role);
      context.fillRect(left, top, wide, tall);
      if (wide > 3 && tall > 3) {
        context.strokeStyle = colour('back');
        context.strokeRect(left, top, wide, tall);
      }
      if (wide > 60 && tall > 14) {
        context.save();
        context.beginPath();
        context.rect(left, top, wide - 2, tall);
        context.clip();
        context.fillStyle = colour('fore');
        context.font = '11px ui-monospace, monospace';
        context.fillText(buffer.name, left + 3, top + 11);
        context.restore();
      }
    }
  }
  context.lineWidth = 3;
  context.strokeStyle = colour('fore');
  for (const [left, top, wide, tall, buffer] of boxes) {
    if (buffer.id === state.selected) context.strokeRect(left, top, wide, tall);
  }
  context.lineWidth = 1;
  const x = width * (state.step + 0.5) / data.steps;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
}

// Whether two buffers are live at one time.
function meet(a, b) {
  for (let m = 0, n = 0; m < a.spans.length && n < b.spans.length;) {
    if (a.spans[m + 1] < b.spans[n]) m += 2;
    else if (b.spans[n + 1] < a.spans[m]) n += 2;
    else return true;
  }
  return false;
}

// The lowest offset at which a buffer would fit if all others kept theirs.
function lowestPlace(buffer) {
  const busy = placed().filter(other => other.id !== buffer.id && meet(buffer, other)).sort((a, b) => a.offset - b.offset);
  let at = 0;
  for (const other of busy) {
    if (other.offset - at >= buffer.bytes) break;
    at = Math.max(at, other.offset + other.bytes);
  }
  return at;
}

// How much larger the heap is than the most live bytes, and which buffers reach its top.
let fragments = null;
function drawFragments() {
  const space = state.space;
  if (fragments?.space === space) return;
  const changes = new Map(), change = (step, bytes) => changes.set(step, (changes.get(step) ?? 0) + bytes);
  for (const buffer of placed()) {
    for (let n = 0; n < buffer.spans.length; n += 2) {
      change(buffer.spans[n], buffer.bytes);
      change(buffer.spans[n + 1] + 1, -buffer.bytes);
    }
  }
  let now = 0, most = 0;
  for (const step of [...changes.keys()].sort((a, b) => a - b)) most = Math.max(most, now += changes.get(step));
  const lost = Math.max(0, space.heap - most), top = placed().filter(buffer => buffer.offset + buffer.bytes === space.heap);
  const movable = top.filter(buffer => buffer.offset - lowestPlace(buffer) > space.heap / 100);
  fragments = { space };
  if (here().length < space.count) {
    el('fragments').textContent = 'The heap takes ' + units(space.heap) + '; grey areas are small buffers, which this page does not list.';
    return;
  }
  el('fragments').textContent = 'The heap takes ' + units(space.heap) + ' for at most ' + units(most) + ' at one time: ' +
    (lost ? units(lost) + ' (' + (100 * lost / space.heap).toFixed(1) + ' %) is fragmentation, or tables of addresses. ' : 'no fragmentation. ') +
    'Its top is ' + top.slice(0, 3).map(buffer => buffer.name + ' (' + units(buffer.bytes) + ')').join(', ') + (top.length > 3 ? ', …' : '') +
    (movable.length === 0 ? '.' : '; ' + movable.slice(0, 3).map(buffer => buffer.name).join(', ') + ' could move down.');
}

function boxAt(event) {
  const { offsetX: x, offsetY: y } = event;
  return boxes.findLast(([left, top, wide, tall]) => left <= x && x < left + wide && top <= y && y < top + tall);
}

function drawSelected() {
  // It stays below the bar, so that a click in the table or in a picture has its answer in view.
  const bar = document.querySelector('header'), isFixed = getComputedStyle(bar).position === 'sticky';
  el('selected').parentElement.style.top = (isFixed ? bar.offsetHeight : 0) + 'px';
  const buffer = buffers[state.selected], rows = [];
  if (!buffer) {
    rows.push(['', 'Choose a buffer in one of the pictures or in the table.']);
  } else {
    rows.push(['name', buffer.name], ['operation', buffer.opcode + (buffer.role ? ', ' + buffer.role : '')], ['shape', buffer.shape]);
    rows.push(['bytes', exact(buffer.bytes)]);
    const factor = buffer.bytes > buffer.padding ? ', ' + (buffer.bytes / (buffer.bytes - buffer.padding)).toFixed(2) + 'x' : '';
    rows.push(['padding', buffer.padding ? exact(buffer.padding) + factor : 'none']);
    if (buffer.spans.length) {
      const spans = [];
      for (let n = 0; n < buffer.spans.length && n < 20; n += 2) {
        spans.push((buffer.spans[n] + 1) + ' to ' + Math.min(buffer.spans[n + 1] + 1, data.steps));
      }
      rows.push(['live', 'steps ' + spans.join(', ')]);
    }
    if (buffer.offset >= 0) {
      const lowest = lowestPlace(buffer);
      // Tables of addresses are not buffers here, so a small gap may be one of them.
      const move = buffer.offset - lowest > state.space.heap / 100 ? '; there is room at ' + units(lowest) : '';
      rows.push(['offset', exact(buffer.offset) + ' in the heap of ' + state.space.name + move]);
    }
    if (buffer.op) rows.push(['op_name', buffer.op]);
    if (buffer.source) rows.push(['source', buffer.source]);
    if (buffer.operands.length) rows.push(['operands', ...neighbours(buffer.operands)]);
    if (buffer.readers.length) rows.push(['read by', ...neighbours(buffer.readers), buffer.moreReaders ? ' and ' + grouped(buffer.moreReaders) + ' more' : '']);
  }
  if (buffer) rows.push(['graph', 'xla-shape hlo show FILE ' + buffer.name.split('#')[0] + ' --html PAGE']);
  el('selected').replaceChildren(...rows.flatMap(([name, ...values]) => [node('dt', {}, name), node('dd', {}, ...values)]));
}

// The names of instructions; those with a buffer in this page select it.
function neighbours(names) {
  return names.flatMap((name, n) => {
    const found = named.get('%' + name)?.[0];
    const shown = found ? node('button', { type: 'button', class: 'name', onclick: () => goTo(found) }, '%' + name) : '%' + name;
    return n ? [', ', shown] : [shown];
  });
}

// Selects a buffer, in its memory space, at a step at which it is live.
function goTo(buffer) {
  if (buffer.space !== state.space.space) setSpace(data.spaces.find(space => space.space === buffer.space));
  if (!isLive(buffer, state.step)) setStep(buffer.spans[0]);
  select(buffer.id);
}

// The scopes of the live buffers, as a tree.
function scopes(list) {
  const root = { name: '', bytes: 0, children: new Map(), buffers: [] };
  for (const buffer of list) {
    let at = root;
    at.bytes += buffer.bytes;
    const path = buffer.path.map(text);
    for (const name of buffer.op ? path : [...path, buffer.opcode]) {
      if (!at.children.has(name)) at.children.set(name, { name, bytes: 0, children: new Map(), buffers: [] });
      at = at.children.get(name);
      at.bytes += buffer.bytes;
    }
    at.buffers.push(buffer);
  }
  return root;
}

// Divides a rectangle into parts of these sizes, largest first, in rows that make the parts as square as possible.
function squarified(sizes, width, height) {
  const areas = [], total = sizes.reduce((sum, size) => sum + size, 0), scale = total ? width * height / total : 0;
  let x = 0, y = 0, first = 0;
  while (first < sizes.length) {
    const side = Math.min(width, height);
    if (!(side > 0)) { while (areas.length < sizes.length) areas.push([x, y, 0, 0]); break; }
    const worst = end => {
      const row = sizes.slice(first, end), thick = row.reduce((sum, size) => sum + size, 0) * scale / side;
      return Math.max(...row.map(size => { const long = size * scale / thick; return Math.max(long / thick, thick / long); }));
    };
    let end = first + 1;
    while (end < sizes.length && worst(end + 1) <= worst(end)) end += 1;
    const thick = sizes.slice(first, end).reduce((sum, size) => sum + size, 0) * scale / side, across = width >= height;
    let along = 0;
    for (; first < end; first += 1) {
      const long = sizes[first] * scale / thick;
      areas.push(across ? [x, y + along, thick, long] : [x + along, y, long, thick]);
      along += long;
    }
    if (across) { x += thick; width -= thick; } else { y += thick; height -= thick; }
  }
  return areas;
}

const MOST_PARTS = 150, MOST_INSIDE = 24;
// What a scope has in it, drawn below its name: a picture only, because a click opens the scope.
function preview(scope, width, height) {
  while (scope.buffers.length === 0 && scope.children.size === 1) scope = scope.children.values().next().value;
  const children = [...scope.children.values()].map(child => [child.bytes, only(child)]);
  const parts = [...children, ...scope.buffers.map(buffer => [buffer.bytes, buffer])].filter(([bytes]) => bytes > 0).sort(([a], [b]) => b - a);
  const others = parts.splice(MOST_INSIDE).reduce((sum, [bytes]) => sum + bytes, 0);
  if (others) parts.push([others, null]);
  return squarified(parts.map(([bytes]) => bytes), width, height).map(([x, y, wide, tall], n) => {
    const part = node('span', { class: parts[n][1]?.role ?? 'group' });
    for (const [key, pixels] of [['left', x + 3], ['top', y + 33], ['width', wide], ['height', tall]]) part.style[key] = pixels.toFixed(1) + 'px';
    return part;
  });
}

function drawTree() {
  const list = state.space.curve.length ? live() : here();
  let at = scopes(list);
  const rest = restNow(), path = [];
  for (const name of state.scope) {
    if (!at.children.has(name)) break;
    at = at.children.get(name);
    path.push(name);
  }
  // A scope with a single part is opened.
  while (at.buffers.length === 0 && at.children.size === 1 && (rest === 0 || path.length)) {
    at = at.children.values().next().value;
    path.push(at.name);
  }
  // The scopes of these buffers are not in the page, so they are shown beside all scopes.
  const beside = path.length ? 0 : rest;
  el('scope-title').textContent = 'By scope' + (state.space.curve.length ? ', at the chosen step' : '') + ': ' + units(at.bytes + beside);
  const crumb = (name, scope) => node('button', { type: 'button', onclick: () => { state.scope = scope; drawTree(); } }, name);
  el('scope').replaceChildren(crumb('all', []), ...path.map((name, n) => crumb(name, path.slice(0, n + 1))));
  const parts = [...[...at.children.values()].map(child => ({ bytes: child.bytes, child })),
    ...at.buffers.map(buffer => ({ bytes: buffer.bytes, buffer }))].filter(part => part.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const others = parts.splice(MOST_PARTS).reduce((sum, part) => sum + part.bytes, 0);
  if (others) parts.push({ bytes: others });
  if (beside) parts.push({ bytes: beside, label: 'small buffers, not listed' });
  parts.sort((a, b) => b.bytes - a.bytes);
  const tree = el('tree'), width = tree.clientWidth, height = tree.clientHeight;
  const areas = squarified(parts.map(part => part.bytes), width, height);
  tree.replaceChildren(...parts.map(({ bytes, child, buffer, label }, n) => {
    const single = buffer ?? (child && only(child));
    const name = child ? child.name : buffer ? buffer.name : label ?? 'others';
    const [x, y, wide, tall] = areas[n];
    const button = node('button', {
      type: 'button', class: single ? single.role : 'group', title: name + ', ' + units(bytes),
      onclick: () => {
        if (single) select(single.id);
        else if (child) { state.scope = [...path, child.name]; drawTree(); el('scope').lastChild.focus(); }
      },
    }, node('div', {}, wide > 30 && tall > 12 ? name + (tall > 26 ? '\n' + units(bytes) : '') : ''));
    if (single) button.dataset.id = single.id;
    else if (child && wide > 60 && tall > 60) {
      button.classList.add('nest');
      button.append(...preview(child, wide - 8, tall - 38));
    }
    button.setAttribute('aria-label', button.title);
    for (const [key, value] of [['left', x / width], ['top', y / height], ['width', wide / width], ['height', tall / height]]) {
      button.style[key] = (100 * value).toFixed(3) + '%';
    }
    return button;
  }));
  markTree();
}

// The buffer of a scope that has exactly one.
function only(scope) {
  while (scope.buffers.length === 0 && scope.children.size === 1) scope = scope.children.values().next().value;
  return scope.buffers.length === 1 && scope.children.size === 0 ? scope.buffers[0] : null;
}

function markTree() {
  for (const button of el('tree').children) button.classList.toggle('on', button.dataset.id === String(state.selected));
}

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
  const sum = list.reduce((sum, buffer) => sum + buffer.bytes, 0);
  el('found').textContent = grouped(list.length) + (list.length === 1 ? ' buffer, ' : ' buffers, ') + units(sum) +
    (state.space.rest.count ? '; ' + grouped(state.space.rest.count) + ' more are not in this page' : '');
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
  el('table').style.setProperty('--columns', COLUMNS.filter(([, , , , kind]) => !kind.includes('wide')).length);
  el('table').replaceChildren(node('thead', {}, head), node('tbody', {}, ...rows));
  el('more').hidden = list.length <= state.rows;
  markTable();
}

function markTable() {
  for (const row of el('table').querySelectorAll('tbody tr')) row.classList.toggle('on', row.dataset.id === String(state.selected));
}

function select(id) {
  state.selected = id;
  drawSelected();
  drawMap();
  markTree();
  markTable();
}

function setStep(step) {
  state.step = step;
  drawSummary();
  markCurve();
  drawMap();
  drawTree();
  if (el('live').checked) drawTable();
}

function setSpace(space) {
  Object.assign(state, { space, step: space.peak, scope: [], rows: 200, selected: null });
  // First, the largest live temporary is selected; without one, the largest live buffer.
  const candidates = live();
  state.selected = (candidates.find(buffer => buffer.role === 'temporary') ?? candidates[0])?.id ?? null;
  el('live-label').hidden = space.curve.length === 0;
  drawSpaces();
  drawLegend();
  drawSummary();
  drawCurve();
  if (space.heap) drawAxes(el('map').parentElement, space.heap, 1);
  drawMap();
  drawTree();
  drawSelected();
  drawTable();
}

el('map').addEventListener('click', event => {
  const box = boxAt(event);
  state.step = Math.min(data.steps - 1, Math.floor(event.offsetX / el('map').clientWidth * data.steps));
  if (box) state.selected = box[4].id;
  setStep(state.step);
  select(state.selected);
});
el('map').addEventListener('pointermove', event => {
  const buffer = boxAt(event)?.[4];
  tip(event, buffer ? [buffer.name + ' ' + buffer.shape, units(buffer.bytes) + ', ' + buffer.role, buffer.op, buffer.source].filter(Boolean) : []);
});
el('map').addEventListener('pointerleave', event => tip(event, []));
el('map').addEventListener('keydown', event => {
  if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
    event.preventDefault();
    setStep(Math.min(data.steps - 1, Math.max(0, state.step + (event.key === 'ArrowLeft' ? -1 : 1))));
  } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
    event.preventDefault();
    const list = placed().filter(buffer => isLive(buffer, state.step)).sort((a, b) => a.offset - b.offset);
    const now = list.findIndex(buffer => buffer.id === state.selected);
    const next = now < 0 ? 0 : Math.min(list.length - 1, Math.max(0, now + (event.key === 'ArrowUp' ? 1 : -1)));
    if (list.length) select(list[next].id);
  }
});
el('search').addEventListener('input', () => { state.rows = 200; drawTable(); });
el('live').addEventListener('change', drawTable);
el('filter').addEventListener('submit', event => event.preventDefault());
el('more').addEventListener('click', () => { state.rows += 500; drawTable(); });
whenThemed.push(drawMap);
let resizing = 0;
window.addEventListener('resize', () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => { drawMap(); drawTree(); drawSelected(); });
});
if (state.space) setSpace(state.space);
else el('summary').textContent = 'No value takes memory.';
el('accuracy').textContent = data.accuracy;
