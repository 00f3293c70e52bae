// The two pictures over time, which show the same steps.
// Evenly spaced numbers from 0 to `most` for an axis, at most `count` of them after 0. Their distance is 1, multiplied by the factors in turn.
function ticks(most, count, factors) {
  let step = 1;
  for (let n = 0; most / step > count; n += 1) step *= factors[n % factors.length];
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => n * step);
}

// Writes the axes of a plot: bytes at the left, where `share` of the height stands for `most` bytes, and steps below.
function drawAxes(plot, most, share) {
  const up = ticks(most, 5, [2]).map(bytes => {
    const label = node('span', {}, units(bytes));
    label.style.bottom = 100 * share * bytes / most + '%';
    return label;
  });
  const [first, end] = state.view, apart = ticks(end - first, 6, [2, 2.5, 2])[1] ?? 1;
  const across = [node('span', {}, first ? '' : 'step')];
  for (let step = Math.ceil((first + 1) / apart) * apart; step <= end; step += apart) {
    // Steps are counted from 1; a label stands below the middle of its step.
    const label = node('span', {}, grouped(step));
    label.style.left = 100 * (step - 0.5 - first) / (end - first) + '%';
    across.push(label);
  }
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
const HEIGHT = 100;
function drawCurve() {
  const space = state.space, curve = space.curve;
  el('over-time').hidden = curve.length === 0;
  if (curve.length === 0) return;
  let most = Math.max(...curve.map(point => point[1]), 1);
  // The limit is shown if it is near enough to the curve that the curve stays readable.
  const limit = space.capacity && space.capacity < 3 * most ? space.capacity : 0;
  most = Math.max(most, limit);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('preserveAspectRatio', 'none');
  // Across, the unit is a step.
  const column = n => Math.min(data.steps, (n + 1) * space.every) - n * space.every;
  const area = (role, heights) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', role);
    path.setAttribute('d', 'M0 ' + HEIGHT +
      heights.map((bytes, n) => 'V' + (HEIGHT * (1 - 0.95 * bytes / most)).toFixed(2) + 'h' + column(n)).join('') + 'V' + HEIGHT + 'Z');
    return path;
  };
  // Areas are drawn over each other, the highest first. Each has the bytes of its role and of those drawn later, so the part that stays visible is
  // its role.
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
    mark.setAttribute('d', 'M0 ' + y + 'H' + data.steps);
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
  const at = event => pointAt(stepAt(event, svg));
  zoomable(svg, event => setStep(curve[at(event)][0]));
  svg.addEventListener('pointermove', event => {
    const [step, bytes, name] = curve[at(event)];
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
  state.most = most;
  showView();
  markCurve();
}

// The steps of the view, in both pictures.
function showView() {
  const [first, end] = state.view, isWhole = end - first >= data.steps;
  el('curve').querySelector('svg')?.setAttribute('viewBox', first + ' 0 ' + (end - first) + ' ' + HEIGHT);
  if (state.space.curve.length) drawAxes(el('curve').parentElement, state.most, 0.95);
  if (state.space.heap) drawAxes(el('map').closest('.plot'), state.space.heap, 1);
  el('range').textContent = isWhole ? grouped(data.steps) + (data.steps === 1 ? ' step' : ' steps') : 'steps ' + grouped(first + 1) + ' to ' + grouped(end) + ' of ' + grouped(data.steps);
  for (const id of ['out', 'whole']) el(id).disabled = isWhole;
  el('in').disabled = end - first <= Math.min(LEAST, data.steps);
  el('overview').hidden = isWhole;
  const thumb = el('overview').firstChild;
  thumb.style.left = 100 * first / data.steps + '%';
  thumb.style.width = 100 * (end - first) / data.steps + '%';
}

// The fewest steps of a view.
const LEAST = 8;
function setView(first, end) {
  const wide = Math.round(Math.min(data.steps, Math.max(Math.min(LEAST, data.steps), end - first)));
  const from = Math.round(Math.min(data.steps - wide, Math.max(0, first)));
  if (from === state.view[0] && from + wide === state.view[1]) return;
  state.view = [from, from + wide];
  showView();
  drawMap();
  remember({ view: wide === data.steps ? '' : (from + 1) + '-' + (from + wide) });
}

// Zooms by a factor; the step `around` keeps its place.
function zoom(factor, around = state.step + 0.5) {
  const [first, end] = state.view, middle = around < first || around > end ? (first + end) / 2 : around;
  setView(middle - (middle - first) * factor, middle + (end - middle) * factor);
}
const pan = share => { const [first, end] = state.view, way = share * (end - first); setView(first + way, end + way); };

// The step below the pointer.
function stepAt(event, picture) {
  const box = picture.getBoundingClientRect(), [first, end] = state.view;
  return Math.min(data.steps - 1, Math.max(0, Math.floor(first + (event.clientX - box.x) / box.width * (end - first))));
}

// A mouse chooses a step by a click and zooms into what it drags over; a finger chooses the step below it. A wheel zooms with Ctrl and pans with Shift.
function zoomable(picture, choose) {
  picture.addEventListener('pointerdown', event => {
    if (event.button) return;
    const begun = event.clientX, from = stepAt(event, picture), isMouse = event.pointerType === 'mouse';
    const box = picture.getBoundingClientRect(), band = node('div', { class: 'band', hidden: true });
    picture.setPointerCapture(event.pointerId);
    picture.parentElement.append(band);
    const place = one => Math.min(box.right, Math.max(box.x, one.clientX));
    const move = now => {
      if (!isMouse) return choose(now);
      band.hidden = Math.abs(now.clientX - begun) < 5;
      band.style.left = Math.min(begun, place(now)) - box.x + picture.offsetLeft + 'px';
      band.style.width = Math.abs(place(now) - begun) + 'px';
    };
    const end = now => {
      if (band.hidden) choose(event);
      else setView(Math.min(from, stepAt(now, picture)), Math.max(from, stepAt(now, picture)) + 1);
    };
    picture.addEventListener('pointermove', move);
    picture.addEventListener('pointerup', end, { once: true });
    picture.addEventListener('lostpointercapture', () => {
      picture.removeEventListener('pointermove', move);
      picture.removeEventListener('pointerup', end);
      band.remove();
    }, { once: true });
  });
  picture.addEventListener('dblclick', () => setView(0, data.steps));
  picture.addEventListener('wheel', event => {
    const across = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), stepAt(event, picture) + 0.5);
    else if (across && state.view[1] - state.view[0] < data.steps) pan(across / 1000);
    else return;
    event.preventDefault();
  }, { passive: false });
}

function markCurve() {
  const svg = el('curve').querySelector('svg'), line = svg?.querySelector('line');
  if (!line) return;
  const point = pointAt(state.step), x = state.step + 0.5;
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
  canvas.setAttribute('aria-label', 'Offsets over time: left and right choose a step, up and down a buffer that is live there, w, s, a and d zoom and pan');
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
  const [from, to] = state.view, x = step => width * (step - from) / (to - from);
  context.fillStyle = colour('line');
  for (const [row, first, last] of space.rest.places) {
    const left = x(first / GRID.columns * data.steps);
    context.fillRect(left, height * (1 - (row + 1) / GRID.rows), x((last + 1) / GRID.columns * data.steps) - left, Math.ceil(height / GRID.rows));
  }
  for (const buffer of placed()) {
    const top = height * (1 - (buffer.offset + buffer.bytes) / space.heap), tall = Math.max(1, height * buffer.bytes / space.heap);
    for (let n = 0; n < buffer.spans.length; n += 2) {
      if (buffer.spans[n] >= to || buffer.spans[n + 1] < from) continue;
      const left = Math.max(-4, x(buffer.spans[n]));
      const wide = Math.max(1, Math.min(width + 4, x(Math.min(buffer.spans[n + 1] + 1, data.steps))) - left);
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
        context.fillText(buffer.name, Math.max(0, left) + 3, top + 11);
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
  context.beginPath();
  context.moveTo(x(state.step + 0.5), 0);
  context.lineTo(x(state.step + 0.5), height);
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
  const frame = el('map').getBoundingClientRect(), x = event.clientX - frame.x, y = event.clientY - frame.y;
  return boxes.findLast(([left, top, wide, tall]) => left <= x && x < left + wide && top <= y && y < top + tall);
}

zoomable(el('map'), event => {
  const box = boxAt(event);
  if (box) select(box[4].id);
  setStep(stepAt(event, el('map')));
});
el('map').addEventListener('pointermove', event => {
  const buffer = boxAt(event)?.[4];
  light(buffer?.id ?? null);
  tip(event, buffer ? [buffer.name + ' ' + buffer.shape, units(buffer.bytes) + ', ' + buffer.role, buffer.op, buffer.source].filter(Boolean) : []);
});
el('map').addEventListener('pointerleave', event => { tip(event, []); light(null); });
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
for (const [id, act] of [['in', () => zoom(0.5)], ['out', () => zoom(2)], ['whole', () => setView(0, data.steps)]]) el(id).addEventListener('click', act);
const follow = event => {
  const box = el('overview').getBoundingClientRect(), [first, end] = state.view, wide = end - first;
  const middle = (event.clientX - box.x) / box.width * data.steps;
  setView(middle - wide / 2, middle + wide / 2);
};
el('overview').addEventListener('pointerdown', event => { el('overview').setPointerCapture(event.pointerId); follow(event); });
el('overview').addEventListener('pointermove', event => { if (event.buttons) follow(event); });
if (data.steps) {
  onKey('w +', 'zoom in', () => zoom(0.5));
  onKey('s -', 'zoom out', () => zoom(2));
  onKey('a', 'pan left', () => pan(-0.25));
  onKey('d', 'pan right', () => pan(0.25));
  onKey('0', 'all steps', () => setView(0, data.steps));
  onKey('f', 'the steps of the selected buffer', () => {
    const spans = buffers[state.selected]?.spans;
    if (!spans?.length) return;
    const first = spans[0], end = spans.at(-1) + 1, around = Math.max(1, (end - first) / 10);
    setView(first - around, end + around);
  });
  keyList.push(['drag', 'over a picture: zoom in'], ['Ctrl+wheel', 'zoom'], ['Shift+wheel', 'pan']);
}
