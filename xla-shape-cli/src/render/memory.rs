//! What the values of a program take in memory, as a page: a map whose areas are bytes, and a curve of what is live.

use super::curve;
use super::svg::{escape, hatching};
use super::words::{Factor, InUnits, space_name};
use std::fmt::Write as _;
use xla_shape::hlo::{Buffer, Module};

/// How many values have an area of their own.
const SHOWN: usize = 250;
const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 560.0;
/// Pale enough for black text; one for each kind of operation that comes first.
const FILL: &str = "#99DDFF";
const PARAMETER_FILL: &str = "#EEDD88";

/// A rectangle, in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// The page; it needs nothing but itself. `only` picks a memory space.
pub(crate) fn page(module: &Module<'_>, only: Option<u8>) -> String {
    let memory = module.memory();
    let timeline = memory.timeline();
    let peaks = timeline.as_ref().map(|timeline| timeline.peaks());
    let title = escape(module.name().unwrap_or("module"));
    let mut body = String::new();
    // Writing to memory does not fail.
    for space in memory.usage().into_keys().filter(|space| only.is_none_or(|only| only == *space)) {
        let mut buffers = memory.largest(memory.buffers().len());
        buffers.retain(|buffer| buffer.memory_space() == space && buffer.footprint.bytes > 0);
        let all = buffers.len();
        let total = buffers.iter().fold(0_usize, |sum, buffer| sum.saturating_add(buffer.footprint.bytes));
        buffers.truncate(SHOWN);
        let peak = peaks.as_ref().and_then(|peaks| peaks.get(&space));
        let _ = write!(
            body,
            "<h2>{}</h2>\n<p>{all} values, {} as if each had its own memory",
            escape(&space_name(space)),
            InUnits(total)
        );
        if let Some(peak) = peak {
            let (bytes, at) = (InUnits(peak.bytes), escape(peak.at.name()));
            let _ = write!(body, "; at most {bytes} at one time, at <code>%{at}</code>");
        }
        if all > SHOWN {
            let _ = write!(body, "; the {SHOWN} largest are shown");
        }
        let _ = writeln!(body, ".</p>");
        map(&mut body, &buffers);
        if let Some(timeline) = &timeline {
            curve::draw(&mut body, timeline, space);
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Memory of {title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{curve_style}</style>\n</head>\n<body>\n\
         <svg style=\"position:absolute;width:0;height:0\" aria-hidden=\"true\">{hatching}</svg>\n<h1>{title}</h1>\n\
         <output id=\"info\" aria-live=\"polite\">Point at a value. The area is its bytes, hatched as far as they are \
         padding; parameters are yellow. Below, click into the curve, or walk in it with the arrow keys, to list what is live.</output>\n{body}<script>\n{SCRIPT}{curve_script}</script>\n</body>\n</html>\n",
        hatching = hatching(),
        curve_style = curve::STYLE,
        curve_script = curve::SCRIPT
    )
}

const STYLE: &str = "\
body{margin:16px;font:14px system-ui,sans-serif;color:#000;background:#fff}
h1{font-size:20px}h2{font-size:16px}
#info{position:sticky;top:0;display:block;background:#f4f4f4;border:1px solid #999;padding:8px;\
font-family:ui-monospace,monospace;overflow-wrap:anywhere}
svg{width:100%;height:auto;font:11px ui-monospace,monospace}
.v>rect:first-child{stroke:#000}
.v:hover>rect:first-child,.v:focus>rect:first-child{stroke-width:3}
";

const SCRIPT: &str = "'use strict';
const info = document.getElementById('info');
for (const value of document.querySelectorAll('.v')) {
  for (const event of ['mouseenter', 'focus']) {
    value.addEventListener(event, () => { info.textContent = value.dataset.tell; });
  }
}
";

fn map(body: &mut String, buffers: &[Buffer<'_, '_>]) {
    let sizes = buffers.iter().map(|buffer| buffer.footprint.bytes as f64).collect::<Vec<_>>();
    let areas = squarified(&sizes, Area { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT });
    let _ = writeln!(body, "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Values by size\">");
    for (buffer, area) in buffers.iter().zip(areas) {
        let Area { x, y, width, height } = area;
        let footprint = buffer.footprint;
        let padding = footprint.padding_bytes();
        let name = buffer.instruction.name();
        let expansion = footprint.expansion().map_or(String::new(), |expansion| format!(", {}", Factor(expansion)));
        let tell = format!(
            "%{name} ({}): {}, {} bytes, {padding} of them padding{expansion}",
            buffer.instruction.opcode(),
            buffer.array,
            footprint.bytes
        );
        let is_parameter = buffer.instruction.opcode() == xla_shape::hlo::Opcode::Parameter;
        let fill = if is_parameter { PARAMETER_FILL } else { FILL };
        let _ = write!(
            body,
            "<g class=\"v\" tabindex=\"0\" data-tell=\"{}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{fill}\"/>",
            escape(&tell)
        );
        if padding > 0 {
            let padded = height * padding as f64 / footprint.bytes as f64;
            let top = y + height - padded;
            let _ = write!(
                body,
                "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{padded:.1}\" fill=\"url(#padding)\"/>"
            );
        }
        let room = ((width - 6.0) / 7.0).max(0.0) as usize;
        if height >= 16.0 && room >= 4 {
            let label = name.chars().take(room).collect::<String>();
            let _ = write!(body, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 3.0, y + 12.0, escape(&label));
        }
        let _ = writeln!(body, "</g>");
    }
    let _ = writeln!(body, "</svg>");
}

/// Cuts an area into parts of these sizes, largest first, as square as rows of them can be (the squarified treemap of
/// Bruls, Huizing and van Wijk).
fn squarified(sizes: &[f64], area: Area) -> Vec<Area> {
    let total = sizes.iter().sum::<f64>();
    let scale = if total > 0.0 { area.width * area.height / total } else { 0.0 };
    let (mut rest, mut left) = (sizes, area);
    let mut areas = Vec::with_capacity(sizes.len());
    while !rest.is_empty() {
        let side = left.width.min(left.height);
        // A row takes as many as make its parts squarer.
        let worst = |count: usize| {
            let row = &rest[..count];
            let sum = row.iter().sum::<f64>() * scale;
            let thickness = sum / side;
            row.iter()
                .map(|size| (size * scale / thickness, thickness))
                .map(|(a, b)| (a / b).max(b / a))
                .fold(0.0, f64::max)
        };
        let mut count = 1;
        while count < rest.len() && worst(count + 1) <= worst(count) {
            count += 1;
        }
        let (row, behind) = rest.split_at(count);
        let thickness = row.iter().sum::<f64>() * scale / side;
        let mut along = 0.0;
        for size in row {
            let length = size * scale / thickness;
            areas.push(if left.width >= left.height {
                Area { x: left.x, y: left.y + along, width: thickness, height: length }
            } else {
                Area { x: left.x + along, y: left.y, width: length, height: thickness }
            });
            along += length;
        }
        if left.width >= left.height {
            left = Area { x: left.x + thickness, width: left.width - thickness, ..left };
        } else {
            left = Area { y: left.y + thickness, height: left.height - thickness, ..left };
        }
        rest = behind;
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::{Area, squarified};

    #[test]
    fn areas_are_as_large_as_their_parts() {
        let whole = Area { x: 0.0, y: 0.0, width: 600.0, height: 400.0 };
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let areas = squarified(&sizes, whole);
        for (size, area) in sizes.iter().zip(&areas) {
            assert!((area.width * area.height - size * 10_000.0).abs() < 1e-6, "{area:?}");
            assert!(area.x >= -1e-9 && area.x + area.width <= 600.0 + 1e-6);
            assert!(area.y >= -1e-9 && area.y + area.height <= 400.0 + 1e-6);
        }
        // The first two of the published example share a column.
        assert_eq!((areas[0].width, areas[0].height), (300.0, 200.0));
    }
}
