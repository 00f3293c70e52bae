//! The cost of a program as text.

use crate::words::{Grouped, InUnits, Signed, count, difference};
use crate::{Show, Text};
use std::fmt::Write as _;
use xla_shape_answers::cost::{Collective, CopyCost, ProgramCost, Tried};

/// The indent of the lines that belong to an entry.
const INDENT: &str = "      ";

/// At most this many entries of a list are shown.
pub(super) const SHOWN: usize = 10;

impl Show for ProgramCost {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.paragraph(answer(self));
        for note in notes(self) {
            text.paragraph(note);
        }
        if !self.copies.is_empty() {
            text.heading("Copies, transposes and reshapes that only move data");
        }
        for copy in self.copies.iter().take(SHOWN) {
            copied(&mut text, copy);
        }
        more(&mut text, self.copies.len());
        if !self.tried.is_empty() {
            text.heading("Tried: compiled again with the layouts that would remove copies");
        }
        for tried in &self.tried {
            text.paragraph(format!("  {}: {}", tried.asked.join(", "), result(tried)));
        }
        let of = self.cycles.total;
        table(
            &mut text,
            "By source line",
            of,
            self.lines
                .iter()
                .map(|line| (line.source.as_deref().unwrap_or("(no source line)"), line.cycles, line.instructions)),
        );
        table(
            &mut text,
            "By scope",
            of,
            self.scopes.iter().map(|scope| (scope.scope.as_str(), scope.cycles, scope.instructions)),
        );
        table(
            &mut text,
            "By opcode",
            of,
            self.opcodes.iter().map(|opcode| (opcode.opcode.as_str(), opcode.cycles, opcode.instructions)),
        );
        if !self.instructions.is_empty() {
            text.heading("Most expensive instructions, by the cycles of all their runs");
        }
        for found in self.instructions.iter().take(SHOWN) {
            let (runs, cycles) = (number_in_words(found.runs), number_in_words(found.total));
            let source = found.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
            // Writing to a `Text` does not fail.
            let _ = writeln!(
                text,
                "  {cycles:>14}  {} × {}  %{} ({}){source}",
                Grouped(found.cycles),
                runs,
                found.instruction,
                found.opcode
            );
        }
        more(&mut text, self.instructions.len());
        if !self.collectives.is_empty() {
            text.heading("Collectives, for which the compiler gives no cycles");
        }
        for found in self.collectives.iter().take(SHOWN) {
            let runs = found.runs.map_or("? times".into(), |runs| count(runs, "time", "times"));
            let hidden = beside(found);
            let source = found.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
            let _ = writeln!(
                text,
                "  {:>10} in {:>10} out  {runs}  %{} ({}): {hidden}{source}",
                InUnits(found.bytes_in).to_string(),
                InUnits(found.bytes_out).to_string(),
                found.instruction,
                found.opcode
            );
        }
        more(&mut text, self.collectives.len());
        text
    }
}

fn copied(text: &mut Text, copy: &CopyCost) {
    let cycles = copy.total.map_or("no figure".to_owned(), |cycles| Grouped(cycles).to_string());
    let share = copy.share.map_or(String::new(), |share| format!("{:.1} %", share * 100.0));
    let bytes = copy.bytes.map_or(String::new(), |bytes| InUnits(bytes).to_string());
    let source = copy.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
    let _ = writeln!(text, "  {cycles:>12} {share:>7} {bytes:>10}  %{} ({}){source}", copy.instruction, copy.opcode);
    text.hanging(INDENT, &format!("{} -> {}", copy.from, copy.to));
    text.hanging(INDENT, &copy.cause.to_string());
    if let Some(remedy) = &copy.remedy {
        text.hanging(INDENT, &format!("to remove it: {remedy}"));
    }
}

fn table<'t>(
    text: &mut Text,
    heading: &str,
    all: Option<u64>,
    rows: impl ExactSizeIterator<Item = (&'t str, u64, usize)>,
) {
    let length = rows.len();
    if length == 0 {
        return;
    }
    text.heading(heading);
    for (name, cycles, instructions) in rows.take(SHOWN) {
        let share = all.filter(|&all| all > 0).map_or(String::new(), |all| percent(cycles, all));
        let instructions = count(instructions as u64, "instruction", "instructions");
        let _ = writeln!(text, "  {:>14} {share:>7}  {name}  {instructions}", Grouped(cycles).to_string());
    }
    more(text, length);
}

/// Says how many entries a list has beyond those that were shown.
fn more(text: &mut Text, length: usize) {
    if let Some(left) = length.checked_sub(SHOWN).filter(|&left| left > 0) {
        let _ = writeln!(text, "  … and {left} more");
    }
}

/// A number, or a question mark where it is not known.
pub(super) fn number_in_words(number: Option<u64>) -> String {
    number.map_or("?".to_owned(), |number| Grouped(number).to_string())
}

pub(super) fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", part as f64 / all as f64 * 100.0)
}

/// What runs beside it.
pub(super) fn beside(found: &Collective) -> String {
    match (found.hidden_by_cycles, found.hidden_by.as_slice()) {
        (None, _) if found.is_asynchronous => "asynchronous, but the module has no schedule".to_owned(),
        (None, _) => "nothing runs beside it".to_owned(),
        (Some(_), []) => "asynchronous, but nothing with cycles runs beside it".to_owned(),
        (Some(cycles), names) => {
            format!("beside it run {} cycles, most of all %{}", Grouped(cycles), names.join(", %"))
        }
    }
}

pub(super) fn result(tried: &Tried) -> String {
    if let Some(error) = &tried.error {
        return format!("refused: {error}");
    }
    if !tried.taken {
        return "not taken: the compiled program has other layouts".to_owned();
    }
    let cycles = match (tried.cycles_before, tried.cycles) {
        (Some(before), Some(after)) if before > 0 => {
            let percent = (after as f64 - before as f64) / before as f64 * 100.0;
            format!("{} -> {} cycles ({percent:+.1} %)", Grouped(before), Grouped(after))
        }
        _ => "the cycles are not known".to_owned(),
    };
    let bytes = match (tried.bytes_before, tried.bytes) {
        (Some(before), Some(after)) => format!(", {} of HBM", Signed(difference(before, after))),
        _ => String::new(),
    };
    let copies = tried.copies.map_or(String::new(), |copies| format!(", copies {} -> {copies}", tried.copies_before));
    format!("{cycles}{bytes}{copies}")
}

/// The sentence that answers the question.
pub(crate) fn answer(cost: &ProgramCost) -> String {
    let sums = &cost.cycles;
    if sums.partial {
        return "The compiler's figures are partial, so there is no total: the files that XLA dumps leave most of them out. The \
                module that the compiler returns has them all (JAX: `compiled.as_text()`; or `xla-shape compile -o`)."
            .to_owned();
    }
    let Some(total) = sums.total else {
        return match sums.said {
            said if said > 0 && !sums.overflowed => {
                "The compiler's figures are of fused instructions alone, so there is no total.".to_owned()
            }
            0 => "The compiler says nothing about cycles in this module. The module that it returns has them (JAX: \
                  `compiled.as_text()`; or `xla-shape compile -o`); the files that XLA dumps do not."
                .to_owned(),
            _ => "The cycles are more than a 64-bit number holds.".to_owned(),
        };
    };
    let mut answer = format!("{} in one run, by the compiler's estimates", count(total, "cycle", "cycles"));
    if let Some(moved) = cost.moved().filter(|_| total > 0) {
        answer += &format!("; {} of them only move data", percent(moved, total));
    }
    if let Some(line) = cost.lines.iter().find(|line| line.source.is_some() && total > 0) {
        let source = line.source.as_deref().unwrap_or_default();
        answer += &format!("; the most expensive line is {source} with {}", percent(line.cycles, total));
    }
    answer + "."
}

/// Notes about what the total does not include.
pub(super) fn notes(cost: &ProgramCost) -> Vec<String> {
    let mut notes = Vec::new();
    if cost.cycles.said > 0 && cost.cycles.without > 0 {
        let groups = cost.without.iter().map(|group| format!("{} {}", group.instructions, group.opcode));
        let groups = groups.take(8).collect::<Vec<_>>().join(", ");
        notes.push(match cost.cycles.without {
            1 => format!("1 instruction has no figure and counts nothing: {groups}."),
            without => format!("{without} instructions have no figure and count nothing: {groups}."),
        });
    }
    if cost.cycles.flagged > 0 {
        let all = count(cost.cycles.flagged as u64, "instruction", "instructions");
        notes.push(format!("For {all} the compiler says that it has no estimate."));
    }
    if let Some(first) = cost.unread.first() {
        notes.push(match cost.unread.len() {
            1 => format!("The figures of 1 instruction cannot be read: {first}."),
            unread => format!("The figures of {unread} instructions cannot be read. The first is {first}."),
        });
    }
    let unknown: Vec<_> = cost.loops.iter().filter(|found| found.trips.is_none()).collect();
    if !unknown.is_empty() {
        let names = unknown.iter().take(4).map(|found| format!("%{}", found.instruction)).collect::<Vec<_>>();
        let names = names.join(", ");
        notes.push(match unknown.len() {
            1 => format!("The trip count of the loop {names} is not known, so it counts once."),
            all => format!("The trip counts of {all} loops are not known, so they count once: {names}."),
        });
    }
    if !cost.branches.is_empty() {
        let all = count(cost.branches.len() as u64, "conditional", "conditionals");
        notes.push(format!("The most expensive branch of {all} counts."));
    }
    notes
}
