//! `draw`: a picture of where the elements lie.

use crate::args::DrawArguments;
use crate::failure::Failure;
use crate::io;
use crate::render::picture::{Picture, Window};
use crate::render::{grid, html, svg};

pub(crate) fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let (_, array) = super::array_of(&arguments.shape)?;
    if arguments.svg.is_none() && arguments.html.is_none() {
        let picture = Picture::new(&array, Window::TEXT).map_err(Failure::said)?;
        return io::print(&grid::draw(&picture));
    }
    let (picture, page) = html::fitting(&array).map_err(Failure::said)?;
    if let Some(path) = &arguments.svg {
        io::write_file(path, svg::draw(&picture).as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        io::write_file(path, page.as_bytes())?;
    }
    Ok(())
}
