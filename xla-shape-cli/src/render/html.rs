//! A picture as a page of its own: the SVG, with answers about every cell.

use super::MAX_PAGE;
use super::picture::{Picture, Window};
use super::svg::{self, escape};
use xla_shape::{ArrayShape, StrideTableError};

/// As much of the array as a page of a bearable size can show, and that page.
///
/// # Errors
/// As of [`Picture::new`].
pub(crate) fn fitting(array: &ArrayShape) -> Result<(Picture, String), StrideTableError> {
    let mut window = Window::PAGE;
    loop {
        let picture = Picture::new(array, window)?;
        let page = page(&picture);
        // A single cell always fits, since texts are shortened.
        if page.len() <= MAX_PAGE {
            return Ok((picture, page));
        }
        window = window.smaller();
    }
}

/// The page; it needs nothing but itself.
fn page(picture: &Picture) -> String {
    let title = escape(&svg::title(picture));
    let last = picture.runs.iter().map(Vec::len).sum::<usize>().saturating_sub(1);
    let drawing = svg::draw(picture);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<div id=\"bar\">\n\
         <label for=\"walk\">Walk through memory</label>\n\
         <input id=\"walk\" type=\"range\" min=\"0\" max=\"{last}\" value=\"0\">\n\
         <output id=\"info\" aria-live=\"polite\">{HINT}</output>\n</div>\n<main>\n{drawing}</main>\n\
         <script>\n{ROVE}{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

const HINT: &str = "Point at a cell, click to follow it, or walk with the slider or the arrow keys.";

const STYLE: &str = "\
html{scroll-padding-top:64px}
body{margin:0;font:14px system-ui,sans-serif;color:#000;background:#fff}
#bar{position:sticky;top:0;background:#f4f4f4;border-bottom:1px solid #999;padding:8px 16px;display:flex;gap:12px;\
align-items:center;flex-wrap:wrap}
#walk{width:260px}
#info{font-family:ui-monospace,monospace;white-space:pre}
main{overflow-x:auto}
.c{cursor:pointer}
.c:focus{outline:none}
.c.on rect{stroke:#000;stroke-width:3}
.c.pin rect{stroke:#000;stroke-width:3;stroke-dasharray:4 2}
@media print{#bar{display:none}main svg{width:100%;height:auto}}
";

/// Makes one of many items a tab stop, and has the arrow keys go to the nearest in their direction.
pub(super) const ROVE: &str = r"'use strict';
function rove(items) {
  const middle = item => { const r = item.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
  items.forEach((item, n) => {
    item.setAttribute('tabindex', n ? -1 : 0);
    item.addEventListener('focus', () => {
      for (const other of items) other.setAttribute('tabindex', other === item ? 0 : -1);
    });
    item.addEventListener('keydown', event => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!way) return;
      event.preventDefault();
      const [x, y] = middle(item);
      let nearest = null, least = Infinity;
      for (const other of items) {
        const [a, b] = middle(other).map((to, axis) => to - [x, y][axis]);
        const along = a * way[0] + b * way[1], far = along + 2 * Math.abs(a * way[1] + b * way[0]);
        if (along > 1 && far < least) [nearest, least] = [other, far];
      }
      if (nearest) nearest.focus();
    });
  });
}
";

/// Knows nothing about shapes: it finds cells of the same position and shows what they carry.
const SCRIPT: &str = r#"
const info = document.getElementById('info'), walk = document.getElementById('walk');
const cells = [...document.querySelectorAll('.c')];
const at = new Map();
for (const cell of cells) {
  const p = cell.dataset.p;
  if (!at.has(p)) at.set(p, []);
  at.get(p).push(cell);
}
const order = [...at.keys()].sort((a, b) => { const d = BigInt(a) - BigInt(b); return d < 0n ? -1 : d > 0n ? 1 : 0; });
const step = new Map(order.map((p, n) => [p, n]));
let pinned = null;
function mark(name, p) {
  for (const cell of document.querySelectorAll('.c.' + name)) cell.classList.remove(name);
  for (const cell of at.get(p) || []) cell.classList.add(name);
}
function what(p) {
  const d = at.get(p)[0].dataset;
  const content = d.i === undefined ? 'padding' : 'element ' + (d.i === '[]' ? d.i : '[' + d.i + ']');
  const bit = d.o === undefined ? '' : ', bit ' + d.o;
  const tile = d.t === undefined ? '' : ', tile [' + d.t + ']';
  return content + ' at position ' + p + ', byte ' + d.b + bit + tile;
}
function show(p) { mark('on', p); info.textContent = what(p); walk.value = step.get(p); }
rove(cells);
document.querySelector('main svg').setAttribute('role', 'group');
for (const cell of cells) {
  const p = cell.dataset.p;
  cell.setAttribute('role', 'button');
  cell.setAttribute('aria-label', what(p));
  cell.addEventListener('focus', () => show(p));
  cell.addEventListener('mouseenter', () => show(p));
  cell.addEventListener('mouseleave', () => { if (pinned !== null) show(pinned); });
  const follow = () => {
    pinned = pinned === p ? null : p;
    mark('pin', pinned);
    show(p);
    const other = at.get(p).find(twin => twin !== cell);
    if (pinned !== null && other) other.scrollIntoView({ block: 'center', inline: 'center', behavior: 'smooth' });
  };
  cell.addEventListener('click', follow);
  cell.addEventListener('keydown', event => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    follow();
  });
}
walk.addEventListener('input', () => show(order[walk.value]));
"#;
