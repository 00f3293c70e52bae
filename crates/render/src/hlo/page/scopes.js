// The live buffers by scope.
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
  const children = [...scope.children.values()].map(child => [child.bytes, roleOf(child) || 'mixed']);
  const parts = [...children, ...scope.buffers.map(buffer => [buffer.bytes, buffer.role])].filter(([bytes]) => bytes > 0).sort(([a], [b]) => b - a);
  const others = parts.splice(MOST_INSIDE).reduce((sum, [bytes]) => sum + bytes, 0);
  if (others) parts.push([others, '']);
  return squarified(parts.map(([bytes]) => bytes), width, height).map(([x, y, wide, tall], n) => {
    const part = node('span', { class: parts[n][1] || 'group' });
    for (const [key, pixels] of [['left', x + 3], ['top', y + 33], ['width', wide], ['height', tall]]) part.style[key] = pixels.toFixed(1) + 'px';
    return part;
  });
}

function openScope(scope) {
  state.scope = scope;
  drawTree();
  remember({ scope: scope.join('/') });
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
  const crumb = (name, scope) => node('button', { type: 'button', onclick: () => { openScope(scope); } }, name);
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
    // If the parts of a scope are drawn, its box is only their frame.
    const nested = !single && child && wide > 60 && tall > 60;
    const kind = single ? single.role : child && !nested ? roleOf(child) || 'mixed' : 'group';
    const button = node('button', {
      type: 'button', class: kind, title: name + ', ' + units(bytes),
      onclick: () => {
        if (single) select(single.id);
        else if (child) { openScope([...path, child.name]); el('scope').lastChild.focus(); }
      },
    }, node('div', {}, wide > 50 && tall > 12 ? name + (tall > 26 ? '\n' + units(bytes) : '') : ''));
    if (single) {
      button.dataset.id = single.id;
      button.addEventListener('pointerenter', () => light(single.id));
      button.addEventListener('pointerleave', () => light(null));
    }
    if (nested) {
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

// The role of the buffers of a scope, if all have the same.
function roleOf(scope) {
  const roles = new Set([...scope.buffers.map(buffer => buffer.role), ...[...scope.children.values()].map(roleOf)]);
  return roles.size === 1 ? roles.values().next().value : '';
}

// The buffer of a scope that has exactly one.
function only(scope) {
  while (scope.buffers.length === 0 && scope.children.size === 1) scope = scope.children.values().next().value;
  return scope.buffers.length === 1 && scope.children.size === 0 ? scope.buffers[0] : null;
}

function markTree() {
  for (const button of el('tree').children) button.classList.toggle('on', button.dataset.id === String(state.selected));
}

