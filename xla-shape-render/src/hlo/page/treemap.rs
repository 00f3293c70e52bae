//! A map of values whose areas are their bytes.

use super::detail::Detail;
use crate::web::escape;
use crate::words::{Factor, shortened};
use std::fmt::Write as _;
use xla_shape_hlo::{Buffer, Opcode};

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 560.0;
/// Pale enough for black text; one for each kind of operation that comes first.
const FILL: &str = "#99DDFF";
const PARAMETER_FILL: &str = "#EEDD88";

/// A rectangle, in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Adds the map of these values, largest first.
pub(super) fn draw(body: &mut String, buffers: &[Buffer<'_, '_>], detail: Detail) {
    let sizes = buffers.iter().map(|buffer| buffer.footprint.bytes as f64).collect::<Vec<_>>();
    let areas = squarified(&sizes, Area { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT });
    let _ = writeln!(
        body,
        "<svg class=\"map\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"Values by size\">"
    );
    for (buffer, area) in buffers.iter().zip(areas) {
        let Area { x, y, width, height } = area;
        let footprint = buffer.footprint;
        let padding = footprint.padding_bytes();
        let name = shortened(buffer.instruction.name(), detail.text);
        let array = buffer.array.to_string();
        let expansion = footprint.expansion().map_or(String::new(), |expansion| format!(", {}", Factor(expansion)));
        let tell = format!(
            "%{name} ({}): {}, {} bytes, {padding} of them padding{expansion}",
            buffer.instruction.opcode(),
            shortened(&array, detail.text),
            footprint.bytes
        );
        let is_parameter = buffer.instruction.opcode() == Opcode::Parameter;
        let fill = if is_parameter { PARAMETER_FILL } else { FILL };
        let _ = write!(
            body,
            "<g class=\"v\" role=\"img\" aria-label=\"{}\"><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{fill}\"/>",
            escape(&tell)
        );
        if padding > 0 {
            let padded = height * padding as f64 / footprint.bytes as f64;
            let top = y + height - padded;
            let _ = write!(
                body,
                "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{padded:.1}\" fill=\"url(#padding)\"/>"
            );
        }
        let room = ((width - 6.0) / 7.0).max(0.0) as usize;
        if height >= 16.0 && room >= 4 {
            let label = name.chars().take(room).collect::<String>();
            let _ = write!(body, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 3.0, y + 12.0, escape(&label));
        }
        let _ = writeln!(body, "</g>");
    }
    let _ = writeln!(body, "</svg>");
}

/// Cuts an area into parts of these sizes, largest first, as square as rows of them can be (the squarified treemap of
/// Bruls, Huizing and van Wijk).
fn squarified(sizes: &[f64], area: Area) -> Vec<Area> {
    let total = sizes.iter().sum::<f64>();
    let scale = if total > 0.0 { area.width * area.height / total } else { 0.0 };
    let (mut rest, mut left) = (sizes, area);
    let mut areas = Vec::with_capacity(sizes.len());
    while !rest.is_empty() {
        let side = left.width.min(left.height);
        // A row takes as many as make its parts squarer.
        let worst = |count: usize| {
            let row = &rest[..count];
            let sum = row.iter().sum::<f64>() * scale;
            let thickness = sum / side;
            row.iter()
                .map(|size| (size * scale / thickness, thickness))
                .map(|(a, b)| (a / b).max(b / a))
                .fold(0.0, f64::max)
        };
        let mut count = 1;
        while count < rest.len() && worst(count + 1) <= worst(count) {
            count += 1;
        }
        let (row, behind) = rest.split_at(count);
        let thickness = row.iter().sum::<f64>() * scale / side;
        let mut along = 0.0;
        for size in row {
            let length = size * scale / thickness;
            areas.push(if left.width >= left.height {
                Area { x: left.x, y: left.y + along, width: thickness, height: length }
            } else {
                Area { x: left.x + along, y: left.y, width: length, height: thickness }
            });
            along += length;
        }
        if left.width >= left.height {
            left = Area { x: left.x + thickness, width: left.width - thickness, ..left };
        } else {
            left = Area { y: left.y + thickness, height: left.height - thickness, ..left };
        }
        rest = behind;
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::{Area, squarified};

    #[test]
    fn areas_are_as_large_as_their_parts() {
        let whole = Area { x: 0.0, y: 0.0, width: 600.0, height: 400.0 };
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let areas = squarified(&sizes, whole);
        for (size, area) in sizes.iter().zip(&areas) {
            assert!((area.width * area.height - size * 10_000.0).abs() < 1e-6, "{area:?}");
            assert!(area.x >= -1e-9 && area.x + area.width <= 600.0 + 1e-6);
            assert!(area.y >= -1e-9 && area.y + area.height <= 400.0 + 1e-6);
        }
        // The first two of the published example share a column.
        assert_eq!((areas[0].width, areas[0].height), (300.0, 200.0));
    }
}
