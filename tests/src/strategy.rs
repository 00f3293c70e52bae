//! Random shapes for property tests: every kind of value, and layouts of any order with up to three tiles.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use xla_shape_core::validate::LayoutAttribute;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Layout, Shape, SplitConfig, Tile, TileDimension};
use xla_shape_parity::legacy::{LegacyShape, PaddingValue};

/// The most dimensions that a random array has.
pub const MAX_DIMENSIONS: usize = 8;

/// The most positions, padding included, that an array of [`small_array_shape`] spans.
pub const MAX_POSITIONS: u64 = 4096;

/// Any element type.
pub fn element_type() -> impl Strategy<Value = ElementType> + Clone {
    select(ElementType::ALL)
}

/// Any order of `num_dimensions` dimensions.
pub fn permutation(num_dimensions: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..num_dimensions).collect::<Vec<_>>()).prop_shuffle()
}

/// A tile of one to four entries; all except the last may be `*`.
pub fn tile() -> impl Strategy<Value = Tile> {
    let size = || prop_oneof![4 => 1..=4_u64, 1 => 5..=9_u64];
    let entry = prop_oneof![
        4 => size().prop_map(TileDimension::Size),
        1 => Just(TileDimension::Combine)
    ];
    (vec(entry, 0..=3), size()).prop_map(|(mut entries, last)| {
        entries.push(TileDimension::Size(last));
        Tile::new(&entries)
    })
}

/// Up to three tiles.
pub fn tiles() -> impl Strategy<Value = Vec<Tile>> {
    vec(tile(), 0..=3)
}

/// An untiled or tiled layout with any order of dimensions; other attributes have their defaults.
///
/// # Panics
/// Never.
pub fn layout(num_dimensions: usize) -> impl Strategy<Value = Layout> {
    (permutation(num_dimensions), tiles()).prop_map(|(minor_to_major, tiles)| {
        let layout = Layout::new(&minor_to_major).expect("a permutation is a valid order");
        layout.with_tiles(&tiles).expect("the tiles have entries and no `*` at the end")
    })
}

/// Static sizes of up to [`MAX_DIMENSIONS`] dimensions with few elements; sometimes none.
pub fn sizes() -> impl Strategy<Value = Vec<u64>> {
    let size = prop_oneof![1 => Just(0_u64), 8 => Just(1), 24 => 2..=5_u64, 6 => 6..=20_u64];
    vec(size, 0..=MAX_DIMENSIONS).prop_map(|mut sizes| {
        let mut elements = 1;
        for size in &mut sizes {
            if elements * *size > MAX_POSITIONS {
                *size = 1;
            }
            elements *= (*size).max(1);
        }
        sizes
    })
}

/// An array whose elements and padding can be enumerated: at most [`MAX_POSITIONS`] positions, static sizes, any order, up to three tiles, defaults
/// for other attributes.
///
/// # Panics
/// Never.
pub fn small_array_shape() -> impl Strategy<Value = ArrayShape> {
    (element_type(), sizes())
        .prop_flat_map(|(element_type, sizes)| {
            let layout = layout(sizes.len());
            (Just(element_type), Just(sizes), layout)
        })
        .prop_map(|(element_type, sizes, mut layout)| {
            let dimensions = sizes.into_iter().map(Dimension::Static).collect::<Vec<_>>();
            loop {
                let array = ArrayShape::new(element_type, &dimensions, layout.clone()).expect("the sizes are small");
                match layout.tiles() {
                    [rest @ .., _] if array.physical_elements() > Some(MAX_POSITIONS) => {
                        let rest = rest.to_vec();
                        layout = layout.with_tiles(&rest).expect("these tiles were valid before");
                    }
                    _ => return array,
                }
            }
        })
}

/// An array shape of any kind: also bounded and unbounded dimensions, splits and every other attribute of a layout.
///
/// # Panics
/// Never.
pub fn array_shape() -> impl Strategy<Value = ArrayShape> {
    let dynamic = vec(prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2)], MAX_DIMENSIONS);
    let attribute = |attribute: &LayoutAttribute| {
        let most = match attribute {
            LayoutAttribute::ElementSizeInBits => 64_u64,
            LayoutAttribute::MemorySpace => 127,
            _ => 1024,
        };
        prop_oneof![3 => Just(attribute.default_number().expect("it is a number")), 1 => 1..=most]
    };
    let attributes = LayoutAttribute::NUMBERS.iter().map(attribute).collect::<Vec<_>>();
    let splits = prop_oneof![3 => Just(vec![]), 1 => vec((0..MAX_DIMENSIONS, vec(1..=20_u64, 1..=3)), 1..=2)];
    (small_array_shape(), dynamic, attributes, splits).prop_map(|(array, dynamic, numbers, splits)| {
        let dimensions =
            array.dimensions().iter().zip(dynamic).map(|(&dimension, dynamic)| match (dimension, dynamic) {
                (Dimension::Static(size), 1) => Dimension::Bounded(size),
                (_, 2) => Dimension::Unbounded,
                _ => dimension,
            });
        let dimensions = dimensions.collect::<Vec<_>>();
        let mut attributes = LayoutAttribute::NUMBERS.iter().zip(numbers);
        let layout = attributes
            .try_fold(array.layout().clone(), |layout, (&attribute, number)| layout.with_number(attribute, number))
            .and_then(|layout| {
                let splits = fitting_splits(&dimensions, &layout, splits);
                layout.with_split_configs(&splits)
            });
        ArrayShape::new(array.element_type(), &dimensions, layout.expect("every attribute is in range"))
            .expect("the sizes are small and the splits fit")
    })
}

/// Turns arbitrary numbers into splits of an array; numbers that do not fit are left out.
fn fitting_splits(dimensions: &[Dimension], layout: &Layout, candidates: Vec<(usize, Vec<u64>)>) -> Vec<SplitConfig> {
    let mut splits: Vec<SplitConfig> = Vec::new();
    for (dimension, mut indices) in candidates {
        let size = layout.minor_to_major().iter().rev().nth(dimension).and_then(|&i| dimensions.get(i)?.extent());
        indices.retain(|&index| Some(index) < size);
        indices.sort_unstable();
        indices.dedup();
        if !indices.is_empty() && splits.iter().all(|split| split.dimension() != dimension) {
            splits.push(SplitConfig::new(dimension, &indices));
        }
    }
    splits
}

/// A shape of any kind: arrays, buffers, tokens, opaque values, and tuples of them up to four levels deep.
pub fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        6 => array_shape().prop_map(Shape::Array),
        1 => array_shape().prop_map(Shape::Buffer),
        1 => Just(Shape::Token),
        1 => Just(Shape::Opaque),
    ];
    leaf.prop_recursive(4, 24, 7, |element| {
        vec(element, 0..=7).prop_filter_map("not too deep", |elements| Shape::tuple(elements).ok())
    })
}

/// An array in a layout of 2017, with few positions.
///
/// # Panics
/// Never.
pub fn legacy_shape() -> impl Strategy<Value = LegacyShape> {
    let size = prop_oneof![1 => Just(0_u64), 3 => Just(1), 8 => 2..=5_u64];
    let dimension = (size, 0..=2_u64).prop_map(|(size, padding)| (size, size + padding));
    let value = proptest::option::of(select(&PaddingValue::ALL[..]));
    (element_type(), vec(dimension, 0..=5), any::<bool>(), value)
        .prop_flat_map(|(element_type, dimensions, padded, value)| {
            let order = permutation(dimensions.len());
            (Just(element_type), Just(dimensions), Just(padded), Just(value), order)
        })
        .prop_map(|(element_type, dimensions, padded, value, order)| {
            let (sizes, widths): (Vec<_>, Vec<_>) = dimensions.into_iter().unzip();
            let widths = if padded { widths } else { vec![] };
            LegacyShape::new(element_type, &sizes, &order, &widths, value)
                .expect("the widths are not less than the sizes")
        })
}
