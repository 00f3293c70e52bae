//! How much memory the array takes, how much of it is padding, and what helps.

use crate::text::Text;
use crate::words::{Bytes, Factor, Grouped, dimension_name};
use xla_shape_answers::explain::{Padding, PaddingCause, PaddingRemedy, dimension_named};
use xla_shape_core::{ArrayShape, PaddedDimension};

pub(super) fn explain(page: &mut Text, array: &ArrayShape) {
    let (Some(bytes), Some(elements)) = (array.byte_size(), array.elements()) else {
        page.heading("Size");
        page.paragraph("  Not known: a dimension is unbounded.");
        return;
    };
    sizes(page, array, bytes, elements);
    let Padding { dimensions, tail, remedies, .. } = Padding::new(array);
    if dimensions.iter().any(is_padded) || tail.is_some() {
        page.heading("Padding by dimension");
        for dimension in dimensions.iter().filter(|dimension| is_padded(dimension) || dimensions.len() <= 8) {
            page.paragraph(format_args!("  {}", room(dimension)));
        }
        if let Some((tiled, physical)) = tail {
            page.paragraph(format_args!("  the end: {} padded to {} positions", Grouped(tiled), Grouped(physical)));
        }
    }
    if !remedies.is_empty() {
        page.heading("What to do about the padding");
        remedies.iter().for_each(|remedy| advise(page, remedy));
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
    let cause = |cause: &PaddingCause| match cause {
        PaddingCause::Dimension(dimension) => {
            let (size, padded) = (Grouped(dimension.size), Grouped(dimension.padded_size));
            format!("{} is padded from {size} to {padded}", dimension_named(dimension))
        }
        PaddingCause::End { tiled, physical } => {
            format!("the end is padded from {} to {} positions", Grouped(*tiled), Grouped(*physical))
        }
        PaddingCause::TileRank => "the tile has more dimensions than the array".to_owned(),
    };
    let causes = Padding::new(array).causes.iter().map(cause).collect::<Vec<_>>();
    let because = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", and ")) };
    format!("{}, {} what the elements need{because}.", Bytes(bytes), Factor(expansion))
}

fn room(dimension: &PaddedDimension) -> String {
    let name = dimension_named(dimension);
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

fn advise(page: &mut Text, remedy: &PaddingRemedy) {
    match remedy {
        PaddingRemedy::Order(better) => {
            page.paragraph(format_args!(
                "  Another order in memory takes {}:",
                Bytes(better.byte_size().unwrap_or_default())
            ));
            page.verbatim(format_args!("    {better}"));
            page.paragraph(
                "  XLA chooses the order for the operations that use the array. Transpose the array, or change those \
                 operations, so that the tile does not cover the short dimensions.",
            );
        }
        PaddingRemedy::FewerArrays => page.paragraph(format_args!("  The end: {remedy}.")),
        PaddingRemedy::Nothing => page.paragraph("  Nothing: it is too little to matter."),
        _ => page.paragraph(format_args!("  {remedy}.")),
    }
}
