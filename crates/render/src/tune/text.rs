//! The best layouts as text.

use crate::words::{Grouped, InUnits, Signed, answered_by, count, difference, interrupted};
use crate::{Show, Text};
use xla_shape_answers::cost::Amount;
use xla_shape_answers::tune::{Advice, ArrayLayout, Cost, Entry, Problem, Tuning, Write};

impl Show for Tuning {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        for answer in answer(self) {
            text.paragraph(answer);
        }
        for note in &self.notes {
            text.paragraph(note);
        }
        if let Some(best) = self.changed() {
            gains(self, &mut text, best);
            text.heading("To write");
            for array in &self.arrays {
                let Some(write) = &array.write else { continue };
                text.verbatim(format_args!("  {}", array.name));
                // Code for the user to copy is not wrapped.
                for (tool, code) in lines(write) {
                    text.verbatim(format_args!("    {tool:<5}  {code}"));
                }
            }
        }
        match &self.advice {
            Some(advice) => push_advice(&mut text, advice),
            None => table(self, &mut text),
        }
        text
    }
}

/// How many compilations were made, and by which compiler.
pub(super) fn made(tuning: &Tuning) -> String {
    if tuning.advice.is_some() {
        return "No compilations.".to_owned();
    }
    let compiled = count(tuning.compiles as u64, "compilation", "compilations");
    format!("{compiled}{}.", answered_by(&tuning.search))
}

/// The sentences that answer the question.
pub(super) fn answer(tuning: &Tuning) -> Vec<String> {
    if let Some(advice) = &tuning.advice {
        let mark = "This is advice from modules that are compiled already. No compiler confirmed it: to try it, give the programs as \
                    StableHLO.";
        return advice.iter().flat_map(sentences).chain([mark.to_owned()]).collect();
    }
    let mut answers = Vec::new();
    let Some(best) = &tuning.best else {
        let exceed = !tuning.tried.is_empty()
            && tuning.tried.iter().all(|entry| matches!(tuning.problem(entry), Some(Problem::Exceeds(_))));
        let why = if exceed { "exceed the limit" } else { "cannot be used" };
        answers.push(format!("All layouts that were tried {why}."));
        answers.extend(incomplete(tuning));
        return answers;
    };
    let is_today = |name: &String| tuning.today.layouts.as_ref().and_then(|today| today.get(name)) == best.get(name);
    for (name, layout) in best {
        let should = if is_today(name) { "should stay" } else { "should be" };
        answers.push(format!("{name} {should} {}.", layout_text(layout)));
    }
    let entry = tuning.best_entry.and_then(|number| tuning.tried.get(number));
    if tuning.keep {
        let all = if tuning.all { "no combination" } else { "none of the layouts that were tried" };
        let within = if tuning.limit.is_some() { " within the limit" } else { "" };
        // Only layouts in the same memory are compared by cycles.
        let (less, unit) = if is_time(tuning) { ("less time", "time") } else { ("fewer cycles", "cycles") };
        let here = if best.values().any(|layout| layout.memory.is_some()) { " in this memory" } else { "" };
        answers.push(format!(
            "Keep it: {all}{within}{here} takes {less}, by the compiler's estimates, or equal {unit} and less memory."
        ));
    } else if let Some(entry) = entry {
        let (before, after) = (tuning.today.cost.bytes.unwrap_or(0), entry.cost.bytes.unwrap_or(0));
        answers.push(if tuning.moved {
            format!(
                "{} of memory. The cycles cannot be compared: the array is in another memory.",
                Signed(difference(before, after))
            )
        } else {
            format!("{}, by the compiler's estimates.", changed(&tuning.today.cost, &entry.cost))
        });
        answers.extend(with_auto(tuning, entry));
    }
    answers.extend(incomplete(tuning));
    answers
}

/// How to get the program of an entry for which the compiler chooses the layouts.
fn with_auto(tuning: &Tuning, entry: &Entry) -> Option<String> {
    let programs = (!entry.auto.is_empty()).then(|| entry.auto.join(" and "))?;
    let explicit = tuning.explicit(entry).and_then(|other| other.cost.amount).filter(|_| !tuning.moved);
    let explicit = explicit
        .map_or_else(String::new, |amount| format!(" Compiled with these layouts themselves, it takes {amount}."));
    Some(format!(
        "For {programs}, compile with Layout.AUTO for these arrays, use the result, and give the arrays its `input_formats` and \
         `output_formats`: the compiler chooses these layouts and makes another program than of the layouts themselves.{explicit}"
    ))
}

/// A sentence, if the search stopped early.
fn incomplete(tuning: &Tuning) -> Option<String> {
    let why = if tuning.ended {
        interrupted(&tuning.search)
    } else {
        "It reached the limit of compilations. A higher limit continues it."
    };
    tuning.search.cut.then(|| format!("The search is not complete. {why}"))
}

/// What the best layouts gain in each program, and why.
fn gains(tuning: &Tuning, text: &mut Text, best: &Entry) {
    text.heading("Compared with today");
    for (program, today) in best.cost.programs.iter().zip(&tuning.today.cost.programs) {
        let weight = tuning.programs.iter().find(|other| other.name == program.program).map_or(1, |own| own.weight);
        let weight = if weight == 1 { String::new() } else { format!(" (weight {weight})") };
        let amounts = if tuning.moved { String::new() } else { amounts(today.amount, program.amount) + ", " };
        text.paragraph(format!(
            "  {}{weight}: {amounts}{} of memory, copies {} -> {}",
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
            let number = u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX);
            let change = today.amount.unwrap_or(Amount::Cycles(0)).with_number(number);
            format!("{opcode} {sign}{}", change.in_column())
        });
        let opcodes = opcodes.collect::<Vec<_>>();
        if !opcodes.is_empty() && !tuning.moved {
            let unit = if is_time(tuning) { "time" } else { "cycles" };
            text.paragraph(format!("    {unit} by opcode: {}", opcodes.join(", ")));
        }
    }
}

fn table(tuning: &Tuning, text: &mut Text) {
    text.heading("Tried");
    let entries = tuning.sorted();
    let unit = if is_time(tuning) { "" } else { " cycles" };
    for entry in entries.iter().take(SHOWN_TRIED) {
        let figures = tuning.problem(entry).map(said).unwrap_or_else(|| {
            format!(
                "{:>15}{unit}  {:>10}  {}",
                entry.cost.amount.map_or_else(String::new, Amount::in_column),
                InUnits(entry.cost.bytes.unwrap_or(0)).to_string(),
                count(entry.cost.copies.unwrap_or(0) as u64, "copy", "copies")
            )
        });
        text.verbatim(format_args!("  {figures}  {}  ({})", choice(entry), entry.because));
    }
    if entries.len() > SHOWN_TRIED {
        text.paragraph(format!("  … and {} more", Grouped((entries.len() - SHOWN_TRIED) as u64)));
    }
    text.paragraph(made(tuning));
    for array in &tuning.arrays {
        let mut left_out = Vec::new();
        if array.padded > 0 && !tuning.all {
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

/// Why an entry cannot be recommended, in words.
pub(super) fn said(problem: Problem<'_>) -> String {
    match problem {
        Problem::Refused(error) => format!("refused: {error}"),
        Problem::NotTaken => "not taken: the compiled programs have other layouts".to_owned(),
        Problem::Exceeds(bytes) => format!("exceeds the limit: {}", InUnits(bytes)),
        // This text also serves for a variant that a later version adds.
        _ => "the cost is not known".to_owned(),
    }
}

/// The layout of each array, and the programs for which the compiler chose the layouts.
pub(super) fn choice(entry: &Entry) -> String {
    let layouts = entry.layouts.iter().map(|(name, layout)| format!("{name} {layout}"));
    let layouts = layouts.collect::<Vec<_>>().join(", ");
    if entry.auto.is_empty() { layouts } else { format!("{layouts}, AUTO for {}", entry.auto.join(", ")) }
}

/// The code to write, for each tool.
pub(super) fn lines(write: &Write) -> [(&'static str, &str); 3] {
    [("JAX", &write.jax), ("Orbax", &write.orbax), ("Rust", &write.shape)]
}

/// A layout in words.
fn layout_text(layout: &ArrayLayout) -> String {
    let order = layout.major_to_minor.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let memory = layout.memory.map_or_else(String::new, |memory| format!(", in {memory}"));
    format!("{}, major to minor ({order}){memory}", layout.layout)
}

/// Says which layouts would make copies unnecessary, and which one takes less memory.
fn sentences(advice: &Advice) -> Vec<String> {
    let name = &advice.array;
    let wanted = advice.layouts.iter().map(|wanted| {
        let copies = count(wanted.copies as u64, "copy", "copies");
        let amount = wanted.amount.map_or_else(String::new, |amount| format!(" of {amount}"));
        format!("{name}: with {}, {copies}{amount} would not have to change the layout.", layout_text(&wanted.layout))
    });
    let mut sentences: Vec<String> = wanted.collect();
    if advice.copies.is_empty() {
        sentences.push(format!("{name}: no copy changes its layout or repeats it."));
    } else if sentences.is_empty() {
        sentences.push(format!("{name}: no layout of it is known to remove its copies."));
    }
    let most = advice.places.iter().filter_map(|place| place.bytes).max();
    if let Some((smallest, most)) = advice.smallest.as_ref().zip(most).filter(|(one, most)| one.bytes < *most) {
        let (fewest, most) = (InUnits(smallest.bytes), InUnits(most));
        sentences.push(format!(
            "{name}: {}, takes the least memory, {fewest} instead of {most}.",
            layout_text(&smallest.layout)
        ));
    }
    sentences
}

/// The places, each with its layout and padding.
pub(super) fn places(advice: &Advice) -> impl Iterator<Item = String> {
    advice.places.iter().map(|here| {
        let bytes = here.bytes.map_or_else(String::new, |bytes| format!(", {}", InUnits(bytes)));
        let padding = here.padding.filter(|padding| *padding > 0);
        let padding = padding.map_or_else(String::new, |padding| format!(", padding {}", InUnits(padding)));
        format!("{} of {}: {}{bytes}{padding}", here.place, here.program, here.layout)
    })
}

/// The copies, layouts and code of compiled modules.
fn push_advice(text: &mut Text, advice: &[Advice]) {
    for array in advice {
        text.heading(&array.array);
        for place in places(array) {
            text.verbatim(format_args!("  {place}"));
        }
        for copy in array.copies.iter().take(SHOWN_TRIED) {
            let amount = copy.amount.map_or_else(String::new, |amount| format!(", {amount}"));
            text.verbatim(format_args!(
                "  copy %{} of {}: {} -> {}{amount}",
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
            for (tool, code) in lines(write) {
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
            format!("; {} of memory", Signed(difference(before, after)))
        }
        _ => String::new(),
    };
    let copies = match (today.copies, best.copies) {
        (Some(before), Some(after)) if before != after => format!("; copies {before} -> {after}"),
        _ => String::new(),
    };
    format!("{}{memory}{copies}", amounts(today.amount, best.amount))
}

/// Whether the programs are for a GPU, so that they cost time and not cycles.
pub(super) const fn is_time(tuning: &Tuning) -> bool {
    matches!(tuning.today.cost.amount, Some(Amount::Time(_)))
}

fn amounts(before: Option<Amount>, after: Option<Amount>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before.number() > 0 => {
            let percent = (after.number() as f64 - before.number() as f64) / before.number() as f64 * 100.0;
            format!("{} -> {after} ({percent:+.1} %)", before.in_column())
        }
        _ => "the cost is not known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::amounts;
    use xla_shape_answers::cost::{Amount, Seconds};

    #[test]
    fn cycles_and_times_have_their_units() {
        let time = |microseconds: u64| Some(Amount::Time(Seconds::from_picoseconds(microseconds * 1_000_000)));
        assert_eq!(amounts(time(10), time(5)), "10.0 µs -> 5.00 µs (-50.0 %)");
        assert_eq!(amounts(Some(Amount::Cycles(1010)), Some(Amount::Cycles(710))), "1,010 -> 710 cycles (-29.7 %)");
        assert_eq!(amounts(time(10), None), "the cost is not known");
    }
}
