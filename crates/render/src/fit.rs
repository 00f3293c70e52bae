//! What fits, as text.

use crate::hlo::larger_part;
use crate::words::{InUnits, answered_by, column_width, count, in_one_line, interrupted};
use crate::{Show, Text};
use std::collections::BTreeMap;
use xla_shape_answers::fit::{Border, Fit, Held, Row};
use xla_shape_answers::hlo::OfGpu;
use xla_shape_answers::source::line_of_text;

impl Show for Fit {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for border in &self.borders {
            text.paragraph(sentence(self, border));
            if border.unordered {
                let axis = &border.axis;
                text.paragraph(format_args!(
                    "  The values of {axis} are not in ascending order of memory, so all were tried."
                ));
            }
            if !border.exceptions.is_empty() {
                text.paragraph(format_args!(
                    "  It does not only grow: {} {} not fit, although {} does.",
                    border.exceptions.join(", "),
                    if border.exceptions.len() == 1 { "does" } else { "do" },
                    border.largest.as_deref().unwrap_or_default()
                ));
            }
        }
        if self.borders.is_empty() {
            let fit = self.rows.iter().filter(|row| row.need.fits == Some(true)).count();
            text.paragraph(format_args!(
                "{fit} of {} {}.",
                count(self.rows.len() as u64, "setting", "settings"),
                if fit == 1 { "fits" } else { "fit" }
            ));
        }
        table(self, &mut text);
        for row in self.too_large() {
            too_large(self, &mut text, row);
        }
        refused(self, &mut text);
        text.verbatim("");
        text.paragraph(made(self));
        text
    }
}

/// How many settings were compiled, and by which compiler.
fn made(fit: &Fit) -> String {
    let settings = count(fit.settings as u64, "setting", "settings");
    let cut = if fit.search.cut { format!(" {}", interrupted(&fit.search)) } else { String::new() };
    format!("{} of {settings} tried{}.{cut}", fit.rows.len(), answered_by(&fit.search))
}

/// Says which value of an axis is the largest that fits, and which larger one does not, as far as they are known.
fn sentence(fit: &Fit, border: &Border) -> String {
    let where_ = match with_axes(fit, &border.setting) {
        setting if setting.is_empty() => String::new(),
        setting => format!("{setting}: "),
    };
    let Border { axis, largest, next, closed, unknown, .. } = border;
    let row = |number: Option<usize>| fit.rows.get(number?);
    let takes = row(border.largest_row).and_then(|row| row.need.needed_bytes.zip(row.need.available_bytes));
    let takes = takes.map_or_else(String::new, |(needed, of)| format!(" ({} of {})", InUnits(needed), InUnits(of)));
    let short = row(border.next_row).and_then(|row| row.short_bytes);
    let short = short.map_or_else(String::new, |bytes| format!(": it is {} short", InUnits(bytes)));
    let open = match next {
        _ if *closed => "",
        Some(_) if unknown.is_empty() => " Values between were not tried.",
        Some(_) => " Other values between were not tried.",
        None if unknown.is_empty() => " Larger values were not tried.",
        None => " Other larger values were not tried.",
    };
    let of_unknown = listed(unknown);
    let nothing = if unknown.is_empty() { String::new() } else { format!(" Nothing is known of {of_unknown}.") };
    let known = if *closed && unknown.is_empty() { "that fits" } else { "known to fit" };
    match (largest, next) {
        (Some(largest), Some(next)) => {
            format!("{where_}{axis} {largest} is the largest {known}{takes}; {next} does not{short}.{nothing}{open}")
        }
        (Some(largest), None) if !unknown.is_empty() => format!(
            "{where_}{axis} {largest} is the largest known to fit{takes}; nothing is known of {of_unknown}.{open}"
        ),
        (Some(largest), None) if *closed => {
            let which = if border.unordered { "last value" } else { "largest" };
            format!("{where_}{axis} {largest}, the {which}, fits{takes}.")
        }
        (Some(largest), None) => format!("{where_}{axis} {largest} fits{takes}.{open}"),
        (None, Some(next)) => format!("{where_}no {axis} is known to fit; {next} does not{short}.{nothing}{open}"),
        (None, None) => {
            let why = match unknown.as_slice() {
                [] => "none was tried",
                _ if has_program(fit, border) => "the compiler refused all that were tried",
                _ => "there is no program for those that were tried",
            };
            format!("{where_}it is not known which {axis} fits: {why}.")
        }
    }
}

/// Values, of which only the first few are listed.
fn listed(values: &[String]) -> String {
    const MOST: usize = 5;
    match values.len().checked_sub(MOST) {
        None | Some(0) => values.join(", "),
        Some(more) => format!("{} and {more} more", values[..MOST].join(", ")),
    }
}

/// Whether there is a program for any of the values along a border.
fn has_program(fit: &Fit, border: &Border) -> bool {
    let is_of_border = |row: &&Row| border.setting.iter().all(|(axis, value)| row.setting.get(axis) == Some(value));
    fit.rows.iter().filter(is_of_border).any(|row| row.device.is_some())
}

/// The values of a setting, without axes that have a single value.
fn with_axes(fit: &Fit, setting: &BTreeMap<String, String>) -> String {
    with_all_but(fit, setting, None)
}

/// The values of a setting, without the axis `without` and without axes that have a single value.
fn with_all_but(fit: &Fit, setting: &BTreeMap<String, String>, without: Option<&str>) -> String {
    let axes = fit.axes.iter().filter(|axis| axis.values.len() > 1 && Some(axis.name.as_str()) != without);
    let values = axes.filter_map(|axis| Some(format!("{} {}", axis.name, setting.get(&axis.name)?)));
    values.collect::<Vec<_>>().join(", ")
}

/// A line for each setting that was tried.
fn table(fit: &Fit, text: &mut Text) {
    let fixed = fit.axes.iter().filter(|axis| axis.values.len() == 1);
    let fixed = fixed.filter_map(|axis| Some(format!("{} {}", axis.name, axis.values.first()?))).collect::<Vec<_>>();
    text.heading(&match fixed.as_slice() {
        [] => "Settings".to_owned(),
        fixed => format!("Settings: {}", fixed.join(", ")),
    });
    let axes = fit.axes.iter().filter(|axis| axis.values.len() > 1).collect::<Vec<_>>();
    // If every row that fits is among the best, marks say nothing.
    let is_marked = fit.rows.iter().any(|row| row.need.fits == Some(true) && !row.best);
    let mut lines = vec![axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>()];
    lines[0].extend(["fits", "needs", "of", "cost", "largest array at the peak"].map(str::to_owned));
    for row in &fit.rows {
        let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), |bytes| InUnits(bytes).to_string());
        let mut line =
            axes.iter().map(|axis| row.setting.get(&axis.name).cloned().unwrap_or_default()).collect::<Vec<_>>();
        line.push(match (row.need.fits, row.best && is_marked) {
            (Some(true), true) => "yes *".to_owned(),
            (Some(true), false) => "yes".to_owned(),
            (Some(false), _) => "no".to_owned(),
            (None, _) => "?".to_owned(),
        });
        line.extend([bytes(row.need.needed_bytes), bytes(row.need.available_bytes)]);
        line.push(row.amount.map_or_else(String::new, |amount| amount.to_string()));
        line.push(row.need.largest.as_ref().map_or_else(String::new, held));
        lines.push(line);
    }
    let widths: Vec<_> = (0..lines[0].len())
        .map(|column| column_width(lines.iter().filter_map(|line| Some(line.get(column)?.chars().count()))))
        .collect();
    let numbers = axes.len() + 1..axes.len() + 4;
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if numbers.contains(&column) { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        text.verbatim(format_args!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end()));
    }
    if is_marked {
        let size = fit.axes.iter().find(|axis| axis.bisected);
        let size = size.map_or_else(String::new, |axis| format!("at least as large a {}, ", axis.name));
        text.paragraph(format_args!(
            "  * No other setting of its device that fits has {size}as little memory and as low a cost."
        ));
    }
}

/// An array in words.
fn held(held: &Held) -> String {
    let source = held.source.as_ref().or(held.op_name.as_ref());
    let source = source.map_or_else(String::new, |source| match line_of_text(source) {
        Some(line) => format!(", line {line} of the program"),
        None => format!(", {source}"),
    });
    format!("{} {}, {}{source}", held.shape, InUnits(held.bytes), held.role.name())
}

/// The name of the axis of devices.
const DEVICES: &str = "for";

/// Says by how many bytes a setting is too large, and which arrays would have to go.
fn too_large(fit: &Fit, text: &mut Text, row: &Row) {
    let Some(short) = row.short_bytes else { return };
    let devices = fit.axes.iter().find(|axis| axis.name == DEVICES && axis.values.len() > 1);
    let on = devices.and_then(|_| row.setting.get(DEVICES)).map_or_else(String::new, |device| format!(" on {device}"));
    let setting = with_all_but(fit, &row.setting, Some(DEVICES));
    let with = if setting.is_empty() { setting } else { format!(" with {setting}") };
    text.heading(&format!("To fit{on}{with}, {} would have to go", InUnits(short)));
    if let (Some(OfGpu::Larger), Some(whole)) = (row.need.of_gpu(), row.need.whole_bytes) {
        text.paragraph(format_args!("  As it is, it fits {}.", larger_part(whole)));
    }
    if row.need.to_go.is_empty() {
        text.paragraph("  The compiler does not say what takes the memory.");
    }
    for array in &row.need.to_go {
        text.verbatim(format_args!("  {}", held(array)));
    }
}

/// Why there are settings without figures: the errors of their compilations.
fn refused(fit: &Fit, text: &mut Text) {
    const LONGEST: usize = 300;
    let rows = fit.rows.iter().filter(|row| row.need.needed_bytes.is_none());
    let mut rows = rows.filter_map(|row| Some((row, row.need.error.as_ref()?))).peekable();
    if rows.peek().is_some() {
        text.heading("Without figures");
    }
    for (row, error) in rows {
        let setting = with_axes(fit, &row.setting);
        let colon = if setting.is_empty() { "" } else { ": " };
        text.paragraph(format_args!("  {setting}{colon}{}", in_one_line(error, LONGEST)));
    }
}

#[cfg(test)]
mod tests {
    use crate::Show as _;
    use std::collections::BTreeSet;
    use xla_shape_answers::cost::Amount;
    use xla_shape_answers::fit::{Fit, Held, Line, Need, Tried};
    use xla_shape_answers::search::{Axis, Search};
    use xla_shape_hlo::Role;

    const GIB: u64 = 1 << 30;

    fn axis(name: &str, values: &[&str], bisected: bool) -> Axis {
        Axis { bisected, ..Axis::new(name, values.iter().copied()) }
    }

    fn tried(at: [usize; 3], needed: u64) -> Tried {
        let held = Held {
            name: "fusion.1".to_owned(),
            shape: "f32[8,128]{1,0:T(8,128)}".to_owned(),
            bytes: needed / 2,
            role: Role::Temporary,
            op_name: None,
            source: Some("train.py:43".to_owned()),
        };
        let fits = needed <= 16 * GIB;
        let to_go = if fits { Vec::new() } else { vec![held.clone()] };
        let need = Need {
            fits: Some(fits),
            needed_bytes: Some(needed),
            available_bytes: Some(16 * GIB),
            whole_bytes: None,
            largest: Some(held),
            to_go,
            error: None,
        };
        Tried { at: at.to_vec(), device: Some("v5e:2x2".to_owned()), need, amount: fits.then_some(Amount::Cycles(7)) }
    }

    #[test]
    fn a_gpu_may_have_room_for_more() {
        let text = |needed: u64| {
            let mut tried = tried([0, 0, 0], needed);
            tried.need.whole_bytes = Some(20 * GIB);
            let axes = vec![axis("batch", &["8"], true), axis("remat", &["no"], false), axis("for", &["l4"], false)];
            let line = Line { at: vec![0, 0, 0], next: Some(0), closed: true, ..Line::default() };
            Fit::new(axes, vec![tried], &[line]).text(200).to_string()
        };
        let more =
            "  As it is, it fits the 19 GiB of 20 GiB that XLA_PYTHON_CLIENT_MEM_FRACTION=0.95 gives a process of JAX.";
        assert!(text(18 * GIB).contains(more), "{}", text(18 * GIB));
        assert!(!text(20 * GIB).contains("FRACTION") && !text(16 * GIB).contains("FRACTION"));
    }

    #[test]
    fn the_border_comes_first_and_what_would_have_to_go() {
        let axes = vec![
            axis("batch", &["8", "16", "32"], true),
            axis("remat", &["no", "all"], false),
            axis("for", &["v5e"], false),
        ];
        let line = |remat, largest, next, exceptions| Line {
            at: vec![0, remat, 0],
            largest,
            next,
            exceptions,
            closed: true,
            ..Line::default()
        };
        let rows = vec![
            tried([1, 0, 0], 12 * GIB),
            tried([2, 0, 0], 18 * GIB),
            tried([0, 1, 0], 17 * GIB),
            tried([2, 1, 0], 13 * GIB),
        ];
        let unknown =
            Tried { at: vec![1, 1, 0], device: None, need: Need::unknown("no\nsuch size".to_owned()), amount: None };
        let rows = rows.into_iter().chain([unknown]).collect();
        let lines = [line(0, Some(1), Some(2), Vec::new()), line(1, Some(2), None, vec![0])];
        let text = Fit::new(axes, rows, &lines).text(120).to_string();
        let expected = "\
remat no: batch 16 is the largest that fits (12 GiB of 16 GiB); 32 does not: it is 2 GiB short.
remat all: batch 32, the largest, fits (13 GiB of 16 GiB).
  It does not only grow: 8 does not fit, although 32 does.

Settings: for v5e
  batch  remat  fits   needs      of      cost  largest array at the peak
  8      all    no    17 GiB  16 GiB            f32[8,128]{1,0:T(8,128)} 8.50 GiB, temporary, train.py:43
  16     no     yes   12 GiB  16 GiB  7 cycles  f32[8,128]{1,0:T(8,128)} 6 GiB, temporary, train.py:43
  16     all    ?          ?       ?
  32     no     no    18 GiB  16 GiB            f32[8,128]{1,0:T(8,128)} 9 GiB, temporary, train.py:43
  32     all    yes   13 GiB  16 GiB  7 cycles  f32[8,128]{1,0:T(8,128)} 6.50 GiB, temporary, train.py:43

To fit with batch 32, remat no, 2 GiB would have to go
  f32[8,128]{1,0:T(8,128)} 9 GiB, temporary, train.py:43

Without figures
  batch 16, remat all: no such size

5 of 6 settings tried.
";
        assert_eq!(text, expected, "{text}");
    }

    #[test]
    fn every_end_of_a_search_has_a_sentence_of_its_own() {
        let with = |largest, next, unknown: &[usize], closed, rows: &[Tried]| {
            let line = Line { at: vec![0], largest, next, unknown: unknown.to_vec(), closed, ..Line::default() };
            let fit = Fit::new(vec![axis("batch", &["8", "16", "32"], true)], rows.to_vec(), &[line]);
            fit.text(200).to_string().lines().next().unwrap_or_default().to_owned()
        };
        let sentence = |largest, next, closed| with(largest, next, &[], closed, &[]);
        let cases =
            [(Some(0), Some(1)), (Some(0), Some(2)), (Some(2), None), (Some(0), None), (None, Some(0)), (None, None)];
        let sentences = cases.map(|(largest, next)| sentence(largest, next, (largest, next) != (Some(0), None)));
        assert!(
            sentences.iter().all(|sentence| sentence.contains("batch") && sentence.ends_with('.')),
            "{sentences:?}"
        );
        assert_eq!(sentences.iter().collect::<BTreeSet<_>>().len(), sentences.len());
        assert!(sentence(Some(0), Some(2), false).ends_with("Values between were not tried."));
        let row = |device: Option<&str>| Tried {
            at: vec![2],
            device: device.map(str::to_owned),
            need: Need::unknown("no".to_owned()),
            amount: None,
        };
        let refused = [row(Some("v5e"))];
        for (found, expected) in [
            (
                with(Some(1), None, &[2], true, &refused),
                "batch 16 is the largest known to fit; nothing is known of 32.",
            ),
            (
                with(Some(0), None, &[2], false, &refused),
                "batch 8 is the largest known to fit; nothing is known of 32. Other larger values were not tried.",
            ),
            (
                with(Some(0), Some(2), &[1], true, &refused),
                "batch 8 is the largest known to fit; 32 does not. Nothing is known of 16.",
            ),
            (sentence(Some(0), None, false), "batch 8 fits. Larger values were not tried."),
            (
                with(None, Some(2), &[0, 1], true, &refused),
                "no batch is known to fit; 32 does not. Nothing is known of 8, 16.",
            ),
            (
                with(None, None, &[2], false, &refused),
                "it is not known which batch fits: the compiler refused all that were tried.",
            ),
            (
                with(None, None, &[2], false, &[row(None)]),
                "it is not known which batch fits: there is no program for those that were tried.",
            ),
            (sentence(None, None, false), "it is not known which batch fits: none was tried."),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn values_without_the_order_of_memory_are_said_and_many_values_are_cut() {
        let line = Line {
            at: vec![0],
            largest: Some(2),
            exceptions: vec![0, 1],
            closed: true,
            unordered: true,
            ..Line::default()
        };
        let fit = Fit {
            search: Search { kept: 1, ..Search::default() },
            ..Fit::new(vec![axis("micro", &["1", "2", "4"], true)], Vec::new(), &[line])
        };
        let text = fit.text(200).to_string();
        for line in [
            "micro 4, the last value, fits.",
            "  The values of micro are not in ascending order of memory, so all were tried.",
            "  It does not only grow: 1, 2 do not fit, although 4 does.",
            "0 of 3 settings tried; 1 answer was in the cache.",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let values = |count: usize| (0..count).map(|value| value.to_string()).collect::<Vec<_>>();
        assert_eq!(super::listed(&values(5)), "0, 1, 2, 3, 4");
        assert_eq!(super::listed(&values(7)), "0, 1, 2, 3, 4 and 2 more");
    }

    #[test]
    fn without_an_axis_to_bisect_the_settings_are_counted_and_the_best_are_marked() {
        let axes =
            vec![axis("program", &["a", "b", "c"], false), axis("x", &["1"], false), axis("for", &["v5e"], false)];
        let rows = vec![tried([0, 0, 0], GIB), tried([1, 0, 0], 2 * GIB), tried([2, 0, 0], 17 * GIB)];
        let text = Fit::new(axes, rows, &[]).text(120).to_string();
        for line in [
            "2 of 3 settings fit.",
            "a        yes *",
            "b        yes  ",
            "To fit with program c, 1 GiB would have to go",
            "* No other setting",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
