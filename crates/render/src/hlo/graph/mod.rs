//! The graph around one instruction of a program, as a page: its operands and readers, a few steps each way, and the content of fusions.
//!
//! The page has the instructions that are nearest to the first one, with the same facts as the text; `graph.js` draws those around the chosen one.

use super::show::{Facts, ShowError, find};
use crate::web::{Page, ROVE, json_script};
use crate::words::shortened;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use xla_shape_hlo::{Instruction, Module, Opcode, Timeline};

/// The most instructions that the page knows, the operands and readers of each that it follows, and the most instructions of a fusion that
/// it opens.
const MOST_NODES: usize = 600;
const MOST_NEIGHBOURS: usize = 24;
const MOST_INSIDE: usize = 80;
/// The most facts of an instruction, and the longest text of one, in characters.
const MOST_ROWS: usize = 40;
const LONGEST: usize = 300;

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
/// use xla_shape_render::hlo::graph_page;
///
/// let module = Module::parse("HloModule m\nENTRY e { a = f32[8] parameter(0)\n ROOT b = f32[8] negate(a) }")?;
/// let page = graph_page(&module, None, "b")?;
/// assert!(page.starts_with("<!doctype html>") && page.contains("%b (negate) in e"));
/// assert!(graph_page(&module, None, "c").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn graph_page(module: &Module<'_>, timeline: Option<&Timeline<'_, '_>>, name: &str) -> Result<String, ShowError> {
    let start = find(module, name)?;
    let facts = Facts::new(module, timeline);
    let graph = Graph::around(module, &facts, start);
    let name = shortened(start.name(), 200);
    let main = "<p id=\"summary\" aria-live=\"polite\"></p>\n<p id=\"legend\" class=\"legend\"></p>\n\
                <div id=\"controls\"></div>\n<p class=\"hint\" id=\"shown\"></p>\n\
                <div id=\"graph\" role=\"group\" aria-label=\"Instructions: operands above, readers below\" tabindex=\"0\"></div>\n\
                <section>\n<h2>Chosen instruction</h2>\n<dl id=\"selected\" class=\"facts\"></dl>\n</section>\n";
    Ok(Page {
        title: &format!("Graph around %{name}"),
        heading: &format!("%{name} in {}", shortened(module.name().unwrap_or("module"), 200)),
        main,
        end: &format!("<noscript>This page needs JavaScript.</noscript>\n{}", json_script("id=\"data\"", &graph)),
        script: &format!("{ROVE}{}", include_str!("graph.js")),
        ..Page::default()
    }
    .html())
}

/// The data that the script reads. Instructions are places in `nodes`; the first one is the one that was asked for.
#[derive(Serialize)]
struct Graph {
    nodes: Vec<Node>,
}

#[derive(Serialize)]
struct Node {
    name: String,
    opcode: String,
    shape: String,
    heading: String,
    role: Option<&'static str>,
    /// Names and values, as the text has them.
    facts: Vec<(String, String)>,
    /// Those that are in the page.
    operands: Vec<usize>,
    readers: Vec<usize>,
    /// How many operands and readers are not in the page.
    unknown: usize,
    /// The content of a fusion.
    inside: Option<Inside>,
}

#[derive(Serialize)]
struct Inside {
    nodes: Vec<usize>,
    /// Each parameter of the fusion's computation, and the operand that it is.
    parameters: Vec<(usize, usize)>,
    root: usize,
}

impl Graph {
    fn around<'m, 'a>(module: &'m Module<'a>, facts: &Facts<'_, 'm, 'a>, start: Instruction<'m, 'a>) -> Self {
        let operands = |of: Instruction<'m, 'a>| {
            let mut all: Vec<_> = of.operands().filter_map(|operand| operand.instruction()).collect();
            let mut seen = std::collections::HashSet::new();
            all.retain(|one| seen.insert(one.number()));
            all
        };
        let inside = |of: Instruction<'m, 'a>| {
            (of.opcode() == Opcode::Fusion).then_some(())?;
            let called = module.computation(of.attribute("calls")?.names().ok()?.first()?)?;
            (called.instructions().len() <= MOST_INSIDE).then_some(called)
        };
        let mut found = vec![start];
        let mut places = HashMap::from([(start.number(), 0)]);
        let mut waiting = VecDeque::from([start]);
        while let Some(next) = waiting.pop_front() {
            let content: Vec<_> = inside(next).into_iter().flat_map(|called| called.instructions()).collect();
            // A fusion is known as a whole, or not at all.
            let fits = found.len() + content.len() <= MOST_NODES;
            let beside = operands(next).into_iter().take(MOST_NEIGHBOURS);
            let beside = beside.chain(facts.readers.of(next).take(MOST_NEIGHBOURS)).map(|one| (one, true));
            for (one, goes_on) in content.into_iter().filter(|_| fits).map(|one| (one, false)).chain(beside) {
                if found.len() < MOST_NODES && !places.contains_key(&one.number()) {
                    places.insert(one.number(), found.len());
                    found.push(one);
                    if goes_on {
                        waiting.push_back(one);
                    }
                }
            }
        }
        let node = |instruction: &Instruction<'m, 'a>| {
            let shown = facts.shown(*instruction);
            let mut unknown = 0;
            let mut known = |all: &mut dyn Iterator<Item = Instruction<'m, 'a>>| {
                let known: Vec<_> = all.map(|one| places.get(&one.number()).copied()).collect();
                unknown += known.iter().filter(|place| place.is_none()).count();
                known.into_iter().flatten().collect::<Vec<usize>>()
            };
            let operands = known(&mut operands(*instruction).into_iter());
            let readers = known(&mut facts.readers.of(*instruction));
            let short = |text: &str| shortened(text, LONGEST).into_owned();
            let mut rows: Vec<_> = shown.rows().into_iter().map(|(name, value)| (name, short(&value))).collect();
            if let Some(left) = rows.len().checked_sub(MOST_ROWS).filter(|&left| left > 0) {
                rows.truncate(MOST_ROWS);
                rows.push(("…".to_owned(), format!("{left} more; xla-shape hlo show has all")));
            }
            Node {
                name: short(instruction.name()),
                opcode: instruction.opcode().to_string(),
                shape: short(&instruction.shape().to_string()),
                heading: short(&shown.heading()),
                role: shown.role(),
                facts: rows,
                operands,
                readers,
                unknown,
                inside: inside(*instruction).and_then(|called| {
                    let nodes = called.instructions().map(|one| places.get(&one.number()).copied());
                    let parameters = called.parameters_by_number().into_iter().filter_map(|(number, parameter)| {
                        let operand = instruction.operand(number)?.instruction()?;
                        Some((*places.get(&parameter.number())?, *places.get(&operand.number())?))
                    });
                    Some(Inside {
                        nodes: nodes.collect::<Option<_>>()?,
                        parameters: parameters.collect(),
                        root: *places.get(&called.root().number())?,
                    })
                }),
            }
        };
        Self { nodes: found.iter().map(node).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_NODES, graph_page};
    use std::fmt::Write as _;
    use xla_shape_hlo::Module;

    /// Names come from files: they must not become markup or end a script.
    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</script><script>alert(1)</script><!--&amp;<img src=x onerror=alert(1)>";
        let text = format!(
            "HloModule m\nENTRY e {{\n  p = f32[8]{{0}} parameter(0), metadata={{op_name=\"{hostile}\" source_file=\"{hostile}\" source_line=1}}\n  \
             ROOT %q = f32[8]{{0}} negate(p), metadata={{op_name=\"{hostile}\"}}\n}}\n"
        );
        let page = graph_page(&Module::parse(&text).unwrap(), None, "q").unwrap();
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
        let module = Module::parse_with_errors(&text).0;
        for start in ["p", "r", &all[7]] {
            let page = graph_page(&module, None, start).unwrap();
            assert!(page.len() < 2_000_000, "{start}: {} bytes", page.len());
            assert!(page.matches("\"heading\"").count() <= MOST_NODES);
        }
    }
}
