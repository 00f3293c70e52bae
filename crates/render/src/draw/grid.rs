//! A drawing as text.

use super::axis::{Axis, differ, label};
use crate::words::{Grouped, column_width};
use std::fmt::Write as _;
use xla_shape_answers::draw::{Drawing, Picture, Place, Plane};

/// How many rows and columns of a plane, and cells of all planes together, are shown at most.
const ROWS: usize = 12;
const COLUMNS: usize = 10;
const CELLS: usize = 120;

/// How many positions a line of the memory view has, if there is room.
const PER_LINE: usize = 8;
/// At least this many columns of a plane are shown, even if the text is narrower.
const FEWEST_COLUMNS: usize = 3;

/// Draws as much of the array as fits into lines of this width.
pub(super) fn fitting(drawing: &Drawing, width: usize) -> String {
    let mut shown = COLUMNS;
    loop {
        let picture = drawing.part(ROWS, shown, CELLS);
        let mut planes = String::new();
        picture.planes.iter().for_each(|plane| draw_plane(&mut planes, plane));
        if shown == FEWEST_COLUMNS || planes.lines().all(|line| line.chars().count() <= width) {
            return draw(&picture, width);
        }
        shown -= 1;
    }
}

/// Draws with box characters: lines between tiles, `░` for padding, `…` for positions that are left out.
fn draw(picture: &Picture, width: usize) -> String {
    let mut text = format!("{}\n", picture.shape);
    if picture.planes.is_empty() {
        text.push_str("\nNo elements, nothing to draw.\n");
        return text;
    }
    text.push_str("\nThe position of each element:\n");
    for row in picture.planes.chunks(picture.planes_per_row) {
        draw_row(&mut text, row, width);
    }
    if (picture.planes.len() as u64) < picture.all_planes {
        let _ = writeln!(text, "\n  … {} of {} planes", picture.planes.len(), Grouped(picture.all_planes));
    }
    text.push_str("\nThe element at each position, in the order of memory (░ is padding):\n\n");
    draw_memory(&mut text, picture, width);
    text
}

/// Draws planes side by side, as many as fit, and the others below them.
fn draw_row(text: &mut String, planes: &[Plane], page: usize) {
    const BETWEEN: usize = 2;
    let drawn = planes.iter().map(|plane| {
        let mut text = String::new();
        draw_plane(&mut text, plane);
        let lines = text.lines().map(str::to_owned).collect::<Vec<_>>();
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        (lines, width)
    });
    let drawn = drawn.collect::<Vec<_>>();
    let widest = drawn.iter().map(|(_, width)| *width).max().unwrap_or(0);
    let per_row = (page / (widest + BETWEEN)).max(1);
    for row in drawn.chunks(per_row) {
        text.push('\n');
        let height = row.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
        for number in 0..height {
            let mut line = String::new();
            for (column, (lines, _)) in row.iter().enumerate() {
                // Every plane begins in a column of its own, as wide as the widest plane.
                let room = column * (widest + BETWEEN);
                line.extend(std::iter::repeat_n(' ', room.saturating_sub(line.chars().count())));
                line += lines.get(number).map_or("", String::as_str);
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

fn draw_plane(text: &mut String, plane: &Plane) {
    if !plane.label.is_empty() {
        let _ = writeln!(text, "  {}", plane.label);
    }
    let (rows, columns) = (Axis::rows(plane), Axis::columns(plane));
    let row_labels = rows.labels(&rows.prefix());
    let column_labels = columns.labels("");
    let corner = columns.prefix();
    let positions = plane.cells.iter().flatten().flatten().map(|cell| cell.position.to_string().len());
    let width = positions.chain(column_labels.iter().map(String::len)).max().unwrap_or(1);
    let first = row_labels.iter().chain([&corner]).map(String::len).max().unwrap_or(0);

    let separator = |column: usize, row: usize| {
        if columns.gap_before(column) {
            " … "
        } else if column > 0 && is_edge(&plane.cells[row], column) {
            " │ "
        } else {
            "   "
        }
    };
    let mut header = format!("  {corner:>first$}");
    for (column, name) in column_labels.iter().enumerate() {
        let _ = write!(header, "{}{name:>width$}", if columns.gap_before(column) { " … " } else { "   " });
    }
    let _ = writeln!(text, "{}", header.trim_end());
    for (row, cells) in plane.cells.iter().enumerate() {
        if rows.gap_before(row) {
            let _ = writeln!(text, "  {:first$}   {:>width$}", "…", "…");
        } else if row > 0 && edge_between(&plane.cells[row - 1], cells) {
            // Each cell is `width` wide and has a separator of 3 before it, except the first.
            let _ = writeln!(text, "  {:first$}   {}", "", "─".repeat(cells.len() * (width + 3) - 3));
        }
        let mut line = format!("  {:>first$}", row_labels[row]);
        for (column, cell) in cells.iter().enumerate() {
            let content = match cell {
                Some(Place { index: Some(_), position, .. }) => position.to_string(),
                Some(_) => "░".repeat(width),
                None => String::new(),
            };
            let _ = write!(line, "{}{content:>width$}", separator(column, row));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn is_edge(cells: &[Option<Place>], column: usize) -> bool {
    matches!((&cells[column - 1], &cells[column]), (Some(a), Some(b)) if differ(a, b))
}

fn edge_between(above: &[Option<Place>], below: &[Option<Place>]) -> bool {
    above.iter().zip(below).any(|(above, below)| matches!((above, below), (Some(a), Some(b)) if differ(a, b)))
}

fn draw_memory(text: &mut String, picture: &Picture, page: usize) {
    let cells = || picture.runs.iter().flatten();
    let content = |cell: &Place| cell.index.as_deref().map(label);
    let width = column_width(cells().filter_map(content).map(|label| label.chars().count())).max(1);
    let first = cells().map(|cell| cell.position).max().unwrap_or(0).to_string().len();
    let mut per_line = PER_LINE;
    // A line is an indent of 2, a position with a colon, and for each element 2 blanks and its label.
    while per_line > 1 && 2 + first + 1 + per_line * (2 + width) > page {
        per_line /= 2;
    }
    for (number, run) in picture.runs.iter().enumerate() {
        if number > 0 {
            let _ = writeln!(text, "  {:>first$}", "…");
        }
        for line_cells in run.chunks(per_line) {
            let mut line = format!("  {:>first$}:", line_cells[0].position);
            for cell in line_cells {
                let content = content(cell).unwrap_or_else(|| "░".repeat(width));
                let _ = write!(line, "  {content:>width$}");
            }
            let _ = writeln!(text, "{line}");
        }
    }
    let last = picture.runs.last().and_then(|run| run.last()).map_or(0, |cell| cell.position + 1);
    if last < picture.positions {
        let _ = writeln!(text, "  {:>first$}", "…");
    }
}
