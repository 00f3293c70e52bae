//! `draw`: a picture of where the elements lie.

use crate::args::DrawArguments;
use crate::failure::Failure;
use crate::io;
use crate::render::picture::{Picture, Window};
use crate::render::{grid, html, svg};

pub(crate) fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let (_, array) = super::array_of(&arguments.shape)?;
    let picture = |window| Picture::new(&array, window).map_err(Failure::said);
    if let Some(path) = &arguments.svg {
        io::write_file(path, svg::draw(&picture(Window::PAGE)?).as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        io::write_file(path, html::page(&picture(Window::PAGE)?).as_bytes())?;
    }
    if arguments.svg.is_none() && arguments.html.is_none() {
        io::print(&grid::draw(&picture(Window::TEXT)?))?;
    }
    Ok(())
}
