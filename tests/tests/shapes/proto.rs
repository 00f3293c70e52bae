//! XLA's schema: the bytes that XLA writes are read and written again, and bad messages give errors.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use proptest::prelude::*;
use prost::Message;
use serde::Deserialize;
use xla_shape::proto::{
    LayoutProto, ProgramShapeProto, ProtoErrorKind, ShapeProto, SplitConfigProto, TileProto, decode_shape, encode_shape,
};
use xla_shape::{Layout, ProgramParameter, ProgramShape, Shape, ValidationError};
use xla_shape_parity::legacy::{LegacyLayoutProto, LegacyShape, LegacyShapeProto};
use xla_shape_tests::{corpus, strategy};

#[derive(Deserialize)]
struct Row {
    input: String,
    expect: String,
    proto_b64: Option<String>,
}

#[test]
fn the_bytes_are_xlas() {
    let rows: Vec<Row> = corpus("shapes.jsonl");
    let mut valid = 0;
    for row in rows.iter().filter(|row| row.expect == "valid") {
        let shape: Shape = row.input.parse().unwrap();
        let bytes = BASE64_STANDARD.decode(row.proto_b64.as_ref().unwrap()).unwrap();
        assert_eq!(encode_shape(&shape), bytes, "{}", row.input);
        assert_eq!(decode_shape(&bytes), Ok(shape), "{}", row.input);
        valid += 1;
    }
    println!("{valid} rows agree");
    assert!(valid > 1000);
}

proptest! {
    #[test]
    fn shapes_there_and_back(shape in strategy::shape()) {
        prop_assert_eq!(decode_shape(&encode_shape(&shape)), Ok(shape));
    }

    #[test]
    fn programs_there_and_back(
        parameters in proptest::collection::vec(("[a-z.]{0,4}", strategy::shape()), 0..4), result in strategy::shape()
    ) {
        let parameters = parameters.into_iter().map(|(name, shape)| ProgramParameter { name, shape }).collect();
        let program = ProgramShape { parameters, result };
        let bytes = ProgramShapeProto::from(&program).encode_to_vec();
        prop_assert_eq!(ProgramShape::try_from(&ProgramShapeProto::decode(&*bytes).unwrap()), Ok(program));
    }

    #[test]
    fn older_shapes_there_and_back(shape in strategy::legacy_shape()) {
        let bytes = LegacyShapeProto::from(&shape).encode_to_vec();
        prop_assert_eq!(LegacyShape::try_from(&LegacyShapeProto::decode(&*bytes).unwrap()), Ok(shape));
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = decode_shape(&bytes);
    }

    #[test]
    fn cut_or_changed_messages_have_an_answer(shape in strategy::shape(), place: usize, byte: u8) {
        let mut bytes = encode_shape(&shape);
        let place = place % bytes.len();
        bytes[place] = byte;
        let _ = decode_shape(&bytes);
        if let Ok(shape) = decode_shape(&bytes[..place]) {
            prop_assert_eq!(decode_shape(&encode_shape(&shape)), Ok(shape));
        }
    }
}

fn message(text: &str) -> ShapeProto {
    ShapeProto::from(&text.parse::<Shape>().unwrap())
}

/// The path and the text of the error for a changed message.
fn error(text: &str, change: impl FnOnce(&mut ShapeProto)) -> String {
    let mut message = message(text);
    change(&mut message);
    decode_shape(&message.encode_to_vec()).unwrap_err().to_string()
}

fn layout_error(change: impl FnOnce(&mut LayoutProto)) -> String {
    error("(s32[], (token[], f32[2,3]{1,0:T(8,128)SC(0:1)}))", |shape| {
        change(shape.tuple_shapes[1].tuple_shapes[1].layout.as_mut().unwrap());
    })
}

#[test]
fn every_error_has_the_path_to_its_field() {
    const ARRAY: &str = "tuple_shapes[1].tuple_shapes[1]";
    for (change, expected) in [
        (
            (|layout| layout.minor_to_major = vec![1]) as fn(&mut LayoutProto),
            ".layout.minor_to_major[0]: expected a dimension number less than 1, found 1",
        ),
        (
            |layout| layout.minor_to_major = vec![2, 1, 0],
            ".layout.minor_to_major: expected as many dimension numbers in minor_to_major as the array has dimensions (2), found 3",
        ),
        (
            |layout| layout.minor_to_major = vec![0, 0],
            ".layout.minor_to_major[1]: expected every dimension once in minor_to_major, found 0 again",
        ),
        (
            |layout| layout.minor_to_major = vec![0, -1],
            ".layout.minor_to_major[1]: expected a number of at least 0, found -1",
        ),
        (
            |layout| layout.tiles.push(TileProto::default()),
            ".layout.tiles[1]: expected at least one dimension in a tile, found none",
        ),
        (
            |layout| layout.tiles[0].dimensions[1] = 0,
            ".layout.tiles[0].dimensions[1]: expected a tile dimension of at least 1 or `*`, found 0",
        ),
        (
            |layout| layout.tiles[0].dimensions[1] = -2,
            ".layout.tiles[0].dimensions[1]: expected a number of at least 0, found -2",
        ),
        (
            |layout| layout.tail_padding_alignment_in_elements = -1,
            ".layout.tail_padding_alignment_in_elements: expected a number of at least 0, found -1",
        ),
        (|layout| layout.memory_space = 300, ".layout.memory_space: expected a memory_space of at most 127, found 300"),
        (|layout| layout.memory_space = -1, ".layout.memory_space: expected a number of at least 0, found -1"),
        (
            |layout| layout.split_configs[0].dimension = 2,
            ".layout.split_configs[0].dimension: expected a physical dimension less than 2, found 2",
        ),
        (
            |layout| layout.split_configs[0].split_indices.push(1),
            ".layout.split_configs[0].split_indices[1]: expected a split index greater than 1, found 1",
        ),
        (
            |layout| layout.split_configs.push(SplitConfigProto { dimension: 1, split_indices: vec![] }),
            ".layout.split_configs[1]: expected at least one split index, found none",
        ),
        (
            |layout| layout.physical_shape = Some(vec![]),
            ".layout.physical_shape: expected a dense layout, found physical_shape, which only sparse layouts of old versions of XLA had",
        ),
        (
            |layout| layout.index_primitive_type = 8,
            ".layout.index_primitive_type: expected a dense layout, found index_primitive_type, which only sparse layouts of old versions of XLA had",
        ),
    ] {
        assert_eq!(layout_error(change), format!("{ARRAY}{expected}"));
    }
    for (text, change, expected) in [
        (
            "f32[2,3]",
            (|shape| shape.dimensions[1] = -1) as fn(&mut ShapeProto),
            "dimensions[1]: expected a number of at least 0, found -1",
        ),
        (
            "f32[?]",
            |shape| shape.is_dynamic_dimension[0] = false,
            "dimensions[0]: expected a number of at least 0, found -9223372036854775808",
        ),
        (
            "f32[2,3]",
            |shape| shape.is_dynamic_dimension.push(true),
            "is_dynamic_dimension: expected 2 entries, found 3",
        ),
        ("f32[2]", |shape| shape.element_type = 0, "element_type: expected the number of an element type, found 0"),
        (
            "f32[2]",
            |shape| shape.dimensions[0] = i64::MAX,
            "expected a number of bytes that fits in an i64, found more",
        ),
        (
            "f32[2]",
            |shape| shape.tuple_shapes.push(message("token[]")),
            "tuple_shapes: a shape of this kind has no such field",
        ),
        (
            "(token[])",
            |shape| shape.tuple_shapes[0].dimensions.push(1),
            "tuple_shapes[0].dimensions: a shape of this kind has no such field",
        ),
        (
            "opaque[]",
            |shape| shape.layout = Some(LayoutProto::default()),
            "layout: a shape of this kind has no such field",
        ),
        ("b(f32[2])", |shape| shape.tuple_shapes.clear(), "tuple_shapes: expected 1 entries, found 0"),
        (
            "b(f32[2])",
            |shape| shape.tuple_shapes[0] = message("token[]"),
            "tuple_shapes[0]: expected an array in a buffer, found another kind of shape",
        ),
    ] {
        assert_eq!(error(text, change), expected);
    }
    let broken = decode_shape(&[0x1a, 0x05, 0x01]).unwrap_err();
    assert!(matches!(broken.kind(), ProtoErrorKind::Wire(_)) && broken.path().is_empty());
    let mut alone = LayoutProto { minor_to_major: vec![0, 0], ..LayoutProto::default() };
    assert_eq!(Layout::try_from(&alone).unwrap_err().path(), "minor_to_major[1]");
    alone.minor_to_major = vec![0, 1];
    assert_eq!(Layout::try_from(&alone), Ok("{0,1}".parse().unwrap()));
}

/// XLA refuses a program with fewer or more names than parameters (`RET_CHECK num_params == num_param_names`, jaxlib 0.10.2).
#[test]
fn a_program_needs_names_and_a_result() {
    let good = ProgramShapeProto {
        parameters: vec![message("f32[2]")],
        result: Some(message("token[]")),
        parameter_names: vec!["x".into()],
    };
    assert_eq!(ProgramShape::try_from(&good).unwrap().to_string(), "(x: f32[2]) -> token[]");
    let error = |change: fn(&mut ProgramShapeProto)| {
        let mut program = good.clone();
        change(&mut program);
        ProgramShape::try_from(&program).unwrap_err().to_string()
    };
    assert_eq!(error(|program| program.result = None), "result: expected this field, found none");
    assert_eq!(error(|program| program.parameter_names.clear()), "parameter_names: expected 1 entries, found 0");
    assert_eq!(
        error(|program| program.parameter_names.push("y".into())),
        "parameter_names: expected 1 entries, found 2"
    );
    let unnamed = ProgramShapeProto { parameter_names: vec![String::new()], ..good.clone() };
    assert_eq!(ProgramShape::try_from(&unnamed).unwrap().to_string(), "((unknown): f32[2]) -> token[]");
    assert_eq!(
        error(|program| program.parameters[0].dimensions[0] = -3),
        "parameters[0].dimensions[0]: expected a number of at least 0, found -3"
    );
}

#[test]
fn what_is_not_written_has_its_default() {
    let mut array = message("f32[2,3]");
    array.is_dynamic_dimension.clear();
    array.layout = None;
    assert_eq!(Shape::try_from(&array), Ok("f32[2,3]".parse().unwrap()));
    let mut array = message("f32[2,3]{0,1:T(8)}");
    array.layout.as_mut().unwrap().tail_padding_alignment_in_elements = 0;
    assert_eq!(Shape::try_from(&array), Ok("f32[2,3]{0,1:T(8)}".parse().unwrap()));
}

#[test]
fn old_and_new_fields_are_skipped() {
    let shape: Shape = "f32[2,3]{0,1:T(8,128)}".parse().unwrap();
    let message = ShapeProto::from(&shape);
    let mut layout = message.layout.clone().unwrap().encode_to_vec();
    // These fields are padded_dimensions and padding_value of 2017, format, max_sparse_elements, levels, and one that does not exist.
    layout.extend([0x12, 0x02, 0x03, 0x05, 0x18, 0x01, 0x20, 0x01, 0x28, 0x07]);
    layout.extend([0x4a, 0x02, 0x00, 0x00, 0x6a, 0x02, 0x01, 0x01, 0x72, 0x02, 0x01, 0x01, 0xba, 0x3e, 0x01, 0xff]);
    let mut bytes = ShapeProto { layout: None, ..message }.encode_to_vec();
    bytes.extend([0x2a, layout.len() as u8]);
    bytes.extend(layout);
    bytes.extend([0x08, 0x01, 0x98, 0x06, 0x2a]);
    assert_eq!(decode_shape(&bytes), Ok(shape));
    // Lists that are not packed are read too.
    assert_eq!(decode_shape(&[0x10, 0x0b, 0x18, 0x02, 0x18, 0x03]), Ok("f32[2,3]".parse().unwrap()));
}

#[test]
fn the_layout_of_2017_is_read() {
    // The fields are minor_to_major [0,1], padded_dimensions [3,5], padding_value zero.
    let layout = [0x0a, 0x02, 0x00, 0x01, 0x12, 0x02, 0x03, 0x05, 0x18, 0x01];
    let mut bytes = vec![0x10, 0x0b, 0x1a, 0x02, 0x02, 0x03, 0x2a, layout.len() as u8];
    bytes.extend(layout);
    let message = LegacyShapeProto::decode(&*bytes).unwrap();
    let shape = LegacyShape::try_from(&message).unwrap();
    assert_eq!(shape.to_string(), "f32[2,3]{0,1:PAD(3,5)V(zero)}");
    assert_eq!(LegacyShapeProto::from(&shape).encode_to_vec(), bytes);
    for (change, expected) in [
        (
            (|layout| layout.padded_dimensions = vec![3]) as fn(&mut LegacyLayoutProto),
            "layout.padded_dimensions: expected padded_dimensions to have a width for each of 2 dimensions, found 1",
        ),
        (
            |layout| layout.padded_dimensions[1] = 2,
            "layout.padded_dimensions[1]: expected a padded dimension at least as wide as its size 3, found 2",
        ),
        (
            |layout| layout.padded_dimensions[1] = -1,
            "layout.padded_dimensions[1]: expected a number of at least 0, found -1",
        ),
        (
            |layout| layout.minor_to_major[0] = 1,
            "layout.minor_to_major[1]: expected every dimension once in minor_to_major, found 1 again",
        ),
        (
            |layout| layout.padding_value = 77,
            "layout.padding_value: expected the number of a padding value (0 to 5), found 77",
        ),
        (
            |layout| layout.padding_value = -1,
            "layout.padding_value: expected the number of a padding value (0 to 5), found -1",
        ),
    ] {
        let mut message = message.clone();
        change(message.layout.as_mut().unwrap());
        assert_eq!(LegacyShape::try_from(&message).unwrap_err().to_string(), expected);
    }
    let without = LegacyShapeProto { layout: None, ..message };
    assert_eq!(LegacyShape::try_from(&without), Ok("f32[2,3]{1,0}".parse().unwrap()));
}

#[test]
fn two_hundred_tuples_inside_each_other_are_read_and_no_more() {
    let nested = |depth: usize| format!("{}f32[2]{{0}}{}", "(".repeat(depth), ")".repeat(depth));
    let deepest: Shape = nested(200).parse().unwrap();
    assert_eq!(decode_shape(&encode_shape(&deepest)), Ok(deepest.clone()));
    let deepest = ShapeProto::from(&deepest);
    let deeper = ShapeProto { element_type: 13, tuple_shapes: vec![deepest], ..ShapeProto::default() };
    assert!(decode_shape(&deeper.encode_to_vec()).is_err());
    let mut message = message("token[]");
    for _ in 0..201 {
        message = ShapeProto { element_type: 13, tuple_shapes: vec![message], ..ShapeProto::default() };
    }
    let error = Shape::try_from(&message).unwrap_err();
    assert_eq!(error.kind(), &ProtoErrorKind::Invalid(ValidationError::NestedTooDeep { limit: 200 }));
    assert!(error.to_string().ends_with("tuple_shapes[0]: expected at most 200 nested tuples, found more"));
}
