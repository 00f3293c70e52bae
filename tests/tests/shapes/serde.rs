//! serde: human-readable formats hold text, binary formats hold structure, and neither can produce an invalid shape.

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use xla_shape::{ArrayShape, ElementType, Layout, ProgramParameter, ProgramShape, Shape};
use xla_shape_parity::legacy::LegacyShape;
use xla_shape_tests::strategy;

fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Result<(), TestCaseError> {
    let text = serde_json::to_string(value).unwrap();
    prop_assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    let bytes = postcard::to_allocvec(value).unwrap();
    prop_assert_eq!(&postcard::from_bytes::<T>(&bytes).unwrap(), value);
    Ok(())
}

proptest! {
    #[test]
    fn shapes(shape in strategy::shape()) {
        there_and_back(&shape)?;
        prop_assert_eq!(serde_json::to_value(&shape).unwrap(), serde_json::Value::String(shape.to_string()));
    }

    #[test]
    fn arrays_and_layouts(array in strategy::array_shape()) {
        there_and_back(&array)?;
        there_and_back(array.layout())?;
        there_and_back(&array.element_type())?;
    }

    #[test]
    fn older_shapes(shape in strategy::legacy_shape()) {
        there_and_back(&shape)?;
    }

    #[test]
    fn programs(shape in strategy::shape()) {
        let parameter = ProgramParameter { name: "x".into(), shape: shape.clone() };
        there_and_back(&ProgramShape { parameters: vec![parameter], result: shape })?;
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(shape) = postcard::from_bytes::<Shape>(&bytes) {
            prop_assert_eq!(shape.to_string().parse::<Shape>(), Ok(shape));
        }
    }
}

#[test]
fn every_error_says_what_is_wrong() {
    let json = |text: &str| serde_json::from_str::<Shape>(text).unwrap_err().to_string();
    assert!(json("\"f32[2]{1}\"").starts_with("expected a dimension number less than 1, found 1"));
    assert!(json("7").starts_with("invalid type: integer `7`, expected the text of a shape"));
    let unknown = serde_json::from_str::<ElementType>("\"f31\"").unwrap_err().to_string();
    assert!(unknown.starts_with("expected an element type, found `f31`"));
    let layout = serde_json::from_str::<Layout>("\"{0,0}\"").unwrap_err().to_string();
    assert!(layout.starts_with("expected every dimension once in minor_to_major, found 0 again"));
    assert!(serde_json::from_str::<LegacyShape>("\"f32[2]{0:PAD(1)}\"").is_err());
}

#[test]
fn broken_structures_are_errors() {
    // A token is variant 2; a tuple is variant 1, with its number of elements.
    let read = |parts: &[u8]| postcard::from_bytes::<Shape>(parts);
    assert_eq!(read(&[1, 2]), Ok(Shape::Token));
    assert_eq!(read(&[2, 1, 1, 2]), Ok(Shape::tuple(vec![Shape::Token]).unwrap()));
    for broken in [&[0_u8][..], &[2, 2, 2], &[2, 1, 2, 2], &[1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f], &[1, 9]] {
        assert!(read(broken).is_err(), "{broken:?}");
    }
    let nested = |depth: usize| {
        let mut bytes = postcard::to_allocvec(&(depth + 1)).unwrap();
        bytes.extend([1, 1].repeat(depth));
        bytes.push(2);
        bytes
    };
    assert_eq!(read(&nested(200)).unwrap().subshape_count(), 201);
    assert!(read(&nested(201)).is_err());
    assert!(read(&nested(1_000_000)).is_err());
    let mut array = postcard::to_allocvec(&"f32[2]".parse::<ArrayShape>().unwrap()).unwrap();
    array[0] = 0;
    assert!(postcard::from_bytes::<ArrayShape>(&array).is_err());
    let mut older = postcard::to_allocvec(&"f32[2]{0:PAD(4)V(one)}".parse::<LegacyShape>().unwrap()).unwrap();
    assert!(postcard::from_bytes::<LegacyShape>(&older).is_ok());
    // The value is the last byte, whose lowest bit is the sign.
    *older.last_mut().unwrap() = 13 << 1;
    assert!(postcard::from_bytes::<LegacyShape>(&older).is_err());
}
