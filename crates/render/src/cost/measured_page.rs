//! What a profile measured of a program, as sections of a page.

use super::measured::{Each, answer, notes, percent, time};
use super::text::{SHOWN, heading_of};
use crate::web::{Element, MOST, element, elements, hint, left_out, section, table};
use crate::words::{Factor, Grouped, InUnits};
use xla_shape_answers::cost::{Measured, MeasuredCopy, MeasuredInstruction};

/// The sections: the sentence that answers, pictures if there are any, copies, lines, scopes, opcodes, instructions, collectives and modules.
pub(super) fn sections(measured: &Measured, pictures: Option<Element>) -> Element {
    let columns = ["Time", "Part", "Where", "Instructions"];
    let row = |name: &str, picoseconds, share, instructions: usize| {
        [time(picoseconds), percent(share), name.to_owned(), Grouped(instructions as u64).to_string()]
    };
    let lines = measured.lines.iter().map(|line| {
        let name = line.source.as_deref().unwrap_or("(no source line)");
        row(name, line.picoseconds, line.share, line.instructions)
    });
    let scopes = measured.scopes.iter();
    let scopes = scopes.map(|scope| row(&scope.scope, scope.picoseconds, scope.share, scope.instructions));
    let opcodes = measured.opcodes.iter().map(|opcode| {
        let name = opcode.opcode.as_deref().unwrap_or("(not in the module)");
        row(name, opcode.picoseconds, opcode.share, opcode.instructions)
    });
    elements()
        .with(element("p").id("measured").text(answer(measured)))
        .with_all(notes(measured).into_iter().map(hint))
        .with_all(pictures)
        .with_all(copies(measured))
        .with_all(table("measured-lines", "By source line, as measured", columns, 2, lines))
        .with_all(table("measured-scopes", "By scope, as measured", columns, 2, scopes))
        .with_all(table("measured-opcodes", "By opcode, as measured", columns, 2, opcodes))
        .with_all(instructions(measured))
        .with_all(collectives(measured))
        .with_all(modules(measured))
}

fn copies(measured: &Measured) -> Option<Element> {
    let known = measured.copies.get(..MOST).unwrap_or(&measured.copies);
    let (first, others) = known.split_at(known.len().min(SHOWN));
    let list = |copies: &[MeasuredCopy]| element("ul").class("copies").with_all(copies.iter().map(copy_entry));
    let more = (!others.is_empty()).then(|| {
        let summary = element("summary").text(format_args!("{} more", Grouped(others.len() as u64)));
        element("details").with(summary).with(list(others))
    });
    (!known.is_empty()).then(|| {
        let heading = heading_of(measured.copies.iter().map(|copy| copy.change));
        section("measured-copies", format!("{heading}, by measured time"))
            .with(list(first))
            .with_all(more)
            .with_all(left_out(measured.copies.len()))
    })
}

fn copy_entry(copy: &MeasuredCopy) -> Element {
    let (picoseconds, share) = (time(copy.times.picoseconds), percent(copy.times.share));
    let bytes = copy.bytes.map_or(String::new(), |bytes| format!(", {}", InUnits(bytes)));
    let source = copy.source.as_ref().map_or(String::new(), |source| format!(", {source}"));
    let remedy = copy.remedy.as_ref();
    element("li")
        .with(element("code").text(format_args!("%{}", copy.instruction)))
        .text(format_args!(" ({}): {picoseconds}, {share}{bytes}{source}", copy.opcode))
        .with(element("p").class("shape").text(&copy.from).text(" → ").text(&copy.to))
        .with(element("p").text(&copy.cause))
        .with_all(remedy.map(|remedy| element("p").class("remedy").text("To remove it: ").text(remedy)))
}

fn instructions(measured: &Measured) -> Option<Element> {
    let columns = ["Time", "Part", "Executions", "Instruction", "Each", "Source"];
    let row = |found: &MeasuredInstruction| {
        let (times, Each { count, mean, range }) = (&found.times, Each::of(&found.times));
        let mean = time(mean);
        let expected = found.estimate_picoseconds.filter(|_| found.differs).zip(found.over_estimate);
        let expected = expected.map_or(String::new(), |(expected, over)| {
            format!(", {} what the compiler expected, {}", Factor(over), time(expected))
        });
        [
            time(times.picoseconds),
            percent(times.share),
            count,
            format!("%{} ({})", found.instruction, found.opcode.as_deref().unwrap_or("not in the module")),
            format!("{mean}{range}{expected}"),
            found.source.clone().unwrap_or_default(),
        ]
    };
    let rows = measured.instructions.iter().map(row);
    table("measured-instructions", "Instructions, by measured time", columns, 3, rows)
}

fn collectives(measured: &Measured) -> Option<Element> {
    let columns = ["Time", "Executions", "Bytes in", "Bytes out", "Instruction", "Source"];
    let rows = measured.collectives.iter().map(|found| {
        [
            time(found.times.picoseconds),
            Each::of(&found.times).count,
            InUnits(found.bytes_in).to_string(),
            InUnits(found.bytes_out).to_string(),
            format!("%{} ({})", found.instruction, found.opcode),
            found.source.clone().unwrap_or_default(),
        ]
    });
    table("measured-collectives", "Collectives, by measured time", columns, 4, rows)
}

fn modules(measured: &Measured) -> Option<Element> {
    let rows = measured.modules.iter().map(|module| {
        let runs = module.runs.map_or(String::new(), |runs| Grouped(runs as u64).to_string());
        [time(module.picoseconds), runs, module.module.clone()]
    });
    let rows = rows.collect::<Vec<_>>();
    (rows.len() > 1)
        .then(|| table("measured-modules", "Modules of the profile", ["Time", "Runs", "Module"], 2, rows.into_iter()))
        .flatten()
}
