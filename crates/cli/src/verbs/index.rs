//! `index`: where an element is, and what is at a position.

use crate::args::IndexArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape::text::parse_index;
use xla_shape_render::index::Location;

pub(crate) fn run(arguments: &IndexArguments) -> Result<(), Failure> {
    let array = array_of(&arguments.shape)?;
    let location = match (&arguments.index, arguments.linear) {
        (Some(text), _) => {
            let index = parse_index(text, array.num_dimensions()).map_err(|error| Failure::shape(&error, text))?;
            Location::at_index(&array, &index)
        }
        (None, Some(position)) => Location::at_position(&array, position),
        (None, None) => return Err(Failure::said("neither an index nor a position is given")),
    };
    super::show(&location.map_err(Failure::said)?, arguments.answer.format)
}
