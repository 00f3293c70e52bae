//! Compares floats of at most eight bits with `ml_dtypes` (`corpus/README.md`).

use paste::paste;
use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_tests::corpus;

#[derive(Deserialize)]
struct Row {
    r#type: String,
    /// For each code, the bits of its value as f32.
    values: Vec<String>,
    /// The bits of an f32, and the code to which it is converted.
    conversions: Vec<(String, u8)>,
}

fn f32_of(bits: &str) -> f32 {
    f32::from_bits(u32::from_str_radix(bits, 16).unwrap())
}

/// The rows by type.
fn rows() -> BTreeMap<String, Row> {
    corpus::<Row>("floats.jsonl.zst").into_iter().map(|row| (row.r#type.clone(), row)).collect()
}

/// A test for each type, and a test that every row has one.
macro_rules! tests {
    ($($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        $(tests! { @$($value)* $variant $name })*

        #[test]
        fn every_type_has_a_test() {
            let mut rows = rows();
            $(rows.remove(stringify!($name));)*
            assert!(rows.is_empty(), "types without a test: {:?}", rows.keys());
        }
    };
    (@Float8 $name:ident $text:ident) => { tests! { @float $name $text } };
    (@FloatBelow8 $name:ident $text:ident) => { tests! { @float $name $text } };
    (@float $name:ident $text:ident) => { paste! {
            use xla_shape::element::$name;

            #[test]
            fn [<$text _converts_as_in_ml_dtypes>]() {
                let row = rows().remove(stringify!($text)).unwrap();
                for (code, bits) in row.values.iter().enumerate() {
                    let value = $name::from_bits(code as u8);
                    let (expected, found) = (f32_of(bits), f32::from(value));
                    assert_eq!(found.to_bits(), expected.to_bits(), "{code}: {found}, not {expected}");
                    assert_eq!(value.is_nan(), expected.is_nan(), "{code}");
                    assert_eq!(usize::from(value.to_bits()), code);
                    assert_eq!(value.partial_cmp(&$name::from_f32(1.0)), expected.partial_cmp(&1.0), "{code}");
                    assert_eq!((format!("{value}"), format!("{value:?}")), (format!("{expected}"), format!("{expected:?}")));
                    // Bits beyond the type's width are ignored.
                    let other = if row.values.len() < 256 { code | row.values.len() } else { code };
                    assert_eq!($name::from_bits(other as u8).to_bits(), value.to_bits());
                }
                for (bits, code) in &row.conversions {
                    let (value, found) = (f32_of(bits), $name::from_f32(f32_of(bits)).to_bits());
                    assert_eq!(found, *code, "{value:e} ({bits})");
                }
            }
    } };
    (@$($row:tt)*) => {};
}

xla_shape::element_types!(tests);

#[test]
fn conversions_are_constants() {
    const TWO: F8E4M3Fn = F8E4M3Fn::from_f32(2.1);
    const BACK: f32 = TWO.to_f32();
    assert_eq!(BACK, 2.0);
}
