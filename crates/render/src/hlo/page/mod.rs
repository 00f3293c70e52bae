//! The memory of a program as an interactive page.
//!
//! The page shows the live bytes over time, the offsets of buffers, the bytes by scope, all buffers in a table, and for the selected one,
//! the graph around its instruction. Scripts draw all of this from the same data.

mod data;

use super::graph;
use crate::web::{PLOTS, Page, asset, element, elements, escape, fill, json_script, made, needs_javascript};
use crate::{Show, words::shortened};
use data::{Data, Detail, Shown};
use xla_shape_answers::hlo::Report;
use xla_shape_hlo::Module;
use xla_shape_program::ProgramMemory;

/// The most bytes of a page; a page has fewer buffers until it fits.
const MAX_PAGE: usize = 5_000_000;
/// The width of the report in the page, in characters.
const REPORT_WIDTH: usize = 100;
/// The longest report that a page shows, in characters.
const MAX_REPORT: usize = 200_000;

/// A page about the memory of a program. It contains the report, which must be about the same memory. `only` picks a
/// memory space. The page has no external resources.
///
/// The page has at most 5 MB. For a large program, it has the buffers that are live at the peak and then the largest ones, and draws
/// the others as a sum.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_answers::hlo::Report;
/// use xla_shape_render::hlo::page;
///
/// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?);
/// let memory = program.memory(None);
/// let html = page(&memory, &Report::new(&memory, None, 10, None), None);
/// assert!(html.starts_with("<!doctype html>") && html.contains("Memory of m"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn page(memory: &ProgramMemory<'_>, report: &Report, only: Option<u8>) -> String {
    let module = memory.program().module();
    let shown = Shown::new(memory, report);
    let report = report.text(REPORT_WIDTH).to_string();
    let mut detail = Detail::MOST;
    loop {
        let page = page_with(&Data::new(&shown, only, detail), module, &report);
        // This ends: one buffer of each space always fits, because texts are shortened.
        if page.len() <= MAX_PAGE {
            return page;
        }
        detail = detail.smaller();
    }
}

fn page_with(data: &Data, module: &Module, report: &str) -> String {
    let title = shortened(module.name().unwrap_or("module"), 200);
    let report = escape(&shortened(report, MAX_REPORT));
    let body = fill(include_str!("page.html"), &[("report", report), ("graph", graph::ELEMENTS.to_owned())]);
    let end = elements()
        .with(element("div").id("tip").attribute("role", "tooltip").attribute("hidden", ""))
        .with(needs_javascript())
        .with(json_script("data", data));
    let title = format!("Memory of {title}");
    Page {
        title: &title,
        heading: &title,
        bar: element("nav").id("spaces").attribute("aria-label", "Memory spaces"),
        main: made(body),
        end,
        style: &[PLOTS, asset!("page.css"), graph::STYLE],
        script: &[
            graph::DRAW,
            asset!("page.js"),
            asset!("plots.js"),
            asset!("scopes.js"),
            asset!("table.js"),
            asset!("selected.js"),
        ],
    }
    .html()
}

#[cfg(test)]
mod tests {
    use super::{Data, Detail, MAX_PAGE, Shown, page};
    use std::fmt::Write as _;
    use xla_shape_answers::hlo::Report;
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    fn page_of(text: &str, only: Option<u8>) -> String {
        let program = Program::from(Module::parse(text).unwrap());
        let memory = program.memory(None);
        page(&memory, &Report::new(&memory, None, 10, only), only)
    }

    #[test]
    fn pages_are_small() {
        let detail = (0..60).fold(Detail::MOST, |detail, _| detail.smaller());
        assert_eq!(detail, Detail { buffers: 1, nodes: 1, columns: 1, text: 40 }, "ends where all programs fit");
        // Many values in many memory spaces, with long names.
        let name = "long.".repeat(100);
        let mut text = format!("HloModule {}, is_scheduled=true\n\nENTRY main {{\n", "m".repeat(400_000));
        text.push_str("  %p = f32[8,100]{1,0:T(8,128)} parameter(0)\n");
        for number in 0..4_000 {
            let space = number % 50;
            writeln!(text, "  %{name}{number} = f32[8,100]{{1,0:T(8,128)S({space})}} copy(%p)").unwrap();
        }
        text.push_str("  ROOT %r = f32[8,100]{1,0:T(8,128)} negate(%p)\n}\n");
        let all = page_of(&text, None);
        assert!(all.len() <= MAX_PAGE, "{} bytes", all.len());
        let one = page_of(&text, Some(3));
        assert!(one.len() <= MAX_PAGE && one.contains("\"count\":80,"));
    }

    /// 10,002 equal buffers; those that are live at the peak are made last.
    #[test]
    fn buffers_at_the_peak_are_kept_and_the_others_are_a_sum() {
        const EARLY: usize = 7_000;
        const LATE: usize = 3_000;
        let array = "f32[80,128]{1,0:T(8,128)}";
        let mut text = format!("HloModule m, is_scheduled=true\n\nENTRY main {{\n  %p = {array} parameter(0)\n");
        let mut line = |name: &str, by: &str| writeln!(text, "  %{name} = {array} {by}").unwrap();
        // The first ones live one after the other, the last ones at the same time.
        for number in 0..EARLY {
            line(
                &format!("early{number}"),
                &format!(
                    "custom-call({}), custom_call_target=\"e\"",
                    if number == 0 { "%p".to_owned() } else { format!("%early{}", number - 1) }
                ),
            );
        }
        for number in 0..LATE {
            line(&format!("late{number}"), &format!("custom-call(%early{}), custom_call_target=\"f\"", EARLY - 1));
        }
        let all = (0..LATE).map(|number| format!("%late{number}")).collect::<Vec<_>>().join(", ");
        line("sum", &format!("custom-call({all}), custom_call_target=\"g\""));
        text.push_str(&format!("  ROOT %r = {array} negate(%sum)\n}}\n"));
        let program = Program::from(Module::parse(&text).unwrap());
        let memory = program.memory(None);
        let report = Report::new(&memory, None, 10, None);
        let detail = Detail { buffers: 4_000, ..Detail::MOST };
        let data = Data::new(&Shown::new(&memory, &report), None, detail);
        let data = serde_json::to_value(&data).unwrap();
        let space = &data["spaces"][0];
        let [count, peak] = ["count", "peak"].map(|field| space[field].as_u64().unwrap());
        assert!(count > 10_000 && data["buffers"].as_array().unwrap().len() == 4_000);
        // At each point of the curve, the buffers in the page and the sum of the others add up to the live bytes.
        let known = |step: u64| -> u64 {
            let buffers = data["buffers"].as_array().unwrap().iter();
            let live = buffers.filter(|buffer| {
                let spans = buffer[11].as_array().unwrap();
                spans.chunks(2).any(|span| span[0].as_u64().unwrap() <= step && step <= span[1].as_u64().unwrap())
            });
            live.map(|buffer| buffer[4].as_u64().unwrap()).sum()
        };
        let rest = space["rest"]["curve"].as_array().unwrap();
        for (place, point) in space["curve"].as_array().unwrap().iter().enumerate() {
            let [step, bytes] = [0, 1].map(|field| point[field].as_u64().unwrap());
            let left = rest.get(place).map_or(0, |bytes| bytes.as_u64().unwrap());
            assert_eq!(known(step) + left, bytes, "step {step}");
            if step == peak {
                assert_eq!(left, 0);
            }
        }
        assert_eq!(space["rest"]["count"], count - 4_000);
        assert!(
            rest.iter().any(|bytes| bytes.as_u64() > Some(0))
                && !space["rest"]["places"].as_array().unwrap().is_empty()
        );
    }

    /// Names come from files: they must not become markup or end a script.
    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</script><script>alert(1)</script><!--&amp;<img src=x onerror=alert(1)>";
        let text = format!(
            "HloModule m, is_scheduled=true\nENTRY e {{\n  p = f32[8]{{0}} parameter(0), metadata={{op_name=\"{hostile}\" \
             source_file=\"{hostile}\" source_line=1}}\n  ROOT %q = f32[8]{{0}} negate(p), metadata={{op_name=\"{hostile}\"}}\n}}\n"
        );
        let page = page_of(&text, None);
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<!--") && !page.contains("<img") && page.contains("\\u003cscript>alert(1)"), "{page}");
    }
}
