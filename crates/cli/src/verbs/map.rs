//! `map`: the element at each position.

use crate::args::MapArguments;
use crate::failure::Failure;
use crate::given::array_of;
use crate::io;
use std::io::{BufWriter, Write};
use xla_shape::{Placement, Slot};
use xla_shape_render::{InUnits, count};

pub(crate) fn run(arguments: &MapArguments) -> Result<(), Failure> {
    let array = array_of(&arguments.shape)?;
    let placement = array.placement().map_err(Failure::said)?;
    let bytes = json_bytes(&placement);
    if bytes >= LARGE {
        io::tell(format_args!(
            "warning: this map has {}, about {} of JSON; `xla-shape index --linear N` answers for one position",
            count(placement.padded_positions(), "position", "positions"),
            InUnits(bytes)
        ));
    }
    write(&placement, BufWriter::with_capacity(1 << 16, std::io::stdout().lock())).map_err(Failure::Write)
}

/// From this many bytes on, a warning says how long the map is.
const LARGE: u64 = 1 << 30;

/// The approximate length of the map as JSON, in bytes: the digits of each number, and a comma.
fn json_bytes(placement: &Placement) -> u64 {
    let digits = placement.padded_positions().checked_ilog10().unwrap_or(0) as usize + 1;
    placement.padded_positions().saturating_mul(digits as u64 + 1)
}

fn write(placement: &Placement, mut output: impl Write) -> std::io::Result<()> {
    let mut index = vec![0; placement.table().extents().len()];
    output.write_all(b"[")?;
    for position in 0..placement.padded_positions() {
        if position > 0 {
            output.write_all(b",")?;
        }
        let element = match placement.slot_into(position, &mut index) {
            Slot::Element(()) => placement.row_major_index(&index),
            Slot::Padding | Slot::OutOfRange => None,
        };
        serde_json::to_writer(&mut output, &element)?;
    }
    output.write_all(b"]\n")?;
    output.flush()
}
