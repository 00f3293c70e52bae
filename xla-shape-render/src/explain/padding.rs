//! What the array takes, how much of it is padding, and what helps.

use crate::Text;
use crate::words::{Bytes, Factor, Grouped, dimension_name};
use xla_shape_core::{ArrayShape, PaddedDimension};

/// Up to this expansion, padding is not worth a thought.
const LITTLE: f64 = 1.1;

pub(super) fn explain(page: &mut Text, array: &ArrayShape) {
    let (Some(bytes), Some(elements)) = (array.byte_size(), array.elements()) else {
        page.heading("Size");
        page.line("  Not known: a dimension is unbounded.");
        return;
    };
    sizes(page, array, bytes, elements);
    let dimensions = array.padded_dimensions().unwrap_or_default();
    let tail = tail_padding(array, &dimensions);
    if dimensions.iter().any(is_padded) || tail.is_some() {
        page.heading("Padding by dimension");
        for dimension in dimensions.iter().filter(|dimension| is_padded(dimension) || dimensions.len() <= 8) {
            page.line(format_args!("  {}", room(array, dimension)));
        }
        if let Some((tiled, physical)) = tail {
            page.line(format_args!("  the end: {} rounded up to {}", Grouped(tiled), Grouped(physical)));
        }
    }
    if array.padding_byte_size() > Some(0) {
        advice(page, array, bytes, &dimensions);
    }
}

fn is_padded(dimension: &PaddedDimension) -> bool {
    dimension.padded_size > dimension.size
}

fn sizes(page: &mut Text, array: &ArrayShape, bytes: usize, elements: usize) {
    page.heading("Size");
    let bounded = if array.is_static() { "" } else { ", where every bounded dimension is full" };
    let mut rows = vec![("elements".to_owned(), format!("{}{bounded}", Grouped(elements)))];
    let stored = array.max_elements_in_per_split().unwrap_or(elements);
    if stored != elements {
        rows.push(("in the largest piece".into(), Grouped(stored).to_string()));
    }
    let physical = array.physical_elements().unwrap_or(elements);
    if physical != stored {
        rows.push(("with padding".into(), Grouped(physical).to_string()));
    }
    rows.push(("memory".into(), Bytes(bytes).to_string()));
    let prefix = array.layout().dynamic_shape_metadata_prefix_bytes();
    if prefix > 0 {
        rows.push(("of which prefix".into(), Bytes(prefix).to_string()));
    }
    let padding = match (array.padding_byte_size(), array.expansion()) {
        (Some(padding), Some(expansion)) if padding > 0 => format!(
            "{}, {} of the memory; {} what the elements alone would take",
            Bytes(padding),
            percent(padding, bytes),
            Factor(expansion)
        ),
        _ => "none".into(),
    };
    rows.push(("padding".into(), padding));
    page.columns(&rows);
}

fn percent(part: usize, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole as f64;
    let decimals = usize::from(!(1.0..=99.0).contains(&percent)) * 2;
    format!("{percent:.decimals$} %")
}

fn name(array: &ArrayShape, dimension: &PaddedDimension) -> String {
    let name = |&dimension: &usize| match dimension_name(dimension, array.num_dimensions()) {
        name if name.starts_with('d') => format!("dimension {dimension}"),
        name => format!("dimension {dimension} ({name})"),
    };
    match dimension.dimensions.as_slice() {
        [] => "no dimension".into(),
        [one] => name(one),
        several => format!("{}, combined", several.iter().map(name).collect::<Vec<_>>().join(", ")),
    }
}

fn room(array: &ArrayShape, dimension: &PaddedDimension) -> String {
    let name = name(array, dimension);
    let (size, padded) = (Grouped(dimension.size), Grouped(dimension.padded_size));
    if !is_padded(dimension) {
        return format!("{name}: {size}, no padding");
    }
    let factor = Factor(dimension.padded_size as f64 / dimension.size as f64);
    if dimension.dimensions.is_empty() {
        return format!("the tile has more dimensions than the array: room for {padded} where 1 is used, {factor}");
    }
    format!("{name}: {size} takes the room of {padded}, {factor}")
}

fn advice(page: &mut Text, array: &ArrayShape, bytes: usize, dimensions: &[PaddedDimension]) {
    page.heading("What to do about the padding");
    let expansion = array.expansion().unwrap_or(1.0);
    if expansion <= LITTLE {
        page.line("  Nothing: so little is not worth changing anything.");
        return;
    }
    if let Some(better) = array.smallest_order().filter(|better| better.byte_size() < Some(bytes)) {
        let smaller = better.byte_size().unwrap_or(bytes);
        page.line(format_args!("  Another order in memory takes {}:", Bytes(smaller)));
        page.uncut(format_args!("    {better}"));
        page.line(
            "  A compiler chooses the order for the operations around the array: transpose the array, or change what \
             uses it, so that the short dimensions are not the ones that the tile covers.",
        );
    }
    let mut worst = dimensions.iter().filter(|dimension| is_padded(dimension)).collect::<Vec<_>>();
    worst.sort_by_key(|dimension| std::cmp::Reverse(dimension.padded_size / dimension.size.max(1)));
    for dimension in worst.iter().take(3) {
        let name = name(array, dimension);
        let free = match dimension.dimensions.as_slice() {
            [] => {
                page.line("  Stack many such arrays into one: the tile has more dimensions than this one.");
                continue;
            }
            [one] => array.largest_free_size(*one).unwrap_or(dimension.size),
            _ => dimension.size,
        };
        let mut advice = Vec::new();
        if dimension.size == 1 {
            advice.push("remove it by a reshape, or merge it with a long dimension".into());
        } else if dimension.padded_size >= 2 * dimension.size {
            advice.push("too short for the tile; merge it with a neighbour by a reshape".into());
        }
        if free > dimension.size {
            advice.push(format!("up to size {} it takes no more memory", Grouped(free)));
        }
        if advice.is_empty() {
            advice.push("the tiles leave gaps inside each block; another tile would not".into());
        }
        page.line(format_args!("  {}: {}.", capitalized(&name), advice.join("; ")));
    }
    if tail_padding(array, dimensions).is_some() {
        page.line("  The end: fewer and larger arrays have fewer ends to round up.");
    }
}

/// The positions up to which the tiles go, and those that the tail padding alignment makes of them, if it makes more.
fn tail_padding(array: &ArrayShape, dimensions: &[PaddedDimension]) -> Option<(usize, usize)> {
    let tiled = dimensions.iter().fold(1_usize, |product, dimension| product.saturating_mul(dimension.padded_size));
    let physical = array.physical_elements()?;
    (physical > tiled).then_some((tiled, physical))
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
