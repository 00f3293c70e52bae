//! A drawing of the registers of a vector: what each of their sublanes holds.

use super::MAX_MAP;
use super::svg::{self, fill_of_tile};
use crate::vector::Registers;
use crate::web::{Page, SCROLLS, hatching_of_page};
use crate::words::{Grouped, count};
use crate::{Show, Text};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use xla_shape_answers::Answer;
use xla_shape_core::Slot;
use xla_shape_core::tpu::vector::{LANES, Location, SUBLANES};

/// A drawing of a vector in the registers of a TPU. Of many registers, it shows those at the corners and edges of their grid.
///
/// ```
/// use xla_shape_render::{Show, draw::RegisterDrawing, vector::Registers};
///
/// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
/// let drawing = RegisterDrawing::new(&registers);
/// assert!(drawing.svg().starts_with("<svg"));
/// assert!(drawing.text(80).to_string().contains("sublane 3  [0,0:128]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RegisterDrawing {
    /// The vector, as an array without a layout.
    vector: String,
    /// The vector layout, as Mosaic writes it.
    layout: String,
    /// The number of registers, of which some may not be shown.
    registers: u64,
    /// The numbers of registers: the leading dimensions, then the rows and the columns of registers.
    grid: Vec<u64>,
    /// The registers that are shown.
    shown: Vec<Register>,
    /// For each part of the registers, the number of the element there, counted row-major, or null for padding. Null if there are more than 1,048,576.
    #[serde(serialize_with = "physical_to_logical")]
    #[schemars(with = "Option<Vec<Option<u64>>>")]
    physical_to_logical: Registers,
    /// The sublanes of a tile.
    #[serde(skip)]
    sublanes_of_tile: u64,
    #[serde(skip)]
    packing: u64,
}

/// A register.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
struct Register {
    /// Its number, in row-major order of the grid.
    register: u64,
    /// Its place in the grid.
    place: Vec<u64>,
    /// What its sublanes hold.
    sublanes: Vec<Vec<Run>>,
}

/// Neighbouring lanes of a sublane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
struct Run {
    /// The first lane, and the one after the last.
    lanes: [u64; 2],
    /// The first part of the 32-bit words, and the one after the last.
    parts: [u64; 2],
    /// For each dimension, the first index and the one after the last; a value that fills several lanes has one. Null if nothing is there.
    elements: Option<Vec<[u64; 2]>>,
}

/// How many rows and columns of the grid are shown.
const SHOWN: u64 = 3;

/// Writes the number of the element in each part of the registers, if there are not too many.
fn physical_to_logical<S: Serializer>(registers: &Registers, serializer: S) -> Result<S::Ok, S::Error> {
    match registers.num_places() {
        ..=MAX_MAP => serializer.collect_seq(registers.elements()),
        _ => serializer.serialize_none(),
    }
}

impl RegisterDrawing {
    /// Draws the registers of a vector.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::{draw::RegisterDrawing, vector::Registers};
    ///
    /// let drawing = RegisterDrawing::new(&Registers::new(&"f32[8,128]".parse()?, "32,{0,0},(8,128)".parse()?)?);
    /// assert!(drawing.json().contains("\"elements\":[[7,8],[0,128]]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(registers: &Registers) -> Self {
        let (grid, layout) = (registers.map().grid(), registers.layout());
        let [rows, columns] = [1, 0].map(|from_end| grid.iter().rev().nth(from_end).copied().unwrap_or(1));
        let shown = edges(rows).into_iter().flat_map(|row| edges(columns).into_iter().map(move |column| [row, column]));
        let register = |[row, column]: [u64; 2]| {
            let mut place = vec![0; grid.len().saturating_sub(2)];
            place.extend([row, column]);
            let number = row.saturating_mul(columns).saturating_add(column);
            let sublanes = (0..SUBLANES).map(|sublane| sublane_runs(registers, number, sublane)).collect();
            Register { register: number, place, sublanes }
        };
        Self {
            vector: registers.vector(),
            layout: layout.to_string(),
            registers: registers.count(),
            grid: grid.to_vec(),
            shown: shown.map(register).collect(),
            physical_to_logical: registers.clone(),
            sublanes_of_tile: (SUBLANES / layout.tiles_per_register()).max(1),
            packing: layout.packing(),
        }
    }

    fn heading(&self) -> String {
        format!("{} in {}: {}", self.vector, self.layout, count(self.registers, "register", "registers"))
    }

    /// How many registers are not shown, if any.
    fn more(&self) -> Option<String> {
        let shown = self.shown.len() as u64;
        (shown < self.registers).then(|| format!("… {shown} of {} registers", Grouped(self.registers)))
    }

    /// The picture, as SVG: each register is a box with 8 sublanes; where no element is, it is hatched.
    ///
    /// ```
    /// use xla_shape_render::{draw::RegisterDrawing, vector::Registers};
    ///
    /// let registers = Registers::new(&"bf16[5,100]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert!(RegisterDrawing::new(&registers).svg().contains(">[0:2,0:100]<"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        let title = self.heading();
        let title = self.more().map_or_else(|| title.clone(), |more| format!("{title} ({more})"));
        self.drawn(&title, |drawing| drawing.alone())
    }

    /// The picture as a part of a page, which has its title.
    pub(crate) fn in_page(&self) -> String {
        self.drawn(&self.more().unwrap_or_default(), |drawing| drawing.in_page())
    }

    fn drawn(&self, title: &str, form: impl Fn(&svg::Drawing<'_>) -> String) -> String {
        let across = self.shown.iter().filter(|register| register.row() == 0).count().max(1) as u64;
        let down = (self.shown.len() as u64).div_ceil(across);
        let width = MARGIN + LABELS + across * (WIDTH + MARGIN);
        let above = if title.is_empty() { 0 } else { 2 * MARGIN };
        let height = MARGIN + above + down * (HEIGHT + 2 * MARGIN);
        let mut body = String::new();
        // Writing to a `String` does not fail.
        for (number, register) in (0..).zip(&self.shown) {
            let (x, y) = (
                MARGIN + LABELS + number % across * (WIDTH + MARGIN),
                2 * MARGIN + above + number / across * (HEIGHT + 2 * MARGIN),
            );
            let _ = writeln!(body, "<text x=\"{x}\" y=\"{}\" class=\"h\">{}</text>", y - 6, register.title());
            for (sublane, runs) in (0..).zip(&register.sublanes) {
                let top = y + sublane * SUBLANE;
                if number % across == 0 {
                    let _ =
                        writeln!(body, "<text x=\"{MARGIN}\" y=\"{}\" class=\"a\">sublane {sublane}</text>", top + 15);
                }
                for run in runs {
                    self.push_run(&mut body, run, (x, top), sublane);
                }
            }
            let _ = writeln!(body, "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" class=\"e\"/>");
        }
        let label = self.heading();
        form(&svg::Drawing { label: &label, title, title_size: 11, size: [width, height], body: &body })
    }

    fn push_run(&self, body: &mut String, run: &Run, (left, top): (u64, u64), sublane: u64) {
        let [first, last] = run.lanes;
        let (x, width) = (left + first * WIDTH / LANES, (last - first) * WIDTH / LANES);
        let [y, bottom] = run.parts.map(|part| top + part * SUBLANE / self.packing);
        let class = match run.elements {
            Some(_) => fill_of_tile(sublane / self.sublanes_of_tile),
            None => "c p".to_owned(),
        };
        let label = run.label();
        let _ = write!(
            body,
            "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\"/>",
            run.place(sublane, self.packing),
            bottom - y
        );
        let fits = label.len() as u64 * CHARACTER <= width && bottom - y == SUBLANE;
        if fits && run.elements.is_some() {
            let _ = write!(body, "<text x=\"{}\" y=\"{}\">{label}</text>", x + width / 2, y + 15);
        }
        body.push_str("</g>\n");
    }

    /// A page with the picture. It has no external resources.
    ///
    /// ```
    /// use xla_shape_render::{draw::RegisterDrawing, vector::Registers};
    ///
    /// let registers = Registers::new(&"bf16[5,100]".parse()?, "16,{0,0},(16,128)".parse()?)?;
    /// assert!(RegisterDrawing::new(&registers).html().starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn html(&self) -> String {
        let title = self.heading();
        let main = format!(
            "{}{}<p class=\"hint\">Hatched: no element of the vector. Each row is a sublane, its lanes from left to right; a part names its elements \
             by their range in each dimension.</p>\n{SCROLLS}",
            hatching_of_page(),
            self.in_page()
        );
        Page { title: &title, heading: &title, main: &main, style: &svg::fills(), ..Page::default() }.html()
    }
}

/// Sizes in pixels: a register, a sublane, the space around them, the labels of sublanes, and a character.
const WIDTH: u64 = 256;
const SUBLANE: u64 = 22;
const HEIGHT: u64 = SUBLANES * SUBLANE;
const MARGIN: u64 = 16;
const LABELS: u64 = 72;
const CHARACTER: u64 = 7;

/// The first two of `size` registers along an axis, and the last one.
fn edges(size: u64) -> BTreeSet<u64> {
    (0..size.min(SHOWN - 1)).chain(size.checked_sub(1)).collect()
}

/// The runs of lanes of a sublane that hold neighbouring elements of one row, or nothing.
fn sublane_runs(registers: &Registers, register: u64, sublane: u64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for part in 0..registers.layout().packing() {
        let begin = runs.len();
        for lane in 0..LANES {
            let found = registers.map().element(Location { register, sublane, lane, part });
            let index = match found {
                Some(Slot::Element(index)) => Some(index),
                _ => None,
            };
            match runs.get_mut(begin..).and_then(<[Run]>::last_mut) {
                Some(run) if run.takes(index.as_deref()) => {
                    run.lanes[1] = lane + 1;
                    if let Some((ranges, index)) = run.elements.as_mut().zip(index) {
                        for (range, entry) in ranges.iter_mut().zip(index) {
                            range[1] = range[1].max(entry + 1);
                        }
                    }
                }
                _ => runs.push(Run {
                    lanes: [lane, lane + 1],
                    parts: [part, part + 1],
                    elements: index.map(|index| index.into_iter().map(|entry| [entry, entry + 1]).collect()),
                }),
            }
        }
    }
    joined(runs)
}

/// Joins the runs of neighbouring parts that are in the same lanes, if their elements are neighbours or they have none.
fn joined(runs: Vec<Run>) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for run in runs {
        let before = joined.iter_mut().rfind(|before| before.lanes == run.lanes && before.parts[1] == run.parts[0]);
        match before {
            Some(before) if before.meets(&run) => {
                before.parts[1] = run.parts[1];
                if let Some((ranges, more)) = before.elements.as_mut().zip(run.elements) {
                    ranges.iter_mut().zip(more).for_each(|(range, [_, end])| range[1] = range[1].max(end));
                }
            }
            _ => joined.push(run),
        }
    }
    joined
}

impl Run {
    /// Whether the next lane, with the element of this index, continues the run: the next column, or the same value again.
    fn takes(&self, index: Option<&[u64]>) -> bool {
        match (&self.elements, index) {
            (None, None) => true,
            (Some(ranges), Some(index)) => {
                let same = ranges.iter().zip(index).all(|(range, entry)| range[1] == entry + 1);
                let lanes = self.lanes[1] - self.lanes[0];
                let repeats = ranges.iter().all(|range| range[1] - range[0] == 1);
                let next = ranges.split_last().zip(index.split_last()).is_some_and(|((last, rows), (entry, index))| {
                    last[1] == *entry
                        && last[1] - last[0] == lanes
                        && rows.iter().zip(index).all(|(range, entry)| range[0] == *entry && range[1] == entry + 1)
                });
                (same && repeats) || next
            }
            _ => false,
        }
    }

    /// Whether the elements of `other` continue these in one dimension, or neither has elements.
    fn meets(&self, other: &Self) -> bool {
        match (&self.elements, &other.elements) {
            (None, None) => true,
            (Some(ranges), Some(others)) => {
                let different = ranges.iter().zip(others).filter(|(range, other)| range != other).collect::<Vec<_>>();
                match different[..] {
                    [] => true,
                    [(range, other)] => range[1] == other[0],
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// The elements as slices of Python, such as `[0:2,0:128]`; a value that fills several lanes has one index.
    fn label(&self) -> String {
        let Some(ranges) = &self.elements else { return "nothing".to_owned() };
        let slice =
            |[start, end]: &[u64; 2]| if end - start == 1 { start.to_string() } else { format!("{start}:{end}") };
        format!("[{}]", ranges.iter().map(slice).collect::<Vec<_>>().join(","))
    }

    fn place(&self, sublane: u64, packing: u64) -> String {
        let [[first, last], [part, end]] = [self.lanes, self.parts].map(|[first, end]| [first, end - 1]);
        let parts = if packing == 1 { String::new() } else { format!(", parts {part} to {end}") };
        format!("sublane {sublane}, lanes {first} to {last}{parts}: {}", self.label())
    }
}

impl Register {
    fn row(&self) -> u64 {
        self.place.iter().rev().nth(1).copied().unwrap_or(0)
    }

    fn title(&self) -> String {
        let place = self.place.iter().map(ToString::to_string).collect::<Vec<_>>();
        format!("register {} at ({})", Grouped(self.register), place.join(","))
    }
}

impl Answer for RegisterDrawing {
    const SCHEMA: &'static str = "xla-shape/draw/1";
}

impl Show for RegisterDrawing {
    /// One line for each sublane; `░` is where no element is.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.paragraph(self.heading());
        for register in &self.shown {
            text.verbatim("");
            text.verbatim(register.title());
            for (sublane, runs) in register.sublanes.iter().enumerate() {
                let runs = runs.iter().map(|run| {
                    let [first, end] = run.lanes;
                    let lanes = if end - first == LANES { String::new() } else { format!("lanes {first}:{end} ") };
                    let [part, last] = run.parts;
                    let parts = match (last - part, self.packing) {
                        (parts, packing) if parts == packing => String::new(),
                        (1, _) => format!("part {part} "),
                        _ => format!("parts {part}:{last} "),
                    };
                    let what = if run.elements.is_some() { run.label() } else { "░".to_owned() };
                    format!("{lanes}{parts}{what}")
                });
                text.verbatim(format!("  sublane {sublane}  {}", runs.collect::<Vec<_>>().join("; ")));
            }
        }
        if let Some(more) = self.more() {
            text.verbatim("");
            text.verbatim(more);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::RegisterDrawing;
    use crate::vector::Registers;
    use xla_shape_core::tpu::vector::LANES;

    fn drawing(vector: &str, layout: &str) -> RegisterDrawing {
        RegisterDrawing::new(&Registers::new(&vector.parse().unwrap(), layout.parse().unwrap()).unwrap())
    }

    /// Every word of every sublane is in exactly one run, and the runs hold as many elements as the vector has.
    #[test]
    fn runs_cover_registers() {
        for (vector, layout) in [
            ("f32[16,256]", "32,{3,5},(8,128)"),
            ("bf16[20,130]", "16,{1,0},(16,128)"),
            ("bf16[20,130]", "16,{1,0},(8,128)"),
            ("bf16[1000]", "16,{0,0},(1,256),-2"),
            ("f32[700]", "32,{0,3},(1,128),-2"),
            ("s8[40,128]", "8,{3,0},(32,128)"),
            ("pred[40,128]", "1,{0,0},(256,128)"),
        ] {
            let drawing = drawing(vector, layout);
            assert_eq!(drawing.shown.len() as u64, drawing.registers, "{layout}: the vector is small");
            let mut elements = 0;
            for runs in drawing.shown.iter().flat_map(|register| &register.sublanes) {
                let words = runs.iter().map(|run| (run.lanes[1] - run.lanes[0]) * (run.parts[1] - run.parts[0]));
                assert_eq!(words.sum::<u64>(), LANES * drawing.packing, "{layout}");
                let counts = runs.iter().filter_map(|run| run.elements.as_ref());
                elements +=
                    counts.map(|ranges| ranges.iter().map(|[start, end]| end - start).product::<u64>()).sum::<u64>();
            }
            let sizes = vector.parse::<xla_shape_core::ArrayShape>().unwrap();
            assert_eq!(Some(elements), sizes.elements(), "{vector} {layout}");
        }
    }

    #[test]
    fn replicated_values_and_large_vectors() {
        let text = crate::Show::text(&drawing("f32[16,256]", "32,{*,0},(8,128)"), 80).to_string();
        assert!(text.contains("sublane 7  [0,0:128]"), "{text}");
        let large = drawing("f32[1000000,100000]", "32,{0,0},(8,128)");
        assert_eq!((large.shown.len(), large.registers), (9, 125_000 * 782));
        assert!(large.svg().len() < 40_000);
        assert!(crate::Show::text(&large, 80).to_string().ends_with("… 9 of 97,750,000 registers\n"));
    }
}
