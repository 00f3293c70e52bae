//! A drawing as a page: the SVG, with the index and position of every cell.

use super::svg;
use crate::web::{Page, escape, hatching_of_page};
use xla_shape_answers::draw::Picture;

/// The page, without external resources.
pub(super) fn page(picture: &Picture) -> String {
    let last = picture.runs.iter().map(Vec::len).sum::<usize>().saturating_sub(1);
    let mut planes = String::new();
    for row in svg::planes(picture) {
        planes.push_str("<div class=\"row\">\n");
        row.iter().for_each(|plane| planes.push_str(&plane.alone(svg::POSITIONS)));
        planes.push_str("</div>\n");
    }
    if let Some(more) = svg::more_planes(picture) {
        planes += &format!("<p>{}</p>\n", escape(&more));
    }
    let main = format!(
        "{hatching}<div class=\"views\">\n<section>\n<h2>{positions}</h2>\n{planes}</section>\n\
         <section>\n<h2>{memory}</h2>\n{in_memory}</section>\n</div>\n<p>{legend}</p>\n",
        hatching = hatching_of_page(),
        positions = svg::POSITIONS,
        memory = svg::MEMORY,
        in_memory = svg::memory(picture).alone(svg::MEMORY),
        legend = escape(&svg::legend(picture)),
    );
    let bar = format!(
        "<div id=\"bar\">\n<label for=\"walk\">Walk through memory</label>\n\
         <input id=\"walk\" type=\"range\" min=\"0\" max=\"{last}\" value=\"0\">\n\
         <output id=\"info\" aria-live=\"polite\">{HINT}</output>\n</div>\n"
    );
    let title = svg::title(picture);
    Page {
        title: &title,
        heading: &title,
        bar: &bar,
        main: &main,
        style: &svg::fills(),
        script: SCRIPT,
        ..Page::default()
    }
    .html()
}

const HINT: &str = "Point at a cell, click to follow it, or walk with the slider or the arrow keys.";

/// The script knows no rule about shapes: it finds the cells with the same position and shows their attributes.
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
let pinned = null, now = null;
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
function show(p) { now = p; mark('on', p); info.textContent = what(p); walk.value = step.get(p); }
rove(cells);
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
    remember({ at: pinned ?? '' });
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
const go = way => {
  const next = order[Math.min(order.length - 1, Math.max(0, (step.get(now) ?? -1) + way))];
  show(next);
  remember({ at: next });
};
walk.addEventListener('input', () => { show(order[walk.value]); remember({ at: order[walk.value] }); });
keyList.push(['← → ↑ ↓', 'from cell to cell'], ['Enter', 'follow the cell']);
onKey('n', 'the next position in memory', () => go(1));
onKey('p', 'the one before', () => go(-1));
onKey('Esc', 'follow nothing', () => {
  pinned = null;
  mark('pin', null);
  remember({ at: '' });
});
function openLink() {
  const p = link.get('at');
  if (!at.has(p)) return;
  pinned = p;
  mark('pin', p);
  show(p);
  at.get(p)[0].scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
whenLinked.push(openLink);
openLink();
"#;
