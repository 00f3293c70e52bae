//! The output of the commands about an input.

use crate::given::Given;
use serde::Serialize;
use std::fmt::Display;
use xla_shape_answers::advise::Advice;
use xla_shape_answers::block::{BlockAnswer, Part};
use xla_shape_answers::compare::Comparison;
use xla_shape_answers::convert::Conversion;
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::draw::{DeviceDrawing, Drawing};
use xla_shape_answers::explain::Explanation;
use xla_shape_answers::hlo::{Difference, Report, check_devices};
use xla_shape_answers::kernel::Kernels;
use xla_shape_answers::numbers::no_array;
use xla_shape_answers::scan::Scan;
use xla_shape_answers::{Answer, Given as GivenShape, GivenArray};
use xla_shape_core::shard::Sharding;
use xla_shape_notations::{AnyLayout, Notation};
use xla_shape_program::{File, KernelFiles, ModuleDump, PASTED, Program, Question};
use xla_shape_render::hlo::{diff, page, screen};
use xla_shape_render::{Html, Show, Svg, harmless, shell_line};

/// How many entries a list has. This is the program's default.
const TOP: usize = 10;

/// What one command of the program outputs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct View {
    /// The command, without the name of the program. If the program reads a pasted text like a file, the
    /// text's argument is `-`, standard input.
    pub command: Vec<String>,
    /// Its text.
    pub text: String,
    /// The same with `--format json`.
    pub json: String,
    /// The picture that `--svg` writes, if there is one.
    pub svg: Option<String>,
    /// The page that `--html` writes, if there is one.
    pub page: Option<String>,
    /// The output on standard error: warnings, or the error.
    pub said: String,
}

/// The output of a command.
pub(crate) fn view(question: &Question, given: &Given<'_>) -> View {
    let mut view = View { command: question.command.clone(), ..View::default() };
    if let Err(message) = fill(&mut view, &question.command, given) {
        view.said.push_str(&message);
    }
    view.said = harmless(&view.said).into_owned();
    view
}

impl View {
    fn show(&mut self, answer: &impl Show, width: usize) {
        self.text = answer.text(width).to_string();
        self.json = answer.json();
    }

    fn say(&mut self, message: impl Display) {
        self.said.push_str(&format!("{message}\n"));
    }
}

/// An error as the program writes it.
fn error(error: impl Display) -> String {
    format!("error: {error}")
}

fn array_of(text: &str) -> Result<GivenArray, String> {
    let given = GivenShape::read(text)?;
    given.array().ok_or_else(|| error(no_array(given.shape())))
}

fn sharding_of(text: &str) -> Result<Sharding, String> {
    text.parse().map_err(|error: xla_shape_core::ParseError| error.render(text).to_string())
}

/// Answers a command as the program does. The given files take the place of the files that the command names.
fn fill(view: &mut View, command: &[String], given: &Given<'_>) -> Result<(), String> {
    let width = given.width();
    let (files, against) = (&*given.files, &*given.against);
    let first = if files.is_empty() { against } else { files };
    match command.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["explain", shape] => view.show(&Explanation::new(GivenShape::read(shape)?), width),
        ["explain", shape, "--sharding", sharding] => {
            let explanation = Explanation::new(GivenShape::read(shape)?);
            view.show(&explanation.with_sharding(sharding_of(sharding)?).map_err(error)?, width);
        }
        ["draw", shape] => {
            let drawing = Drawing::new(&array_of(shape)?.array).map_err(error)?;
            view.show(&drawing, width);
            (view.svg, view.page) = (Some(drawing.svg()), Some(drawing.html()));
        }
        ["draw", shape, "--sharding", sharding] => {
            let drawing = DeviceDrawing::new(&array_of(shape)?.array, sharding_of(sharding)?).map_err(error)?;
            view.show(&drawing, width);
            (view.svg, view.page) = (Some(drawing.svg()), Some(drawing.html()));
        }
        ["advise", shape] => view.show(&Advice::new(array_of(shape)?, &[], None, TOP).map_err(error)?, width),
        ["convert", shape] => {
            let layout = AnyLayout::of_array(&array_of(shape)?.array).map_err(error)?;
            view.show(&Conversion::new(&layout, &Conversion::usual_notations(Notation::Xla)), width);
        }
        ["convert", "--from", notation, layout] => {
            let notation = Notation::from_name(notation).unwrap_or(Notation::Xla);
            let layout = AnyLayout::read(notation, layout).map_err(|error| error.render(layout).to_string())?;
            view.show(&Conversion::new(&layout, &Conversion::usual_notations(notation)), width);
        }
        ["compare", a, b] => view.show(&Comparison::new(array_of(a)?, array_of(b)?, None).map_err(error)?, width),
        ["block", array, block] => {
            let part = Part::Input { array: array_of(array)?.array, block: array_of(block)?.array };
            view.show(&BlockAnswer::new(&[part], None, None).map_err(error)?, width);
        }
        ["scan", _] => {
            let (scan, json) = scan(first.first().map_or(&[], |file| file.bytes));
            view.text = scan.text(width).to_string();
            view.json = json;
        }
        ["hlo", "diff", ..] => match (files, against) {
            ([before, after], []) => {
                modules(view, &dump_of(std::slice::from_ref(before))?, &dump_of(std::slice::from_ref(after))?, width)?;
            }
            (before, after) => modules(view, &dump_of(before)?, &dump_of(after)?, width)?,
        },
        ["hlo", _] => {
            let program = read(view, &dump_of(first)?)?;
            let (memory, report) = Report::with_memory(&program, None, TOP, None);
            view.text = screen(&report, width).to_string();
            view.json = report.json();
            view.page = Some(page(&memory, &report, None));
        }
        ["cost", _] => {
            let dump = dump_of(first)?;
            let cost = ProgramCost::of(&read(view, &dump)?);
            let cost = cost.map_err(|wrong| error(format_args!("{}: {wrong}", dump.name)))?;
            view.show(&cost, width);
            view.page = Some(cost.html());
        }
        ["compile", _] => return Err(error("a browser has no compiler: give the command to the program")),
        ["kernel", _] => kernels_of(view, first, None, width)?,
        ["kernel", _, "--against", _] => kernels_of(view, against, Some(files), width)?,
        _ => return Err(error("the explorer does not know this command")),
    }
    Ok(())
}

/// Reads the lines of a text as the program reads the lines of a file. Also returns the answers about the lines, as JSON.
fn scan(bytes: &[u8]) -> (Scan, String) {
    let (mut scan, mut json) = (Scan::default(), String::new());
    let bytes = &*Scan::as_utf8(bytes);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        json.extend(scan.read_line(line).iter().map(Answer::json));
    }
    if scan.has_messages() {
        json += &scan.json();
    }
    (scan, json)
}

fn dump_of<'g>(files: &'g [File<'_>]) -> Result<ModuleDump<'g>, String> {
    ModuleDump::find(files).ok_or_else(|| error("these files have no optimized module"))
}

/// The program in a dump, with the compiler's files beside its module.
fn read(view: &mut View, dump: &ModuleDump<'_>) -> Result<Program, String> {
    let program = dump.program().map_err(|error| error.to_string())?;
    if let Some(unread) = program.unread() {
        view.say(unread);
    }
    Ok(program)
}

fn modules(view: &mut View, first: &ModuleDump<'_>, second: &ModuleDump<'_>, width: usize) -> Result<(), String> {
    let (before, after) = (read(view, first)?, read(view, second)?);
    check_devices(before.module(), after.module()).map_err(error)?;
    let (memory, after_memory) = (before.memory(None), after.memory(None));
    for note in memory.notes().iter().chain(after_memory.notes()) {
        view.say(format_args!("note: {note}"));
    }
    let difference = Difference::new(&memory, &after_memory);
    view.show(&difference, width);
    view.page = Some(diff::page(&difference, &[]));
    Ok(())
}

fn kernels_of(view: &mut View, files: &[File<'_>], before: Option<&[File<'_>]>, width: usize) -> Result<(), String> {
    let missing = |path: &str| error(Kernels::missing(path));
    let dump = KernelFiles::find(files).ok_or_else(|| missing("."))?;
    let (mut answer, xla) = added(&dump, before.is_some());
    if answer.is_empty() && xla == 0 {
        return Err(missing(&dump.path));
    }
    if let Some(before) = before {
        let before = KernelFiles::find(before).ok_or_else(|| missing("."))?;
        answer.compare(&added(&before, true).0);
    }
    // The program takes `--source` only with `--html`: it changes the page alone.
    for source in &dump.sources {
        answer.add_source(&source.name, &String::from_utf8_lossy(source.bytes));
    }
    view.show(&answer, width);
    view.page = Some(answer.html());
    Ok(())
}

/// The kernels of a dump; and the number of instructions that XLA compiled itself, if kernels are compared with them, otherwise 0.
fn added(dump: &KernelFiles<'_>, is_compared: bool) -> (Kernels, usize) {
    let mut answer = Kernels::default();
    answer.add(None, None, &dump.kernels());
    if !is_compared {
        return (answer, 0);
    }
    let xla = answer.add_xla(None, None, &dump.xla_instructions());
    (answer, xla)
}

/// The command of a view as a line for a shell.
pub(crate) fn command_line(command: &[String]) -> String {
    let words = shell_line(command.iter().map(String::as_str));
    let input = if command.iter().any(|word| word == PASTED) { " < pasted.txt" } else { "" };
    format!("xla-shape {words}{input}")
}
