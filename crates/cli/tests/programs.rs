//! `xla-shape hlo` and `xla-shape scan`, run as programs.

use crate::program::Command;
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
    Command::program().args(arguments).write_stdin(input).output().unwrap()
}

fn text(arguments: &[&str], input: impl Into<Vec<u8>>) -> String {
    let output = program(arguments, input);
    assert_eq!((String::from_utf8(output.stderr).unwrap().as_str(), output.status.code()), ("", Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str], input: impl Into<Vec<u8>>) -> Value {
    serde_json::from_str(&text(arguments, input)).unwrap()
}

/// All sections of the text about a module. All white space is replaced by single spaces, so that no test depends on the width of lines.
fn sections(arguments: &[&str], input: impl Into<Vec<u8>>) -> String {
    joined(&text(&[&["hlo", "-", "--all"], arguments].concat(), input))
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn real(name: &str) -> String {
    format!("{}/../../examples/hlo/{name}", env!("CARGO_MANIFEST_DIR"))
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
fn a_report_has_the_memory_of_a_module() {
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
    // A bitcast to a different number of bytes is an error.
    let changes = program(&["hlo", "-", "--all"], free);
    assert_eq!(changes.status.code(), Some(1));
    let changes = joined(&String::from_utf8(changes.stdout).unwrap());
    assert!(
        changes.contains(" free %c (bitcast) f32[4,100]{1,0:T(8,128)S(1)} -> f32[4,100]{0,1:T(8,128)} "),
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
    let page = sections(&[], MODULE);
    assert!(page.contains(" module m: 1 computation, 4 instructions ") && page.contains("S(1) VMEM"), "{page}");
}

#[test]
fn the_first_line_has_the_need_the_limit_and_the_largest_array() {
    let source = ", metadata={op_name=\"jit(f)/layer/copy\" source_file=\"train.py\" source_line=43}";
    let module = MODULE.replace("copy(b)", &format!("copy(b){source}"));
    let first = |arguments: &[&str]| {
        let text = sections(arguments, module.clone());
        text.split_once(" module m:").unwrap().0.to_owned()
    };
    let cause = "largest at the peak: 52 KiB temporary %c f32[4,100]{0,1:T(8,128)}, train.py:43";
    let needed = "needs 120 KiB of HBM of";
    let v5e =
        format!("{needed} 15.7 GiB that a program may use on TPU v5e (--for names another generation): fits; {cause}");
    let unknown = format!("needs 120 KiB of HBM; generation not given (--for names it); {cause}");
    assert_eq!(first(&[]), unknown);
    assert_eq!(first(&["--for", "TPU v5 lite"]), v5e.replace(" (--for names another generation)", ""));
    assert_eq!(first(&["--space", "1"]), unknown);
    // The generation is known from the file's name, or from the use of CMEM, which only v4 has.
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        let text = joined(&self::text(&["hlo", path.to_str().unwrap()], ""));
        text.split_once(" module m:").unwrap().0.to_owned()
    };
    assert_eq!(file("m__v5e.hlo", &module), v5e);
    assert_eq!(file("m.hlo", &module), unknown);
    let cmem = file("m.hlo", &module.replace("S(1)", "S(3)"));
    assert!(cmem.contains("may use on TPU v4 (--for names another generation): fits"), "{cmem}");
    // The GPU is known from the file's name, or from the description in the dump, which has the better figure for its memory.
    let gemm = "HloModule m\nENTRY e { p = f32[8]{0} parameter(0)\n ROOT c = f32[8]{0} custom-call(p), custom_call_target=\"__cublas$gemm\" }";
    let gpu = file("g__h100.hlo", gemm);
    assert!(gpu.contains("59.3 GiB that a program may use on h100 (--for names another GPU): fits"), "{gpu}");
    let dump = directory.path().join("dump");
    std::fs::create_dir(&dump).unwrap();
    std::fs::write(dump.join("after.hlo"), gemm).unwrap();
    std::fs::write(dump.join("gpu_target_config.pbtxt"), "gpu_device_info { device_memory_size: 8589934592 }").unwrap();
    let described = joined(&text(&["hlo", dump.to_str().unwrap()], ""));
    assert!(
        described.contains("6 GiB that a program may use on the GPU that the dump describes (--for"),
        "{described}"
    );
    let small = format!("{needed} 64 KiB that a program may use: DOES NOT FIT; {cause}");
    for option in ["--for", "--device"] {
        let output = program(&["hlo", "-", "--all", option, "64KiB"], module.clone());
        assert_eq!(output.status.code(), Some(1), "a program that does not fit");
        let text = joined(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(text.split_once(" module m:").unwrap().0, small);
    }
    // A program without tiles is not for TPUs, so no device is assumed.
    let other = module.replace(":T(8,128)", "").replace("S(1)", "");
    let summary = &json(&["hlo", "-", "--format", "json"], other)["summary"];
    assert_eq!(
        (&summary["available_bytes"], &summary["fits"], &summary["generation"]),
        (&json!(null), &json!(null), &json!(null))
    );
    let summary = &json(&["hlo", "-", "--format", "json", "--for", "V6E"], module.clone())["summary"];
    assert_eq!(
        (&summary["generation"], &summary["assumed"], &summary["fits"]),
        (&json!("v6e"), &json!(false), &json!(true))
    );
    assert_eq!((&summary["largest"]["name"], &summary["largest"]["source"]), (&json!("c"), &json!("train.py:43")));
    // The peak includes VMEM, so the text does not list it as a part of HBM.
    let page = sections(&[], module);
    assert!(
        page.contains("peak, computed as the compiler counts it; VMEM counts too, so this is not the use of HBM "),
        "{page}"
    );
}

#[test]
fn only_tpus_have_hbm() {
    let module = MODULE.replace(":T(8,128)", "").replace("S(1)", "");
    let page = sections(&[], module.clone());
    assert!(page.starts_with("needs ") && page.contains(" of memory; largest at the peak: "), "{page}");
    assert!(page.contains("Live at the peak of S(0) default memory, at %"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.hlo", "b.hlo"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&paths[0], &module).unwrap();
    std::fs::write(&paths[1], module.replace("[4,100]", "[8,100]")).unwrap();
    let difference = text(&["hlo", "diff", &paths[0], &paths[1]], "");
    let error = String::from_utf8(program(&["hlo", "-", "--space", "1"], module.clone()).stderr).unwrap();
    let within = sections(&["--for", "1GiB"], module);
    for text in [page, difference, error, within] {
        assert!(!text.contains("HBM") && !text.contains("VMEM"), "{text}");
    }
}

#[test]
fn a_parameter_that_is_returned_is_donated_only_if_the_module_says_so() {
    let module = |attribute: &str| {
        format!(
            "HloModule m, is_scheduled=true{attribute}\nENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n  q = f32[8]{{0}} parameter(1)\n  \
             ROOT t = (f32[8]{{0}}, f32[8]{{0}}) tuple(p, q)\n}}\n"
        )
    };
    let roles = |attribute: &str| {
        let report = json(&["hlo", "-", "--format", "json"], module(attribute));
        let largest = report["at_peak"][0]["largest"].as_array().unwrap().clone();
        let role = |name: &str| largest.iter().find(|value| value["name"] == name).unwrap()["role"].clone();
        [role("p"), role("q")]
    };
    assert_eq!(roles(""), ["argument", "argument"]);
    assert_eq!(roles(", input_output_alias={ {1}: (1, {}, may-alias) }"), ["argument", "donated"]);
}

#[test]
fn lists_have_totals_and_source_lines_and_json_has_times_and_offsets() {
    let source = |line: u32| format!(", metadata={{op_name=\"f\" source_file=\"train.py\" source_line={line}}}");
    let mut module =
        "HloModule m, is_scheduled=true, num_partitions=2\nENTRY e {\n  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
            .to_owned();
    // Five small values have more padding together than the large one.
    for number in 0..5 {
        module += &format!(
            "  s{number} = f32[8,64]{{1,0:T(8,128)}} custom-call(p), custom_call_target=\"f\"{}\n",
            source(number)
        );
    }
    module += "  l = f32[8,1100]{1,0:T(8,128)} custom-call(p), custom_call_target=\"f\"\n";
    module += &format!("  c = f32[8,64]{{0,1:T(8,128)}} copy(s0){}\n", source(70));
    module += &format!(
        "  a = f32[8,128]{{1,0:T(8,128)}} all-reduce(p), replica_groups={{{{0,1}}}}, to_apply=add{}\n",
        source(80)
    );
    module += "  ROOT t = (f32[8,64]{1,0:T(8,128)}, f32[8,64]{1,0:T(8,128)}, f32[8,64]{1,0:T(8,128)}, f32[8,64]{1,0:T(8,128)}, f32[8,64]{1,0:T(8,128)}, f32[8,1100]{1,0:T(8,128)}, f32[8,64]{0,1:T(8,128)}, f32[8,128]{1,0:T(8,128)}) tuple(s0, s1, s2, s3, s4, l, c, a)\n}\n";
    module = module.replace(
        "ENTRY e",
        "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\nENTRY e",
    );
    let report = json(&["hlo", "-", "--format", "json"], module.clone());
    let padded = report["most_padded"].as_array().unwrap();
    let totals = padded.iter().map(|value| value["all_padding_bytes"].as_u64().unwrap()).collect::<Vec<_>>();
    assert!(totals.is_sorted_by(|one, next| one >= next), "{totals:?}");
    let small = padded.iter().find(|value| value["shape"] == "f32[8,64]{1,0:T(8,128)}").unwrap();
    assert_eq!(
        (&small["values"], &small["all_padding_bytes"], &small["all_bytes"]),
        (&json!(5), &json!(5 * 2048), &json!(5 * 4096))
    );
    assert_eq!((&small["file"], &small["line"]), (&json!("train.py"), &json!(0)));
    let place = |list: &str| (report[list][0]["file"].clone(), report[list][0]["line"].clone());
    assert_eq!(place("layout_changes"), (json!("train.py"), json!(70)));
    assert_eq!(place("collectives"), (json!("train.py"), json!(80)));
    let largest = report["at_peak"][0]["largest"].as_array().unwrap();
    assert!(largest.iter().all(|value| value["live"][0].is_array() && value.get("offset").is_some()), "{largest:?}");
    let temporary = &json(&["hlo", "-", "--format", "json"], MODULE)["at_peak"][0]["largest"];
    let temporary = temporary.as_array().unwrap().iter().find(|value| value["role"] == "temporary").unwrap();
    assert_eq!((&temporary["live"], &temporary["offset"]), (&json!([[2, 3]]), &json!(0)));
    let text = sections(&[], module);
    let padded = "10 KiB padding 2.00x 5 values of 4 KiB f32[8,64]{1,0:T(8,128)} such as %s0 (custom-call) train.py:0 ";
    assert!(text.contains(padded), "{text}");
    assert!(text.contains("%c (copy) train.py:70 ") && text.contains(" train.py:80 "), "{text}");
}

#[test]
fn real_modules_have_reports_and_pages() {
    for name in ["v5e__rnn_scan.hlo", "v5e__host_offload.hlo"] {
        let report = json(&["hlo", &real(name), "--format", "json"], "");
        assert!(report["instructions"].as_u64() > Some(10), "{name}");
        assert_eq!(report["findings"], json!([]), "{name}");
        let page = text(&["hlo", &real(name), "--html", "-"], "");
        assert!(page.len() < 300_000 && page.contains("id=\"data\"") && page.ends_with("</html>\n"));
        // One command may write both the page and JSON, but not both to standard output.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        assert_eq!(json(&["hlo", &real(name), "--html", path.to_str().unwrap(), "--format", "json"], ""), report);
        assert_eq!(std::fs::read_to_string(path).unwrap(), page);
        assert_eq!(program(&["hlo", &real(name), "--html", "-", "--format", "json"], "").status.code(), Some(2));
    }
}

#[test]
fn a_diff_has_changes_and_their_bytes() {
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
    let end = "0 shapes, 0 layouts and 0 memory spaces changed; 0 values added, 0 removed; +0 B in all";
    assert!(
        same.split_whitespace().collect::<Vec<_>>().join(" ").ends_with(end) && same.contains("\nPeak of S(0) HBM: "),
        "{same}"
    );
    let same = json(&["hlo", "diff", &path("a"), &path("a"), "--format", "json"], "");
    assert_eq!((&same["change"], &same["same"], &same["differing"]), (&json!("programs"), &json!(true), &json!(0)));
    assert_eq!((&same["totals"][0]["name"], same["totals"][0]["bytes"].as_u64() > Some(0)), (&json!("total"), true));
    // The figures are the same, but the programs differ.
    std::fs::write(path("c"), MODULE.replace("negate", "abs")).unwrap();
    let other = joined(&text(&["hlo", "diff", &path("a"), &path("c")], ""));
    assert!(other.contains(" instructions differ, such as "), "{other}");
}

/// A report fits on one screen. Its last line names the sections with more entries; each can be shown alone.
#[test]
fn a_report_is_one_screen_that_names_its_sections() {
    for name in ["v5e__rnn_scan.hlo", "v5e__layouts.hlo", "v5e__host_offload.hlo", "v5e__gather_step.hlo"] {
        let module = std::fs::read(real(name)).unwrap();
        for columns in ["60", "80", "100"] {
            let mut program = Command::program();
            let output = program.env("COLUMNS", columns).args(["hlo", "-"]).write_stdin(&*module).output().unwrap();
            let screen = String::from_utf8(output.stdout).unwrap();
            let most = if columns == "60" { 60 } else { 45 };
            assert!(screen.lines().count() <= most, "{name}: {} lines", screen.lines().count());
            // A line is too long only if it has a long word, such as a shape.
            let too_long = |line: &&str| line.len() > columns.parse().unwrap() && line.trim().contains(' ');
            let longest_word = |line: &str| line.split_whitespace().map(str::len).max().unwrap_or(0);
            let wide = screen.lines().filter(too_long).find(|line| longest_word(line) < 30);
            assert_eq!(wide, None, "{name}");
        }
        let screen = text(&["hlo", "-"], &*module);
        let (_, more) = screen.split_once("\nMore: --all, or --section with ").unwrap();
        let more = joined(more);
        let (more, next) = more.split_once(" One instruction: hlo show FILE ").unwrap();
        let (name, _) = next.split_once("; a page to click through: --html PAGE").unwrap();
        assert!(text(&["hlo", "show", "-", name], &*module).starts_with(name), "{name}");
        let all = text(&["hlo", "-", "--all"], &*module);
        for section in more.split(", ") {
            let alone = text(&["hlo", "-", "--section", section], &*module);
            let heading = alone.split("\n\n").nth(1).unwrap().lines().next().unwrap();
            assert!(all.contains(&format!("\n{heading}\n")), "{section}: {heading}");
        }
    }
    let output = program(&["hlo", "-", "--all", "--section", "peak"], MODULE);
    assert_eq!(output.status.code(), Some(2));
    let output = program(&["hlo", "-", "--section", "peek"], MODULE);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("[possible values: memory, peak, ") && error.contains("tip: a similar value exists: 'peak'"),
        "{error}"
    );
}

#[test]
fn arrays_of_a_tuple_have_numbers() {
    let module = "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  \
                  ROOT c = (f32[8], f32[9]) custom-call(p), custom_call_target=\"c\"\n}\n";
    let report = json(&["hlo", "-", "--format", "json"], module);
    assert_eq!((&report["largest"][0]["name"], &report["largest"][0]["leaf"]), (&json!("c"), &json!(1)));
    let page = sections(&[], module);
    assert!(page.contains("%c#1 (custom-call) f32[9]") && page.contains("%c (custom-call) f32[8]"), "{page}");
}

#[test]
fn padding_agrees_with_the_compilers_message() {
    // Lines as XLA:TPU writes them when memory runs out.
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
    let mut rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()).collect::<Vec<_>>();
    assert_eq!(rows.pop().unwrap()["schema"], "xla-shape/scan-summary/1");
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
    let help = "  in -:1:8\nhelp: this is MLIR; `xla-shape compile FILE` compiles it and says the same of it; in JAX, \
                `lowered.compile().as_text()` is HLO\n";
    assert!(message.ends_with(help), "{message}");
    let output = program(&["hlo", "-"], b"HloModule m\n\xc3\xa9\xff".to_vec());
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message, "error: expected UTF-8, found bytes that are not\n  in -:2:2\n");
    assert_eq!(output.status.code(), Some(1));
    let output = program(&["hlo", "-"], "");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: - is not an HLO module: it has no computations\n");
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
        json!({"schema": "xla-shape/scan/1", "line": 1, "column": 14, "shape": "f32[16,512]{1,0:T(8,128)}", "bytes": 32768, "padding_bytes": 0, "expansion": 1.0}),
        json!({"schema": "xla-shape/scan/1", "line": 3, "column": 1, "shape": "bf16[100,1]{1,0:T(8,128)(2,1)}", "bytes": 26624, "padding_bytes": 26424, "expansion": 133.12}),
        json!({"schema": "xla-shape/scan/1", "line": 3, "column": 36, "shape": "f32[?]{0}", "bytes": null, "padding_bytes": null, "expansion": null}),
    ];
    assert_eq!(rows, expected);
    let utf16 = |order: fn(u16) -> [u8; 2]| {
        "\u{feff}Used 2.00G of 1.00G hbm.".encode_utf16().flat_map(order).collect::<Vec<_>>()
    };
    for log in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
        assert!(text(&["scan"], log).contains("hbm: 2 GiB of 1 GiB"));
    }
    assert_eq!(text(&["scan", "-"], "nothing here"), "No shapes and no messages about memory in 1 line.\n");
    let silent = program(&["scan", "--format", "json"], "nothing here");
    assert_eq!((silent.stdout.len(), silent.status.code()), (0, Some(0)));
    assert!(String::from_utf8(silent.stderr).unwrap().starts_with("No shapes"));
    let no_program = program(&["scan", "--for", "v5e"], "module {\n  it is a kernel\n}\n");
    assert_eq!(no_program.status.code(), Some(1));
    let message = "error: the text has no whole program in MLIR to compile; --program names one\n";
    assert_eq!(String::from_utf8(no_program.stderr).unwrap(), message);
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let bad_program = program(&["scan", "--program", manifest], "E1000: Used 22.00G of 15.75G hbm.");
    assert_eq!((bad_program.stdout.len(), bad_program.status.code()), (0, Some(1)));
    let message = String::from_utf8(bad_program.stderr).unwrap();
    assert!(message.starts_with(&format!("error: {manifest}: ")), "{message}");
    let table = text(&["scan"], "x bf16[100,1]{1,0:T(8,128)(2,1)}");
    let expected = "1 shape, 1 different; each once: 26 KiB, of which 25.8 KiB are padding
      1:3     26 KiB   25.8 KiB padding   133.1x  bf16[100,1]{1,0:T(8,128)(2,1)}

Next: `xla-shape advise 'bf16[100,1]{1,0:T(8,128)(2,1)}'` compares the layouts
of the most padded array.\n";
    assert_eq!(table, expected);
    for (log, help) in [
        (
            "Used 4.00G of 3.00G hbm. f32[1024,1024]{1,0:T(8,128)}",
            "Help: list what takes the memory: compile with XLA_FLAGS=--xla_dump_to=DIR, then `xla-shape hlo DIR`",
        ),
        (
            "Scoped allocation with size 23.50M and limit 16.00M exceeded scoped vmem limit by 7.50M.",
            "Or: `xla-shape kernel PROGRAM.mlir` says what takes the VMEM of a kernel.",
        ),
        // For these shapes, `advise` has nothing to compare.
        ("Used 4.00G of 3.00G hbm. (f32[1]{0:T(128)}, f32[1]{0:T(128)})", "compile with XLA_FLAGS"),
    ] {
        let text = joined(&text(&["scan"], log));
        assert!(text.contains(help) && !text.contains("Next:"), "{text}");
    }
    for log in ["f32[1024,1024]{1,0:T(8,128)}", "f32[1023,1024]{1,0:T(8,128)}"] {
        assert!(!text(&["scan"], log).contains("Next"), "nothing to mend");
    }
}

#[test]
fn findings_decide_the_exit_code() {
    let entry = |lines: &str| format!("HloModule m\nENTRY e {{\n  p = f32[4]{{0}} parameter(0)\n  {lines}\n}}\n");
    let right = entry("ROOT n = f32[4]{0} negate(p)");
    let hint = entry("ROOT n = f32[4]{0} new-op(p)");
    let error = entry("ROOT n = f32[5]{0} negate(p)");
    let unread = entry("a = f32[4]{1} negate(p)\n  ROOT n = f32[5]{0} negate(p)");
    for (module, code, strict) in [(&right, 0, 0), (&hint, 0, 1), (&error, 1, 1), (&unread, 3, 3)] {
        for format in ["text", "json"] {
            for more in [&[][..], &["--html", "-"]] {
                if format == "json" && !more.is_empty() {
                    continue;
                }
                let arguments = [&["hlo", "-", "--format", format], more].concat();
                let output = program(&arguments, module.as_str());
                assert_eq!(output.status.code(), Some(code), "{module}");
                assert!(!output.stdout.is_empty());
                assert_eq!(
                    program(&[&arguments, &["--strict"][..]].concat(), module.as_str()).status.code(),
                    Some(strict)
                );
            }
        }
    }
}

#[test]
fn a_module_that_uses_an_operand_too_early_has_no_memory_over_time() {
    let module = "HloModule m, is_scheduled=true\nENTRY e {\n  p = f32[4]{0:T(128)} parameter(0)\n  n = f32[4]{0:T(128)} negate(q)\n  \
                  q = f32[4]{0:T(128)} copy(p)\n  ROOT r = f32[4]{0:T(128)} add(n, q)\n}\n";
    let output = program(&["hlo", "-", "--format", "json", "--device", "v5e"], module);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["memory"], &report["at_peak"], &report["capacity"]), (&Value::Null, &json!([]), &json!([])));
    assert_eq!(report["spaces"][0]["peak_bytes"], Value::Null);
    assert_eq!(report["findings"][0]["severity"], "error");
    let page = program(&["hlo", "-", "--html", "-"], module);
    assert_eq!(page.status.code(), Some(1));
    // The text says why there are no totals.
    let text = joined(&String::from_utf8(program(&["hlo", "-"], module).stdout).unwrap());
    assert!(text.contains("Memory unknown: ") && text.contains("an operand is used before its definition "), "{text}");
    assert!(!text.contains("arguments "), "{text}");
}

#[test]
fn a_text_and_its_message_have_the_same_opcodes() {
    let module = "HloModule m\nb {\n  p = (s32[], f32[2]{0}) parameter(0)\n  ROOT t = (s32[], f32[2]{0}) tuple(p#0, p#1)\n}\n\
                  c {\n  p = (s32[], f32[2]{0}) parameter(0)\n  k = s32[] constant(3)\n  \
                  ROOT l = pred[] compare(p#0, k), direction=LT\n}\n\
                  ENTRY e {\n  x = (s32[], (s32[], f32[2]{0})) parameter(0)\n  w = (s32[], f32[2]{0}) while(x#1), condition=c, body=b\n  \
                  a = f32[2]{0} add(w#1, x#1#1)\n  ROOT n = f32[2]{0} multiply(a, w#1)\n}\n";
    let message = program(&["hlo", "print", "-", "--to", "proto"], module);
    assert_eq!(message.status.code(), Some(0));
    let [of_text, of_message] =
        [module.into(), message.stdout].map(|input: Vec<u8>| json(&["hlo", "-", "--format", "json"], input));
    // The message has one `get-tuple-element` for each element that a computation reads: p#0 and p#1 in `b`; p#0 in `c`; x#1, x#1#1 and w#1 in `e`.
    assert_eq!(of_text["opcodes"]["get-tuple-element"], 6);
    assert_eq!((&of_text["opcodes"], &of_text["instructions"]), (&of_message["opcodes"], &of_message["instructions"]));
}
