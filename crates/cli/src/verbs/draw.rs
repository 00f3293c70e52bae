//! `draw`: a picture of where the elements are, or of the devices that have them.

use crate::args::{DrawArguments, Format};
use crate::failure::Failure;
use crate::given::{array_of, registers_of, sharding_of};
use crate::io;
use xla_shape_answers::draw::{DeviceDrawing, Drawing, Drawn, RegisterDrawing};
use xla_shape_files::{check_outputs, is_stdout, write_whole};
use xla_shape_render::draw::coloured;
use xla_shape_render::{Html, Svg};

pub(crate) fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let drawn = drawn(arguments)?;
    let files = || [&arguments.svg, &arguments.html].into_iter().flatten();
    let to_output = files().filter(|path| is_stdout(path)).count();
    if to_output + usize::from(arguments.answer.format.is_json()) > 1 {
        return Err(Failure::usage("standard output takes one of a picture, a page and JSON"));
    }
    check_outputs([], files().map(|path| &**path))?;
    if let Some(path) = &arguments.svg {
        write_whole(path, drawn.svg().as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        write_whole(path, drawn.html().as_bytes())?;
    }
    if !arguments.answer.format.is_json() && files().next().is_some() {
        return Ok(());
    }
    match (arguments.answer.format, &drawn) {
        // `print` removes colours if the output is not a terminal.
        (Format::Text, Drawn::Devices(drawing)) => io::print(&coloured(drawing, io::width())),
        (format, _) => super::show(&drawn, format),
    }
}

fn drawn(arguments: &DrawArguments) -> Result<Drawn, Failure> {
    let array = array_of(&arguments.shape)?;
    Ok(match (&arguments.sharding, &arguments.vector) {
        (Some(text), _) => Drawn::Devices(DeviceDrawing::new(&array, sharding_of(text)?).map_err(Failure::said)?),
        (None, Some(text)) => Drawn::Registers(RegisterDrawing::new(&registers_of(&array, text)?)),
        (None, None) => Drawn::Elements(Drawing::new(&array).map_err(Failure::said)?),
    })
}
