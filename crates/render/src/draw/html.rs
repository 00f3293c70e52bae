//! A drawing as a page: the SVG, with the index and position of every cell.

use super::svg;
use crate::web::{Page, element, elements, hatching_of_page};
use xla_shape_answers::draw::Picture;

/// The page, without external resources.
pub(super) fn page(picture: &Picture) -> String {
    let last = picture.runs.iter().map(Vec::len).sum::<usize>().saturating_sub(1);
    let planes = svg::planes(picture).map(|row| {
        let planes = row.into_iter().map(|plane| plane.alone(svg::POSITIONS));
        element("div").class("row").with_all(planes)
    });
    let more = svg::more_planes(picture).map(|more| element("p").text(more));
    let positions = element("section").with(element("h2").text(svg::POSITIONS)).with_all(planes).with_all(more);
    let memory = svg::memory(picture).alone(svg::MEMORY);
    let memory = element("section").with(element("h2").text(svg::MEMORY)).with(memory);
    let main = elements()
        .with(hatching_of_page())
        .with(element("div").class("views").with(positions).with(memory))
        .with(element("p").whole_text(svg::legend(picture)));
    let slider = element("input").id("walk").attribute("type", "range").attribute("min", 0).attribute("max", last);
    let bar = element("div")
        .id("bar")
        .with(element("label").attribute("for", "walk").text("Walk through memory"))
        .with(slider.attribute("value", 0))
        .with(element("output").id("info").attribute("aria-live", "polite").text(HINT));
    let title = svg::title(picture);
    Page { title: &title, heading: &title, bar, main, style: &[&svg::fills()], script: &[SCRIPT], ..Page::default() }
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
