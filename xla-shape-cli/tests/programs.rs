//! `xla-shape hlo` and `xla-shape scan`, run as programs.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::process::Output;

const MODULE: &str = "\
HloModule m, is_scheduled=true

ENTRY main {
  a = f32[4,100]{1,0:T(8,128)} parameter(0)
  b = f32[4,100]{1,0:T(8,128)S(1)} copy(a)
  c = f32[4,100]{0,1:T(8,128)} copy(b)
  ROOT d = f32[4,100]{0,1:T(8,128)} negate(c)
}
";

fn program(arguments: &[&str], input: impl Into<Vec<u8>>) -> Output {
    Command::cargo_bin("xla-shape").unwrap().args(arguments).write_stdin(input).output().unwrap()
}

fn text(arguments: &[&str], input: impl Into<Vec<u8>>) -> String {
    let output = program(arguments, input);
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str], input: impl Into<Vec<u8>>) -> Value {
    serde_json::from_str(&text(arguments, input)).unwrap()
}

fn real(name: &str) -> String {
    format!("{}/../examples/hlo/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_device_may_have_any_number_of_bytes() {
    let most = u64::MAX.to_string();
    let report = json(&["hlo", "-", "--format", "json", "--device", &most], MODULE);
    assert_eq!((&report["capacity"][0]["bytes"], &report["capacity"][0]["free"]), (&json!(u64::MAX), &json!(i64::MAX)));
    let text = text(&["hlo", "-", "--device", &most], MODULE);
    assert!(text.contains(" of 16 EiB, 8 EiB free"), "{text}");
}

#[test]
fn a_module_is_measured() {
    let report = json(&["hlo", "-", "--format", "json"], MODULE);
    assert_eq!(
        (&report["module"], &report["computations"], &report["instructions"]),
        (&json!("m"), &json!(1), &json!(4))
    );
    assert_eq!(report["opcodes"], json!({"copy": 2, "negate": 1, "parameter": 1}));
    let spaces = report["spaces"].as_array().unwrap();
    let sums = |space: &Value| (space["space"].clone(), space["bytes"].clone(), space["padding_bytes"].clone());
    let tall = 13 * 4096;
    assert_eq!(sums(&spaces[0]), (json!(0), json!(4096 + 2 * tall), json!(4096 + 2 * tall - 3 * 1600)));
    assert_eq!(sums(&spaces[1]), (json!(1), json!(4096), json!(2496)));
    assert_eq!(report["largest"][0]["name"], "c");
    assert_eq!(report["most_padded"][0]["padding_bytes"], tall - 1600);
    assert_eq!(report["layout_changes"][0]["name"], "c");
    assert_eq!(report["findings"], json!([]));
    let free = MODULE.replace("copy(b)", "bitcast(b)");
    let changes = text(&["hlo", "-"], free);
    assert!(
        changes.contains(
            "\n             free  %c (bitcast)\n                   f32[4,100]{1,0:T(8,128)S(1)} -> f32[4,100]{0,1:T(8,128)}\n"
        ),
        "{changes}"
    );
    let vmem = json(&["hlo", "-", "--space", "1", "--top", "5", "--format", "json"], MODULE);
    assert_eq!((vmem["spaces"].as_array().unwrap().len(), vmem["largest"].as_array().unwrap().len()), (1, 1));
    assert_eq!(
        vmem["tile_formats"],
        json!([{"format": "f32 T(8,128)", "arrays": 1, "bytes": 4096, "padding_bytes": 2496}])
    );
    let output = program(&["hlo", "-", "--space", "7"], MODULE);
    let message = "error: no value is in memory space 7; the program uses S(0) HBM, S(1) VMEM\n";
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), (message, Some(1)));
    let page = text(&["hlo", "-"], MODULE);
    assert!(page.starts_with("module m: 1 computation, 4 instructions\n") && page.contains("S(1) VMEM"), "{page}");
}

#[test]
fn real_modules_have_reports_and_pages() {
    for name in ["v5e__rnn_scan.hlo", "v5e__host_offload.hlo"] {
        let report = json(&["hlo", &real(name), "--format", "json"], "");
        assert!(report["instructions"].as_u64() > Some(10), "{name}");
        assert_eq!(report["findings"], json!([]), "{name}");
        let page = text(&["hlo", &real(name), "--html", "-"], "");
        assert!(page.len() < 300_000 && page.contains("id=\"data\"") && page.ends_with("</html>\n"));
        // The page and JSON at once, but not to one place.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        assert_eq!(json(&["hlo", &real(name), "--html", path.to_str().unwrap(), "--format", "json"], ""), report);
        assert_eq!(std::fs::read_to_string(path).unwrap(), page);
        assert_eq!(program(&["hlo", &real(name), "--html", "-", "--format", "json"], "").status.code(), Some(1));
    }
}

#[test]
fn a_diff_tells_what_changed_and_what_it_costs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a"), MODULE).unwrap();
    let changed = MODULE
        .replace("b = f32[4,100]{1,0:T(8,128)S(1)}", "b = f32[4,100]{1,0:T(8,128)}")
        .replace("c = f32[4,100]{0,1:T(8,128)}", "c = f32[4,100]{1,0:T(8,128)}")
        .replace("a = f32[4,100]", "e = f32[4,100]")
        .replace("copy(a)", "copy(e)");
    std::fs::write(path("b"), changed).unwrap();
    let rows = text(&["hlo", "diff", &path("a"), &path("b"), "--format", "json"], "");
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).collect::<Vec<_>>();
    let peak = rows.iter().find(|row| row["change"] == "peak" && row["space"] == 0).unwrap();
    assert!(peak["because"].as_array().unwrap().iter().any(|cause| cause["live"] == "only after"), "{peak}");
    let values = rows.iter().filter(|row| row["leaf"].is_u64());
    let mut found = values
        .map(|row| (row["name"].as_str().unwrap(), row["change"].as_str().unwrap(), row["bytes"].as_i64().unwrap()));
    let mut found = found.by_ref().collect::<Vec<_>>();
    found.sort_unstable();
    assert_eq!(found, [("b", "memory space", 0), ("c", "layout", 4096 - 13 * 4096)], "a is called e, and is the same");
    let same = text(&["hlo", "diff", &path("a"), &path("a")], "");
    let end = "0 shapes, 0 layouts and 0 memory spaces changed; 0 values added, 0 removed; +0 B in all\n";
    assert!(same.ends_with(end) && same.contains("\nPeak of S(0) HBM: "), "{same}");
    assert_eq!(text(&["hlo", "diff", &path("a"), &path("a"), "--format", "json"], ""), "", "nothing differs");
}

#[test]
fn arrays_of_a_tuple_are_told_apart() {
    let module = "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  \
                  ROOT c = (f32[8], f32[9]) custom-call(p), custom_call_target=\"c\"\n}\n";
    let report = json(&["hlo", "-", "--format", "json"], module);
    assert_eq!((&report["largest"][0]["name"], &report["largest"][0]["leaf"]), (&json!("c"), &json!(1)));
    let page = text(&["hlo", "-"], module);
    assert!(page.contains("%c#1 (custom-call)  f32[9]") && page.contains("%c (custom-call)  f32[8]"), "{page}");
}

#[test]
fn sizes_are_those_of_a_report_of_the_compiler() {
    // Lines as XLA:TPU writes them when memory is short.
    let report = "\
  1. Size: 32.00G
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)
     XLA label: %copy.1 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(s32[8388608,8,4]{0,2,1:T(4,128)} %p), metadata={op_name=\"f/g\"}
     Allocation type: HLO temp
     ==========================
";
    let rows = text(&["scan", "--format", "json"], report);
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).collect::<Vec<_>>();
    let sizes = |row: &Value| {
        (row["line"].as_u64(), row["bytes"].as_u64(), row["padding_bytes"].as_u64(), row["expansion"].as_f64())
    };
    let gib = |number: u64| Some(number << 30);
    assert_eq!(
        rows.iter().map(sizes).collect::<Vec<_>>(),
        [
            (Some(2), gib(32), gib(31), Some(32.0)),
            (Some(5), gib(32), gib(31), Some(32.0)),
            (Some(5), gib(1), Some(0), Some(1.0)),
        ]
    );
}

#[test]
fn a_bad_module_is_shown_with_a_mark() {
    let output = program(&["hlo", "-"], "HloModule m\nENTRY main { ROOT a = f32[2 parameter(0) }");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("2 | ENTRY main { ROOT a = f32[2 parameter(0) }\n  |                             ^^^"),
        "{message}"
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(message.ends_with("\n  in -:2:29\n"), "{message}");
    let output = program(&["hlo", "-"], "module @jit_f attributes {} {\n}\n");
    let message = String::from_utf8(output.stderr).unwrap();
    let help = "  in -:1:8\nhelp: this is MLIR; in JAX, `lowered.compile().as_text()` is HLO\n";
    assert!(message.ends_with(help), "{message}");
    let output = program(&["hlo", "-"], b"HloModule m\n\xc3\xa9\xff".to_vec());
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message, "error: expected UTF-8, found bytes that are not\n  in -:2:2\n");
    assert_eq!(output.status.code(), Some(1));
    let output = program(&["hlo", "-"], "");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: - has no computations: it is no HLO module\n");
    assert_eq!(output.status.code(), Some(1));
    let output = program(&["hlo", "-"], "Traceback (most recent call last):\n  got f32[2]");
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("help: this is not an HLO module; `xla-shape scan FILE`")
    );
    assert_eq!(program(&["hlo", "no/such/file"], "").status.code(), Some(1));
    assert_eq!(program(&["hlo"], "").status.code(), Some(2));
}

#[test]
fn shapes_are_found_in_any_text() {
    let log = b"OOM \xff Shape: f32[16,512]{1,0:T(8,128)}, 32.0K\r\n\nbf16[100,1]{1,0:T(8,128)(2,1)} and f32[?]";
    let rows = text(&["scan", "--format", "json"], log.to_vec());
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).collect::<Vec<_>>();
    let expected = [
        json!({"line": 1, "column": 14, "shape": "f32[16,512]{1,0:T(8,128)}", "bytes": 32768, "padding_bytes": 0, "expansion": 1.0}),
        json!({"line": 3, "column": 1, "shape": "bf16[100,1]{1,0:T(8,128)(2,1)}", "bytes": 26624, "padding_bytes": 26424, "expansion": 133.12}),
        json!({"line": 3, "column": 36, "shape": "f32[?]{0}", "bytes": null, "padding_bytes": null, "expansion": null}),
    ];
    assert_eq!(rows, expected);
    assert_eq!(text(&["scan", "-"], "nothing here"), "No shapes and no messages about memory in 1 line.\n");
    let silent = program(&["scan", "--format", "json"], "nothing here");
    assert_eq!((silent.stdout.len(), silent.status.code()), (0, Some(0)));
    assert!(String::from_utf8(silent.stderr).unwrap().starts_with("No shapes"));
    let table = text(&["scan"], "x bf16[100,1]{1,0:T(8,128)(2,1)}");
    let expected = "1 shape, 1 different; each once: 26 KiB, of which 25.8 KiB are padding
      1:3     26 KiB   25.8 KiB padding   133.1x  bf16[100,1]{1,0:T(8,128)(2,1)}\n";
    assert_eq!(table, expected);
}
