//! `xla-shape index` and `xla-shape map`, run as programs.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::process::Output;

fn run(arguments: &[&str]) -> Output {
    Command::cargo_bin("xla-shape").unwrap().args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

const SCHEMA: &str = "xla-shape/index/1";

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

#[test]
fn an_element_has_a_position() {
    assert_eq!(
        json(&["index", "f32[3,5]{1,0:T(2,2)}", "2,3", "--format", "json"]),
        json!({"schema": SCHEMA, "index": [2, 3], "linear": 17, "position": 17, "byte_offset": 68, "bit_offset": 0})
    );
    assert_eq!(
        json(&["index", "s4[3,<=5]{1,0:T(2,2)E(4)M(16)}", "[2, 3]", "--format", "json"]),
        json!({"schema": SCHEMA, "index": [2, 3], "linear": 17, "position": 17, "byte_offset": 24, "bit_offset": 4})
    );
    assert_eq!(json(&["index", "f32[]", "", "--format", "json"])["linear"], 0);
    assert_eq!(json(&["index", "f32[3,5]{1,0:T(2,2)}", "x=3, y=2", "--format", "json"])["linear"], 17);
}

#[test]
fn a_position_has_an_element_or_padding() {
    let at = |position| json(&["index", "f32[3,5]{1,0:T(2,2)L(32)}", "--linear", position, "--format", "json"]);
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
    assert_eq!(text(&["index", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "1,2,3,4,5"]), expected);
    assert_eq!(text(&["index", "f32[3]{0:T(2)}", "--linear", "3"]), "padding at position 3, byte 12\n");
}

#[test]
fn an_index_or_position_outside_is_an_error() {
    for (arguments, message) in [
        (&["f32[3]", "3"][..], "error: index 3 is out of bounds for dimension 0 (size 3)\n"),
        (&["f32[3]", "1,1"], "error: expected one entry for each of 1 dimensions, found 2\n  |\n1 | 1,1\n  | ^^^\n"),
        (
            &["f32[3]", "w"],
            "error: expected the letter of a dimension without an entry, found `w`\n  |\n1 | w\n  | ^\n",
        ),
        (
            &["f32[3]{0:T(2)}", "--linear", "4"],
            "error: f32[3]{0:T(2)} has 4 positions, numbered from 0; 4 is not one of them\n",
        ),
        (&["f32[0]", "--linear", "0"], "error: f32[0]{0} has 0 positions, numbered from 0; 0 is not one of them\n"),
        (&["token[]", "0"], "error: expected an array, found token[]: only arrays have elements\n"),
        (&["f32[?]", "0"], "error: dimension 0 is unbounded: positions are unknown until its size is known\n"),
    ] {
        let output = run(&[&["index"], arguments].concat());
        assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
    }
    for arguments in [&["f32[3]"][..], &["f32[3]", "-1"], &["f32[3]", "1", "--linear", "1"]] {
        assert_eq!(run(&[&["index"], arguments].concat()).status.code(), Some(2), "{arguments:?}");
    }
}

/// Compares with maps from XLA.
#[test]
fn maps_agree_with_xla() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/linear_index.jsonl");
    let rows = std::fs::read_to_string(path).unwrap();
    let mut agreed = 0;
    for row in rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()) {
        let layout = row["layout"].as_str().unwrap();
        let expected = row["physical_to_logical"].as_array().unwrap().iter();
        let expected = expected.map(|entry| if entry == -1 { Value::Null } else { entry.clone() });
        assert_eq!(json(&["map", layout]), Value::Array(expected.collect()), "{layout}");
        agreed += 1;
    }
    assert!(agreed > 200);
    println!("{agreed} maps agree");
}

#[test]
fn a_long_map_warns() {
    use std::io::{BufRead, BufReader};
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("xla-shape"))
        .args(["map", "f32[100000,10000]"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let expected = "warning: this map has 1,000,000,000 positions, about 10.2 GiB of JSON; `xla-shape index --linear N` \
                    answers for one position\n";
    assert_eq!(line, expected);
    // A reader that has read enough closes the pipe.
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn maps_with_padding_at_the_end_and_without_elements() {
    assert_eq!(text(&["map", "u8[2]{0:L(4)}"]), "[0,1,null,null]\n");
    assert_eq!(text(&["map", "u8[0]"]), "[]\n");
    assert_eq!(text(&["map", "u8[]"]), "[0]\n");
}
