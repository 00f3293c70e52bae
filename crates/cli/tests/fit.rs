//! `xla-shape fit`, with a fake compiler.

use crate::compile::plugin;
use crate::program::Command;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

struct Answer {
    output: String,
    errors: String,
    code: i32,
}

/// Runs `fit` in a folder of programs. Programs `a` and `b` fit, `large` does not, and the others are refused for other reasons.
fn fit(folder: &Path, arguments: &[&str]) -> Answer {
    for (name, wish) in [
        ("a", ""),
        ("b", ""),
        ("large", "fake:too-large"),
        ("vmem", "fake:too-large fake:vmem"),
        ("dies", "fake:abort"),
    ] {
        fs::write(folder.join(format!("{name}.mlir")), format!("module {{}} // {name} {wish}")).unwrap();
    }
    let mut command = Command::program();
    command.current_dir(folder).arg("fit").args(arguments).args(["--jobs", "2"]);
    command.env("PJRT_PLUGIN", plugin()).env("XDG_CACHE_HOME", folder.join("own")).env_remove("COLUMNS");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { output: text(output.stdout), errors: text(output.stderr), code: output.status.code().unwrap() }
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.output).unwrap()
}

fn column<'a>(answer: &'a Value, field: &str) -> Vec<&'a Value> {
    answer["rows"].as_array().unwrap().iter().map(|row| &row[field]).collect()
}

#[test]
fn every_setting_has_a_row_and_one_that_fails_loses_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["a.mlir", "dies.mlir", "large.mlir", "vmem.mlir", "--for", "v5e,v8i", "--option", "x=1,2"];
    let answer = fit(folder.path(), &arguments);
    assert_eq!(answer.code, 0, "{}", answer.errors);
    let words = answer.output.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "2 of 16 settings fit.",
        "large v5e:2x2 1 no 22 GiB 15.8 GiB f32[1048576,1024]{1,0:T(8,128)} 4 GiB, argument, x",
        "To fit on v5e:2x2 with program large, x 1, 6.25 GiB would have to go f32[",
        "Check failed: !program.asks_for_it()",
    ] {
        assert!(words.contains(line), "{line}\n{}", answer.output);
    }
    let answer = fit(folder.path(), &[&arguments[..], &["--format", "json"]].concat());
    let answer = json(&answer);
    let names = |axis: &Value| (axis["name"].clone(), axis["values"].as_array().unwrap().len());
    let axes = answer["axes"].as_array().unwrap().iter().map(names).collect::<Vec<_>>();
    assert_eq!(axes, [(json!("program"), 4), (json!("for"), 2), (json!("x"), 2)]);
    let (yes, no, null) = (json!(true), json!(false), Value::Null);
    let two = |value| [value, value, &null, &null];
    assert_eq!(column(&answer, "fits"), [two(&yes), two(&null), two(&no), two(&no)].concat());
    let large = &answer["rows"][8];
    assert_eq!((&large["setting"]["program"], &large["setting"]["x"]), (&json!("large"), &json!("1")));
    assert_eq!(large["available_bytes"], json!(63_u64 << 28));
    assert_eq!((&large["largest"]["op_name"], &large["largest"]["role"]), (&json!("x"), &json!("argument")));
    // The module that the compiler dumped needs less memory than its message says. The answer has the figure of the message.
    let short = (22 << 30) - (63 << 28);
    assert_eq!((&large["needed_bytes"], &large["short_bytes"]), (&json!(22_u64 << 30), &json!(short)));
    // A kernel was refused for VMEM, so how much HBM the program needs is not known.
    assert_eq!((&answer["rows"][12]["needed_bytes"], answer["rows"][12]["error"].is_null()), (&null, false));
    let bytes = |held: &Value| held["bytes"].as_u64().unwrap();
    let held = large["to_go"].as_array().unwrap().iter().map(bytes).collect::<Vec<_>>();
    assert!(
        held.iter().sum::<u64>() >= short && held[1..].iter().sum::<u64>() < short,
        "no more than must go: {held:?}"
    );
    // The compiler's answers came from the cache, also those about programs that do not fit. Programs for which the compiler had died were compiled
    // again.
    assert_eq!((&answer["kept"], &answer["settings"]), (&json!(6), &json!(16)));
}

#[test]
fn of_programs_in_ascending_order_those_around_the_border_are_compiled() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..40 {
        let wish = if number < 17 { "" } else { "fake:too-large" };
        fs::write(folder.path().join(format!("p{number}.mlir")), format!("module {{}} // {number} {wish}")).unwrap();
    }
    let programs = (0..40).map(|number| format!("p{number}.mlir")).collect::<Vec<_>>();
    let programs = programs.iter().map(String::as_str).collect::<Vec<_>>();
    let answer = fit(folder.path(), &[&programs[..], &["--ascending", "--format", "json"]].concat());
    assert_eq!(answer.code, 0, "{}", answer.errors);
    let answer = json(&answer);
    assert!(answer["rows"].as_array().unwrap().len() <= 10, "a quarter at most");
    let border = &answer["borders"][0];
    assert_eq!(
        (&border["axis"], &border["largest"], &border["next"]),
        (&json!("program"), &json!("p16"), &json!("p17"))
    );
    assert_eq!((&border["exceptions"], &border["closed"]), (&json!([]), &json!(true)));
    let row =
        |field: &str| &answer["rows"][usize::try_from(border[field].as_u64().unwrap()).unwrap()]["setting"]["program"];
    assert_eq!((row("largest_row"), row("next_row")), (&border["largest"], &border["next"]));
}

#[test]
fn where_nothing_fits_the_exit_code_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let answer = fit(folder.path(), &["large.mlir", "--no-cache"]);
    assert_eq!(answer.code, 1);
    assert!(answer.output.starts_with("0 of 1 setting fit."), "{}", answer.output);
    // For a single setting, the text is only the reason.
    let answer = fit(folder.path(), &["dies.mlir", "--no-cache"]);
    let (_, reasons) = answer.output.split_once("\nWithout figures\n").unwrap();
    assert!(reasons.starts_with("  ") && !reasons.trim_start().starts_with(':'), "{reasons}");
    for (arguments, error) in [
        (&["a.mlir", "--for", "v5e,v5e:2x2"][..], "error: the axis \"for\" has the value v5e:2x2 twice\n"),
        (&["a.mlir", "--option", "x=1,1"], "error: the axis \"x\" has the value 1 twice\n"),
        (&["a.mlir", "--option", "for=1"], "error: two axes are called \"for\"\n"),
    ] {
        let answer = fit(folder.path(), arguments);
        assert_eq!((answer.errors.as_str(), answer.code), (error, 1));
    }
}
