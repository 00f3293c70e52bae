//! `draw`: a picture of where the elements lie.

use crate::args::{DrawArguments, Format};
use crate::failure::Failure;
use crate::io;
use crate::render::picture::{self, Cell, Picture};
use crate::render::{grid, html, svg};
use serde::Serialize;

/// What a picture shows, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    shape: &'a str,
    positions: usize,
    /// How many planes the array has.
    all_planes: usize,
    planes: Vec<Plane<'a>>,
    /// Runs of neighbouring positions.
    memory: Vec<Vec<Place<'a>>>,
}

/// The two most minor dimensions, at one index of all others.
#[derive(Serialize)]
struct Plane<'a> {
    label: &'a str,
    row: &'a str,
    rows: &'a [usize],
    column: &'a str,
    columns: &'a [usize],
    /// One for each row and column; null where padding has no single place.
    cells: Vec<Vec<Option<usize>>>,
}

#[derive(Serialize)]
struct Place<'a> {
    position: usize,
    /// Null for padding.
    index: Option<&'a [usize]>,
    byte_offset: usize,
    bit_offset: u8,
    tile: &'a [usize],
}

pub(crate) fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let (_, array) = super::array_of(&arguments.shape)?;
    let to_files = arguments.svg.is_some() || arguments.html.is_some();
    if !to_files && arguments.format == Format::Text {
        let text = grid::fitting(&array, io::width()).map_err(Failure::said)?;
        return io::print(&text);
    }
    let to_output =
        [&arguments.svg, &arguments.html].into_iter().flatten().filter(|path| path.as_os_str() == "-").count();
    if to_output + usize::from(arguments.format == Format::Json) > 1 {
        return Err(Failure::said("standard output takes one of a picture, a page and JSON"));
    }
    let (picture, page) = html::fitting(&array).map_err(Failure::said)?;
    if let Some(path) = &arguments.svg {
        io::write_file(path, svg::draw(&picture).as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        io::write_file(path, page.as_bytes())?;
    }
    match arguments.format {
        Format::Text => Ok(()),
        Format::Json => io::print(&super::json_line(&answer(&picture))),
    }
}

fn answer(picture: &Picture) -> Answer<'_> {
    Answer {
        shape: &picture.title,
        positions: picture.positions,
        all_planes: picture.all_planes,
        planes: picture.planes.iter().map(plane).collect(),
        memory: picture.runs.iter().map(|run| run.iter().map(place).collect()).collect(),
    }
}

fn plane(plane: &picture::Plane) -> Plane<'_> {
    let position = |cell: &Option<Cell>| Some(cell.as_ref()?.position);
    Plane {
        label: &plane.label,
        row: &plane.rows.name,
        rows: &plane.rows.indices,
        column: &plane.columns.name,
        columns: &plane.columns.indices,
        cells: plane.cells.iter().map(|cells| cells.iter().map(position).collect()).collect(),
    }
}

fn place(cell: &Cell) -> Place<'_> {
    Place {
        position: cell.position,
        index: cell.index.as_deref(),
        byte_offset: cell.offset.byte,
        bit_offset: cell.offset.bit,
        tile: &cell.tile,
    }
}
