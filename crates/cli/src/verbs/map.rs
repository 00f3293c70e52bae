//! `map`: the element at each position.

use super::vector::registers;
use crate::args::MapArguments;
use crate::failure::Failure;
use crate::given::array_of;
use crate::io;
use std::io::{BufWriter, Write};
use xla_shape::Slot;
use xla_shape_render::{InUnits, count};

pub(crate) fn run(arguments: &MapArguments) -> Result<(), Failure> {
    let array = array_of(&arguments.shape)?;
    if let Some(layout) = &arguments.vector {
        let registers = registers(&array, layout)?;
        warn(registers.num_places(), "`xla-shape vector … --at INDEX` answers for one element");
        return write(registers.elements());
    }
    let placement = array.placement().map_err(Failure::said)?;
    warn(placement.padded_positions(), "`xla-shape index --linear N` answers for one position");
    let mut index = vec![0; placement.table().extents().len()];
    let elements = (0..placement.padded_positions()).map(|position| match placement.slot_into(position, &mut index) {
        Slot::Element(()) => placement.row_major_index(&index),
        Slot::Padding | Slot::OutOfRange => None,
    });
    write(elements)
}

/// Warns that the output is long, if the map has many positions.
fn warn(positions: u64, instead: &str) {
    let bytes = json_bytes(positions);
    if bytes >= LARGE {
        io::tell(format_args!(
            "warning: this map has {}, about {} of JSON; {instead}",
            count(positions, "position", "positions"),
            InUnits(bytes)
        ));
    }
}

/// From this many bytes on, a warning says how long the map is.
const LARGE: u64 = 1 << 30;

/// The approximate length of the map as JSON, in bytes: the digits of each number, and a comma.
fn json_bytes(positions: u64) -> u64 {
    let digits = positions.checked_ilog10().unwrap_or(0) as usize + 1;
    positions.saturating_mul(digits as u64 + 1)
}

/// Writes the number of the element at each position.
fn write(elements: impl Iterator<Item = Option<u64>>) -> Result<(), Failure> {
    let mut output = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let all = || -> std::io::Result<()> {
        output.write_all(b"[")?;
        for (position, element) in elements.enumerate() {
            if position > 0 {
                output.write_all(b",")?;
            }
            serde_json::to_writer(&mut output, &element)?;
        }
        output.write_all(b"]\n")?;
        output.flush()
    };
    all().map_err(Failure::Write)
}
