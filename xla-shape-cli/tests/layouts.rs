//! `xla-shape bitcast` and `xla-shape advise`, run as programs.

use assert_cmd::Command;
use serde_json::{Value, json};

fn run(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("xla-shape").unwrap().args(arguments).output().unwrap();
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

fn bitcast(from: &str, to: &str) -> Value {
    serde_json::from_str(&run(&["bitcast", from, to, "--format", "json"])).unwrap()
}

#[test]
fn a_bitcast_is_named_by_what_it_does() {
    for (from, to, kind) in [
        ("f32[2,3]{1,0}", "f32[2,3]{1,0}", "identity"),
        ("f32[1,128]{1,0}", "f32[1,128]{0,1}", "identity"),
        ("f32[6,2,3]{2,1,0}", "f32[36]{0}", "reshape"),
        ("f32[2,3]{1,0}", "f32[3,2]{0,1}", "transpose"),
        ("f32[6,2,3,257]{3,1,0,2:T(2,128)}", "f32[257,2,3,6]{0,1,3,2:T(2,128)}", "transpose"),
        ("bf16[2,8,8,256]{3,2,0,1:T(8,128)(2,1)}", "bf16[64,512]{1,0:T(8,128)(2,1)}", "reshape+transpose"),
    ] {
        let answer = bitcast(from, to);
        assert_eq!(
            (&answer["bitcast"], &answer["same_bytes"], &answer["kind"]),
            (&json!(true), &json!(true), &json!(kind))
        );
        assert!(run(&["bitcast", from, to]).starts_with(&format!("a bitcast ({kind}): ")));
    }
}

#[test]
fn what_is_no_bitcast_says_why() {
    let tiled = bitcast("bf16[256,128]{1,0:T(8,128)(2,1)}", "bf16[256,128]{1,0:T(8,128)}");
    assert_eq!(
        (&tiled["bitcast"], &tiled["same_bytes"], &tiled["kind"]),
        (&json!(false), &json!(true), &json!("none"))
    );
    let reason = tiled["reason"].as_str().unwrap();
    assert!(reason.starts_with("element (0,1) lies at 2 in the one and at 1 in the other; the second tile differs"));
    let larger = bitcast("f32[6]", "f32[7]");
    assert_eq!(
        (&larger["bitcast"], &larger["same_bytes"], &larger["kind"]),
        (&json!(false), &json!(false), &json!("none"))
    );
    assert!(run(&["bitcast", "f32[6]", "f32[7]"]).starts_with("no bitcast: "));
}

#[test]
fn both_answers_are_answers_and_what_is_no_array_is_not() {
    let code = |from: &str, to: &str| {
        let output = Command::cargo_bin("xla-shape").unwrap().args(["bitcast", from, to]).output().unwrap();
        assert_eq!(output.status.code() == Some(1), output.stdout.is_empty() && !output.stderr.is_empty());
        output.status.code()
    };
    assert_eq!(code("f32[6]", "f32[2,3]"), Some(0));
    assert_eq!(code("f32[6]", "f32[7]"), Some(0));
    assert_eq!(code("f32[6]", "f32[7"), Some(1));
    assert_eq!(code("f32[6]", "token[]"), Some(1));
}

#[test]
fn better_layouts_come_first() {
    let shape = "bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}";
    let rows = run(&["advise", shape, "--format", "json", "--top", "1000"]);
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).collect::<Vec<_>>();
    let bytes = rows.iter().map(|row| row["bytes"].as_u64().unwrap()).collect::<Vec<_>>();
    assert!(bytes.is_sorted());
    assert_eq!(rows.len(), 24 * 3, "all orders in all tilings, each once");
    assert_eq!((bytes[0], &rows[0]["saved_bytes"]), (1 << 30, &json!(3_u64 << 30)));
    assert!(rows.iter().any(|row| row["shape"] == shape && row["saved_bytes"] == 0));
    assert_eq!(run(&["advise", shape, "--format", "json", "--top", "3"]).lines().count(), 3);
}

#[test]
fn what_if_changes_dimensions_first() {
    let first = |change: &[&str]| {
        let arguments = [&["advise", "f32[100,1]{1,0:T(8,128)}", "--format", "json", "--top", "1"], change].concat();
        serde_json::from_str::<Value>(&run(&arguments)).unwrap()
    };
    assert_eq!(first(&["--what-if", "1=128"])["shape"], "f32[100,128]{1,0:T(4,128)}");
    assert_eq!(first(&["--what-if", "0,1"])["shape"], "f32[1,100]{1,0:T(1,128)}");
    assert_eq!(first(&["--what-if", "0,1", "--what-if", "0=8"])["bytes"], 4096);
    let output =
        Command::cargo_bin("xla-shape").unwrap().args(["advise", "f32[3]", "--what-if", "1=2"]).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: there is no dimension 1: the array has 1 dimension\n"
    );
    let usage = Command::cargo_bin("xla-shape").unwrap().args(["advise", "f32[3]", "--what-if", "x"]).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}
