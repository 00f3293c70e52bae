// Draws the instructions around the chosen one: operands above, readers below.
const isNarrow = matchMedia('(max-width:700px)').matches;
const MOST = 60, MOST_BESIDE = 8, WIDE = isNarrow ? 156 : 228, TALL = 58, GAP = 16, BETWEEN = 32;
const readNodes = (nodes, text) => nodes.map(([name, opcode, shape, computation, source, role, facts, operands, readers, unknown, inside], id) => ({
  id, name: text(name), opcode: text(opcode), shape: text(shape), source: text(source), role: text(role), operands, readers, unknown,
  heading: '%' + text(name) + ' (' + text(opcode) + ') in ' + text(computation) + (source ? ', from ' + text(source) : ''),
  facts: facts.map(([name, value]) => [text(name), text(value)]),
  inside: inside && { nodes: inside[0], parameters: inside[1], root: inside[2] },
}));

// A graph of these nodes, drawn into the elements `graph`, `controls` and `shown`. `changed` is called after another node is chosen or drawn.
function makeGraph(nodes, steps, changed) {
const state = { at: -1, steps, open: new Set(), path: [] };

// What is drawn: the nearest first, a few steps each way, fusions open or closed; edges lead from operands to readers.
function neighbourhood() {
  const shown = new Set([state.at]);
  let left = 0;
  for (const side of ['operands', 'readers']) {
    let front = [state.at];
    for (let step = 0; step < state.steps; step += 1) {
      const next = [];
      for (const from of front) {
        let beside = 0;
        for (const to of nodes[from][side]) {
          if (shown.has(to)) continue;
          if (beside === MOST_BESIDE || shown.size >= MOST) { left += 1; continue; }
          beside += 1;
          shown.add(to);
          next.push(to);
        }
      }
      front = next;
    }
  }
  const edges = [], inside = new Map();
  for (const id of shown) {
    for (const operand of nodes[id].operands) if (shown.has(operand)) edges.push([operand, id]);
  }
  // An open fusion is replaced by its content.
  for (const fusion of state.open) {
    const content = nodes[fusion].inside;
    if (!shown.has(fusion)) continue;
    shown.delete(fusion);
    for (const id of content.nodes) { shown.add(id); inside.set(id, fusion); }
    for (let n = edges.length - 1; n >= 0; n -= 1) {
      const [from, to] = edges[n];
      if (to === fusion) edges.splice(n, 1);
      else if (from === fusion) edges[n] = [content.root, to];
    }
    for (const id of content.nodes) for (const operand of nodes[id].operands) edges.push([operand, id]);
    for (const [parameter, operand] of content.parameters) {
      const opened = inside.has(operand) || !state.open.has(operand) ? operand : nodes[operand].inside.root;
      if (shown.has(opened)) edges.push([opened, parameter]);
    }
  }
  const known = edges.filter(([from, to]) => shown.has(from) && shown.has(to));
  return { shown: [...shown], edges: known, inside, left };
}

// Places boxes in rows so that each edge leads down, and near the boxes that they are connected with. An edge that passes rows has a place
// of its own in each of them, so that it passes beside their boxes: `bends` has these places, by both ends of the edge.
function layout({ shown, edges }) {
  const above = new Map(shown.map(id => [id, []])), below = new Map(shown.map(id => [id, []]));
  for (const [from, to] of edges) { above.get(to).push(from); below.get(from).push(to); }
  const row = new Map(), order = [], waiting = new Map(shown.map(id => [id, above.get(id).length]));
  const ready = shown.filter(id => waiting.get(id) === 0);
  while (ready.length) {
    const id = ready.shift();
    order.push(id);
    row.set(id, Math.max(-1, ...above.get(id).map(other => row.get(other))) + 1);
    for (const to of below.get(id)) {
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) === 0) ready.push(to);
    }
  }
  // Operands move down to their readers.
  for (const id of [...order].reverse()) {
    if (above.get(id).length === 0 && below.get(id).length) row.set(id, Math.min(...below.get(id).map(other => row.get(other))) - 1);
  }
  const rows = [];
  for (const id of order) (rows[row.get(id)] ??= []).push(id);
  const filled = rows.filter(Boolean), x = new Map();
  filled.forEach((ids, n) => { for (const id of ids) row.set(id, n); });
  // A place of an edge is a negative number. Edges from one box share their places.
  const up = new Map(shown.map(id => [id, []])), down = new Map(shown.map(id => [id, []])), known = new Map(), bends = new Map();
  for (const [from, to] of edges) {
    const passed = [];
    for (let n = row.get(from) + 1; n < row.get(to); n += 1) {
      const key = from + ' ' + n;
      if (!known.has(key)) {
        const id = -1 - known.size;
        known.set(key, id);
        filled[n].push(id);
        up.set(id, []);
        down.set(id, []);
      }
      passed.push(known.get(key));
    }
    bends.set(from + ' ' + to, passed);
    [from, ...passed].forEach((id, n) => {
      const next = [...passed, to][n];
      if (down.get(id).includes(next)) return;
      down.get(id).push(next);
      up.get(next).push(id);
    });
  }
  // `x` has the middle of each box and each place; `apart` is how far apart two neighbours are.
  const half = id => id < 0 ? 0 : WIDE / 2, apart = (one, other) => half(one) + GAP + half(other);
  for (const ids of filled) {
    let at = 0;
    ids.forEach((id, n) => { at += n ? apart(ids[n - 1], id) : 0; x.set(id, at); });
    for (const id of ids) x.set(id, x.get(id) - at / 2);
  }
  const pull = (ids, beside) => {
    const wish = new Map(ids.map(id => [id, beside.get(id).length ? beside.get(id).reduce((sum, other) => sum + x.get(other), 0) / beside.get(id).length : x.get(id)]));
    ids.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
    ids.forEach((id, n) => x.set(id, n ? Math.max(wish.get(id), x.get(ids[n - 1]) + apart(ids[n - 1], id)) : wish.get(id)));
    const shift = ids.reduce((sum, id) => sum + wish.get(id) - x.get(id), 0) / ids.length;
    for (const id of ids) x.set(id, x.get(id) + shift);
  };
  for (let sweep = 0; sweep < 4; sweep += 1) {
    for (const ids of filled.slice(1)) pull(ids, up);
    for (const ids of filled.slice(0, -1).reverse()) pull(ids, down);
  }
  const edge = side => [...x].map(([id, middle]) => middle + side * half(id));
  const leftmost = Math.min(...edge(-1)) - GAP, places = new Map(), passing = new Map();
  filled.forEach((ids, n) => {
    for (const id of ids) (id < 0 ? passing : places).set(id, [x.get(id) - half(id) - leftmost, n * (TALL + BETWEEN) + GAP]);
  });
  for (const [key, passed] of bends) bends.set(key, passed.map(id => passing.get(id)));
  return { places, bends, width: Math.max(...edge(1)) + GAP - leftmost, height: filled.length * (TALL + BETWEEN) - BETWEEN + 2 * GAP };
}

// The line of an edge: from below a box, straight through each row that it passes, to the top of another box.
function lineOf([x, y], passed, [a, b]) {
  let d = `M${x + WIDE / 2} ${y + TALL}`, at = [x + WIDE / 2, y + TALL];
  for (const [left, top] of [...passed, [a + WIDE / 2, b]]) {
    const middle = (at[1] + top) / 2;
    d += `C${at[0]} ${middle} ${left} ${middle} ${left} ${top}`;
    if (top < b) d += `V${top + TALL}`;
    at = [left, top + TALL];
  }
  return d;
}

const SVG = 'http://www.w3.org/2000/svg';
function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function show(id) {
  if (id === state.at) return draw();
  if (state.at >= 0) state.path.push(state.at);
  state.at = id;
  draw();
}

function choose(id) {
  show(id);
  changed(id);
  el('graph').querySelector('[aria-pressed=true]')?.focus({ preventScroll: true });
}

function back() {
  if (!state.path.length) return;
  state.at = state.path.pop();
  draw();
  changed(state.at);
}

// The open fusion with the chosen instruction in it.
const hostOf = id => [...state.open].find(fusion => nodes[fusion].inside.nodes.includes(id));

function fold() {
  const at = state.at, host = hostOf(at);
  if (at < 0) return;
  if (nodes[at].inside && !state.open.has(at)) {
    state.open.add(at);
    state.at = nodes[at].inside.root;
  } else if (host !== undefined) {
    state.open.delete(host);
    state.at = host;
  } else return;
  draw();
  changed(state.at);
}

function setSteps(steps) {
  state.steps = steps;
  if (state.at < 0) return;
  draw();
  changed(state.at);
}

function draw() {
  if (state.at < 0) return;
  // For an instruction in an open fusion, the graph around the fusion is drawn: around the instruction, there is only the fusion's computation.
  const at = state.at, host = hostOf(at);
  if (host !== undefined) state.at = host;
  const graph = neighbourhood(), { places, bends, width, height } = layout(graph);
  state.at = at;
  const pane = node('div');
  pane.style.width = width + 'px';
  pane.style.height = height + 'px';
  const arrow = (id, name) => svg('marker', { id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: 'userSpaceOnUse', orient: 'auto' },
    svg('path', { class: name, d: 'M0 0L8 4L0 8z' }));
  const isNear = ([from, to]) => from === at || to === at;
  // The lines of the chosen instruction are drawn last, above the others.
  const lines = [...graph.edges].sort((one, other) => isNear(one) - isNear(other)).map(edge => {
    const [name, end] = isNear(edge) ? ['near', 'arrow-near'] : ['', 'arrow'], [from, to] = edge;
    return svg('path', { class: name, 'marker-end': `url(#${end})`, d: lineOf(places.get(from), bends.get(from + ' ' + to), places.get(to)) });
  });
  pane.append(svg('svg', { width, height, 'aria-hidden': 'true' }, svg('defs', {}, arrow('arrow', ''), arrow('arrow-near', 'near')), ...lines));
  const boxes = [...places].map(([id, [x, y]]) => {
    const it = nodes[id], fusion = graph.inside.get(id);
    const box = node('button', {
      type: 'button', class: (it.role || 'group') + (fusion === undefined ? '' : ' inside'),
      title: it.heading + '\n' + it.shape + (fusion === undefined ? '' : '\nin %' + nodes[fusion].name),
      onclick: () => choose(id),
    }, node('span', {}, '%' + it.name), node('span', {}, it.opcode + (it.inside ? ' ▸' : '')), node('span', {}, it.shape));
    box.setAttribute('aria-pressed', String(id === at));
    for (const [key, pixels] of [['left', x], ['top', y], ['width', WIDE], ['height', TALL]]) box.style[key] = pixels + 'px';
    return box;
  });
  pane.append(...boxes);
  el('graph').replaceChildren(pane);
  rove(boxes.sort((a, b) => (b.getAttribute('aria-pressed') === 'true') - (a.getAttribute('aria-pressed') === 'true')));
  const [x, y] = places.get(at) ?? [0, 0];
  el('graph').scrollTo(x - (el('graph').clientWidth - WIDE) / 2, y - (el('graph').clientHeight - TALL) / 2);

  const it = nodes[at], button = (text, onclick, pressed) => {
    const made = node('button', { type: 'button', onclick }, text);
    if (pressed !== undefined) made.setAttribute('aria-pressed', String(pressed));
    return made;
  };
  const parts = [node('span', {}, 'Steps each way'), ...[1, 2, 3, 4].map(count => button(String(count), () => setSteps(count), state.steps === count))];
  if (it.inside && !state.open.has(at)) parts.push(button('Open the fusion', fold));
  if (host !== undefined) parts.push(button('Close %' + nodes[host].name, fold));
  if (state.path.length) parts.push(button('Back', back));
  el('controls').replaceChildren(...parts);
  el('shown').textContent = places.size + (places.size === 1 ? ' instruction' : ' instructions, operands above and readers below') +
    (graph.left ? '; ' + graph.left + ' more are not drawn: at most ' + MOST_BESIDE + ' on each side of one, and ' + MOST + ' in all' : '') +
    (graph.inside.size ? '; dashed boxes are in a fusion' : '') +
    (it.unknown ? '; ' + it.unknown + ' operands or readers are not in this page: xla-shape hlo show FILE %' + it.name + ' --html PAGE begins there' : '') + '.';
  graph.places = places;
  state.drawn = graph;
}

onKey('o', 'open or close the fusion', fold);
onKey('b', 'back to the instruction before', back);
keyList.push(['1 2 3 4', 'steps each way']);
for (const count of [1, 2, 3, 4]) onKey(String(count), '', () => setSteps(count));
keyList.push(['← → ↑ ↓ Enter', 'go through the graph, and choose']);
return { state, show, draw };
}
