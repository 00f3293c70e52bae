//! The content of a drawing, before it becomes text, SVG or HTML: a part of the elements in the order of their indices, and the same
//! elements in the order of memory.

use crate::words::dimension_name;
use std::collections::BTreeSet;
use xla_shape_core::{ArrayShape, Placement, Slot, StrideTableError};

/// How much of an array is shown at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The cells of all planes together.
    pub(crate) cells: usize,
}

impl Window {
    /// What fits into a terminal.
    pub(crate) const TEXT: Self = Self { rows: 12, columns: 10, cells: 120 };
    /// What fits into a page, with both views side by side.
    pub(crate) const PAGE: Self = Self { rows: 16, columns: 14, cells: 480 };

    /// A smaller window; after enough calls a single cell.
    pub(crate) fn smaller(self) -> Self {
        let less = |number: usize, part: usize| (number * part / 8).max(1);
        Self { rows: less(self.rows, 7), columns: less(self.columns, 7), cells: less(self.cells, 6) }
    }
}

/// A gap of at most this many positions between two that are shown is filled.
const SMALL_GAP: u64 = 4;

/// How many colours there are for tiles.
pub(crate) const COLOURS: usize = 6;

/// A picture of an array.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) title: String,
    pub(crate) planes: Vec<Plane>,
    /// How many planes the array has.
    pub(crate) all_planes: u64,
    /// How many planes form a row: the size of the most minor dimension that planes do not show.
    pub(crate) planes_per_row: usize,
    /// Runs of neighbouring positions, in the order of memory.
    pub(crate) runs: Vec<Vec<Cell>>,
    /// How many positions the array has.
    pub(crate) positions: u64,
}

/// The two most minor dimensions, at one index of all others.
#[derive(Debug)]
pub(crate) struct Plane {
    /// The index of the other dimensions, such as `d0 = 0`; empty if there are none.
    pub(crate) label: String,
    pub(crate) rows: Axis,
    pub(crate) columns: Axis,
    /// The cell for each row and column, row by row; `None` for padding that has no single position.
    pub(crate) cells: Vec<Vec<Option<Cell>>>,
}

/// The indices of a dimension that are shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Axis {
    /// The dimension's name; empty for the one row of an array that has no second dimension.
    pub(crate) name: String,
    pub(crate) indices: Vec<u64>,
}

impl Axis {
    /// The dimension before an index: `d1=`. Empty if there is no dimension.
    pub(crate) fn prefix(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!("{}=", self.name) }
    }

    /// The indices as text, each after `prefix`. Empty texts if there is no dimension.
    pub(crate) fn labels(&self, prefix: &str) -> Vec<String> {
        let label = |index: &u64| if self.name.is_empty() { String::new() } else { format!("{prefix}{index}") };
        self.indices.iter().map(label).collect()
    }

    /// Whether indices are left out before this entry.
    pub(crate) fn gap_before(&self, entry: usize) -> bool {
        entry > 0 && self.indices[entry - 1] + 1 != self.indices[entry]
    }
}

/// A position of memory, with the element that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) position: u64,
    pub(crate) offset: (u64, u64),
    /// `None` for padding.
    pub(crate) index: Option<Vec<u64>>,
    /// The number of the tile in each direction; empty without tiles, and for padding.
    pub(crate) tile: Vec<u64>,
}

impl Cell {
    /// The number of a colour; neighbouring tiles have different ones.
    pub(crate) fn colour(&self) -> usize {
        // With the weights 1, 3, 5, 7, … neighbours in any direction have different colours.
        let weighted =
            self.tile.iter().rev().enumerate().map(|(place, number)| number % COLOURS as u64 * (2 * place as u64 + 1));
        (weighted.sum::<u64>() % COLOURS as u64) as usize
    }
}

/// The array of a drawing, and its padding.
#[derive(Debug)]
pub(crate) struct Subject {
    array: ArrayShape,
    placement: Placement,
    /// The array with its dimensions enlarged to include their padding, if that moves no element.
    grown: Option<Placement>,
}

impl Picture {
    /// Whether all of the array is shown.
    pub(crate) fn is_whole(&self) -> bool {
        self.runs.iter().map(Vec::len).sum::<usize>() as u64 == self.positions
    }
}

/// The placement of the array with every dimension enlarged to include its padding.
fn grown(array: &ArrayShape) -> Option<Placement> {
    let mut grown = array.clone();
    for padded in array.padded_dimensions()? {
        if let [dimension] = padded.dimensions[..]
            && padded.padded_size > padded.size
        {
            let size = grown.largest_free_size(dimension)?.min(padded.padded_size);
            let mut dimensions = grown.dimensions().to_vec();
            dimensions[dimension] = size.into();
            grown = ArrayShape::new(array.element_type(), &dimensions, array.layout().clone()).ok()?;
        }
    }
    grown.placement().ok()
}

impl Subject {
    pub(crate) fn new(array: &ArrayShape) -> Result<Self, StrideTableError> {
        Ok(Self { array: array.clone(), placement: array.placement()?, grown: grown(array) })
    }

    pub(crate) fn picture(&self, window: Window) -> Picture {
        let (planes, all_planes) = self.planes(window);
        let runs = self.runs(&planes, window);
        let third = self.array.layout().minor_to_major().get(2);
        Picture {
            title: self.array.to_string(),
            planes,
            all_planes,
            planes_per_row: third
                .map_or(1, |&third| usize::try_from(self.extents()[third]).unwrap_or(usize::MAX))
                .max(1),
            runs,
            positions: self.placement.padded_positions(),
        }
    }

    pub(crate) const fn placement(&self) -> &Placement {
        &self.placement
    }

    fn extents(&self) -> &[u64] {
        self.placement.table().extents()
    }

    /// The sizes of the dimensions, including padding that belongs to one dimension.
    fn grown_extents(&self) -> &[u64] {
        self.grown.as_ref().map_or(self.extents(), |grown| grown.table().extents())
    }

    fn planes(&self, window: Window) -> (Vec<Plane>, u64) {
        if self.extents().contains(&0) {
            return (Vec::new(), 0);
        }
        let minor_to_major = self.array.layout().minor_to_major();
        let column = minor_to_major.first().copied();
        let row = minor_to_major.get(1).copied();
        let others = minor_to_major.get(2..).unwrap_or(&[]).iter().rev().copied().collect::<Vec<_>>();
        let columns = self.axis(column, window.columns);
        let rows = self.axis(row, window.rows);
        let all_planes = others.iter().fold(1_u64, |product, &other| product.saturating_mul(self.extents()[other]));
        let shown = ((window.cells / (rows.indices.len() * columns.indices.len()).max(1)) as u64).clamp(1, all_planes);
        let plane = |number: u64| {
            let mut index = vec![0; self.extents().len()];
            let mut rest = number;
            for &other in others.iter().rev() {
                index[other] = rest % self.extents()[other];
                rest /= self.extents()[other];
            }
            let labels = others.iter().map(|&other| format!("{} = {}", dimension_name(other), index[other]));
            let label = labels.collect::<Vec<_>>().join(", ");
            let cells = rows.indices.iter().map(|&at_row| {
                let cells = columns.indices.iter().map(|&at_column| {
                    let mut index = index.clone();
                    row.into_iter().for_each(|row| index[row] = at_row);
                    column.into_iter().for_each(|column| index[column] = at_column);
                    self.cell_at(index)
                });
                cells.collect()
            });
            Plane { label, rows: rows.clone(), columns: columns.clone(), cells: cells.collect() }
        };
        ((0..shown).map(plane).collect(), all_planes)
    }

    /// The indices of a dimension to show: all of them, or the first ones, those around tile boundaries, and the last ones.
    fn axis(&self, dimension: Option<usize>, most: usize) -> Axis {
        let Some(dimension) = dimension else { return Axis { name: String::new(), indices: vec![0] } };
        let (size, grown) = (self.extents()[dimension], self.grown_extents()[dimension]);
        let mut wanted = vec![0, 1, 2, grown - 1, size - 1, size];
        for boundary in self.placement.boundaries(dimension) {
            wanted.extend([boundary - 1, boundary, boundary + 1]);
        }
        wanted.extend([grown.saturating_sub(2), size.saturating_sub(2)]);
        let mut indices = BTreeSet::new();
        for index in wanted.into_iter().chain(0..grown.min(most as u64)) {
            if indices.len() == most {
                break;
            }
            if index < grown {
                indices.insert(index);
            }
        }
        // A gap of a single index would take as much room as the index.
        let lonely = |&index: &u64| !indices.contains(&(index + 1)) && indices.contains(&(index + 2));
        let lonely = indices.iter().copied().filter(lonely).map(|index| index + 1).collect::<Vec<_>>();
        indices.extend(lonely);
        Axis { name: dimension_name(dimension), indices: indices.into_iter().collect() }
    }

    fn cell_at(&self, index: Vec<u64>) -> Option<Cell> {
        if let Some(position) = self.placement.table().checked_linear_index(&index) {
            return Some(self.cell(position, Some(index)));
        }
        let position = self.grown.as_ref()?.table().checked_linear_index(&index)?;
        (self.placement.slot(position) == Slot::Padding).then(|| self.cell(position, None))
    }

    fn cell(&self, position: u64, index: Option<Vec<u64>>) -> Cell {
        let tile = index.as_ref().and_then(|index| self.placement.tile_of(index)).unwrap_or_default();
        Cell { position, offset: self.placement.bit_offset(position), index, tile }
    }

    /// The positions of all cells of the planes, with small gaps filled; all positions if there are few.
    fn runs(&self, planes: &[Plane], window: Window) -> Vec<Vec<Cell>> {
        let all = self.placement.padded_positions();
        let is_padding = |position| self.placement.slot(position) == Slot::Padding;
        let shown: BTreeSet<u64> = if all <= window.cells as u64 {
            (0..all).collect()
        } else {
            let cells = planes.iter().flat_map(|plane| plane.cells.iter().flatten().flatten());
            let elements = cells.filter(|cell| cell.index.is_some()).map(|cell| cell.position);
            // If padding follows, its beginning is shown too.
            elements
                .flat_map(|position| {
                    [position].into_iter().chain([position + 1].into_iter().filter(|&next| is_padding(next)))
                })
                .collect()
        };
        let mut runs: Vec<Vec<Cell>> = Vec::new();
        let mut next = 0;
        for position in shown {
            if runs.is_empty() || position - next > SMALL_GAP {
                runs.push(Vec::new());
                next = position;
            }
            if let Some(run) = runs.last_mut() {
                run.extend(
                    (next..=position).map(|position| self.cell(position, self.placement.slot(position).element())),
                );
            }
            next = position + 1;
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::{Subject, Window};
    use crate::draw::{grid, html, svg};
    use crate::web::MAX_PAGE;
    use xla_shape_core::{ArrayShape, Shape};

    /// Some of the arrays of the corpus that have a placement.
    fn arrays() -> Vec<ArrayShape> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/shapes.jsonl");
        let rows = std::fs::read_to_string(path).unwrap();
        let shapes = rows.lines().filter_map(|row| {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let Ok(Shape::Array(array)) = row["input"].as_str().unwrap().parse() else { return None };
            array.placement().is_ok().then_some(array)
        });
        shapes.step_by(10).collect()
    }

    #[test]
    fn every_cell_agrees_with_the_core() {
        let mut cells = 0;
        for array in arrays() {
            let placement = array.placement().unwrap();
            let picture = Subject::new(&array).unwrap().picture(Window::PAGE);
            let planes = picture.planes.iter().flat_map(|plane| plane.cells.iter().flatten().flatten());
            for cell in planes.chain(picture.runs.iter().flatten()) {
                assert_eq!(placement.slot(cell.position).element(), cell.index, "{array} at {}", cell.position);
                assert_eq!(placement.bit_offset(cell.position), cell.offset);
                cells += 1;
            }
            let positions = picture.runs.iter().flatten().map(|cell| cell.position).collect::<Vec<_>>();
            assert!(positions.is_sorted_by(|a, b| a < b), "{array}");
        }
        assert!(cells > 10_000);
    }

    #[test]
    fn pages_are_small() {
        for array in arrays() {
            let subject = Subject::new(&array).unwrap();
            let (picture, page) = html::fitting(&subject);
            assert!(page.len() <= MAX_PAGE, "{array}: {} bytes", page.len());
            assert!(svg::draw(&picture).len() <= page.len());
            assert!(grid::fitting(&subject, 80).starts_with(&array.to_string()));
        }
    }

    #[test]
    fn pages_of_arrays_with_long_names_and_indices_are_small() {
        let sizes = |number: usize, size: &str| vec![size; number].join(",");
        for text in [
            format!("u8[{}]", sizes(12, "37")),
            format!("s4[{}]{{11,10,9,8,7,6,5,4,3,2,1,0:T(3,5)(2,2)E(4)}}", sizes(12, "10")),
            format!("u8[{}]", sizes(300, "1")),
            format!("u8[{}]", sizes(3_000, "1")),
            format!("u8[{},2,2,2,2,2,2,2,2,2]", sizes(3_000, "1")),
            format!("u8[30,30]{{1,0:T{}}}", "(1,1)".repeat(3_000)),
            "pred[9223372036854775807]".into(),
            "f32[1000000000,1,1]".into(),
        ] {
            let array = text.parse().unwrap();
            let subject = Subject::new(&array).unwrap();
            let (picture, page) = html::fitting(&subject);
            assert!(page.len() <= MAX_PAGE, "{text:.40}: {} bytes", page.len());
            assert!(picture.runs.iter().flatten().any(|cell| cell.index.is_some()), "{text:.40}");
        }
        let last = (0..40).fold(Window::PAGE, |window, _| window.smaller());
        assert_eq!(
            (last.rows, last.columns, last.cells),
            (1, 1, 1),
            "ends with a page that fits whatever the array is"
        );
    }

    #[test]
    fn neighbouring_tiles_have_different_colours() {
        let array = "u8[4,6,30]{2,1,0:T(2,3,4)}".parse().unwrap();
        let picture = Subject::new(&array).unwrap().picture(Window { rows: 30, columns: 30, cells: 1000 });
        let plane = |plane: &super::Plane| -> Vec<Vec<_>> {
            let row = |cells: &Vec<Option<super::Cell>>| {
                cells.iter().flatten().filter(|cell| cell.index.is_some()).cloned().collect()
            };
            plane.cells.iter().map(row).collect()
        };
        let planes = picture.planes.iter().map(plane).collect::<Vec<_>>();
        let check = |a: &super::Cell, b: &super::Cell| assert_eq!(a.tile == b.tile, a.colour() == b.colour());
        for (number, plane) in planes.iter().enumerate() {
            for (row, cells) in plane.iter().enumerate() {
                cells.windows(2).for_each(|pair| check(&pair[0], &pair[1]));
                if row > 0 {
                    plane[row - 1].iter().zip(cells).for_each(|(above, cell)| check(above, cell));
                }
                if number > 0 {
                    planes[number - 1][row].iter().zip(cells).for_each(|(before, cell)| check(before, cell));
                }
            }
        }
    }
}
