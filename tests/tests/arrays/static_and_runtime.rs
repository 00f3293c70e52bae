//! Static and run-time answers agree, for shapes taken from real TPU programs.

use xla_shape::map::StaticStrideTable;
use xla_shape::types::StaticArray;
use xla_shape::{ArrayShape, Sizes, Slot, shape};
use xla_shape_tests::wide;

/// Some indices of an array: its corners, and others between them.
fn samples(sizes: &[usize]) -> Vec<Vec<usize>> {
    if sizes.contains(&0) {
        return vec![];
    }
    let corners = (0..1_usize << sizes.len()).map(|corner| {
        let end = |(dimension, &size): (usize, &usize)| if corner >> dimension & 1 == 1 { size - 1 } else { 0 };
        sizes.iter().enumerate().map(end).collect()
    });
    // These steps have no common factor with the sizes of tiles, so they reach every place inside a tile.
    let between = (0..64_usize).map(|sample| {
        let entry = |(dimension, &size): (usize, &usize)| (sample * (37 + 2 * dimension) + sample / 3) % size;
        sizes.iter().enumerate().map(entry).collect()
    });
    corners.chain(between).collect()
}

/// The properties of a layout mapping.
#[derive(PartialEq, Debug)]
struct Facts {
    is_exhaustive: bool,
    is_strided: bool,
    is_contiguous: bool,
}

/// The properties of a type, to be compared with those of its shape.
struct Answers {
    text: &'static str,
    shape: &'static ArrayShape,
    sizes: Sizes,
    facts: Facts,
    table: &'static StaticStrideTable,
    extents: &'static [usize],
    linear_index: fn(&[usize]) -> usize,
    multi_index: fn(usize) -> Slot<Vec<usize>>,
}

/// Compares the answers of a type with those of the run-time shape with its text. Returns the number of compared indices.
fn compare(text: &str, of_type: &Answers) -> usize {
    let array: ArrayShape = text.replace(' ', "").parse().unwrap();
    let found = Sizes {
        elements: array.elements().unwrap(),
        physical_elements: array.physical_elements().unwrap(),
        bytes: array.byte_size().unwrap(),
    };
    assert_eq!(of_type.sizes, found, "{array}");
    assert_eq!(of_type.text, array.to_string());
    assert_eq!(*of_type.shape, array);
    let table = array.stride_table().unwrap();
    let found = Facts {
        is_exhaustive: table.as_ref().is_exhaustive(),
        is_strided: table.as_ref().is_strided(),
        is_contiguous: table.as_ref().is_contiguous(),
    };
    assert_eq!(of_type.facts, found, "{array}");
    assert_eq!(wide(of_type.extents), table.as_ref().extents(), "{array}");
    assert_eq!(of_type.table.positions(), table.as_ref().positions(), "{array}");
    let samples = samples(of_type.extents);
    for index in &samples {
        let position = table.as_ref().checked_linear_index(&wide(index)).unwrap();
        assert_eq!((of_type.linear_index)(index) as u64, position, "{array} at {index:?}");
        assert_eq!(table.as_ref().multi_index(position), Slot::Element(wide(index)), "{array} at {index:?}");
        assert_eq!((of_type.multi_index)(position as usize), Slot::Element(index.clone()));
    }
    // Also compare positions of padding and after the end.
    for sample in 0..64 {
        let position = sample * (table.as_ref().positions() / 61 + 1);
        let found = (of_type.multi_index)(position as usize).map(|index| wide(&index));
        assert_eq!(found, table.as_ref().multi_index(position), "{array} at {position}");
    }
    samples.len()
}

macro_rules! compare_all {
    ($($element:ident [$($size:literal),*] {$($layout:tt)*};)*) => {
        [$({
            type S = shape!($element[$($size),*]{$($layout)*});
            // A function for each shape: the compiler takes many times as long to check one function for all of them.
            fn compared() -> usize {
                let sizes = Sizes {
                    elements: S::ELEMENTS as u64,
                    physical_elements: S::PHYSICAL_ELEMENTS as u64,
                    bytes: S::BYTES as u64,
                };
                let facts = Facts {
                    is_exhaustive: S::IS_EXHAUSTIVE,
                    is_strided: S::IS_STRIDED,
                    is_contiguous: S::IS_CONTIGUOUS,
                };
                let of_type = Answers {
                    text: S::TEXT,
                    shape: S::SHAPE,
                    sizes,
                    facts,
                    table: S::STRIDE_TABLE,
                    extents: <S as StaticArray>::SIZES,
                    linear_index: |index| S::linear_index(index.try_into().unwrap()),
                    multi_index: |position| S::multi_index(position).map(|index| index.to_vec()),
                };
                compare(stringify!($element[$($size),*]{$($layout)*}), &of_type)
            }
            compared()
        }),*]
    };
}

#[test]
fn types_and_values_answer_alike() {
    let compared = compare_all! {
        bf16[]{:T(256)S(6)};
        bf16[]{:T(256)};
        bf16[]{:T(512)};
        c64[]{:T(128)};
        c64[]{:T(256)};
        f16[]{:T(256)S(6)};
        f16[]{:T(256)};
        f16[]{:T(512)S(6)};
        f32[100]{0:T(128)S(1)};
        f32[100]{0:T(128)S(3)};
        f32[100]{0:T(128)};
        f32[100]{0:T(256)};
        f32[1024]{0:T(1024)};
        f32[12]{0:T(128)S(4)};
        f32[1]{0:T(128)S(6)};
        f32[200]{0:T(256)S(3)};
        f32[2049]{0:T(1024)S(1)};
        f32[2049]{0:T(1024)S(3)};
        f32[300]{0:T(512)S(1)};
        f32[300]{0:T(512)S(3)};
        f32[]{:T(128)};
        f32[]{:T(256)S(6)};
        f64[]{:T(128)};
        f8e5m2[]{:T(1024)};
        pred[]{:T(1024)};
        pred[]{:T(512)S(6)};
        s16[]{:T(256)S(6)};
        s16[]{:T(256)};
        s16[]{:T(512)S(6)};
        s16[]{:T(512)};
        s32[0]{0:S(2)};
        s32[0]{0:T(1)S(12)};
        s32[0]{0};
        s32[100]{0:T(128)};
        s32[1024]{0:T(1024)};
        s32[185]{0:T(256)S(1)};
        s32[20]{0:T(128)S(3)};
        s32[20]{0:T(128)S(4)};
        s32[25]{0:T(1)S(11)};
        s32[2]{0:S(4)};
        s32[]{:T(128)};
        s32[]{:T(256)S(6)};
        s32[]{:T(256)};
        s4[]{:T(1024)E(4)};
        s64[100]{0:T(128)};
        s8[]{:T(1024)};
        u32[100]{0:T(128)S(3)};
        u32[100]{0:T(256)};
        u32[1024]{0:T(1024)};
        u32[]{:S(8)};
        u32[]{:T(256)};
        u64[130]{0:T(256)};
        u8[]{:T(512)};
        bf16[128]{0:T(256)(128)(2,1)};
        bf16[128]{0:T(512)(128)(2,1)};
        bf16[4096]{0:T(1024)(128)(2,1)S(3)};
        bf16[4096]{0:T(1024)(128)(2,1)};
        pred[100]{0:T(1024)(128)(4,1)};
        pred[100]{0:T(512)(128)(4,1)S(1)};
        pred[100]{0:T(512)(128)(4,1)S(3)};
        pred[100]{0:T(512)(128)(4,1)};
        pred[1024]{0:T(1024)(128)(4,1)S(1)};
        s8[127]{0:T(1024)(128)(4,1)};
        u8[300]{0:T(512)(128)(4,1)S(1)};
        bf16[256,256]{1,0};
        f32[0,5]{1,0};
        f32[1,128]{1,0:T(1,128)S(1)};
        f32[1,128]{1,0:T(1,128)};
        f32[1,128]{1,0:T(2,128)};
        f32[100,50]{0,1:T(8,128)};
        f32[100,50]{1,0:T(8,128)S(3)};
        f32[100,50]{1,0:T(8,128)};
        f32[2,127]{1,0:T(2,128)S(3)};
        f32[3,8]{1,0:T(4,128)};
        f32[300,1]{0,1:T(1,128)S(3)};
        f32[4,128]{1,0:T(4,128)S(1)};
        s32[1,1]{0,1:T(2,128)};
        s32[1,2]{0,1:T(2,128)S(1)};
        s32[1,2]{0,1:T(2,128)S(3)};
        s32[100,50]{0,1:T(8,128)S(1)};
        s32[100,50]{0,1:T(8,128)S(3)};
        s32[100,50]{0,1:T(8,128)};
        s32[100,50]{1,0:T(8,128)};
        s32[16,3]{0,1:T(4,128)S(1)};
        s32[16,3]{0,1:T(4,128)S(3)};
        s32[16,3]{0,1:T(4,128)};
        s32[2,127]{1,0:T(2,128)S(1)};
        s32[2,127]{1,0:T(2,128)S(3)};
        s32[3,1]{1,0:T(4,128)S(1)};
        u32[100,1]{0,1:T(1,128)S(1)};
        u32[100,1]{1,0:T(8,128)S(1)};
        u32[33,65]{1,0:T(8,128)};
        bf16[1,1]{1,0:T(2,128)(2,1)};
        bf16[1,1]{1,0:T(4,128)(2,1)};
        bf16[1000,256]{1,0:T(8,128)(2,1)};
        bf16[130,2]{0,1:T(2,128)(2,1)S(3)};
        bf16[130,2]{0,1:T(2,128)(2,1)};
        bf16[130,2]{0,1:T(4,128)(2,1)};
        bf16[2,127]{1,0:T(2,128)(2,1)S(1)};
        bf16[2,127]{1,0:T(2,128)(2,1)S(3)};
        bf16[4,128]{1,0:T(4,128)(2,1)S(1)};
        bf16[4096,4096]{0,1:T(8,128)(2,1)S(1)};
        bf16[512,128]{0,1:T(8,128)(2,1)S(3)};
        f32[1,24,24]{2,1,0};
        f8e4m3b11fnuz[256,128]{1,0:T(32,128)(4,1)S(1)};
        f8e4m3b11fnuz[256,128]{1,0:T(32,128)(4,1)S(3)};
        f8e4m3b11fnuz[256,128]{1,0:T(32,128)(4,1)};
        f8e4m3b11fnuz[256,128]{1,0:T(8,128)(4,1)};
        f8e4m3fn[128,256]{1,0:T(32,128)(4,1)S(1)};
        f8e4m3fn[128,256]{1,0:T(32,128)(4,1)};
        f8e4m3fn[128,256]{1,0:T(8,128)(4,1)};
        f8e4m3fn[31,57]{1,0:T(8,128)(4,1)S(1)};
        f8e4m3fn[31,57]{1,0:T(8,128)(4,1)S(3)};
        f8e4m3fn[57,31]{0,1:T(8,128)(4,1)S(3)};
        f8e4m3fn[57,31]{0,1:T(8,128)(4,1)};
        f8e5m2[128,384]{1,0:T(32,128)(4,1)};
        f8e5m2[128,384]{1,0:T(8,128)(4,1)};
        pred[1,128]{1,0:T(4,128)(4,1)};
        pred[1,128]{1,0:T(8,128)(4,1)};
        pred[128,128]{0,1:T(8,128)(4,1)S(3)};
        pred[128,128]{0,1:T(8,128)(4,1)};
        s4[256,512]{1,0:T(64,128)(8,1)E(4)};
        s4[512,256]{0,1:T(64,128)(8,1)E(4)};
        s4[512,256]{0,1:T(8,128)(4,1)};
        s4[512,256]{1,0:T(64,128)(8,1)E(4)S(1)};
        s4[512,256]{1,0:T(8,128)(8,1)E(4)};
        s8[512,384]{1,0:T(32,128)(4,1)S(1)};
        s8[512,384]{1,0:T(32,128)(4,1)};
        u4[512,128]{1,0:T(64,128)(8,1)E(4)};
        u4[512,128]{1,0:T(8,128)(4,1)};
        u8[4,137]{1,0:T(4,128)(4,1)};
        u8[4,137]{1,0:T(8,128)(4,1)};
        f32[1,24,24]{2,1,0:T(8,128)};
        f32[2,4,128]{2,1,0:T(4,128)};
        f32[256,4,64]{0,2,1:T(8,128)};
        f32[5,130,3]{1,2,0:T(4,128)};
        f32[5,260,2]{1,2,0:T(2,128)S(3)};
        s32[1,33,65]{2,1,0:T(8,128)};
        s32[1,65,17]{1,2,0:T(8,128)};
        s32[16,3,1]{0,1,2:T(4,128)S(3)};
        s32[16,3,1]{0,1,2:T(4,128)};
        s32[16,3,1]{1,0,2:T(8,128)S(3)};
        s32[2,127,1]{1,0,2:T(2,128)S(1)};
        s32[3,8,1]{1,0,2:T(4,128)S(1)};
        s32[64,2,256]{2,0,1:T(8,128)S(3)};
        s32[64,2,256]{2,0,1:T(8,128)};
        u32[1,33,65]{2,1,0:T(8,128)S(1)};
        u32[10,20,30]{2,1,0:T(8,128)S(3)};
        bf16[1,4,128]{2,1,0:T(4,128)(2,1)};
        bf16[1,512,256]{1,2,0:T(8,128)(2,1)};
        bf16[1000,256,1]{1,0,2:T(8,128)(2,1)};
        bf16[2,1,130]{2,0,1:T(4,128)(2,1)};
        bf16[2,127,1000]{1,2,0:T(8,128)(2,1)S(1)};
        bf16[2,2,130]{2,1,0:T(2,128)(2,1)};
        bf16[20,4,128]{2,1,0:T(4,128)(2,1)S(1)};
        bf16[20,4,128]{2,1,0:T(4,128)(2,1)S(3)};
        bf16[256,4,64]{0,2,1:T(8,128)(2,1)S(1)};
        bf16[256,4,64]{0,2,1:T(8,128)(2,1)};
        bf16[32,2,192]{2,0,1:T(8,128)(2,1)S(1)};
        bf16[32,2,192]{2,0,1:T(8,128)(2,1)S(3)};
        bf16[32,2,192]{2,0,1:T(8,128)(2,1)};
        bf16[32,2,192]{2,1,0:T(2,128)(2,1)S(1)};
        s16[3,2,200]{2,0,1:T(4,128)(2,1)S(1)};
        s16[3,2,200]{2,0,1:T(4,128)(2,1)S(3)};
        s16[3,2,200]{2,1,0:T(2,128)(2,1)S(3)};
        s8[1,1,300]{2,1,0:T(4,128)(4,1)S(3)};
        s8[1,1,300]{2,1,0:T(4,128)(4,1)};
        s8[1,20,9]{1,0,2:T(4,128)(4,1)S(1)};
        s8[1,20,9]{1,0,2:T(4,128)(4,1)S(3)};
        s8[3,1,9]{2,0,1:T(4,128)(4,1)};
        s8[3,1,9]{2,0,1:T(8,128)(4,1)};
        s8[3,70,9]{1,0,2:T(4,128)(4,1)};
        u8[1,1,300]{2,1,0:T(4,128)(4,1)};
        u8[1,1,300]{2,1,0:T(8,128)(4,1)};
        f32[1,8,1,128]{3,2,1,0:T(1,128)S(1)};
        f32[2,128,4,64]{1,3,2,0:T(8,128)S(1)};
        f32[2,4,128,128]{2,3,1,0:T(8,128)S(1)};
        f32[2,4,128,128]{2,3,1,0:T(8,128)S(3)};
        f32[3,1,8,8]{3,2,1,0:T(8,128)S(3)};
        f32[3,1,8,8]{3,2,1,0:T(8,128)};
        f32[4,8,128,1024]{2,1,3,0:T(8,128)};
        f32[5,130,3,128]{1,2,3,0:T(4,128)S(1)};
        f32[5,130,3,128]{1,2,3,0:T(4,128)S(3)};
        f32[5,130,3,128]{1,2,3,0:T(4,128)};
        f32[5,130,3,128]{3,2,1,0:T(4,128)S(1)};
        f32[5,130,3,128]{3,2,1,0:T(4,128)S(3)};
        f32[5,130,3,128]{3,2,1,0:T(4,128)};
        f32[5,260,2,128]{1,2,3,0:T(2,128)S(3)};
        f32[5,260,2,128]{1,2,3,0:T(2,128)};
        f32[5,260,2,128]{3,2,1,0:T(2,128)S(1)};
        f32[5,260,2,128]{3,2,1,0:T(2,128)S(3)};
        f32[5,260,2,128]{3,2,1,0:T(2,128)};
        s32[2,127,1,1]{1,0,3,2:T(2,128)S(1)};
        s32[2,127,1,1]{1,0,3,2:T(2,128)S(3)};
        s32[2,127,1,1]{1,0,3,2:T(2,128)};
        s32[8,2,8,256]{3,2,0,1:T(8,128)S(1)};
        s32[8,2,8,256]{3,2,1,0:T(8,128)S(3)};
        s32[8,2,8,256]{3,2,1,0:T(8,128)};
        u32[10,20,30,2]{2,1,3,0:T(8,128)};
        u32[10,20,30,2]{2,3,1,0:T(2,128)};
        bf16[1,1024,8,128]{3,2,1,0:T(8,128)(2,1)S(3)};
        bf16[2,128,256,1]{2,1,3,0:T(8,128)(2,1)S(1)};
        bf16[2,128,256,1]{2,1,3,0:T(8,128)(2,1)S(3)};
        bf16[2,128,256,1]{2,1,3,0:T(8,128)(2,1)};
        bf16[2,128,4,32]{1,3,2,0:T(8,128)(2,1)};
        bf16[2,4,128,128]{2,3,1,0:T(8,128)(2,1)S(1)};
        bf16[2,4,128,128]{2,3,1,0:T(8,128)(2,1)};
        bf16[2,4,64,128]{3,2,1,0:T(8,128)(2,1)};
        bf16[2,8,8,256]{3,2,0,1:T(8,128)(2,1)};
        bf16[4,1024,8,128]{3,1,2,0:T(8,128)(2,1)};
        bf16[4,16,17,7]{3,0,2,1:T(4,128)(2,1)S(1)};
        bf16[4,16,17,7]{3,0,2,1:T(4,128)(2,1)S(3)};
        bf16[4,16,17,7]{3,0,2,1:T(4,128)(2,1)};
        bf16[4,31,12,7]{1,0,3,2:T(4,128)(2,1)};
        bf16[4,33,35,7]{1,0,3,2:T(4,128)(2,1)S(1)};
        bf16[4,33,35,7]{1,0,3,2:T(4,128)(2,1)S(3)};
        bf16[4,33,35,7]{2,0,3,1:T(4,128)(2,1)S(1)};
        bf16[4,33,35,7]{2,0,3,1:T(4,128)(2,1)S(3)};
        bf16[4,8,1,128]{3,1,0,2:T(8,128)(2,1)};
        bf16[4,8,1,128]{3,2,1,0:T(2,128)(2,1)S(3)};
        bf16[4,8,1,128]{3,2,1,0:T(2,128)(2,1)};
        bf16[4,8,1024,1]{2,1,0,3:T(8,128)(2,1)S(1)};
        bf16[4,8,1024,1]{2,3,1,0:T(4,128)(2,1)};
        bf16[8,2,8,256]{3,2,0,1:T(8,128)(2,1)S(3)};
        pred[2,4,128,128]{2,3,1,0:T(8,128)(4,1)};
        u16[10,20,30,2]{2,3,1,0:T(2,128)(2,1)};
        u8[2,4,3,140]{3,2,1,0:T(4,128)(4,1)S(1)};
        s32[9,3,3,4,130]{4,0,3,2,1:T(8,128)};
        s32[9,3,3,4,130]{4,3,2,1,0:T(4,128)};
        s8[9,3,3,4,130]{4,0,3,2,1:T(8,128)(4,1)};
        s8[9,3,3,4,130]{4,3,2,1,0:T(4,128)(4,1)S(1)};
        s8[9,3,3,4,130]{4,3,2,1,0:T(4,128)(4,1)S(3)};
        s8[9,3,3,4,130]{4,3,2,1,0:T(4,128)(4,1)};
        s8[9,3,3,4,130]{4,3,2,1,0:T(8,128)(4,1)};
        bf16[2,3,4,5,6,7]{5,2,4,3,1,0:T(4,128)(2,1)S(1)};
        bf16[2,3,4,5,6,7]{5,2,4,3,1,0:T(4,128)(2,1)};
        bf16[2,3,4,5,6,7]{5,4,3,2,1,0:T(8,128)(2,1)S(1)};
        bf16[2,3,4,5,6,7]{5,4,3,2,1,0:T(8,128)(2,1)S(3)};
        bf16[2,3,4,5,6,7]{5,4,3,2,1,0:T(8,128)(2,1)};
        bf16[7,5,3,2,4,6]{0,4,5,3,2,1:T(4,128)(2,1)};
    };
    // Tail padding is after all positions, so it is not a gap between elements.
    let tail_padded = compare_all! {
        bf16[3]{0:L(8)};
        f32[0,5]{1,0:L(64)};
        f32[16,128]{1,0:T(8,128)L(4096)};
        f32[16,256]{1,0:T(8,128)L(8192)};
        f32[15,100]{1,0:T(8,128)L(4096)};
        s32[2,3]{0,1:L(4)};
    };
    assert_eq!(tail_padded.len(), 6);
    type TailPadded = shape!(s32[2,3]{0,1:L(4)});
    assert_eq!((TailPadded::ELEMENTS, TailPadded::PHYSICAL_ELEMENTS), (6, 8));
    const { assert!(TailPadded::IS_EXHAUSTIVE && TailPadded::IS_CONTIGUOUS) };
    println!("{} shapes, {} indices", compared.len(), compared.iter().sum::<usize>());
    assert!(compared.len() >= 200);
}
