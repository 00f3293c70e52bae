//! The text of an array, part by part.

use crate::text::Text;
use crate::words::{Grouped, count, dimension_names};
use xla_shape_core::memory_space::Platform;
use xla_shape_core::validate::{AttributeEffect, LayoutAttribute};
use xla_shape_core::{ArrayShape, Dimension, ElementClass, Layout, SplitConfig, Tile, TileDimension};

pub(super) fn explain(page: &mut Text, array: &ArrayShape) {
    page.heading("The text, part by part");
    let mut rows = vec![element_type(array), dimensions(array)];
    rows.extend(order(array));
    let layout = array.layout();
    rows.extend(tiles(array));
    rows.extend(attributes(array, layout));
    page.columns(&rows);
}

fn element_type(array: &ArrayShape) -> (String, String) {
    let element_type = array.element_type();
    let mut text = format!("the type of the elements. {}", element_type.description());
    if array.element_bits() != element_type.bits() {
        let bits = array.element_bits();
        let whose = if array.layout().element_size_in_bits() > 0 { "this layout" } else { "memory" };
        text += &format!("\nAn element takes {} in {whose}.", count(bits, "bit", "bits"));
    } else if element_type.class() != ElementClass::Predicate {
        text += &format!("\nAn element takes {}.", count(array.element_bits(), "bit", "bits"));
    }
    (element_type.name().into(), text)
}

fn dimensions(array: &ArrayShape) -> (String, String) {
    let sizes = array.dimensions().iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let text = match array.num_dimensions() {
        0 => "no dimensions: a scalar, one single element".into(),
        number => {
            let names = match number {
                1 => "d0".into(),
                2 => "d0 and d1".into(),
                _ => format!("d0 to d{}", number - 1),
            };
            let mut text = format!("{}, called {names} here:", count(number as u64, "dimension", "dimensions"));
            for (size, name) in array.dimensions().iter().zip(dimension_names(array)).take(super::MAX_LIST) {
                let what = match *size {
                    Dimension::Static(size) => format!("size {}", Grouped(size)),
                    Dimension::Bounded(bound) => format!(
                        "at most {}; the program knows the size when it runs, and there is memory for all",
                        Grouped(bound)
                    ),
                    Dimension::Unbounded => "a size that is known only when the program runs, without a limit".into(),
                };
                text += &format!("\n  {name}: {what}");
            }
            if number > super::MAX_LIST {
                text += &format!("\n  … and {} more", Grouped((number - super::MAX_LIST) as u64));
            }
            text
        }
    };
    (format!("[{sizes}]"), text)
}

fn order(array: &ArrayShape) -> Option<(String, String)> {
    let names = dimension_names(array);
    let minor_to_major = array.layout().minor_to_major();
    let [most_minor, .., most_major] = minor_to_major else {
        return (minor_to_major.len() == 1).then(|| {
            (
                format!("{{0{}}}", rest(array)),
                "minor_to_major, the order in memory: one dimension has only one order".into(),
            )
        });
    };
    let numbers = minor_to_major.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let in_order = minor_to_major.iter().map(|&dimension| names[dimension].as_str()).collect::<Vec<_>>().join(", ");
    let (most_minor, most_major) = (&names[*most_minor], &names[*most_major]);
    let known_as = if array.layout().is_monotonic_with_dim0_major() {
        "\nThis is the default order, called row-major."
    } else if array.layout().is_monotonic_with_dim0_minor() {
        "\nThis order is called column-major."
    } else {
        ""
    };
    let text = format!(
        "minor_to_major, the order in memory: {in_order}.\nFrom one position to the next, {most_minor} changes first and \
         {most_major} last{}.{known_as}",
        if array.layout().tiles().is_empty() { "" } else { "; tiles change this, see below" }
    );
    Some((format!("{{{numbers}{}}}", rest(array)), text))
}

/// `:…` if there are tiles or attributes, each of which has its own row.
fn rest(array: &ArrayShape) -> &'static str {
    if array.layout().to_string().contains(':') { ":…" } else { "" }
}

fn tiles(array: &ArrayShape) -> Vec<(String, String)> {
    let tiles = array.layout().tiles();
    let mut rows = Vec::new();
    for (number, tile) in tiles.iter().enumerate().take(super::MAX_LIST) {
        let combines = tile.dimensions().contains(&TileDimension::Combine);
        let mut text = match number {
            0 => format!(
                "tile: the array is cut into blocks of {}; each block is contiguous in memory.",
                block(array, tile)
            ),
            _ => format!("and each block is cut again, into blocks of {}.", sizes(tile).join(" by ")),
        };
        if combines {
            text += "\n`*`: this dimension and the next more minor one are first combined into one long dimension.";
        }
        match tile.dimensions() {
            _ if number == 0 => text += "\nIf the array ends inside a block, the rest of the block is padding.",
            // Such as `(2,1)` after `(8,128)`: with elements of 16 bits, two rows share words of 32 bits.
            [TileDimension::Size(size), TileDimension::Size(1)] => {
                let size = Grouped(*size);
                text +=
                    &format!("\nSo {size} elements from {size} neighbouring rows of the block are next to each other.");
            }
            _ => {}
        }
        rows.push((if number == 0 { format!("T{tile}") } else { format!(" {tile}") }, text));
    }
    if tiles.len() > super::MAX_LIST {
        rows.push(("…".into(), format!("and {} more tiles", Grouped((tiles.len() - super::MAX_LIST) as u64))));
    }
    rows
}

fn sizes(tile: &Tile) -> Vec<String> {
    let sizes = tile.dimensions().iter().filter_map(|dimension| match dimension {
        TileDimension::Size(size) => Some(Grouped(*size).to_string()),
        TileDimension::Combine => None,
    });
    sizes.collect()
}

/// The sizes of the first tile, with the dimensions that they cut, unless dimensions are combined.
fn block(array: &ArrayShape, tile: &Tile) -> String {
    let sizes = sizes(tile);
    if sizes.len() < tile.dimensions().len() || sizes.len() > array.num_dimensions() {
        return sizes.join(" by ");
    }
    let names = dimension_names(array);
    let covered = array.layout().minor_to_major().iter().take(sizes.len()).rev();
    let sizes = sizes.iter().zip(covered).map(|(size, &dimension)| format!("{size} along {}", names[dimension]));
    sizes.collect::<Vec<_>>().join(" by ")
}

fn attributes(array: &ArrayShape, layout: &Layout) -> Vec<(String, String)> {
    LayoutAttribute::ALL
        .into_iter()
        .flat_map(|attribute| match layout.number(attribute) {
            Some(number) if Some(number) != attribute.default_number() => {
                let text = meaning(array, attribute, number);
                vec![(format!("{attribute}({number})"), format!("{}{text}", attribute.name()))]
            }
            Some(_) => Vec::new(),
            None if attribute == LayoutAttribute::SplitConfigs => splits(layout),
            // Tiles have a section of their own.
            None => Vec::new(),
        })
        .collect()
}

/// What the number of an attribute does, after the attribute's name.
fn meaning(array: &ArrayShape, attribute: LayoutAttribute, number: u64) -> String {
    match attribute.effect() {
        Some(AttributeEffect::End) => {
            format!(": the end is padded to a multiple of {}", count(number, "element", "elements"))
        }
        Some(AttributeEffect::ElementBits) => {
            let mut text = format!(": an element takes {}", count(number, "bit", "bits"));
            if number < 8 {
                text += ", packed, low bits of a byte first";
            }
            text + &format!("; {} has {}", array.element_type(), count(array.element_type().bits(), "bit", "bits"))
        }
        Some(AttributeEffect::Place) => {
            let space = u8::try_from(number).ok();
            let name = |platform: Platform| platform.name(space?);
            match (name(Platform::Tpu), name(Platform::Gpu)) {
                (Some(tpu), None) => format!(": the memory that holds the array; on a TPU, {number} is {tpu}"),
                (Some(tpu), Some(gpu)) => {
                    format!(": the memory that holds the array; on a TPU, {number} is {tpu}; on a GPU, {gpu}")
                }
                _ => ": the memory that holds the array; the backend defines what the number means".into(),
            }
        }
        Some(AttributeEffect::Prefix) => {
            format!(": {} before the data hold the sizes of bounded dimensions", count(number, "byte", "bytes"))
        }
        Some(AttributeEffect::Nothing) | None => String::new(),
    }
}

fn splits(layout: &Layout) -> Vec<(String, String)> {
    let row = |split: &SplitConfig| {
        let indices = split.split_indices().iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let dimension = layout.minor_to_major().iter().nth_back(split.dimension()).copied().unwrap_or_default();
        let text = format!(
            "split_configs: dimension {dimension} ({} in memory, 0 being the most major) is cut before {};\nthe pieces \
             are in different memories, and sizes here are those of the largest piece",
            split.dimension(),
            if split.split_indices().len() == 1 {
                format!("index {indices}")
            } else {
                format!("the indices {indices}")
            },
        );
        (format!("{}({}:{indices})", LayoutAttribute::SplitConfigs, split.dimension()), text)
    };
    layout.split_configs().iter().take(super::MAX_LIST).map(row).collect()
}
