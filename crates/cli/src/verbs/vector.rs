//! `vector`: the registers of a vector, and where an element is in them.

use crate::args::VectorArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape::text::parse_index;
use xla_shape::tpu::vector::VectorLayout;
use xla_shape_render::vector::Registers;

pub(crate) fn run(arguments: &VectorArguments) -> Result<(), Failure> {
    let vector = array_of(&arguments.vector)?;
    let layout = arguments.layout.parse::<VectorLayout>();
    let layout = layout.map_err(|error| Failure::shape(&error, &arguments.layout))?;
    let mut registers = Registers::new(&vector, layout).map_err(Failure::said)?;
    if let Some(text) = &arguments.at {
        let index = parse_index(text, vector.num_dimensions()).map_err(|error| Failure::shape(&error, text))?;
        registers = registers.at(&index).map_err(Failure::said)?;
    }
    super::show(&registers, arguments.answer.format)
}
