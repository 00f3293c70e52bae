//! `map`: for each position, which element lies there.

use crate::args::MapArguments;
use crate::failure::Failure;
use std::io::{BufWriter, Write};
use xla_shape::{Placement, Slot};

pub(crate) fn run(arguments: &MapArguments) -> Result<(), Failure> {
    let array = super::array_of(&arguments.shape)?;
    let placement = array.placement().map_err(Failure::said)?;
    write(&placement, BufWriter::with_capacity(1 << 16, std::io::stdout().lock())).map_err(Failure::Write)
}

fn write(placement: &Placement, mut output: impl Write) -> std::io::Result<()> {
    let mut index = vec![0; placement.table().extents().len()];
    output.write_all(b"[")?;
    for position in 0..placement.positions() {
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
