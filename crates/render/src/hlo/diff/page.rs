//! What changed between two programs, as an HTML page: the figures of both side by side, and why they differ.

use super::text::{answer, in_words, percent};
use crate::web::{MOST, Side, cell, end, escape, page_of_tables, push, side_by_side, table};
use crate::words::{Grouped, InUnits, Signed, count, shortened, value_name};
use xla_shape_answers::hlo::diff::{Cause, Change, Part, PartChange, Peak};
use xla_shape_answers::hlo::{Difference, Quantity};

/// The differences as an HTML page: the figures of both programs side by side, the memory at the peaks, copies, collectives and fusions
/// that come or go, and values. `exceeded` is what [`exceeded`](Difference::exceeded) says, which comes first. The page has no external
/// resources.
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
pub fn page(difference: &Difference, exceeded: &[String]) -> String {
    let [before, after] = difference.programs.each_ref().map(|(name, _)| shortened(name, 200));
    let heading = if before == after { before.into_owned() } else { format!("{before} and {after}") };
    let mut body = String::new();
    for limit in exceeded {
        push(&mut body, format_args!("<p class=\"refused\">{}</p>\n", cell(limit)));
    }
    push(&mut body, format_args!("<p id=\"summary\">{}</p>\n", cell(&with_arrows(&answer(difference)))));
    let accuracy = difference.programs.each_ref().map(|(name, accuracy)| format!("{name} ({accuracy})"));
    push(
        &mut body,
        format_args!(
            "<p class=\"legend\"><span><i class=\"temporary\"></i> before: {}</span><span><i class=\"output\"></i> after: {}</span></p>\n",
            cell(&accuracy[0]),
            cell(&accuracy[1])
        ),
    );
    if let Some(why) = &difference.unknown {
        push(&mut body, format_args!("<p class=\"hint\">The cycles are not compared: {}</p>\n", cell(why)));
    }
    push_measures(&mut body, difference);
    push_parts(&mut body, &difference.parts);
    push_peaks(&mut body, difference);
    push_totals(&mut body, difference);
    push_values(&mut body, &difference.changes);
    let title = format!("Comparison of {heading}");
    page_of_tables(&title, &body)
}

fn push_measures(body: &mut String, difference: &Difference) {
    let rows = difference.measures.iter().filter(|measured| measured.before.is_some() || measured.after.is_some());
    let rows = rows.map(|measured| {
        let why = if measured.before == measured.after { String::new() } else { measured.cause.to_string() };
        Side {
            name: measured.name.to_owned(),
            numbers: [measured.before, measured.after].map(|number| number.map(Quantity::number)),
            texts: [measured.before, measured.after].map(|number| in_words(measured, number)),
            change: percent(measured).filter(|_| measured.before != measured.after).unwrap_or_default(),
            why,
        }
    });
    side_by_side(body, "measures", "Figures", rows.collect());
}

fn push_peaks(body: &mut String, difference: &Difference) {
    let rows = difference.peaks.iter().map(|peak| {
        let at = |name: &Option<String>| name.as_ref().map_or("no instruction".to_owned(), |name| format!("%{name}"));
        let (before, after) = (at(&peak.at_before), at(&peak.at_after));
        let when = if before == after { before } else { format!("{before}, then {after}") };
        bytes_side(format!("{} at {when}", peak.name), peak.bytes_before, peak.bytes_after, peak.bytes)
    });
    side_by_side(body, "peaks", "Peaks", rows.collect());
    for peak in &difference.peaks {
        push_causes(body, peak);
    }
}

fn push_totals(body: &mut String, difference: &Difference) {
    let rows = difference.totals.iter().filter(|total| total.bytes_before > 0 || total.bytes_after > 0);
    let rows = rows.map(|total| bytes_side(total.name.to_owned(), total.bytes_before, total.bytes_after, total.bytes));
    side_by_side(body, "totals", "Memory", rows.collect());
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

fn push_parts(body: &mut String, parts: &[Part]) {
    if parts.is_empty() {
        return;
    }
    body.push_str(
        "<section id=\"parts\">\n<h2>Copies, collectives and fusions that come or go</h2>\n<ul class=\"copies\">\n",
    );
    for part in parts.iter().take(MOST) {
        let amount = part.amount.map_or(String::new(), |amount| format!(", {amount}"));
        let source = part.source.as_ref().map_or(String::new(), |source| format!(", {}", cell(source)));
        push(
            body,
            format_args!(
                "<li><b>{}</b>: <code>%{}</code>{amount}{source}: {}<p class=\"shape\">{}</p>",
                part.change,
                cell(&part.name),
                cell(&part.cause.to_string()),
                cell(&with_arrows(&part.shape))
            ),
        );
        if let Some(because) = &part.because {
            push(body, format_args!("<p>{}</p>", cell(&because.to_string())));
        }
        if let Some(remedy) = part.remedy.as_ref().filter(|_| part.change == PartChange::CopyAdded) {
            push(body, format_args!("<p class=\"remedy\">To remove it: {}</p>", cell(&remedy.to_string())));
        }
        body.push_str("</li>\n");
    }
    body.push_str("</ul>\n");
    end(body, parts.len());
}

fn push_causes(body: &mut String, peak: &Peak) {
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
    let columns = ["Bytes", "Live", "Value", "Shape", "Source"];
    table(
        body,
        &format!("causes{}", peak.space),
        &format!("What differs at the peak of {}", escape(&peak.name)),
        columns,
        1,
        rows,
    );
}

/// The arrows of a page, which a terminal may not have.
fn with_arrows(text: &str) -> String {
    text.replace(" -> ", " → ")
}

fn push_values(body: &mut String, changes: &[Change]) {
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
    table(body, "values", &heading, ["Before", "After", "Value", "Shape", "Cause"], 2, rows);
}

#[cfg(test)]
mod tests {
    use super::Difference;
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
        let page = super::page(&difference, &[hostile.to_owned()]);
        assert_eq!(page.matches("<script>").count(), 1, "the page's own");
        assert!(!page.contains("<!--") && !page.contains("<img") && page.contains("&lt;img src=x"), "{page}");
    }
}
