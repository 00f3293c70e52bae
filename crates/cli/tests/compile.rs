//! `xla-shape compile`, with a fake PJRT plug-in.

use crate::program::{Command, in_words, program_path};
use serde_json::Value;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The plug-in, which is built with this test.
pub(crate) fn plugin() -> PathBuf {
    let program = program_path();
    program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"))
}

pub(crate) struct Answer {
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) code: i32,
}

/// Runs the program in a folder that has `p.mlir`.
pub(crate) fn run(folder: &Path, text: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Answer {
    fs::write(folder.join("p.mlir"), text).unwrap();
    let mut command = Command::program();
    command.current_dir(folder).args(["compile", "p.mlir"]).args(arguments);
    for name in ["PJRT_PLUGIN", "TPU_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "COLUMNS"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { output: text(output.stdout), errors: text(output.stderr), code: output.status.code().unwrap() }
}

fn compile(text: &str, arguments: &[&str]) -> (TempDir, Answer) {
    let folder = tempfile::tempdir().unwrap();
    let plugin = plugin();
    let answer = run(folder.path(), text, &[("PJRT_PLUGIN", plugin.to_str().unwrap())], arguments);
    (folder, answer)
}

fn objects(answer: &Answer) -> Vec<Value> {
    answer.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_object_for_each_device() {
    let (_folder, answer) = compile("module {}", &["--for", "v5e:2x2,v2,v8i", "--format", "json"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 1));
    let objects = objects(&answer);
    let names: Vec<_> = objects.iter().map(|object| object["for"].as_str().unwrap()).collect();
    assert_eq!(names, ["v5e:2x2", "v2:2x2", "v8i"]);
    let first = &objects[0];
    assert_eq!(first["generation"], "v5e");
    assert_eq!(first["inputs"][0], "f32[100,200]{0,1:T(8,128)}");
    assert_eq!(first["outputs"], first["inputs"]);
    assert_eq!(first["input_shardings"][1], "{replicated}");
    let device = &first["memory"]["device"];
    assert_eq!((&device["total"], &device["peak"], &device["exact"]), (&1130.into(), &1130.into(), &true.into()));
    assert_eq!((&device["generated_code"], &first["memory"]["host"]["total"]), (&7.into(), &5.into()));
    assert_eq!(first["capacity"][0]["used"], 1137);
    assert_eq!((&first["cost"]["flops"], &first["fingerprint"]), (&1.5.into(), &"01ab".into()));
    assert_eq!(objects[2]["error"]["message"], "v8i is not known to the compiler; it knows v2 to v7x");
}

#[test]
fn a_table_for_people() {
    let (_folder, answer) = compile("module {}", &["--for", "v5e,v3"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    for line in [
        "fake, compiled for 2 devices\n",
        "                    v5e:2x2    v3:2x2\n",
        "  HBM in all       1.10 KiB  1.10 KiB\n",
        "  largest padding",
        "Layouts, of which 2 of 4 differ\n",
        "  input 0   f32[100,200]{0,1:T(8,128)}\n",
        "  input 1   differs:\n",
        "              bf16[2,200]{1,0:T(2,128)(2,1)}  on v5e:2x2\n",
    ] {
        assert!(answer.output.contains(line), "{line}\n{}", answer.output);
    }
    let (_folder, answer) = compile("module {}", &[]);
    assert!(
        answer.output.starts_with("fake, compiled for v5e:2x2\n\nMemory, as the compiler reports it\n"),
        "{}",
        answer.output
    );
    for devices in ["v5e", "v5e,v3"] {
        let (_folder, answer) = compile("module {}", &["--for", devices, "--top", "1"]);
        let layouts =
            answer.output.lines().filter(|line| line.starts_with("  input") || line.starts_with("  output")).count();
        assert_eq!(layouts, 1, "{}", answer.output);
        assert!(answer.output.contains("  … and 3 smaller ones; --top 4 shows them all\n"), "{}", answer.output);
    }
    let (_folder, answer) = compile("module {}", &["--for", "v5e,v8t"]);
    assert!(answer.output.contains("Not compiled for v8t\n  v8t is not known"), "{}", answer.output);
    assert_eq!(answer.code, 1);
}

#[test]
fn modules_and_pages_are_written() {
    let (folder, answer) = compile("module {}", &["-o", "m.hlo", "--html", "page.html"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    let module = fs::read_to_string(folder.path().join("m.hlo")).unwrap();
    assert!(module.starts_with("HloModule fake"), "{module}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(
        page.contains("the compiler&#39;s own memory analysis") || page.contains("the compiler's own memory"),
        "{page}"
    );
    let (folder, answer) = compile("module {}", &["--for", "v5e,v6e", "-o", "m.pb"]);
    assert_eq!(answer.code, 0);
    for name in ["m.v5e-2x2.pb", "m.v6e-2x2.pb"] {
        assert_eq!(fs::read(folder.path().join(name)).unwrap()[0], 0x0a);
    }
    let (_folder, answer) = compile("module {}", &["-o", "-"]);
    assert!(answer.output.starts_with("HloModule fake"), "{}", answer.output);
    for arguments in
        [&["-o", "-", "--format", "json"][..], &["-o", "-", "--for", "v5e,v6e"], &["-o", "-", "--html", "-"]]
    {
        let (_folder, answer) = compile("module {}", arguments);
        let error = in_words(&answer.errors);
        assert!(error.starts_with("error: standard output takes one "), "{error}");
        assert_eq!(answer.code, 2);
    }
}

#[test]
fn files_that_are_not_written_are_named() {
    let (folder, answer) = compile("module {} // fake:too-large", &["-o", "m.hlo", "--html", "page.html"]);
    let unwritten = ["m.hlo", "page.html"]
        .map(|name| format!("warning: {name}: not written, because the compiler refused the program\n"));
    assert_eq!((answer.errors, answer.code), (format!("a note of the compiler\n{}", unwritten.concat()), 1));
    for name in ["m.hlo", "page.html"] {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
}

#[test]
fn answers_about_other_devices_survive_an_aborted_compiler() {
    let (_folder, answer) = compile("module {} // fake:abort", &["--for", "v5e,v8i,v6e", "--format", "json"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 1));
    let objects = objects(&answer);
    assert_eq!(objects.len(), 3);
    for (object, device) in objects.iter().zip(["v5e:2x2", "v8i", "v6e:2x2"]) {
        assert_eq!(object["for"], device);
    }
    let message = objects[2]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("the compiler ended its process (signal: 6"), "{message}");
    assert!(message.ends_with("): fake.cc:7: Check failed: !program.asks_for_it()"), "{message}");
    let (_folder, answer) = compile("module {} // fake:exit", &[]);
    let message = "Not compiled for v5e:2x2\n  the compiler ended its process (exit status: 3): it did not say why";
    assert!(answer.output.contains(message), "{}", answer.output);
    assert_eq!(answer.code, 1);
}

#[test]
fn options_reach_the_compiler() {
    let with = |counts: &[&str]| {
        let options = ["--option", "xla_text=a=b", "--option", "xla_number=-7", "--format", "json"];
        compile("module {} // fake:options", &[counts, &options].concat()).1
    };
    // The plug-in has four devices.
    let too_many = objects(&with(&["--partitions", "2", "--replicas", "3"]));
    assert_eq!(too_many[0]["error"]["message"], "the program is for 6 devices, and there are 4");
    let answer = with(&["--partitions", "4"]);
    let objects = objects(&answer);
    let message = objects[0]["error"]["message"].as_str().unwrap();
    // Fields 4 and 5 of the message are the replicas and the partitions.
    for text in ["xla_text", "a=b", "xla_number", "\x20\x01\x28\x04"] {
        assert!(message.contains(text), "{message}");
    }
}

/// `scan` compiles the program that ran out of memory, and adds what the compiler says about it.
#[test]
fn a_message_about_memory_is_answered_with_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let scan = |message: &str, text: &str, plugin: &Path, arguments: &[&str]| {
        fs::write(folder.path().join("p.mlir"), text).unwrap();
        fs::write(folder.path().join("log.txt"), message).unwrap();
        let mut command = Command::program();
        command.current_dir(folder.path()).args(["scan", "log.txt", "--program", "p.mlir", "--for", "v5e"]);
        let output = command.args(arguments).env("PJRT_PLUGIN", plugin).env_remove("COLUMNS").output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    let hbm = "RESOURCE_EXHAUSTED: E1000: Ran out of memory in memory space hbm. Used 22.00G of 15.75G hbm.";
    let (text, code) = scan(hbm, "module {} // fake:too-large", &plugin(), &[]);
    assert_eq!(code, Some(0));
    for line in ["Help: divide the largest arrays", "\nNot compiled for v5e:2x2\n", "\nLargest\n", "train.py:44"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("xla_dump_to"), "{text}");
    // The message may be about another program, or about another device.
    let (text, _) = scan(hbm, "module {}", &plugin(), &[]);
    assert!(text.contains("E1000") && text.contains("v5e:2x2") && !text.contains("Not compiled"), "{text}");
    let (json, _) = scan(hbm, "module {} // fake:too-large", &plugin(), &["--summary", "--format", "json"]);
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let schemas: Vec<_> = rows.iter().map(|row| row["schema"].as_str().unwrap()).collect();
    assert_eq!(schemas, ["xla-shape/scan-summary/1", "xla-shape/compile/1"]);
    // If there is no compiler, the answer says so.
    let (text, code) = scan(hbm, "module {}", Path::new("/nowhere"), &[]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Help: list what takes the memory"), "{text}");
    assert!(words(&text).contains("It was not compiled: "), "{text}");
    assert_eq!(code, Some(0));
    // A message about the memory of a kernel has another remedy, which is compiled.
    let vmem = "Scoped allocation with size 17.00M and limit 16.00M exceeded scoped vmem limit by 1.00M.";
    let (text, _) = scan(vmem, "module {}", &plugin(), &[]);
    assert!(words(&text).contains("It compiles for v5e:2x2: the program then needs"), "{text}");
}

#[test]
fn what_takes_the_memory_of_a_program_that_is_too_large_is_shown() {
    let (_folder, answer) = compile("module {} // fake:too-large", &[]);
    assert_eq!(answer.code, 1);
    assert_eq!(answer.errors, "a note of the compiler\n");
    for line in [
        "Not compiled for v5e:2x2\n  PJRT_Compile: Ran out of memory in memory space hbm. Used 22.00G of 15.75G hbm.",
        "\nWhat takes the memory of v5e:2x2\nneeds ",
        "of 15.8 GiB",
        "\nMemory\n",
        " temporaries\n",
        "\nMost padded, by the padding of all values of a shape\n",
        "train.py:43",
        "\nLargest\n",
        "train.py:44",
    ] {
        assert!(answer.output.contains(line), "{line}\n{}", answer.output);
    }
    let text = "module {} // fake:too-large";
    let at = |heading: &str| answer.output.find(&format!("\n{heading}")).unwrap();
    assert!(at("Memory\n") < at("Largest\n") && at("Largest\n") < at("Most padded, "), "{}", answer.output);
    let report = |arguments: &[&str], text: &str| {
        let (folder, answer) = compile(text, &[&["--format", "json"], arguments].concat());
        assert_eq!(answer.code, 1);
        (folder, objects(&answer)[0]["error"]["report"].clone())
    };
    let (_, found) = report(&["--top", "1"], text);
    assert_eq!(found["schema"], "xla-shape/hlo/1");
    assert_eq!((&found["module"], &found["largest"][0]["bytes"]), (&"too_large".into(), &(4_u64 << 30).into()));
    assert_eq!((&found["most_padded"][0]["line"], found["most_padded"].as_array().unwrap().len()), (&43.into(), 1));
    assert_eq!(found["capacity"][0]["bytes"], 63_u64 << 28);
    // No report is made if the compiler wrote no files, if memory other than HBM ran out, or if the user chose the folder for the files.
    assert!(report(&[], "module {} // fake:too-large fake:no-dump").1.is_null());
    assert!(report(&[], "module {} // fake:too-large fake:vmem").1.is_null());
    let dumps = tempfile::tempdir().unwrap();
    let option = format!("xla_dump_to={}", dumps.path().display());
    assert!(report(&["--option", &option], text).1.is_null());
    assert_eq!(fs::read_dir(dumps.path()).unwrap().count(), 1);
}

#[test]
fn errors_have_messages() {
    let (_folder, answer) = compile("module {} // fake:error", &["--format", "json"]);
    assert_eq!(objects(&answer)[0]["error"]["message"], "PJRT_Compile: the program asks for an error");
    assert_eq!(answer.code, 1);
    let (_folder, answer) = compile("module {} // fake:slow", &["--time-limit", "0"]);
    assert!(answer.output.contains("PJRT_Compile took longer than 0 seconds and was abandoned"), "{}", answer.output);
    // A limit that is never reached.
    let (_folder, answer) = compile("module {}", &["--time-limit", &u64::MAX.to_string()]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    let (_folder, answer) = compile("no program", &[]);
    assert!(answer.errors.starts_with("error: p.mlir: the program is neither StableHLO"), "{}", answer.errors);
    for devices in ["v5e:0x1", "v9", "", "v5e:2x2:2"] {
        let (_folder, answer) = compile("module {}", &["--for", devices]);
        assert_eq!(answer.code, 2, "{devices}");
    }
    let folder = tempfile::tempdir().unwrap();
    let named = plugin();
    let named = named.to_str().unwrap();
    for (wish, message) in [
        ("null", "GetPjrtApi returned null"),
        ("major", "has version 1."),
        ("locked", "another process has loaded the plug-in"),
    ] {
        let answer = run(folder.path(), "module {}", &[("PJRT_PLUGIN", named), ("PJRT_FAKE", wish)], &[]);
        assert!(answer.errors.contains(message), "{}", answer.errors);
        assert_eq!((answer.output.as_str(), answer.code), ("", 1));
    }
    let answer = run(folder.path(), "module {}", &[("PATH", "")], &[]);
    assert!(answer.errors.starts_with("error: found no PJRT plug-in; looked at PJRT_PLUGIN"), "{}", answer.errors);
    assert!(answer.errors.contains("pip install libtpu"), "{}", answer.errors);
    let answer = run(folder.path(), "module {}", &[], &["--plugin", "p.mlir"]);
    assert!(answer.errors.starts_with("error: cannot load the plug-in `"), "{}", answer.errors);
}

/// [`crate::hangs`] reads the answers later.
#[test]
fn a_compiler_that_hangs_is_waited_for() {
    assert!(crate::hangs::have_no_answer());
}

/// If a plug-in starts a process that outlives it, that process keeps the streams of the compiler's process open.
#[test]
#[cfg(unix)]
fn a_process_that_a_compiler_leaves_is_not_waited_for() {
    for (text, expected) in [
        ("module {} // fake:left", "fake, compiled"),
        ("module {} // fake:left fake:exit", "the compiler ended its process"),
    ] {
        let (folder, answer) = compile(text, &[]);
        assert!(answer.output.contains(expected), "{}{}", answer.output, answer.errors);
        assert!(!folder.path().join("left").exists(), "{text}: the answer came after the process had ended");
    }
}

/// The current directory has everything that a search for the compiler could find by mistake: libtpu as a package and in an environment, modules
/// named like Python's own, and a `python3`. Each writes a file if its code runs; none may run.
#[test]
#[cfg(unix)]
fn no_code_of_the_current_directory_is_run() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mark = |name: &str| format!("open({:?}, 'a').write({name:?})\n", at("mark"));
    for module in ["contextlib", "importlib", "os", "site", "sitecustomize", "usercustomize", "signal", "xla_shape"] {
        fs::write(at(&format!("{module}.py")), mark(module)).unwrap();
    }
    for package in ["libtpu", "venv/lib/python3.12/site-packages/libtpu"] {
        fs::create_dir_all(at(package)).unwrap();
        fs::write(at(package).join("__init__.py"), mark(package)).unwrap();
        fs::copy(plugin(), at(package).join("libtpu.so")).unwrap();
    }
    fs::copy(plugin(), at("libtpu.so")).unwrap();
    fs::write(at("python3"), format!("#!/bin/sh\necho python3 > {:?}\n", at("mark"))).unwrap();
    fs::set_permissions(at("python3"), fs::Permissions::from_mode(0o755)).unwrap();
    let others = std::env::var("PATH").unwrap();
    let (here, path) = (folder.path().to_str().unwrap(), format!(":.:{others}"));
    // If a compiler is installed, its answer differs from the fake's.
    let refuses = |text: &str, variables: &[(&str, &str)]| {
        let answer = run(folder.path(), "module {}", variables, &["--time-limit", "60"]);
        assert!(!answer.output.starts_with("fake, compiled"), "{variables:?}: {}", answer.output);
        assert!(answer.errors.contains(text), "{variables:?}: {}", answer.errors);
        assert!(!at("mark").exists(), "{variables:?}: {} ran", fs::read_to_string(at("mark")).unwrap());
    };
    refuses("", &[("PATH", &path)]);
    refuses("", &[("PATH", &path), ("PYTHONPATH", here), ("PYTHONHOME", "")]);
    refuses("", &[("PATH", &path), ("PYTHONPATH", ""), ("VIRTUAL_ENV", "venv"), ("CONDA_PREFIX", "venv")]);
    refuses("found no PJRT plug-in", &[("PATH", ":.:venv"), ("VIRTUAL_ENV", "venv")]);
    refuses("a relative path means another file in each directory", &[("PJRT_PLUGIN", "libtpu.so")]);
    refuses("a relative path means another file in each directory", &[("TPU_LIBRARY_PATH", "./libtpu.so")]);
    // A file in that folder is loaded if `--plugin` names it.
    let answer = run(folder.path(), "module {}", &[], &["--plugin", "libtpu.so"]);
    assert!(answer.output.starts_with("fake, compiled"), "{}", answer.errors);
}

/// A folder with a program `ptxas`, which nothing runs.
fn ptxas() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ptxas"), "").unwrap();
    folder
}

#[test]
fn a_gpu_is_a_device_too() {
    let (folder, ptxas, plugin) = (tempfile::tempdir().unwrap(), ptxas(), plugin());
    let variables = [("PJRT_PLUGIN", plugin.to_str().unwrap()), ("PATH", ptxas.path().to_str().unwrap())];
    let with = |arguments: &[&str]| run(folder.path(), "module {}", &variables, arguments);
    let answer = with(&["--for", "nvidia-h100-80gb,a100-80:2x8,v5e", "--format", "json"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    let objects = objects(&answer);
    assert_eq!(objects.iter().map(|object| &object["for"]).collect::<Vec<_>>(), ["h100", "a100-80:2x8", "v5e:2x2"]);
    assert_eq!(
        objects.iter().map(|object| &object["autotuning"]).collect::<Vec<_>>(),
        ["off", "off"].map(Value::from).iter().chain([&Value::Null]).collect::<Vec<_>>()
    );
    let first = &objects[0];
    assert_eq!((&first["generation"], &first["inputs"][0]), (&Value::Null, &"f32[100,200]{1,0}".into()));
    let capacity = &first["capacity"][0];
    assert_eq!((&capacity["bytes"], &capacity["whole"]), (&63_707_234_304_u64.into(), &84_942_979_072_u64.into()));
    assert_eq!(objects[2]["capacity"][0]["whole"], Value::Null);
    // The text says whether there are results of autotuning.
    let text = with(&["--for", "h100"]).output;
    assert!(text.contains("  it fits the 59.3 GiB that a process of JAX takes of 79.1 GiB\n"), "{text}");
    assert!(text.contains("  exact for this compiler without autotuning: "), "{text}");
    fs::write(folder.path().join("results.txt"), "entries { key { target { device: \"ed0e56ab\" } } }").unwrap();
    let text = with(&["--for", "h100", "--autotune", "results.txt"]).output;
    assert!(text.contains("with the results of autotuning"), "{text}");
    // The compiler would ignore these files.
    for (file, content, why) in [
        (
            "description.pbtxt",
            "gpu_device_info { core_count: 132 }",
            "this is the description of a GPU; --config takes it",
        ),
        ("empty.textproto", "version: 3\n", "no results of autotuning are in it"),
        (
            "other.txt",
            "hello",
            "expected the results of autotuning that XLA writes with --xla_gpu_dump_autotune_results_to",
        ),
    ] {
        fs::write(folder.path().join(file), content).unwrap();
        let answer = with(&["--for", "h100", "--autotune", file]);
        assert_eq!((answer.errors, answer.code), (format!("error: {file}: {why}\n"), 1));
    }
    let answer = with(&["--for", "h100", "--autotune", "nowhere.txt"]);
    assert!(answer.errors.starts_with("error: nowhere.txt: "), "{}", answer.errors);
    // The compiler has estimates only for some GPUs. If it refuses to make them, the program is compiled without them.
    let answer = run(folder.path(), "module { fake:no-estimates }", &variables, &["--for", "a100-80"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    // The compiler ignores results for another GPU. The answer says which instructions are not tuned.
    let with = |arguments: &[&str]| run(folder.path(), "module { fake:untuned }", &variables, arguments);
    let answer = with(&["--for", "h100", "--autotune", "results.txt", "--format", "json"]);
    let object = &self::objects(&answer)[0];
    assert_eq!(object["autotuning"], "partly from a file");
    assert_eq!((&object["untuned"]["without"], &object["untuned"]["of"]), (&2.into(), &3.into()));
    let text = with(&["--for", "h100", "--autotune", "results.txt"]).output;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("; the file has no results for 2 of 3 instructions: "), "{text}");
}

#[test]
fn a_gpu_can_have_a_description() {
    let (folder, ptxas, plugin) = (tempfile::tempdir().unwrap(), ptxas(), plugin());
    let variables = [("PJRT_PLUGIN", plugin.to_str().unwrap()), ("PATH", ptxas.path().to_str().unwrap())];
    let with = |arguments: &[&str]| run(folder.path(), "module {}", &variables, arguments);
    let whole = "gpu_device_info { threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 \
                 shared_memory_per_block_optin: 101376 shared_memory_per_core: 102400 threads_per_core_limit: 1536 core_count: 20 \
                 fpus_per_core: 128 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535 \
                 memory_bandwidth: 256000000000 l2_cache_size: 33554432 clock_rate_ghz: 2.1 device_memory_size: 8589934592 \
                 cuda_compute_capability { major: 8 minor: 9 } } device_description_str: \"Mine\"";
    fs::write(folder.path().join("mine.pbtxt"), whole).unwrap();
    let answer = with(&["--for", "gpu:2", "--config", "mine.pbtxt", "--format", "json"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    assert_eq!(
        (&objects(&answer)[0]["for"], &objects(&answer)[0]["capacity"][0]["whole"]),
        (&"gpu:2".into(), &(8_u64 << 30).into())
    );
    // With this description, the compiler would end its process.
    fs::write(folder.path().join("mine.pbtxt"), whole.replace("threads_per_warp: 32", "")).unwrap();
    let answer = with(&["--for", "gpu", "--config", "mine.pbtxt"]);
    assert!(
        answer.output.contains("the description of the GPU lacks threads_per_warp: the compiler would end"),
        "{}",
        answer.output
    );
    assert_eq!(answer.code, 1);
    let answer = with(&["--for", "gpu"]);
    assert!(answer.errors.contains("`gpu` is the GPU of a description, and none is given"), "{}", answer.errors);
}

#[test]
fn what_the_compiler_of_gpus_needs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = [("PATH", folder.path().to_str().unwrap())];
    for (gpu, help) in [
        ("h100", "`pip install jax-cuda13-pjrt nvidia-cuda-nvcc`"),
        ("p100", "`pip install jax-cuda12-pjrt nvidia-cuda-nvcc-cu12`"),
    ] {
        let answer = run(folder.path(), "module {}", &nowhere, &["--for", gpu]);
        assert!(
            answer.errors.starts_with("error: found no PJRT plug-in for GPUs; looked at PJRT_PLUGIN (not set)"),
            "{}",
            answer.errors
        );
        assert!(answer.errors.contains(help), "{}", answer.errors);
    }
    let answer = run(folder.path(), "module {}", &[], &["--for", "a100"]);
    assert!(answer.errors.contains("did you mean `a100-40`, "), "{}", answer.errors);
}
