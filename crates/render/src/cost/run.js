// One run, event by event: a row for each device and line of the profile, and below them the memory in use. All of them show the same times.
const run = JSON.parse(el('run-data').textContent);
const known = run.instructions.map(([name, opcode, source, scope, kind, bytes]) =>
  ({ name: run.texts[name], opcode: run.texts[opcode], source: run.texts[source], scope: run.texts[scope], kind, bytes }));
// The colours of computations, of what only moves data, of collectives, and of what runs at the same time as others.
const COLOURS = ['temporary', 'output', 'mixed', 'donated'];
const TOP = 20, HEAD = 16, TALL = 17, DEEPEST = 6;
let below = TOP;
const lanes = run.rows.map(([device, line, isBeside, numbers]) => {
  const count = numbers.length / 3, around = [];
  const lane = { title: device + ' · ' + line, isBeside, top: below, deep: 0, starts: new Float64Array(count), ends: new Float64Array(count),
    ids: new Uint32Array(count), depths: new Uint8Array(count) };
  let now = 0;
  for (let n = 0; n < count; n += 1) {
    now += numbers[3 * n];
    [lane.starts[n], lane.ends[n], lane.ids[n]] = [now, now + numbers[3 * n + 1], numbers[3 * n + 2]];
    // The events around this one have not ended yet.
    while (around.length && around.at(-1) <= now) around.pop();
    lane.depths[n] = Math.min(around.length, DEEPEST - 1);
    lane.deep = Math.max(lane.deep, lane.depths[n]);
    around.push(lane.ends[n]);
  }
  below += HEAD + TALL * (lane.deep + 1) + 4;
  return lane;
});
// The memory in use at the beginning of each event of the first device.
const uses = lanes.filter((lane, n) => run.rows[n][0] === run.rows[0][0] && !lane.isBeside)
  .flatMap(lane => [...lane.starts].map((start, n) => [start, known[lane.ids[n]].bytes])).filter(([, bytes]) => bytes !== null).sort((a, b) => a[0] - b[0]);
const mostUsed = uses.reduce((most, [, bytes]) => Math.max(most, bytes), 1);

const all = Math.max(1, run.picoseconds), canvas = el('lanes').querySelector('canvas'), curve = el('use');
canvas.parentElement.style.height = below + 'px';
let view = [0, all], lit = null, chosen = null, colours = new Map();
function colour(name) {
  if (!colours.has(name)) {
    canvas.style.color = 'var(--' + name + ')';
    colours.set(name, getComputedStyle(canvas).color);
  }
  return colours.get(name);
}
function time(picoseconds, digits = 3) {
  const [size, unit] = [[1e12, 's'], [1e9, 'ms'], [1e6, 'µs'], [1e3, 'ns']].find(([size]) => Math.abs(picoseconds) >= size) ?? [1, 'ps'];
  return Number((picoseconds / size).toPrecision(digits)) + ' ' + unit;
}
// A canvas of the size of its element, with the pixels of the screen.
function begin(canvas) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  context.fillStyle = colour('back');
  context.fillRect(0, 0, width, height);
  context.font = '11px ui-monospace,monospace';
  context.textBaseline = 'middle';
  return [context, width, height];
}
const across = width => moment => (moment - view[0]) / (view[1] - view[0]) * width;

function drawLanes() {
  const box = el('lanes'), tall = Math.min(below, box.clientHeight);
  canvas.style.height = tall + 'px';
  const [context, width] = begin(canvas), x = across(width), up = box.scrollTop;
  for (const lane of lanes) {
    const top = lane.top - up;
    if (top > tall || top + HEAD + TALL * (lane.deep + 1) < 0) continue;
    drawLane(context, lane, top, width, x);
    context.globalAlpha = 1;
    context.fillStyle = colour('soft');
    context.fillText(lane.title, 4, top + HEAD / 2);
  }
  // The times stand above the rows, and cover those that have scrolled away.
  context.fillStyle = colour('bar');
  context.fillRect(0, 0, width, TOP);
  context.fillStyle = colour('fore');
  const apart = (view[1] - view[0]) / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(apart));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= apart);
  for (let moment = Math.ceil(view[0] / step) * step; moment <= view[1]; moment += step) {
    context.fillRect(x(moment), 0, 1, TOP);
    context.fillText(moment ? time(moment, 6) : '0', x(moment) + 4, TOP / 2);
  }
}
function drawLane(context, lane, top, width, x) {
  const { starts, ends, ids, depths } = lane;
  // What is not lit is drawn first. Of events in one pixel, the first one is drawn.
  const [from, to] = view;
  for (const isLit of lit ? [false, true] : [true]) {
    const drawn = new Float64Array(DEEPEST).fill(-1), boxes = COLOURS.map(() => []), names = [];
    for (let n = 0; n < starts.length && starts[n] <= to; n += 1) {
      if (ends[n] < from || (lit !== null && (lit[ids[n]] === 1) !== isLit)) continue;
      const depth = depths[n], right = Math.min(width + 2, x(ends[n]));
      if (right <= drawn[depth]) continue;
      const left = Math.max(-2, x(starts[n])), wide = Math.max(1, right - left), y = top + HEAD + TALL * depth;
      drawn[depth] = Math.ceil(left + wide);
      const { kind, name } = known[ids[n]];
      boxes[lane.isBeside && kind < 2 ? 3 : kind].push(left, y, wide > 3 ? wide - 1 : wide);
      const begin = Math.max(left, 0), letters = Math.floor((Math.min(right, width) - begin - 6) / 6.7);
      if (letters > 4) names.push([name.slice(0, letters), begin + 3, y + TALL / 2 - 1]);
    }
    context.globalAlpha = isLit ? 1 : 0.25;
    // A change of the colour takes longer than a box, so boxes of one colour are drawn together.
    boxes.forEach((numbers, kind) => {
      context.fillStyle = colour(COLOURS[kind]);
      for (let n = 0; n < numbers.length; n += 3) context.fillRect(numbers[n], numbers[n + 1], numbers[n + 2], TALL - 2);
    });
    context.fillStyle = colour('fore');
    for (const [text, left, y] of names) context.fillText(text, left, y);
  }
  if (chosen?.lane === lane) {
    const left = Math.max(1, x(starts[chosen.n])), right = Math.min(width - 1, x(ends[chosen.n]));
    context.globalAlpha = 1;
    context.strokeStyle = colour('fore');
    context.lineWidth = 2;
    context.strokeRect(left, top + HEAD + TALL * depths[chosen.n], Math.max(2, right - left), TALL - 2);
  }
}
function drawUse() {
  el('memory').hidden = uses.length === 0;
  if (uses.length === 0) return;
  const [context, width, height] = begin(curve), x = across(width), y = bytes => height - (height - 16) * bytes / mostUsed;
  context.fillStyle = colour('temporary');
  uses.forEach(([start, bytes], n) => {
    const left = Math.max(0, x(start)), right = Math.min(width, x(uses[n + 1]?.[0] ?? all));
    if (right > 0 && left < width && right > left) context.fillRect(Math.floor(left), y(bytes), Math.ceil(right) - Math.floor(left), height);
  });
  context.fillStyle = colour('fore');
  context.fillText('at most ' + bytesInWords(mostUsed), 4, 8);
  if (chosen) context.fillRect(x(chosen.lane.starts[chosen.n]), 0, 1, height);
}
const bytesInWords = bytes => {
  const power = Math.min(6, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return Number((bytes / 1024 ** power).toPrecision(3)) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'][power];
};
let waiting = 0;
const draw = () => { waiting ||= requestAnimationFrame(() => { waiting = 0; drawLanes(); drawUse(); }); };
whenThemed.push(() => { colours = new Map(); draw(); });
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', () => { colours = new Map(); draw(); });
addEventListener('resize', draw);
el('lanes').addEventListener('scroll', draw);

// The times that are shown: all rows and the memory move together.
function setView(first, end) {
  const wide = Math.min(all, Math.max(10, end - first)), from = Math.min(all - wide, Math.max(0, first));
  view = [from, from + wide];
  const isWhole = wide >= all;
  for (const id of ['out', 'whole']) el(id).disabled = isWhole;
  el('range').textContent = isWhole ? time(all) : time(from, 6) + ' to ' + time(from + wide, 6) + ' of ' + time(all);
  draw();
}
function zoom(factor, around = (view[0] + view[1]) / 2) {
  setView(around - (around - view[0]) * factor, around + (view[1] - around) * factor);
}
const pan = share => setView(view[0] + share * (view[1] - view[0]), view[1] + share * (view[1] - view[0]));
el('in').onclick = () => zoom(0.5);
el('out').onclick = () => zoom(2);
el('whole').onclick = () => setView(0, all);

// The event below the pointer, or a short one within three pixels.
function eventAt(pointer) {
  const box = canvas.getBoundingClientRect(), up = pointer.clientY - box.y + el('lanes').scrollTop;
  const lane = lanes.find(lane => up >= lane.top + HEAD && up < lane.top + HEAD + TALL * (lane.deep + 1));
  if (!lane || pointer.clientY - box.y < TOP) return null;
  const pixel = (view[1] - view[0]) / box.width, moment = view[0] + (pointer.clientX - box.x) * pixel;
  const depth = Math.floor((up - lane.top - HEAD) / TALL);
  let nearest = null, least = 3 * pixel;
  for (let n = 0; n < lane.starts.length && lane.starts[n] <= moment + 3 * pixel; n += 1) {
    if (lane.depths[n] !== depth) continue;
    const far = Math.max(0, moment - lane.ends[n], lane.starts[n] - moment);
    if (far <= least) [nearest, least] = [n, far];
  }
  return nearest === null ? null : { lane, n: nearest };
}
function about({ lane, n }) {
  const { name, opcode, source, scope, bytes } = known[lane.ids[n]];
  return [['instruction', '%' + name + (opcode && ' (' + opcode + ')')], ['time', time(lane.ends[n] - lane.starts[n], 4) + ', from ' + time(lane.starts[n], 6)],
    ['line', source], ['scope', scope], ['memory in use', bytes === null ? '' : bytesInWords(bytes)], ['on', lane.title]].filter(([, text]) => text);
}
// Which instructions a row of a table or an entry of a list is about.
function isAbout(row) {
  const part = row.closest('section').id.replace('measured-', '');
  const name = [...row.cells ?? [row.querySelector('code')]].map(cell => cell.textContent.match(/^%(\S+)/)?.[1]).find(Boolean);
  const where = row.cells?.[2]?.textContent;
  if (part === 'lines') return one => (one.source || '(no source line)') === where;
  if (part === 'scopes') return one => one.scope === where;
  if (part === 'opcodes') return one => (one.opcode || '(not in the module)') === where;
  return name === undefined ? () => false : one => one.name === name;
}
function light(test) {
  lit = test && Uint8Array.from(known, one => test(one) ? 1 : 0);
  draw();
}
function choose(event) {
  chosen = event;
  const facts = chosen ? about(chosen) : [], one = chosen && known[chosen.lane.ids[chosen.n]];
  el('event').replaceChildren(...facts.flatMap(([name, text]) => [node('dt', {}, name), node('dd', {}, text)]));
  for (const row of rows) row.classList.toggle('lit', Boolean(one) && isAbout(row)(one));
  if (!chosen) return draw();
  const { lane, n } = chosen, box = el('lanes'), y = lane.top + HEAD + TALL * lane.depths[n];
  if (lane.ends[n] < view[0] || lane.starts[n] > view[1]) pan(((lane.starts[n] + lane.ends[n]) / 2 - (view[0] + view[1]) / 2) / (view[1] - view[0]));
  if (y < box.scrollTop + TOP || y + TALL > box.scrollTop + box.clientHeight) box.scrollTop = y - box.clientHeight / 2;
  draw();
}
// Shows lines beside the pointer, until it leaves the picture.
function tip(event, lines) {
  const box = el('tip');
  box.hidden = lines.length === 0;
  box.replaceChildren(...lines.map(line => node('div', {}, line)));
  box.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 4)) + 'px';
  box.style.top = Math.max(0, event.clientY + 14 + box.offsetHeight > innerHeight ? event.clientY - box.offsetHeight - 8 : event.clientY + 14) + 'px';
}
// A mouse zooms into what it drags over, a finger moves the times, two fingers zoom; a click chooses. A wheel zooms with Ctrl and pans with Shift.
for (const picture of [canvas, curve]) {
  const fingers = new Map(), momentAt = event => view[0] + (event.clientX - picture.getBoundingClientRect().x) / picture.clientWidth * (view[1] - view[0]);
  let begun = null, band = null;
  const end = event => {
    fingers.delete(event.pointerId);
    if (!begun || event.type === 'pointercancel') { band?.remove(); begun = null; return; }
    if (!begun.isMoved) { if (picture === canvas) choose(eventAt(event)); } else if (begun.isMouse) {
      const [first, last] = [begun.moment, momentAt(event)].sort((a, b) => a - b);
      setView(first, last);
    }
    band?.remove();
    begun = null;
  };
  picture.addEventListener('pointerdown', event => {
    if (event.button) return;
    fingers.set(event.pointerId, event);
    picture.setPointerCapture(event.pointerId);
    begun = { x: event.clientX, moment: momentAt(event), isMouse: event.pointerType === 'mouse', isMoved: false };
    if (begun.isMouse) picture.parentElement.append(band = node('div', { class: 'band', hidden: true }));
  });
  picture.addEventListener('pointermove', event => {
    if (!begun) {
      const under = picture === canvas && eventAt(event);
      const n = uses.findLastIndex(([start]) => start <= momentAt(event));
      if (picture === curve) return tip(event, n < 0 ? [] : [bytesInWords(uses[n][1]) + ' in use']);
      return tip(event, under ? about(under).map(([name, text]) => name + ': ' + text) : []);
    }
    const before = fingers.get(event.pointerId);
    begun.isMoved ||= Math.abs(event.clientX - begun.x) > 5;
    if (begun.isMouse) {
      const left = picture.getBoundingClientRect().x;
      band.hidden = !begun.isMoved;
      band.style.left = Math.min(begun.x, event.clientX) - left + 'px';
      band.style.width = Math.abs(event.clientX - begun.x) + 'px';
    } else if (fingers.size > 1 && before) {
      const other = [...fingers.values()].find(one => one.pointerId !== event.pointerId), far = one => Math.max(20, Math.abs(one.clientX - other.clientX));
      begun.isMoved = true;
      zoom(far(before) / far(event), momentAt(other));
    } else if (before) pan((before.clientX - event.clientX) / picture.clientWidth);
    fingers.set(event.pointerId, event);
  });
  for (const name of ['pointerup', 'pointercancel']) picture.addEventListener(name, end);
  picture.addEventListener('pointerleave', event => tip(event, []));
  picture.addEventListener('dblclick', () => setView(0, all));
  picture.addEventListener('wheel', event => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), momentAt(event));
    else if (sideways && view[1] - view[0] < all) pan(sideways / 1000);
    else return;
    event.preventDefault();
  }, { passive: false });
}
// Left and right go through the events of a row, up and down to other rows; w, s, a and d zoom and pan.
canvas.addEventListener('keydown', event => {
  const { lane, n } = chosen ?? { lane: lanes[0], n: -1 }, row = lanes.indexOf(lane);
  const near = other => other && { lane: other, n: Math.max(0, other.starts.findLastIndex(start => start <= lane.starts[Math.max(0, n)])) };
  const next = { ArrowRight: () => ({ lane, n: Math.min(lane.starts.length - 1, n + 1) }), ArrowLeft: () => ({ lane, n: Math.max(0, n - 1) }),
    ArrowDown: () => near(lanes[row + 1]), ArrowUp: () => near(lanes[row - 1]) }[event.key];
  const moves = { w: () => zoom(0.5), s: () => zoom(2), a: () => pan(-0.25), d: () => pan(0.25), Home: () => setView(0, all) }[event.key];
  if ((!next && !moves) || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  if (moves) moves(); else choose(next() ?? chosen);
});
keyList.push(['w s a d', 'in the run: zoom and pan'], ['← →', 'in the run: the event before, the next one']);
// What the search finds, and what a chosen row is about, is lit.
function lightWords(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  light(wanted.length ? one => wanted.every(word => [one.name, one.opcode, one.source, one.scope].some(text => text.toLowerCase().includes(word))) : null);
}
whenFound.push(lightWords);
addEventListener('focusin', event => {
  const row = event.target.closest?.('main tbody tr, main .copies li');
  if (row) light(isAbout(row));
});
setView(0, all);
const row = document.querySelector('main .on');
if (row) light(isAbout(row)); else lightWords(el('search').value);
