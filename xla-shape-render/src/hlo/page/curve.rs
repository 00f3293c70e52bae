//! The memory that is live while a program runs, as a curve that answers.

use super::detail::Detail;
use crate::web::{escape, json_script};
use crate::words::{InUnits, shortened};
use serde::Serialize;
use std::fmt::Write as _;
use xla_shape_hlo::Timeline;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 220.0;
/// The room above the peak, for its name.
const TOP: f64 = 24.0;
const BOTTOM: f64 = HEIGHT - 16.0;

/// What the script knows of a curve.
#[derive(Serialize)]
struct Data {
    steps: usize,
    width: f64,
    /// The column with the peak.
    peak: usize,
    columns: Vec<Column>,
    values: Vec<Value>,
}

#[derive(Serialize)]
struct Column {
    step: usize,
    name: String,
    bytes: u64,
    units: String,
}

#[derive(Serialize)]
struct Value {
    name: String,
    shape: String,
    bytes: u64,
    units: String,
    made: usize,
    last: usize,
}

// Writing to memory does not fail.
/// Adds the curve of one memory space, if anything is ever live there.
pub(super) fn draw(body: &mut String, timeline: &Timeline<'_, '_>, space: u8, detail: Detail) {
    let Some(bytes) = timeline.bytes().get(&space) else { return };
    let Some(peak) = timeline.peak_step(space) else { return };
    let Some(&most) = bytes.get(peak).filter(|most| **most > 0) else { return };
    let per_column = bytes.len().div_ceil(detail.columns);
    let columns = bytes.chunks(per_column).zip((0..).step_by(per_column)).filter_map(|(chunk, first)| {
        let fullest = chunk.iter().enumerate().reduce(|most, step| if step.1 > most.1 { step } else { most });
        let (offset, &bytes) = fullest?;
        let step = first + offset;
        let name = shortened(timeline.instructions().get(step)?.name(), detail.text).into_owned();
        Some(Column { step, name, bytes, units: InUnits(bytes).to_string() })
    });
    let columns = columns.collect::<Vec<_>>();
    let width = WIDTH / columns.len() as f64;
    let y = |bytes: u64| BOTTOM - (BOTTOM - TOP) * bytes as f64 / most as f64;

    let mut path = format!("M0 {BOTTOM}");
    for column in &columns {
        let _ = write!(path, "V{:.1}h{width:.3}", y(column.bytes));
    }
    let _ = write!(path, "V{BOTTOM}Z");
    let peak = peak / per_column;
    let x = width * (peak as f64 + 0.5);
    let anchor = if x > WIDTH / 2.0 { ("end", x - 8.0) } else { ("start", x + 8.0) };
    let label = format!("{} at %{}", InUnits(most), columns[peak].name);
    let _ = writeln!(
        body,
        "<h3>Live memory, instruction by instruction</h3>\n\
         <svg class=\"curve\" data-space=\"{space}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"slider\" tabindex=\"0\" \
         aria-label=\"Live bytes: {label}\" aria-valuemin=\"0\" aria-valuemax=\"{}\" aria-valuenow=\"{peak}\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/><path d=\"{path}\" fill=\"#99DDFF\" stroke=\"#000\"/>\n\
         <line x1=\"0\" x2=\"{WIDTH}\" y1=\"{TOP}\" y2=\"{TOP}\" stroke=\"#000\" stroke-dasharray=\"6 4\"/>\n\
         <circle class=\"peak\" cx=\"{x:.1}\" cy=\"{TOP}\" r=\"5\" fill=\"#EE8866\" stroke=\"#000\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\">{label}</text>\n\
         <text x=\"2\" y=\"{:.1}\">first instruction</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">last of {}</text>\n\
         <rect class=\"at\" y=\"0\" width=\"{:.2}\" height=\"{BOTTOM}\" x=\"{:.2}\"/>\n</svg>\n\
         <div class=\"live\" data-space=\"{space}\"></div>",
        columns.len() - 1,
        anchor.1,
        TOP - 8.0,
        anchor.0,
        HEIGHT - 3.0,
        WIDTH - 2.0,
        HEIGHT - 3.0,
        bytes.len(),
        width.max(2.0),
        width * peak as f64,
        label = escape(&label),
    );

    let mut values = timeline.lifetimes().iter().collect::<Vec<_>>();
    values.retain(|value| value.buffer.memory_space() == space && value.buffer.footprint.bytes > 0);
    values.sort_by_key(|value| std::cmp::Reverse(value.buffer.footprint.bytes));
    let values = values.into_iter().take(detail.values).map(|value| Value {
        name: shortened(value.buffer.instruction.name(), detail.text).into_owned(),
        shape: shortened(&value.buffer.array.to_string(), detail.text).into_owned(),
        bytes: value.buffer.footprint.bytes,
        units: InUnits(value.buffer.footprint.bytes).to_string(),
        made: value.made,
        last: value.last_use,
    });
    let data = Data { steps: bytes.len(), width, peak, columns, values: values.collect() };
    body.push_str(&json_script(&format!("class=\"curve-data\" data-space=\"{space}\""), &data));
}

pub(super) const STYLE: &str = "\
h3{font-size:14px;margin:16px 0 4px}
.curve{border:1px solid #999;cursor:crosshair}
.curve .at{fill:#000;opacity:.35;pointer-events:none}
.live{font-size:13px}
.live table{border-collapse:collapse;font-family:ui-monospace,monospace}
.live td{padding:1px 12px 1px 0;overflow-wrap:anywhere}
.live td:first-child{text-align:right;white-space:nowrap}
@media print{.curve .at{display:none}#info{position:static}}
";

/// Knows nothing about shapes: it shows the data of the column that is pointed at.
pub(super) const SCRIPT: &str = r"
for (const svg of document.querySelectorAll('svg.curve')) {
  const of = name => document.querySelector(name + '[data-space=\'' + svg.dataset.space + '\']');
  const data = JSON.parse(of('.curve-data').textContent), list = of('.live'), at = svg.querySelector('.at');
  const column = event => {
    const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    return Math.min(data.columns.length - 1, Math.max(0, Math.floor(x / data.width)));
  };
  const tell = n => {
    const c = data.columns[n];
    at.setAttribute('x', n * data.width);
    info.textContent = 'Instruction ' + (c.step + 1) + ' of ' + data.steps + ', %' + c.name + ': ' + c.bytes +
      ' bytes live (' + c.units + ')';
  };
  const show = n => {
    const c = data.columns[n];
    const live = data.values.filter(v => v.made <= c.step && c.step <= v.last);
    const others = c.bytes - live.reduce((sum, v) => sum + v.bytes, 0);
    const p = document.createElement('p'), table = document.createElement('table');
    p.textContent = 'Live at %' + c.name + ' (' + c.units + '):';
    for (const v of live) {
      const row = table.insertRow();
      for (const text of [v.units, '%' + v.name, v.shape]) row.insertCell().textContent = text;
    }
    if (others > 0) {
      const row = table.insertRow();
      row.insertCell().textContent = others + ' B';
      row.insertCell().textContent = 'smaller values, and those of loops, calls and branches';
    }
    list.replaceChildren(p, table);
  };
  let pinned = data.peak;
  svg.addEventListener('mousemove', event => tell(column(event)));
  svg.addEventListener('mouseleave', () => at.setAttribute('x', pinned * data.width));
  const pin = n => { pinned = n; tell(n); show(n); svg.setAttribute('aria-valuenow', n); };
  svg.addEventListener('click', event => pin(column(event)));
  svg.addEventListener('keydown', event => {
    const last = data.columns.length - 1;
    const n = { ArrowLeft: pinned - 1, ArrowRight: pinned + 1, PageUp: pinned - 10, PageDown: pinned + 10, Home: 0, End: last }[event.key];
    if (n === undefined) return;
    event.preventDefault();
    pin(Math.min(last, Math.max(0, n)));
  });
  show(pinned);
}
";
