// What is known about the selected buffer or instruction, and the graph around it.
const graph = makeGraph(nodes, 1, place => chooseNode(place));

// Writes down what is known.
function drawSelected() {
  const buffer = buffers[state.selected], instruction = nodes[state.node], rows = [];
  if (buffer) {
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
  } else if (instruction) {
    rows.push(['name', instruction.heading]);
  }
  if (instruction) {
    rows.push(...instruction.facts);
    if (instruction.operands.length) rows.push(['operands', ...neighbours(instruction.operands)]);
    if (instruction.readers.length) rows.push(['read by', ...neighbours(instruction.readers)]);
    if (instruction.unknown) rows.push(['', grouped(instruction.unknown) + ' more are not in this page']);
  }
  if (!rows.length) rows.push(['', 'Choose a buffer in one of the pictures or in the table.']);
  el('chosen').textContent = buffer ? buffer.name + ': ' + units(buffer.bytes) + (buffer.role ? ', ' + buffer.role : '')
    : instruction ? '%' + instruction.name + ': ' + instruction.opcode + ', no memory of its own in this page' : 'Nothing is selected';
  el('selected').replaceChildren(...rows.flatMap(([name, ...values]) => [node('dt', {}, name), node('dd', {}, ...values)]));
  el('around').hidden = !instruction;
}

const MOST_NAMES = 12;
// The names of instructions, which select them.
function neighbours(places) {
  const names = places.slice(0, MOST_NAMES).flatMap((place, n) => [n ? ', ' : '',
    node('button', { type: 'button', class: 'name', onclick: () => chooseNode(place) }, '%' + nodes[place].name)]);
  if (places.length > MOST_NAMES) names.push(' and ' + grouped(places.length - MOST_NAMES) + ' more');
  return names;
}

// Selects a buffer, in its memory space, at a step at which it is live.
function goTo(buffer) {
  if (buffer.space !== state.space.space) setSpace(data.spaces.find(space => space.space === buffer.space));
  if (!isLive(buffer, state.step)) setStep(buffer.spans[0]);
  select(buffer.id);
}

// Selects the buffer of an instruction, or the instruction itself if it has none.
function chooseNode(place) {
  const own = buffersAt.get(place);
  if (own && !own.some(buffer => buffer.id === state.selected)) return goTo(own.find(buffer => buffer.space === state.space.space) ?? own[0]);
  if (!own) state.selected = null;
  show(place);
}

function select(id) {
  state.selected = id;
  show(buffers[id]?.place ?? -1);
}

// Shows what is selected, in all panes.
function show(place) {
  state.node = place;
  drawSelected();
  if (place >= 0 && !el('panes').hidden && graph.state.at !== place) graph.show(place);
  drawMap();
  markTree();
  markTable();
  const buffer = buffers[state.selected];
  remember({ buffer: buffer?.name, at: !buffer && nodes[place] ? '%' + nodes[place].name : '' });
}

// Marks a buffer in the pictures and in the table while the pointer is on it in one of them.
function light(id) {
  const own = id === null ? [] : boxes.filter(box => box[4].id === id).slice(0, 20);
  el('lights').replaceChildren(...own.map(([left, top, wide, tall]) => {
    const mark = node('i');
    for (const [key, pixels] of [['left', left], ['top', top], ['width', wide], ['height', tall]]) mark.style[key] = pixels + 'px';
    return mark;
  }));
  for (const one of document.querySelectorAll('.lit')) one.classList.remove('lit');
  if (id !== null) for (const one of document.querySelectorAll('#tree [data-id="' + id + '"], #table [data-id="' + id + '"]')) one.classList.add('lit');
}

function setStep(step) {
  state.step = step;
  drawSummary();
  markCurve();
  drawMap();
  drawTree();
  if (el('live').checked) drawTable();
  remember({ step: data.steps ? step + 1 : '' });
}

function setSpace(space) {
  Object.assign(state, { space, step: space.peak, view: [0, data.steps], scope: [], rows: 200, selected: null });
  // First, the largest live temporary is selected; without one, the largest live buffer.
  const candidates = live();
  state.selected = (candidates.find(buffer => buffer.role === 'temporary') ?? candidates[0])?.id ?? null;
  el('live-label').hidden = space.curve.length === 0;
  el('zoom').hidden = space.curve.length === 0;
  drawSpaces();
  drawLegend();
  drawSummary();
  drawCurve();
  showView();
  drawTree();
  drawTable();
  select(state.selected);
  remember({ space: space.space, step: '', view: '', scope: '' });
}

// The pane of details: its height, its parts, and whether it is open.
function fold(isOpen) {
  el('panes').hidden = el('grip').hidden = !isOpen;
  el('fold').setAttribute('aria-expanded', isOpen);
  el('fold').textContent = isOpen ? 'Hide' : 'Details';
  if (isOpen && state.node >= 0) { graph.state.at = state.node; graph.draw(); }
  keepClear();
}
// Keeps this pane from hiding what has the focus.
const keepClear = () => { document.documentElement.style.scrollPaddingBottom = el('details').offsetHeight + 8 + 'px'; };
resizable(el('grip'), false, () => innerHeight - el('panes').offsetHeight, top => {
  el('panes').style.height = Math.min(innerHeight * 0.8, Math.max(80, innerHeight - top)) + 'px';
  keepClear();
});
resizable(el('split'), true, () => el('selected').offsetWidth, wide => {
  el('panes').style.setProperty('--first', Math.min(el('panes').offsetWidth - 160, Math.max(160, wide)) + 'px');
});
el('fold').addEventListener('click', () => fold(el('panes').hidden));
onKey('e', 'show or hide the details', () => fold(el('panes').hidden));

whenThemed.push(drawMap);
let resizing = 0;
addEventListener('resize', () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => { drawMap(); drawTree(); keepClear(); });
});

// What the address names: a memory space, a step, a view, a buffer or an instruction, a search and a scope.
function openLink() {
  const wanted = new Map(link), number = key => Number(wanted.get(key));
  const buffer = buffers.find(one => one.name === wanted.get('buffer') && (!wanted.has('space') || one.space === number('space')));
  const space = data.spaces.find(one => one.space === (buffer?.space ?? number('space')));
  if (wanted.has('space') || buffer) setSpace(space ?? data.spaces[0]);
  if (wanted.has('q')) { el('search').value = wanted.get('q'); drawTable(); }
  const [first, end] = (wanted.get('view') ?? '').split('-').map(Number);
  if (first > 0 && end >= first) setView(first - 1, end);
  if (number('step') > 0) setStep(Math.min(data.steps, number('step')) - 1);
  if (wanted.has('scope')) openScope(wanted.get('scope').split('/'));
  const place = wanted.has('at') ? nodes.findIndex(one => '%' + one.name === wanted.get('at')) : -1;
  if (buffer) select(buffer.id);
  else if (place >= 0) chooseNode(place);
}
whenLinked.push(openLink);
fold(innerWidth > 700);
if (state.space) {
  const first = new Map(link);
  setSpace(state.space);
  link = new URLSearchParams([...first]);
  openLink();
} else {
  el('summary').textContent = 'No value takes memory.';
  for (const id of ['over-time', 'offsets', 'scopes', 'buffers', 'details']) el(id).hidden = true;
}
el('accuracy').textContent = data.accuracy;
