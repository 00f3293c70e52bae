//! How two shapes differ: types, sizes, layouts, bytes, and whether one can be read as the other.

use crate::compare::{Comparison, Difference};
use crate::numbers::{InUnits, count, dimension_name, space_name};
use xla_shape_core::memory_space::Platform;
use xla_shape_core::shard::Sharding;
use xla_shape_core::{ArrayShape, Shape, Tile};

/// A shape with its bytes: `f32[8,3]{1,0:T(8,128)} (4 KiB, d1 3 padded to 128)`.
pub(super) fn with_size(shape: &Shape) -> String {
    let Some(bytes) = shape.byte_size() else { return shape.to_string() };
    let padded = shape.array().and_then(ArrayShape::padded_dimensions).unwrap_or_default();
    let padded = padded.iter().filter(|padded| padded.size != padded.padded_size && !padded.dimensions.is_empty());
    let padded = padded.map(|padded| {
        let names = padded.dimensions.iter().map(|&dimension| dimension_name(dimension)).collect::<Vec<_>>();
        format!(", {} {} padded to {}", names.join("*"), padded.size, padded.padded_size)
    });
    format!("{shape} ({}{})", InUnits(bytes), padded.collect::<String>())
}

/// Sentences about how two shapes differ.
pub(super) fn differences(first: &Shape, second: &Shape) -> Vec<String> {
    match (first.array(), second.array()) {
        (Some(first), Some(second)) => arrays(first, second),
        _ => match (first.tuple_shapes(), second.tuple_shapes()) {
            (Some(first), Some(second)) => elements(first, second),
            _ => vec!["They are not both arrays.".to_owned()],
        },
    }
}

/// Sentences about how the elements of two tuples differ.
fn elements(first: &[Shape], second: &[Shape]) -> Vec<String> {
    /// Sentences describe at most this many elements.
    const MOST: usize = 4;
    if first.len() != second.len() {
        return vec![format!("They have {} and {}.", count(first.len() as u64, "element", "elements"), second.len())];
    }
    let pairs = first.iter().zip(second).enumerate().filter(|(_, (first, second))| first != second);
    let mut found = Vec::new();
    for (number, (first, second)) in pairs.clone().take(MOST) {
        // Nested tuples are named, but their elements are not compared.
        let inside = match (first.array(), second.array()) {
            (Some(first), Some(second)) => arrays(first, second).join(" "),
            _ => String::new(),
        };
        found.push(format!("Element {number}: {first} and {second}. {inside}").trim_end().to_owned());
    }
    let more = pairs.count().saturating_sub(MOST);
    found.extend((more > 0).then(|| format!("{more} more differ.")));
    found
}

/// Sentences about what each device has with either of two shardings.
pub(super) fn sharding_difference(shapes: [&Shape; 2], shardings: &[Sharding; 2]) -> String {
    let mut parts = shapes.into_iter().zip(shardings).map(|(shape, sharding)| {
        let partition = shape.array().and_then(|array| sharding.partition(array).ok());
        match partition {
            Some(partition) => format!("{} with {sharding}", with_size(&Shape::Array(partition.shard().clone()))),
            None => format!("an unknown part with {sharding}"),
        }
    });
    let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("Other shardings: each device has {first}, and {second}.")
}

fn arrays(first: &ArrayShape, second: &ArrayShape) -> Vec<String> {
    let all = Difference::between(first, second);
    let mut found: Vec<String> = all.iter().filter_map(|difference| sentence(*difference, first, second)).collect();
    // Compare bytes only if the element types are the same.
    if first.same_element_type(second)
        && let Ok(comparison) = Comparison::new(first, second, None)
    {
        let reason = &comparison.reason;
        if comparison.bitcast && comparison.spaces.is_some() {
            found.push("The bytes are in the same order; a copy moves them to the other memory.".to_owned());
        } else if comparison.bitcast {
            found.push(format!("The bytes are the same: {reason}."));
        } else if comparison.same_bytes || first.same_dimensions(second) {
            found.push(format!("The bytes are not the same: {reason}."));
        }
    }
    found
}

fn sentence(difference: Difference, first: &ArrayShape, second: &ArrayShape) -> Option<String> {
    let (layout, other) = (first.layout(), second.layout());
    Some(match difference {
        Difference::ElementType => {
            format!("Another element type: {} and {}.", first.element_type(), second.element_type())
        }
        Difference::Dimensions if first.num_dimensions() != second.num_dimensions() => {
            format!("Another number of dimensions: {} and {}.", first.num_dimensions(), second.num_dimensions())
        }
        Difference::Dimensions => {
            let sizes = first.dimensions().iter().zip(second.dimensions()).enumerate();
            let sizes = sizes.filter(|(_, (a, b))| a != b);
            let sizes = sizes.map(|(place, (a, b))| format!("{} is {a} and {b}", dimension_name(place)));
            format!("Other sizes: {}.", sizes.collect::<Vec<_>>().join(", "))
        }
        Difference::MinorToMajor => return orders(first, second),
        Difference::Tiles => format!("Other tiles: {} and {}.", tiles(layout.tiles()), tiles(other.tiles())),
        Difference::ElementBits => {
            format!("An element takes {} and {} bits.", first.element_bits(), second.element_bits())
        }
        Difference::MemorySpace => format!(
            "Another memory: {} and {}.",
            space_name(layout.memory_space(), Platform::Tpu),
            space_name(other.memory_space(), Platform::Tpu)
        ),
        Difference::Attributes => "Other attributes of the layout.".to_owned(),
    })
}

fn tiles(tiles: &[Tile]) -> String {
    match tiles {
        [] => "none".to_owned(),
        tiles => format!("T{}", tiles.iter().map(ToString::to_string).collect::<String>()),
    }
}

/// The dimensions whose place in the order of memory differs.
fn orders(first: &ArrayShape, second: &ArrayShape) -> Option<String> {
    let order = |array: &ArrayShape| array.layout().minor_to_major().iter().rev().copied().collect::<Vec<_>>();
    let (first, second) = (order(first), order(second));
    let moved = first.iter().zip(&second).filter(|(a, b)| a != b).map(|(a, _)| dimension_name(*a)).collect::<Vec<_>>();
    let text = |order: &[usize]| order.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    (!moved.is_empty()).then(|| {
        format!("Another order of {}: major to minor ({}) and ({}).", moved.join(" and "), text(&first), text(&second))
    })
}
