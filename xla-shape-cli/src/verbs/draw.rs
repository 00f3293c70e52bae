//! `draw`: a picture of where the elements are.

use crate::args::{DrawArguments, Format};
use crate::failure::Failure;
use crate::io;
use xla_shape_render::draw::Drawing;

pub(crate) fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let drawing = Drawing::new(&super::array_of(&arguments.shape)?).map_err(Failure::said)?;
    let files = || [&arguments.svg, &arguments.html].into_iter().flatten();
    let to_output = files().filter(|path| path.as_os_str() == "-").count();
    if to_output + usize::from(arguments.format == Format::Json) > 1 {
        return Err(Failure::said("standard output takes one of a picture, a page and JSON"));
    }
    if let Some(path) = &arguments.svg {
        io::write_file(path, drawing.svg().as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        io::write_file(path, drawing.html().as_bytes())?;
    }
    if arguments.format == Format::Text && files().next().is_some() {
        return Ok(());
    }
    super::show(&drawing, arguments.format)
}
