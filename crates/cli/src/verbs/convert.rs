//! `convert`: a layout in the notations of other libraries.

use crate::args::ConvertArguments;
use crate::failure::Failure;
use crate::given::array_of;
use xla_shape_answers::convert::{Code, Conversion};
use xla_shape_notations::{AnyLayout, Notation};

pub(crate) fn run(arguments: &ConvertArguments) -> Result<(), Failure> {
    let text = &arguments.text;
    let layout = match arguments.from {
        Notation::Xla => AnyLayout::of_array(&array_of(text)?).map_err(Failure::said)?,
        notation => AnyLayout::read(notation, text).map_err(|error| Failure::shape(&error, text))?,
    };
    let layout = match arguments.element_type {
        Some(element_type) => layout.with_element_type(element_type),
        None => layout,
    };
    if let Some(language) = arguments.emit {
        let array = layout.to_array().map_err(Failure::said)?;
        let code = Code::new(&array, language, &arguments.name).map_err(Failure::said)?;
        return super::show(&code, arguments.answer.format);
    }
    let notations = match &*arguments.to {
        [] => Conversion::usual_notations(arguments.from),
        notations => notations.to_vec(),
    };
    super::show(&Conversion::new(&layout, &notations), arguments.answer.format)
}
