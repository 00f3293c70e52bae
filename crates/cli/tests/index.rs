//! `xla-shape explain --index` and `--position`, and the map that `draw` writes as JSON.

use crate::program::Command;
use serde_json::{Value, json};
use std::process::Output;
use xla_shape_corpus::corpus;

fn run(arguments: &[&str]) -> Output {
    Command::program().args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

const SCHEMA: &str = "xla-shape/explain-index/1";

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

#[test]
fn an_element_has_a_position() {
    assert_eq!(
        json(&["explain", "f32[3,5]{1,0:T(2,2)}", "--index", "2,3", "--format", "json"]),
        json!({"schema": SCHEMA, "index": [2, 3], "linear": 17, "position": 17, "byte_offset": 68, "bit_offset": 0})
    );
    assert_eq!(
        json(&["explain", "s4[3,<=5]{1,0:T(2,2)E(4)M(16)}", "--index", "[2, 3]", "--format", "json"]),
        json!({"schema": SCHEMA, "index": [2, 3], "linear": 17, "position": 17, "byte_offset": 24, "bit_offset": 4})
    );
    assert_eq!(json(&["explain", "f32[]", "--index", "", "--format", "json"])["linear"], 0);
    assert_eq!(json(&["explain", "f32[3,5]{1,0:T(2,2)}", "--index", "x=3, y=2", "--format", "json"])["linear"], 17);
}

#[test]
fn a_position_has_an_element_or_padding() {
    let at = |position| json(&["explain", "f32[3,5]{1,0:T(2,2)L(32)}", "--position", position, "--format", "json"]);
    assert_eq!(at("17")["index"], json!([2, 3]));
    for position in ["9", "30"] {
        let position_number: usize = position.parse().unwrap();
        let padding = json!({"schema": SCHEMA, "index": null, "linear": null, "padding": true, "position": position_number,
            "byte_offset": 4 * position_number, "bit_offset": 0});
        assert_eq!(at(position), padding);
    }
}

#[test]
fn the_digits_are_shown() {
    let expected = "\
element [1,2,3,4,5] at position 8,307, byte 33,228
  v0 = d0 * 7 + d1 = 9
  v1 = v0 * 8 + d2 = 75
  v2 = d3 * 10 + d4 = 45
  v1 / 2 = 37  of 56  * 222 = 8214
  v2 / 3 = 15  of 37  *   6 =   90
  v1 % 2 = 1   of 2   *   3 =    3
  v2 % 3 = 0   of 3   *   1 =    0
  in tile [37,15]
";
    assert_eq!(text(&["explain", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "--index", "1,2,3,4,5"]), expected);
    assert_eq!(text(&["explain", "f32[3]{0:T(2)}", "--position", "3"]), "padding at position 3, byte 12\n");
}

#[test]
fn an_index_or_position_outside_is_an_error() {
    for (arguments, message) in [
        (&["f32[3]", "--index", "3"][..], "error: index 3 is out of bounds for dimension 0 (size 3)\n"),
        (
            &["f32[3]", "--index", "1,1"],
            "error: expected one entry for each of 1 dimensions, found 2\n  |\n1 | 1,1\n  | ^^^\n",
        ),
        (
            &["f32[3]", "--index", "w"],
            "error: expected the letter of a dimension without an entry, found `w`\n  |\n1 | w\n  | ^\n",
        ),
        (
            &["f32[3]{0:T(2)}", "--position", "4"],
            "error: f32[3]{0:T(2)} has 4 positions, numbered from 0; 4 is not one of them\n",
        ),
        (&["f32[0]", "--position", "0"], "error: f32[0]{0} has 0 positions, numbered from 0; 0 is not one of them\n"),
        (&["token[]", "--index", "0"], "error: expected an array, found token[]: only arrays have elements\n"),
        (
            &["f32[?]", "--index", "0"],
            "error: dimension 0 is unbounded: positions are unknown until its size is known\n",
        ),
    ] {
        let output = run(&[&["explain"], arguments].concat());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    }
    for arguments in [
        &["f32[3]", "--index"][..],
        &["f32[3]", "--index", "-1"],
        &["f32[3]", "--position", "-1"],
        &["f32[3]", "--index", "1", "--position", "1"],
        &["f32[3]", "--index", "1", "--for", "v5e"],
    ] {
        assert_eq!(run(&[&["explain"], arguments].concat()).status.code(), Some(2), "{arguments:?}");
    }
}

/// Compares with maps from XLA.
#[test]
fn maps_agree_with_xla() {
    let mut agreed = 0;
    // The tests of shapes check every row. Here, each row starts the program, so only some are checked.
    for row in corpus::<Value>("linear_index.jsonl").iter().step_by(5) {
        let layout = row["layout"].as_str().unwrap();
        let expected = row["physical_to_logical"].as_array().unwrap().iter();
        let expected = expected.map(|entry| if entry == -1 { Value::Null } else { entry.clone() });
        assert_eq!(map(layout), Value::Array(expected.collect()), "{layout}");
        agreed += 1;
    }
    assert!(agreed > 40);
    println!("{agreed} maps agree");
}

/// The element at each position, in the JSON of a drawing.
fn map(shape: &str) -> Value {
    json(&["draw", shape, "--format", "json"])["physical_to_logical"].take()
}

#[test]
fn maps_with_padding_at_the_end_and_without_elements() {
    assert_eq!(map("u8[2]{0:L(4)}"), json!([0, 1, null, null]));
    assert_eq!(map("u8[0]"), json!([]));
    assert_eq!(map("u8[]"), json!([0]));
}

#[test]
fn a_large_array_has_no_map() {
    assert_eq!(map("u8[1048576]").as_array().map(Vec::len), Some(1 << 20));
    assert_eq!(map("u8[1048577]"), Value::Null);
    assert_eq!(map("f32[100000,10000]"), Value::Null);
}
