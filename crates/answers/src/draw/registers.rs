//! The registers of a vector: the content of each sublane.

use super::MAX_MAP;
use crate::Answer;
use crate::explain::Registers;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use xla_shape_core::Slot;
use xla_shape_core::sorting::set_of;
use xla_shape_core::tpu::vector::{LANES, Location, SUBLANES};

/// A vector in the registers of a TPU. If there are many registers, it has the ones at the corners and edges of their grid.
///
/// ```
/// use xla_shape_answers::draw::RegisterDrawing;
/// use xla_shape_answers::explain::Registers;
///
/// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
/// let drawing = RegisterDrawing::new(&registers);
/// let run = &drawing.shown[0].sublanes[3][0];
/// assert_eq!((run.lanes, run.elements.as_deref()), ([0, 128], Some(&[[0, 1], [0, 128]][..])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RegisterDrawing {
    /// The vector, as an array without a layout.
    pub vector: String,
    /// The vector layout, as Mosaic writes it.
    pub layout: String,
    /// The number of registers, of which some may not be shown.
    pub registers: u64,
    /// The sizes of the grid of registers: the leading dimensions of the vector, then the numbers of rows and of columns of registers.
    pub grid: Vec<u64>,
    /// The registers that are shown.
    pub shown: Vec<Register>,
    /// For each part of the registers, the number of the element there, counted row-major, or null for padding. Null if there are more than
    /// 1,048,576.
    #[serde(serialize_with = "physical_to_logical")]
    #[schemars(with = "Option<Vec<Option<u64>>>")]
    physical_to_logical: Registers,
    /// The sublanes of a tile.
    #[serde(skip)]
    pub sublanes_of_tile: u64,
    /// The elements in a word.
    #[serde(skip)]
    pub packing: u64,
}

/// A register.
///
/// ```
/// use xla_shape_answers::draw::RegisterDrawing;
/// use xla_shape_answers::explain::Registers;
///
/// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
/// let drawing = RegisterDrawing::new(&registers);
/// assert_eq!((drawing.shown[1].register, &drawing.shown[1].place[..]), (1, &[0, 1][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Register {
    /// Its number, in row-major order of the grid.
    pub register: u64,
    /// Its place in the grid.
    pub place: Vec<u64>,
    /// What its sublanes hold.
    pub sublanes: Vec<Vec<Run>>,
}

/// Neighbouring lanes of a sublane.
///
/// ```
/// use xla_shape_answers::draw::RegisterDrawing;
/// use xla_shape_answers::explain::Registers;
///
/// let registers = Registers::new(&"f32[16,256]".parse()?, "32,{3,0},(8,128)".parse()?)?;
/// let drawing = RegisterDrawing::new(&registers);
/// let run = &drawing.shown[0].sublanes[0][0];
/// assert_eq!((run.lanes, run.elements.is_none()), ([0, 128], true), "nothing is before the first element");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Run {
    /// The first lane, and the one after the last.
    pub lanes: [u64; 2],
    /// The first part of the 32-bit words, and the one after the last.
    pub parts: [u64; 2],
    /// For each dimension, the first index and the one after the last. A value that fills several lanes has a range of one index. Null if nothing is
    /// there.
    pub elements: Option<Vec<[u64; 2]>>,
}

/// The number of rows and columns of the grid that are shown.
const SHOWN: u64 = 3;

/// Writes the number of the element in each part of the registers, if there are not too many.
fn physical_to_logical<S: Serializer>(registers: &Registers, serializer: S) -> Result<S::Ok, S::Error> {
    match registers.num_places() {
        ..=MAX_MAP => serializer.collect_seq(registers.elements()),
        _ => serializer.serialize_none(),
    }
}

impl RegisterDrawing {
    /// A drawing of what the registers of a vector hold.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_answers::explain::Registers;
    /// use xla_shape_answers::draw::RegisterDrawing;
    ///
    /// let drawing = RegisterDrawing::new(&Registers::new(&"f32[8,128]".parse()?, "32,{0,0},(8,128)".parse()?)?);
    /// assert!(drawing.json().contains("\"elements\":[[7,8],[0,128]]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(registers: &Registers) -> Self {
        let (grid, layout) = (registers.map().grid(), registers.layout);
        let [rows, columns] = [1, 0].map(|from_end| grid.iter().rev().nth(from_end).copied().unwrap_or(1));
        let shown = edges(rows).into_iter().flat_map(|row| edges(columns).into_iter().map(move |column| [row, column]));
        let register = |[row, column]: [u64; 2]| {
            // Only the first register of each leading dimension is shown.
            let mut place = vec![0; grid.len().saturating_sub(2)];
            place.extend([row, column]);
            let number = row.saturating_mul(columns).saturating_add(column);
            let sublanes = (0..SUBLANES).map(|sublane| sublane_runs(registers, number, sublane)).collect();
            Register { register: number, place, sublanes }
        };
        Self {
            vector: registers.vector.clone(),
            layout: layout.to_string(),
            registers: registers.registers,
            grid: grid.to_vec(),
            shown: shown.map(register).collect(),
            physical_to_logical: registers.clone(),
            sublanes_of_tile: (SUBLANES / layout.tiles_per_register()).max(1),
            packing: layout.packing(),
        }
    }
}

impl Answer for RegisterDrawing {
    const SCHEMA: &'static str = "xla-shape/draw/1";
}

/// The first two of `size` registers along an axis, and the last one.
fn edges(size: u64) -> BTreeSet<u64> {
    set_of((0..size.min(SHOWN - 1)).chain(size.checked_sub(1)))
}

/// The runs of lanes in a sublane. A run holds neighbouring elements of one row, or nothing.
fn sublane_runs(registers: &Registers, register: u64, sublane: u64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // Elements that share a lane are in different rows, so each part of a lane has its own runs.
    for part in 0..registers.layout.packing() {
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

/// Joins runs of neighbouring parts in the same lanes, if their elements are neighbours or both have none.
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
                // A run of one element in several lanes: this lane has the same element.
                let same = ranges.iter().zip(index).all(|(range, entry)| range[1] == entry + 1);
                let lanes = self.lanes[1] - self.lanes[0];
                let repeats = ranges.iter().all(|range| range[1] - range[0] == 1);
                // A run of columns of one row, one in each lane: this lane has the next column.
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

    /// Whether the elements of `other` are those of this run or follow them along one dimension, or neither has elements.
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
}

#[cfg(test)]
mod tests {
    use super::RegisterDrawing;
    use crate::explain::Registers;
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
}
