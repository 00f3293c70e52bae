//! The part of an array that a drawing shows, and its contents.

use super::elements::{Picture, Place, Plane};
use crate::numbers::dimension_name;
use std::collections::BTreeSet;
use xla_shape_core::sorting::set_of;
use xla_shape_core::{ArrayShape, Placement, Slot, StrideTableError};

/// The largest part of an array that is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The cells of all planes together.
    pub(super) cells: usize,
}

impl Window {
    /// The part that fits into a page, with both views side by side.
    const PAGE: Self = Self { rows: 16, columns: 14, cells: 480 };

    /// A smaller window. Repeated calls end at a single cell.
    fn smaller(self) -> Self {
        let less = |number: usize, part: usize| (number * part / 8).max(1);
        Self { rows: less(self.rows, 7), columns: less(self.columns, 7), cells: less(self.cells, 6) }
    }
}

/// If at most this many positions lie between two that are shown, they are shown, too.
const SMALL_GAP: u64 = 4;

/// The most characters of a picture in a small page: 300,000 bytes, minus the script and the style of the page.
const MOST_CHARACTERS: usize = 264_000;

/// The approximate number of characters that a picture takes in a page. Only the beginning of a long text counts, because a page does not show more.
fn characters(picture: &Picture) -> usize {
    // The characters of a plane, a run of positions, an index at a side, and a cell, without their numbers.
    const PLANE: usize = 300;
    const RUN: usize = 180;
    const SIDE: usize = 55;
    const CELL: usize = 132;
    const LONGEST_LABEL: usize = 300;
    const LONGEST_INDEX: usize = 1000;
    const LONGEST_CONTENT: usize = 60;
    let digits = |number: u64| number.checked_ilog10().unwrap_or(0) as usize + 1;
    let list = |numbers: &[u64]| numbers.iter().map(|&number| digits(number) + 1).sum::<usize>();
    let cell = |place: &Place, content: usize| {
        let index = place.index.as_ref().map_or(0, |index| list(index).min(LONGEST_INDEX));
        let tile = list(&place.tile).min(LONGEST_INDEX);
        let numbers = digits(place.position) + digits(place.byte_offset) + index + tile + content;
        CELL + numbers * 5 / 4
    };
    let plane = |plane: &Plane| {
        let label = plane.label.chars().count().min(LONGEST_LABEL) * 3 / 2;
        let sides = (plane.rows.len() + plane.columns.len()) * SIDE;
        let cells = plane.cells.iter().flatten().flatten();
        PLANE + label + sides + cells.map(|place| cell(place, digits(place.position))).sum::<usize>()
    };
    let run = |run: &Vec<Place>| {
        let content = |place: &Place| place.index.as_ref().map_or(0, |index| list(index).min(LONGEST_CONTENT));
        RUN + run.iter().map(|place| cell(place, content(place))).sum::<usize>()
    };
    picture.planes.iter().map(plane).sum::<usize>() + picture.runs.iter().map(run).sum::<usize>()
}

/// The array of a drawing, and its padding.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    array: ArrayShape,
    placement: Placement,
    /// The array with its dimensions enlarged to include their padding, if that moves no element.
    grown: Option<Placement>,
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
    pub(super) fn new(array: &ArrayShape) -> Result<Self, StrideTableError> {
        Ok(Self { array: array.clone(), placement: array.placement()?, grown: grown(array) })
    }

    /// As much of the array as fits into a small page.
    pub(super) fn fitting(&self) -> Picture {
        let mut window = Window::PAGE;
        loop {
            let picture = self.picture(window);
            // This loop ends, because a single cell always fits: only the beginning of a long text counts.
            if characters(&picture) <= MOST_CHARACTERS {
                return picture;
            }
            window = window.smaller();
        }
    }

    pub(super) fn picture(&self, window: Window) -> Picture {
        let (planes, all_planes) = self.planes(window);
        let runs = self.runs(&planes, window);
        let third = self.array.layout().minor_to_major().get(2);
        Picture {
            shape: self.array.to_string(),
            planes,
            all_planes,
            planes_per_row: third
                .map_or(1, |&third| usize::try_from(self.extents()[third]).unwrap_or(usize::MAX))
                .max(1),
            runs,
            positions: self.placement.padded_positions(),
        }
    }

    pub(super) const fn placement(&self) -> &Placement {
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
        let name = |dimension: Option<usize>| dimension.map(dimension_name).unwrap_or_default();
        let columns = self.axis(column, window.columns);
        let rows = self.axis(row, window.rows);
        let all_planes = others.iter().fold(1_u64, |product, &other| product.saturating_mul(self.extents()[other]));
        let shown = ((window.cells / (rows.len() * columns.len()).max(1)) as u64).clamp(1, all_planes);
        let plane = |number: u64| {
            let mut index = vec![0; self.extents().len()];
            let mut rest = number;
            for &other in others.iter().rev() {
                index[other] = rest % self.extents()[other];
                rest /= self.extents()[other];
            }
            let labels = others.iter().map(|&other| format!("{} = {}", dimension_name(other), index[other]));
            let label = labels.collect::<Vec<_>>().join(", ");
            let cells = rows.iter().map(|&at_row| {
                let cells = columns.iter().map(|&at_column| {
                    let mut index = index.clone();
                    row.into_iter().for_each(|row| index[row] = at_row);
                    column.into_iter().for_each(|column| index[column] = at_column);
                    self.cell_at(index)
                });
                cells.collect()
            });
            let cells = cells.collect();
            Plane { label, row: name(row), rows: rows.clone(), column: name(column), columns: columns.clone(), cells }
        };
        ((0..shown).map(plane).collect(), all_planes)
    }

    /// The indices of a dimension to show: all of them, or the first ones, those around tile boundaries, and the last ones.
    fn axis(&self, dimension: Option<usize>, most: usize) -> Vec<u64> {
        let Some(dimension) = dimension else { return vec![0] };
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
        // The mark for a gap takes as much room as an index, so fill gaps of a single index.
        let lonely = |&index: &u64| !indices.contains(&(index + 1)) && indices.contains(&(index + 2));
        let lonely = indices.iter().copied().filter(lonely).map(|index| index + 1).collect::<Vec<_>>();
        indices.extend(lonely);
        indices.into_iter().collect()
    }

    fn cell_at(&self, index: Vec<u64>) -> Option<Place> {
        if let Some(position) = self.placement.table().checked_linear_index(&index) {
            return Some(self.cell(position, Some(index)));
        }
        let position = self.grown.as_ref()?.table().checked_linear_index(&index)?;
        (self.placement.slot(position) == Slot::Padding).then(|| self.cell(position, None))
    }

    fn cell(&self, position: u64, index: Option<Vec<u64>>) -> Place {
        let tile = index.as_ref().and_then(|index| self.placement.tile_of(index)).unwrap_or_default();
        let (byte_offset, bit_offset) = self.placement.bit_offset(position);
        Place { position, index, byte_offset, bit_offset, tile }
    }

    /// The positions of all cells of the planes, with small gaps filled; all positions if there are few.
    fn runs(&self, planes: &[Plane], window: Window) -> Vec<Vec<Place>> {
        let all = self.placement.padded_positions();
        let is_padding = |position| self.placement.slot(position) == Slot::Padding;
        let shown = if all <= window.cells as u64 {
            set_of(0..all)
        } else {
            let cells = planes.iter().flat_map(|plane| plane.cells.iter().flatten().flatten());
            let elements = cells.filter(|cell| cell.index.is_some()).map(|cell| cell.position);
            // If padding follows, its beginning is shown too.
            set_of(elements.flat_map(|position| {
                [position].into_iter().chain([position + 1].into_iter().filter(|&next| is_padding(next)))
            }))
        };
        let mut runs: Vec<Vec<Place>> = Vec::new();
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
    use serde_json::Value;
    use xla_shape_core::{ArrayShape, Shape};
    use xla_shape_corpus::corpus;

    /// Some of the arrays of the corpus that have a placement.
    fn arrays() -> Vec<ArrayShape> {
        let shapes = corpus::<Value>("shapes.jsonl").into_iter().filter_map(|row| {
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
                assert_eq!(placement.bit_offset(cell.position), (cell.byte_offset, cell.bit_offset));
                cells += 1;
            }
            let positions = picture.runs.iter().flatten().map(|cell| cell.position).collect::<Vec<_>>();
            assert!(positions.is_sorted_by(|a, b| a < b), "{array}");
        }
        assert!(cells > 10_000);
    }

    #[test]
    fn windows_end_with_a_single_cell() {
        let last = (0..40).fold(Window::PAGE, |window, _| window.smaller());
        assert_eq!(last, Window { rows: 1, columns: 1, cells: 1 }, "this fits whatever the array is");
    }
}
