//! Drawings of where the elements of an array are, by index and by position in memory, on devices, or in registers.

mod axis;
mod devices;
mod grid;
mod html;
mod registers;
mod svg;

use crate::{Html, Show, Svg, Text};
pub use devices::coloured;
pub(crate) use registers::in_page;
pub(crate) use svg::fills;
use xla_shape_answers::draw::{Drawing, Drawn};

impl Show for Drawing {
    /// Box characters, with lines between tiles; `░` is padding, and `…` is what is left out.
    fn text(&self, width: usize) -> Text {
        let mut text = Text::new(width);
        text.verbatim(grid::fitting(self, width).trim_end());
        text
    }
}

impl Svg for Drawing {
    /// The picture: as much of the array as fits into a small page.
    ///
    /// ```
    /// use xla_shape_answers::draw::Drawing;
    /// use xla_shape_render::Svg;
    ///
    /// assert!(Drawing::new(&"u8[3]{0:T(2)}".parse()?)?.svg().starts_with("<svg"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn svg(&self) -> String {
        svg::draw(&self.picture)
    }
}

impl Html for Drawing {
    /// A page with the picture, which shows index and position of the selected element. It has no external resources.
    ///
    /// ```
    /// use xla_shape_answers::draw::Drawing;
    /// use xla_shape_render::Html;
    ///
    /// assert!(Drawing::new(&"u8[3]{0:T(2)}".parse()?)?.html().starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn html(&self) -> String {
        html::page(&self.picture)
    }
}

impl Show for Drawn {
    fn text(&self, width: usize) -> Text {
        match self {
            Self::Elements(drawing) => drawing.text(width),
            Self::Devices(drawing) => drawing.text(width),
            Self::Registers(drawing) => drawing.text(width),
        }
    }
}

impl Svg for Drawn {
    fn svg(&self) -> String {
        match self {
            Self::Elements(drawing) => drawing.svg(),
            Self::Devices(drawing) => drawing.svg(),
            Self::Registers(drawing) => drawing.svg(),
        }
    }
}

impl Html for Drawn {
    fn html(&self) -> String {
        match self {
            Self::Elements(drawing) => drawing.html(),
            Self::Devices(drawing) => drawing.html(),
            Self::Registers(drawing) => drawing.html(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::svg;
    use crate::Html;
    use xla_shape_answers::draw::{Drawing, Place, Plane};

    /// The most bytes of a page about an array.
    const MAX_PAGE: usize = 300_000;

    #[test]
    fn pages_of_arrays_with_long_names_and_indices_are_small() {
        let sizes = |number: usize, size: &str| vec![size; number].join(",");
        for text in [
            format!("u8[{}]", sizes(12, "37")),
            format!("s4[{}]{{11,10,9,8,7,6,5,4,3,2,1,0:T(3,5)(2,2)E(4)}}", sizes(12, "10")),
            format!("u8[{}]", sizes(300, "1")),
            format!("u8[{}]", sizes(3_000, "1")),
            format!("u8[{},2,2,2,2,2,2,2,2,2]", sizes(3_000, "1")),
            format!("u8[30,30]{{1,0:T{}}}", "(1,1)".repeat(3_000)),
            "pred[9223372036854775807]".into(),
            "f32[1000000000,1,1]".into(),
        ] {
            let array = text.parse().unwrap();
            let drawing = Drawing::new(&array).unwrap();
            let page = drawing.html();
            assert!(page.len() <= MAX_PAGE, "{text:.40}: {} bytes", page.len());
            assert!(drawing.picture.runs.iter().flatten().any(|cell| cell.index.is_some()), "{text:.40}");
        }
    }

    #[test]
    fn neighbouring_tiles_have_different_colours() {
        let array = "u8[4,6,30]{2,1,0:T(2,3,4)}".parse().unwrap();
        let picture = Drawing::new(&array).unwrap().part(30, 30, 1000);
        let plane = |plane: &Plane| -> Vec<Vec<_>> {
            let row = |cells: &Vec<Option<Place>>| {
                cells.iter().flatten().filter(|cell| cell.index.is_some()).cloned().collect()
            };
            plane.cells.iter().map(row).collect()
        };
        let planes = picture.planes.iter().map(plane).collect::<Vec<_>>();
        let check = |a: &Place, b: &Place| assert_eq!(a.tile == b.tile, svg::colour(a) == svg::colour(b));
        for (number, plane) in planes.iter().enumerate() {
            for (row, cells) in plane.iter().enumerate() {
                cells.windows(2).for_each(|pair| check(&pair[0], &pair[1]));
                if row > 0 {
                    plane[row - 1].iter().zip(cells).for_each(|(above, cell)| check(above, cell));
                }
                if number > 0 {
                    planes[number - 1][row].iter().zip(cells).for_each(|(before, cell)| check(before, cell));
                }
            }
        }
    }
}
