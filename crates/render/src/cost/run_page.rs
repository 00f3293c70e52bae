//! The page of a profile: one run, event by event, and the roofline; below them, what was measured.

use super::page::{main, title};
use super::roofline::roofline;
use crate::web::{
    Element, FIND, PLOTS, Page, Strings, asset, element, elements, hint, json_script, needs_javascript, search, section,
};
use crate::words::{Grouped, shortened};
use serde::Serialize;
use xla_shape_answers::cost::{MeasuredRun, ProgramCost, RunKind};

/// The longest text of the picture, in characters.
const LONGEST: usize = 400;

/// The most events of a run that the picture shows, so that the page has a few MB. It shows the longest ones.
pub const MOST_EVENTS: usize = 100_000;

/// The answer about a profile as a page, with one run of it as a picture: each device and thread is a row of events, above the memory that is
/// in use. Choosing a row of a table highlights it in the picture. Below the picture is the roofline, if the profile says the peaks of the device.
/// The page has no external resources.
///
/// ```
/// use xla_shape_answers::cost::{MeasuredRun, ProgramCost};
/// use xla_shape_program::Program;
/// use xla_shape_render::cost::page_with_run;
///
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/train.xplane.pb");
/// let program = Program::read("train.xplane.pb", std::fs::read(path)?)?;
/// let cost = ProgramCost::of(&program)?;
/// // A program that was read from bytes has no file to read the events from.
/// let run = MeasuredRun::new(&program.memory(None), cost.measured.as_ref().unwrap(), program.profile().unwrap());
/// assert!(page_with_run(&cost, &run).contains("jit_step(6) took 14.8 ms"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn page_with_run(cost: &ProgramCost, run: &MeasuredRun) -> String {
    let title = title(cost);
    let end = elements()
        .with(element("div").id("tip").attribute("role", "tooltip").attribute("hidden", ""))
        .with(needs_javascript())
        .with(json_script("run-data", &Data::new(run)));
    let bar = search("Search in all tables");
    let is_there = !run.rows.is_empty();
    let roofline = cost.measured.as_deref().and_then(roofline);
    let pictures = elements().with_all(is_there.then(|| picture(run))).with_all(roofline);
    let main = main(cost, Some(pictures));
    let (script, end): (&[&str], _) = if is_there { (&[FIND, asset!("run.js")], end) } else { (&[FIND], elements()) };
    Page { title: &title, heading: &title, bar, main, end, script, style: &[PLOTS, asset!("run.css")] }.html()
}

fn picture(run: &MeasuredRun) -> Element {
    let button = |id, text: &str, label: &str| {
        element("button").id(id).attribute("type", "button").attribute("aria-label", label).text(text)
    };
    let kinds = [
        ("temporary", "computes"),
        ("output", "only moves data"),
        ("mixed", "collective"),
        ("donated", "runs beside others"),
    ];
    let legend =
        kinds.into_iter().map(|(colour, text)| element("span").with(element("i").class(colour)).text(" ").text(text));
    let left_out = (run.left_out > 0).then(|| {
        hint(format_args!("The {} shortest events are not in the picture, but in all numbers.", Grouped(run.left_out)))
    });
    section("run", "One run, as measured")
        .with(hint(
            "One run on each device: of the first device the one that took the median time. Devices with one clock are shown at the same times, \
             others each from its own beginning, so that only events of the same device can be compared. Choose an event, or a row of a table: what belongs together is lit.",
        ))
        .with_all(left_out)
        .with(element("p").class("legend").with_all(legend))
        .with(
            element("div")
                .id("zoom")
                .attribute("role", "group")
                .attribute("aria-label", "Times shown")
                .with(button("out", "\u{2212}", "Zoom out"))
                .with(button("in", "+", "Zoom in"))
                .with(button("whole", "Whole run", "Whole run"))
                .with(element("output").id("range")),
        )
        .with(
            element("div").id("lanes").with(
                element("div").with(
                    element("canvas")
                        .attribute("tabindex", 0)
                        .attribute("role", "application")
                        .attribute("aria-label", "Events over time: arrow keys choose one, w, s, a and d zoom and pan"),
                ),
            ),
        )
        .with(
            element("div").id("memory").with(element("h3").text("Memory in use, by the compiler's schedule")).with(
                element("div").class("picture").with(
                    element("canvas").id("use").attribute("role", "img").attribute("aria-label", "Memory in use over time"),
                ),
            ),
        )
        .with(element("dl").id("event").class("facts").attribute("aria-live", "polite"))
}

/// The texts that the script reads are indices into `texts`.
#[derive(Serialize)]
struct Data {
    picoseconds: u64,
    texts: Vec<String>,
    /// Name, opcode, source line, scope, kind, and bytes in use.
    instructions: Vec<(usize, usize, usize, usize, u8, Option<u64>)>,
    /// For each row of the picture: its device, its line, and whether its events run at the same time as those of other rows. Then for each
    /// event: the picoseconds since the previous event began, its duration and its instruction.
    rows: Vec<(String, String, bool, Vec<u64>)>,
}

impl Data {
    fn new(run: &MeasuredRun) -> Self {
        let mut strings = Strings::new();
        let mut text = |text: &str| strings.number(text, LONGEST);
        let instructions = run.instructions.iter().map(|found| {
            let kind = match found.kind {
                RunKind::Computation => 0,
                RunKind::Copy => 1,
                RunKind::Collective => 2,
            };
            let [name, scope] = [&found.name, &found.scope].map(|found| text(found));
            let [opcode, source] =
                [&found.opcode, &found.source].map(|found| text(found.as_deref().unwrap_or_default()));
            (name, opcode, source, scope, kind, found.live_bytes)
        });
        let instructions = instructions.collect();
        let rows = run.rows.iter().map(|row| {
            let mut before = 0;
            let numbers = row.events.iter().flat_map(|event| {
                let after = event.start.saturating_sub(before);
                before = event.start;
                [after, event.picoseconds, event.instruction.into()]
            });
            let numbers = numbers.collect();
            let [device, line] = [&row.device, &row.line].map(|name| shortened(name, LONGEST).into_owned());
            (device, line, row.is_asynchronous, numbers)
        });
        Self { picoseconds: run.picoseconds(), rows: rows.collect(), instructions, texts: strings.all }
    }
}
