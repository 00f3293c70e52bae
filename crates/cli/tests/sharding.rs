//! Shardings in the program: `check --sharding`, `explain --sharding`.

use crate::program::Command;
use serde_json::{Value, json};
use std::process::Output;

fn run(arguments: &[&str], input: &str) -> Output {
    let mut program = Command::program();
    program.env_remove("COLUMNS").args(arguments).write_stdin(input).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn explain(shape: &str, sharding: &str) -> Value {
    let output = run(&["explain", "--format", "json", shape, "--sharding", sharding], "");
    assert_eq!((output.status.code(), text(output.stderr)), (Some(0), String::new()));
    let mut value: Value = serde_json::from_slice(&output.stdout).unwrap();
    value["sharding"].take()
}

#[test]
fn check_answers_each_line() {
    let output =
        run(&["check", "--sharding"], "{devices=[2,2]<=[4] last_tile_dims={replicated}}\n{devices=[2,2]<=[5]}\n\n");
    assert_eq!(output.status.code(), Some(1));
    let answers = text(output.stdout);
    let answers = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    assert_eq!(
        answers,
        [
            json!({
                "schema": "xla-shape/check/1",
                "input": "{devices=[2,2]<=[4] last_tile_dims={replicated}}",
                "ok": true,
                "sharding": "{devices=[2,2]<=[4] last_tile_dim_replicate}",
                "proto": "CAMaAgICMAFKAQRSAQA=",
            }),
            json!({
                "schema": "xla-shape/check/1",
                "input": "{devices=[2,2]<=[5]}",
                "ok": false,
                "error": {
                    "message": "expected an iota of 4 devices, one for each tile, found one of 5",
                    "span": [16, 19],
                },
            }),
            json!({
                "schema": "xla-shape/check/1",
                "input": "",
                "ok": false,
                "error": {
                    "message": "expected a sharding, such as `{replicated}` or `{devices=[2,1]<=[2]}`, found the end of \
                                the text",
                    "span": [0, 0],
                },
            }),
        ]
    );
}

#[test]
fn explain_says_what_each_device_has() {
    let array = explain("bf16[8192,4096]{1,0:T(8,128)(2,1)}", "{devices=[4,2]<=[8]}");
    let expected = json!({
        "text": "{devices=[4,2]<=[8]}",
        "shard": "bf16[2048,2048]{1,0:T(8,128)(2,1)}",
        "devices": 8,
        "bytes_per_device": 8 << 20,
        "bytes_total": 64 << 20,
        "replication": 1,
        "even": true,
        "padding_bytes": 0,
        "expansion": 1.0,
    });
    assert_eq!(array, expected);
    // A shard smaller than a tile takes a whole tile.
    let array = explain("bf16[8,4096]{1,0:T(8,128)(2,1)}", "{devices=[4,1]<=[4]}");
    assert_eq!((&array["bytes_per_device"], &array["expansion"]), (&json!(65536), &json!(4.0)));
    let tuple = explain("(f32[10]{0}, (token[], s32[2]{0}))", "{{devices=[4]<=[4]}, {replicated}, {maximal device=1}}");
    let expected = json!({
        "text": "{{devices=[4]<=[4]}, {replicated}, {maximal device=1}}",
        "shard": "(f32[3]{0}, (token[], s32[2]{0}))",
        "devices": 4,
        "bytes_per_device": 20,
        "bytes_total": 56,
    });
    assert_eq!(tuple, expected);
    let replicated = explain("f32[10]{0}", "{replicated}");
    assert_eq!((&replicated["devices"], &replicated["bytes_total"]), (&Value::Null, &Value::Null));
    // The text begins with what one device holds, as a TPU stores it, because a shard may have more padding than the whole array.
    let output = run(&["explain", "f32[16,16,16]", "--sharding", "{devices=[2,1,4]<=[4,2]T(1,0)}"], "");
    let expected = "\
Each of 8 devices has f32[8,16,4]{2,1,0} in 2,048 bytes (2 KiB).
TPU v5e stores a shard as f32[8,16,4]{1,2,0:T(4,128)} in 16,384 bytes (16 KiB),
8.00x what its elements need.

On the devices
  {devices=[2,1,4]<=[4,2]T(1,0)}
";
    let page = text(output.stdout);
    assert!(page.starts_with(expected) && page.contains("\nThe whole\nf32[16,16,16]{2,1,0}\n"), "{page}");
    let array = explain("f32[16,16,16]", "{devices=[2,1,4]<=[8]}");
    let stored = (&array["tpu"][0]["shape"], &array["tpu"][0]["bytes"]);
    assert_eq!(stored, (&json!("f32[8,16,4]{1,2,0:T(4,128)}"), &json!(16384)));
    // Not all of a billion devices are listed.
    let output = run(&["explain", "f32[1000000000]{0}", "--sharding", "{devices=[1000000000]<=[1000000000]}"], "");
    let page = text(output.stdout);
    assert!(page.contains("device 15  [15:16]") && page.contains("… and 999,999,984 more"), "{page}");
    let output = run(&["explain", "f32[10]{0}", "--sharding", "{devices=[4,2]<=[8]}"], "");
    let message = "error: expected a sharding of 1 dimensions, as the array has, found one of 2\n";
    assert_eq!((output.status.code(), text(output.stderr)), (Some(1), message.to_owned()));
    let output = run(&["explain", "f32[10]{0}", "--sharding", "{devices=[4}"], "");
    assert!(text(output.stderr).ends_with("1 | {devices=[4}\n  |            ^\n"));
}

#[test]
fn draw_shows_the_devices() {
    let arguments = ["draw", "f32[64,256]{1,0:T(8,128)}", "--sharding", "{devices=[4,2]<=[8]}"];
    let expected = "\
f32[64,256]{1,0:T(8,128)}
{devices=[4,2]<=[8]}

             d1=0:128    d1=128:256
          ┌────────────┬────────────┐
  d0=0:16 │     0      │     1      │
          ├────────────┼────────────┤
 d0=16:32 │     2      │     3      │
          ├────────────┼────────────┤
 d0=32:48 │     4      │     5      │
          ├────────────┼────────────┤
 d0=48:64 │     6      │     7      │
          └────────────┴────────────┘

Each box is a shard, f32[16,128]{1,0:T(8,128)}; its numbers are its devices.
A shard has 2 by 1 tiles of 8 by 128.
";
    assert_eq!(text(run(&arguments, "").stdout), expected);
    let svg = text(run(&[&arguments[..], &["--svg", "-"]].concat(), "").stdout);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<title>").count(), 8);
    let html = text(run(&[&arguments[..], &["--html", "-"]].concat(), "").stdout);
    assert!(html.starts_with("<!doctype html>") && html.contains("[48:64, 128:256]"));
    let answer = run(&[&arguments[..], &["--format", "json"]].concat(), "").stdout;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let cell = json!({ "start": [16, 128], "limit": [32, 256], "devices": [3], "more": 0 });
    assert_eq!(answer["planes"][0]["cells"][1][1], cell);
    // Shards of uneven sizes, empty shards, huge arrays, and a scalar.
    for (shape, sharding, shown) in [
        ("f32[5]{0}", "{devices=[4]<=[4]}", "d0=4:5"),
        ("f32[2]{0}", "{devices=[4]<=[4]}", "–"),
        ("f32[0,3]{1,0}", "{devices=[2,1]<=[2]}", "–"),
        ("f32[]", "{replicated}", "all"),
        (
            "u8[4000000000,2000000000]{1,0:T(1000000000,8)}",
            "{devices=[1000000000,4]<=[4000000000]}",
            "… and 999,999,984 more along d0.",
        ),
        ("f32[8,8,8,8]{3,2,1,0}", "{devices=[8,8,8,8]<=[4096]}", "… and 60 more of such grids."),
    ] {
        for more in [&[][..], &["--svg", "-"]] {
            let output = run(&[&["draw", shape, "--sharding", sharding], more].concat(), "");
            let page = text(output.stdout);
            assert!(output.status.success() && page.contains(shown), "{shape} {page}");
        }
    }
}

#[test]
fn hlo_has_the_shards_of_a_program_before_partitioning() {
    let module = |entry: &str| {
        format!(
            "HloModule m, entry_computation_layout={{(f32[64,256]{{1,0:T(8,128)}}, f32[8,128]{{1,0}})->f32[64,256]{{1,0}}}}, num_partitions=8\n\
             ENTRY {entry} {{\n\
             p = f32[64,256]{{1,0}} parameter(0), sharding={{devices=[4,1,2]<=[8] last_tile_dim_replicate}}\n\
             q = f32[8,128]{{1,0}} parameter(1), sharding={{replicated}}\n\
             ROOT r = f32[64,256]{{1,0}} negate(p), sharding={{devices=[8,1]<=[8]}}\n}}\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.hlo");
    let path = path.to_str().unwrap();
    std::fs::write(path, module("e")).unwrap();
    let output = run(&["hlo", path, "--format", "json"], "");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sharding = &report["sharding"];
    assert_eq!(sharding["devices"], 8);
    assert_eq!(sharding["parameters"], json!({ "arrays": 2, "bytes": 69_632, "bytes_per_device": 20_480 }));
    assert_eq!(sharding["results"], json!({ "arrays": 1, "bytes": 65_536, "bytes_per_device": 8192 }));
    assert_eq!(sharding["replicated_bytes"], 20_480);
    assert_eq!(sharding["largest"][0]["shard"], "f32[16,256]{1,0:T(8,128)}");
    assert_eq!(
        (&sharding["replicated"][0]["name"], &sharding["replicated"][0]["copies_bytes"]),
        (&json!("p"), &json!(65_536))
    );
    assert_eq!(sharding["replicated"][1]["copies_bytes"], 7 * 4096);
    let page = text(run(&["hlo", path, "--section", "sharding"], "").stdout);
    assert!(
        page.contains("Shardings, for 8 devices\n  parameters  2 arrays, 68 KiB in one place, 20 KiB on each device\n"),
        "{page}"
    );
    // The shapes of a partitioned module are those of shards, even if it still has shardings.
    std::fs::write(path, module("e_spmd")).unwrap();
    let report: Value = serde_json::from_slice(&run(&["hlo", path, "--format", "json"], "").stdout).unwrap();
    assert_eq!(report["sharding"], Value::Null);
}
