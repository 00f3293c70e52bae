//! The best layouts as text.

use super::advice::Advice;
use super::{ArrayLayout, Cost, Entry, Tuning, Write};
use crate::words::{Grouped, InUnits, Signed, count, difference};
use crate::{Answer, Text};
use std::fmt;

impl Answer for Tuning {
    const SCHEMA: &'static str = "xla-shape/tune/1";

    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for answer in self.answer() {
            text.paragraph(answer);
        }
        for note in &self.notes {
            text.paragraph(note);
        }
        if let Some(best) = self.changed() {
            self.gains(&mut text, best);
            text.heading("To write");
            for array in &self.arrays {
                let Some(write) = &array.write else { continue };
                text.verbatim(format_args!("  {}", array.name));
                // Code for the user to copy is not wrapped.
                for (tool, code) in write.lines() {
                    text.verbatim(format_args!("    {tool:<5}  {code}"));
                }
            }
        }
        match &self.advice {
            Some(advice) => push_advice(&mut text, advice),
            None => self.table(&mut text),
        }
        text
    }
}

impl Tuning {
    /// The best entry, if it is not today's.
    pub(super) fn changed(&self) -> Option<&Entry> {
        self.best_entry.and_then(|number| self.tried.get(number)).filter(|_| !self.keep)
    }

    /// All that was tried, the best first.
    pub(super) fn sorted(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.tried.iter().collect();
        entries.sort_by_key(|entry| {
            (self.problem(entry).is_some(), entry.cost.cycles.is_none(), entry.cost.cycles, entry.cost.bytes)
        });
        entries
    }

    /// How many compilations were made, and by which compiler.
    pub(super) fn made(&self) -> String {
        if self.advice.is_some() {
            return "No compilations.".to_owned();
        }
        let compiled = count(self.compiles as u64, "compilation", "compilations");
        let kept = if self.kept > 0 {
            format!("; {} were in the cache", count(self.kept as u64, "answer", "answers"))
        } else {
            String::new()
        };
        // A version may have several lines.
        let words = |version: &String| version.split_whitespace().collect::<Vec<_>>().join(" ");
        let by = self.compilers.iter().map(words).collect::<Vec<_>>().join(", ");
        let by = if by.is_empty() { by } else { format!(" by {by}") };
        format!("{compiled}{by}{kept}.")
    }

    /// The sentences that answer the question.
    pub(super) fn answer(&self) -> Vec<String> {
        if let Some(advice) = &self.advice {
            let mark = "This is advice from modules that are compiled already. No compiler confirmed it: to try it, give the programs as \
                        StableHLO.";
            return advice.iter().flat_map(Advice::sentences).chain([mark.to_owned()]).collect();
        }
        let mut answers = Vec::new();
        let Some(best) = &self.best else {
            let exceed = !self.tried.is_empty() && self.tried.iter().all(|entry| self.exceeds(entry));
            let why = if exceed { "exceed the limit" } else { "cannot be used" };
            answers.push(format!("All layouts that were tried {why}."));
            answers.extend(self.incomplete());
            return answers;
        };
        let is_today = |name: &String| self.today.layouts.as_ref().and_then(|today| today.get(name)) == best.get(name);
        for (name, layout) in best {
            let should = if is_today(name) { "should stay" } else { "should be" };
            answers.push(format!("{name} {should} {layout}."));
        }
        let entry = self.best_entry.and_then(|number| self.tried.get(number));
        if self.keep {
            let all = if self.all { "no combination" } else { "none of the layouts that were tried" };
            let within = if self.limit.is_some() { " within the limit" } else { "" };
            // Cycles in other memories are not compared.
            let here = if best.values().any(|layout| layout.memory.is_some()) { " in this memory" } else { "" };
            answers.push(format!(
                "Keep it: {all}{within}{here} takes fewer cycles, by the compiler's estimates, or equal cycles and less memory."
            ));
        } else if let Some(entry) = entry {
            let (before, after) = (self.today.cost.bytes.unwrap_or(0), entry.cost.bytes.unwrap_or(0));
            answers.push(if self.moved {
                format!(
                    "{} of HBM. The cycles cannot be compared: the array is in another memory.",
                    Signed(difference(before, after))
                )
            } else {
                format!("{}, by the compiler's estimates.", changed(&self.today.cost, &entry.cost))
            });
            answers.extend(self.with_auto(entry));
        }
        answers.extend(self.incomplete());
        answers
    }

    /// How to get the program of an entry for which the compiler chooses the layouts.
    fn with_auto(&self, entry: &Entry) -> Option<String> {
        let programs = (!entry.auto.is_empty()).then(|| entry.auto.join(" and "))?;
        let is_explicit = |other: &&Entry| other.auto.is_empty() && other.layouts == entry.layouts;
        let explicit = self.tried.iter().find(is_explicit).filter(|other| self.problem(other).is_none());
        let explicit = explicit.and_then(|other| other.cost.cycles).filter(|_| !self.moved);
        let explicit = explicit.map_or_else(String::new, |cycles| {
            format!(" Compiled with these layouts themselves, it takes {}.", count(cycles, "cycle", "cycles"))
        });
        Some(format!(
            "For {programs}, compile with Layout.AUTO for these arrays, use the result, and give the arrays its `input_formats` and \
             `output_formats`: the compiler chooses these layouts and makes another program than of the layouts themselves.{explicit}"
        ))
    }

    /// A sentence, if the search stopped early.
    fn incomplete(&self) -> Option<String> {
        let why = match (self.ended, self.goes_on) {
            (false, _) => "it reached the limit of compilations. A higher limit continues it.",
            (true, true) => "it was interrupted. The next run goes on from the answers in the cache.",
            (true, false) => "it was interrupted. Its answers are not in a cache, so the next run begins anew.",
        };
        self.cut.then(|| format!("The search is not complete: {why}"))
    }

    /// Whether a program takes more memory than it may.
    fn exceeds(&self, entry: &Entry) -> bool {
        entry.taken && self.limit.zip(entry.cost.bytes).is_some_and(|(limit, bytes)| bytes > limit)
    }

    /// Why an entry is no answer.
    pub(super) fn problem(&self, entry: &Entry) -> Option<String> {
        let exceeds =
            || self.exceeds(entry).then(|| format!("exceeds the limit: {}", InUnits(entry.cost.bytes.unwrap_or(0))));
        entry.problem().or_else(exceeds)
    }

    /// What the best layouts gain in each program, and why.
    fn gains(&self, text: &mut Text, best: &Entry) {
        text.heading("Compared with today");
        for (program, today) in best.cost.programs.iter().zip(&self.today.cost.programs) {
            let weight = self.programs.iter().find(|other| other.name == program.program).map_or(1, |own| own.weight);
            let weight = if weight == 1 { String::new() } else { format!(" (weight {weight})") };
            let cycles = if self.moved { String::new() } else { cycles(today.cycles, program.cycles) + ", " };
            text.paragraph(format!(
                "  {}{weight}: {cycles}{} of HBM, copies {} -> {}",
                program.program,
                Signed(difference(today.bytes, program.bytes)),
                today.copies,
                program.copies
            ));
            for (word, copies) in [("gone", &program.gone), ("new", &program.new)] {
                for copy in copies.iter().take(CHANGES_SHOWN) {
                    text.verbatim(format_args!("    {word}: copy {copy}"));
                }
            }
            let opcodes = program.opcodes.iter().take(3).map(|(opcode, change)| {
                let sign = if *change < 0 { '-' } else { '+' };
                format!("{opcode} {sign}{}", Grouped(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX)))
            });
            let opcodes = opcodes.collect::<Vec<_>>();
            if !opcodes.is_empty() && !self.moved {
                text.paragraph(format!("    cycles by opcode: {}", opcodes.join(", ")));
            }
        }
    }

    fn table(&self, text: &mut Text) {
        text.heading("Tried");
        let entries = self.sorted();
        for entry in entries.iter().take(SHOWN_TRIED) {
            let figures = self.problem(entry).unwrap_or_else(|| {
                format!(
                    "{:>15} cycles  {:>10}  {}",
                    Grouped(entry.cost.cycles.unwrap_or(0)).to_string(),
                    InUnits(entry.cost.bytes.unwrap_or(0)).to_string(),
                    count(entry.cost.copies.unwrap_or(0) as u64, "copy", "copies")
                )
            });
            text.verbatim(format_args!("  {figures}  {}  ({})", entry.choice(), entry.because));
        }
        if entries.len() > SHOWN_TRIED {
            text.paragraph(format!("  … and {} more", Grouped((entries.len() - SHOWN_TRIED) as u64)));
        }
        text.paragraph(self.made());
        for array in &self.arrays {
            let mut left_out = Vec::new();
            if array.padded > 0 && !self.all {
                left_out.push(format!("too much padding: {}", array.padded));
            }
            if array.repeated > 0 {
                left_out.push(format!("{} only repeat another one (dimensions of size 1)", array.repeated));
            }
            let left_out = if left_out.is_empty() { String::new() } else { format!("; {}", left_out.join("; ")) };
            let layouts = count(array.layouts as u64, "layout", "layouts");
            text.paragraph(format!("{}: {} has {layouts} in the device's tiles{left_out}.", array.name, array.shape));
            for preferred in &array.preferred {
                text.verbatim(format_args!("  {} prefers {}", preferred.program, preferred.layout));
            }
        }
    }
}

impl Entry {
    /// Why there is no figure.
    fn problem(&self) -> Option<String> {
        match (&self.error, self.taken, self.cost.cycles) {
            (Some(error), ..) => Some(format!("refused: {error}")),
            (None, false, _) => Some("not taken: the compiled programs have other layouts".to_owned()),
            (None, true, None) => Some("the cycles are not known".to_owned()),
            (None, true, Some(_)) => None,
        }
    }

    /// The layout of each array, and for which programs the compiler chose it.
    pub(super) fn choice(&self) -> String {
        let layouts = self.layouts.iter().map(|(name, layout)| format!("{name} {layout}"));
        let layouts = layouts.collect::<Vec<_>>().join(", ");
        if self.auto.is_empty() { layouts } else { format!("{layouts}, AUTO for {}", self.auto.join(", ")) }
    }
}

impl Write {
    /// What to write in each tool.
    pub(super) fn lines(&self) -> [(&'static str, &str); 3] {
        [("JAX", &self.jax), ("Orbax", &self.orbax), ("Rust", &self.shape)]
    }
}

impl fmt::Display for ArrayLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = self.major_to_minor.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}, major to minor ({order})", self.layout)?;
        self.memory.map_or(Ok(()), |memory| write!(f, ", in {memory}"))
    }
}

impl Advice {
    /// With which layouts copies would not have to change the layout, and which one takes less memory.
    fn sentences(&self) -> Vec<String> {
        let name = &self.array;
        let wanted = self.layouts.iter().map(|wanted| {
            let copies = count(wanted.copies as u64, "copy", "copies");
            let cycles =
                wanted.cycles.map_or_else(String::new, |cycles| format!(" of {}", count(cycles, "cycle", "cycles")));
            format!("{name}: with {}, {copies}{cycles} would not have to change the layout.", wanted.layout)
        });
        let mut sentences: Vec<String> = wanted.collect();
        if self.copies.is_empty() {
            sentences.push(format!("{name}: no copy changes its layout or repeats it."));
        } else if sentences.is_empty() {
            sentences.push(format!("{name}: no layout of it is known to remove its copies."));
        }
        let most = self.places.iter().filter_map(|place| place.bytes).max();
        if let Some((smallest, most)) = self.smallest.as_ref().zip(most).filter(|(one, most)| one.bytes < *most) {
            let (fewest, most) = (InUnits(smallest.bytes), InUnits(most));
            sentences.push(format!("{name}: {}, takes the least memory, {fewest} instead of {most}.", smallest.layout));
        }
        sentences
    }

    /// The places, each with its layout and padding.
    pub(super) fn places(&self) -> impl Iterator<Item = String> {
        self.places.iter().map(|here| {
            let bytes = here.bytes.map_or_else(String::new, |bytes| format!(", {}", InUnits(bytes)));
            let padding = here.padding.filter(|padding| *padding > 0);
            let padding = padding.map_or_else(String::new, |padding| format!(", padding {}", InUnits(padding)));
            format!("{} of {}: {}{bytes}{padding}", here.place, here.program, here.layout)
        })
    }
}

/// The copies, layouts and code of compiled modules.
fn push_advice(text: &mut Text, advice: &[Advice]) {
    for array in advice {
        text.heading(&array.array);
        for place in array.places() {
            text.verbatim(format_args!("  {place}"));
        }
        for copy in array.copies.iter().take(SHOWN_TRIED) {
            let cycles =
                copy.cycles.map_or_else(String::new, |cycles| format!(", {}", count(cycles, "cycle", "cycles")));
            text.verbatim(format_args!(
                "  copy %{} of {}: {} -> {}{cycles}",
                copy.instruction, copy.program, copy.from, copy.to
            ));
            text.paragraph(format!("    cause: {}", copy.cause));
            if let Some(remedy) = &copy.remedy {
                text.paragraph(format!("    remedy: {remedy}"));
            }
        }
        if array.copies.len() > SHOWN_TRIED {
            text.paragraph(format!("  … and {} more", Grouped((array.copies.len() - SHOWN_TRIED) as u64)));
        }
        for wanted in &array.layouts {
            let Some(write) = &wanted.write else { continue };
            text.verbatim(format_args!("  to write for {}", wanted.layout.layout));
            for (tool, code) in write.lines() {
                text.verbatim(format_args!("    {tool:<5}  {code}"));
            }
        }
    }
}

/// At most this many copies of a program are shown.
pub(super) const CHANGES_SHOWN: usize = 5;

/// At most this many of the choices that were tried are shown.
const SHOWN_TRIED: usize = 30;

/// How the cost changes, as the beginning of a sentence.
fn changed(today: &Cost, best: &Cost) -> String {
    let memory = match (today.bytes, best.bytes) {
        (Some(before), Some(after)) if before != after => {
            format!("; {} of HBM", Signed(difference(before, after)))
        }
        _ => String::new(),
    };
    let copies = match (today.copies, best.copies) {
        (Some(before), Some(after)) if before != after => format!("; copies {before} -> {after}"),
        _ => String::new(),
    };
    format!("{}{memory}{copies}", cycles(today.cycles, best.cycles))
}

fn cycles(before: Option<u64>, after: Option<u64>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before > 0 => {
            let percent = (after as f64 - before as f64) / before as f64 * 100.0;
            format!("{} -> {} cycles ({percent:+.1} %)", Grouped(before), Grouped(after))
        }
        _ => "the cycles are not known".to_owned(),
    }
}
