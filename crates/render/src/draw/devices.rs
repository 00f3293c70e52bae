//! Which device has which part of an array: a grid of boxes, one for each shard, with the numbers and the colour of its devices.

use super::svg;
use crate::web::{Page, SCROLLS, escape};
use crate::words::{Grouped, count, dimension_names, slice};
use crate::{Show, Text, harmless};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use xla_shape_answers::Answer;
use xla_shape_core::shard::{Partition, Region, Sharding, ShardingError};
use xla_shape_core::{ArrayShape, TileDimension};

/// At most this many boxes in a row or column, planes, and devices of a box are shown.
const MAX_BOXES: u64 = 16;
const MAX_PLANES: u64 = 4;
const MAX_DEVICES: usize = 4;

/// A drawing of which device has which part of an array.
///
/// ```
/// use xla_shape_render::draw::DeviceDrawing;
///
/// let array = "f32[64,256]{1,0:T(8,128)}".parse()?;
/// let drawing = DeviceDrawing::new(&array, "{devices=[4,2]<=[8]}".parse()?)?;
/// assert!(drawing.svg().starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceDrawing {
    /// XLA's text of the shape, with its layout.
    shape: String,
    /// The canonical text of the sharding.
    sharding: String,
    /// The shape of a shard.
    shard: String,
    /// The dimension down; null if the array has fewer than two dimensions.
    rows: Option<Side>,
    /// The dimension across; null for a scalar.
    columns: Option<Side>,
    /// The grids that are shown.
    planes: Vec<Plane>,
    #[serde(skip)]
    more_planes: u64,
}

/// A dimension along a side of the grid.
#[derive(Debug, Serialize, JsonSchema)]
struct Side {
    /// Its number.
    dimension: usize,
    /// Its name in the drawing.
    name: String,
    /// Its size in elements.
    size: u64,
    /// How many shards there are along it.
    shards: u64,
    /// The elements of a shard along it; the last shard may have fewer.
    shard_size: u64,
    /// The size of the layout's first tile along it, in elements; null without one.
    tile: Option<u64>,
}

impl Side {
    fn shown(&self) -> u64 {
        self.shards.min(MAX_BOXES)
    }
}

/// A grid of boxes, at one shard of all other dimensions.
#[derive(Debug, Serialize, JsonSchema)]
struct Plane {
    /// The part of the other dimensions; empty if there are none.
    label: String,
    /// Row by row, the shards.
    cells: Vec<Vec<Cell>>,
}

/// A shard.
#[derive(Debug, Serialize, JsonSchema)]
struct Cell {
    /// The first index in each dimension.
    start: Vec<u64>,
    /// The index after the last, in each dimension.
    limit: Vec<u64>,
    /// The numbers of devices that have it, at most four of them.
    devices: Vec<i64>,
    /// How many more devices have it; null if that is not known.
    more: Option<u64>,
}

impl Cell {
    fn is_empty(&self) -> bool {
        self.start.iter().zip(&self.limit).any(|(start, limit)| start >= limit)
    }

    fn label(&self) -> String {
        if self.is_empty() {
            return "–".to_owned();
        }
        let Some(more) = self.more else { return "all".to_owned() };
        let devices = self.devices.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        if more > 0 { format!("{devices},…") } else { devices }
    }
}

impl DeviceDrawing {
    /// Draws `array` as the sharding divides it.
    ///
    /// # Errors
    /// If the sharding does not fit the array.
    ///
    /// ```
    /// use xla_shape_render::{Show, draw::DeviceDrawing};
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64,256]".parse()?, "{devices=[4,2]<=[8]}".parse()?)?;
    /// assert!(drawing.text(80).to_string().contains("Each box is a shard, f32[16,128]{1,0}"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(array: &ArrayShape, sharding: Sharding) -> Result<Self, ShardingError> {
        let partition = sharding.partition(array)?;
        let names = dimension_names(array);
        let rank = names.len();
        // The last two dimensions that are divided; if fewer are divided, the last dimensions of the array.
        let mut sides = (0..rank).filter(|&d| partition.tiles()[d] > 1).rev().take(2).collect::<Vec<_>>();
        sides.extend((0..rank).rev().filter(|&d| partition.tiles()[d] <= 1).take(2 - sides.len()));
        sides.sort_unstable();
        let side = |dimension: usize| {
            let (size, shards) = (partition.sizes()[dimension], partition.tiles()[dimension]);
            let name = names[dimension].clone();
            Side { dimension, name, size, shards, shard_size: size.div_ceil(shards), tile: tile_size(array, dimension) }
        };
        let (rows, columns) = match sides.as_slice() {
            [row, column] => (Some(side(*row)), Some(side(*column))),
            [column] => (None, Some(side(*column))),
            _ => (None, None),
        };
        let others = (0..rank).filter(|dimension| !sides.contains(dimension)).collect::<Vec<_>>();
        let all_planes = others.iter().fold(1_u64, |all, &d| all.saturating_mul(partition.tiles()[d]));
        let plane = |number: u64| {
            let mut tile = vec![0; rank];
            let mut rest = number;
            for &dimension in others.iter().rev() {
                tile[dimension] = rest % partition.tiles()[dimension];
                rest /= partition.tiles()[dimension];
            }
            plane(&partition, tile, &others, &names, rows.as_ref(), columns.as_ref())
        };
        let planes = (0..all_planes.min(MAX_PLANES)).map(plane).collect();
        Ok(Self {
            shape: array.to_string(),
            sharding: sharding.to_string(),
            shard: partition.shard().to_string(),
            planes,
            more_planes: all_planes.saturating_sub(MAX_PLANES),
            rows,
            columns,
        })
    }

    /// The sentences below the boxes.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("Each box is a shard, {}; its numbers are its devices.", self.shard)];
        let sides = || [&self.rows, &self.columns].into_iter().flatten();
        let tiles =
            sides().filter_map(|side| Some((side.shard_size.div_ceil(side.tile?), side.tile?))).collect::<Vec<_>>();
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
        if self.more_planes > 0 {
            notes.push(format!("… and {} more of such grids.", Grouped(self.more_planes)));
        }
        notes
    }

    /// The picture, as SVG.
    ///
    /// ```
    /// use xla_shape_render::draw::DeviceDrawing;
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64]".parse()?, "{devices=[4]<=[4]}".parse()?)?;
    /// assert!(drawing.svg().starts_with("<svg"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn svg(&self) -> String {
        self.picture(&[&self.shape, &self.sharding], &self.notes(), |drawing| drawing.alone())
    }

    /// The picture between these lines.
    fn picture(&self, titles: &[&str], notes: &[String], form: impl Fn(&svg::Drawing<'_>) -> String) -> String {
        const MARGIN: u64 = 16;
        const LINE: u64 = 20;
        let (mut body, mut y, mut width) = (String::new(), MARGIN, 0);
        let mut text = |body: &mut String, y: u64, text: &str| {
            width = width.max(text.chars().count() as u64 * 7);
            let _ = writeln!(body, "<text class=\"title\" x=\"{MARGIN}\" y=\"{}\">{}</text>", y + 13, escape(text));
        };
        for title in titles {
            text(&mut body, y, title);
            y += LINE;
        }
        for plane in &self.planes {
            if !plane.label.is_empty() {
                text(&mut body, y, &plane.label);
                y += LINE;
            }
            y += self.grid(&mut body, plane, MARGIN, y) + MARGIN;
        }
        for note in notes {
            text(&mut body, y, note);
            y += LINE;
        }
        let (width, height) = (width.max(GRID + LABELS) + 2 * MARGIN, y + MARGIN);
        let label = format!("Which device has which part of {} with {}", self.shape, self.sharding);
        form(&svg::Drawing { label: &label, title: "", title_size: 0, size: [width, height], body: &body })
    }

    /// Draws a plane and returns its height in pixels.
    fn grid(&self, body: &mut String, plane: &Plane, x: u64, y: u64) -> u64 {
        let rows = plane.cells.len() as u64;
        let columns = plane.cells.first().map_or(1, Vec::len) as u64;
        let (wide, tall) = (GRID / columns.max(1), (GRID / 2 / rows.max(1)).clamp(24, 80));
        let (left, top) = (x + LABELS, y + 18);
        let mut label = |x: u64, y: u64, anchor: &str, text: &str| {
            let _ = writeln!(
                body,
                "<text class=\"a\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
                escape(text)
            );
        };
        for (number, side) in (0..columns).filter_map(|number| Some((number, self.columns.as_ref()?))) {
            label(left + number * wide, top - 5, "start", &range(side, number));
        }
        for (number, side) in (0..rows).filter_map(|number| Some((number, self.rows.as_ref()?))) {
            label(left - 6, top + number * tall + tall / 2 + 4, "end", &range(side, number));
        }
        for (row, cells) in plane.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let (x, y) = (left + column as u64 * wide, top + row as u64 * tall);
                let title = escape(&format!("{}: {}", cell.label(), slice(&cell.start, &cell.limit)));
                let _ = writeln!(
                    body,
                    "<g><title>{title}</title><rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{tall}\" fill=\"{}\" \
                     stroke=\"#000\"/>",
                    colour(cell)
                );
                for line in lines(self.columns.as_ref(), wide) {
                    let _ = writeln!(body, "<path d=\"M{} {y}v{tall}\" stroke=\"#0004\"/>", x + line);
                }
                for line in lines(self.rows.as_ref(), tall) {
                    let _ = writeln!(body, "<path d=\"M{x} {}h{wide}\" stroke=\"#0004\"/>", y + line);
                }
                // The numbers stand on a piece of the box's colour, so that no line of a tile crosses them.
                let (label, x, y) = (cell.label(), x + wide / 2, y + tall / 2);
                let plate = (label.chars().count() as u64 * 7 + 8).min(wide.saturating_sub(2));
                let _ = writeln!(
                    body,
                    "<rect x=\"{}\" y=\"{}\" width=\"{plate}\" height=\"16\" fill=\"{}\"/>\
                     <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
                    x - plate / 2,
                    y - 8,
                    colour(cell),
                    y + 4,
                    escape(&label)
                );
            }
        }
        rows * tall + 18
    }

    /// A page with the picture and a list of what each device has. It has no external resources.
    ///
    /// ```
    /// use xla_shape_render::draw::DeviceDrawing;
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64]".parse()?, "{devices=[4]<=[4]}".parse()?)?;
    /// assert!(drawing.html().starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn html(&self) -> String {
        let mut list = String::new();
        for cell in self.planes.iter().flat_map(|plane| &plane.cells).flatten() {
            let colour = colour(cell);
            let _ = writeln!(
                list,
                "<tr><td style=\"background:{colour}\">{}</td><td>{}</td></tr>",
                escape(&cell.label()),
                escape(&slice(&cell.start, &cell.limit))
            );
        }
        // Unlike the picture, the page wraps them.
        let notes = self.notes().iter().map(|note| format!("<p>{}</p>\n", escape(note))).collect::<String>();
        let main = format!(
            "<p><code>{}</code></p>\n{}{SCROLLS}{notes}<table class=\"short\">\n<tr><th>Devices</th><th>Elements</th></tr>\n{list}</table>\n",
            escape(&self.sharding),
            self.picture(&[], &[], |drawing| drawing.in_page())
        );
        Page { title: &self.shape, heading: &self.shape, main: &main, ..Page::default() }.html()
    }
}

/// Light colours of the 256 that terminals have; neighbours in this list differ clearly.
const COLOURS: [u8; 12] = [153, 223, 151, 217, 189, 229, 159, 182, 194, 180, 195, 186];

/// The width of a grid and of the labels to its left, in pixels.
const GRID: u64 = 640;
const LABELS: u64 = 90;

impl Answer for DeviceDrawing {
    const SCHEMA: &'static str = "xla-shape/draw/1";
}

impl Show for DeviceDrawing {
    /// Boxes with the numbers of devices.
    fn text(&self, width: usize) -> Text {
        self.boxes(width, &|_, box_of| box_of)
    }
}

impl DeviceDrawing {
    /// The text with escape codes for colours: one for each device.
    ///
    /// ```
    /// use xla_shape_render::draw::DeviceDrawing;
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64]".parse()?, "{devices=[4]<=[4]}".parse()?)?;
    /// assert!(drawing.coloured(80).to_string().contains("\u{1b}[30;48;5;"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn coloured(&self, width: usize) -> Text {
        self.boxes(width, &|cell, label| match cell.devices.first() {
            Some(&device) if !cell.is_empty() => {
                let colour = COLOURS.get(device.unsigned_abs() as usize % COLOURS.len()).unwrap_or(&7);
                format!("\u{1b}[30;48;5;{colour}m{label}\u{1b}[0m")
            }
            _ => label,
        })
    }

    fn boxes(&self, width: usize, paint: &dyn Fn(&Cell, String) -> String) -> Text {
        let mut text = Text::new(width);
        text.paragraph(&self.shape);
        text.paragraph(&self.sharding);
        for plane in &self.planes {
            text.verbatim("");
            if !plane.label.is_empty() {
                text.verbatim(format_args!("{}:\n", plane.label));
            }
            let heads = |side: Option<&Side>, n: usize| {
                (0..n as u64).map(|i| side.map_or_else(String::new, |side| range(side, i))).collect::<Vec<_>>()
            };
            let columns = plane.cells.first().map_or(0, Vec::len);
            let (top, left) = (heads(self.columns.as_ref(), columns), heads(self.rows.as_ref(), plane.cells.len()));
            let labels = plane.cells.iter().flatten().map(|cell| cell.label().chars().count());
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
                let cells = cells.map(|cell| paint(cell, format!("{:^wide$}", cell.label())) + "│").collect::<String>();
                let more = if fit < columns { " …" } else { "" };
                let left = harmless(&format!("{} ", left[number])).into_owned();
                text.coloured_line(&format!("{left:>indent$}│{cells}{more}"));
            }
            text.verbatim(rule('└', '┴', '┘'));
        }
        text.verbatim("");
        for note in self.notes() {
            text.paragraph(note);
        }
        text
    }
}

fn plane(
    partition: &Partition,
    mut tile: Vec<u64>,
    others: &[usize],
    names: &[String],
    rows: Option<&Side>,
    columns: Option<&Side>,
) -> Plane {
    let region = partition.tile_region(&tile).unwrap_or_default();
    let part = |&d: &usize| format!("{}={}:{}", names[d], region.start[d], region.limit[d]);
    let label = others.iter().map(part).collect::<Vec<_>>().join(" ");
    let mut cells = Vec::new();
    for row in 0..rows.map_or(1, Side::shown) {
        let mut line = Vec::new();
        for column in 0..columns.map_or(1, Side::shown) {
            for (side, number) in [(rows, row), (columns, column)] {
                if let Some(side) = side {
                    tile[side.dimension] = number;
                }
            }
            let Region { start, limit } = partition.tile_region(&tile).unwrap_or_default();
            let devices = partition.tile_holders(&tile).take(MAX_DEVICES).collect::<Vec<_>>();
            let more = partition.replication().map(|all| all.saturating_sub(devices.len() as u64));
            line.push(Cell { start, limit, devices, more });
        }
        cells.push(line);
    }
    Plane { label, cells }
}

/// The size of the layout's first tile along a dimension.
fn tile_size(array: &ArrayShape, dimension: usize) -> Option<u64> {
    let layout = array.layout();
    let tile = layout.tiles().first()?.dimensions();
    let from_minor = layout.minor_to_major().iter().position(|&other| other == dimension)?;
    match tile.get(tile.len().checked_sub(from_minor + 1)?)? {
        TileDimension::Size(size) if tile.iter().all(|entry| matches!(entry, TileDimension::Size(_))) => Some(*size),
        _ => None,
    }
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
fn colour(cell: &Cell) -> String {
    match cell.devices.first() {
        Some(&device) if !cell.is_empty() => {
            // 137 degrees, the golden angle, between the hues of neighbouring numbers.
            let hue = (device.unsigned_abs() % 360 * 137 + 200) % 360;
            format!("hsl({hue} 70% {}%)", 72 + device.unsigned_abs() / 8 % 3 * 6)
        }
        _ => "#eee".to_owned(),
    }
}
