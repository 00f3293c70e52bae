//! The limits of `docs/limits.md` that no other file tests, and large inputs for which there is no limit.

use std::fmt::Write;
use xla_shape::validate::{MAX_MEMORY_SPACE, MAX_SIZE};
use xla_shape::{ArrayShape, Shape};

fn there_and_back(text: &str) -> Shape {
    let shape: Shape = text.parse().unwrap();
    assert!(shape.to_string() == text, "of {} bytes", text.len());
    shape
}

fn error(text: &str) -> String {
    text.parse::<Shape>().unwrap_err().to_string()
}

#[test]
fn lists_have_no_limit_at_run_time() {
    let count = 3000;
    let order = (0..count).rev().map(|number: usize| number.to_string()).collect::<Vec<_>>().join(",");
    let array = there_and_back(&format!("f32[{}]{{{order}}}", vec!["1"; count].join(",")));
    assert_eq!(array.byte_size(), Some(4));
    let entries = format!("T({})", vec!["1"; count].join(","));
    assert_eq!(
        there_and_back(&format!("f32[{}]{{{order}:{entries}}}", vec!["1"; count].join(","))).byte_size(),
        Some(4)
    );
    assert_eq!(there_and_back(&format!("f32[7]{{0:T(8){}}}", "(1)".repeat(count))).byte_size(), Some(32));
    let mut tuple = String::from("(");
    for number in 0..count {
        write!(tuple, "{}u8[{number}]{{0}}", if number > 0 { ", " } else { "" }).unwrap();
    }
    let tuple: Shape = (tuple + ")").parse().unwrap();
    assert_eq!(xla_shape_parity::shape_util::get_leaf_count(&tuple), count);
    assert!(tuple.to_string().parse() == Ok(tuple));
    let spaces = " ".repeat(1 << 20);
    assert_eq!(format!("f32[2{spaces}]").parse::<Shape>().unwrap().byte_size(), Some(8));
}

#[test]
fn sizes_end_where_xlas_end() {
    let largest = there_and_back(&format!("u8[{MAX_SIZE}]{{0}}"));
    assert_eq!(largest.byte_size(), Some(MAX_SIZE));
    let array: ArrayShape = format!("u8[{MAX_SIZE}]").parse().unwrap();
    assert_eq!(array.stride_table().unwrap().as_ref().linear_index(&[MAX_SIZE - 1]), MAX_SIZE - 1);
    assert!(array.stride_table().unwrap().as_ref().checked_linear_index(&[MAX_SIZE]).is_none());
    for beyond in ["9223372036854775808", "18446744073709551616", &"9".repeat(5000)] {
        for text in [
            format!("u8[{beyond}]"),
            format!("u8[2]{{{beyond}}}"),
            format!("u8[2]{{0:T({beyond})}}"),
            format!("u8[2]{{0:L({beyond})}}"),
        ] {
            assert!(!error(&text).is_empty(), "{text}");
        }
    }
    // Each number fits, but the product does not. No answer wraps around.
    for text in ["f32[9223372036854775807]", "u8[4294967296,4294967296]", "u8[3]{0:T(9223372036854775807,2)}"] {
        if let Ok(array) = text.parse::<ArrayShape>() {
            assert_eq!(array.byte_size(), None, "{text}");
        }
    }
}

/// The position is unspecified, but there must be one: no panic, even in builds that check for overflow.
#[test]
fn an_index_out_of_bounds_has_some_position() {
    for text in ["u8[3,5]", "u8[3,5]{0,1:T(*,2)}", "u8[3,5]{1,0:T(*,7)(3)}", "u8[3,5]{1,0:T(2,3)(*,*,2)}"] {
        let array: ArrayShape = text.parse().unwrap();
        let table = array.stride_table().unwrap();
        for index in [[3, 5], [u64::MAX, 0], [0, u64::MAX], [u64::MAX, u64::MAX]] {
            let _ = table.as_ref().linear_index(&index);
            assert_eq!(table.as_ref().checked_linear_index(&index), None, "{text}");
        }
    }
}

#[test]
fn memory_spaces_end_where_xlas_end() {
    there_and_back(&format!("u8[2]{{0:S({MAX_MEMORY_SPACE})}}"));
    assert!(error(&format!("u8[2]{{0:S({})}}", MAX_MEMORY_SPACE + 1)).contains("127"));
}
