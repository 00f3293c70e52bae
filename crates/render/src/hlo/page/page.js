// The data of the page, what is chosen, and what is said about it.
const data = JSON.parse(el('data').textContent);
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
// The bytes, and from 1 KiB on also in a larger unit.
const exact = bytes => bytes < 1024 ? units(bytes) : grouped(bytes) + ' (' + units(bytes) + ')';

const nodes = readNodes(data.nodes, text);
const buffers = data.buffers.map(([space, place, leaf, shape, bytes, padding, role, op, path, source, offset, spans, name, opcode], id) => ({
  id, space, place, bytes, padding, offset, spans, name: '%' + text(name) + (leaf ? '#' + leaf : ''), opcode: text(opcode),
  shape: text(shape), role: text(role), op: text(op), path: data.paths[path], source: text(source),
}));
// The buffers of an instruction, by its place in the graph.
const buffersAt = new Map();
for (const buffer of buffers) {
  if (!buffersAt.has(buffer.place)) buffersAt.set(buffer.place, []);
  buffersAt.get(buffer.place).push(buffer);
}
const isLive = (buffer, step) => {
  const spans = buffer.spans;
  if (spans.length === 0) return true;
  for (let n = 0; n < spans.length; n += 2) if (spans[n] <= step && step <= spans[n + 1]) return true;
  return false;
};

const state = { space: data.spaces[0], step: 0, view: [0, data.steps], selected: null, node: -1, scope: [], sort: 'bytes', down: true, rows: 200, list: [] };
const here = () => buffers.filter(buffer => buffer.space === state.space.space);
const live = () => here().filter(buffer => isLive(buffer, state.step));

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
  const entry = (role, name) => node('span', {}, node('i', { class: role }), ' ' + name);
  el('legend').replaceChildren(...roles.map(role => entry(role, role)), ...roles.length > 1 ? [entry('mixed', 'several kinds in one scope')] : [],
    ...state.space.rest.count ? [entry('rest', 'not in this page')] : []);
}

function drawSummary() {
  const space = state.space, answer = [], parts = [];
  if (space.curve.length) {
    const [step, bytes, name] = space.curve[pointAt(state.step)];
    const most = space.curve[pointAt(space.peak)];
    answer.push('at most ' + units(most[1]) + ' at %' + text(most[2]));
    parts.push('now at step ' + grouped(step + 1) + ' of ' + grouped(data.steps) + ', %' + text(name) + ': ' + units(bytes));
  }
  const all = grouped(space.count) + (space.count === 1 ? ' buffer' : ' buffers') + ', ' + units(space.bytes) + ' in all';
  (answer.length ? parts : answer).push(all);
  if (space.capacity) {
    const free = space.capacity - space.used;
    answer.push('the program takes ' + units(space.used) + ' of ' + units(space.capacity) + ', ' + units(Math.abs(free)) + (free < 0 ? ' over' : ' free'));
  }
  const shown = here().length;
  if (space.rest.count) {
    parts.push('this page knows ' + grouped(shown) + ' of the buffers, those that are live at the peak and the largest first; the other ' +
      grouped(space.rest.count) + ', ' + units(space.rest.bytes) + ' in all, are drawn as a sum');
  }
  el('summary').replaceChildren(space.name + ': ' + answer.join('; ') + '.',
    ...parts.length ? [' ', node('span', { class: 'then' }, parts.join('; ').replace(/^./, first => first.toUpperCase()) + '.')] : []);
}
