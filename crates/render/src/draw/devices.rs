//! Which device has which part of an array: a grid of boxes, one for each shard, with the numbers and the colour of its devices.

use super::svg::{self, rectangle, text};
use crate::web::{Element, Page, element, elements, scrolls};
use crate::words::{Grouped, count, slice};
use crate::{Html, Show, Svg, Text, harmless};
use xla_shape_answers::draw::{DeviceDrawing, Shard, ShardPlane, Side};

/// Light colours of the 256 that terminals have; neighbours in this list differ clearly.
const COLOURS: [u8; 12] = [153, 223, 151, 217, 189, 229, 159, 182, 194, 180, 195, 186];

/// The width of a grid and of the labels to its left, in pixels.
const GRID: u64 = 640;
const LABELS: u64 = 90;

impl Show for DeviceDrawing {
    /// Boxes with the numbers of devices.
    fn text(&self, width: usize) -> Text {
        boxes(self, width, &|_, box_of| box_of)
    }
}

/// The text about devices, with escape codes for colours: one for each device.
///
/// ```
/// use xla_shape_answers::draw::DeviceDrawing;
/// use xla_shape_render::draw::coloured;
///
/// let drawing = DeviceDrawing::new(&"f32[64]".parse()?, "{devices=[4]<=[4]}".parse()?)?;
/// assert!(coloured(&drawing, 80).to_string().contains("\u{1b}[30;48;5;"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn coloured(drawing: &DeviceDrawing, width: usize) -> Text {
    boxes(drawing, width, &|cell, label| match cell.devices.first() {
        Some(&device) if !cell.is_empty() => {
            let colour = COLOURS.get(device.unsigned_abs() as usize % COLOURS.len()).unwrap_or(&7);
            format!("\u{1b}[30;48;5;{colour}m{label}\u{1b}[0m")
        }
        _ => label,
    })
}

fn boxes(drawing: &DeviceDrawing, width: usize, paint: &dyn Fn(&Shard, String) -> String) -> Text {
    let mut text = Text::new(width);
    text.paragraph(&drawing.shape);
    text.paragraph(&drawing.sharding);
    for plane in &drawing.planes {
        text.verbatim("");
        if !plane.label.is_empty() {
            text.verbatim(format_args!("{}:\n", plane.label));
        }
        let heads = |side: Option<&Side>, n: usize| {
            (0..n as u64).map(|i| side.map_or_else(String::new, |side| range(side, i))).collect::<Vec<_>>()
        };
        let columns = plane.cells.first().map_or(0, Vec::len);
        let (top, left) = (heads(drawing.columns.as_ref(), columns), heads(drawing.rows.as_ref(), plane.cells.len()));
        let labels = plane.cells.iter().flatten().map(|cell| devices_of(cell).chars().count());
        let wide = labels.chain(top.iter().map(|head| head.chars().count())).max().unwrap_or(0) + 2;
        let indent = left.iter().map(|head| head.chars().count()).max().unwrap_or(0) + 2;
        // Columns that do not fit are left out; a `…` stands for them.
        let fit = (width.saturating_sub(indent + 2) / (wide + 1)).clamp(1, columns.max(1));
        let heading = top.iter().take(fit).map(|head| format!("{head:^wide$} ")).collect::<String>();
        text.verbatim(format!("{:indent$} {heading}", "").trim_end());
        let rule = |from: char, between: char, to: char| {
            let line = vec!["─".repeat(wide); fit].join(&between.to_string());
            format!("{:indent$}{from}{line}{to}", "")
        };
        for (number, cells) in plane.cells.iter().enumerate() {
            text.verbatim(if number == 0 { rule('┌', '┬', '┐') } else { rule('├', '┼', '┤') });
            let cells = cells.iter().take(fit);
            let cells = cells.map(|cell| paint(cell, format!("{:^wide$}", devices_of(cell))) + "│").collect::<String>();
            let more = if fit < columns { " …" } else { "" };
            let left = harmless(&format!("{} ", left[number])).into_owned();
            text.coloured_line(&format!("{left:>indent$}│{cells}{more}"));
        }
        text.verbatim(rule('└', '┴', '┘'));
    }
    text.verbatim("");
    for note in notes(drawing) {
        text.paragraph(note);
    }
    text
}

impl Svg for DeviceDrawing {
    /// The picture, as SVG.
    ///
    /// ```
    /// use xla_shape_answers::draw::DeviceDrawing;
    /// use xla_shape_render::Svg;
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64]".parse()?, "{devices=[4]<=[4]}".parse()?)?;
    /// assert!(drawing.svg().starts_with("<svg"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn svg(&self) -> String {
        picture(self, &[&self.shape, &self.sharding], &notes(self), |drawing| drawing.alone())
    }
}

impl Html for DeviceDrawing {
    /// A page with the picture and a list of what each device has. It has no external resources.
    ///
    /// ```
    /// use xla_shape_answers::draw::DeviceDrawing;
    /// use xla_shape_render::Html;
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64]".parse()?, "{devices=[4]<=[4]}".parse()?)?;
    /// assert!(drawing.html().starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn html(&self) -> String {
        let cells = self.planes.iter().flat_map(|plane| &plane.cells).flatten();
        let rows = cells.map(|cell| {
            let style = format!("background:{}", colour(cell));
            element("tr")
                .with(element("td").attribute("style", style).whole_text(devices_of(cell)))
                .with(element("td").whole_text(slice(&cell.start, &cell.limit)))
        });
        let heads = ["Devices", "Elements"].map(|name| element("th").text(name));
        let main = elements()
            .with(element("p").with(element("code").whole_text(&self.sharding)))
            .with(picture(self, &[], &[], |drawing| drawing.in_page()))
            .with(scrolls())
            // Unlike the picture, the page wraps the notes.
            .with_all(notes(self).into_iter().map(|note| element("p").text(note)))
            .with(element("table").class("short").with(element("tr").with_all(heads)).with_all(rows));
        Page { title: &self.shape, heading: &self.shape, main, ..Page::default() }.html()
    }
}

/// The sentences below the boxes.
fn notes(drawing: &DeviceDrawing) -> Vec<String> {
    let mut notes = vec![format!("Each box is a shard, {}; its numbers are its devices.", drawing.shard)];
    let sides = || [&drawing.rows, &drawing.columns].into_iter().flatten();
    let tiles = sides().filter_map(|side| Some((side.shard_size.div_ceil(side.tile?), side.tile?))).collect::<Vec<_>>();
    if let [(down, tall), (across, wide)] = tiles.as_slice() {
        let tiles = count(down.saturating_mul(*across), "tile", "tiles");
        notes.push(format!(
            "A shard has {down} by {across} {} of {tall} by {wide}.",
            tiles.split(' ').next_back().unwrap_or("tiles")
        ));
    }
    for side in sides().filter(|side| side.shards > side.shown()) {
        notes.push(format!("… and {} more along {}.", Grouped(side.shards - side.shown()), side.name));
    }
    if drawing.more_planes > 0 {
        notes.push(format!("… and {} more of such grids.", Grouped(drawing.more_planes)));
    }
    notes
}

/// The picture, with `titles` above it and `notes` below.
fn picture<T>(drawing: &DeviceDrawing, titles: &[&str], notes: &[String], form: impl Fn(svg::Drawing<'_>) -> T) -> T {
    const MARGIN: u64 = 16;
    const LINE: u64 = 20;
    let (mut body, mut y, mut width) = (elements(), MARGIN, 0);
    let mut line = |y: u64, line: &str| {
        width = width.max(line.chars().count() as u64 * 7);
        text(MARGIN, y + 13, line).class("title")
    };
    for title in titles {
        body = body.with(line(y, title));
        y += LINE;
    }
    for plane in &drawing.planes {
        if !plane.label.is_empty() {
            body = body.with(line(y, &plane.label));
            y += LINE;
        }
        let (boxes, height) = grid(drawing, plane, MARGIN, y);
        body = body.with(boxes);
        y += height + MARGIN;
    }
    for note in notes {
        body = body.with(line(y, note));
        y += LINE;
    }
    let (width, height) = (width.max(GRID + LABELS) + 2 * MARGIN, y + MARGIN);
    let label = format!("Which device has which part of {} with {}", drawing.shape, drawing.sharding);
    form(svg::Drawing { label: &label, title: "", title_size: 0, size: [width, height], body })
}

/// A plane, and its height in pixels.
fn grid(drawing: &DeviceDrawing, plane: &ShardPlane, x: u64, y: u64) -> (Element, u64) {
    let rows = plane.cells.len() as u64;
    let columns = plane.cells.first().map_or(1, Vec::len) as u64;
    let (wide, tall) = (GRID / columns.max(1), (GRID / 2 / rows.max(1)).clamp(24, 80));
    let (left, top) = (x + LABELS, y + 18);
    let label =
        |x: u64, y: u64, anchor: &str, label: String| text(x, y, label).class("a").attribute("text-anchor", anchor);
    let mut body = Vec::new();
    for (number, side) in (0..columns).filter_map(|number| Some((number, drawing.columns.as_ref()?))) {
        body.push(label(left + number * wide, top - 5, "start", range(side, number)));
    }
    for (number, side) in (0..rows).filter_map(|number| Some((number, drawing.rows.as_ref()?))) {
        body.push(label(left - 6, top + number * tall + tall / 2 + 4, "end", range(side, number)));
    }
    let across = lines(drawing.columns.as_ref(), wide);
    let down = lines(drawing.rows.as_ref(), tall);
    for (row, cells) in plane.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let (x, y) = (left + column as u64 * wide, top + row as u64 * tall);
            let title = format!("{}: {}", devices_of(cell), slice(&cell.start, &cell.limit));
            let filled = |rectangle: Element| rectangle.attribute("fill", colour(cell));
            let line = |path: String| element("path").attribute("d", path).attribute("stroke", "#0004");
            let across = across.iter().map(|left| line(format!("M{} {y}v{tall}", x + left)));
            let down = down.iter().map(|top| line(format!("M{x} {}h{wide}", y + top)));
            // A rectangle in the box's colour is drawn below the numbers, so that no line of a tile crosses them.
            let numbers = devices_of(cell);
            let plate = (numbers.chars().count() as u64 * 7 + 8).min(wide.saturating_sub(2));
            let (middle, centre) = (x + wide / 2, y + tall / 2);
            let group = element("g")
                .with(element("title").whole_text(title))
                .with(filled(rectangle([x, y], [wide, tall])).attribute("stroke", "#000"))
                .with_all(across)
                .with_all(down)
                .with(filled(rectangle([middle - plate / 2, centre - 8], [plate, 16])))
                .with(text(middle, centre + 4, numbers).attribute("text-anchor", "middle"));
            body.push(group);
        }
    }
    (elements().with_all(body), rows * tall + 18)
}

/// The devices of a box.
fn devices_of(cell: &Shard) -> String {
    if cell.is_empty() {
        return "–".to_owned();
    }
    let Some(more) = cell.more else { return "all".to_owned() };
    let devices = cell.devices.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    if more > 0 { format!("{devices},…") } else { devices }
}

/// The indices that a row or column of boxes covers.
fn range(side: &Side, number: u64) -> String {
    let start = number.saturating_mul(side.shard_size).min(side.size);
    let limit = (number + 1).saturating_mul(side.shard_size).min(side.size);
    format!("{}={start}:{limit}", side.name)
}

/// Where the layout's tiles begin in a box, in pixels; empty if they would be too close.
fn lines(side: Option<&Side>, pixels: u64) -> Vec<u64> {
    const CLOSEST: u64 = 6;
    let Some((side, tile)) = side.and_then(|side| Some((side, side.tile?))) else { return Vec::new() };
    let tiles = side.shard_size.div_ceil(tile);
    if tiles < 2 || tiles > pixels / CLOSEST {
        return Vec::new();
    }
    let place =
        |number: u64| u128::from(number) * u128::from(tile) * u128::from(pixels) / u128::from(side.shard_size.max(1));
    (1..tiles).map(|number| place(number) as u64).filter(|&line| line < pixels).collect()
}

/// The colour of the first device: light enough for text, and different for neighbouring numbers.
fn colour(cell: &Shard) -> String {
    match cell.devices.first() {
        Some(&device) if !cell.is_empty() => {
            // 137 degrees, the golden angle, between the hues of neighbouring numbers.
            let hue = (device.unsigned_abs() % 360 * 137 + 200) % 360;
            format!("hsl({hue} 70% {}%)", 72 + device.unsigned_abs() / 8 % 3 * 6)
        }
        _ => "#eee".to_owned(),
    }
}
