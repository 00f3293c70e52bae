//! `draw`: a picture of where the elements are, or of which device has them.

use crate::args::{DrawArguments, Format};
use crate::failure::Failure;
use crate::given::{array_of, registers_of, sharding_of};
use crate::io;
use std::path::PathBuf;
use xla_shape_files::{check_outputs, is_stdout, write_whole};
use xla_shape_render::draw::{DeviceDrawing, Drawing, RegisterDrawing};
use xla_shape_render::{Show, Text};

pub(crate) fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let array = array_of(&arguments.shape)?;
    if let Some(text) = &arguments.sharding {
        let drawing = DeviceDrawing::new(&array, sharding_of(text)?).map_err(Failure::said)?;
        let coloured = || drawing.coloured(io::width());
        return show(arguments, &drawing, coloured, || drawing.svg(), || drawing.html());
    }
    if let Some(text) = &arguments.vector {
        let drawing = RegisterDrawing::new(&registers_of(&array, text)?);
        return show(arguments, &drawing, || drawing.text(io::width()), || drawing.svg(), || drawing.html());
    }
    let drawing = Drawing::new(&array).map_err(Failure::said)?;
    show(arguments, &drawing, || drawing.text(io::width()), || drawing.svg(), || drawing.html())
}

fn show(
    arguments: &DrawArguments,
    drawing: &impl Show,
    text: impl Fn() -> Text,
    svg: impl Fn() -> String,
    html: impl Fn() -> String,
) -> Result<(), Failure> {
    let files = || [&arguments.svg, &arguments.html].into_iter().flatten();
    let to_output = files().filter(|path| is_stdout(path)).count();
    if to_output + usize::from(arguments.answer.format == Format::Json) > 1 {
        return Err(Failure::said("standard output takes one of a picture, a page and JSON"));
    }
    check_outputs([], files().map(PathBuf::as_path))?;
    if let Some(path) = &arguments.svg {
        write_whole(path, svg().as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        write_whole(path, html().as_bytes())?;
    }
    if arguments.answer.format == Format::Text && files().next().is_some() {
        return Ok(());
    }
    match arguments.answer.format {
        // `print` removes colours if the output is not a terminal.
        Format::Text => io::print(&text()),
        Format::Json => super::show(drawing, Format::Json),
    }
}
