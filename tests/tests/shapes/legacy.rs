//! Layouts of 2017: their text, their map, and their modern equivalent.

use proptest::prelude::*;
use xla_shape::element::U8;
use xla_shape::{ArrayShape, DynBuffer, ElementType, Slot, shape};
use xla_shape_parity::legacy::{LegacyError, LegacyShape, PaddingValue};
use xla_shape_tests::strategy;

/// The example in the documents of 2017, exactly.
#[test]
fn the_documents_example() {
    let shape: LegacyShape = "f32[2,3]{0,1:PAD(3,5)V(zero)}".parse().unwrap();
    let letters = [["a", "b", "c"], ["d", "e", "f"]];
    let table = shape.modern().stride_table().unwrap();
    let memory = table.as_ref().iter().map(|slot| match slot {
        Slot::Element(index) => letters[index[0] as usize][index[1] as usize],
        _ => "0",
    });
    assert_eq!(memory.collect::<Vec<_>>().join(" "), "a d 0 b e 0 c f 0 0 0 0 0 0 0");
    assert_eq!(shape.padding_bits(), Some(0));
}

/// The same example in memory, for every element type and every padding value of the type.
#[test]
fn padding_is_filled_with_its_value() {
    let mut letters = DynBuffer::padded(&"u8[2,3]{0,1:PAD(3,5)V(zero)}".parse().unwrap()).unwrap();
    letters.fill_with::<U8>(|index| b"abcdef"[3 * index[0] + index[1]]).unwrap();
    assert_eq!(letters.as_bytes(), b"ad\0be\0cf\0\0\0\0\0\0\0");
    for &element_type in ElementType::ALL {
        for value in PaddingValue::ALL {
            let shape = LegacyShape::new(element_type, &[2, 3], &[0, 1], &[3, 5], Some(value)).unwrap();
            match (value.bits(element_type), DynBuffer::padded(&shape)) {
                (Some(bits), Ok(buffer)) => {
                    let element = &bits.to_le_bytes()[..element_type.storage_bytes() as usize];
                    assert_eq!(buffer.as_bytes(), element.repeat(15), "{shape}");
                }
                (None, Err(error)) => {
                    let message = format!("expected a padding value that {element_type} has, found `{}`", value.name());
                    assert_eq!(error.to_string(), message);
                }
                (_, other) => panic!("{shape}: {other:?}"),
            }
        }
    }
}

/// The same with the shape as a type.
#[test]
fn typed_buffers_hold_the_value_too() {
    let mut letters = <shape!(u8[2,3]{0,1:PAD(3,5)V(zero)})>::buffer();
    letters.fill_with(|[i, j]| b"abcdef"[3 * i + j]);
    assert_eq!(letters.as_bytes(), b"ad\0be\0cf\0\0\0\0\0\0\0");
    macro_rules! check {
        ($($element:ident $value:ident;)*) => { $({
            type Typed = shape!($element[2,3]{0,1:PAD(3,5)V($value)});
            let buffer = Typed::try_buffer().unwrap();
            assert_eq!(buffer.as_bytes(), DynBuffer::padded(Typed::LEGACY).unwrap().as_bytes(), "{}", Typed::LEGACY);
        })* };
    }
    check! {
        pred one; s2 lowest; s4 highest; s8 lowest; s16 one; s32 highest; s64 lowest; u1 one; u4 highest; u64 highest;
        f16 lowest; bf16 highest; f32 lowest; f64 one; f8e5m2 highest; f8e8m0fnu one; f6e3m2fn lowest; f4e2m1fn highest;
        c64 one; c128 zero;
    }
    let anything = <shape!(f32[3]{0:PAD(5)})>::buffer();
    assert_eq!(anything.as_bytes(), [0; 20]);
}

#[test]
fn text_is_read_and_printed() {
    for (text, canonical, modern) in [
        ("f32[2,3]{0,1:PAD(3,5)V(one)}", "f32[2,3]{0,1:PAD(3,5)V(one)}", "f32[2,3]{0,1:T(5,3)}"),
        ("s8[ 4 ]{0: PAD ( 4 ) }", "s8[4]{0:PAD(4)}", "s8[4]{0:T(4)}"),
        ("f32[2,3]", "f32[2,3]{1,0}", "f32[2,3]{1,0}"),
        ("f32[2,3]{0,1}", "f32[2,3]{0,1}", "f32[2,3]{0,1}"),
        ("f32[]", "f32[]", "f32[]"),
        ("f32[0,2]{1,0:PAD(0,4)V(highest)}", "f32[0,2]{1,0:PAD(1,4)V(highest)}", "f32[0,2]{1,0:T(1,4)}"),
    ] {
        let shape: LegacyShape = text.parse().unwrap();
        assert_eq!(shape.to_string(), canonical);
        assert_eq!(shape.modern().to_string(), modern);
        assert_eq!(canonical.parse(), Ok(shape));
    }
}

/// Values without a meaning are ignored.
#[test]
fn what_means_the_same_is_the_same() {
    let shape = |sizes: &[u64], widths: &[u64], value| {
        let order: Vec<_> = (0..sizes.len()).collect();
        LegacyShape::new(ElementType::F32, sizes, &order, widths, value).unwrap()
    };
    let unpadded = shape(&[2, 3], &[], Some(PaddingValue::One));
    assert_eq!((&unpadded, unpadded.padding_value()), (&shape(&[2, 3], &[], None), None));
    assert_eq!(LegacyShape::from_modern(unpadded.modern(), Some(PaddingValue::One)), Some(unpadded));
    let empty = shape(&[0, 2], &[0, 4], Some(PaddingValue::One));
    assert_eq!(empty, shape(&[0, 2], &[1, 4], Some(PaddingValue::One)));
    assert_eq!(empty.padded_dimensions(), [1, 4]);
    assert_eq!(empty.modern().byte_size(), Some(0));
    assert!(DynBuffer::padded(&empty).unwrap().as_bytes().is_empty());
}

#[test]
fn padding_values_have_the_numbers_of_2017() {
    for number in -2..9 {
        match PaddingValue::from_proto_number(number) {
            Ok(value) => assert_eq!(PaddingValue::proto_number(value), if number == 5 { 0 } else { number }),
            Err(error) => {
                assert!(!(0..=5).contains(&number), "{number}");
                assert_eq!(error, LegacyError::UnknownPaddingValue { number });
                assert_eq!(
                    error.to_string(),
                    format!("expected the number of a padding value (0 to 5), found {number}")
                );
            }
        }
    }
}

#[test]
fn every_error_stands_at_its_place() {
    for (text, message, place) in [
        ("f32[2,3]{0,1:PAD(3)}", "expected padded_dimensions to have a width for each of 2 dimensions, found 1", "(3)"),
        ("f32[2,3]{0,1:PAD(3,2)}", "expected a padded dimension at least as wide as its size 3, found 2", "2"),
        ("f32[2,3]{0,0:PAD(3,5)}", "expected every dimension once in minor_to_major, found 0 again", "0"),
        (
            "f32[2,3]{0:PAD(3,5)}",
            "expected as many dimension numbers in minor_to_major as the array has dimensions (2), found 1",
            "0",
        ),
        (
            "s8[2,3]{1,0:PAD(9223372036854775807,3)}",
            "expected a number of elements with padding that fits in an i64, found more",
            "s8[2,3]{1,0:PAD(9223372036854775807,3)}",
        ),
        (
            "f32[2]{0:V(zero)}",
            "expected the padding of a layout (`PAD`, then `V`) or the end of the layout, found `V`",
            "V",
        ),
        (
            "f32[2]{0:PAD(2)T(2)}",
            "expected the padding of a layout (`PAD`, then `V`) or the end of the layout, found `T`",
            "T",
        ),
        (
            "f32[2]{0:T(2)}",
            "expected the padding of a layout (`PAD`, then `V`) or the end of the layout, found `T`",
            "T",
        ),
        (
            "f32[2]{0:PAD(2)V(two)}",
            "expected a padding value: `zero`, `one`, `lowest` or `highest`, found `two`",
            "two",
        ),
        ("f32[2]{0:PAD()}", "expected the width of a padded dimension, found `)`", ")"),
        ("f32[<=2]", "expected a dimension's size, found `<=2`", "<=2"),
        ("(f32[2])", "expected an element type, found `(`", "("),
    ] {
        let error = text.parse::<LegacyShape>().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
        assert_eq!(&text[std::ops::Range::from(error.span())], place, "{text}");
    }
    // This error cannot come from a text.
    let error = LegacyShape::new(ElementType::S8, &[1], &[0], &[u64::MAX], None).unwrap_err();
    assert_eq!(error, LegacyError::WidthTooLarge { dimension: 0, width: u64::MAX });
    let message = "expected a padded dimension's width that fits in an i64, found 18446744073709551615";
    assert_eq!(error.to_string(), message);
    // The text of modern shapes does not have `PAD`.
    assert!("f32[2]{0:PAD(2)}".parse::<ArrayShape>().is_err());
}

proptest! {
    #[test]
    fn text_there_and_back(shape in strategy::legacy_shape()) {
        prop_assert_eq!(shape.to_string().parse(), Ok(shape));
    }

    /// Every element has the position that it has in an array whose sizes are the padded widths.
    #[test]
    fn an_array_lies_as_one_of_the_widths(shape in strategy::legacy_shape()) {
        let widths = match shape.padded_dimensions() {
            [] => shape.dimensions().iter().filter_map(|size| size.extent()).collect(),
            widths => widths.to_vec(),
        };
        let table = shape.modern().stride_table().unwrap();
        let elements = shape.modern().elements().unwrap();
        let expected = if elements == 0 { 0 } else { widths.iter().product() };
        prop_assert_eq!(table.as_ref().positions(), expected);
        let mut strides = vec![0; widths.len()];
        let mut stride = 1;
        for &dimension in shape.minor_to_major() {
            strides[dimension] = stride;
            stride *= widths[dimension];
        }
        let mut count = 0;
        for (position, slot) in (0..).zip(table.as_ref().iter()) {
            let Slot::Element(index) = slot else { continue };
            count += 1;
            prop_assert_eq!(index.iter().zip(&strides).map(|(entry, stride)| entry * stride).sum::<u64>(), position);
        }
        prop_assert_eq!(count, elements);
    }

    #[test]
    fn to_the_modern_layout_and_back(shape in strategy::legacy_shape()) {
        let back = LegacyShape::from_modern(shape.modern(), shape.padding_value()).unwrap();
        prop_assert_eq!(back.modern(), shape.modern());
        prop_assert_eq!(back, shape);
    }

    /// If a modern layout has an equivalent of 2017, every element has the same position in both.
    #[test]
    fn from_any_modern_layout_only_to_the_same_map(array in strategy::small_array_shape()) {
        if let Some(shape) = LegacyShape::from_modern(&array, None) {
            let (old, new) = (shape.modern().stride_table().unwrap(), array.stride_table().unwrap());
            prop_assert_eq!(old.as_ref().iter().collect::<Vec<_>>(), new.as_ref().iter().collect::<Vec<_>>());
        }
    }
}

/// Modern layouts that are equivalent to widths, although they have several tiles or another form.
#[test]
fn an_older_layout_is_found_where_there_is_one() {
    let convert = |text: &str| {
        let array: ArrayShape = text.parse().unwrap();
        LegacyShape::from_modern(&array, None).map(|shape| shape.to_string())
    };
    for (modern, expected) in [
        ("f32[2,3]{1,0:T(4)}", Some("f32[2,3]{1,0:PAD(2,4)}")),
        ("f32[3,8]{1,0:T(1,4)}", Some("f32[3,8]{1,0:PAD(3,8)}")),
        ("f32[3,5]{1,0:T(3,1)}", Some("f32[3,5]{0,1:PAD(3,5)}")),
        ("f32[5,1,7]{2,1,0:T(2,8)}", Some("f32[5,1,7]{2,0,1:PAD(5,1,16)}")),
        ("f32[3,8]{1,0:T(2,4)}", None),
        ("bf16[16,128]{1,0:T(8,128)(2,1)}", None),
        ("f32[2,3]{1,0:S(1)}", None),
        ("f32[<=2]", None),
        ("f32[?]", None),
    ] {
        assert_eq!(convert(modern).as_deref(), expected, "{modern}");
    }
}

#[test]
fn every_element_type_has_the_values_it_can_have() {
    for &element_type in ElementType::ALL {
        let [zero, one, lowest, highest] = PaddingValue::ALL.map(|value| value.bits(element_type));
        assert_eq!(zero.is_none(), element_type == ElementType::F8E8M0Fnu, "{element_type}");
        assert_eq!(one.is_none(), element_type == ElementType::S1, "{element_type}");
        assert_eq!(lowest.is_none(), element_type.is_complex(), "{element_type}");
        for bits in [zero, one, lowest, highest].into_iter().flatten() {
            assert!(element_type.bits() == 128 || bits >> element_type.bits() == 0, "{element_type}");
        }
    }
    let bits = |value: PaddingValue, element_type| value.bits(element_type).unwrap();
    assert_eq!(f32::from_bits(bits(PaddingValue::Lowest, ElementType::F32) as u32), f32::NEG_INFINITY);
    assert_eq!(f64::from_bits(bits(PaddingValue::Highest, ElementType::F64) as u64), f64::INFINITY);
    assert_eq!(f64::from_bits(bits(PaddingValue::One, ElementType::F64) as u64), 1.0);
    assert_eq!(bits(PaddingValue::Lowest, ElementType::S64) as u64 as i64, i64::MIN);
    assert_eq!(bits(PaddingValue::Highest, ElementType::S16), 0x7fff);
    assert_eq!(bits(PaddingValue::One, ElementType::C64), u128::from(1_f32.to_bits()));
}
