//! `docs/schemas` has a JSON Schema for each verb: the program's output is valid by it, and the help names its fields.

use crate::program::{Command, program_path};
use crate::validator::{assert_well_formed, mistakes};
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The schemas by verb: `hlo diff` is `hlo-diff`.
static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let files = fs::read_dir(root().join("docs/schemas")).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let schema = serde_json::from_str(&fs::read_to_string(&path).unwrap());
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), schema.unwrap())
        })
        .collect()
});

/// What the verbs write as JSON, one value a line.
static ANSWERS: LazyLock<BTreeMap<&'static str, Vec<Value>>> = LazyLock::new(answers);

/// A module for which a report has every part: several memory spaces, padding, a copy, a collective, a loop, an error.
const MODULE: &str = "\
HloModule m, is_scheduled=true, num_partitions=2, input_output_alias={ {0}: (0, {}, may-alias) }

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name=\"params['w']\"}
  k = f32[8,64]{1,0:T(8,128)} constant({...})
  n = f32[8,128]{1,0:T(8,128)} negate(p), metadata={op_name=\"jit(f)/layer/neg\" source_file=\"f.py\" source_line=3}
  v = f32[8,128]{1,0:T(8,128)S(1)} copy(n), metadata={op_name=\"jit(f)/layer/copy\" source_file=\"f.py\" source_line=4}
  c = f32[8,128]{0,1:T(8,128)} copy(v), metadata={op_name=\"jit(f)/copy\" source_file=\"f.py\" source_line=5}
  a = f32[8,128]{1,0:T(8,128)} all-reduce(n), replica_groups={{0,1}}, to_apply=add, metadata={op_name=\"jit(f)/psum\" source_file=\"f.py\" source_line=6}
  w = f32[9,128]{1,0:T(8,128)} negate(a)
  ROOT t = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{0,1:T(8,128)}, f32[8,64]{1,0:T(8,128)}, f32[9,128]{1,0:T(8,128)}) tuple(a, c, k, w)
}
";

/// A module that is not partitioned yet.
const SHARDED: &str = "\
HloModule m, entry_computation_layout={(f32[64,256]{1,0:T(8,128)}, f32[8,128]{1,0})->f32[64,256]{1,0}}, num_partitions=8
ENTRY e {
  p = f32[64,256]{1,0} parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  q = f32[8,128]{1,0} parameter(1), sharding={replicated}
  ROOT r = f32[64,256]{1,0} negate(p), sharding={devices=[8,1]<=[8]}
}
";

/// A module without a program to run, and without a name.
const LIBRARY: &str = "add {\n  x = f32[] parameter(0)\n  ROOT y = f32[] negate(x)\n}\n";

/// A module with the compiler's cycles, a copy, a loop, a conditional and an asynchronous collective.
const CYCLES: &str = r#"HloModule m, is_scheduled=true, num_partitions=2, entry_computation_layout={(f32[8,128]{1,0:T(8,128)}, pred[])->f32[8,128]{0,1:T(8,128)}}

body {
  s = (f32[8,128]{1,0:T(8,128)}) parameter(0)
  v = f32[8,128]{1,0:T(8,128)} get-tuple-element(s), index=0
  w = f32[8,128]{1,0:T(8,128)} negate(v), backend_config={"window_config":{"estimated_cycles":"10"}}
  ROOT t = (f32[8,128]{1,0:T(8,128)}) tuple(w)
}

condition {
  s = (f32[8,128]{1,0:T(8,128)}) parameter(0)
  ROOT c = pred[] constant(false)
}

branch {
  x = f32[8,128]{1,0:T(8,128)} parameter(0)
  ROOT y = f32[8,128]{1,0:T(8,128)} negate(x), backend_config={"window_config":{"estimated_cycles":"20"}}
}

ENTRY main {
  a = f32[8,128]{1,0:T(8,128)} parameter(0), metadata={op_name="params['w']"}
  p = pred[] parameter(1)
  b = f32[8,128]{1,0:T(8,128)} negate(a), metadata={op_name="jit(f)/neg" source_file="f.py" source_line=7}, backend_config={"window_config":{"estimated_cycles":"300"}}
  i = (f32[8,128]{1,0:T(8,128)}) tuple(b)
  l = (f32[8,128]{1,0:T(8,128)}) while(i), condition=condition, body=body
  g = f32[8,128]{1,0:T(8,128)} get-tuple-element(l), index=0
  h = f32[8,128]{1,0:T(8,128)} conditional(p, g, g), true_computation=branch, false_computation=branch
  e = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) collective-permute-start(h), source_target_pairs={{0,1},{1,0}}
  n = f32[8,128]{1,0:T(8,128)} exponential(b), backend_config={"window_config":{"estimated_cycles":"40"}}
  f = f32[8,128]{1,0:T(8,128)} collective-permute-done(e)
  o = f32[8,128]{1,0:T(8,128)} add(f, n), backend_config={"window_config":{"estimated_cycles":"50"}}
  ROOT d = f32[8,128]{0,1:T(8,128)} copy(o), backend_config={"window_config":{"estimated_cycles":"100"}}
}
"#;

/// A program with one array. For the fake compiler, it takes fewer cycles if the array is row-major.
const TUNED: &str = "module {
  // fake:tune
  func.func public @main(%arg0: tensor<100x200xf32>, %arg1: tensor<2x200xbf16>) -> (tensor<100x200xf32>, tensor<2x200xbf16>) {
";

/// A kernel with a loop whose source line is known.
const LOOP: &str = "   0   :  { %s1_s0 = smov.u32 0 }
 0x1 LB: > { %3 = vadd.f32 %v1_v0, %v2_v0 /* loc(\"k.py\":7:3 to :9) */ } /* exit bundle: %k.1 = custom-call(%x) */
";

fn answers() -> BTreeMap<&'static str, Vec<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, text) in [
        ("m.hlo", MODULE.to_owned()),
        ("changed.hlo", MODULE.replace("negate(a)", "exponential(a)").replace("8,64", "8,32")),
        ("renamed.hlo", MODULE.replace("S(1)", "").replace("{0,1:", "{1,0:").replace("9,128", "90,128")),
        ("sharded.hlo", SHARDED.to_owned()),
        ("library.hlo", LIBRARY.to_owned()),
        ("cycles.hlo", CYCLES.to_owned()),
        ("unread.hlo", CYCLES.replace("{\"window_config\":{\"estimated_cycles\":\"40\"}}", "{\"window_config\":[]}")),
        ("quicker.hlo", CYCLES.replace("copy(o)", "bitcast(o)").replace("300", "200")),
        ("cpu.hlo", MODULE.replace(":T(8,128)", "").replace("S(1)", "")),
        ("p.mlir", "module {}".to_owned()),
        ("kernel.mlir", "module {} // fake:kernel-dump".to_owned()),
        ("large.mlir", "module {} // fake:too-large".to_owned()),
        ("tuned.mlir", TUNED.to_owned()),
        ("plan.json", json!({"*.w": "{devices=[2,1]<=[2]}", "*": "{replicated}"}).to_string()),
    ] {
        fs::write(path(name), text).unwrap();
    }
    let dump = folder.path().join("dump");
    fs::create_dir(&dump).unwrap();
    fs::write(dump.join("module_0001.m.after_optimizations.txt"), MODULE).unwrap();
    fs::write(dump.join("module_0002.n.after_optimizations.txt"), SHARDED).unwrap();
    fs::write(dump.join("stats.json"), "{\"generated_code_size_in_bytes\": 7}").unwrap();
    let tensor = |sizes: &[usize]| (sizes.to_vec(), vec![7; sizes.iter().product::<usize>()]);
    let tensors = [("0.w", tensor(&[4, 3])), ("0.b", tensor(&[3]))];
    let views =
        tensors.iter().map(|(name, (sizes, bytes))| (*name, TensorView::new(Dtype::U8, sizes.clone(), bytes).unwrap()));
    fs::write(path("model.safetensors"), serialize(views, None).unwrap()).unwrap();

    let mut all = BTreeMap::<&'static str, Vec<Value>>::new();
    let mut ask = |verb: &'static str, arguments: &[&str], input: &str| {
        let lines = run(folder.path(), verb, arguments, input);
        assert!(!lines.is_empty(), "{verb} {arguments:?}");
        all.entry(verb).or_default().extend(lines);
    };
    for arguments in [
        &["bf16[100,<=30]{0,1:T(8,128)(2,1)S(1)}"][..],
        &["f32[2,?]{1,0:T(*,2)(2)}"],
        &["f32[0,3]"],
        &["(f32[2], b(f32[3]), token[], (s4[9,9]{1,0:T(8,128)(8,1)E(4)}, opaque[]))"],
        &["token[]"],
        &["f32[100,200]", "--for", "v5e"],
        &["f32[100,200]{1,0}", "--for", "v3,v6e"],
        &["f32[10,256]{1,0:T(8,128)}", "--sharding", "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"],
        &["(f32[8], f32[4])", "--sharding", "{{devices=[4]<=[4]},{replicated}}"],
        &["f32[8]", "--sharding", "{replicated}"],
        &["token[]", "--sharding", "{maximal device=0}"],
    ] {
        ask("explain", arguments, "");
    }
    ask("check", &[], "f32[2, 3]\nf32[?]\ns8[8,128]{1,0:T(8,128)}\n(f32[2], token[])\nf32[2\n\n\u{1}\n");
    ask("check", &["--sharding"], "{devices=[2,1]0,1}\n{devices=[2]\n{replicated}\n");
    let tiled = "f32[3,5]{1,0:T(2,2)}";
    for arguments in [
        &[tiled, "--index", "2,3"][..],
        &[tiled, "--position", "9"],
        &["s4[3]{0:E(4)}", "--index", "1"],
        &["f32[]", "--index", ""],
    ] {
        ask("explain-index", arguments, "");
    }
    for arguments in [
        &[tiled][..],
        &["f32[]"],
        &["bf16[3,40,1000]{2,1,0:T(8,128)(2,1)}"],
        &["f32[64,256]{1,0:T(8,128)}", "--sharding", "{devices=[4,2]<=[8]}"],
        &["f32[8,8,8,8]", "--sharding", "{devices=[2,2,2,2]<=[16]}"],
        &["f32[8]", "--sharding", "{replicated}"],
        &["f32[]", "--sharding", "{replicated}"],
        &["f32[8,300]", "--vector", "32,{3,0},(8,128)"],
        &["f32[1025,1024]"],
        &["u8[0]"],
    ] {
        ask("draw", arguments, "");
    }
    ask("relayout", &["-", "--from", "u8[2,3]", "--to", "{0,1:T(2,2)}", "-o", "out.bin"], "abcdef");
    for [from, to] in [
        [tiled, tiled],
        ["f32[2,3]{1,0}", "f32[3,2]{0,1}"],
        ["f32[2,3]{1,0}", "f32[2,3]{0,1}"],
        ["f32[8,128]", "f32[1024]"],
        ["f32[8]", "f32[9]"],
    ] {
        ask("reshard", &["f32[64,64]", "--from", "{devices=[4,1]<=[4]}", "--to", "{mesh['x'=4], [{}, {'x'}]}"], "");
        ask("reshard", &["f32[9,9]", "--from", "{replicated}", "--to", "{maximal device=1}", "--layout", "{0,1}"], "");
        ask("convert", &["bf16[8,128]{1,0:T(8,128)(2,1)}"], "");
        ask("convert", &["f32[3,5]{1,0:T(2,2)}"], "");
        ask("convert", &["f32[3,5]{1,0:T(2,2)}", "--emit", "c"], "");
        ask("convert", &["--from", "cute", "(4,2):(1,2)", "--to", "numpy,linear"], "");
        ask("convert", &["--from", "torch", "torch.as_strided(x, (3, 3), (1, 1))"], "");
        ask("compare", &[from, to], "");
        ask("compare", &[from, to, "--for", "v5e"], "");
    }
    ask("check", &["--for", "v5e"], "f32[100,200]\ns1[2]\n(f32[2], token[])\nf32[?]\nf32[2\n");
    for arguments in [
        &["bf16[4096,1000]", "bf16[104,1000]"][..],
        &["--output", "f32[64]", "f32[64]", "--fixed", "f32[8,128]", "f32[8,128]", "--scratch", "f32[0,8]"],
        &["bf16[65536,1024]", "bf16[8192,1024]", "--for", "v4", "--vmem-limit", "8MiB"],
    ] {
        ask("block", arguments, "");
    }
    for arguments in [&["bf16[1,3072]"][..], &["f32[100,1]{1,0:T(8,128)}", "--what-if", "1=8"], &["f32[0,3]"]] {
        ask("advise", arguments, "");
    }
    for arguments in [
        &["f32[16,256]", "--vector", "32,{3,0},(8,128)"][..],
        &["pred[8]", "--vector", "16,{*,0},(16,128),-1", "--index", "7"],
    ] {
        ask("explain-vector", arguments, "");
    }
    ask("scan", &[], "temp: f32[100,1]{1,0:T(8,128)} and f32[?]\n f32[0] tensor<8x128xbf16>\n");
    let refused = "Used 40.00G of 32.00G hbm.\n1. Size: 4.0K\n  Operator: op_name=\"f/dot\" source_file=\"f.py\" source_line=3\n  \
                   Shape: f32[8,1]{1,0:T(8,128)}\n  Unpadded size: 32\n  Allocation type: HLO temp\n  Tag: input window.\n";
    let reports = root().join("tests/corpus/reports");
    let reports =
        ["002.txt", "005.txt", "016.txt", "026.txt"].map(|name| fs::read_to_string(reports.join(name)).unwrap());
    let texts = [refused, "", "Out of memory allocating 16 bytes.\n1. Size: 4.0K\n"];
    for text in texts.into_iter().chain(reports.iter().map(String::as_str)) {
        ask("scan-summary", &[], text);
    }
    let examples = root().join("examples/hlo");
    let example = |name: &str| examples.join(name).to_str().unwrap().to_owned();
    for arguments in [
        &["m.hlo"][..],
        &["m.hlo", "--for", "v5e", "--top", "1"],
        &["m.hlo", "--for", "1KiB", "--space", "1"],
        &["sharded.hlo"],
        &["sharded.hlo", "--for", "v6e"],
        &["library.hlo"],
        &["cpu.hlo"],
        &["dump"],
        &[&example("v5e__host_offload.hlo")],
        &[&example("v5e__layouts.hlo"), "--for", "v5e"],
        &[&example("v5e__rnn_scan.hlo")],
    ] {
        ask("hlo", arguments, "");
    }
    let [first, second] = ["v5e__rnn_scan.hlo", "v5e__host_offload.hlo"].map(example);
    for [before, after] in [
        [first.as_str(), second.as_str()],
        ["m.hlo", "changed.hlo"],
        ["m.hlo", "renamed.hlo"],
        ["library.hlo", "m.hlo"],
        ["cycles.hlo", "quicker.hlo"],
    ] {
        ask("hlo-diff", &[before, after, "--other-devices"], "");
    }
    for arguments in [&["cycles.hlo"][..], &["m.hlo"], &["unread.hlo"], &["library.hlo"], &["p.mlir", "--try"]] {
        ask("cost", arguments, "");
    }
    for more in [&[][..], &["--all"], &["--at-most-bytes", "1"]] {
        ask("tune", &[&["tuned.mlir", "--share", "x=arg0", "--no-cache"], more].concat(), "");
    }
    ask("tune", &["tuned.mlir", "--share", "x=arg0", "--no-cache", "--memory", "x=device"], "");
    ask("fit", &["tuned.mlir", "p.mlir", "large.mlir", "--ascending", "--for", "v5e,v8i", "--no-cache"], "");
    ask("tune", &["cycles.hlo", "--share", "x=arg0", "--share", "y=out0"], "");
    for arguments in [
        &["guard.json", "p.mlir", "--for", "v5e,v6e"][..],
        &["sharded.json", "sharded.hlo"],
        &["cycles.json", "cycles.hlo"],
    ] {
        ask("guard-record", arguments, "");
    }
    let other =
        fs::read_to_string(path("guard.json")).unwrap().replace("\"compiler\": \"", "\"compiler\": \"an older ");
    fs::write(path("older.json"), other).unwrap();
    ask("guard-record", &["quicker.json", "quicker.hlo"], "");
    for arguments in [
        &["older.json", "p.mlir"][..],
        &["cycles.json", "quicker.hlo"],
        &["quicker.json", "cycles.hlo"],
        &["cycles.json", "sharded.hlo", "--other-devices"],
    ] {
        ask("guard-check", arguments, "");
    }
    let claims = "[[program]]\nmemory = 1\ncycles = 1\ncopies = 0\n\n[[arguments]]\nname = 'params/w'\nlayout = '{0,1}'\n\n\
                  [[custom_calls]]\nname = 'k'\ncount = 1\n\n[[loops]]\ntrips = 3\ncount = 2\n\n[[copies]]\nline = 'a.py'\ncount = 0\n";
    fs::write(path("claims.toml"), claims).unwrap();
    for arguments in [&["claims.toml", "cycles.hlo"][..], &["claims.toml", "p.mlir", "--for", "v5e,v6e"]] {
        ask("guard-expect", arguments, "");
    }
    for name in ["b", "l", "e", "d", "p"] {
        ask("hlo-show", &["cycles.hlo", name], "");
    }
    ask("hlo-show", &["m.hlo", "c"], "");
    let looped = folder.path().join("looped");
    fs::create_dir(&looped).unwrap();
    fs::write(looped.join("llo.k.1.final_bundles.txt"), LOOP).unwrap();
    fs::write(looped.join("llo.k.1.final_hlo-static-per-bundle-utilization.txt"), "VALU, SALU\n 4 2\n0 1\n2 1\n")
        .unwrap();
    let kernels = root().join("examples/kernels");
    let folders = ["aligned", "first", "softmax", "softmax_xla"].map(|name| kernels.join(name));
    let [aligned, first, softmax, xla] = folders.each_ref().map(|path| path.to_str().unwrap());
    let kernels = kernels.to_str().unwrap();
    for arguments in [
        &[kernels, "--clock", "1.5"][..],
        &["looped", "--against", kernels],
        &[aligned, "--against", first],
        &[softmax, "--against", xla],
        &["p.mlir", "--for", "v5e"],
    ] {
        ask("kernel", arguments, "");
    }
    ask("block-rank", &["--rank", "kernel.mlir", "p.mlir", "large.mlir", "--for", "v6e", "--no-cache"], "");
    ask("compile", &["p.mlir", "--for", "v5e:2x2,v2,v8i"], "");
    ask("compile", &["large.mlir"], "");
    let messages = fs::read_to_string(root().join("crates/cli/tests/rustc.jsonl")).unwrap();
    ask("rustc", &[], &messages);
    for more in [&[][..], &["--force"]] {
        let arguments = ["model.safetensors", "--plan", "plan.json", "--device", "1", "-o", "shards"];
        ask("shard", &[&arguments, more].concat(), "");
    }
    all
}

/// The arguments that make the program write the answers of a schema. Some schemas belong to an option, not to a verb.
fn words(verb: &str) -> Vec<&str> {
    match verb {
        "scan-summary" => vec!["scan", "--summary"],
        "explain-index" | "explain-vector" => vec!["explain"],
        "block-rank" => vec!["block"],
        verb => verb.split('-').collect(),
    }
}

/// Runs a verb in a folder, with a fake compiler.
fn run(folder: &Path, verb: &str, arguments: &[&str], input: &str) -> Vec<Value> {
    let program = program_path();
    let plugin: PathBuf = program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"));
    let mut command = Command::new(program);
    command.current_dir(folder).env("PJRT_PLUGIN", plugin).write_stdin(input);
    let output = command.args(words(verb)).args(arguments).args(["--format", "json"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{verb} {arguments:?}: {errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The JSON that the first example in a verb's help writes.
fn example(verb: &str) -> Vec<Value> {
    let help = Command::program().args(words(verb)).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let example = help.lines().find_map(|line| line.strip_prefix("  xla-shape ")).expect("an example");
    let command = format!("'{}' {example} --format json", program_path().display());
    let output = Command::new("sh").args(["-c", &command]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn answers_are_valid() {
    for (verb, schema) in &*SCHEMAS {
        let example = LazyLock::new(|| example(verb));
        for answer in ANSWERS.get(verb.as_str()).unwrap_or_else(|| &*example) {
            assert_eq!(mistakes(schema, answer), [""; 0], "{verb}: {answer:#}");
            // Most lines of `rustc` are the compiler's own and have no schema.
            if answer.is_object() && verb != "rustc" {
                assert_eq!(answer["schema"], schema["$id"], "{verb}");
            }
        }
    }
}

#[test]
fn each_verb_has_a_schema() {
    let help = Command::program().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let verbs = help.lines().skip_while(|line| *line != "A shape:").take_while(|line| *line != "Options:");
    let names = verbs.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    let mut verbs = names.collect::<Vec<_>>();
    // These verbs write no answer as JSON.
    verbs.retain(|verb| !matches!(*verb, "guard" | "help"));
    // The help does not list these: the first two are below its list, the others are forms of listed verbs.
    verbs.extend([
        "check",
        "rustc",
        "block-rank",
        "explain-index",
        "explain-vector",
        "guard-check",
        "guard-expect",
        "guard-record",
        "hlo-diff",
        "hlo-show",
        "scan-summary",
    ]);
    verbs.sort_unstable();
    assert!(SCHEMAS.keys().eq(&verbs), "{:?} {verbs:?}", SCHEMAS.keys());
    let book = fs::read_to_string(root().join("docs/json.md")).unwrap();
    for (verb, schema) in &*SCHEMAS {
        assert_well_formed(schema);
        assert!(schema["$id"].as_str().unwrap().starts_with(&format!("xla-shape/{verb}/")), "{verb}");
        assert!(book.contains(&format!("(schemas/{verb}.json)")), "docs/json.md links the schema of {verb}");
    }
}

/// `VERB --help` names the fields of the JSON that the verb writes.
#[test]
fn help_names_the_fields() {
    for (verb, schema) in SCHEMAS.iter().filter(|(verb, _)| verb.as_str() != "rustc") {
        let output = Command::program().args(words(verb)).arg("--help").output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let words = help.split(|c: char| !c.is_alphanumeric() && c != '_').collect::<BTreeSet<_>>();
        let forms = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let forms = forms.map_or_else(|| vec![schema], |forms| forms.iter().collect());
        for name in forms.iter().flat_map(|form| form["properties"].as_object().unwrap().keys()) {
            assert!(
                name == "schema" || words.contains(name.as_str()),
                "`xla-shape {verb} --help` does not name {name}"
            );
        }
    }
}
