//! `guard claims` and `guard expect`: what must hold of a compiled program.

use super::{Folder, MODULE};
use serde_json::{Value, json};

#[test]
fn claims_that_hold_are_written_and_fail_after_a_change() {
    let folder = Folder::new();
    let written = folder.guard(&["claims", "m.hlo"]);
    assert_eq!((written.errors.as_str(), written.code), ("", 0));
    folder.write("c.toml", &written.output);
    assert!(
        written.output.contains("[[arguments]]\nname = \"params['w']\"\nlayout = \"{1,0}\"\n"),
        "{}",
        written.output
    );
    let same = folder.guard(&["expect", "c.toml", "m.hlo"]);
    assert_eq!((same.output.trim_start(), same.errors.as_str(), same.code), ("m: passed (3 claims)\n", "", 0));

    let two = MODULE.replace("  ROOT c = ", "  d = f32[8,128]{0,1:T(8,128)} copy(b), metadata={op_name=\"jit(f)/neg\" source_file=\"f.py\" source_line=7}\n  ROOT c = ");
    folder.write("two.hlo", &two);
    folder.write("few.toml", "[[copies]]\nline = \"f.py:7\"\ncount = \"<=1\"\n\n[[copies]]\nline = \"g.py\"\ncount = 0\n\n[[arguments]]\nname = \"params/w\"\nlayout = \"{0,1}\"\naliased = true\n");
    let failed = folder.guard(&["expect", "few.toml", "two.hlo"]);
    let expected = r#"m: FAILED (3 of 3 claims)
  line 1: copies: line = "f.py:7", count = "<=1"
      count: expected <=1, found 2
      %c = f32[8,128]{1,0:T(8,128)} -> f32[8,128]{0,1:T(8,128)} copy, 64 KiB,
      f.py:7, %b (negate) writes {1,0:T(8,128)}; the result must have
      {0,1:T(8,128)}
      %d = f32[8,128]{1,0:T(8,128)} -> f32[8,128]{0,1:T(8,128)} copy, 64 KiB,
      f.py:7, %b (negate) writes {1,0:T(8,128)}; it becomes {0,1:T(8,128)}
  line 5: copies: line = "g.py", count = 0
      nothing is there; the program has f.py:7
  line 9: arguments: name = "params/w", layout = "{0,1}", aliased = true
      layout: expected {0,1}, found {1,0:T(8,128)}
      aliased: expected true, found false
      %a = f32[8,128]{1,0:T(8,128)} parameter, 4 KiB, params['w']
"#;
    assert_eq!((failed.output.trim_start(), failed.errors.as_str(), failed.code), (expected, "", 1));
    let json = folder.guard(&["expect", "few.toml", "two.hlo", "--format", "json"]);
    let json: Value = serde_json::from_str(&json.output).unwrap();
    let states: Vec<_> = json["claims"].as_array().unwrap().iter().map(|claim| &claim["state"]).collect();
    assert_eq!(json["passed"], false);
    assert_eq!(states, ["fails", "unknown", "fails"]);
}

#[test]
fn claims_are_checked_on_each_device() {
    let folder = Folder::new();
    folder.write("c.toml", "[[copies]]\ncount = 0\n");
    let compiled = folder.guard(&["expect", "c.toml", "p.mlir", "--for", "v5e:2x2,v6e", "--format", "json"]);
    let devices: Vec<Value> = compiled.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let devices: Vec<_> = devices.iter().map(|line| (&line["device"], &line["passed"])).collect();
    assert_eq!(devices, [(&json!("v5e:2x2"), &json!(true)), (&json!("v6e:2x2"), &json!(true))], "{}", compiled.errors);
    for (claims, program, error) in [
        (
            "[[copies]]\ncounts = 0\n",
            "m.hlo",
            "c.toml: line 2, column 1: unknown field `counts`, expected one of `size`,",
        ),
        ("[[copies]]\ncount = 0\n", "missing.hlo", "cannot read `missing.hlo`: "),
    ] {
        folder.write("c.toml", claims);
        let refused = folder.guard(&["expect", "c.toml", program]);
        assert!(refused.errors.starts_with(&format!("error: {error}")) && refused.code == 1, "{}", refused.errors);
    }
    let several = folder.guard(&["claims", "p.mlir", "--for", "v5e,v6e"]);
    assert!(several.errors.starts_with("error: p.mlir: expected one device of --for"), "{}", several.errors);
}
