//! Which values changed between two programs.

use crate::answer::json_line;
use crate::words::{self, InUnits};
use crate::{Answer, Text};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use xla_shape_core::ArrayShape;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_hlo::Module;

/// A value that is not the same in both, or only in one.
#[derive(Clone, Debug, Serialize)]
struct Change {
    name: String,
    /// Which array of the instruction's value.
    leaf: usize,
    /// What changed: "shape", "layout", "memory space", "added" or "removed".
    change: &'static str,
    before: Option<String>,
    after: Option<String>,
    bytes_before: u64,
    bytes_after: u64,
    /// More bytes than before; negative if it is less.
    bytes: i64,
}

/// The values that are not the same in two programs.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Difference {
    changes: Vec<Change>,
}

impl Difference {
    /// Compares two programs.
    #[must_use]
    pub fn new(before: &Module<'_>, after: &Module<'_>) -> Self {
        Self { changes: changes(before, after) }
    }
}

impl Answer for Difference {
    fn text(&self, width: usize) -> Text {
        page(&self.changes, width)
    }

    fn json(&self) -> String {
        self.changes.iter().map(json_line).collect()
    }
}

/// The arrays in memory by the name of their instruction and their number in its value.
fn arrays<'m>(module: &'m Module<'_>) -> BTreeMap<(&'m str, usize), &'m ArrayShape> {
    let memory = module.memory();
    memory.buffers().iter().map(|buffer| ((buffer.instruction.name(), buffer.leaf), buffer.array)).collect()
}

fn changes(before: &Module<'_>, after: &Module<'_>) -> Vec<Change> {
    let (before, after) = (arrays(before), arrays(after));
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    let mut changes = keys
        .filter_map(|key| {
            let (before, after) = (before.get(key).copied(), after.get(key).copied());
            let change = kind(before, after)?;
            let bytes = |array: Option<&ArrayShape>| array.and_then(ArrayShape::byte_size).unwrap_or(0);
            let (bytes_before, bytes_after) = (bytes(before), bytes(after));
            Some(Change {
                name: key.0.to_owned(),
                leaf: key.1,
                change,
                before: before.map(ToString::to_string),
                after: after.map(ToString::to_string),
                bytes_before,
                bytes_after,
                // Sizes fit in an i64.
                bytes: bytes_after as i64 - bytes_before as i64,
            })
        })
        .collect::<Vec<_>>();
    changes.sort_by_key(|change| std::cmp::Reverse(change.bytes.unsigned_abs()));
    changes
}

fn kind(before: Option<&ArrayShape>, after: Option<&ArrayShape>) -> Option<&'static str> {
    match (before, after) {
        (None, None) => None,
        (None, Some(_)) => Some("added"),
        (Some(_), None) => Some("removed"),
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) if !before.same_dimensions(after) || !before.same_element_type(after) => {
            Some("shape")
        }
        (Some(before), Some(after)) => {
            let equal = ShapeEqual::new().ignore_memory_space_in_layout();
            let same_place = equal.compare_arrays(before, after);
            Some(if same_place { "memory space" } else { "layout" })
        }
    }
}

fn page(changes: &[Change], width: usize) -> Text {
    let mut text = Text::new(width);
    // Writing to memory does not fail.
    for change in changes {
        let sign = if change.bytes < 0 { "-" } else { "+" };
        let bytes = format!("{sign}{}", InUnits(change.bytes.unsigned_abs()));
        let shapes = match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("{before} -> {after}"),
            (before, after) => before.iter().chain(after).cloned().collect(),
        };
        let _ = writeln!(
            text,
            "{bytes:>11}  {:12}  {}  {shapes}",
            change.change,
            words::value_name(&change.name, change.leaf)
        );
    }
    let total = changes.iter().map(|change| i128::from(change.bytes)).sum::<i128>();
    let count = |kind: &str| changes.iter().filter(|change| change.change == kind).count();
    let _ = writeln!(
        text,
        "{} shapes, {} layouts and {} memory spaces changed; {} values added, {} removed; {}{} in all",
        count("shape"),
        count("layout"),
        count("memory space"),
        count("added"),
        count("removed"),
        if total < 0 { "-" } else { "+" },
        InUnits(u64::try_from(total.unsigned_abs()).unwrap_or(u64::MAX)),
    );
    text
}
