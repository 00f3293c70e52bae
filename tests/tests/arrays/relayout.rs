//! Compares relayout with its definition: each element is copied from its position in one layout to its position in the other, and nothing else
//! changes.

use proptest::prelude::*;
use proptest::sample::select;
use std::iter::once;
use std::ops::Range;
use xla_shape::relayout::{Options, Padding, Plan, RelayoutError, Side, Slabs, Stores, Vectors};
use xla_shape::{ArrayShape, Dimension, ElementType, Layout, Slot};
use xla_shape_tests::{is_thorough, strategy};

/// The instruction sets that machines may have, the best first.
const VECTORS: [Vectors; 4] = [Vectors::Avx512, Vectors::Avx2, Vectors::Sse2, Vectors::None];

/// The number of bytes before and after every buffer that must not change.
const GUARD: usize = 64;

/// A buffer in the middle of a larger one, at any alignment.
struct Guarded {
    bytes: Vec<u8>,
    range: Range<usize>,
}

impl Guarded {
    fn new(len: usize, shift: usize, mut content: impl FnMut(usize) -> u8) -> Self {
        let start = GUARD + shift;
        Self { bytes: (0..start + len + GUARD).map(&mut content).collect(), range: start..start + len }
    }

    fn data(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }

    fn data_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.range.clone()]
    }
}

fn bit(bytes: &[u8], number: usize) -> bool {
    bytes[number / 8] >> (number % 8) & 1 == 1
}

fn set_bit(bytes: &mut [u8], number: usize, value: bool) {
    bytes[number / 8] = bytes[number / 8] & !(1 << (number % 8)) | u8::from(value) << (number % 8);
}

/// The definition of relayout: writes the result bit by bit.
fn by_definition(
    from: &ArrayShape,
    to: &ArrayShape,
    permutation: &[usize],
    padding: &Padding,
    source: &[u8],
    destination: &mut [u8],
) {
    let (from_bits, to_bits) = (from.element_bits() as usize, to.element_bits() as usize);
    let value_bits = if from_bits == to_bits { from_bits } else { from.element_type().bits() as usize };
    let (from_table, to_table) = (from.stride_table().unwrap(), to.stride_table().unwrap());
    let from_start = 8 * from.layout().dynamic_shape_metadata_prefix_bytes() as usize;
    let to_start = 8 * to.layout().dynamic_shape_metadata_prefix_bytes() as usize;
    let fill = match padding {
        Padding::Keep => None,
        Padding::Zero => Some(vec![0; to_bits.div_ceil(8)]),
        Padding::Fill(element) => Some(element.clone()),
    };
    for position in 0..to.physical_elements().unwrap() {
        let start = to_start + position as usize * to_bits;
        match (to_table.as_ref().multi_index(position), &fill) {
            (Slot::Element(to_index), _) => {
                let mut index = vec![0; to_index.len()];
                for (&dimension, entry) in permutation.iter().zip(to_index) {
                    index[dimension] = entry;
                }
                let place = from_start + from_table.as_ref().linear_index(&index) as usize * from_bits;
                if from_bits == to_bits && to_bits % 8 == 0 {
                    destination[start / 8..][..to_bits / 8].copy_from_slice(&source[place / 8..][..to_bits / 8]);
                    continue;
                }
                for i in 0..to_bits {
                    set_bit(destination, start + i, i < value_bits && bit(source, place + i));
                }
            }
            (_, Some(element)) => (0..to_bits).for_each(|i| set_bit(destination, start + i, bit(element, i))),
            (_, None) => {}
        }
    }
    if fill.is_some() {
        let end = to_start + to.physical_elements().unwrap() as usize * to_bits;
        (end..8 * destination.len()).for_each(|number| set_bit(destination, number, false));
    }
}

/// Runs the plan and compares every byte, including those around the destination.
fn check(
    from: &ArrayShape,
    to: &ArrayShape,
    permutation: &[usize],
    padding: Padding,
    shifts: (usize, usize),
    vectors: Vectors,
) -> Result<(), TestCaseError> {
    let options = Options::new().padding(padding.clone()).transposed(permutation).vectors(vectors);
    let scrambled = |i: usize| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8;
    let source = Guarded::new(from.byte_size().unwrap() as usize, shifts.0, scrambled);
    let mut expected = Guarded::new(to.byte_size().unwrap() as usize, shifts.1, |i| !scrambled(i + 17));
    let before = expected.bytes.clone();
    by_definition(from, to, permutation, &padding, source.data(), expected.data_mut());
    // The result in new memory is the same as in zeroed memory. If every byte is written, that is the same as in any memory.
    let expected_new = if padding != Padding::Keep && to.layout().dynamic_shape_metadata_prefix_bytes() == 0 {
        expected.data().to_vec()
    } else {
        let mut zeroed = vec![0; to.byte_size().unwrap() as usize];
        by_definition(from, to, permutation, &padding, source.data(), &mut zeroed);
        zeroed
    };
    for stores in [Stores::Regular, Stores::Streaming] {
        let plan = Plan::new(from, to, &options.clone().stores(stores)).unwrap();
        for run in [Plan::run, Plan::run_in_parallel] {
            let mut found = Guarded { bytes: before.clone(), range: expected.range.clone() };
            run(&plan, source.data(), found.data_mut()).unwrap();
            // There are too many bytes to print, so this does not use `prop_assert_eq!`.
            prop_assert!(found.bytes == expected.bytes, "{}", plan);
        }
        let new = plan.run_new(source.data(), |_| {}).unwrap();
        prop_assert!(new.as_ref() == expected_new, "{}", plan);
    }
    Ok(())
}

/// The same array in another layout, with its dimensions permuted.
fn transposed(from: &ArrayShape, permutation: &[usize], layout: Layout) -> ArrayShape {
    let dimensions = permutation.iter().map(|&dimension| from.dimensions()[dimension]).collect::<Vec<_>>();
    ArrayShape::new(from.element_type(), &dimensions, layout).unwrap()
}

/// The layout, without its first tiles as long as they make the array too large to enumerate.
fn moderate(array: &ArrayShape, mut layout: Layout) -> Layout {
    while array.clone().with_layout(layout.clone()).unwrap().physical_elements() > Some(4 * strategy::MAX_POSITIONS) {
        let tiles = layout.tiles().to_vec();
        layout = layout.with_tiles(&tiles[1..]).unwrap();
    }
    layout
}

/// A pair of element sizes in bits, for the source and the destination. 0 means the usual size of the type.
fn element_bits(element_type: ElementType) -> impl Strategy<Value = (u64, u64)> {
    let bits = element_type.bits();
    let choices = match bits {
        1..8 => vec![(0, 0), (0, bits), (bits, 0), (bits, bits), (bits, 8), (7, 8), (7, 7)],
        _ => vec![(0, 0), (0, 0), (0, 0), (24, 24), (12, 12), (136, 136)],
    };
    select(choices)
}

/// Runs the slabs one by one, and returns their number.
fn slabs(from: &ArrayShape, to: &ArrayShape, permutation: &[usize], bytes: usize) -> Result<usize, TestCaseError> {
    let options = Options::new().zero_padding().transposed(permutation);
    let source = (0..from.byte_size().unwrap()).map(|i| (i * 7 + i / 256) as u8).collect::<Vec<_>>();
    let mut whole = vec![0; to.byte_size().unwrap() as usize];
    Plan::new(from, to, &options).unwrap().run(&source, &mut whole).unwrap();
    let in_order = Slabs::new(from, to, &options, bytes).unwrap();
    let count = in_order.clone().count();
    let in_any_order = [1, 2, 4, 8].map(|times| in_order.in_any_order(bytes * times, bytes));
    for (is_in_order, slabs) in once((true, in_order)).chain(in_any_order.map(|slabs| (false, slabs))) {
        let mut made = vec![None; whole.len()];
        let mut end = 0;
        for slab in slabs {
            let gathered = slab.source().flat_map(|piece| source[piece].to_vec()).collect::<Vec<_>>();
            let mut part = vec![0; slab.shapes().1.byte_size().unwrap() as usize];
            slab.plan().unwrap().run(&gathered, &mut part).unwrap();
            prop_assert_eq!(slab.destination().map(|piece| piece.len()).sum::<usize>(), part.len());
            if is_in_order {
                prop_assert_eq!(slab.destination().len(), 1);
                prop_assert_eq!(slab.destination().next(), Some(end..end + part.len()));
                end += part.len();
            }
            for (place, byte) in slab.destination().flatten().zip(part) {
                prop_assert!(made[place].replace(byte).is_none(), "byte {place} is made twice");
            }
        }
        let made = made.into_iter().collect::<Option<Vec<_>>>();
        prop_assert!(made.as_ref() == Some(&whole), "{from} to {to} by {permutation:?}, {is_in_order}");
    }
    Ok(count)
}

#[test]
fn slabs_are_as_small_as_was_asked() {
    for (from, to, permutation, count) in [
        ("f32[100,64]{1,0}", "f32[100,64]{0,1}", [0, 1], 16),
        ("f32[100,64]{1,0}", "f32[100,64]{1,0:T(8,32)}", [0, 1], 26),
        ("f32[100,64]{1,0:T(8,32)}", "f32[100,64]{1,0}", [0, 1], 13),
        ("f32[100,64]{1,0}", "f32[64,100]{1,0:T(8,50)}", [1, 0], 16),
        ("f32[2,4096]{1,0}", "f32[2,4096]{1,0}", [0, 1], 22),
        // One tile covers the whole array.
        ("f32[8,128]{1,0}", "f32[8,128]{1,0:T(8,128)}", [0, 1], 1),
        // Rows have 12 bits, so they do not end at a byte.
        ("u4[100,3]{1,0:E(4)}", "u4[100,3]{1,0:E(4)}", [0, 1], 1),
    ] {
        let found = slabs(&from.parse().unwrap(), &to.parse().unwrap(), &permutation, 1600);
        assert_eq!(found.unwrap(), count, "{from} to {to}");
    }
}

type Pair = (ArrayShape, ArrayShape, Vec<usize>);

fn pair() -> impl Strategy<Value = Pair> {
    strategy::small_array_shape()
        .prop_flat_map(|from| {
            let n = from.num_dimensions();
            let bits = element_bits(from.element_type());
            let attributes = (1..=5_u64, 0..=9_u64, 0..=9_u64);
            (Just(from), strategy::permutation(n), any::<bool>(), strategy::layout(n), bits, attributes)
        })
        .prop_map(|(from, permutation, transpose, layout, bits, (alignment, from_prefix, to_prefix))| {
            let identity = (0..from.num_dimensions()).collect::<Vec<_>>();
            let permutation = if transpose { permutation } else { identity };
            let from_layout = from.layout().clone().with_element_size_in_bits(bits.0).unwrap();
            let from_layout = from_layout.with_dynamic_shape_metadata_prefix_bytes(from_prefix).unwrap();
            let from = from.with_layout(from_layout).unwrap();
            let plain = transposed(&from, &permutation, Layout::descending(permutation.len()));
            let layout = moderate(&plain, layout).with_element_size_in_bits(bits.1).unwrap();
            let layout = layout.with_tail_padding_alignment_in_elements(alignment).unwrap();
            let layout = layout.with_dynamic_shape_metadata_prefix_bytes(to_prefix).unwrap();
            let to = transposed(&from, &permutation, layout);
            (from, to, permutation)
        })
}

/// Element types, and the tiles that TPUs use for them.
const TILED: [(&str, &[&str]); 5] = [
    ("u8", &["T(8,128)(4,1)", "T(4,128)(4,1)"]),
    ("bf16", &["T(8,128)(2,1)", "T(2,128)(2,1)"]),
    ("f32", &["T(4,128)", "T(128)"]),
    ("f64", &[]),
    ("c128", &[]),
];

/// Arrays of several thousand elements with many dimensions, in another order: so there are loops of many lengths inside each other.
fn many_dimensions() -> impl Strategy<Value = Pair> {
    let sizes = prop::collection::vec(prop_oneof![1..6_u64, 1..40_u64], 2..=6);
    let sizes = sizes.prop_filter("moderate", |sizes| (100..6000).contains(&sizes.iter().product::<u64>()));
    let permuted = sizes.prop_flat_map(|sizes| (strategy::permutation(sizes.len()), Just(sizes)));
    (permuted, select(&TILED[..]), any::<[prop::sample::Index; 2]>(), 0..4_u8).prop_map(
        |((permutation, sizes), (element, tilings), choices, tiled)| {
            let array = |sizes: Vec<u64>, choice: prop::sample::Index, is_tiled: bool| {
                let (n, join) = (sizes.len(), |list: Vec<String>| list.join(","));
                let tile =
                    if is_tiled && !tilings.is_empty() { format!(":{}", choice.get(tilings)) } else { String::new() };
                let order = join((0..n).rev().map(|i| i.to_string()).collect());
                shape(&format!("{element}[{}]{{{order}{tile}}}", join(sizes.iter().map(u64::to_string).collect())))
            };
            let permuted = permutation.iter().map(|&dimension| sizes[dimension]).collect();
            let (from, to) = (array(sizes, choices[0], tiled == 1), array(permuted, choices[1], tiled > 1));
            (from, to, permutation)
        },
    )
}

fn padding(to: &ArrayShape, kind: u8, byte: u8) -> Padding {
    let bytes = to.element_bits().div_ceil(8);
    match kind {
        0 => Padding::Keep,
        1 => Padding::Zero,
        _ => Padding::Fill((0..bytes).map(|i| byte.wrapping_mul(i as u8 + 1)).collect()),
    }
}

proptest! {
    #[test]
    fn agrees_with_the_definition(
        (from, to, permutation) in pair(),
        kind in 0..3_u8,
        byte in any::<u8>(),
        shifts in (0..32_usize, 0..32_usize),
        vectors in select(&VECTORS[..]),
    ) {
        check(&from, &to, &permutation, padding(&to, kind, byte), shifts, vectors)?;
    }

    #[test]
    fn slabs_make_the_whole((from, to, permutation) in pair(), bytes in 1..400_usize) {
        slabs(&from, &to, &permutation, bytes)?;
    }

    #[test]
    fn there_and_back(tiled in strategy::small_array_shape()) {
        let n = tiled.num_dimensions();
        let plain = transposed(&tiled, &(0..n).collect::<Vec<_>>(), Layout::descending(n));
        let there = Plan::new(&plain, &tiled, &Options::new()).unwrap();
        let back = Plan::new(&tiled, &plain, &Options::new()).unwrap();
        let source = (0..plain.byte_size().unwrap()).map(|i| (i * 7 + i / 256) as u8).collect::<Vec<_>>();
        let (mut middle, mut end) = (vec![0; tiled.byte_size().unwrap() as usize], vec![0; source.len()]);
        there.run(&source, &mut middle).unwrap();
        back.run(&middle, &mut end).unwrap();
        prop_assert_eq!(source, end);
    }

    #[test]
    fn many_dimensions_change_places(
        (from, to, permutation) in many_dimensions(),
        kind in 0..3_u8,
        shifts in (0..64_usize, 0..64_usize),
        vectors in select(&VECTORS[..]),
    ) {
        prop_assume!(from.physical_elements().max(to.physical_elements()) < Some(40_000));
        check(&from, &to, &permutation, padding(&to, kind, 0x5b), shifts, vectors)?;
    }
}

fn shape(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

/// The error for a source and a destination that do not go together.
fn refused(from: &str, to: &str, options: &Options) -> String {
    Plan::new(&shape(from), &shape(to), options).unwrap_err().to_string()
}

#[test]
fn what_does_not_go_together_is_refused() {
    let plain = Options::new();
    assert_eq!(refused("f32[2]", "s32[2]", &plain), "expected a destination of f32 like the source, found s32");
    assert_eq!(
        refused("f32[2]", "f32[2]{0:E(64)}", &plain),
        "expected destination elements of 32 bits like in the source, found 64 bits"
    );
    assert_eq!(
        refused("s4[2]", "s4[2]{0:E(2)}", &plain),
        "expected destination elements of 8 bits like in the source, found 2 bits"
    );
    assert_eq!(
        refused("f32[2]", "f32[2,1]", &plain),
        "expected a destination with 1 dimensions like the source, found 2"
    );
    assert_eq!(
        refused("f32[2,3]", "f32[2,4]", &plain),
        "expected size 3 of the source in the destination's dimension 1, found 4"
    );
    assert_eq!(
        refused("f32[2,3]", "f32[2,3]", &plain.clone().transposed(&[1, 0])),
        "expected size 3 of the source in the destination's dimension 0, found 2"
    );
    for permutation in [&[0][..], &[0, 0], &[0, 2], &[0, 1, 2]] {
        assert_eq!(
            refused("f32[2,3]", "f32[2,3]", &plain.clone().transposed(permutation)),
            format!("expected a permutation of the source's 2 dimensions, found {permutation:?}")
        );
    }
    assert_eq!(
        refused("f32[?,3]", "f32[2,3]", &plain),
        "expected known sizes, found the source's dimension 0 unbounded"
    );
    assert_eq!(
        refused("f32[4]", "f32[4]{0:SC(0:2)}", &plain),
        "expected arrays in one memory, found a destination with splits"
    );
    assert_eq!(
        refused("f32[4]", "f32[4]", &plain.padding(Padding::Fill(vec![0; 3]))),
        "expected 4 bytes of one element to fill padding with, found 3"
    );
}

#[test]
fn buffers_of_another_size_are_refused_and_left_alone() {
    let plan = Plan::new(&shape("u8[3]"), &shape("u8[3]{0:T(4)}"), &Options::new().zero_padding()).unwrap();
    let mut destination = [7; 5];
    for (source, len) in [(2, 4), (4, 4), (3, 3), (3, 5), (0, 0)] {
        let error = plan.run(&[1, 2, 3, 4][..source], &mut destination[..len]).unwrap_err();
        let expected = if source == 3 {
            RelayoutError::BufferSizeMismatch { side: Side::Destination, expected: 4, found: len }
        } else {
            RelayoutError::BufferSizeMismatch { side: Side::Source, expected: 3, found: source }
        };
        assert_eq!(error, expected);
    }
    assert_eq!(destination, [7; 5]);
}

#[test]
fn elements_of_any_width() {
    for bits in (8..=40).chain(120..=140).chain([248, 256, 264, 1000]) {
        for (sizes, from, to) in
            [("2", "0", "0"), ("3,4", "1,0", "0,1"), ("3,4", "1,0", "1,0:T(2,3)"), ("1", "0", "0:T(3)")]
        {
            let array = |layout: &str| match layout.split_once(':') {
                None => shape(&format!("u8[{sizes}]{{{layout}:E({bits})}}")),
                Some((order, tile)) => shape(&format!("u8[{sizes}]{{{order}:{tile}E({bits})}}")),
            };
            let (from, to) = (array(from), array(to));
            let identity = (0..from.num_dimensions()).collect::<Vec<_>>();
            for kind in 0..3 {
                check(&from, &to, &identity, padding(&to, kind, 7), (0, 0), Vectors::Avx512).unwrap();
            }
        }
    }
}

#[test]
fn elements_that_no_machine_has_make_a_plan_of_no_size() {
    let empty = shape(&format!("u8[0,2]{{1,0:E({})}}", i64::MAX));
    let other = shape(&format!("u8[0,2]{{0,1:T(8,128)L(1024)E({})}}", i64::MAX));
    for (from, to) in [(&empty, &other), (&other, &empty), (&other, &other)] {
        let plan = Plan::new(from, to, &Options::new().zero_padding()).unwrap();
        plan.run(&[], &mut []).unwrap();
        assert!(plan.to_string().len() < 1000);
        let slabs = Slabs::new(from, to, &Options::new().zero_padding(), 1).unwrap().collect::<Vec<_>>();
        assert!(slabs.iter().all(|slab| slab.destination().all(|piece| piece.is_empty())));
    }
}

#[test]
fn sizes_that_no_machine_has_make_a_plan_in_no_time() {
    let huge = 1_u64 << 59;
    let from = ArrayShape::new(ElementType::F32, &[Dimension::Static(huge)], Layout::descending(1)).unwrap();
    let to = shape(&format!("f32[{huge}]{{0:T(1024)}}"));
    let plan = Plan::new(&from, &to, &Options::new().zero_padding()).unwrap();
    assert!(plan.run(&[], &mut []).is_err());
}

/// A `*` may combine digits of one dimension, and this may repeat. Time and memory must not double with each repetition.
#[test]
fn a_dimension_that_is_combined_with_itself() {
    let again = "(2)(*,8)".repeat(40);
    for (size, tiles) in
        [(8, format!("T(2)(*,8){again}")), (65536, "T(16)(16,1)(16,1,1,1)(*,*,*,*,*,*,*,65536)".to_owned())]
    {
        let (from, to) = (shape(&format!("u8[{size}]{{0:{tiles}}}")), shape(&format!("u8[{size}]")));
        check(&from, &to, &[0], Padding::Zero, (0, 0), Vectors::Avx512).unwrap();
        check(&to, &from, &[0], Padding::Zero, (0, 0), Vectors::Avx512).unwrap();
    }
}

/// Layouts as TPUs and other machines use them, with sizes of whole tiles, other sizes, and sizes smaller than a tile. Each layout is converted to
/// each other one.
#[test]
fn real_layouts() {
    let layouts = [
        ("f32", &["{1,0}", "{0,1}", "{1,0:T(8,128)}", "{0,1:T(8,128)}", "{1,0:T(2,128)}"][..]),
        ("bf16", &["{1,0}", "{0,1}", "{1,0:T(8,128)(2,1)}", "{0,1:T(8,128)(2,1)}"]),
        ("u8", &["{1,0}", "{0,1}", "{1,0:T(32,128)(4,1)}", "{0,1:T(8,128)(4,1)}"]),
        ("s4", &["{1,0}", "{0,1}", "{1,0:E(4)}", "{1,0:T(64,128)(8,1)E(4)}", "{0,1:T(8,128)(8,1)E(4)}"]),
        ("u2", &["{1,0}", "{1,0:E(2)}", "{1,0:T(32,128)(16,1)E(2)}", "{1,0:T(8,128)E(2)}"]),
        ("f6e2m3fn", &["{1,0}", "{1,0:E(6)}", "{0,1:E(6)}", "{1,0:T(8,128)E(6)}", "{1,0:T(8,128)(4,1)E(6)}"]),
        ("c128", &["{1,0}", "{0,1}", "{1,0:T(8,4)}"]),
    ];
    let sizes = if is_thorough() { 7 } else { 4 };
    for (element_type, layouts) in layouts {
        for (rows, columns) in
            [(64, 128), (67, 150), (5, 7), (1, 150), (64, 256), (67, 300), (1, 500)].into_iter().take(sizes)
        {
            let shape = |layout: &str| shape(&format!("{element_type}[{rows},{columns}]{layout}"));
            for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (shape(from), shape(to)))) {
                check(&from, &to, &[0, 1], Padding::Zero, (0, 0), Vectors::Avx512).unwrap();
            }
        }
    }
}

/// Arrays that are large enough for every kernel. Most are large enough for two threads, too: each thread gets at least 256 KiB. Each pair is copied
/// in one direction; `scripts/laws.sh` tests both.
#[test]
fn large_arrays() {
    let large = [
        ("f32[400,360]{1,0}", "f32[400,360]{0,1}"),
        ("f32[400,360]{1,0}", "f32[400,360]{1,0:T(8,128)}"),
        ("bf16[300,1024]{1,0}", "bf16[300,1024]{1,0:T(8,128)(2,1)}"),
        ("u8[601,1024]{1,0}", "u8[601,1024]{1,0:T(32,128)(4,1)}"),
        ("s4[600,1040]{1,0}", "s4[600,1040]{1,0:T(64,128)(8,1)E(4)}"),
        ("s4[600,1040]{1,0}", "s4[600,1040]{0,1:E(4)}"),
        ("s4[600,1040]{1,0:E(4)}", "s4[600,1040]{0,1:E(4)}"),
        // Their two inner loops are in the opposite order in the destination.
        ("f32[36,65,66]{2,1,0}", "f32[36,65,66]{0,1,2}"),
        ("bf16[64,66,70]{2,1,0}", "bf16[64,66,70]{0,2,1}"),
        ("u8[40,33,12,20]{3,2,1,0}", "u8[40,33,12,20]{0,1,2,3}"),
    ];
    let ways = large.into_iter().zip([false, true].into_iter().cycle()).flat_map(|((a, b), is_back)| {
        let ways = if is_back { [(b, a), (a, b)] } else { [(a, b), (b, a)] };
        ways.into_iter().take(if is_thorough() { 2 } else { 1 })
    });
    for ((from, to), vectors) in ways.zip(VECTORS.into_iter().cycle()) {
        let identity = (0..shape(from).num_dimensions()).collect::<Vec<_>>();
        check(&shape(from), &shape(to), &identity, Padding::Zero, (0, 0), vectors).unwrap();
    }
    let (nhwc, nchw) = ("f32[2,14,14,20]{3,2,1,0}", "f32[2,20,14,14]{3,2,1,0}");
    check(&shape(nhwc), &shape(nchw), &[0, 3, 1, 2], Padding::Keep, (0, 0), Vectors::Avx512).unwrap();
    check(&shape(nchw), &shape(nhwc), &[0, 2, 3, 1], Padding::Keep, (4, 8), Vectors::Avx512).unwrap();
}

/// Layouts that together need every part of the rules. Each is the source and the destination.
#[test]
fn corner_cases() {
    let cases = [
        &["bf16[]", "bf16[]{:T(256)}", "bf16[]{:T(2,2)L(100)M(3)}"][..],
        &["f32[0,3]", "f32[0,3]{1,0:T(8,128)}", "f32[0,3]{0,1:M(5)}"],
        &["f32[20,30]", "f32[20,30]{1,0:T(8,16)(3,1)}", "f32[20,30]{0,1:T(4,4)}", "f32[20,30]{1,0:T(*,7)}"],
        &["u8[4,6,10]", "u8[4,6,10]{2,1,0:T(*,4)}", "u8[4,6,10]{2,0,1:T(*,*,16)}", "u8[4,6,10]{0,1,2:T(2,3)(2,1)}"],
        // Positions that are looked up in tables: pieces of a period, and tables for each side.
        &["f32[30,150]", "f32[30,150]{1,0:T(8,64)(3,1)}", "f32[30,150]{0,1:T(3,50)}", "f32[30,150]{1,0:T(*,7)(2)}"],
        &["u8[30,150]{0,1:T(*,9)}", "u8[30,150]{1,0:T(*,50)(7)}", "u8[30,150]{1,0:T(3,64)}", "u8[30,150]{0,1:T(8,64)}"],
        &["bf16[3,20,70]{2,1,0:T(*,24,32)(5,1)}", "bf16[3,20,70]{0,2,1:T(*,16)}", "bf16[3,20,70]{1,0,2:T(*,*,12)}"],
        &["s4[30,70]{1,0:T(8,16)(3,1)E(4)}", "s4[30,70]{0,1:T(*,12)E(4)}", "s4[30,70]{1,0:T(*,14)}"],
        &["s4[7,9]", "s4[7,9]{1,0:E(4)}", "s4[7,9]{0,1:T(8,4)(8,1)E(4)}", "s4[7,9]{1,0:T(3,3)E(4)M(1)}"],
        &["f6e3m2fn[5,7]", "f6e3m2fn[5,7]{1,0:T(2,4)E(6)}", "f6e3m2fn[5,7]{0,1:L(11)E(6)}"],
        &["s16[<=5,7]", "s16[5,<=7]{0,1:T(2,2)M(8)}"],
    ];
    for texts in cases {
        for (from, to) in texts.iter().flat_map(|from| texts.iter().map(move |to| (shape(from), shape(to)))) {
            for kind in 0..3 {
                let identity = (0..from.num_dimensions()).collect::<Vec<_>>();
                check(&from, &to, &identity, padding(&to, kind, 0x5b), (1, 3), Vectors::Avx512).unwrap();
            }
        }
    }
}

#[test]
fn between_buffers() {
    use xla_shape::{Buffer, DynBuffer, element};
    type Plain = xla_shape::shape!(bf16[20,300]);
    type Tiled = xla_shape::shape!(bf16[20,300]{1,0:T(8,128)(2,1)});
    let value = |[i, j]: [usize; 2]| half::bf16::from_f32((i * 300 + j) as f32 / 64.0);
    let plain = Buffer::<Plain>::from_fn(value);
    let tiled = plain.relayout::<Tiled>();
    assert_eq!(plain.relayout::<Tiled>().as_bytes(), tiled.as_bytes());
    assert!(tiled.indexed_iter().all(|(index, found)| found == value(index)));
    assert_eq!(tiled.relayout::<Plain>().as_bytes(), plain.as_bytes());

    let packed = "s4[3,5]{0,1:T(2,4)E(4)}".parse().unwrap();
    let from =
        DynBuffer::from_fn_with::<element::S32>(shape("s32[3,5]"), |index| (index[0] + index[1]) as i32).unwrap();
    let mut other = DynBuffer::zeroed_with(packed).unwrap();
    assert!(from.relayout_into(&mut other).is_err());
    let mut tiled = DynBuffer::zeroed_with(shape("s32[3,5]{0,1:T(2,2)}")).unwrap();
    from.relayout_into(&mut tiled).unwrap();
    assert_eq!(from.to_row_major::<element::S32>(), tiled.to_row_major::<element::S32>());
}

#[test]
fn plans_say_what_they_do() {
    let plan = |from: &str, to: &str, options: Options| {
        let options = options.stores(Stores::Regular).vectors(Vectors::None);
        Plan::new(&shape(from), &shape(to), &options).unwrap().to_string()
    };
    assert_eq!(
        plan("bf16[20,256]", "bf16[20,256]{1,0:T(8,128)(2,1)}", Options::new().zero_padding()),
        "bf16[20,256]{1,0} -> bf16[20,256]{1,0:T(8,128)(2,1)}, without vectors, ordinary stores
  fill 1 regions of padding with [0]
  from 0 to 0: 2 times (+4096 -> +4096): 2 times (+256 -> +2048): 4 times (+1024 -> +512): interleave 2 rows (+512) of 128 \
        elements of 2 bytes
  from 8192 to 8192: 2 times (+256 -> +2048): 2 times (+1024 -> +512): interleave 2 rows (+512) of 128 elements of 2 bytes
"
    );
}
