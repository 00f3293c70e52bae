//! A drawing of the registers of a vector: what each of their sublanes holds.

use super::svg::{self, fill_of_tile, rectangle, text};
use crate::web::{Element, Page, element, elements, hatching_of_page, hint, scrolls};
use crate::words::{Grouped, count};
use crate::{Html, Show, Svg, Text};
use xla_shape_answers::draw::{Register, RegisterDrawing, Run};
use xla_shape_core::tpu::vector::{LANES, SUBLANES};

/// Sizes in pixels: a register, a sublane, the space around them, the labels of sublanes, and a character.
const WIDTH: u64 = 256;
const SUBLANE: u64 = 22;
const HEIGHT: u64 = SUBLANES * SUBLANE;
const MARGIN: u64 = 16;
const LABELS: u64 = 72;
const CHARACTER: u64 = 7;

impl Show for RegisterDrawing {
    /// One line for each sublane; `░` marks places without an element.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.paragraph(heading(self));
        for register in &self.shown {
            text.verbatim("");
            text.verbatim(name(register));
            for (sublane, runs) in register.sublanes.iter().enumerate() {
                let runs = runs.iter().map(|run| {
                    // The lanes are named only if the run does not take all of them. The parts of packed elements are treated in the same
                    // way.
                    let [first, end] = run.lanes;
                    let lanes = if end - first == LANES { String::new() } else { format!("lanes {first}:{end} ") };
                    let [part, last] = run.parts;
                    let parts = match (last - part, self.packing) {
                        (parts, packing) if parts == packing => String::new(),
                        (1, _) => format!("part {part} "),
                        _ => format!("parts {part}:{last} "),
                    };
                    let what = if run.elements.is_some() { label(run) } else { "░".to_owned() };
                    format!("{lanes}{parts}{what}")
                });
                text.verbatim(format!("  sublane {sublane}  {}", runs.collect::<Vec<_>>().join("; ")));
            }
        }
        if let Some(more) = more(self) {
            text.verbatim("");
            text.verbatim(more);
        }
        text
    }
}

impl Svg for RegisterDrawing {
    /// The picture, as SVG: each register is a box with 8 sublanes. Places without an element are hatched.
    ///
    /// ```
    /// use xla_shape_answers::draw::RegisterDrawing;
    /// use xla_shape_answers::explain::Registers;
    /// use xla_shape_render::Svg;
    ///
    /// let registers = Registers::new(&"bf16[5,100]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert!(RegisterDrawing::new(&registers).svg().contains(">[0:2,0:100]<"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn svg(&self) -> String {
        let title = heading(self);
        let title = more(self).map_or_else(|| title.clone(), |more| format!("{title} ({more})"));
        drawn(self, &title, |picture| picture.alone())
    }
}

impl Html for RegisterDrawing {
    /// A page with the picture. It has no external resources.
    ///
    /// ```
    /// use xla_shape_answers::draw::RegisterDrawing;
    /// use xla_shape_answers::explain::Registers;
    /// use xla_shape_render::Html;
    ///
    /// let registers = Registers::new(&"bf16[5,100]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert!(RegisterDrawing::new(&registers).html().starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn html(&self) -> String {
        let title = heading(self);
        let what = "Hatched: no element of the vector. Each row is a sublane, its lanes from left to right; a part names its elements by their \
                    range in each dimension.";
        let main = elements().with(hatching_of_page()).with(in_page(self)).with(hint(what)).with(scrolls());
        Page { title: &title, heading: &title, main, style: &[&svg::fills()], ..Page::default() }.html()
    }
}

fn heading(drawing: &RegisterDrawing) -> String {
    format!("{} in {}: {}", drawing.vector, drawing.layout, count(drawing.registers, "register", "registers"))
}

/// How many registers are not shown, if any.
fn more(drawing: &RegisterDrawing) -> Option<String> {
    let shown = drawing.shown.len() as u64;
    (shown < drawing.registers).then(|| format!("… {shown} of {} registers", Grouped(drawing.registers)))
}

/// The picture as a part of a page that already shows the title.
pub(crate) fn in_page(drawing: &RegisterDrawing) -> Element {
    drawn(drawing, &more(drawing).unwrap_or_default(), |picture| picture.in_page())
}

fn drawn<T>(drawing: &RegisterDrawing, title: &str, form: impl Fn(svg::Drawing<'_>) -> T) -> T {
    let across = drawing.shown.iter().filter(|register| row(register) == 0).count().max(1) as u64;
    let down = (drawing.shown.len() as u64).div_ceil(across);
    let width = MARGIN + LABELS + across * (WIDTH + MARGIN);
    let above = if title.is_empty() { 0 } else { 2 * MARGIN };
    let height = MARGIN + above + down * (HEIGHT + 2 * MARGIN);
    let mut body = Vec::new();
    for (number, register) in (0..).zip(&drawing.shown) {
        let (x, y) = (
            MARGIN + LABELS + number % across * (WIDTH + MARGIN),
            2 * MARGIN + above + number / across * (HEIGHT + 2 * MARGIN),
        );
        body.push(text(x, y - 6, name(register)).class("h"));
        for (sublane, runs) in (0..).zip(&register.sublanes) {
            let top = y + sublane * SUBLANE;
            // The sublanes are labelled once, left of the first register of a row.
            if number % across == 0 {
                body.push(text(MARGIN, top + 15, format_args!("sublane {sublane}")).class("a"));
            }
            body.extend(runs.iter().map(|run| part(drawing, run, (x, top), sublane)));
        }
        body.push(rectangle([x, y], [WIDTH, HEIGHT]).class("e"));
    }
    let (label, body) = (heading(drawing), elements().with_all(body));
    form(svg::Drawing { label: &label, title, title_size: 11, size: [width, height], body })
}

/// What a run of lanes holds.
fn part(drawing: &RegisterDrawing, run: &Run, (left, top): (u64, u64), sublane: u64) -> Element {
    let [first, last] = run.lanes;
    let (x, width) = (left + first * WIDTH / LANES, (last - first) * WIDTH / LANES);
    let [y, bottom] = run.parts.map(|part| top + part * SUBLANE / drawing.packing);
    let class = match run.elements {
        Some(_) => fill_of_tile(sublane / drawing.sublanes_of_tile),
        None => "c p".to_owned(),
    };
    let label = label(run);
    let fits = label.len() as u64 * CHARACTER <= width && bottom - y == SUBLANE;
    let title = element("title").whole_text(place(run, sublane, drawing.packing));
    let group = element("g").class(&class).with(title).with(rectangle([x, y], [width, bottom - y]));
    group.with_all((fits && run.elements.is_some()).then(|| text(x + width / 2, y + 15, label)))
}

/// The elements as slices of Python, such as `[0:2,0:128]`. A dimension with a single index shows that index: `[3,0:128]`.
fn label(run: &Run) -> String {
    let Some(ranges) = &run.elements else { return "nothing".to_owned() };
    let slice = |[start, end]: &[u64; 2]| if end - start == 1 { start.to_string() } else { format!("{start}:{end}") };
    format!("[{}]", ranges.iter().map(slice).collect::<Vec<_>>().join(","))
}

/// Where a run is, and what it holds.
fn place(run: &Run, sublane: u64, packing: u64) -> String {
    let [[first, last], [part, end]] = [run.lanes, run.parts].map(|[first, end]| [first, end - 1]);
    let parts = if packing == 1 { String::new() } else { format!(", parts {part} to {end}") };
    format!("sublane {sublane}, lanes {first} to {last}{parts}: {}", label(run))
}

/// The row of a register in the last two dimensions of the grid.
fn row(register: &Register) -> u64 {
    register.place.iter().rev().nth(1).copied().unwrap_or(0)
}

fn name(register: &Register) -> String {
    let place = register.place.iter().map(ToString::to_string).collect::<Vec<_>>();
    format!("register {} at ({})", Grouped(register.register), place.join(","))
}

#[cfg(test)]
mod tests {
    use crate::{Show, Svg};
    use xla_shape_answers::draw::RegisterDrawing;
    use xla_shape_answers::explain::Registers;

    fn drawing(vector: &str, layout: &str) -> RegisterDrawing {
        RegisterDrawing::new(&Registers::new(&vector.parse().unwrap(), layout.parse().unwrap()).unwrap())
    }

    #[test]
    fn replicated_values_and_large_vectors() {
        let text = drawing("f32[16,256]", "32,{*,0},(8,128)").text(80).to_string();
        assert!(text.contains("sublane 7  [0,0:128]"), "{text}");
        let large = drawing("f32[1000000,100000]", "32,{0,0},(8,128)");
        assert_eq!((large.shown.len(), large.registers), (9, 125_000 * 782));
        assert!(large.svg().len() < 40_000);
        assert!(large.text(80).to_string().ends_with("… 9 of 97,750,000 registers\n"));
    }
}
