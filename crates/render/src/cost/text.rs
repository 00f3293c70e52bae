//! The cost of a program as text.

use super::measured;
use crate::words::{Grouped, InUnits, Signed, count, difference};
use crate::{Show, Text};
use std::fmt::Write as _;
use xla_shape_answers::cost::{Amount, Basis, ByBytes, Changed, Collective, CopyCost, NoTotal, ProgramCost, Tried};

/// The indent of the lines that belong to an entry.
pub(super) const INDENT: &str = "      ";

/// At most this many entries of a list are shown.
pub(super) const SHOWN: usize = 10;

impl Show for ProgramCost {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        if let Some(found) = &self.measured {
            measured::add(&mut text, found);
            // The rows of measured times include the compiler's figures, so only the compiler's total follows.
            if self.sums.total.is_some() {
                text.heading("What the compiler expected");
                text.paragraph(answer(self));
            }
            return text;
        }
        text.paragraph(answer(self));
        for note in notes(self) {
            text.paragraph(note);
        }
        if !self.copies.is_empty() {
            text.heading(heading_of(self.copies.iter().map(|copy| copy.change)));
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
        let of = self.sums.total;
        table(
            &mut text,
            "By source line",
            of,
            self.lines
                .iter()
                .map(|line| (line.source.as_deref().unwrap_or("(no source line)"), line.amount, line.instructions)),
        );
        table(
            &mut text,
            "By scope",
            of,
            self.scopes.iter().map(|scope| (scope.scope.as_str(), scope.amount, scope.instructions)),
        );
        table(
            &mut text,
            "By opcode",
            of,
            self.opcodes.iter().map(|opcode| (opcode.opcode.as_str(), opcode.amount, opcode.instructions)),
        );
        if !self.instructions.is_empty() {
            text.heading(expensive(self));
        }
        for found in self.instructions.iter().take(SHOWN) {
            let (runs, total) = (number_in_words(found.runs), in_column(found.total));
            let source = found.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
            // Writing to a `Text` does not fail.
            let _ = writeln!(
                text,
                "  {total:>14}  {} × {}  %{} ({}){source}",
                in_column(found.amount),
                runs,
                found.instruction,
                found.opcode
            );
        }
        more(&mut text, self.instructions.len());
        if !self.collectives.is_empty() {
            text.heading(collectives(self));
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
    let total = copy.total.map_or("no figure".to_owned(), Amount::in_column);
    let share = copy.share.map_or(String::new(), |share| format!("{:.1} %", share * 100.0));
    let bytes = copy.bytes.map_or(String::new(), |bytes| InUnits(bytes).to_string());
    let source = copy.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
    let _ = writeln!(text, "  {total:>12} {share:>7} {bytes:>10}  %{} ({}){source}", copy.instruction, copy.opcode);
    text.hanging(INDENT, &format!("{} -> {}", copy.from, copy.to));
    text.hanging(INDENT, &copy.cause.to_string());
    if let Some(remedy) = &copy.remedy {
        text.hanging(INDENT, &format!("to remove it: {remedy}"));
    }
}

fn table<'t>(
    text: &mut Text,
    heading: &str,
    all: Option<Amount>,
    rows: impl ExactSizeIterator<Item = (&'t str, Option<Amount>, usize)>,
) {
    let length = rows.len();
    if length == 0 {
        return;
    }
    text.heading(heading);
    for (name, amount, instructions) in rows.take(SHOWN) {
        let share = share(amount, all);
        let instructions = count(instructions as u64, "instruction", "instructions");
        let _ = writeln!(text, "  {:>14} {share:>7}  {name}  {instructions}", in_column(amount));
    }
    more(text, length);
}

/// Says how many entries a list has beyond those that were shown.
pub(super) fn more(text: &mut Text, length: usize) {
    if let Some(left) = length.checked_sub(SHOWN).filter(|&left| left > 0) {
        let _ = writeln!(text, "  … and {left} more");
    }
}

/// A number, or a question mark where it is not known.
pub(super) fn number_in_words(number: Option<u64>) -> String {
    number.map_or("?".to_owned(), |number| Grouped(number).to_string())
}

/// An amount, or a question mark where it is not known.
pub(super) fn in_column(amount: Option<Amount>) -> String {
    amount.map_or("?".to_owned(), Amount::in_column)
}

fn percent(part: Amount, all: Amount) -> String {
    format!("{:.1} %", part.number() as f64 / all.number() as f64 * 100.0)
}

/// A part in percent of `all`; empty if either is not known.
pub(super) fn share(part: Option<Amount>, all: Option<Amount>) -> String {
    part.zip(all.filter(|all| all.number() > 0)).map_or(String::new(), |(part, all)| percent(part, all))
}

/// An amount before and after, of which one can be missing.
pub(crate) fn change(before: Option<Amount>, after: Option<Amount>) -> String {
    let is_time = [before, after].iter().flatten().any(|amount| amount.time().is_some());
    let [before, after] = [before, after].map(|amount| amount.map_or("0".to_owned(), Amount::in_column));
    format!("{before} -> {after}{}", if is_time { "" } else { " cycles" })
}

/// The heading of the instructions.
pub(super) const fn expensive(cost: &ProgramCost) -> &'static str {
    match cost.sums.are_times() {
        true => "Most expensive instructions, by the time of all their runs",
        false => "Most expensive instructions, by the cycles of all their runs",
    }
}

/// The heading of the collectives.
pub(super) const fn collectives(cost: &ProgramCost) -> &'static str {
    match cost.sums.are_times() {
        true => "Collectives, for which the compiler gives no time",
        false => "Collectives, for which the compiler gives no cycles",
    }
}

/// What runs at the same time as a collective.
pub(super) fn beside(found: &Collective) -> String {
    match (found.hidden, found.hidden_by.as_slice()) {
        (None, _) if found.is_asynchronous => "asynchronous, but the module has no schedule".to_owned(),
        (None, _) => "nothing runs beside it".to_owned(),
        (Some(Amount::Cycles(_)), []) => "asynchronous, but nothing with cycles runs beside it".to_owned(),
        (Some(Amount::Time(_)), []) => "asynchronous, but nothing with a time runs beside it".to_owned(),
        (Some(Amount::Cycles(cycles)), names) => {
            format!("beside it run {} cycles, most of all %{}", Grouped(cycles), names.join(", %"))
        }
        (Some(Amount::Time(time)), names) => {
            format!("beside it run others for {time}, most of all %{}", names.join(", %"))
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
    let cost = match (tried.before, tried.amount) {
        (Some(before), Some(after)) if before.number() > 0 => {
            let (first, second) = (before.number() as f64, after.number() as f64);
            format!("{} ({:+.1} %)", change(Some(before), Some(after)), (second - first) / first * 100.0)
        }
        _ => "the cost is not known".to_owned(),
    };
    let bytes = match (tried.bytes_before, tried.bytes) {
        (Some(before), Some(after)) => format!(", {} of memory", Signed(difference(before, after))),
        _ => String::new(),
    };
    let copies = tried.copies.map_or(String::new(), |copies| format!(", copies {} -> {copies}", tried.copies_before));
    format!("{cost}{bytes}{copies}")
}

/// The heading of the list of copies.
pub(super) fn heading_of(mut changes: impl Iterator<Item = Changed>) -> &'static str {
    match changes.all(Changed::only_moves) {
        true => "Copies, transposes and reshapes that only move data",
        false => "What only moves data, or computes more than it must",
    }
}

/// The sentence that answers the question.
pub(crate) fn answer(cost: &ProgramCost) -> String {
    let sums = &cost.sums;
    let total = match (sums.total, sums.why_no_total()) {
        (Some(total), None) => total,
        (_, why) => return why.map_or_else(String::new, no_total),
    };
    let mut answer = format!("{total} in one run, by the compiler's estimates");
    let all = Some(total).filter(|total| total.number() > 0);
    if let Some((moved, all)) = cost.moved().zip(all) {
        let moves = if sums.are_times() { "of it only moves data" } else { "of them only move data" };
        answer += &format!("; {} {moves}", percent(moved, all));
    }
    let line = cost.lines.iter().find_map(|line| Some((line.source.as_deref()?, line.amount?)));
    if let Some(((source, amount), all)) = line.zip(all) {
        answer += &format!("; the most expensive line is {source} with {}", percent(amount, all));
    }
    answer + "."
}

/// Why there is no total, and how to get one.
fn no_total(why: NoTotal) -> String {
    let for_gpus = "GPUs of compute capability 9.0 and later, such as an H100: `xla-shape cost PROGRAM --for h100`, or the module that it \
                    returns (JAX: `compiled.as_text()`) with `XLA_FLAGS=--xla_gpu_collect_cost_model_stats=true`.";
    match why {
        NoTotal::PartialTimes => {
            format!("Most fusions have no figure, so there is no total. The compiler estimates them for {for_gpus}")
        }
        NoTotal::NoTimes => format!("The compiler says nothing about time in this module. It does for {for_gpus}"),
        NoTotal::PartialCycles => "The compiler's figures are partial, so there is no total: the files that XLA dumps leave most of them out. The \
                                   module that the compiler returns has them all (JAX: `compiled.as_text()`; or `xla-shape compile -o`)."
            .to_owned(),
        NoTotal::NoCycles => "The compiler says nothing about cycles in this module. The module that it returns has them (JAX: \
                              `compiled.as_text()`; or `xla-shape compile -o`); the files that XLA dumps do not."
            .to_owned(),
        _ => "The sum is more than a 64-bit number holds.".to_owned(),
    }
}

/// How to get the lines of the user's program, if the compiled text had none.
pub(crate) fn lines_of_text(cost: &ProgramCost) -> Option<String> {
    cost.has_lines_of_text().then(|| {
        "The lines are those of the text that was compiled. JAX writes those of the program, too: \
         `lowered.as_text(debug_info=True)`."
            .to_owned()
    })
}

/// Notes about the source lines, and about what the total does not include.
pub(super) fn notes(cost: &ProgramCost) -> Vec<String> {
    let mut notes = Vec::from_iter(lines_of_text(cost));
    if cost.sums.said > 0 && cost.sums.without > 0 {
        let groups = cost.without.iter().map(|group| format!("{} {}", group.instructions, group.opcode));
        let groups = groups.take(8).collect::<Vec<_>>().join(", ");
        notes.push(match cost.sums.without {
            1 => format!("1 instruction has no figure and counts nothing: {groups}."),
            without => format!("{without} instructions have no figure and count nothing: {groups}."),
        });
    }
    notes.extend(doubtful(cost));
    notes.extend(by_bytes(cost));
    let operations = "At least as long as the GPU's matrix units need for its operations, at their peak";
    notes.extend(bound(cost, Basis::Operations, operations));
    notes.extend(bound(cost, Basis::OnePass, "The compiler estimates one pass of a sort, which takes longer"));
    if cost.sums.flagged > 0 {
        let all = count(cost.sums.flagged as u64, "instruction", "instructions");
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

/// Names the instructions whose cost is a bound, because the compiler's estimate is doubtful.
fn doubtful(cost: &ProgramCost) -> Option<String> {
    let names = cost.bounded().take(4).filter_map(|found| {
        let (estimate, bound) = (found.estimate_seconds?, found.bound_seconds?);
        Some(format!("%{}, for which it estimates {estimate} and {bound} counts", found.instruction))
    });
    let names = names.collect::<Vec<_>>().join("; ");
    let all = count(cost.bounded().count() as u64, "instruction", "instructions");
    (!names.is_empty()).then(|| {
        format!(
            "For {all} the compiler's estimate is more than 20 times the time that it says is the least; the least counts: {names}."
        )
    })
}

/// Names the instructions whose time is only a bound.
fn bound(cost: &ProgramCost, basis: Basis, what: &str) -> Option<String> {
    let names = cost.with_basis(basis).take(4).map(|found| format!("%{}", found.instruction)).collect::<Vec<_>>();
    (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")))
}

/// Names the instructions whose cost is computed from their bytes, or could be.
fn by_bytes(cost: &ProgramCost) -> Option<String> {
    Some(match cost.by_bytes()? {
        ByBytes::Counted(counted) => {
            let all = count(counted as u64, "instruction", "instructions");
            format!(
                "For {all} the compiler gives no figure, and the time counts in which the GPU's memory moves the bytes: copies, transposes, \
                 slices, and calls of cuDNN and cuBLAS, which take longer if they compute more than they move."
            )
        }
        ByBytes::WithGpu => {
            "With a GPU named by `--for`, copies, transposes and convolutions count by the bytes that they move."
                .to_owned()
        }
    })
}
