//! The registers of a vector in a TPU kernel, in words.

use crate::words::{Bytes, Grouped, bracketed, count};
use crate::{Show, Text};
use xla_shape_answers::explain::Registers;
use xla_shape_core::tpu::vector::{ImplicitDimensions, LANES, Location, Offset, SUBLANES};

impl Show for Registers {
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        let [rows, columns] = self.slice;
        // The largest count is checked, so that the elements of all registers fit in an i64.
        let bytes = self.registers.saturating_mul(SUBLANES * LANES * 4);
        let registers = count(self.registers, "register", "registers");
        text.paragraph(format_args!("{registers}, {}, for {} in {}", Bytes(bytes), self.vector, self.layout));
        let grid = self.grid.iter().map(|&size| Grouped(size).to_string()).collect::<Vec<_>>();
        text.paragraph(format_args!("  a grid of {} registers, in row-major order", grid.join(" x ")));
        let tiles = count(self.layout.tiles_per_register(), "tile", "tiles");
        text.paragraph(format_args!("  each holds {rows} x {columns} elements, in {tiles}"));
        for line in explained(self) {
            text.hanging("  ", &line);
        }
        if let Some((index, location)) = self.located() {
            let part = match self.layout.packing() {
                1 => String::new(),
                packing => format!(", part {} of {packing}", location.part),
            };
            let Location { register, sublane, lane, .. } = location;
            text.paragraph(format_args!(
                "element {}: register {}, sublane {sublane}, lane {lane}{part}",
                bracketed(index),
                Grouped(register)
            ));
        }
        text
    }
}

/// What the parts of the layout mean for this vector, and how many registers the same vector takes if it is aligned.
fn explained(registers: &Registers) -> Vec<String> {
    let layout = &registers.layout;
    let mut lines = Vec::new();
    match (layout.packing(), layout.tile()) {
        (1, _) => {}
        (packing, [1, _]) => lines.push(format!("each word has {packing} elements, which are {LANES} columns apart")),
        (packing, _) => lines.push(format!("each word has {packing} elements, of neighbouring rows")),
    }
    match layout.implicit_dimensions() {
        ImplicitDimensions::None => {}
        ImplicitDimensions::MostMinor => lines.push("the last dimension is the rows, in one column".to_owned()),
        ImplicitDimensions::SecondMostMinor => lines.push("the last dimension is the columns, in one row".to_owned()),
        ImplicitDimensions::Both => lines.push("each element has a register, as its row 0 and column 0".to_owned()),
    }
    for (offset, what) in layout.offsets().into_iter().zip(["row", "column"]) {
        match offset {
            Offset::Fixed(0) => {}
            Offset::Fixed(offset) => lines.push(format!("the first element is in {what} {offset} of its register")),
            Offset::Replicated => lines.push(format!("every {what} of a register holds the same values")),
        }
    }
    if let Some((aligned, fewer)) = registers.aligned() {
        lines.push(format!("in {aligned}, it would take {}", count(fewer, "register", "registers")));
    }
    lines
}
