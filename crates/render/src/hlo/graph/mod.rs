//! The graph around one instruction of a program, as a page: its operands and readers, a few steps each way, and the content of fusions.
//!
//! The page has the instructions that are nearest to the first one, with the same facts as the text about one instruction; `graph.js` draws
//! those around the chosen one.

use super::show::{Fact, rows};
use crate::web::Strings;
use crate::web::{Page, asset, elements, fill, json_script, made, needs_javascript};
use crate::words::shortened;
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use xla_shape_answers::hlo::ShowError;
use xla_shape_answers::hlo::show::{Facts, find};
use xla_shape_hlo::{Instruction, Module, Opcode, Role};
use xla_shape_program::ProgramMemory;

/// The most instructions that the page knows.
const MOST_NODES: usize = 600;
/// The page follows at most this many operands of an instruction, and at most this many of its readers.
const MOST_NEIGHBOURS: usize = 24;
/// The page shows the instructions of a fusion if they are at most this many.
const MOST_INSIDE: usize = 80;
/// The most facts of an instruction, and the longest text of one, in characters.
const MOST_ROWS: usize = 40;
const LONGEST: usize = 300;

/// The elements of a page in which `draw.js` draws a graph.
pub(super) const ELEMENTS: &str = include_str!("graph.html");

/// The style of a graph.
pub(super) const STYLE: &str = asset!("graph.css");

/// The script that draws a graph.
pub(super) const DRAW: &str = asset!("draw.js");

/// A page about one instruction of a program, with the graph around it. `name` is written with or without `%`. The page has no external
/// resources.
///
/// It knows the 600 nearest instructions, in the order of their distance, and draws at most 60 of them at a time.
///
/// # Errors
/// If the module has no instruction of this name.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_render::hlo::graph_page;
///
/// let text = "HloModule m\nENTRY e { a = f32[8] parameter(0)\n ROOT b = f32[8] negate(a) }";
/// let program = Program::from(Module::parse(text)?);
/// let page = graph_page(&program.memory(None), "b")?;
/// assert!(page.starts_with("<!doctype html>") && page.contains("%b in m"));
/// assert!(graph_page(&program.memory(None), "c").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn graph_page(memory: &ProgramMemory<'_>, name: &str) -> Result<String, ShowError> {
    let module = memory.program().module();
    let start = find(module, name)?;
    let facts = Facts::new(module, memory.timeline());
    let mut strings = Strings::new();
    let limits = Limits { nodes: MOST_NODES, rows: MOST_ROWS, text: LONGEST };
    let graph = Graph::around(module, &facts, &[start], limits, &mut strings, |_, _| true);
    let data = Data { strings: strings.all, nodes: graph.nodes };
    let name = shortened(start.name(), 200);
    let main = fill(include_str!("page.html"), &[("graph", ELEMENTS.to_owned())]);
    Ok(Page {
        title: &format!("Graph around %{name}"),
        heading: &format!("%{name} in {}", shortened(module.name().unwrap_or("module"), 200)),
        main: made(main),
        end: elements().with(needs_javascript()).with(json_script("data", &data)),
        style: &[STYLE],
        script: &[DRAW, asset!("graph.js")],
        ..Page::default()
    }
    .html())
}

/// The data that the page's script reads. The first node is the instruction that was asked for.
#[derive(Serialize)]
struct Data {
    strings: Vec<String>,
    nodes: Vec<Node>,
}

/// How much of a program is in a graph.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) nodes: usize,
    /// Facts of an instruction.
    pub(super) rows: usize,
    /// Characters of a text.
    pub(super) text: usize,
}

/// Instructions: first those that were asked for, then the others in the order of their distance. Other parts of the data refer to an
/// instruction by its index in `nodes`.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// The index in `nodes` of each instruction, by the instruction's number in the module.
    pub(super) places: HashMap<u32, usize>,
}

/// An instruction. Each text is given by its number in the list of strings: name, opcode, shape, computation, source line, role of its first
/// array in memory, and the names and values of facts. Then follow the operands and readers that are in the graph, the number of those that are
/// not, and the content if it is a fusion.
#[derive(Serialize)]
pub(super) struct Node(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    Vec<(usize, usize)>,
    Vec<usize>,
    Vec<usize>,
    usize,
    Option<Inside>,
);

/// The content of a fusion: its instructions, each parameter of its computation with the operand that it stands for, and its root.
#[derive(Serialize)]
struct Inside(Vec<usize>, Vec<(usize, usize)>, usize);

impl Graph {
    /// The instructions that are nearest to these. `wants` says which facts of an instruction the graph has.
    pub(super) fn around<'m>(
        module: &'m Module,
        facts: &Facts<'_, 'm>,
        starts: &[Instruction<'m>],
        limits: Limits,
        strings: &mut Strings,
        wants: impl Fn(Instruction<'m>, Fact) -> bool,
    ) -> Self {
        let operands = |of: Instruction<'m>| {
            let mut seen = HashSet::new();
            let all = of.operands().filter_map(|operand| operand.instruction());
            all.filter(|one| seen.insert(one.number())).collect::<Vec<_>>()
        };
        let inside = |of: Instruction<'m>| {
            (of.opcode() == Opcode::Fusion).then_some(())?;
            let called = module.computation(of.attribute("calls")?.names().ok()?.first()?)?;
            (called.instructions().len() <= MOST_INSIDE).then_some(called)
        };
        let (mut found, mut places, mut waiting) = (Vec::new(), HashMap::new(), VecDeque::new());
        let mut add = |one: Instruction<'m>, found: &mut Vec<_>| {
            let is_new = found.len() < limits.nodes && !places.contains_key(&one.number());
            if is_new {
                places.insert(one.number(), found.len());
                found.push(one);
            }
            is_new
        };
        waiting.extend(starts.iter().copied().filter(|&start| add(start, &mut found)));
        while let Some(next) = waiting.pop_front() {
            // A fusion is known as a whole, or not at all.
            let content =
                inside(next).map(|called| called.instructions()).filter(|all| found.len() + all.len() <= limits.nodes);
            for one in content.into_iter().flatten() {
                add(one, &mut found);
            }
            let beside = operands(next).into_iter().take(MOST_NEIGHBOURS);
            for one in beside.chain(facts.readers.of(next).take(MOST_NEIGHBOURS)) {
                if add(one, &mut found) {
                    waiting.push_back(one);
                }
            }
        }
        let mut node = |&instruction: &Instruction<'m>| {
            let shown = facts.shown(instruction);
            let mut unknown = 0;
            let mut known = |all: &mut dyn Iterator<Item = Instruction<'m>>| {
                let (known, others): (Vec<_>, Vec<_>) =
                    all.map(|one| places.get(&one.number()).copied()).partition(Option::is_some);
                unknown += others.len();
                known.into_iter().flatten().collect::<Vec<usize>>()
            };
            let operands = known(&mut operands(instruction).into_iter());
            let readers = known(&mut facts.readers.of(instruction));
            let mut number = |text: &str| strings.number(text, limits.text);
            let rows = rows(&shown).into_iter().filter(|(fact, _)| wants(instruction, *fact)).collect::<Vec<_>>();
            let mut facts: Vec<_> =
                rows.iter().take(limits.rows).map(|(fact, value)| (number(fact.name()), number(value))).collect();
            if let Some(left) = rows.len().checked_sub(limits.rows).filter(|&left| left > 0) {
                facts.push((number("…"), number(&format!("{left} more; xla-shape hlo show has all"))));
            }
            let (computation, source) = shown.place();
            let inside = inside(instruction).and_then(|called| {
                let nodes = called.instructions().map(|one| places.get(&one.number()).copied());
                let parameters = called.parameters_by_number().into_iter().filter_map(|(number, parameter)| {
                    let operand = instruction.operand(number)?.instruction()?;
                    Some((*places.get(&parameter.number())?, *places.get(&operand.number())?))
                });
                let nodes = nodes.collect::<Option<_>>()?;
                Some(Inside(nodes, parameters.collect(), *places.get(&called.root().number())?))
            });
            Node(
                number(instruction.name()),
                number(&instruction.opcode().to_string()),
                number(&instruction.shape().to_string()),
                number(computation),
                number(source.unwrap_or("")),
                number(shown.role().map_or("", Role::name)),
                facts,
                operands,
                readers,
                unknown,
                inside,
            )
        };
        let nodes = found.iter().map(&mut node).collect();
        Self { nodes, places }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_NODES, graph_page};
    use std::fmt::Write as _;
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    /// Names come from files: they must not become markup or end a script.
    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</script><script>alert(1)</script><!--&amp;<img src=x onerror=alert(1)>";
        let text = format!(
            "HloModule m\nENTRY e {{\n  p = f32[8]{{0}} parameter(0), metadata={{op_name=\"{hostile}\" source_file=\"{hostile}\" source_line=1}}\n  \
             ROOT %q = f32[8]{{0}} negate(p), metadata={{op_name=\"{hostile}\"}}\n}}\n"
        );
        let page = graph_page(&Program::from(Module::parse(&text).unwrap()).memory(None), "q").unwrap();
        assert_eq!(page.matches("<script").count(), 2, "the data and the script");
        assert!(!page.contains("<!--") && !page.contains("<img") && page.contains("\\u003cscript>alert(1)"), "{page}");
    }

    /// A value with very many readers, and long names: the page stays small.
    #[test]
    fn pages_are_small() {
        let name = "long.".repeat(300);
        let mut text = "HloModule m\nENTRY e {\n  p = f32[8]{0} parameter(0)\n".to_owned();
        for number in 0..3_000 {
            writeln!(text, "  {name}{number} = f32[8]{{0}} negate(p)").unwrap();
        }
        let all: Vec<_> = (0..3_000).map(|number| format!("{name}{number}")).collect();
        writeln!(text, "  ROOT r = (f32[8]{{0}}) tuple({})\n}}", all.join(", ")).unwrap();
        let program = Program::from(Module::parse_with_errors(&text).0);
        let memory = program.memory(None);
        for start in ["p", "r", &all[7]] {
            let page = graph_page(&memory, start).unwrap();
            assert!(page.len() < 2_000_000, "{start}: {} bytes", page.len());
            let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
            let data: serde_json::Value = serde_json::from_str(data).unwrap();
            assert!(data["nodes"].as_array().unwrap().len() <= MOST_NODES);
        }
    }
}
