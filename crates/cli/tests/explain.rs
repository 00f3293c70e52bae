//! `xla-shape explain`, run as a program.
//!
//! The pages in `tests/explain/` are its output; their first line is the shape. After an intended change,
//! `BLESS=1 cargo test -p xla-shape-cli --test program explain` rewrites them.

use crate::program::Command;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

fn explain(arguments: &[&str]) -> Output {
    Command::program().env_remove("COLUMNS").arg("explain").args(arguments).output().unwrap()
}

fn explain_json(shape: &str) -> Value {
    let output = explain(&["--format", "json", shape]);
    assert_eq!(output.status.code(), Some(0), "{shape}");
    assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn pages_are_unchanged() {
    let mut pages = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain")).unwrap() {
        let path = entry.unwrap().path();
        let approved = fs::read_to_string(&path).unwrap();
        let output = explain(&[approved.lines().next().unwrap()]);
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{}", path.display());
        let page = String::from_utf8(output.stdout).unwrap();
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, page).unwrap();
        } else {
            assert_eq!(page, approved, "{}", path.display());
        }
        pages += 1;
    }
    assert!(pages >= 10);
}

#[test]
fn json_has_every_field() {
    let expected = json!({
        "schema": "xla-shape/explain/1",
        "shape": "bf16[100,<=30]{0,1:T(8,128)(2,1)S(1)}",
        "element_type": "bf16",
        "dimensions": [100, 30],
        "dynamic": [false, true],
        "minor_to_major": [0, 1],
        "tiles": [[8, 128], [2, 1]],
        "memory_space": 1,
        "element_bits": 16,
        "true_rank": 2,
        "elements": 3000,
        "physical_elements": 4096,
        "bytes": 8192,
        "padding_bytes": 2192,
        "expansion": 8192.0 / 6000.0,
    });
    assert_eq!(explain_json("bf16[100, <=30]{0,1:T(8,128)(2,1)S(1)}"), expected);
}

#[test]
fn a_shape_without_a_layout_is_explained_for_tpus() {
    let page = |shape: &str| String::from_utf8(explain(&[shape]).stdout).unwrap();
    let bare = page("f32[100,200]");
    let lead = "f32[100,200]{1,0}\nTPU v5e stores it as f32[100,200]{0,1:T(8,128)} in 102,400 bytes";
    assert!(bare.starts_with(lead), "{bare}");
    assert!(bare.contains("The text has no layout"), "{bare}");
    // A layout in the text is used, even if it is the default layout.
    for written in ["f32[100,200]{1,0}", "b(f32[100,200]{1,0})", "(f32[100,200]{1,0})"] {
        let page = page(written);
        assert!(!page.contains("TPU") && !page.contains("no layout"), "{page}");
    }
    assert_eq!(explain_json("f32[100,200]{1,0}").get("tpu"), None);
    assert_eq!(explain_json("f32[100,200]")["tpu"][0]["shape"], "f32[100,200]{0,1:T(8,128)}");
    // In a tuple, this holds for each leaf separately.
    let tuple = "(f32[2,3]{1,0}, (bf16[1,3072], token[]), s8[7])";
    let text = page(tuple);
    assert!(text.contains("    {1,0}  bf16[1,3072]{1,0:T(2,128)(2,1)}\n"), "{text}");
    assert!(text.contains("    {2}  s8[7]{0:T(") && !text.contains("    {0}  "), "{text}");
    let json = explain_json(tuple);
    assert_eq!(json["tuple_shapes"][0].get("tpu"), None);
    assert_eq!(json["tuple_shapes"][1]["tuple_shapes"][0]["tpu"][0]["bytes"], 12_288);
    assert!(json["tuple_shapes"][2]["tpu"].is_array());
    let many = page(&format!("({})", vec!["f32[2]"; 40].join(",")));
    assert!(many.contains("… and 8 more arrays"), "{many}");
}

#[test]
fn json_of_other_shapes() {
    let unbounded = explain_json("f32[?,2]{1,0:T(*,2)}");
    assert_eq!(unbounded["dimensions"], json!([null, 2]));
    assert_eq!(unbounded["tiles"], json!([["*", 2]]));
    assert_eq!(unbounded["bytes"], Value::Null);
    let tuple = explain_json("(s8[3], (token[]), b(u8[2]))");
    assert_eq!((&tuple["bytes"], &tuple["padding_bytes"]), (&json!(5), &json!(0)));
    assert_eq!(tuple["tuple_shapes"][0]["bytes"], 3);
    assert_eq!(
        tuple["tuple_shapes"][1]["tuple_shapes"][0],
        json!({"shape": "token[]", "bytes": 0, "padding_bytes": 0})
    );
    assert_eq!(tuple["tuple_shapes"][2]["shape"], "b(u8[2]{0})");
}

#[test]
fn a_bad_shape_is_shown_with_a_mark() {
    let output = explain(&["f32[2,3]{1,1}"]);
    let message = "error: expected every dimension once in minor_to_major, found 1 again\n  |\n1 | f32[2,3]{1,1}\n  |            ^\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), message);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn a_missing_shape_is_wrong_usage() {
    assert_eq!(explain(&[]).status.code(), Some(2));
    assert_eq!(explain(&["f32[]", "--format", "xml"]).status.code(), Some(2));
}
