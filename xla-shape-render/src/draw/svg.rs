//! A picture as SVG: the elements by their index on the left, by their place in memory on the right.
//!
//! Colours tell neighbouring tiles apart and are safe for colour-blind readers; padding is hatched, so that it shows in
//! print too. Cells carry what a page needs to answer questions about them.

use super::grid::{differ, label};
use super::picture::{Cell, Picture, Plane};
use crate::web::{escape, hatching};
use crate::words::{Grouped, shortened};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Pale enough for black text; from Paul Tol's "light" scheme.
const FILLS: [&str; super::picture::COLOURS] = ["#99DDFF", "#EEDD88", "#FFAABB", "#44BB99", "#EE8866", "#AFC3EE"];

const CELL_HEIGHT: usize = 24;
const CHARACTER: usize = 7;
/// The room for what is left out.
const GAP: usize = 18;
const MARGIN: usize = 16;
const LINE: usize = 20;
/// How many characters of a shape, or of the indices beside a plane, are shown.
const MAX_TITLE: usize = 300;
/// How many of an index are shown in a cell.
const MAX_LABEL: usize = 60;
/// How many of an index a cell tells.
const MAX_INDEX: usize = 1000;
/// How many positions stand in a line of memory.
const PER_LINE: usize = 8;

/// Draws the picture; `<svg>` is all of it.
pub(crate) fn draw(picture: &Picture) -> String {
    let mut body = Body::default();
    let top = MARGIN + 2 * LINE + 10;
    let left = body.planes(picture, MARGIN, top);
    let right = body.memory(picture, left.0 + 3 * MARGIN, top);
    let (legend, bottom) = body.legend(picture, left.1.max(right.1) + MARGIN);
    let title = title(picture);
    let width = (right.0 + MARGIN).max(MARGIN * 2 + title.chars().count() * 10).max(legend + MARGIN);
    let (title, styles, hatching) = (escape(&title), styles(), hatching());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {bottom}\" width=\"{width}\" \
         height=\"{bottom}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"11\" role=\"img\" aria-label=\"Where the elements of {title} lie\">\n<style>{styles}</style>\n\
         {hatching}\n\
         <rect width=\"{width}\" height=\"{bottom}\" fill=\"#fff\"/>\n\
         <text x=\"{MARGIN}\" y=\"{y}\" font-size=\"15\" font-weight=\"bold\">{title}</text>\n{body}</svg>\n",
        y = MARGIN + 12,
        body = body.0,
    )
}

/// The shape, unless it is very long.
pub(super) fn title(picture: &Picture) -> Cow<'_, str> {
    shortened(&picture.title, MAX_TITLE)
}

fn styles() -> String {
    let mut styles = String::from(
        ".c rect{stroke:#fff}.c text{text-anchor:middle;fill:#000}.p rect{fill:url(#padding)}.h{font-weight:bold}\
         .a{fill:#444}.e{stroke:#000;stroke-width:2;fill:none}",
    );
    for (number, fill) in FILLS.iter().enumerate() {
        let _ = write!(styles, ".k{number} rect{{fill:{fill}}}");
    }
    styles
}

/// What stands inside the `<svg>`. Writing to it does not fail.
#[derive(Default)]
struct Body(String);

impl Body {
    /// Draws the planes below each other; where they end on the right and below.
    fn planes(&mut self, picture: &Picture, x: usize, y: usize) -> (usize, usize) {
        self.text(x, y - 10, "class=\"h\"", "Position of each element");
        let mut end = (x + 200, y);
        for plane in &picture.planes {
            let (right, bottom) = self.plane(plane, x, end.1);
            end = (end.0.max(right), bottom + MARGIN);
        }
        if picture.planes.len() < picture.all_planes {
            let more = format!("… {} of {} planes", picture.planes.len(), Grouped(picture.all_planes));
            self.text(x, end.1 + 12, "class=\"a\"", &more);
            end.1 += LINE;
        }
        end
    }

    fn plane(&mut self, plane: &Plane, x: usize, mut y: usize) -> (usize, usize) {
        if !plane.label.is_empty() {
            self.text(x, y + 12, "class=\"a\"", &shortened(&plane.label, MAX_TITLE));
            y += LINE;
        }
        let labels = plane.cells.iter().flatten().flatten().map(|cell| cell.position.to_string().len());
        let name = |name: &str, index: usize| if name.is_empty() { String::new() } else { format!("{name}={index}") };
        let columns = plane.columns.indices.iter().map(|&index| name(&plane.columns.name, index)).collect::<Vec<_>>();
        let rows = plane.rows.indices.iter().map(|&index| name(&plane.rows.name, index)).collect::<Vec<_>>();
        let width = labels.chain(columns.iter().map(String::len)).max().unwrap_or(1) * CHARACTER + 8;
        let first = rows.iter().map(String::len).max().unwrap_or(0) * CHARACTER + 6;
        let mut lefts = Vec::with_capacity(columns.len());
        let mut left = x + first;
        for (column, name) in columns.iter().enumerate() {
            if plane.columns.gap_before(column) {
                self.text(left + GAP / 2, y + 12, "class=\"a\" text-anchor=\"middle\"", "…");
                left += GAP;
            }
            self.text(left + width / 2, y + 12, "class=\"a\" text-anchor=\"middle\"", name);
            lefts.push(left);
            left += width;
        }
        let mut top = y + LINE;
        let mut edges = String::new();
        for (row, cells) in plane.cells.iter().enumerate() {
            let row_gap = plane.rows.gap_before(row);
            if row_gap {
                self.text(x + first / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "⋮");
                top += GAP;
            }
            self.text(x + first - 6, top + 16, "class=\"a\" text-anchor=\"end\"", &rows[row]);
            for (column, cell) in cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let (left, gap) = (lefts[column], plane.columns.gap_before(column));
                self.cell(cell, (left, top), width, &cell.position.to_string());
                let beside = column.checked_sub(1).and_then(|column| cells[column].as_ref());
                if !gap && beside.is_some_and(|beside| differ(beside, cell)) {
                    let _ = write!(edges, "M{left} {top}v{CELL_HEIGHT}");
                }
                let above = row.checked_sub(1).and_then(|row| plane.cells[row][column].as_ref());
                if !row_gap && above.is_some_and(|above| differ(above, cell)) {
                    let _ = write!(edges, "M{left} {top}h{width}");
                }
            }
            top += CELL_HEIGHT;
        }
        self.edges(&edges);
        (left, top)
    }

    /// Draws memory in lines; where it ends on the right and below.
    fn memory(&mut self, picture: &Picture, x: usize, y: usize) -> (usize, usize) {
        self.text(x, y - 10, "class=\"h\"", "Memory: element at each position");
        let cells = || picture.runs.iter().flatten();
        let content = |cell: &Cell| cell.index.as_deref().map(|index| shortened(&label(index), MAX_LABEL).into_owned());
        let labels = cells().filter_map(|cell| Some(content(cell)?.chars().count()));
        let width = labels.max().unwrap_or(1).max(3) * CHARACTER + 8;
        let last = cells().map(|cell| cell.position).max().unwrap_or(0);
        let first = (last.to_string().len() + 1) * CHARACTER;
        let mut top = y;
        let mut edges = String::new();
        let mut before: Option<&Cell> = None;
        for (number, run) in picture.runs.iter().enumerate() {
            if number > 0 {
                self.text(x + first / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "⋮");
                top += GAP;
                before = None;
            }
            for line in run.chunks(PER_LINE) {
                self.text(x + first - 6, top + 16, "class=\"a\" text-anchor=\"end\"", &line[0].position.to_string());
                for (place, cell) in line.iter().enumerate() {
                    let left = x + first + place * width;
                    self.cell(cell, (left, top), width, &content(cell).unwrap_or_default());
                    if before.is_some_and(|before| differ(before, cell)) {
                        let _ = write!(edges, "M{left} {top}v{CELL_HEIGHT}");
                    }
                    // Padding is of the tile before it.
                    if cell.index.is_some() {
                        before = Some(cell);
                    }
                }
                top += CELL_HEIGHT;
            }
        }
        if !picture.runs.is_empty() && last + 1 < picture.positions {
            self.text(x + first / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "⋮");
            top += GAP;
        }
        self.edges(&edges);
        (x + first + PER_LINE * width, top)
    }

    /// Draws what colours and hatching mean; where it ends on the right and below.
    fn legend(&mut self, picture: &Picture, y: usize) -> (usize, usize) {
        let fill = "fill=\"url(#padding)\" stroke=\"#777\"";
        let _ = writeln!(self.0, "<rect x=\"{MARGIN}\" y=\"{y}\" width=\"22\" height=\"14\" {fill}/>");
        let tiles = if picture.runs.iter().flatten().any(|cell| !cell.tile.is_empty()) {
            "; each tile has one colour and a black edge"
        } else {
            ""
        };
        let of = Grouped(picture.positions);
        let shown =
            if picture.is_whole() { format!("all {of} positions") } else { format!("a part of {of} positions") };
        let text = format!("padding{tiles}; shown: {shown}");
        let x = MARGIN + 30;
        self.text(x, y + 11, "class=\"a\"", &text);
        (x + text.len() * CHARACTER, y + 14 + MARGIN)
    }

    fn cell(&mut self, cell: &Cell, (x, y): (usize, usize), width: usize, content: &str) {
        let class = if cell.index.is_some() { format!("c k{}", cell.colour()) } else { "c p".into() };
        let _ = write!(self.0, "<g class=\"{class}\" data-p=\"{}\" data-b=\"{}\"", cell.position, cell.offset.byte);
        if cell.offset.bit > 0 {
            let _ = write!(self.0, " data-o=\"{}\"", cell.offset.bit);
        }
        if let Some(index) = &cell.index {
            let _ = write!(self.0, " data-i=\"{}\"", shortened(&label(index), MAX_INDEX));
        }
        if !cell.tile.is_empty() {
            let _ = write!(self.0, " data-t=\"{}\"", shortened(&label(&cell.tile), MAX_INDEX));
        }
        let _ = write!(self.0, "><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{CELL_HEIGHT}\"/>");
        if cell.index.is_some() {
            let _ = write!(self.0, "<text x=\"{}\" y=\"{}\">{content}</text>", x + width / 2, y + 16);
        }
        self.0.push_str("</g>\n");
    }

    fn edges(&mut self, path: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.0, "<path class=\"e\" d=\"{path}\"/>");
        }
    }

    fn text(&mut self, x: usize, y: usize, attributes: &str, text: &str) {
        let _ = writeln!(self.0, "<text x=\"{x}\" y=\"{y}\" {attributes}>{}</text>", escape(text));
    }
}
