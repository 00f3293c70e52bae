//! What changed between two programs, as an HTML page: the figures of both side by side, and why they differ.

use super::text::{answer, in_words, percent};
use crate::times::{growth, reason, times};
use crate::web::{
    Element, MOST, Side, element, elements, hint, left_out, legend, page_of_tables, section, side_by_side, table,
};
use crate::words::{Grouped, InUnits, Signed, count, shortened, value_name};
use xla_shape_answers::hlo::diff::{Cause, Change, Part, Peak};
use xla_shape_answers::hlo::{Difference, Exceeded, Quantity};

/// The differences as an HTML page: the figures of both programs side by side, the memory at the peaks, copies, collectives and fusions
/// that come or go, and values. The exceeded limits come first: `exceeded` is the result of [`exceeded`](Difference::exceeded). The page has
/// no external resources.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_answers::hlo::Difference;
/// use xla_shape_render::hlo::diff::page;
///
/// let text = |size: u32| format!("HloModule m, is_scheduled=true\nENTRY e {{ ROOT p = f32[{size}] parameter(0) }}");
/// let [before, after] = [Module::parse(&text(1024))?, Module::parse(&text(3072))?].map(Program::from);
/// let page = page(&Difference::new(&before.memory(None), &after.memory(None)), &[]);
/// assert!(page.starts_with("<!doctype html>") && page.contains("memory 4 KiB → 12 KiB"), "{page}");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn page(difference: &Difference, exceeded: &[Exceeded]) -> String {
    let [before, after] = difference.programs.each_ref().map(|(name, _)| shortened(name, 200));
    let heading = if before == after { before.into_owned() } else { format!("{before} and {after}") };
    let [before_accuracy, after_accuracy] =
        difference.programs.each_ref().map(|(name, accuracy)| format!(": {name} ({accuracy})"));
    let refused = exceeded.iter().map(|limit| element("p").class("refused").text(limit));
    let unknown = difference.unknown.iter().map(|why| hint(format_args!("The cycles are not compared: {why}")));
    let main = elements()
        .with_all(refused)
        .with(element("p").id("summary").text(with_arrows(&answer(difference))))
        .with(legend(before_accuracy, after_accuracy))
        .with_all(unknown)
        .with_all(measures(difference))
        .with_all(measured_times(difference))
        .with_all(parts(&difference.parts))
        .with_all(peaks(difference))
        .with_all(difference.peaks.iter().filter_map(causes))
        .with_all(totals(difference))
        .with_all(values(&difference.changes));
    page_of_tables(&format!("Comparison of {heading}"), main)
}

fn measures(difference: &Difference) -> Option<Element> {
    let rows = difference.measures.iter().filter(|measured| measured.before.is_some() || measured.after.is_some());
    let rows = rows.map(|measured| {
        let why = if measured.before == measured.after { String::new() } else { measured.cause.to_string() };
        Side {
            name: measured.measure.name().to_owned(),
            numbers: [measured.before, measured.after].map(|number| number.map(Quantity::number)),
            texts: [measured.before, measured.after].map(|number| in_words(measured, number)),
            change: percent(measured).filter(|_| measured.before != measured.after).unwrap_or_default(),
            why,
        }
    });
    side_by_side("measures", "Figures", &rows.collect::<Vec<_>>())
}

fn measured_times(difference: &Difference) -> Option<Element> {
    let rows = difference.times.iter().take(MOST).map(|found| Side {
        name: found.name.clone(),
        numbers: [found.picoseconds_before, found.picoseconds_after],
        texts: times(found),
        change: growth(found),
        why: reason(found),
    });
    side_by_side("times", "Measured times of one run", &rows.collect::<Vec<_>>())
}

fn peaks(difference: &Difference) -> Option<Element> {
    let rows = difference.peaks.iter().map(|peak| {
        let at = |name: &Option<String>| name.as_ref().map_or("no instruction".to_owned(), |name| format!("%{name}"));
        let (before, after) = (at(&peak.at_before), at(&peak.at_after));
        let when = if before == after { before } else { format!("{before}, then {after}") };
        bytes_side(format!("{} at {when}", peak.name), peak.bytes_before, peak.bytes_after, peak.bytes)
    });
    side_by_side("peaks", "Peaks", &rows.collect::<Vec<_>>())
}

fn totals(difference: &Difference) -> Option<Element> {
    let rows = difference.totals.iter().filter(|total| total.bytes_before > 0 || total.bytes_after > 0);
    let rows = rows.map(|total| bytes_side(total.name.to_string(), total.bytes_before, total.bytes_after, total.bytes));
    side_by_side("totals", "Memory", &rows.collect::<Vec<_>>())
}

fn bytes_side(name: String, before: u64, after: u64, bytes: i64) -> Side {
    Side {
        name,
        numbers: [Some(before), Some(after)],
        texts: [before, after].map(|bytes| InUnits(bytes).to_string()),
        change: if bytes == 0 { String::new() } else { Signed(bytes).to_string() },
        why: String::new(),
    }
}

fn parts(parts: &[Part]) -> Option<Element> {
    let entries = parts.iter().take(MOST).map(|part| {
        let amount = part.amount.map_or(String::new(), |amount| format!(", {amount}"));
        let source = part.source.as_ref().map_or(String::new(), |source| format!(", {source}"));
        element("li")
            .with(element("b").text(part.change))
            .text(": ")
            .with(element("code").text(format_args!("%{}", part.name)))
            .text(format_args!("{amount}{source}: {}", part.cause))
            .with(element("p").class("shape").text(with_arrows(&part.shape)))
            .with_all(part.because.iter().map(|because| element("p").text(because)))
            .with_all(
                part.remedy.as_ref().map(|remedy| element("p").class("remedy").text("To remove it: ").text(remedy)),
            )
    });
    let list = element("ul").class("copies").with_all(entries);
    let heading = "Copies, collectives and fusions that come or go";
    (!parts.is_empty()).then(|| section("parts", heading).with(list).with_all(left_out(parts.len())))
}

fn causes(peak: &Peak) -> Option<Element> {
    let rows = peak.because.iter().map(|cause: &Cause| {
        let like = if cause.values == 1 { String::new() } else { count(cause.values as u64, " value", " values") };
        [
            Signed(cause.bytes).to_string(),
            cause.live.to_string(),
            format!("{}{}{like}", value_name(&cause.name, cause.leaf), if like.is_empty() { "" } else { ", " }),
            with_arrows(&cause.shape),
            [&cause.op_name, &cause.source].into_iter().flatten().cloned().collect::<Vec<_>>().join(", "),
        ]
    });
    let heading = format!("What differs at the peak of {}", peak.name);
    table(format_args!("causes{}", peak.space), heading, ["Bytes", "Live", "Value", "Shape", "Source"], 1, rows)
}

/// The arrows of a page, which a terminal may not have.
fn with_arrows(text: &str) -> String {
    text.replace(" -> ", " → ")
}

fn values(changes: &[Change]) -> Option<Element> {
    let bytes = |text: &Option<String>, bytes| text.as_ref().map_or(String::new(), |_| InUnits(bytes).to_string());
    let rows = changes.iter().map(|change| {
        let shapes = match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("{before} → {after}"),
            (before, after) => before.iter().chain(after).cloned().collect(),
        };
        [
            bytes(&change.before, change.bytes_before),
            bytes(&change.after, change.bytes_after),
            format!("{} {}", change.change, value_name(&change.name, change.leaf)),
            shapes,
            [Some(change.cause.to_string()), change.source.clone()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", "),
        ]
    });
    let heading = format!("Values that differ: {}", Grouped(changes.len() as u64));
    table("values", heading, ["Before", "After", "Value", "Shape", "Cause"], 2, rows)
}

#[cfg(test)]
mod tests {
    use super::{Difference, Exceeded};
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    /// Names come from files: they must not become markup.
    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</script><script>alert(1)</script><!--&amp;<img src=x onerror=alert(1)>";
        let module = |size: u32, layout: &str| {
            format!(
                "HloModule m, is_scheduled=true\nENTRY e {{\n  p = f32[{size},128]{{1,0}} parameter(0), metadata={{op_name=\"{hostile}\"}}\n  \
                 ROOT q = f32[{size},128]{{{layout}}} copy(p), metadata={{op_name=\"{hostile}/x\" source_file=\"{hostile}\" source_line=1}}, \
                 backend_config={{\"window_config\":{{\"estimated_cycles\":\"12\"}}}}\n}}\n"
            )
        };
        let [before, after] =
            [module(8, "1,0"), module(16, "0,1")].map(|text| Program::from(Module::parse(&text).unwrap()));
        let difference = Difference::new(&before.memory(None), &after.memory(None));
        let limit = "memory>0".parse().unwrap();
        let page = super::page(&difference, &[Exceeded::Unknown { limit, why: Some(hostile.to_owned()) }]);
        assert_eq!(page.matches("<script>").count(), 1, "the page's own");
        assert!(!page.contains("<!--") && !page.contains("<img") && page.contains("&lt;img src=x"), "{page}");
    }
}
