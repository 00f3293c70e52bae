//! The shapes of a log and its messages about memory, in words.

use crate::words::{Factor, InUnits, count};
use crate::{Show, Text};
use xla_shape_answers::reshard::{ByXla, XlaMoves};
use xla_shape_answers::scan::{Cause, Found, Scan, Sum, Trial};
use xla_shape_hlo::ReportedAllocation;

/// How to find out more than a message says.
const DUMP: &str = "compile with XLA_FLAGS=--xla_dump_to=DIR, then `xla-shape hlo DIR` says what takes the memory.";

impl Show for Found {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.verbatim(format_args!("{}:{}  {}", self.line, self.column, self.shape));
        text
    }
}

impl Show for Scan {
    /// The totals of messages about memory, their allocations, and each shape once, with the most padding first.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if self.is_empty() {
            let lines = count(self.lines(), "line", "lines");
            text.paragraph(format_args!("No shapes and no messages about memory in {lines}."));
            return text;
        }
        if let Some(line) = self.mixed_line() {
            text.paragraph(format_args!(
                "From line {line} on, the lines of several messages seem to be mixed: what belongs to none of them is left out."
            ));
            text.verbatim("");
        }
        amounts(&mut text, self);
        causes(&mut text, self);
        allocations(&mut text, self);
        shapes(&mut text, self);
        if let Some(array) = self.most_padded() {
            text.verbatim("");
            text.paragraph(format_args!(
                "Next: `xla-shape advise '{array}'` compares the layouts of the most padded array."
            ));
        }
        text
    }
}

/// The totals of messages about memory.
fn amounts(text: &mut Text, scan: &Scan) {
    let (amounts, without_sizes) = (scan.amounts(), scan.without_sizes());
    if let (true, Some(first)) = (amounts.is_empty(), without_sizes.first()) {
        let more = match without_sizes.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        text.paragraph(format_args!("Memory ran out, by line {first}{more}, but no size in it could be read: {DUMP}"));
        text.verbatim("");
    }
    if amounts.is_empty() {
        return;
    }
    let is_failure = amounts.iter().any(|amount| amount.cause.is_failure());
    text.verbatim(if is_failure { "Out of memory, as the message says" } else { "Memory, as the message says" });
    for amount in amounts {
        let bytes = InUnits(amount.bytes);
        let over = amount.limit.map(|limit| {
            // The figures of most messages are rounded: their difference is not the excess.
            let over = amount.over.map(|over| format!(", {} too much", InUnits(over)));
            let over = over.unwrap_or_default();
            match amount.is_fragmented() {
                true => format!("; {} are free, in pieces{over}", InUnits(limit)),
                false => format!(" of {}{over}", InUnits(limit)),
            }
        });
        let details = [
            (amount.unpadded_bytes, "unpadded"),
            (amount.padded_bytes, "padded"),
            (amount.fragmentation_bytes, "fragmentation"),
            (amount.largest_free_bytes, "in the largest free piece"),
        ];
        let details = details.into_iter().filter_map(|(bytes, name)| Some(format!("{} {name}", InUnits(bytes?))));
        let details = details.collect::<Vec<_>>().join(", ");
        let details = if details.is_empty() { details } else { format!(" ({details})") };
        let indent = if amount.is_part { "    " } else { "  " };
        let name = amount.name.as_ref().map(|name| format!(", of {name}")).unwrap_or_default();
        let over = over.unwrap_or_default();
        text.paragraph(format_args!("{indent}{}: {bytes}{over}{details}{name}", amount.what));
    }
    text.verbatim("");
}

/// Why something was refused, and what helps.
fn causes(text: &mut Text, scan: &Scan) {
    let causes = scan.causes();
    if causes.is_empty() {
        return;
    }
    text.verbatim("What was refused, and what helps");
    let mut before: Option<&Cause> = None;
    for cause in &causes {
        let Cause { refused, remedies, .. } = cause;
        let code = refused.code().map(|code| format!("{code}, ")).unwrap_or_default();
        let source = refused.source().map(|source| format!(" ({source})")).unwrap_or_default();
        let line = refused.line();
        text.paragraph(format_args!("{code}line {line}{source}: {}", cause.what()));
        for detail in cause.details() {
            text.paragraph(format_args!("  {detail}"));
        }
        // A log may have the same warning for each of many instructions: repeat its help by reference only.
        if let Some(other) = before.filter(|other| other.remedies == *remedies && !remedies.is_empty()) {
            match other.refused.line() {
                same if same == line => text.paragraph("  Help: the same."),
                other => text.paragraph(format_args!("  Help: as for line {other}.")),
            }
            continue;
        }
        before = Some(cause);
        for (number, remedy) in remedies.iter().enumerate() {
            let or = if number == 0 { "Help:" } else { "Or:" };
            text.paragraph(format_args!("  {or} {}{}", remedy, trial(remedy.trial.as_ref())));
        }
    }
    text.verbatim("");
}

/// The sentence that follows a remedy: what the compiler said when it was tried.
fn trial(trial: Option<&Trial>) -> String {
    match trial {
        Some(Trial::Compiles { needed_bytes, device }) => {
            let needed = InUnits(*needed_bytes);
            format!(" It compiles for {device}: the program then needs {needed} of memory, without its code.")
        }
        Some(Trial::NotCompiled { why }) => format!(" It was not compiled: {}.", why.trim().trim_end_matches('.')),
        // If the compiler refused the trial, the details of its cause say so.
        other => other.and_then(Trial::change).map_or_else(String::new, change),
    }
}

/// The sentence about how the compiler makes a change of sharding.
fn change(ByXla { devices, moves, through, .. }: &ByXla) -> String {
    let moved = |XlaMoves { bytes_moved, warns, .. }: &XlaMoves| {
        let bytes = bytes_moved.map_or_else(|| "unknown bytes".to_owned(), |bytes| InUnits(bytes).to_string());
        format!("moves {bytes} between devices, and XLA {}", if *warns { "warns" } else { "does not warn" })
    };
    let with = through.as_ref().map(|through| format!("; with the constraint, it {}", moved(through)));
    let with = with.unwrap_or_default();
    format!(" Compiled alone for {devices}, the change {}{with}.", moved(moves))
}

/// The allocations that messages list.
fn allocations(text: &mut Text, scan: &Scan) {
    let allocations = scan.allocations();
    if allocations.is_empty() {
        return;
    }
    let total = allocations.iter().fold(0_u64, |sum, allocation| sum.saturating_add(allocation.bytes));
    let padding = |allocation: &ReportedAllocation| allocation.padding_bytes().unwrap_or(0);
    let wasted = allocations.iter().fold(0_u64, |sum, allocation| sum.saturating_add(padding(allocation)));
    text.paragraph(format_args!(
        "{} in the message: {}, of which {} are padding",
        count(allocations.len() as u64, "allocation", "allocations"),
        InUnits(total),
        InUnits(wasted)
    ));
    for Sum { name, bytes, .. } in scan.sums().into_iter().flatten() {
        text.paragraph(format_args!("  {name}: {}", InUnits(bytes)));
    }
    for allocation in allocations {
        let shape = allocation.shape.as_ref().map_or_else(|| "no shape".into(), ToString::to_string);
        let kind = allocation.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let (bytes, padding) = (allocation.bytes, padding(allocation));
        let (bytes, padding) = (InUnits(bytes).to_string(), InUnits(padding).to_string());
        text.row(&format!("  {bytes:>9}  {padding:>9} padding"), &format!("{shape}{kind}"));
        for what in [&allocation.operator, &allocation.source, &allocation.tag].into_iter().flatten() {
            text.verbatim(format_args!("             {what}"));
        }
    }
    text.verbatim("");
}

/// Each shape once.
fn shapes(text: &mut Text, scan: &Scan) {
    let rows = scan.shapes();
    if rows.is_empty() && !scan.is_empty() {
        return;
    }
    if rows.is_empty() {
        text.paragraph(format_args!("No shapes in {}.", count(scan.lines(), "line", "lines")));
        return;
    }
    let times = rows.iter().map(|(_, times)| times).sum::<usize>();
    let sum = |part: fn(&Found) -> Option<u64>| {
        rows.iter().fold(0_u64, |sum, (found, _)| sum.saturating_add(part(found).unwrap_or(0)))
    };
    text.paragraph(format_args!(
        "{}, {} different; each once: {}, of which {} are padding",
        count(times as u64, "shape", "shapes"),
        rows.len(),
        InUnits(sum(|found| found.bytes)),
        InUnits(sum(|found| found.padding_bytes))
    ));
    for (found, times) in rows {
        let place = format!("{}:{}", found.line, found.column);
        let known = |known: Option<u64>| known.map_or("?".into(), |bytes| InUnits(bytes).to_string());
        let (bytes, padding) = (known(found.bytes), known(found.padding_bytes));
        let expansion = found.expansion.map_or("?".into(), |expansion| Factor(expansion).to_string());
        let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
        let columns = format!("{place:>9}  {bytes:>9}  {padding:>9} padding  {expansion:>7}");
        text.row(&columns, &format!("{}{times}", found.shape));
    }
}

#[cfg(test)]
mod tests {
    use crate::Show;
    use xla_shape_answers::scan::Scan;

    fn scanned(text: &str) -> String {
        let mut scan = Scan::default();
        text.lines().for_each(|line| drop(scan.read_line(line.as_bytes())));
        scan.text(80).to_string()
    }

    #[test]
    fn each_shape_is_shown_once_with_the_most_padding_first() {
        let text = scanned("f32[2]{0} bfloat16[8,128]\nf32[8,1]{1,0:T(8,128)} f32[2]{0} f32[2]{0}\ntensor<8x128xbf16>");
        let expected = "\
6 shapes, 3 different; each once: 6.01 KiB, of which 3.97 KiB are padding
      2:1      4 KiB   3.97 KiB padding   128.0x  f32[8,1]{1,0:T(8,128)}
     1:11      2 KiB        0 B padding    1.00x  bf16[8,128]{1,0} (2 times)
      1:1        8 B        0 B padding    1.00x  f32[2]{0} (3 times)

Next: `xla-shape advise 'f32[8,1]{1,0:T(8,128)}'` compares the layouts of the
most padded array.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn there_is_always_an_output() {
        assert_eq!(scanned("nothing\nhere"), "No shapes and no messages about memory in 2 lines.\n");
        let text = scanned("E1000: Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm.");
        assert!(text.contains("hbm: 49.3 GiB of 32 GiB\n") && text.contains("--xla_dump_to"), "{text}");
    }

    #[test]
    fn the_excess_is_the_one_that_the_message_states() {
        let text = scanned("Used 1.00M of 1.00M smem. Exceeded smem capacity by 1.7K.");
        assert!(text.contains("smem: 1 MiB of 1 MiB, 1.70 KiB too much"), "{text}");
        let text = scanned("Used 1.00M of 1.00M smem.");
        assert!(text.contains("smem: 1 MiB of 1 MiB\n"), "{text}");
    }

    #[test]
    fn a_repeated_message_counts_once() {
        let message = "E1000: Used 40.00G of 32.00G hbm.\n1. Size: 2.0K\n  Shape: f32[2]\n  Tag: input window.\n===\n\
                       2. Size: 2.0K\n  Shape: f32[2]\n===\n";
        let text = scanned(&[message, message].concat());
        assert_eq!(text.matches("hbm: 40 GiB of 32 GiB").count(), 1);
        assert!(text.contains("2 allocations in the message: 4 KiB") && text.contains("  input window.\n"), "{text}");
        let text = scanned("RESOURCE_EXHAUSTED: something new");
        assert!(text.starts_with("Memory ran out, by line 1, but no size"), "{text}");
    }

    #[test]
    fn allocations_have_the_sizes_that_the_message_states() {
        let text = scanned(
            "  Largest program allocations in vmem:\n  1. Size: 64.0K\n     Shape: f32[128,3]{1,0}\n     Unpadded size: 1.5K\n\
                  Allocation type: scoped\n     =====\n",
        );
        assert!(text.contains("1 allocation in the message: 64 KiB, of which 62.5 KiB are padding"), "{text}");
        assert!(text.contains("   64 KiB   62.5 KiB padding  f32[128,3]{1,0} (scoped)"), "{text}");
    }
}
