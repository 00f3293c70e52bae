//! What the values of a program take in memory, as a page: a map whose areas are bytes, and a curve of what is live.

mod curve;
mod detail;
mod treemap;

use crate::web::{MAX_PAGE, ROVE, document, escape, hatching};
use crate::words::{InUnits, count, shortened, space_name};
use detail::Detail;
use std::fmt::Write as _;
use xla_shape_hlo::{Buffer, Memory, Module, Timeline};

/// A page of a bearable size; it needs nothing but itself. `only` picks a memory space.
#[must_use]
pub fn page(module: &Module<'_>, only: Option<u8>) -> String {
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
    let title = shortened(name, detail.text);
    let mut body = String::new();
    let mut spaces = memory.usage().into_keys().collect::<Vec<_>>();
    spaces.retain(|space| only.is_none_or(|only| only == *space));
    // Writing to memory does not fail.
    for &space in spaces.iter().take(detail.spaces) {
        let here = |buffer: &&Buffer<'_, '_>| buffer.memory_space() == space && buffer.footprint.bytes > 0;
        let mut buffers = ranked.iter().filter(here).copied().collect::<Vec<_>>();
        let all = buffers.len();
        let total = buffers.iter().fold(0_u64, |sum, buffer| sum.saturating_add(buffer.footprint.bytes));
        buffers.truncate(detail.values);
        let peak = peaks.as_ref().and_then(|peaks| peaks.get(&space));
        let _ = write!(
            body,
            "<h2>{}</h2>\n<p>{}, {} as if each had its own memory",
            escape(&space_name(space)),
            count(all as u64, "value", "values"),
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
        treemap::draw(&mut body, &buffers, detail);
        if let Some(timeline) = timeline {
            curve::draw(&mut body, timeline, space, detail);
        }
    }
    if spaces.len() > detail.spaces {
        let more = count((spaces.len() - detail.spaces) as u64, "more memory space is", "more memory spaces are");
        let _ = writeln!(body, "<p>{more} not shown; <code>--space</code> picks one.</p>");
    }
    let style = format!("{STYLE}{}", curve::STYLE);
    let hatching = hatching();
    let body = format!(
        "<svg style=\"position:absolute;width:0;height:0\" aria-hidden=\"true\">{hatching}</svg>\n<h1>{}</h1>\n\
         <output id=\"info\" aria-live=\"polite\">Point at a value, or walk from one to the next with the arrow keys. The \
         area is its bytes, hatched as far as they are padding; parameters are yellow. Below, click into the curve, or walk \
         in it, to list what is live.</output>\n{body}",
        escape(&title)
    );
    let script = format!("{ROVE}{SCRIPT}{}", curve::SCRIPT);
    document(&format!("Memory of {title}"), &style, &body, &script)
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

#[cfg(test)]
mod tests {
    use super::{MAX_PAGE, page};
    use std::fmt::Write as _;
    use xla_shape_hlo::Module;

    #[test]
    fn pages_are_small() {
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
}
