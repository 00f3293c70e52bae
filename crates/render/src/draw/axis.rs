//! The indices along a side of a plane, as labels.

use xla_shape_answers::draw::{Place, Plane};

/// The indices of a dimension that are shown.
#[derive(Clone, Copy)]
pub(super) struct Axis<'p> {
    /// The dimension's name; empty for the one row of an array that has no second dimension.
    name: &'p str,
    indices: &'p [u64],
}

impl<'p> Axis<'p> {
    pub(super) fn rows(plane: &'p Plane) -> Self {
        Self { name: &plane.row, indices: &plane.rows }
    }

    pub(super) fn columns(plane: &'p Plane) -> Self {
        Self { name: &plane.column, indices: &plane.columns }
    }

    /// The text before each index, such as `d1=`. Empty if there is no dimension.
    pub(super) fn prefix(self) -> String {
        if self.name.is_empty() { String::new() } else { format!("{}=", self.name) }
    }

    /// The indices as text, each after `prefix`. Empty texts if there is no dimension.
    pub(super) fn labels(self, prefix: &str) -> Vec<String> {
        let label = |index: &u64| if self.name.is_empty() { String::new() } else { format!("{prefix}{index}") };
        self.indices.iter().map(label).collect()
    }

    /// Whether indices are left out before this entry.
    pub(super) fn gap_before(self, entry: usize) -> bool {
        entry > 0 && self.indices[entry - 1] + 1 != self.indices[entry]
    }
}

/// Whether both places hold elements, and these are in different tiles.
pub(super) fn differ(a: &Place, b: &Place) -> bool {
    a.index.is_some() && b.index.is_some() && a.tile != b.tile
}

/// An index as `2,3`; a scalar's as `[]`.
pub(super) fn label(index: &[u64]) -> String {
    if index.is_empty() {
        return "[]".into();
    }
    index.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
