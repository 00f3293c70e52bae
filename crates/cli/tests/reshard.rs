//! `xla-shape reshard`.

use crate::compile::plugin;
use crate::program::Command;
use serde_json::{Value, json};

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::program().arg("reshard").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn answer(arguments: &[&str]) -> Value {
    let (code, json, error) = run(&[arguments, &["--format", "json"]].concat());
    assert_eq!((code, error.as_str()), (Some(0), ""));
    serde_json::from_str(&json).unwrap()
}

#[test]
fn what_moves_is_said() {
    let found = answer(&["bf16[8192,4096]", "--from", "{devices=[4,2]<=[8]}", "--to", "{devices=[1,8]<=[8]}"]);
    assert_eq!(
        (&found["bytes_moved"], &found["bytes_kept"], &found["messages"]),
        (&json!(56 << 20), &json!(8 << 20), &json!(28))
    );
    // Devices 0 to 3 have what device 0 sends them, but it receives from 0, 2, 4 and 6: no all-to-all has these groups.
    assert_eq!((&found["collectives"], &found["several"]), (&json!(["all-to-all", "all-to-all"]), &json!(true)));
    let first = &found["devices"][0];
    assert_eq!(
        (&first["device"], &first["kept_bytes"], &first["from"].as_array().unwrap().len()),
        (&json!(0), &json!(2 << 20), &3)
    );
    let part = json!({ "device": 2, "bytes": 2 << 20, "start": [2048, 0], "limit": [4096, 512] });
    assert_eq!(first["from"][0], part);

    let rows = ["f32[64,128]", "--from", "{mesh['x'=4,'y'=2], [{'x'}, {'y'}]}", "--to"];
    let gather = answer(&[&rows[..], &["{mesh['x'=4,'y'=2], [{}, {'y'}]}", "--device", "3"]].concat());
    assert_eq!((&gather["collectives"], &gather["more_devices"]), (&json!(["all-gather"]), &json!(0)));
    assert_eq!(gather["axes"], json!([{ "axes": ["x"], "bytes": 96 << 10, "messages": 24 }]));
    assert_eq!(gather["devices"].as_array().unwrap().len(), 1);
}

#[test]
fn a_layout_and_hosts() {
    let found = answer(&[
        "f32[512,512]",
        "--from",
        "{devices=[4,1]<=[4]}",
        "--to",
        "{replicated}",
        "--layout",
        "{1,0:T(8,128)}",
    ]);
    assert_eq!(found["after"]["shard"], "f32[512,512]{1,0:T(8,128)}");
    // Devices 0 and 2 have one half, 1 and 3 the other; 0 and 1 are one host.
    let halves = "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}";
    for (hosts, expected) in
        [("2", [(0, 1), (1, 0), (2, 3), (3, 2)]), ("{{0,3}, {1,2}}", [(0, 3), (1, 2), (2, 1), (3, 0)])]
    {
        let near = answer(&["f32[8,8]", "--from", halves, "--to", "{replicated}", "--hosts", hosts]);
        let senders = near["devices"].as_array().unwrap().iter();
        let senders = senders.map(|device| (device["device"].as_i64(), device["from"][0]["device"].as_i64()));
        let mut senders = senders.map(|(to, from)| (to.unwrap(), from.unwrap())).collect::<Vec<_>>();
        senders.sort_unstable();
        assert_eq!(senders, expected);
    }
}

#[test]
fn nothing_moves() {
    let (code, text, _) = run(&["f32[8]", "--from", "{devices=[4]<=[4]}", "--to", "{mesh['x'=4], [{'x'}]}"]);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("Nothing moves: each device has all that it needs.\n"), "{text}");
    let empty = answer(&["f32[0,8]", "--from", "{devices=[4,1]<=[4]}", "--to", "{devices=[1,4]<=[4]}"]);
    assert_eq!((&empty["bytes_moved"], &empty["messages"]), (&json!(0), &json!(0)));
}

/// With thousands of devices, only some are listed, and the answer is still fast.
#[test]
fn many_devices() {
    let all_to_all = |devices: u64, more: &[&str]| {
        let [rows, columns] =
            ["{devices=[N,1]<=[N]}", "{devices=[1,N]<=[N]}"].map(|text| text.replace('N', &devices.to_string()));
        let found = answer(&[&["bf16[65536,65536]", "--from", &rows, "--to", &columns][..], more].concat());
        let messages = json!(devices * (devices - 1));
        assert_eq!((&found["messages"], &found["collectives"]), (&messages, &json!(["all-to-all"])));
        (found["devices"].as_array().unwrap().len() as u64, found["more_devices"].as_u64().unwrap())
    };
    assert_eq!(all_to_all(128, &[]), (128, 0));
    // The time depends only on the number of listed devices.
    assert_eq!(all_to_all(4096, &["--device", "7"]).0, 1);
    // Many copies of two halves, on one host.
    let halves = "{devices=[2,32768]<=[65536] last_tile_dim_replicate}";
    let found = answer(&[
        "f32[64]",
        "--from",
        halves,
        "--to",
        "{devices=[2,32768]<=[2,32768]T(1,0) last_tile_dim_replicate}",
        "--hosts",
        "65536",
    ]);
    let listed = found["devices"].as_array().unwrap().len() as u64;
    assert_eq!(found["more_devices"].as_u64().unwrap() + listed, 1 << 16);
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, expected) in [
        (
            &["f32[8,8]", "--from", "{manual}", "--to", "{replicated}"][..],
            "the sharding before: expected a sharding that says what each device has, found `{manual}`",
        ),
        // The devices of a manual subgroup may hold different contents.
        (
            &["f32[8,8]", "--from", "{devices=[2,1,2]<=[4] last_tile_dims={manual}}", "--to", "{devices=[4,1]<=[4]}"],
            "the sharding before: expected a sharding that says what each device has, found `{manual}`",
        ),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{mesh['x'=2,'y'=2], [{'x'}, {}], manual={'y'}}"],
            "the new sharding: expected a sharding that says what each device has, found `{manual}`",
        ),
        (
            &["f32[8,8]", "--from", "{devices=[4,1]<=[4]}", "--to", "{devices=[4]<=[4]}"],
            "the new sharding: expected a sharding of 2 dimensions, as the array has, found one of 1",
        ),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{devices=[4,1]<=[4]}", "--layout", "{1,0,2}"],
            "the new sharding: the layout does not fit the shard:",
        ),
        (
            &["s4[8,8]", "--from", "{replicated}", "--to", "{devices=[4,1]<=[4]}", "--layout", "{1,0:E(4)}"],
            "the new sharding: expected a layout that keeps the 8 bits of an element, found 4",
        ),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{devices=[4,1]<=[4]}", "--device", "9"],
            "the new sharding does not use device 9",
        ),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{devices=[4,1]<=[4]}", "--device", "-1"],
            "the new sharding does not use device -1",
        ),
        (&["f32[8,8]", "--from", "{devices=[4,1}", "--to", "{replicated}"], "{devices=[4,1}"),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{replicated}", "--hosts", "0"],
            "expected a number of devices",
        ),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{replicated}", "--hosts", "{{0,1},{1}}"],
            "found device 1 again",
        ),
        (
            &["f32[8,8]", "--from", "{replicated}", "--to", "{replicated}", "--hosts", "{{0,1},}"],
            "expected `{` at byte 7",
        ),
        (&["f32[8]", "--from", "{maximal device=-1}", "--to", "{replicated}"], "a number of at least 0, found -1"),
        (&["(f32[8], f32[8])", "--from", "{replicated}", "--to", "{replicated}"], "f32[8]"),
    ] {
        let (code, output, error) = run(arguments);
        assert!(matches!(code, Some(1 | 2)) && output.is_empty(), "{arguments:?} {code:?} {output}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

/// A fake compiler answers with an all-gather among four devices and a permutation of two.
#[test]
fn what_xla_moves_is_beside() {
    let asked = |more: &[&str]| {
        let mut command = Command::program();
        command.args(["reshard", "f32[400,200]", "--from", "{devices=[4,1]<=[4]}", "--to"]).args(more);
        let output = command.env("PJRT_PLUGIN", plugin()).env_remove("COLUMNS").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let whole = ["{replicated}", "--for", "v5e:2x2"];
    let (code, json, error) = asked(&[&whole[..], &["--format", "json"]].concat());
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let found: Value = serde_json::from_str(&json).unwrap();
    let xla = &found["xla"];
    // Only elements count, although the compiler's shapes have padding.
    assert_eq!((&found["bytes_moved"], &xla["bytes_moved"]), (&json!(960_000), &json!(960_000 + 2 * 320_000)));
    assert_eq!((&xla["for"], &xla["compiler"]), (&json!("v5e:2x2"), &json!("v5e:2x2")));
    assert_eq!((&xla["warns"], &xla["through"]), (&json!(true), &json!(null)));
    let gather =
        json!({ "opcode": "all-gather", "instruction": "start", "groups": "[1,4]<=[4]", "bytes_moved": 960_000 });
    assert_eq!(xla["collectives"][0], gather);
    let (_, text, _) = asked(&whole);
    for line in [
        "\nXLA for v5e:2x2 (v5e:2x2)\n",
        "\n  all-gather             938 KiB  [1,4]<=[4]\n",
        "\n  1.53 MiB move between devices, 1.67 times the least\n  XLA warns of an \"Involuntary full rematerialization\"\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for (more, expected) in [
        (
            &["{replicated}", "--for", "v5e:2x4"][..],
            "the sharding before: expected one of the 8 devices to compile for, 0 to 7, found one of 4",
        ),
        (
            &["{devices=[4,1]1,2,3,4}", "--for", "h100:4"],
            "the new sharding: expected one of the 4 devices to compile for, 0 to 3, found one of 4 with other numbers",
        ),
        (
            &["{replicated}", "--for", "v8i"],
            "XLA did not compile the change: v8i is not known to the compiler; it knows v2 to v7x",
        ),
        (&["{replicated}", "--for", "v5e:2x2", "--plugin", "/none.so"], "XLA did not compile the change: "),
        (&["{replicated}", "--for", "v9"], "v9"),
    ] {
        let (code, output, error) = asked(more);
        assert!(matches!(code, Some(1 | 2)) && output.is_empty(), "{more:?} {code:?} {output}");
        assert!(error.contains(expected), "{more:?}: {error}");
    }
}

/// If a log warns about a change of sharding, the change is compiled alone, without and with the constraint. The shape in the log is that of a
/// shard.
#[test]
fn a_warned_change_is_compiled_alone() {
    let log = "W1129 15:14:48.976026 1 spmd_partitioner.cc:797] [SPMD] Involuntary full rematerialization. The compiler cannot go from \
         sharding {devices=[4,1]<=[4]} to {devices=[1,2,2]<=[4] last_tile_dim_replicate} efficiently for HLO operation \
         %p = f32[24,8]{1,0} parameter(0), metadata={op_name=\"x\" source_file=\"/home/me/train.py\" source_line=44}. As the last resort\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.mlir"), "module {}").unwrap();
    let asked = |log: &str, more: &[&str]| {
        let mut command = Command::program();
        command.current_dir(folder.path()).args(["scan", "-", "--summary"]).args(more).write_stdin(log);
        let output = command.env("PJRT_PLUGIN", plugin()).env_remove("COLUMNS").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(text(output.stderr), "");
        text(output.stdout)
    };
    let json = |log: &str, more: &[&str]| -> Value {
        let text = asked(log, &[more, &["--format", "json"]].concat());
        serde_json::from_str::<Value>(&text).unwrap()["causes"].take()
    };
    let causes = json(&log.repeat(2), &["--for", "v5e:2x2", "--program", "p.mlir"]);
    assert_eq!((causes.as_array().unwrap().len(), &causes[0]["source"]), (1, &json!("train.py:44")));
    let trial = &causes[0]["remedies"][0]["trial"];
    assert_eq!((&trial["outcome"], &trial["device"]), (&json!("compiles"), &json!("v5e:2x2")));
    // The answer is the same as that of `reshard` about the whole array.
    let mut command = Command::program();
    command.args(["reshard", "f32[96,8]", "--from", "{devices=[4,1]<=[4]}", "--to"]);
    command.args(["{devices=[1,2,2]<=[4] last_tile_dim_replicate}", "--for", "v5e:2x2", "--format", "json"]);
    let output = command.env("PJRT_PLUGIN", plugin()).output().unwrap();
    let alone: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(trial["change"], alone["xla"]);
    assert_eq!((&alone["xla"]["warns"], &alone["xla"]["through"]["warns"]), (&json!(true), &json!(false)));
    // No program is needed, because the shardings give the number of devices.
    assert_eq!(json(log, &["--for", "v5e:2x2"]), json(log, &["--for", "v5e:2x2", "--program", "p.mlir"]));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = words(&asked(log, &["--for", "v5e:2x2"]));
    let expected = "Each device gathers all 3 KiB of f32[96,8], if that is divided evenly, and then takes its part. A device has \
        f32[24,8]{1,0} (768 B) before. A device has f32[96,4]{1,0} (1.50 KiB) after. Help: write the sharding {devices=[1,4]<=[4]} between";
    assert!(text.contains(expected), "{text}");
    let expected = "Compiled alone for v5e:2x2, the change moves 1.53 MiB between devices, and XLA warns; with the constraint, it moves 1.53 MiB \
        between devices, and XLA does not warn.";
    assert!(text.contains(expected), "{text}");
    let text = words(&asked(log, &["--for", "v5e:2x4"]));
    assert!(text.contains("It was not compiled: the sharding before: expected one of the 8 devices"), "{text}");
    // Of many warnings, only the first 16 are compiled.
    let many = (1..=20).map(|rows| log.replace("f32[24,", &format!("f32[{},", 4 * rows))).collect::<String>();
    let many = json(&many, &["--for", "v5e:2x4"]);
    let trial = |number: usize| &many[number]["remedies"][0]["trial"]["outcome"];
    assert_eq!((trial(15), trial(16)), (&json!("not_compiled"), &json!(null)), "{many}");
}

/// If the given program has exactly one instruction with this change, the answer names the instruction.
#[test]
fn the_instruction_of_a_warned_change_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = |array: &str| {
        format!(
            "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {{devices=[4,1]<=[4]}} to \
             {{devices=[1,2,2]<=[4] last_tile_dim_replicate}} efficiently for HLO operation %p = {array}{{1,0}} parameter(0)."
        )
    };
    let asked = |log: &str, program: &str, format: &[&str]| {
        std::fs::write(folder.path().join("p"), program).unwrap();
        let mut command = Command::program();
        command.current_dir(folder.path()).args(["scan", "-", "--summary", "--for", "v5e:2x2", "--program", "p"]);
        let output = command.args(format).write_stdin(log).env("PJRT_PLUGIN", plugin()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let json = |log: &str, program: &str| {
        let text = asked(log, program, &["--format", "json"]);
        serde_json::from_str::<Value>(&text).unwrap()["causes"][0]["instruction"].take()
    };
    let hlo = "HloModule m, num_partitions=4
ENTRY e {
  p = f32[95,8] parameter(0), sharding={devices=[4,1]0,1,2,3}
  n = f32[95,8] negate(p), sharding={devices=[4,1]<=[4]}
  ROOT c = f32[95,8] copy(n), sharding={mesh['a'=2,'b'=2], [{}, {'a'}]}, metadata={source_file=\"/me/train.py\" source_line=7}
}";
    let shardy = "module @m {
  sdy.mesh @mesh = <[\"a\"=2, \"b\"=2]>
  func.func public @main(%arg0: tensor<96x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", \"b\"}, {}]>}) -> tensor<96x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {\"a\"}]> : tensor<96x8xf32> loc(#loc1)
    return %0 : tensor<96x8xf32>
  }
}
#loc1 = loc(\"/me/train.py\":7:2 to :9)
";
    let gspmd = "module @m {
  func.func public @main(%arg0: tensor<96x8xf32>) -> tensor<96x8xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = \"{devices=[4,1]<=[4]}\"} : (tensor<96x8xf32>) -> tensor<96x8xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = \"{devices=[1,2,2]<=[4] last_tile_dim_replicate}\"} : (tensor<96x8xf32>) -> tensor<96x8xf32> loc(\"/me/train.py\":7:2)
    return %1 : tensor<96x8xf32>
  }
}
";
    for (program, name) in [(hlo, "%c"), (shardy, "%0"), (gspmd, "%1")] {
        assert_eq!(json(&log("f32[24,8]"), program), json!({ "name": name, "source": "train.py:7" }), "{program}");
        let text = asked(&log("f32[24,8]"), program, &[]);
        assert!(text.contains(&format!("In the program, it is {name} (train.py:7).")), "{text}");
        // No instruction is named for another shape, another type or another sharding.
        assert_eq!(json(&log("f32[12,8]"), program), json!(null));
        assert_eq!(json(&log("bf16[24,8]"), program), json!(null));
        assert_eq!(json(&log("f32[24,8]").replace("<=[4] last", "<=[2,2]T(1,0) last"), program), json!(null));
    }
    // A called function may make the same change, so it is not certain which one the warning means.
    let called = "  func.func private @f(%arg0: tensor<96x8xf32>) -> tensor<96x8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {\"a\"}]> : tensor<96x8xf32>
    return %0 : tensor<96x8xf32>
  }
}
#loc1";
    assert_eq!(json(&log("f32[24,8]"), &shardy.replace("}\n#loc1", called)), json!(null));
    let two = hlo.replace("ROOT c", "d = f32[95,8] copy(n), sharding={mesh['a'=2,'b'=2], [{}, {'a'}]}\n  ROOT c");
    assert_eq!(json(&log("f32[24,8]"), &two), json!(null));
    assert_eq!(json(&log("f32[24,8]"), "module {}"), json!(null));
}

/// If a log warns of a full rematerialization, the answer names the sharding to go through, and a command that shows the change.
#[cfg(unix)]
#[test]
fn what_scan_recommends_can_be_pasted() {
    let said = |from: &str, to: &str| {
        let log = format!(
            "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {from} to {to} efficiently for HLO operation \
             %p = bf16[16,32,8]{{2,1,0}} parameter(0)."
        );
        let mut command = Command::program();
        command.args(["scan", "--summary", "--format", "json"]).write_stdin(log);
        let scanned: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        scanned["causes"][0]["remedies"][0]["text"].as_str().unwrap().to_owned()
    };
    let change = ["{devices=[1,2,4]<=[8]}", "{devices=[4,1,2]<=[2,4]T(1,0)}"];
    let text = said(change[0], change[1]);
    let command = text.split('`').nth(1).unwrap();
    let line = command.replacen("xla-shape", &format!("'{}' --format json", env!("CARGO_BIN_EXE_xla-shape")), 1);
    let line = line.replacen(" --format json reshard", " reshard --format json", 1);
    let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    let answered: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sharding = answered["through"]["shardings"][0]["sharding"].as_str().unwrap();
    assert!(text.starts_with(&format!("write the sharding {sharding} between the two: ")), "{text}");
    assert_eq!(answered["before"]["sharding"], change[0]);
    assert_eq!(answered["through"]["collectives"], json!(["all-to-all", "all-to-all"]));
    assert!(answered["through"]["bytes_moved"].as_u64() >= answered["bytes_moved"].as_u64());

    // The names of the axes come from the log.
    let mesh = "mesh['a$(id)'=2,'b'=2]";
    let text =
        said(&format!("{{{mesh}, [{{'a$(id)'}}, {{'b'}}, {{}}]}}"), &format!("{{{mesh}, [{{}}, {{}}, {{'b'}}]}}"));
    assert!(text.contains(r"--from '{mesh['\''a$(id)'\''=2"), "{text}");
}
