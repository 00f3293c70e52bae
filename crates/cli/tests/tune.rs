//! `xla-shape tune`, with a fake compiler, for which row-major parameters take fewer cycles.

use crate::program::{Command, in_words, program_path};
use serde_json::{Value, json};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program for which the fake compiler prefers rows.
const PROGRAM: &str = "module {
  // fake:tune
  func.func public @main(%arg0: tensor<100x200xf32>, %arg1: tensor<2x200xbf16>) -> (tensor<100x200xf32>, tensor<2x200xbf16>) {
    return %arg0, %arg1 : tensor<100x200xf32>, tensor<2x200xbf16>
  }
}
";

const COLUMNS: &str = "{0,1:T(8,128)}";
const ROWS: &str = "{1,0:T(8,128)}";

fn plugin() -> PathBuf {
    let program = program_path();
    program.parent().unwrap().join("deps").join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"))
}

struct Answer {
    output: String,
    errors: String,
    code: i32,
}

impl Answer {
    fn json(&self) -> Value {
        assert_eq!((self.errors.as_str(), self.code), ("", 0));
        serde_json::from_str(&self.output).unwrap()
    }
}

/// Runs `tune` in a folder with this program, which may be compiled already.
fn tune_in(folder: &Path, program: &str, arguments: &[&str]) -> Answer {
    fs::write(folder.join("p.mlir"), program).unwrap();
    let mut command = Command::program();
    command.current_dir(folder).args(["tune", "p.mlir"]).args(arguments);
    // For a compiled program, `tune` gives only advice, and refuses the options of compilers.
    if !program.contains("is_scheduled=true") {
        command.args(["--jobs", "2"]);
    }
    command.env("PJRT_PLUGIN", plugin()).env("XDG_CACHE_HOME", folder.join("own")).env_remove("COLUMNS");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { output: text(output.stdout), errors: text(output.stderr), code: output.status.code().unwrap() }
}

fn tune(program: &str, arguments: &[&str]) -> (TempDir, Answer) {
    let folder = tempfile::tempdir().unwrap();
    let answer = tune_in(folder.path(), program, arguments);
    (folder, answer)
}

fn layouts_of<'a>(answer: &'a Value, field: &str) -> Vec<&'a Value> {
    answer["tried"].as_array().unwrap().iter().map(|tried| &tried[field]).collect()
}

#[test]
fn the_best_layout_comes_first() {
    let (_folder, answer) = tune(PROGRAM, &["--share", "x=arg0"]);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    let first = format!(
        "x should be {ROWS}, major to minor (0,1).\n900 -> 500 cycles (-44.4 %), by the compiler's estimates.\n"
    );
    assert!(answer.output.starts_with(&first), "{}", answer.output);
    for line in [
        "JAX    Format(Layout(major_to_minor=(0, 1)), sharding)",
        "Orbax  ArrayRestoreArgs(sharding=Format(Layout(major_to_minor=(0, 1)), sharding))",
        "Rust   shape!(f32[100,200]{1,0:T(8,128)})",
        "3 compilations, by ",
    ] {
        assert!(answer.output.contains(line), "{line}\n{}", answer.output);
    }
    for all in [&[][..], &["--all"]] {
        let (_folder, answer) = tune(PROGRAM, &[&["--share", "x=p:arg0", "--format", "json"], all].concat());
        let answer = answer.json();
        assert_eq!(answer["best"], json!({"x": {"layout": ROWS, "major_to_minor": [0, 1]}}));
        let today = json!({"x": {"layout": COLUMNS, "major_to_minor": [1, 0]}});
        assert_eq!((&answer["today"]["layouts"], &answer["today"]["cycles"]), (&today, &json!(900)));
        assert_eq!(
            (&answer["keep"], &answer["best_entry"], &answer["compiles"]),
            (&json!(false), &json!(1), &json!(3))
        );
        assert_eq!(layouts_of(&answer, "cycles"), [&json!(900), &json!(500)]);
        assert_eq!(layouts_of(&answer, "layouts"), [&json!({"x": COLUMNS}), &json!({"x": ROWS})]);
    }
}

/// Rows take 500 cycles if they are requested, and 400 if the compiler chose them itself.
#[test]
fn what_the_compiler_chooses_is_a_row_of_its_own() {
    let program = PROGRAM.replace("fake:tune", "fake:tune fake:auto-rows");
    let (_folder, answer) = tune(&program, &["--share", "x=arg0", "--format", "json"]);
    let answer = answer.json();
    assert_eq!(layouts_of(&answer, "layouts"), [&json!({"x": COLUMNS}), &json!({"x": ROWS}), &json!({"x": ROWS})]);
    assert_eq!(layouts_of(&answer, "cycles"), [&json!(900), &json!(500), &json!(400)]);
    assert_eq!(layouts_of(&answer, "auto"), [&json!([]), &json!([]), &json!(["p"])]);
    assert_eq!((&answer["compiles"], &answer["best_entry"]), (&json!(3), &json!(2)));
    let (folder, answer) = tune(&program, &["--share", "x=arg0", "--html", "page.html"]);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for text in [answer.output, page] {
        assert!(text.contains("For p, compile with Layout.AUTO") && text.contains("AUTO for p"), "{text}");
    }
}

#[test]
fn what_is_not_taken_or_refused_is_no_result() {
    for (wish, error) in [
        ("fake:not-taken", None),
        ("fake:rows-refused", Some("this layout is not supported")),
        ("fake:rows-abort", Some("the compiler ended its process")),
        ("fake:rows-hang", Some("took longer than")),
    ] {
        let program = PROGRAM.replace("fake:tune", &format!("fake:tune {wish}"));
        // Only the program that hangs has a time limit, because a slow machine may need long for the others.
        let limit: &[&str] = if wish == "fake:rows-hang" { &["--time-limit", "2"] } else { &[] };
        let (_folder, answer) = tune(&program, &[&["--share", "x=arg0", "--format", "json"], limit].concat());
        let answer = answer.json();
        assert_eq!((&answer["best"]["x"]["layout"], &answer["keep"]), (&json!(COLUMNS), &json!(true)), "{wish}");
        assert_eq!(layouts_of(&answer, "taken"), [&json!(true), &json!(false)], "{wish}");
        match (error, answer["tried"][1]["error"].as_str()) {
            (None, None) => {}
            (Some(expected), Some(said)) => assert!(said.starts_with("p: ") && said.contains(expected), "{said}"),
            other => panic!("{wish}: {other:?}"),
        }
        let (_folder, answer) = tune(&program, &[&["--share", "x=arg0"], limit].concat());
        assert!(
            answer.output.starts_with("x should stay {0,1:T(8,128)}, major to minor (1,0).\nKeep it: "),
            "{}",
            answer.output
        );
    }
}

#[test]
fn a_search_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let share = ["--share", "x=arg0", "--format", "json"];
    let run = |more: &[&str]| tune_in(folder.path(), PROGRAM, &[&share[..], more].concat()).json();
    let cut = run(&["--compiles", "2"]);
    assert_eq!(
        (&cut["cut"], &cut["keep"], &cut["compiles"], &cut["kept"]),
        (&json!(true), &json!(true), &json!(2), &json!(0))
    );
    let whole = run(&[]);
    assert_eq!(
        (&whole["cut"], &whole["keep"], &whole["compiles"], &whole["kept"]),
        (&json!(false), &json!(false), &json!(3), &json!(2))
    );
    assert_eq!(run(&[])["kept"], 3);
    // Flags that the compiler's process inherits change the answers, too.
    for variable in ["LIBTPU_INIT_ARGS", "XLA_FLAGS"] {
        let mut command = Command::program();
        command.current_dir(folder.path()).args(["tune", "p.mlir", "--jobs", "2"]).args(share);
        command.env("PJRT_PLUGIN", plugin()).env("XDG_CACHE_HOME", folder.path().join("own"));
        let output = command.env(variable, "--xla_nothing=1").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["kept"], 0, "{variable}");
    }
    // Answers for another device, other options or another program are not reused. The cache can also be turned off or be elsewhere.
    for other in
        [&["--for", "v6e"][..], &["--option", "a=b"], &["--partitions", "2"], &["--no-cache"], &["--cache", "other"]]
    {
        assert_eq!(run(other)["kept"], 0, "{other:?}");
    }
    let program = PROGRAM.replace("fake:tune", "fake:tune another");
    assert_eq!(tune_in(folder.path(), &program, &share).json()["kept"], 0);
    // Cache files that are from another version or damaged are ignored.
    let kept = folder.path().join("own/xla-shape/tune-5");
    for file in fs::read_dir(&kept).unwrap() {
        let path = file.unwrap().path();
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("\"version\":\"", "\"version\":\"another-"))
            .unwrap();
    }
    assert_eq!(run(&[])["kept"], 0);
    for file in fs::read_dir(&kept).unwrap() {
        fs::write(file.unwrap().path(), "{").unwrap();
    }
    assert_eq!((&run(&[])["kept"], &run(&[])["kept"]), (&json!(0), &json!(3)));
}

/// Starts a search in a process group of its own, as a terminal does, and waits until it has cached this many answers.
#[cfg(unix)]
fn started(folder: &Path, program: &str, kept: usize, arguments: &[&str]) -> std::process::Child {
    use std::os::unix::process::CommandExt as _;
    use std::process::Stdio;

    fs::write(folder.join("p.mlir"), program).unwrap();
    let mut command = std::process::Command::new(program_path());
    command.current_dir(folder).args(["tune", "p.mlir", "--share", "x=arg0", "--jobs", "2"]).args(arguments);
    command.env("PJRT_PLUGIN", plugin()).env("XDG_CACHE_HOME", folder.join("own")).env_remove("COLUMNS");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().unwrap();
    let answers = || {
        let files = fs::read_dir(folder.join("own/xla-shape/tune-5")).into_iter().flatten();
        files.filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".json")).count()
    };
    // The cache has one more file, for the compiler's version.
    let start = Instant::now();
    while answers() < kept + 1 {
        assert!(start.elapsed() < Duration::from_secs(120), "the first answers");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Sends a signal to a process, or to the group with a negative number.
#[cfg(unix)]
fn send(signal: &str, to: i64) {
    let sent = std::process::Command::new("kill").args([signal, "--", &to.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// The answer of a search that is interrupted in a terminal.
#[cfg(unix)]
fn interrupted(folder: &Path, program: &str, kept: usize, arguments: &[&str]) -> Answer {
    let child = started(folder, program, kept, arguments);
    send("-INT", -i64::from(child.id()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { output: text(output.stdout), errors: text(output.stderr), code: output.status.code().unwrap() }
}

#[test]
#[cfg(unix)]
fn ctrl_c_prints_the_best_so_far_and_the_next_run_goes_on() {
    // If rows are requested, the compiler never answers.
    let program = PROGRAM.replace("fake:tune", "fake:tune fake:rows-hang");
    let sentence = "The search is not complete. It was interrupted. ";
    let folder = tempfile::tempdir().unwrap();
    let answer = interrupted(folder.path(), &program, 2, &["--html", "page.html"]);
    assert_eq!((answer.code, answer.errors.as_str()), (130, ""), "{}", answer.output);
    assert!(answer.output.starts_with("x should stay {0,1:T(8,128)}"), "{}", answer.output);
    let words = answer.output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("{sentence}The next run goes on from the answers in the cache.")), "{words}");
    // The signal ended a compiler; that does not count as a refusal.
    assert!(words.contains("2 compilations, by ") && !words.contains("refused"), "{words}");
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().contains(sentence));
    // The next run continues the search.
    let folder = tempfile::tempdir().unwrap();
    let answer = interrupted(folder.path(), &program, 2, &["--format", "json"]);
    assert_eq!((answer.code, answer.errors.as_str()), (130, ""));
    let found: Value = serde_json::from_str(&answer.output).unwrap();
    assert_eq!((&found["cut"], &found["compiles"], &found["kept"]), (&json!(true), &json!(2), &json!(0)));
    assert_eq!(found["tried"].as_array().unwrap().len(), 1);
    let whole = tune_in(folder.path(), &program, &["--share", "x=arg0", "--format", "json", "--time-limit", "2"]);
    let whole = whole.json();
    assert_eq!((&whole["cut"], &whole["compiles"], &whole["kept"]), (&json!(false), &json!(3), &json!(2)));
}

/// A program that itself requests rows, for which the compiler never answers.
#[cfg(unix)]
fn without_answer() -> String {
    let rows = "%arg0: tensor<100x200xf32> {mhlo.layout_mode = \"{1,0:T(8,128)}\"}";
    PROGRAM.replace("%arg0: tensor<100x200xf32>", rows).replace("fake:tune", "fake:tune fake:rows-hang")
}

#[test]
#[cfg(unix)]
fn ctrl_c_before_the_first_answer_says_that_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let answer = interrupted(folder.path(), &without_answer(), 0, &[]);
    assert_eq!((answer.code, answer.output.as_str()), (130, ""));
    let words = "interrupted: no result yet, because the search ended before p was compiled with today's layouts\n";
    assert_eq!(answer.errors, words);
}

#[test]
#[cfg(unix)]
fn a_signal_to_the_program_alone_ends_its_compilers() {
    let folder = tempfile::tempdir().unwrap();
    // Once there is one answer, the one about the compiler's own choice, another compiler is working on the unchanged program. The signal is not
    // sent to that compiler.
    let child = started(folder.path(), &without_answer(), 1, &["--time-limit", "600"]);
    send("-INT", child.id().into());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(130), vec![]));
}

#[test]
fn where_nothing_can_be_kept_the_answer_is_given() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let answer = tune_in(folder.path(), PROGRAM, &["--share", "x=arg0", "--cache", "file"]);
    assert!(answer.errors.starts_with("warning: answers are not cached in file"), "{}", answer.errors);
    assert_eq!((answer.errors.lines().count(), answer.code), (1, 0));
    assert!(answer.output.starts_with("x should be {1,0"), "{}", answer.output);
}

#[test]
fn a_page_has_the_answer_and_all_that_was_tried() {
    let (folder, answer) = tune(PROGRAM, &["--share", "x=arg0", "--html", "page.html"]);
    assert!(answer.output.starts_with("x should be {1,0"), "{}", answer.output);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in [
        "<h1>Layouts of x</h1>",
        "<p>x should be {1,0:T(8,128)}, major to minor (0,1).</p>",
        "<td class=\"number\">500</td>",
        "JAX    Format(Layout(major_to_minor=(0, 1)), sharding)\n",
        "f32[100,200]",
        "3 compilations, by ",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let (_folder, answer) = tune(PROGRAM, &["--share", "x=arg0", "--html", "-"]);
    assert!(answer.output.starts_with("<!doctype html>") && answer.output.ends_with("</html>\n"), "{}", answer.output);
    for (arguments, error) in [
        (&["--html", "-", "--format", "json"][..], "error: standard output takes the page or JSON, not both\n"),
        (&["--html", "p.mlir"], "error: the output `p.mlir` is the same file as the input"),
    ] {
        let (_folder, answer) = tune(PROGRAM, &[&["--share", "x=arg0"], arguments].concat());
        assert!(in_words(&answer.errors).starts_with(error) && answer.output.is_empty(), "{}", answer.errors);
    }
}

#[test]
fn hostile_names_stay_text_in_a_page() {
    let hostile = "</script><script>alert(1)</script><!--&amp;<img onerror>";
    let share = format!("{hostile}=arg0");
    let (_folder, answer) = tune(PROGRAM, &["--share", &share, "--html", "-"]);
    assert_eq!(answer.output.matches("<script>").count(), 1, "the page's own");
    assert!(!answer.output.contains("<!--") && !answer.output.contains("<img"), "{}", answer.output);
    assert!(answer.output.contains("&lt;img onerror&gt;"), "{}", answer.output);
}

#[test]
fn arrays_are_asked_to_be_in_a_memory() {
    let run =
        |program: &str, more: &[&str]| tune(program, &[&["--share", "x=arg0", "--format", "json"], more].concat()).1;
    let rows = |answer: &Value| {
        let rows = answer["tried"].as_array().unwrap().iter();
        rows.map(|row| (row["layouts"]["x"].as_str().unwrap().to_owned(), row["taken"] == true)).collect::<Vec<_>>()
    };
    let on_host = |layout: &str| layout.replace('}', "S(5)}");
    // Only the host's memory is allowed. So today's layouts, which are in the device's memory, cannot be the answer.
    let answer = run(PROGRAM, &["--memory", "x=pinned_host"]).json();
    let best = json!({"x": {"layout": on_host(ROWS), "major_to_minor": [0, 1], "memory": "pinned_host"}});
    assert_eq!((&answer["best"], &answer["keep"]), (&best, &json!(false)));
    assert_eq!(rows(&answer), [(on_host(COLUMNS), true), (on_host(ROWS), true)]);
    let jax = "Format(Layout(major_to_minor=(0, 1)), sharding.with_memory_kind(\"pinned_host\"))";
    assert_eq!(answer["arrays"][0]["write"]["jax"], jax);
    assert!(answer["notes"].to_string().contains("no cycles for copies between the host's memory and the device's"));
    // If both memories are allowed, the answer is the first one that can be used, and the other one has a row.
    let answer = run(PROGRAM, &["--memory", "x=device,pinned_host"]).json();
    assert_eq!(answer["best"]["x"]["layout"], ROWS);
    assert_eq!(rows(&answer), [COLUMNS.into(), ROWS.into(), on_host(ROWS)].map(|layout: String| (layout, true)));
    // If the compiler refuses a memory, or does not use it, the other memory is the answer.
    for (wish, error) in [("fake:host-refused", true), ("fake:host-not-taken", false)] {
        let program = PROGRAM.replace("fake:tune", &format!("fake:tune {wish}"));
        let answer = run(&program, &["--memory", "x=pinned_host,device"]).json();
        assert_eq!((&answer["best"]["x"]["layout"], &answer["best"]["x"]["memory"]), (&json!(ROWS), &json!("device")));
        let host = answer["tried"].as_array().unwrap().iter().find(|row| row["layouts"]["x"] == on_host(ROWS)).unwrap();
        assert_eq!(
            (&host["taken"], host["error"].as_str().is_some_and(|error| error.contains("E1200"))),
            (&json!(false), error)
        );
        let answer = run(&program, &["--memory", "x=pinned_host"]);
        let found: Value = serde_json::from_str(&answer.output).unwrap();
        assert_eq!((answer.code, &found["best"]), (1, &json!(null)), "{wish}");
    }
    for (memories, error) in [
        (&["y=device"][..], "error: --memory: no shared array is called y; expected one of: x\n"),
        (&["x=device", "x=device"], "error: --memory: x is given twice: write all of its memories at once\n"),
    ] {
        let memories: Vec<&str> = memories.iter().flat_map(|memory| ["--memory", memory]).collect();
        assert_eq!(in_words(&run(PROGRAM, &memories).errors), error);
    }
    for memory in ["x", "x=", "x=hbm", "x=device,device"] {
        let answer = run(PROGRAM, &["--memory", memory]);
        assert!(
            answer.code == 2 && answer.errors.contains("with device or pinned_host, each once"),
            "{}",
            answer.errors
        );
    }
}

#[test]
fn memory_is_limited() {
    let (_folder, answer) = tune(PROGRAM, &["--share", "x=arg0", "--at-most-bytes", "1129"]);
    assert_eq!((answer.code, answer.output.lines().next()), (1, Some("All layouts that were tried exceed the limit.")));
    let (_folder, answer) = tune(PROGRAM, &["--share", "x=arg0", "--at-most-bytes", "1130", "--format", "json"]);
    assert_eq!(answer.json()["best"]["x"]["layout"], ROWS);
}

#[test]
fn several_programs_have_weights() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("q.mlir"), PROGRAM.replace("fake:tune", "fake:tune q")).unwrap();
    let arguments = ["q.mlir", "--share", "x=p:arg0,q:arg0", "--weight", "q=100", "--format", "json"];
    let answer = tune_in(folder.path(), PROGRAM, &arguments).json();
    assert_eq!((&answer["today"]["cycles"], &answer["compiles"]), (&json!(900 * 101), &json!(6)));
    assert_eq!(answer["tried"][1]["cycles"], 500 * 101);
    assert_eq!(answer["programs"], json!([{"name": "p", "weight": 1}, {"name": "q", "weight": 100}]));
}

#[test]
fn bad_input_is_said() {
    let said = |program: &str, arguments: &[&str]| {
        let (_folder, answer) = tune(program, arguments);
        assert_eq!((answer.code, answer.output.as_str()), (1, ""));
        answer.errors
    };
    for (share, error) in [
        ("x=arg7", "error: p: `@main` has no parameter 7; they are numbered from 0, and it has 2\n"),
        ("x=q:arg0", "error: no program is called q; expected one of: p\n"),
        ("x=arg0,arg1", "error: x: it is f32[100,200] in its first place, but bf16[2,200] at parameter 1 of p\n"),
    ] {
        assert_eq!(said(PROGRAM, &["--share", share]), error);
    }
    assert_eq!(said(PROGRAM, &["p.mlir", "--share", "x=arg0"]), "error: p.mlir is given twice\n");
    let twice = said(PROGRAM, &["--share", "x=arg0", "--share", "x=out0"]);
    assert_eq!(twice, "error: x is shared twice: write all of its places at once\n");
    let donated = PROGRAM.replace("tensor<100x200xf32>,", "tensor<100x200xf32> {tf.aliasing_output = 0 : i32},");
    let two = said(&donated, &["--share", "x=arg0", "--share", "y=out0"]);
    assert_eq!(two, "error: result 0 of p belongs to x and to y; a donated parameter and its result are one array\n");
    assert_eq!(
        said(PROGRAM, &["--share", "x=arg0", "--weight", "q=2"]),
        "error: no program is called q; expected one of: p\n"
    );
    let hlo = said("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }", &["--share", "x=arg0"]);
    assert!(hlo.starts_with("error: p is HLO, and XLA ignores the layouts that HLO asks for: "), "{hlo}");
    let bytecode = said("ML\u{feff}R", &["--share", "x=arg0"]);
    assert!(bytecode.starts_with("error: "), "{bytecode}");
    assert!(said("", &["--share", "x=arg0"]).contains("it is empty"));
    let today = said(&PROGRAM.replace("fake:tune", "fake:error"), &["--share", "x=arg0"]);
    assert!(
        today.starts_with("error: p does not compile as it is: ") && today.contains("the program asks for an error"),
        "{today}"
    );
    let none = said(&PROGRAM.replace("fake:tune", ""), &["--share", "x=arg0"]);
    assert_eq!(none, "error: the compiler does not say what p costs, so layouts cannot be compared\n");
    // Errors of usage.
    for arguments in [&[][..], &["--share", "x"], &["--share", "x=in0"], &["--share", "x=arg0", "--weight", "p=0"]] {
        let (_folder, answer) = tune(PROGRAM, arguments);
        assert_eq!((answer.code, answer.output.as_str()), (2, ""), "{arguments:?}");
    }
}

/// A module that is compiled already. It copies the second parameter, and the first one is donated.
const COMPILED: &str = r#"HloModule p, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, entry_computation_layout={(f32[8,128]{1,0:T(8,128)}, f32[100,1]{1,0:T(8,128)})->(f32[8,128]{1,0:T(8,128)}, f32[100,1]{0,1:T(1,128)})}
ENTRY main {
  a = f32[8,128]{1,0:T(8,128)} parameter(0)
  b = f32[100,1]{1,0:T(8,128)} parameter(1), metadata={op_name="params['w']"}
  n = f32[8,128]{1,0:T(8,128)} negate(a), backend_config={"window_config":{"estimated_cycles":"100"}}
  c = f32[100,1]{0,1:T(1,128)} copy(b), backend_config={"window_config":{"estimated_cycles":"300"}}
  ROOT t = (f32[8,128]{1,0:T(8,128)}, f32[100,1]{0,1:T(1,128)}) tuple(n, c)
}
"#;

#[test]
fn compiled_modules_give_advice_without_a_compiler() {
    let share = ["--share", "w=arg1", "--share", "x=out0"];
    let (_folder, answer) = tune(COMPILED, &share);
    assert_eq!((answer.errors.as_str(), answer.code), ("", 0));
    let text = answer.output.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "This is advice from modules that are compiled already. No compiler confirmed it: to try it, give the programs as StableHLO.",
        "w: with {0,1:T(1,128)}, major to minor (1,0), 1 copy of 300 cycles would not have to change the layout.",
        "w: {0,1:T(1,128)}, major to minor (1,0), takes the least memory, 512 B instead of 52 KiB.",
        "x: no copy changes its layout or repeats it.",
        "parameter 1 of p: {1,0:T(8,128)}, 52 KiB, padding 51.6 KiB",
        "copy %c of p: f32[100,1]{1,0:T(8,128)} -> f32[100,1]{0,1:T(1,128)}, 300 cycles",
        "cause: parameter 1 (`params['w']`) has the layout {1,0:T(8,128)}; result 1 must have {0,1:T(1,128)}",
        "remedy: ask for {0,1:T(1,128)} at parameter 1; in JAX `Format(Layout(major_to_minor=(1, 0)), sharding)`; a copy stays unless \
         parameter 1 is donated, because it is a result as well",
    ] {
        assert!(text.contains(part), "{part}\n{}", answer.output);
    }
    let (_folder, answer) = tune(COMPILED, &[&share[..], &["--format", "json"]].concat());
    let answer = answer.json();
    assert_eq!((&answer["best"], &answer["best_entry"], &answer["keep"]), (&json!(null), &json!(null), &json!(false)));
    assert_eq!((&answer["tried"], &answer["compiles"], &answer["compilers"]), (&json!([]), &json!(0), &json!([])));
    assert_eq!((&answer["today"]["cycles"], &answer["today"]["bytes"]), (&json!(400), &json!(null)));
    let [w, x] = [0, 1].map(|number| &answer["advice"][number]);
    assert_eq!((&w["array"], &x["array"]), (&json!("w"), &json!("x")));
    assert_eq!((&w["places"][0]["bytes"], &w["places"][0]["padding"]), (&json!(53_248), &json!(53_248 - 400)));
    assert_eq!((&w["smallest"]["layout"], &w["smallest"]["bytes"]), (&json!("{0,1:T(1,128)}"), &json!(512)));
    let wanted = &w["layouts"][0];
    assert_eq!((&wanted["layout"], &wanted["major_to_minor"]), (&json!("{0,1:T(1,128)}"), &json!([1, 0])));
    assert_eq!((&wanted["copies"], &wanted["cycles"], &wanted["bytes"]), (&json!(1), &json!(300), &json!(512)));
    assert_eq!((&x["layouts"], &x["copies"]), (&json!([]), &json!([])));
    // The donated parameter and the result are one array.
    assert_eq!(x["places"].as_array().unwrap().len(), 2);
    // The answer of a search has no advice.
    let (_folder, answer) = tune(PROGRAM, &["--share", "x=arg0", "--format", "json"]);
    assert_eq!(answer.json()["advice"], json!(null));
}

#[test]
fn advice_counts_all_modules_with_their_weights() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("q.hlo"), COMPILED).unwrap();
    let arguments =
        ["q.hlo", "--share", "w=p:arg1,q:arg1", "--weight", "q=10", "--format", "json", "--html", "page.html"];
    let answer = tune_in(folder.path(), COMPILED, &arguments).json();
    let wanted = &answer["advice"][0]["layouts"];
    assert_eq!((&wanted[0]["copies"], &wanted[0]["cycles"]), (&json!(2), &json!(3300)));
    assert_eq!((wanted.as_array().unwrap().len(), &answer["today"]["cycles"]), (1, &json!(4400)));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("No compiler confirmed it") && page.contains("%c of q"), "{page}");
    // Without tiles, there is no advice about padding.
    let cpu = COMPILED.replace(":T(8,128)", "").replace(":T(1,128)", "");
    let answer = tune_in(folder.path(), &cpu, &["--share", "w=arg1", "--format", "json"]).json();
    assert_eq!(
        (&answer["advice"][0]["smallest"], &answer["advice"][0]["places"][0]["padding"]),
        (&json!(null), &json!(0))
    );
}

#[test]
fn advice_needs_compiled_modules_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("q.mlir"), PROGRAM).unwrap();
    fs::write(folder.path().join("r.hlo"), COMPILED.replace("is_scheduled=true, ", "")).unwrap();
    let said = |arguments: &[&str]| {
        let answer = tune_in(folder.path(), COMPILED, arguments);
        assert_eq!((answer.code, answer.output.as_str()), (1, ""));
        answer.errors
    };
    let mixed = said(&["q.mlir", "--share", "x=p:arg0,q:arg0"]);
    assert!(
        mixed.starts_with("error: p is compiled already, and another program is not: give all programs as text of MLIR to compile them, or all "),
        "{mixed}"
    );
    let early = said(&["r.hlo", "--share", "x=p:arg0,r:arg0"]);
    assert!(early.starts_with("error: r is HLO, and XLA ignores the layouts that HLO asks for: "), "{early}");
    assert_eq!(said(&["--share", "x=arg7"]), "error: x: there is no array at parameter 7 of p\n");
    let other = "error: x: it is f32[8,128] in its first place, but f32[100,1] at parameter 1 of p\n";
    assert_eq!(said(&["--share", "x=arg0,arg1"]), other);
    for option in [
        &["--all"][..],
        &["--tilings"],
        &["--compiles", "2"],
        &["--at-most-bytes", "1"],
        &["--memory", "x=device"],
        &["--cache", "c"],
        &["--no-cache"],
        &["--jobs", "2"],
        &["--plugin", "p"],
        &["--replicas", "1"],
        &["--partitions", "1"],
        &["--option", "a=b"],
        &["--time-limit", "7"],
    ] {
        let error = format!(
            "error: {} needs a compiler: expected StableHLO, found modules that are compiled already\n",
            option[0]
        );
        assert_eq!(said(&[&["--share", "x=arg0"], option].concat()), error);
    }
}

#[test]
fn bytecode_is_refused_with_the_way_to_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::program();
    command.current_dir(folder.path()).args(["tune", "-", "--share", "x=arg0"]).env("PJRT_PLUGIN", plugin());
    let output = command.write_stdin(b"ML\xefR\x0d\0".as_slice()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("layouts can be asked for in the text of MLIR alone (JAX: `lowered.as_text()`)"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}
