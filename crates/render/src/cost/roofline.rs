//! The roofline of a profile. Each instruction is a point that shows its floating-point operations per byte and per second. A line shows
//! what the device can reach.

use super::measured::{percent, scaled};
use crate::web::{Element, element, hint, section};
use crate::words::shortened;
use xla_shape_answers::cost::{Measured, MeasuredInstruction};

/// The size of the picture and its margins, in pixels; on a narrow screen it is smaller.
const SIZE: [f64; 2] = [720.0, 300.0];
const LEFT: f64 = 92.0;
const BELOW: f64 = 34.0;
/// How many instructions the picture has at most, and how many of them have their names in it.
const MOST: usize = 500;
const NAMED: usize = 6;

/// An instruction of the picture.
struct Point<'m> {
    /// The floating-point operations per byte (`intensity`) and per second (`rate`).
    intensity: f64,
    rate: f64,
    of: &'m MeasuredInstruction,
}

/// The picture; `None` if the profile does not say how fast the device is, or how much any instruction computes.
pub(super) fn roofline(measured: &Measured) -> Option<Element> {
    let known = |peak: Option<u64>| peak.filter(|peak| *peak > 0).map(|peak| peak as f64);
    let (flops, bytes) = known(measured.peak_flops_per_second).zip(known(measured.peak_bytes_per_second))?;
    let points = measured.instructions.iter().filter_map(|of| {
        let (operations, moved) = of.flops.filter(|flops| *flops > 0).zip(of.bytes.filter(|bytes| *bytes > 0))?;
        let rate = of.flops_per_second.filter(|rate| *rate > 0)? as f64;
        Some(Point { intensity: operations as f64 / moved as f64, rate, of })
    });
    let points = points.take(MOST).collect::<Vec<_>>();
    let ridge = flops / bytes;
    let least = |numbers: &dyn Fn(&Point<'_>) -> f64, first: f64| points.iter().map(numbers).fold(first, f64::min);
    let most = points.iter().map(|point| point.intensity).fold(ridge, f64::max);
    let across = Axis::new([least(&|point| point.intensity, ridge) / 8.0, most * 8.0], [LEFT, SIZE[0] - 8.0]);
    let up = Axis::new([least(&|point| point.rate, flops) / 8.0, flops * 3.0], [SIZE[1] - BELOW, 8.0]);
    let roof = |intensity: f64| flops.min(bytes * intensity);
    // The line of the memory's bandwidth begins at the border of the picture.
    let begin = across.range[0].max(up.range[0] / bytes);
    let place = |intensity: f64, rate: f64| format!("{:.1} {:.1}", across.at(intensity), up.at(rate));
    let line = [(begin, roof(begin)), (ridge, flops), (across.range[1], flops)].map(|(x, y)| place(x, y)).join("L");
    let named = points.iter().take(NAMED).map(|point| {
        label(
            across.at(point.intensity) + radius(point) + 4.0,
            up.at(point.rate) + 4.0,
            shortened(&point.of.instruction, 40),
        )
        .class("name")
    });
    let marks = points.iter().map(|point| {
        let of_roof = percent(point.rate / roof(point.intensity));
        let [intensity, rate] = [scaled(point.intensity, "FLOP/B"), scaled(point.rate, "FLOP/s")];
        let title = format!("%{}: {intensity}, {rate}, {of_roof} of the roof", point.of.instruction);
        let (x, y, radius) = (across.at(point.intensity), up.at(point.rate), radius(point));
        let circle = format!(
            "M{:.1} {y:.1}a{radius:.1} {radius:.1} 0 1 0 {:.1} 0a{radius:.1} {radius:.1} 0 1 0 {:.1} 0Z",
            x - radius,
            2.0 * radius,
            -2.0 * radius
        );
        element("g").class("point").with(element("title").text(title)).with(element("path").attribute("d", circle))
    });
    let ticks = across.ticks().into_iter().map(|tick| {
        label(across.at(tick), SIZE[1] - BELOW + 16.0, scaled(tick, "")).attribute("text-anchor", "middle")
    });
    let rates = up
        .ticks()
        .into_iter()
        .map(|tick| label(LEFT - 6.0, up.at(tick) + 4.0, scaled(tick, "FLOP/s")).attribute("text-anchor", "end"));
    let frame = format!("M{LEFT} 8V{}H{}", SIZE[1] - BELOW, SIZE[0] - 8.0);
    let summary = format!(
        "Up to {} and {}, which meet at {}",
        scaled(flops, "FLOP/s"),
        scaled(bytes, "B/s"),
        scaled(ridge, "FLOP/B")
    );
    let picture = element("svg")
        .attribute("viewBox", format_args!("0 0 {} {}", SIZE[0], SIZE[1]))
        .attribute("role", "img")
        .attribute("aria-label", &summary)
        .with(element("path").class("frame").attribute("d", frame))
        .with(element("path").class("roof").attribute("d", format_args!("M{line}")))
        .with_all(ticks)
        .with(label(SIZE[0] - 8.0, SIZE[1] - 4.0, "FLOP/B").attribute("text-anchor", "end"))
        .with_all(rates)
        .with_all(marks)
        .with_all(named);
    (!points.is_empty()).then(|| {
        section("roofline", "Roofline, as measured")
            .with(hint(format_args!(
                "{summary}. Left of that, memory is the limit; right of it, arithmetic. The larger a mark, the more time the instruction took. Bytes \
                 are those of whole operands and results, so an instruction that reads parts of them is further right."
            )))
            .with(element("div").class("roofline").with(picture))
    })
}

/// The area grows with the time.
fn radius(point: &Point<'_>) -> f64 {
    3.0 + 7.0 * point.of.times.share.sqrt()
}

/// A logarithmic axis.
struct Axis {
    range: [f64; 2],
    pixels: [f64; 2],
}

impl Axis {
    const fn new(range: [f64; 2], pixels: [f64; 2]) -> Self {
        Self { range, pixels }
    }

    fn at(&self, number: f64) -> f64 {
        let ([least, most], [from, to]) = (self.range, self.pixels);
        from + (to - from) * (number / least).ln() / (most / least).ln()
    }

    /// Powers of ten, at most six.
    fn ticks(&self) -> Vec<f64> {
        let [first, last] = [self.range[0].log10().ceil() as i32, self.range[1].log10().floor() as i32];
        let apart = ((last - first) / 6 + 1).max(1) as usize;
        (first..=last).step_by(apart).map(|power| 10_f64.powi(power)).collect()
    }
}

fn label(x: f64, y: f64, text: impl std::fmt::Display) -> Element {
    element("text").attribute("x", format_args!("{x:.1}")).attribute("y", format_args!("{y:.1}")).text(text)
}

#[cfg(test)]
mod tests {
    use super::{Axis, roofline};
    use xla_shape_answers::cost::ProgramCost;
    use xla_shape_program::Program;

    #[test]
    fn distances_are_logarithmic() {
        let axis = Axis::new([0.5, 5e6], [0.0, 700.0]);
        assert!((axis.at(50.0) - 200.0).abs() < 1e-9 && axis.at(5e6) == 700.0);
        assert_eq!(axis.ticks(), [1.0, 100.0, 10_000.0, 1_000_000.0]);
    }

    #[test]
    fn a_profile_with_peaks_has_a_roofline() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles");
        let of = |name: &str| {
            let program = Program::read(name, std::fs::read(format!("{folder}/{name}")).unwrap()).unwrap();
            roofline(&ProgramCost::of(&program).unwrap().measured.unwrap()).map(crate::web::Element::html)
        };
        let html = of("v6e.xplane.pb").unwrap();
        assert!(html.contains("Up to 947 TFLOP/s and 1.64 TB/s, which meet at 578 FLOP/B"), "{html}");
        assert!(html.contains("%matmul_optimized.1: 32.1 FLOP/B, 14.2 TFLOP/s, 27.0 % of the roof"), "{html}");
        assert!(of("train.xplane.pb").is_none(), "nobody says what a CPU can do");
    }
}
