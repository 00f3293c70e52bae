//! A drawing as SVG: the elements by index on the left, by position in memory on the right.
//!
//! Neighbouring tiles have different colours, which colour-blind readers can distinguish; padding is hatched, so that it shows in
//! print too. Cells have attributes with the data that a page shows about them.

use super::axis::{Axis, differ, label};
use crate::web::{Element, element, elements, hatching};
use crate::words::{Grouped, shortened};
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
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
/// How many characters of an index are kept in a cell's attributes.
const MAX_INDEX: usize = 1000;
/// How many positions a line of the memory view has, and the width of a phone's screen in pixels: no line is wider.
const PER_LINE: usize = 8;
const NARROW: usize = 380;

/// The font of every picture.
const FONT: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/// The most pixels that a row of planes is wide, unless a single plane is wider.
const ROW: usize = 640;

/// Draws the picture as one `<svg>` element.
pub(crate) fn draw(picture: &Picture) -> String {
    let title = title(picture);
    let top = MARGIN + LINE;
    let mut body = elements();
    let mut place = |part: Part, x: usize, y: usize| {
        let end = (x + part.width, y + part.height);
        let moved = element("g").attribute("transform", format_args!("translate({x} {y})"));
        body = std::mem::take(&mut body).with(moved.with(part.body));
        end
    };
    let heading = |heading: &str| Part {
        body: text(0, 12, heading).class("h"),
        width: heading.chars().count() * CHARACTER,
        height: LINE,
    };
    let mut left = place(heading(POSITIONS), MARGIN, top);
    for row in planes(picture) {
        let (mut x, mut y, mut bottom) = (MARGIN, left.1, left.1);
        for plane in row {
            if x > MARGIN && x + plane.width > MARGIN + ROW {
                (x, y) = (MARGIN, bottom);
            }
            let end = place(plane, x, y);
            left.0 = left.0.max(end.0);
            bottom = bottom.max(end.1 + MARGIN);
            x = end.0 + MARGIN;
        }
        left.1 = bottom;
    }
    if let Some(more) = more_planes(picture) {
        left.1 = place(heading(&more), MARGIN, left.1).1;
    }
    let x = left.0 + 2 * MARGIN;
    let head = place(heading(MEMORY), x, top);
    let memory = place(memory(picture), x, head.1);
    let hatched = element("rect").attribute("width", 22).attribute("height", 14).attribute("stroke", "#777");
    let legend = legend(picture);
    let legend = Part {
        width: 30 + legend.chars().count() * CHARACTER,
        height: LINE,
        body: elements().with(element("g").class("p").with(hatched)).with(text(30, 11, legend).class("a")),
    };
    let legend = place(legend, MARGIN, left.1.max(memory.1) + MARGIN);
    let right = head.0.max(memory.0).max(legend.0);
    let (width, bottom) = ((right + MARGIN).max(MARGIN * 2 + title.chars().count() * 10), legend.1 + MARGIN / 2);
    let label = format!("Where the elements of {title} are");
    Drawing { label: &label, title: &title, title_size: 15, size: [width as u64, bottom as u64], body }.alone()
}

/// A drawing with a title.
pub(super) struct Drawing<'t> {
    /// The label that screen readers read.
    pub(super) label: &'t str,
    pub(super) title: &'t str,
    /// The size of the title's letters, in pixels.
    pub(super) title_size: u64,
    /// Width and height in pixels.
    pub(super) size: [u64; 2],
    pub(super) body: Element,
}

impl Drawing<'_> {
    /// The drawing as a file. Its id and that of its pattern are made of its title, so that one document can contain several drawings.
    pub(super) fn alone(self) -> String {
        let id: String = self.label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let pattern = format!("{id}-padding");
        let style = element("style").whole_text(styles(&id, &pattern));
        let xmlns = element("svg").attribute("xmlns", "http://www.w3.org/2000/svg");
        self.svg(xmlns.id(id), elements().with(style).with(hatching(&pattern))).html()
    }

    /// The drawing as a part of a page that already has the style and the pattern.
    pub(super) fn in_page(self) -> Element {
        let scroll = element("div").class("scroll").attribute("tabindex", 0).attribute("role", "group");
        scroll.attribute("aria-label", "Drawing").with(self.svg(element("svg"), elements()))
    }

    fn svg(self, svg: Element, head: Element) -> Element {
        let Self { label, title, title_size, size, body } = self;
        let size = size.map(|pixels| pixels as usize);
        let back = rectangle([0, 0], size).class("back").attribute("fill", "#fff");
        let title = (!title.is_empty()).then(|| {
            let title = text(MARGIN, MARGIN + 12, title).class("title");
            title.attribute("font-size", title_size).attribute("font-weight", "bold")
        });
        of_size(svg, size)
            .attribute("role", "img")
            .attribute("aria-label", label)
            .with(head)
            .with(back)
            .with_all(title)
            .with(body)
    }
}

/// Gives an `<svg>` its width and height in pixels, and the font.
fn of_size(svg: Element, [width, height]: [usize; 2]) -> Element {
    let svg = svg.attribute("viewBox", format_args!("0 0 {width} {height}"));
    let svg = svg.attribute("width", width).attribute("height", height);
    svg.attribute("font-family", FONT).attribute("font-size", 11)
}

/// A text at a place in pixels; `y` is its baseline.
pub(super) fn text(x: impl Display, y: impl Display, text: impl Display) -> Element {
    element("text").attribute("x", x).attribute("y", y).whole_text(text)
}

/// A rectangle: the position of its upper left corner, then width and height, all in pixels.
pub(super) fn rectangle<T: Display>([x, y]: [T; 2], [width, height]: [T; 2]) -> Element {
    let rectangle = element("rect").attribute("x", x).attribute("y", y);
    rectangle.attribute("width", width).attribute("height", height)
}

/// The titles of the two views.
pub(super) const POSITIONS: &str = "Position of each element";
pub(super) const MEMORY: &str = "Memory: element at each position";

/// A part of a picture, drawn from its upper left corner.
pub(super) struct Part {
    body: Element,
    width: usize,
    height: usize,
}

impl Part {
    /// The part as a separate picture, which uses the style and the hatching of its page.
    pub(super) fn alone(self, label: &str) -> Element {
        let svg = of_size(element("svg"), [self.width, self.height]);
        svg.attribute("role", "group").attribute("aria-label", label).with(self.body)
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

/// The style of a drawing that is a file of its own. `id` is the drawing's.
///
/// The colours of a light background are attributes, or come first, because not every program that shows SVG knows media queries. On a dark
/// background, cells keep their colours, so the text in them stays dark.
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
    let mut body = Vec::new();
    let mut top = 0;
    if !plane.label.is_empty() {
        body.push(text(0, 12, shortened(&plane.label, MAX_TITLE)).class("a"));
        top += LINE;
    }
    let labels = plane.cells.iter().flatten().flatten().map(|cell| cell.position.to_string().len());
    let (down, across) = (Axis::rows(plane), Axis::columns(plane));
    let columns = across.labels("");
    let rows = down.labels(&down.prefix());
    let corner = across.prefix();
    let width = labels.chain(columns.iter().map(String::len)).max().unwrap_or(1) * CHARACTER + 8;
    let first = rows.iter().chain([&corner]).map(String::len).max().unwrap_or(0) * CHARACTER + 6;
    // All columns are as wide as the longest number or label, and the row labels are to their left. Indices that are not shown leave a gap.
    let mut lefts = Vec::with_capacity(columns.len());
    body.push(ending(first - 6, top + 12, &corner));
    let mut left = first;
    for (column, name) in columns.iter().enumerate() {
        if across.gap_before(column) {
            body.push(centred(left + GAP / 2, top + 12, "…"));
            left += GAP;
        }
        body.push(centred(left + width / 2, top + 12, name));
        lefts.push(left);
        left += width;
    }
    top += LINE;
    let mut edges = String::new();
    for (row, cells) in plane.cells.iter().enumerate() {
        let row_gap = down.gap_before(row);
        if row_gap {
            body.push(centred(first / 2, top + 12, "⋮"));
            top += GAP;
        }
        body.push(ending(first - 6, top + 16, &rows[row]));
        for (column, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let (left, gap) = (lefts[column], across.gap_before(column));
            body.push(self::cell(cell, [left, top], width, &cell.position.to_string()));
            // A bold edge separates neighbours in different tiles. There is none across a gap, where the real neighbour is not shown.
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
    body.extend(bold_edges(&edges));
    let label = shortened(&plane.label, MAX_TITLE).chars().count() * CHARACTER;
    Part { body: elements().with_all(body), width: left.max(label) + 1, height: top + 1 }
}

/// The memory view, line by line.
pub(super) fn memory(picture: &Picture) -> Part {
    let mut body = Vec::new();
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
            body.push(centred(first / 2, top + 12, "⋮"));
            top += GAP;
            before = None;
        }
        for line in run.chunks(per_line) {
            body.push(ending(first - 6, top + 16, line[0].position));
            for (place, cell) in line.iter().enumerate() {
                let left = first + place * width;
                body.push(self::cell(cell, [left, top], width, &content(cell).unwrap_or_default()));
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
        body.push(centred(first / 2, top + 12, "⋮"));
        top += GAP;
    }
    body.extend(bold_edges(&edges));
    Part { body: elements().with_all(body), width: first + per_line * width + 1, height: top + 1 }
}

/// A cell of a view, with the data that a page shows about it.
fn cell(cell: &Place, [x, y]: [usize; 2], width: usize, content: &str) -> Element {
    let mut group = match cell.index {
        Some(_) => element("g").class(&format!("c k{}", colour(cell))),
        None => element("g").class("c p"),
    };
    group = group.attribute("data-p", cell.position).attribute("data-b", cell.byte_offset);
    if cell.bit_offset > 0 {
        group = group.attribute("data-o", cell.bit_offset);
    }
    if let Some(index) = &cell.index {
        group = group.attribute("data-i", shortened(&label(index), MAX_INDEX));
    }
    if !cell.tile.is_empty() {
        group = group.attribute("data-t", shortened(&label(&cell.tile), MAX_INDEX));
    }
    let text = cell.index.as_ref().map(|_| text(x + width / 2, y + 16, content));
    group.with(rectangle([x, y], [width, CELL_HEIGHT])).with_all(text)
}

/// The edges of tiles, if there are any.
fn bold_edges(path: &str) -> Option<Element> {
    (!path.is_empty()).then(|| element("path").class("e").attribute("d", path))
}

/// A text beside the cells. The text ends at `x`.
fn ending(x: usize, y: usize, text: impl Display) -> Element {
    self::text(x, y, text).class("a").attribute("text-anchor", "end")
}

/// A text beside the cells. The middle of the text is at `x`.
fn centred(x: usize, y: usize, text: impl Display) -> Element {
    self::text(x, y, text).class("a").attribute("text-anchor", "middle")
}
