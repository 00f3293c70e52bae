//! How much memory the array takes, how much of it is padding, and what helps.

use crate::text::Text;
use crate::words::{Bytes, Factor, Grouped, dimension_name};
use xla_shape_core::{ArrayShape, PaddedDimension};

/// Up to this expansion, no advice about padding is given.
const LITTLE: f64 = 1.1;

pub(super) fn explain(page: &mut Text, array: &ArrayShape) {
    let (Some(bytes), Some(elements)) = (array.byte_size(), array.elements()) else {
        page.heading("Size");
        page.paragraph("  Not known: a dimension is unbounded.");
        return;
    };
    sizes(page, array, bytes, elements);
    let dimensions = array.padded_dimensions().unwrap_or_default();
    let tail = tail_padding(array, &dimensions);
    if dimensions.iter().any(is_padded) || tail.is_some() {
        page.heading("Padding by dimension");
        for dimension in dimensions.iter().filter(|dimension| is_padded(dimension) || dimensions.len() <= 8) {
            page.paragraph(format_args!("  {}", room(dimension)));
        }
        if let Some((tiled, physical)) = tail {
            page.paragraph(format_args!("  the end: {} padded to {} positions", Grouped(tiled), Grouped(physical)));
        }
    }
    if array.padding_byte_size() > Some(0) {
        advice(page, array, bytes, &dimensions);
    }
}

fn is_padded(dimension: &PaddedDimension) -> bool {
    dimension.padded_size > dimension.size
}

fn sizes(page: &mut Text, array: &ArrayShape, bytes: u64, elements: u64) {
    page.heading("Size");
    let bounded = if array.is_static() { "" } else { ", with every bounded dimension at its bound" };
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
            "{}, {} of the memory; {} what the elements need",
            Bytes(padding),
            percent(padding, bytes),
            Factor(expansion)
        ),
        _ => "none".into(),
    };
    rows.push(("padding".into(), padding));
    page.columns(&rows);
}

fn percent(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole as f64;
    let decimals = usize::from(!(1.0..=99.0).contains(&percent)) * 2;
    format!("{percent:.decimals$} %")
}

/// `d1`, or `d0, d1 combined`; empty if the tile has more dimensions than the array.
fn name(dimension: &PaddedDimension) -> String {
    let names = dimension.dimensions.iter().copied().map(dimension_name).collect::<Vec<_>>().join(", ");
    if dimension.dimensions.len() > 1 { format!("{names} combined") } else { names }
}

/// The first line: the bytes of the array, how much of it is padding, and why.
pub(super) fn summary(array: &ArrayShape) -> String {
    let Some(bytes) = array.byte_size() else {
        let unbounded = array.dimensions().iter().position(|dimension| dimension.extent().is_none());
        return format!("The size is not known: {} is unbounded.", dimension_name(unbounded.unwrap_or_default()));
    };
    let expansion = array.expansion().unwrap_or(1.0);
    if array.padding_byte_size().unwrap_or(0) == 0 {
        return format!("{}, no padding.", Bytes(bytes));
    }
    let dimensions = array.padded_dimensions().unwrap_or_default();
    let mut worst = dimensions.iter().filter(|dimension| is_padded(dimension)).collect::<Vec<_>>();
    worst.sort_by_key(|dimension| std::cmp::Reverse(dimension.padded_size / dimension.size.max(1)));
    let mut causes = Vec::new();
    for dimension in worst.iter().take(2) {
        let (size, padded) = (Grouped(dimension.size), Grouped(dimension.padded_size));
        causes.push(match dimension.dimensions.as_slice() {
            [] => "the tile has more dimensions than the array".into(),
            _ => format!("{} is padded from {size} to {padded}", name(dimension)),
        });
    }
    if causes.is_empty() {
        causes.extend(tail_padding(array, &dimensions).map(|(tiled, physical)| {
            format!("the end is padded from {} to {} positions", Grouped(tiled), Grouped(physical))
        }));
    }
    let because = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", and ")) };
    format!("{}, {} what the elements need{because}.", Bytes(bytes), Factor(expansion))
}

fn room(dimension: &PaddedDimension) -> String {
    let name = name(dimension);
    let (size, padded) = (Grouped(dimension.size), Grouped(dimension.padded_size));
    if !is_padded(dimension) {
        return format!("{name}: {size}, no padding");
    }
    let factor = Factor(dimension.padded_size as f64 / dimension.size as f64);
    if dimension.dimensions.is_empty() {
        return format!("the tile has more dimensions than the array: 1 padded to {padded}, {factor}");
    }
    format!("{name}: {size} padded to {padded}, {factor}")
}

fn advice(page: &mut Text, array: &ArrayShape, bytes: u64, dimensions: &[PaddedDimension]) {
    page.heading("What to do about the padding");
    let expansion = array.expansion().unwrap_or(1.0);
    if expansion <= LITTLE {
        page.paragraph("  Nothing: it is too little to matter.");
        return;
    }
    if let Some(better) = array.smallest_order().filter(|better| better.byte_size() < Some(bytes)) {
        let smaller = better.byte_size().unwrap_or(bytes);
        page.paragraph(format_args!("  Another order in memory takes {}:", Bytes(smaller)));
        page.verbatim(format_args!("    {better}"));
        page.paragraph(
            "  XLA chooses the order for the operations that use the array. Transpose the array, or change those operations, \
             so that the tile does not cover the short dimensions.",
        );
    }
    let mut worst = dimensions.iter().filter(|dimension| is_padded(dimension)).collect::<Vec<_>>();
    worst.sort_by_key(|dimension| std::cmp::Reverse(dimension.padded_size / dimension.size.max(1)));
    for dimension in worst.iter().take(3) {
        let name = name(dimension);
        let free = match dimension.dimensions.as_slice() {
            [] => {
                page.paragraph("  Stack many such arrays into one: the tile has more dimensions than this array.");
                continue;
            }
            [one] => array.largest_free_size(*one).unwrap_or(dimension.size),
            _ => dimension.size,
        };
        let mut advice = Vec::new();
        if dimension.size == 1 {
            advice.push("remove it with a reshape, or merge it with a long dimension".into());
        } else if dimension.padded_size >= 2 * dimension.size {
            advice.push("too short for the tile; merge it with a neighbour in a reshape".into());
        }
        if free > dimension.size {
            advice.push(format!("any size up to {} takes the same memory", Grouped(free)));
        }
        if advice.is_empty() {
            advice.push("the inner tiles leave gaps in each block; other tiles would not".into());
        }
        page.paragraph(format_args!("  {name}: {}.", advice.join("; ")));
    }
    if tail_padding(array, dimensions).is_some() {
        page.paragraph("  The end: fewer and larger arrays have less padding at their ends.");
    }
}

/// The number of positions with tiles, and with the tail padding alignment, if that adds some.
fn tail_padding(array: &ArrayShape, dimensions: &[PaddedDimension]) -> Option<(u64, u64)> {
    let tiled = dimensions.iter().fold(1_u64, |product, dimension| product.saturating_mul(dimension.padded_size));
    let physical = array.physical_elements()?;
    (physical > tiled).then_some((tiled, physical))
}
