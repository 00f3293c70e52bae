//! `vector`: the registers of a vector, and where an element is in them.

use crate::args::VectorArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape::ArrayShape;
use xla_shape::text::parse_index;
use xla_shape::tpu::vector::VectorLayout;
use xla_shape_render::vector::Registers;

pub(crate) fn run(arguments: &VectorArguments) -> Result<(), Failure> {
    let vector = array_of(&arguments.vector)?;
    let mut registers = registers(&vector, &arguments.layout)?;
    if let Some(text) = &arguments.at {
        let index = parse_index(text, vector.num_dimensions()).map_err(|error| Failure::shape(&error, text))?;
        registers = registers.at(&index).map_err(Failure::said)?;
    }
    super::show(&registers, arguments.answer.format)
}

/// The registers of a vector in the layout that a text says.
pub(super) fn registers(vector: &ArrayShape, text: &str) -> Result<Registers, Failure> {
    let layout = text.parse::<VectorLayout>().map_err(|error| Failure::shape(&error, text))?;
    Registers::new(vector, layout).map_err(Failure::said)
}
