//! What the values of a program take in memory, as a page: a map whose areas are bytes, and a curve of what is live.

use super::html::ROVE;
use super::svg::{escape, hatching};
use super::words::{Factor, InUnits, count, shortened, space_name};
use super::{MAX_PAGE, curve};
use std::fmt::Write as _;
use xla_shape::hlo::{Buffer, Memory, Module, Timeline};

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

/// How much a page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Detail {
    spaces: usize,
    /// How many values of a memory space have an area of their own, and a lifetime that the page knows.
    pub(super) values: usize,
    /// How many columns a curve has; of more steps, each column shows the fullest of its own.
    pub(super) columns: usize,
    /// How many characters of a name or a shape are shown.
    pub(super) text: usize,
}

impl Detail {
    const MOST: Self = Self { spaces: 128, values: 250, columns: 400, text: 1000 };

    /// A little less; in the end one space with one value.
    fn smaller(self) -> Self {
        let less = |number: usize, least: usize| (number * 3 / 4).max(least);
        Self {
            spaces: less(self.spaces, 1),
            values: less(self.values, 1),
            columns: less(self.columns, 1),
            text: less(self.text, 40),
        }
    }
}

/// A page of a bearable size; it needs nothing but itself. `only` picks a memory space.
pub(crate) fn page(module: &Module<'_>, only: Option<u8>) -> String {
    let memory = module.memory();
    let timeline = memory.timeline();
    let name = module.name().unwrap_or("module");
    let mut detail = Detail::MOST;
    loop {
        let page = page_with(name, &memory, timeline.as_ref(), only, detail);
        // One value always fits, since texts are shortened.
        if page.len() <= MAX_PAGE {
            return page;
        }
        detail = detail.smaller();
    }
}

fn page_with(
    name: &str,
    memory: &Memory<'_, '_>,
    timeline: Option<&Timeline<'_, '_>>,
    only: Option<u8>,
    detail: Detail,
) -> String {
    let peaks = timeline.map(Timeline::peaks);
    let ranked = memory.largest(memory.buffers().len());
    let title = escape(&shortened(name, detail.text));
    let mut body = String::new();
    let mut spaces = memory.usage().into_keys().collect::<Vec<_>>();
    spaces.retain(|space| only.is_none_or(|only| only == *space));
    // Writing to memory does not fail.
    for &space in spaces.iter().take(detail.spaces) {
        let here = |buffer: &&Buffer<'_, '_>| buffer.memory_space() == space && buffer.footprint.bytes > 0;
        let mut buffers = ranked.iter().filter(here).copied().collect::<Vec<_>>();
        let all = buffers.len();
        let total = buffers.iter().fold(0_usize, |sum, buffer| sum.saturating_add(buffer.footprint.bytes));
        buffers.truncate(detail.values);
        let peak = peaks.as_ref().and_then(|peaks| peaks.get(&space));
        let _ = write!(
            body,
            "<h2>{}</h2>\n<p>{}, {} as if each had its own memory",
            escape(&space_name(space)),
            count(all, "value", "values"),
            InUnits(total)
        );
        if let Some(peak) = peak {
            let (bytes, at) = (InUnits(peak.bytes), escape(&shortened(peak.at.name(), detail.text)));
            let _ = write!(body, "; at most {bytes} at one time, at <code>%{at}</code>");
        }
        if all > detail.values {
            let _ = write!(body, "; the {} largest are shown", detail.values);
        }
        let _ = writeln!(body, ".</p>");
        map(&mut body, &buffers, detail);
        if let Some(timeline) = timeline {
            curve::draw(&mut body, timeline, space, detail);
        }
    }
    if spaces.len() > detail.spaces {
        let more = count(spaces.len() - detail.spaces, "more memory space is", "more memory spaces are");
        let _ = writeln!(body, "<p>{more} not shown; <code>--space</code> picks one.</p>");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Memory of {title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{curve_style}</style>\n</head>\n<body>\n\
         <svg style=\"position:absolute;width:0;height:0\" aria-hidden=\"true\">{hatching}</svg>\n<h1>{title}</h1>\n\
         <output id=\"info\" aria-live=\"polite\">Point at a value, or walk from one to the next with the arrow keys. The \
         area is its bytes, hatched as far as they are padding; parameters are yellow. Below, click into the curve, or walk \
         in it, to list what is live.</output>\n{body}\
         <script>\n{ROVE}{SCRIPT}{curve_script}</script>\n</body>\n</html>\n",
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
.map{overflow:visible}
.v text{paint-order:stroke;stroke:#fff;stroke-width:2px}
.v>rect:first-child{stroke:#000}
.v:hover>rect:first-child,.v:focus>rect:first-child{stroke-width:3}
.v:focus{outline:none}
";

const SCRIPT: &str = "
const info = document.getElementById('info');
for (const map of document.querySelectorAll('svg.map')) {
  const values = [...map.querySelectorAll('.v')];
  rove(values);
  for (const value of values) {
    for (const event of ['mouseenter', 'focus']) {
      value.addEventListener(event, () => { info.textContent = value.getAttribute('aria-label'); });
    }
  }
}
";

fn map(body: &mut String, buffers: &[Buffer<'_, '_>], detail: Detail) {
    let sizes = buffers.iter().map(|buffer| buffer.footprint.bytes as f64).collect::<Vec<_>>();
    let areas = squarified(&sizes, Area { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT });
    let _ = writeln!(
        body,
        "<svg class=\"map\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"Values by size\">"
    );
    for (buffer, area) in buffers.iter().zip(areas) {
        let Area { x, y, width, height } = area;
        let footprint = buffer.footprint;
        let padding = footprint.padding_bytes();
        let name = shortened(buffer.instruction.name(), detail.text);
        let array = buffer.array.to_string();
        let expansion = footprint.expansion().map_or(String::new(), |expansion| format!(", {}", Factor(expansion)));
        let tell = format!(
            "%{name} ({}): {}, {} bytes, {padding} of them padding{expansion}",
            buffer.instruction.opcode(),
            shortened(&array, detail.text),
            footprint.bytes
        );
        let is_parameter = buffer.instruction.opcode() == xla_shape::hlo::Opcode::Parameter;
        let fill = if is_parameter { PARAMETER_FILL } else { FILL };
        let _ = write!(
            body,
            "<g class=\"v\" role=\"img\" aria-label=\"{}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
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
    use super::{Area, Detail, MAX_PAGE, page, squarified};
    use std::fmt::Write as _;
    use xla_shape::hlo::Module;

    #[test]
    fn pages_are_small() {
        let detail = (0..60).fold(Detail::MOST, |detail, _| detail.smaller());
        assert_eq!(detail, Detail { spaces: 1, values: 1, columns: 1, text: 40 }, "ends where all programs fit");
        // Many values in many memory spaces, with long names.
        let name = "long.".repeat(100);
        let mut text = format!("HloModule {}, is_scheduled=true\n\nENTRY main {{\n", "m".repeat(400_000));
        text.push_str("  %p = f32[8,100]{1,0:T(8,128)} parameter(0)\n");
        for number in 0..1_000 {
            let space = number % 50;
            writeln!(text, "  %{name}{number} = f32[8,100]{{1,0:T(8,128)S({space})}} copy(%p)").unwrap();
        }
        text.push_str("  ROOT %r = f32[8,100]{1,0:T(8,128)} negate(%p)\n}\n");
        let module = Module::parse(&text).unwrap();
        let all = page(&module, None);
        assert!(all.len() <= MAX_PAGE && all.contains("more memory spaces are not shown"), "{} bytes", all.len());
        let one = page(&module, Some(3));
        assert!(one.len() <= MAX_PAGE && one.contains("20 values") && !one.contains("not shown"));
    }

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
