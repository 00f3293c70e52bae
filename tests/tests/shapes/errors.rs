//! Every kind of error in shape text: its message, and the part of the text that it points to.

use std::collections::BTreeSet;
use xla_shape::text::ParseErrorKind;
use xla_shape::{ArrayShape, Layout, Shape, StrideTableError, Tile, TileDimension, ValidationError};

/// The name of an enum's variant.
fn name(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}").split([' ', '(', '{']).next().unwrap().to_owned()
}

#[test]
fn every_kind_of_parse_error() {
    let deep = "(".repeat(201);
    let mut kinds = BTreeSet::new();
    for (text, message, part) in [
        ("f32[2", "expected `,` or `]`, found the end of the text", ""),
        ("f32{0}", "expected `[` and the dimensions, found `{`", "{"),
        ("f32[2]{0:T}", "expected `(`, found `}`", "}"),
        ("f32[2]{}", "expected a dimension number, found `}`", "}"),
        (
            "f32[2]{0:Q(1)}",
            "expected a layout attribute (`T`, `L`, `E`, `S`, `SC` or `M`) or the end of the layout, found `Q`",
            "Q",
        ),
        ("f32[2] x", "expected the end of the shape, found `x`", "x"),
        ("(f32[2],)", "expected a shape, found `)`", ")"),
        ("float32[2]", "expected an element type, found `float32`; did you mean `f32`?", "float32"),
        ("f33[2]", "expected an element type, found `f33`; did you mean `f32`?", "f33"),
        (
            "s8[9223372036854775808]",
            "expected a number that fits in an i64, found `9223372036854775808`",
            "9223372036854775808",
        ),
        ("f32[0x10]", "expected a number in plain decimal digits, found `0x10`", "0x10"),
        ("f32[-2]", "expected a dimension's size, `<=` and a bound, or `?`, found `-2`, which is negative", "-2"),
        ("f32[2]{0:S(1)T(2)}", "`T` (tiles) must come before `S` (memory_space)", "T"),
        ("f32[2]{0:S(1)S(2)}", "expected `S` (memory_space) at most once, found it again", "S"),
        ("f32[2] /* x", "expected `*/` to close the comment, found the end of the text", "/* x"),
        (&*deep, "expected at most 200 nested tuples, found more", "("),
        ("f32[2]{1}", "expected a dimension number less than 1, found 1", "1"),
    ] {
        let error = text.parse::<Shape>().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
        assert_eq!(&text[std::ops::Range::from(error.span())], part, "{text}");
        assert!(error.render(text).to_string().contains(message), "{text}");
        kinds.insert(name(error.kind()));
    }
    for kind in [
        "Unexpected",
        "UnknownElementType",
        "NumberTooLarge",
        "MalformedNumber",
        "NegativeNumber",
        "AttributeOutOfOrder",
        "DuplicateAttribute",
        "UnclosedComment",
        "Invalid",
    ] {
        assert!(kinds.contains(kind), "no text has the error {kind}");
    }
}

#[test]
fn every_broken_rule() {
    let mut kinds = BTreeSet::new();
    for (text, message, part) in [
        (
            "f32[2,3]{0}",
            "expected as many dimension numbers in minor_to_major as the array has dimensions (2), found 1",
            "0",
        ),
        ("f32[2]{5}", "expected a dimension number less than 1, found 5", "5"),
        ("f32[2,3]{1,1}", "expected every dimension once in minor_to_major, found 1 again", "1"),
        ("f32[2]{0:T(2)()}", "expected at least one dimension in a tile, found none", "()"),
        ("f32[2]{0:T(2)(0,1)}", "expected a tile dimension of at least 1 or `*`, found 0", "0"),
        (
            "f32[2]{0:T(2,*)}",
            "expected a size at the end of a tile, found `*`: no dimension is left to combine with",
            "*",
        ),
        ("f32[2]{0:L(0)}", "expected a tail_padding_alignment_in_elements of at least 1, found 0", "0"),
        ("f32[2]{0:S(128)}", "expected a memory_space of at most 127, found 128", "128"),
        ("f32[2]{0:SC(1:1)}", "expected a physical dimension less than 1, found 1", "1"),
        ("f32[3]{0:SC(0:1)(0:2)}", "expected every physical dimension to be split at most once, found 0 again", "0"),
        ("f32[3]{0:SC(0:1,1)}", "expected a split index greater than 1, found 1", "1"),
        ("f32[3]{0:SC(0:3)}", "expected a split index less than the dimension's size 3, found 3", "3"),
        (
            "f32[?]{0:SC(0:1)}",
            "expected to split a dimension with a size, found physical dimension 0, which is unbounded",
            "0",
        ),
        (
            "f32[2]{0:#(u32)}",
            "expected a dense layout, found index_primitive_type, which only sparse layouts of old versions of XLA had",
            "#(u32)",
        ),
        (
            "s8[9223372036854775807,2]",
            "expected a number of elements that fits in an i64, found more",
            "s8[9223372036854775807,2]",
        ),
        (
            "s16[9223372036854775807]",
            "expected a number of bytes that fits in an i64, found more",
            "s16[9223372036854775807]",
        ),
        (
            "s8[9223372036854775807]{0:T(2)}",
            "expected a number of elements with padding that fits in an i64, found more",
            "s8[9223372036854775807]{0:T(2)}",
        ),
        (
            "s8[9223372036854775807]{0:M(1)}",
            "expected a number of bytes with padding that fits in an i64, found more",
            "s8[9223372036854775807]{0:M(1)}",
        ),
    ] {
        let error = text.parse::<Shape>().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
        assert_eq!(&text[std::ops::Range::from(error.span())], part, "{text}");
        let ParseErrorKind::Invalid(error) = error.kind() else { panic!("{text}: {error}") };
        kinds.insert(name(error));
    }
    // Errors about numbers and lists that the text format cannot express.
    let large = u64::MAX;
    let tile = |entry| Layout::descending(1).with_tiles(&[Tile::new(&[entry])]);
    let errors = [
        (tile(TileDimension::Size(large)), "expected a tile dimension that fits in an i64, found 18446744073709551615"),
        (
            Layout::descending(1).with_element_size_in_bits(large),
            "expected element_size_in_bits that fits in an i64, found 18446744073709551615",
        ),
        (
            Layout::descending(1).with_split_configs(&[xla_shape::SplitConfig::new(0, &[])]),
            "expected at least one split index, found none",
        ),
    ];
    for (result, message) in errors {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), message);
        kinds.insert(name(&error));
    }
    let error = ArrayShape::with_default_layout(xla_shape::ElementType::S8, &[large]).unwrap_err();
    assert_eq!(error.to_string(), "expected a dimension's size that fits in an i64, found 18446744073709551615");
    kinds.insert(name(&error));
    // Other tests check the errors of older layouts and of tuples.
    assert_eq!(kinds.len(), 22, "{kinds:?}");
}

#[test]
fn what_has_no_size_or_place() {
    let unbounded: ArrayShape = "f32[2,?]".parse().unwrap();
    let error = unbounded.stride_table().unwrap_err();
    assert_eq!(error, StrideTableError::UnboundedDimension { dimension: 1 });
    assert_eq!(error.to_string(), "dimension 1 is unbounded: positions are unknown until its size is known");
    let split: ArrayShape = "s8[9223372036854775807]{0:T(2)SC(0:4611686018427387903)}".parse().unwrap();
    assert_eq!(split.stride_table().unwrap_err().to_string(), "the array spans more positions than fit in an i64");
    let shape = |text: &str| text.parse::<Shape>().unwrap();
    assert_eq!(shape("(f32[?])").byte_size(), None);
    let max = "s8[9223372036854775807]";
    assert_eq!(shape(&format!("({max},{max},s8[2])")).byte_size(), None);
    let message = std::panic::catch_unwind::<_, ()>(|| ValidationError::ZeroTailPaddingAlignment.panic());
    let message = message.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(*message, ValidationError::ZeroTailPaddingAlignment.to_string());
}
