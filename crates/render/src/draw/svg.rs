//! A drawing as SVG: the elements by index on the left, by position in memory on the right.
//!
//! Neighbouring tiles have different colours, which colour-blind readers can distinguish; padding is hatched, so that it shows in
//! print too. Cells have attributes with the data that a page shows about them.

use super::axis::{Axis, differ, label};
use crate::web::{escape, hatching};
use crate::words::{Grouped, shortened};
use std::borrow::Cow;
use std::fmt::Write as _;
use xla_shape_answers::draw::{Picture, Place, Plane};

/// Colours light enough for black text, from Paul Tol's "light" scheme.
const FILLS: [&str; 6] = ["#99DDFF", "#EEDD88", "#FFAABB", "#44BB99", "#EE8866", "#AFC3EE"];

const CELL_HEIGHT: usize = 24;
const CHARACTER: usize = 7;
/// The space for rows, columns or positions that are left out, in pixels.
const GAP: usize = 18;
const MARGIN: usize = 16;
const LINE: usize = 20;
/// How many characters of a shape, or of the indices beside a plane, are shown.
const MAX_TITLE: usize = 300;
/// How many characters of an index are shown in a cell.
const MAX_LABEL: usize = 60;
/// How many characters of an index are in a cell's attributes.
const MAX_INDEX: usize = 1000;
/// How many positions a line of the memory view has, and the width of a phone in pixels, which a line does not exceed.
const PER_LINE: usize = 8;
const NARROW: usize = 380;

/// The attributes of every `<svg>`.
pub(super) const FONT: &str =
    "font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"11\"";

/// The most pixels that a row of planes is wide, unless a single plane is wider.
const ROW: usize = 640;

/// Draws the picture as one `<svg>` element.
pub(crate) fn draw(picture: &Picture) -> String {
    let title = title(picture);
    let top = MARGIN + LINE;
    let mut body = String::new();
    // Writing to a `String` does not fail.
    let mut place = |part: &Part, x: usize, y: usize| {
        let _ = writeln!(body, "<g transform=\"translate({x} {y})\">\n{}</g>", part.body.0);
        (x + part.width, y + part.height)
    };
    let heading = |text: &str| {
        let mut part = Part { width: text.chars().count() * CHARACTER, height: LINE, ..Part::default() };
        part.body.text(0, 12, "class=\"h\"", text);
        part
    };
    let mut left = place(&heading(POSITIONS), MARGIN, top);
    for row in planes(picture) {
        let (mut x, mut y, mut bottom) = (MARGIN, left.1, left.1);
        for plane in row {
            if x > MARGIN && x + plane.width > MARGIN + ROW {
                (x, y) = (MARGIN, bottom);
            }
            let end = place(&plane, x, y);
            left.0 = left.0.max(end.0);
            bottom = bottom.max(end.1 + MARGIN);
            x = end.0 + MARGIN;
        }
        left.1 = bottom;
    }
    if let Some(more) = more_planes(picture) {
        left.1 = place(&heading(&more), MARGIN, left.1).1;
    }
    let x = left.0 + 2 * MARGIN;
    let head = place(&heading(MEMORY), x, top);
    let memory = place(&memory(picture), x, head.1);
    let mut legend = Part { height: LINE, ..Part::default() };
    legend.body.0.push_str("<g class=\"p\"><rect width=\"22\" height=\"14\" stroke=\"#777\"/></g>\n");
    let text = self::legend(picture);
    legend.body.text(30, 11, "class=\"a\"", &text);
    legend.width = 30 + text.chars().count() * CHARACTER;
    let legend = place(&legend, MARGIN, left.1.max(memory.1) + MARGIN);
    let right = head.0.max(memory.0).max(legend.0);
    let (width, bottom) = ((right + MARGIN).max(MARGIN * 2 + title.chars().count() * 10), legend.1 + MARGIN / 2);
    let label = format!("Where the elements of {title} are");
    Drawing { label: &label, title: &title, title_size: 15, size: [width as u64, bottom as u64], body: &body }.alone()
}

/// A drawing with a title.
pub(super) struct Drawing<'t> {
    /// What a reader without eyes is told.
    pub(super) label: &'t str,
    pub(super) title: &'t str,
    /// The size of the title's letters, in pixels.
    pub(super) title_size: u64,
    /// Width and height in pixels.
    pub(super) size: [u64; 2],
    /// The content, as SVG.
    pub(super) body: &'t str,
}

impl Drawing<'_> {
    /// The drawing as a file. Its id and that of its pattern are made of its title, so that several drawings can stand in one document.
    pub(super) fn alone(&self) -> String {
        let id: String = self.label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let pattern = format!("{id}-padding");
        self.svg(
            &format!(" id=\"{id}\""),
            &format!("<style>{}</style>\n{}\n", styles(&id, &pattern), hatching(&pattern)),
        )
    }

    /// The drawing as a part of a page, which has the style and the pattern.
    pub(super) fn in_page(&self) -> String {
        format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Drawing\">{}</div>\n",
            self.svg("", "")
        )
    }

    fn svg(&self, id: &str, head: &str) -> String {
        let Self { label, title, title_size, size: [width, height], body } = self;
        let (label, title, y) = (escape(label), escape(title), MARGIN + 12);
        let title = if title.is_empty() {
            String::new()
        } else {
            format!(
                "<text class=\"title\" x=\"{MARGIN}\" y=\"{y}\" font-size=\"{title_size}\" font-weight=\"bold\">{title}</text>\n"
            )
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{id} viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" {FONT} role=\"img\" aria-label=\"{label}\">\n{head}\
             <rect class=\"back\" width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{title}{body}</svg>\n"
        )
    }
}

/// The titles of the two views.
pub(super) const POSITIONS: &str = "Position of each element";
pub(super) const MEMORY: &str = "Memory: element at each position";

/// A part of a picture, drawn from its upper left corner.
#[derive(Default)]
pub(super) struct Part {
    body: Body,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Part {
    /// The part as a separate picture, which uses the style and the hatching of its page.
    pub(super) fn alone(&self, label: &str) -> String {
        let Self { body, width, height } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" {FONT} role=\"group\" \
             aria-label=\"{}\">\n{}</svg>\n",
            escape(label),
            body.0
        )
    }
}

/// The planes that are shown, row by row.
pub(super) fn planes(picture: &Picture) -> impl Iterator<Item = Vec<Part>> + '_ {
    picture.planes.chunks(picture.planes_per_row).map(|row| row.iter().map(plane).collect())
}

/// How many planes are left out, if any are.
pub(super) fn more_planes(picture: &Picture) -> Option<String> {
    let (shown, all) = (picture.planes.len() as u64, picture.all_planes);
    (shown < all).then(|| format!("… {shown} of {} planes", Grouped(all)))
}

/// The legend of colours and hatching.
pub(super) fn legend(picture: &Picture) -> String {
    let tiles = if picture.runs.iter().flatten().any(|cell| !cell.tile.is_empty()) {
        "; each tile has one colour and a bold edge"
    } else {
        ""
    };
    let of = Grouped(picture.positions);
    let shown = if picture.is_whole() { format!("all {of} positions") } else { format!("some of {of} positions") };
    format!("hatched: padding{tiles}; shown: {shown}")
}

/// The shape, shortened if it is very long.
pub(super) fn title(picture: &Picture) -> Cow<'_, str> {
    shortened(&picture.shape, MAX_TITLE)
}

/// The style of a drawing with this id that is a file.
///
/// The colours of a light background are attributes, or come first, because not every program that shows SVG knows media queries. Cells keep
/// their colours on a dark background, and with them the dark text in them.
fn styles(id: &str, pattern: &str) -> String {
    let light = ".c rect{stroke:#fff}.c text{text-anchor:middle;fill:#000}.h{font-weight:bold}.a{fill:#444}.e{stroke:#000;stroke-width:2;fill:none}";
    let dark =
        ".back{fill:#15181c}.title,.h{fill:#eee}.a{fill:#aab}.line{stroke:#889}.c rect{stroke:#15181c}.e{stroke:#eee}";
    format!("{light}#{id} .p rect{{fill:url(#{pattern})}}{}@media (prefers-color-scheme:dark){{{dark}}}", fills())
}

/// The style of the colours of tiles.
pub(crate) fn fills() -> String {
    FILLS.iter().enumerate().map(|(number, fill)| format!(".k{number} rect{{fill:{fill}}}")).collect()
}

/// The class of what is in a tile of this number; neighbouring tiles have different colours.
pub(super) fn fill_of_tile(number: u64) -> String {
    format!("c k{}", number % FILLS.len() as u64)
}

/// The number of a colour; neighbouring tiles have different ones.
pub(super) fn colour(place: &Place) -> u64 {
    // With the weights 1, 3, 5, 7, … neighbours in any direction have different colours.
    let colours = FILLS.len() as u64;
    let weighted = place.tile.iter().rev().zip((1_u64..).step_by(2)).map(|(number, weight)| number % colours * weight);
    weighted.sum::<u64>() % colours
}

fn plane(plane: &Plane) -> Part {
    let mut body = Body::default();
    let mut top = 0;
    if !plane.label.is_empty() {
        body.text(0, 12, "class=\"a\"", &shortened(&plane.label, MAX_TITLE));
        top += LINE;
    }
    let labels = plane.cells.iter().flatten().flatten().map(|cell| cell.position.to_string().len());
    let (down, across) = (Axis::rows(plane), Axis::columns(plane));
    let columns = across.labels("");
    let rows = down.labels(&down.prefix());
    let corner = across.prefix();
    let width = labels.chain(columns.iter().map(String::len)).max().unwrap_or(1) * CHARACTER + 8;
    let first = rows.iter().chain([&corner]).map(String::len).max().unwrap_or(0) * CHARACTER + 6;
    let mut lefts = Vec::with_capacity(columns.len());
    body.text(first - 6, top + 12, "class=\"a\" text-anchor=\"end\"", &corner);
    let mut left = first;
    for (column, name) in columns.iter().enumerate() {
        if across.gap_before(column) {
            body.text(left + GAP / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "…");
            left += GAP;
        }
        body.text(left + width / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", name);
        lefts.push(left);
        left += width;
    }
    top += LINE;
    let mut edges = String::new();
    for (row, cells) in plane.cells.iter().enumerate() {
        let row_gap = down.gap_before(row);
        if row_gap {
            body.text(first / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "⋮");
            top += GAP;
        }
        body.text(first - 6, top + 16, "class=\"a\" text-anchor=\"end\"", &rows[row]);
        for (column, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let (left, gap) = (lefts[column], across.gap_before(column));
            body.cell(cell, (left, top), width, &cell.position.to_string());
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
    body.edges(&edges);
    let label = shortened(&plane.label, MAX_TITLE).chars().count() * CHARACTER;
    Part { body, width: left.max(label) + 1, height: top + 1 }
}

/// The memory view, line by line.
pub(super) fn memory(picture: &Picture) -> Part {
    let mut body = Body::default();
    let cells = || picture.runs.iter().flatten();
    let content = |cell: &Place| cell.index.as_deref().map(|index| shortened(&label(index), MAX_LABEL).into_owned());
    let labels = cells().filter_map(|cell| Some(content(cell)?.chars().count()));
    let width = labels.max().unwrap_or(1).max(3) * CHARACTER + 8;
    let last = cells().map(|cell| cell.position).max().unwrap_or(0);
    let first = (last.to_string().len() + 1) * CHARACTER;
    let mut per_line = PER_LINE;
    while per_line > 1 && first + per_line * width > NARROW {
        per_line /= 2;
    }
    let mut top = 0;
    let mut edges = String::new();
    let mut before: Option<&Place> = None;
    for (number, run) in picture.runs.iter().enumerate() {
        if number > 0 {
            body.text(first / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "⋮");
            top += GAP;
            before = None;
        }
        for line in run.chunks(per_line) {
            body.text(first - 6, top + 16, "class=\"a\" text-anchor=\"end\"", &line[0].position.to_string());
            for (place, cell) in line.iter().enumerate() {
                let left = first + place * width;
                body.cell(cell, (left, top), width, &content(cell).unwrap_or_default());
                if before.is_some_and(|before| differ(before, cell)) {
                    let _ = write!(edges, "M{left} {top}v{CELL_HEIGHT}");
                }
                // Padding belongs to the tile before it.
                if cell.index.is_some() {
                    before = Some(cell);
                }
            }
            top += CELL_HEIGHT;
        }
    }
    if !picture.runs.is_empty() && last + 1 < picture.positions {
        body.text(first / 2, top + 12, "class=\"a\" text-anchor=\"middle\"", "⋮");
        top += GAP;
    }
    body.edges(&edges);
    Part { body, width: first + per_line * width + 1, height: top + 1 }
}

/// The content of an `<svg>` element. Writing to it does not fail.
#[derive(Default)]
struct Body(String);

impl Body {
    fn cell(&mut self, cell: &Place, (x, y): (usize, usize), width: usize, content: &str) {
        let class = if cell.index.is_some() { format!("c k{}", colour(cell)) } else { "c p".into() };
        let _ = write!(self.0, "<g class=\"{class}\" data-p=\"{}\" data-b=\"{}\"", cell.position, cell.byte_offset);
        if cell.bit_offset > 0 {
            let _ = write!(self.0, " data-o=\"{}\"", cell.bit_offset);
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
