//! The commands that a reading has, and what each of them outputs.

use crate::dumps::{KernelFiles, ModuleDump};
use crate::given::{File, Given, PASTED};
use crate::reading::Reading;
use crate::texts::{divided_by, shape_and_sharding, two_shapes};
use serde::Serialize;
use std::fmt::Display;
use xla_shape_answers::Answer;
use xla_shape_answers::block::{BlockAnswer, Part};
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::numbers::no_array;
use xla_shape_core::ArrayShape;
use xla_shape_core::shard::Sharding;
use xla_shape_core::worlds::{AnyLayout, World};
use xla_shape_hlo::Language;
use xla_shape_mosaic::{kernels, xla_instructions};
use xla_shape_program::Program;
use xla_shape_render::advise::Advice;
use xla_shape_render::compare::Comparison;
use xla_shape_render::convert::Conversion;
use xla_shape_render::draw::{DeviceDrawing, Drawing};
use xla_shape_render::explain::Explanation;
use xla_shape_render::hlo::{Difference, Report, check_devices, page};
use xla_shape_render::kernel::Kernels;
use xla_shape_render::scan::Scan;
use xla_shape_render::{Given as GivenShape, GivenArray, Html, Show, harmless, path_argument, shell_line};

/// How many entries a list has: what the program takes if nothing else is asked for.
const TOP: usize = 10;

/// What one command of the program outputs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct View {
    /// The command, without the name of the program. A text that was pasted and that the program reads from a file is `-`, standard input.
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

/// The views of a reading: their names, and for people. The first one is shown first.
pub(crate) fn views(reading: Reading, given: &Given<'_>) -> Vec<(&'static str, &'static str)> {
    let of_array =
        [("explain", "Explanation"), ("draw", "Picture"), ("advise", "Advice"), ("convert", "Other notations")];
    let array = || given.alone()?.parse::<ArrayShape>().ok();
    match reading {
        Reading::Shape if array().is_some() => of_array.to_vec(),
        Reading::Shape => vec![("explain", "Explanation")],
        Reading::Shapes => vec![("compare", "Comparison")],
        Reading::Block => vec![("block", "Block")],
        Reading::Sharding => vec![("explain", "Explanation"), ("draw", "Picture")],
        Reading::Layout(world) => match in_xla(world, given) {
            Some(_) => {
                let mut views = vec![("convert", "In XLA")];
                views.extend(&of_array[..2]);
                views
            }
            None => vec![("convert", "In XLA")],
        },
        Reading::Log => vec![("scan", "Shapes and memory")],
        // Of a program in MLIR, which must be compiled first, the answer only says what it is.
        Reading::Hlo if given.files.iter().any(|file| Language::of(file.bytes) == Some(Language::Mlir)) => {
            vec![("hlo", "Memory")]
        }
        Reading::Hlo => vec![("hlo", "Memory"), ("cost", "Cycles")],
        Reading::HloDiff => vec![("hlo diff", "Changes")],
        Reading::Kernels => vec![("kernel", "Kernels")],
        Reading::KernelDiff => vec![("kernel", "Changes")],
    }
}

/// The array that a layout in another notation is, if XLA has it.
fn in_xla(world: World, given: &Given<'_>) -> Option<ArrayShape> {
    AnyLayout::read(world, given.alone()?.trim()).ok()?.to_array().ok()
}

/// The output of a command.
pub(crate) fn view(reading: Reading, name: &str, given: &Given<'_>) -> View {
    let mut view = View::default();
    if let Err(message) = fill(&mut view, reading, name, given) {
        view.said.push_str(&message);
    }
    view.said = harmless(&view.said).into_owned();
    view
}

impl View {
    fn command(&mut self, words: &[&str]) {
        self.command.extend(words.iter().map(|&word| word.to_owned()));
    }

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

fn fill(view: &mut View, reading: Reading, name: &str, given: &Given<'_>) -> Result<(), String> {
    let width = given.width();
    let text = given.alone().unwrap_or_default();
    match reading {
        Reading::Shape => shape(view, name, text.trim(), width),
        Reading::Sharding => {
            let alone = text.trim();
            let of_tiles = divided_by(alone);
            let [shape, sharding] = shape_and_sharding(text).unwrap_or([&of_tiles, alone]);
            sharded(view, name, shape, sharding, width)
        }
        Reading::Shapes | Reading::Block => {
            let of_files = || match (&*given.files, &*given.against) {
                ([first], [second]) => Some([first.text()?.trim(), second.text()?.trim()]),
                _ => None,
            };
            let [from, to] = two_shapes(text).or_else(of_files).unwrap_or_default();
            two(view, name, from, to, width)
        }
        Reading::Layout(world) => match in_xla(world, given) {
            Some(array) if name != "convert" => shape(view, name, &array.to_string(), width),
            _ => {
                let text = text.trim();
                view.command(&["convert", "--from", world.name(), text]);
                let layout = AnyLayout::read(world, text).map_err(|error| error.render(text).to_string())?;
                view.show(&Conversion::new(&layout, &Conversion::usual_worlds(world)), width);
                Ok(())
            }
        },
        Reading::Log => {
            let Some(file) = given.files.first().or(given.against.first()) else { return Ok(()) };
            view.command(&["scan", &path_argument(&file.name)]);
            let (scan, json) = scan(file.bytes);
            view.text = scan.text(width).to_string();
            view.json = json;
            Ok(())
        }
        Reading::Hlo => {
            let files = if given.files.is_empty() { &given.against } else { &given.files };
            module(view, name, &dump_of(files)?, width)
        }
        Reading::HloDiff => match (&*given.files, &*given.against) {
            ([before, after], []) => {
                modules(view, &dump_of(std::slice::from_ref(before))?, &dump_of(std::slice::from_ref(after))?, width)
            }
            (before, after) => modules(view, &dump_of(before)?, &dump_of(after)?, width),
        },
        Reading::Kernels => {
            let files = if given.files.is_empty() { &given.against } else { &given.files };
            kernels_of(view, files, None, width)
        }
        Reading::KernelDiff => kernels_of(view, &given.against, Some(&given.files), width),
    }
}

fn shape(view: &mut View, name: &str, text: &str, width: usize) -> Result<(), String> {
    view.command(&[name, text]);
    match name {
        "draw" => {
            let drawing = Drawing::new(&array_of(text)?.array).map_err(error)?;
            view.show(&drawing, width);
            (view.svg, view.page) = (Some(drawing.svg()), Some(drawing.html()));
        }
        "advise" => view.show(&Advice::new(array_of(text)?, &[], None, TOP).map_err(error)?, width),
        "convert" => {
            let layout = AnyLayout::of_array(&array_of(text)?.array).map_err(error)?;
            view.show(&Conversion::new(&layout, &Conversion::usual_worlds(World::Xla)), width);
        }
        _ => view.show(&Explanation::new(GivenShape::read(text)?), width),
    }
    Ok(())
}

fn sharded(view: &mut View, name: &str, shape: &str, sharding: &str, width: usize) -> Result<(), String> {
    view.command(&[name, shape, "--sharding", sharding]);
    if name == "draw" {
        let drawing = DeviceDrawing::new(&array_of(shape)?.array, sharding_of(sharding)?).map_err(error)?;
        view.show(&drawing, width);
        (view.svg, view.page) = (Some(drawing.svg()), Some(drawing.html()));
    } else {
        let explanation = Explanation::new(GivenShape::read(shape)?);
        view.show(&explanation.with_sharding(sharding_of(sharding)?).map_err(error)?, width);
    }
    Ok(())
}

fn two(view: &mut View, name: &str, from: &str, to: &str, width: usize) -> Result<(), String> {
    view.command(&[name, from, to]);
    let (first, second) = (array_of(from)?, array_of(to)?);
    match name {
        "block" => {
            let part = Part::Input { array: first.array, block: second.array };
            view.show(&BlockAnswer::new(&[part], None, None).map_err(error)?, width);
        }
        _ => view.show(&Comparison::new(first, second, None).map_err(error)?, width),
    }
    Ok(())
}

/// The lines of a text, read as the program reads those of a file, and what is found in each as JSON.
fn scan(bytes: &[u8]) -> (Scan, String) {
    let (mut scan, mut json) = (Scan::default(), String::new());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        json.extend(scan.read_line(line).iter().map(Answer::json));
    }
    (scan, json)
}

fn dump_of<'g>(files: &'g [File<'_>]) -> Result<ModuleDump<'g>, String> {
    ModuleDump::find(files).ok_or_else(|| error("these files have no optimized module"))
}

/// The program in a dump, with the compiler's files beside its module.
fn read(view: &mut View, dump: &ModuleDump<'_>) -> Result<Program, String> {
    let program = Program::read(&dump.name, dump.bytes.to_vec()).map_err(|error| error.to_string())?;
    if let Some(unread) = program.unread() {
        view.say(unread);
    }
    Ok(program.with_files(dump.files.clone(), |name| dump.read(name)).with_others(dump.others.clone()))
}

fn module(view: &mut View, name: &str, dump: &ModuleDump<'_>, width: usize) -> Result<(), String> {
    view.command(&[name, &path_argument(&dump.path)]);
    let program = read(view, dump)?;
    if name == "cost" {
        let cost = ProgramCost::new(program.module());
        let cost = cost.map_err(|wrong| error(format_args!("{}: {wrong}", dump.name)))?;
        view.show(&cost, width);
        view.page = Some(cost.html());
        return Ok(());
    }
    let memory = program.memory(None);
    let report = Report::new(&memory, None, TOP, None);
    view.text = report.screen(width).to_string();
    view.json = report.json();
    view.page = Some(page(&memory, &report, None));
    Ok(())
}

fn modules(view: &mut View, first: &ModuleDump<'_>, second: &ModuleDump<'_>, width: usize) -> Result<(), String> {
    view.command(&["hlo", "diff", &path_argument(&first.path), &path_argument(&second.path)]);
    let (before, after) = (read(view, first)?, read(view, second)?);
    check_devices(before.module(), after.module()).map_err(error)?;
    let (memory, after_memory) = (before.memory(None), after.memory(None));
    for note in memory.notes().iter().chain(after_memory.notes()) {
        view.say(format_args!("note: {note}"));
    }
    let difference = Difference::new(&memory, &after_memory);
    view.show(&difference, width);
    view.page = Some(difference.html(&[]));
    Ok(())
}

fn kernels_of(view: &mut View, files: &[File<'_>], before: Option<&[File<'_>]>, width: usize) -> Result<(), String> {
    let missing = |path: &str| error(Kernels::missing(path));
    let dump = KernelFiles::find(files).ok_or_else(|| missing("."))?;
    view.command(&["kernel", &path_argument(&dump.path)]);
    let (mut answer, xla) = added(&dump, before.is_some());
    if answer.is_empty() && xla == 0 {
        return Err(missing(&dump.path));
    }
    if let Some(before) = before {
        let before = KernelFiles::find(before).ok_or_else(|| missing("."))?;
        view.command(&["--against", &path_argument(&before.path)]);
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

/// The kernels of a dump, and how many of its instructions XLA compiled itself, if they are compared.
fn added(dump: &KernelFiles<'_>, is_compared: bool) -> (Kernels, usize) {
    let mut answer = Kernels::default();
    let found = dump.groups().flat_map(|files| kernels(&files)).collect::<Vec<_>>();
    answer.add(None, None, &found);
    if !is_compared {
        return (answer, 0);
    }
    let found = dump.groups().flat_map(|files| xla_instructions(&files)).collect::<Vec<_>>();
    let xla = answer.add_xla(None, None, &found);
    (answer, xla)
}

/// The command of a view as a line for a shell.
pub(crate) fn command_line(command: &[String]) -> String {
    let words = shell_line(command.iter().map(String::as_str));
    let input = if command.iter().any(|word| word == PASTED) { " < pasted.txt" } else { "" };
    format!("xla-shape {words}{input}")
}
