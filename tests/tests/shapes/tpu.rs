//! The layouts that TPUs choose: compared with XLA's own answers, and checked by laws.

use proptest::prelude::*;
use serde::Deserialize;
use xla_shape::tpu::{
    Block, DefaultLayout, DefaultLayoutError, Generation, UnknownGeneration, default_layout, row_major_layout,
    unused_tiles, vmem_bytes,
};
use xla_shape::{ArrayShape, Dimension, ElementType, Shape};
use xla_shape_hlo::find_shapes;
use xla_shape_tests::{corpus, hlo_modules};

#[derive(Deserialize)]
struct Row {
    shape: String,
    v2: String,
    v4: String,
}

/// The generations whose layouts are known, by family.
const FAMILIES: [&[Generation]; 2] = [
    &[Generation::V2, Generation::V3],
    &[Generation::V4, Generation::V5e, Generation::V5p, Generation::V6e, Generation::V7x],
];

#[test]
fn every_row_of_the_compiler_is_answered_alike() {
    let rows: Vec<Row> = corpus("tpu_default_layouts.jsonl.zst");
    assert!(rows.len() > 50_000);
    for row in rows {
        let shape: ArrayShape = row.shape.parse().unwrap();
        for (family, expected) in FAMILIES.into_iter().zip([&row.v2, &row.v4]) {
            let layout = default_layout(family[0], shape.element_type(), shape.dimensions()).unwrap();
            assert_eq!(layout.to_string(), *expected, "{} on {}", row.shape, family[0]);
            // The rule and the layout give the same number of bytes.
            let on_tpu = shape.clone().with_tpu_layout(family[0]).unwrap();
            assert_eq!(on_tpu.byte_size(), Some(layout.byte_size()), "{on_tpu}");
            assert!(on_tpu.physical_elements() >= shape.elements(), "{on_tpu}");
        }
    }
}

#[test]
fn generations_of_a_family_agree() {
    for text in ["f32[]", "pred[3]", "bf16[1,3072]", "s4[9,64,200]", "u2[64,8,16384]", "c128[5,1,1,7]", "s8[0,3]"] {
        let shape: ArrayShape = text.parse().unwrap();
        for family in FAMILIES {
            let answers = family.iter().map(|&generation| shape.clone().with_tpu_layout(generation).unwrap());
            assert!(answers.clone().zip(answers.skip(1)).all(|(one, other)| one == other), "{text}");
        }
    }
}

/// A generation by its name.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Named(Generation);

impl TryFrom<String> for Named {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse().map(Self).map_err(|error: UnknownGeneration| error.to_string())
    }
}

#[derive(Deserialize)]
struct SizeRow {
    generation: Named,
    shape: ArrayShape,
}

#[test]
fn arguments_of_compiled_programs_have_the_default_layout() {
    let rows: Vec<SizeRow> = corpus("sizes.jsonl");
    assert!(rows.len() > 5000);
    for SizeRow { generation: Named(generation), shape } in rows {
        assert_eq!(shape.clone().with_tpu_layout(generation).as_ref(), Ok(&shape), "{generation}");
    }
}

#[derive(Deserialize)]
struct EntryRow {
    program: String,
    generation: Named,
    parameters: Shape,
}

#[test]
fn entry_parameters_have_the_default_layout_in_their_memory() {
    let rows: Vec<EntryRow> = corpus("tpu_entry_layouts.jsonl");
    assert_eq!(rows.len(), 11);
    for row in rows {
        let on_tpu = row.parameters.clone().with_tpu_layout(row.generation.0).unwrap();
        for (index, array) in row.parameters.subshapes().filter_map(|(index, shape)| Some((index, shape.array()?))) {
            let default = on_tpu.get_subshape(&index).unwrap().array().unwrap().clone();
            let layout = default.layout().clone().with_memory_space(array.layout().memory_space()).unwrap();
            assert_eq!(*array, default.with_layout(layout).unwrap(), "{} {index:?}", row.program);
        }
    }
}

#[test]
fn what_nobody_has_seen_is_unknown() {
    let sizes = [Dimension::Static(8), Dimension::Unbounded];
    let layout = |generation, element_type, dimensions: &[Dimension]| {
        default_layout(generation, element_type, dimensions).map(|layout| layout.to_string())
    };
    for element_type in [ElementType::S1, ElementType::U1, ElementType::F6E2M3Fn, ElementType::F6E3M2Fn] {
        let error = layout(Generation::V5e, element_type, &[]).unwrap_err();
        assert_eq!(error, DefaultLayoutError::ElementType(element_type));
        assert_eq!(error.to_string(), format!("the layout of {element_type} on a TPU is not known"));
    }
    for generation in [Generation::V8i, Generation::V8t] {
        let error = layout(generation, ElementType::F32, &[]).unwrap_err();
        assert_eq!(error.to_string(), format!("the layouts that TPU {generation} chooses are not known"));
    }
    assert_eq!(
        layout(Generation::V5e, ElementType::F32, &sizes).unwrap_err().to_string(),
        "dimension 1 has no bound; the default layout depends on every size"
    );
}

#[test]
fn sizes_that_overflow_are_errors() {
    let most = i64::MAX as u64;
    for sizes in [&[most][..], &[most, 1], &[1, most, 1], &[1 << 40, 1 << 30], &[most, most, 0], &[1 << 50, 1, 1]] {
        let sizes = sizes.iter().map(|&size| Dimension::Static(size)).collect::<Vec<_>>();
        for generation in [Generation::V2, Generation::V5e] {
            for element_type in [ElementType::S2, ElementType::Pred, ElementType::C128] {
                if let Err(error) = default_layout(generation, element_type, &sizes) {
                    assert_eq!(
                        error.to_string(),
                        "in the tiles of a TPU, the array takes more bytes than fit in an i64"
                    );
                } else {
                    // Such an array is large, but valid.
                    assert_eq!(sizes[0], Dimension::Static(1 << 50));
                }
            }
        }
    }
}

#[test]
fn many_dimensions_take_no_more_than_a_moment() {
    let mut sizes = vec![Dimension::Static(1); 200_000];
    sizes[100_000] = Dimension::Static(300);
    let layout = default_layout(Generation::V5e, ElementType::F32, &sizes).unwrap();
    assert_eq!(layout.minor_to_major().take(3).collect::<Vec<_>>(), [100_000, 199_999, 199_998]);
}

#[test]
fn bounds_count_as_sizes_and_constants_as_values() {
    const DIMENSIONS: [Dimension; 3] = [Dimension::Bounded(100), Dimension::Static(3), Dimension::Static(200)];
    const LAYOUT: DefaultLayout = match default_layout(Generation::V5e, ElementType::S8, &DIMENSIONS) {
        Ok(layout) => layout,
        Err(error) => error.panic(),
    };
    const ORDER: [usize; 4] = LAYOUT.minor_to_major_in_const();
    let shape: ArrayShape = "s8[100,3,200]".parse().unwrap();
    let value = default_layout(Generation::V5e, ElementType::S8, shape.dimensions()).unwrap();
    assert_eq!(LAYOUT, value);
    assert_eq!(ORDER[..3], *value.layout().minor_to_major());
    assert_eq!(LAYOUT.byte_size(), shape.with_tpu_layout(Generation::V5e).unwrap().byte_size().unwrap());
}

fn arrays() -> impl Strategy<Value = (Generation, ElementType, Vec<Dimension>)> {
    let known = FAMILIES.concat();
    let seen = |&element_type: &ElementType| default_layout(Generation::V5e, element_type, &[]).is_ok();
    let types = ElementType::ALL.iter().copied().filter(seen).collect::<Vec<_>>();
    let size = prop_oneof![1_u64..40, (1_u64..40).prop_map(|n| n * 8), (1_u64..6).prop_map(|n| n * 128), 0_u64..2];
    let sizes = proptest::collection::vec(size.prop_map(Dimension::Static), 0..5);
    (proptest::sample::select(known), proptest::sample::select(types), sizes)
}

proptest! {
    /// No other pair of most minor dimensions has less padding than the chosen one. Elements of 2 bits are left out, because XLA compares them as if
    /// tiles had 8 rows.
    #[test]
    fn no_other_order_pads_less((generation, element_type, dimensions) in arrays()) {
        let default = default_layout(generation, element_type, &dimensions).unwrap();
        prop_assume!(dimensions.len() >= 2 && !dimensions.contains(&Dimension::Static(0)));
        prop_assume!(element_type.bits() != 2);
        for lanes in 0..dimensions.len() {
            for rows in (0..dimensions.len()).filter(|&rows| rows != lanes) {
                // Permute the sizes so that row-major order puts `rows` and `lanes` last.
                let mut others = (0..dimensions.len()).filter(|&d| d != lanes && d != rows).collect::<Vec<_>>();
                others.extend([rows, lanes]);
                let moved = others.iter().map(|&dimension| dimensions[dimension]).collect::<Vec<_>>();
                let other = row_major_layout(generation, element_type, &moved).unwrap();
                prop_assert!(default.byte_size() <= other.byte_size(), "{default} against {others:?}");
            }
        }
    }

    /// The layout is valid for the array: it has room for every element, and its order has every dimension once.
    #[test]
    fn the_layout_is_one_of_the_array((generation, element_type, dimensions) in arrays()) {
        let default = default_layout(generation, element_type, &dimensions).unwrap();
        let array = ArrayShape::new(element_type, &dimensions, default.layout()).unwrap();
        prop_assert!(array.physical_elements() >= array.elements());
        prop_assert_eq!(array.byte_size(), Some(default.byte_size()));
        prop_assert_eq!(default.to_string().parse::<xla_shape::Layout>().unwrap(), default.layout());
    }
}

#[test]
fn entry_parameters_of_compiled_modules_have_the_default_layout() {
    let mut parameters = 0;
    // The name of a module begins with its generation.
    for module in hlo_modules().into_iter().filter(|module| module.set == "tpu-hlo") {
        let generation: Generation = module.module.split("__").next().unwrap().parse().unwrap();
        let parsed: xla_shape::hlo::Module = xla_shape::hlo::Module::parse(&module.text).unwrap();
        let entry = parsed.entry().unwrap();
        for parameter in entry.instructions().filter(|instruction| instruction.parameter_number().is_some()) {
            let (name, shape) = (parameter.name(), parameter.shape());
            // Arrays on the host have another memory space, but otherwise the same layout.
            let on_tpu = shape.clone().with_tpu_layout(generation).unwrap();
            let unmarked = shape.clone().try_map_arrays(|array| {
                let layout = array.layout().clone().with_memory_space(0)?;
                array.with_layout(layout)
            });
            assert_eq!(on_tpu, unmarked.unwrap(), "{} {name}", module.module);
            parameters += 1;
        }
    }
    assert!(parameters > 500);
}

#[derive(Deserialize)]
struct BlockRow {
    array: ArrayShape,
    block: ArrayShape,
    taken: bool,
}

#[test]
fn blocks_are_taken_as_pallas_takes_them() {
    let rows: Vec<BlockRow> = corpus("tpu_blocks.jsonl.zst");
    assert!(rows.len() > 400);
    for BlockRow { array, block, taken } in rows {
        let answer = Block::new(Generation::V5e, &array, &block);
        assert_eq!(answer.is_ok(), taken, "{block} of {array}: {answer:?}");
        if let Ok(answer) = answer {
            // The last dimension stays the most minor one, even if another order has less padding.
            let natural = answer.layout().layout();
            assert!(natural.is_monotonic_with_dim0_major(), "{natural}");
            let in_vmem = ArrayShape::new(answer.element_type(), block.dimensions(), natural).unwrap();
            assert_eq!(in_vmem.byte_size(), Some(answer.byte_size()));
            assert_eq!(vmem_bytes(Generation::V5e, &in_vmem), Ok(answer.byte_size()));
        }
    }
}

/// The type, its constants, the value and the text of the same array agree.
#[test]
fn types_constants_and_values_agree() {
    use xla_shape::types::ArrayType;
    use xla_shape::{shape, tpu_shape};

    fn agree<S: ArrayType>(generation: Generation, text: &str) {
        let array: ArrayShape = text.parse().unwrap();
        let on_tpu = array.with_tpu_layout(generation).unwrap();
        assert_eq!((S::SHAPE, S::TEXT), (&on_tpu, on_tpu.to_string().as_str()));
        assert_eq!(S::BYTE_SIZE.map(|bytes| bytes as u64), on_tpu.byte_size());
    }
    macro_rules! agree {
        ($($generation:ident $element:ident [$($size:literal),*];)*) => { $(
            let text = concat!(stringify!($element), stringify!([$($size),*]));
            let generation = stringify!($generation).parse().unwrap();
            agree::<tpu_shape!($generation, $element[$($size),*])>(generation, text);
            // With sizes in braces, the compiler computes the layout, not the macro.
            agree::<tpu_shape!($generation, $element[$({ $size }),*])>(generation, text);
        )* };
    }
    agree! {
        v5e f32[]; v5e f32[0,5]; v5e s4[0]; v5e bf16[1,3072]; v5e s2[64,8,16384]; v5e u2[240,216,768]; v2 s2[514,14,2,208];
        v3 c128[3,300]; v4 pred[7]; v5p f8e4m3fn[64,33]; v6e f4e2m1fn[128,65,3]; v7x u16[5000]; v2 f64[1,1,1,1,1,1,1,300,2];
    }
    fn same(x: tpu_shape!(v2, s2[514,14,2,208])) -> shape!(s2[514,14,2,208]{3,0,2,1:T(16,128)(4,1)}) {
        x
    }
    _ = same;
}

/// All tiles in programs that were compiled for a TPU, and in the compiler's answers, have an effect.
#[test]
fn tiles_of_compiled_programs_are_used() {
    let mut tiled = 0;
    let mut check = |array: &ArrayShape, from: &str| {
        tiled += usize::from(!array.layout().tiles().is_empty());
        let unused = unused_tiles(array.element_type(), array.layout());
        assert!(unused.is_none(), "{array} in {from}: {}", unused.unwrap().as_str());
    };
    for module in hlo_modules().into_iter().filter(|module| module.set == "tpu-hlo") {
        for found in find_shapes(&module.text) {
            for (_, shape) in found.shape.subshapes() {
                shape.array().into_iter().for_each(|array| check(array, &module.module));
            }
        }
    }
    for row in corpus::<Row>("tpu_default_layouts.jsonl.zst") {
        let shape: ArrayShape = row.shape.parse().unwrap();
        for layout in [row.v2, row.v4] {
            check(&shape.clone().with_layout(layout.parse().unwrap()).unwrap(), &row.shape);
        }
    }
    assert!(tiled > 100_000, "{tiled}");
}
