//! The best layouts as an HTML page.

use super::text::{CHANGES_SHOWN, answer, choice, is_time, lines, made, places, said};
use crate::web::{Element, element, elements, hint, page_of_tables, section, table};
use crate::words::{InUnits, Signed, difference, shortened};
use xla_shape_answers::cost::Amount;
use xla_shape_answers::tune::{Advice, Tuning};

/// The answer as an HTML page: the best layouts, what they gain in each program and why, what to write, and all layouts that were
/// tried. The page has no external resources.
///
/// ```
/// use xla_shape_answers::cost::Amount;
/// use xla_shape_core::Shape;
/// use xla_shape_core::tpu::Generation;
/// use xla_shape_tune::{Ask, Figures, Measured, Options, Place, Program, SharedArray};
///
/// let shapes: [Shape; 1] = ["f32[256,128]{1,0:T(8,128)}".parse()?];
/// let today = Measured::new(Figures { cost: Some(Amount::Cycles(9)), bytes: 8192, ..Figures::default() }, &shapes, &[]);
/// let programs = [Program { name: "a".into(), weight: 1 }];
/// let arrays = [SharedArray::new("x", vec![(0, Place::Parameter(0, vec![]))], &programs, &[today.clone()])?];
/// let options = Options { generation: Some(Generation::V5e), all: false, tilings: false, at_most_bytes: None, most: None };
/// let mut compiler = |asks: &[(usize, Ask)]| asks.iter().map(|_| Some(Ok(today.clone()))).collect();
/// let page = xla_shape_render::tune::page(&xla_shape_tune::search(&arrays, &programs, &options, &mut compiler)?);
/// assert!(page.starts_with("<!doctype html>") && page.contains("x should stay {1,0:T(8,128)}"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn page(tuning: &Tuning) -> String {
    let names = tuning.arrays.iter().map(|array| array.name.as_str()).collect::<Vec<_>>().join(", ");
    let title = format!("Layouts of {}", shortened(&names, 200));
    let sentences = answer(tuning).into_iter().map(|sentence| element("p").text(sentence));
    let main = elements()
        .with(element("div").id("summary").with_all(sentences))
        .with_all(tuning.notes.iter().map(hint))
        .with_all(gains(tuning))
        .with_all(code(tuning))
        .with_all(tuning.advice.as_deref().map(advised))
        .with_all(tuning.advice.is_none().then(|| tried(tuning)).flatten())
        .with_all(arrays(tuning))
        .with(hint(made(tuning)));
    page_of_tables(&title, main)
}

/// What changes in each program.
fn gains(tuning: &Tuning) -> Option<Element> {
    let best = tuning.changed()?;
    let rows = best.cost.programs.iter().zip(&tuning.today.cost.programs).map(|(program, today)| {
        let cost = |cost: Option<Amount>| match cost {
            _ if tuning.moved => "not compared".to_owned(),
            Some(cost) => cost.in_column(),
            None => "not known".to_owned(),
        };
        let list = |word: &str, copies: &[String]| {
            copies.iter().take(CHANGES_SHOWN).map(|copy| format!("{word}: {copy}")).collect::<Vec<_>>()
        };
        [
            cost(today.amount),
            cost(program.amount),
            Signed(difference(today.bytes, program.bytes)).to_string(),
            format!("{} → {}", today.copies, program.copies),
            program.program.clone(),
            [list("gone", &program.gone), list("new", &program.new)].concat().join("; "),
        ]
    });
    let [today, now] = if is_time(tuning) { ["Time today", "Time"] } else { ["Cycles today", "Cycles"] };
    let columns = [today, now, "HBM", "Copies", "Program", "Copies that change a layout"];
    table("programs", "Compared with today", columns, 4, rows)
}

fn code(tuning: &Tuning) -> Option<Element> {
    tuning.changed()?;
    let code = tuning.arrays.iter().filter_map(|array| {
        let lines = lines(array.write.as_ref()?).into_iter().map(|(tool, code)| format!("{tool:<5}  {code}\n"));
        let code = element("pre").attribute("tabindex", 0).whole_text(lines.collect::<String>());
        Some(elements().with(element("p").text(&array.name)).with(code))
    });
    Some(section("code", "To write").with_all(code))
}

fn tried(tuning: &Tuning) -> Option<Element> {
    let number = |number: Option<String>| number.unwrap_or_default();
    let rows = tuning.sorted().into_iter().map(|entry| {
        let problem = tuning.problem(entry);
        let taken = problem.is_none();
        [
            number(entry.cost.amount.filter(|_| taken).map(Amount::in_column)),
            number(entry.cost.bytes.filter(|_| taken).map(|bytes| InUnits(bytes).to_string())),
            number(entry.cost.copies.filter(|_| taken).map(|copies| copies.to_string())),
            choice(entry),
            problem.map_or_else(|| entry.because.to_string(), said),
        ]
    });
    let cost = if is_time(tuning) { "Time" } else { "Cycles" };
    table("tried", "Tried", [cost, "HBM", "Copies", "Layouts", "Why"], 3, rows)
}

fn arrays(tuning: &Tuning) -> Option<Element> {
    let rows = tuning.arrays.iter().map(|array| {
        let preferred = array.preferred.iter().map(|one| format!("{} by {}", one.layout, one.program));
        [
            array.layouts.to_string(),
            format!("{}: {}", array.name, array.shape),
            array.places.join(", "),
            preferred.collect::<Vec<_>>().join(", "),
        ]
    });
    let columns = ["Layouts", "Array", "Places", "Preferred"];
    table("arrays", "Shared arrays", columns, 1, rows)
}

/// What compiled modules say about each array.
fn advised(advice: &[Advice]) -> Element {
    let places = advice.iter().flat_map(|array| places(array).map(|place| [array.array.clone(), place]));
    let places = table("places", "Places", ["Array", "Layout today"], 0, places.collect::<Vec<_>>().into_iter());
    let copies = advice.iter().flat_map(|array| {
        array.copies.iter().map(|copy| {
            [
                copy.amount.map_or_else(String::new, Amount::in_column),
                format!("{}: %{} of {}", array.array, copy.instruction, copy.program),
                format!("{} → {}", copy.from, copy.to),
                copy.cause.to_string(),
                copy.remedy.as_ref().map(ToString::to_string).unwrap_or_default(),
            ]
        })
    });
    let columns = ["Cost", "Copy", "Change", "Cause", "Remedy"];
    let copies = table("copies", "Copies", columns, 1, copies.collect::<Vec<_>>().into_iter());
    elements().with_all(places).with_all(copies)
}
