//! What the compiler says of programs that use the library. `scripts/bless.sh` accepts what it says now.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, thread};
use trybuild::TestCases;

/// The folders of cases that show only when code is made.
const BUILT: [&str; 11] = [
    "bitcast",
    "block",
    "buffer",
    "dispatch_in_build",
    "index",
    "infer_in_build",
    "iteration",
    "product",
    "section",
    "sizes",
    "slice",
];

/// What is wrong with a shape shows in `cargo check`: no case here is built.
#[test]
fn fails_in_check() {
    let cases = TestCases::new();
    give_hlo_files();
    for folder in ["dispatch", "hlo", "infer", "kernels", "rank", "syntax", "rules", "limits", "tpu", "types", "worlds"]
    {
        cases.compile_fail(format!("tests/fail/{folder}/*.rs"));
    }
}

/// What is wrong with an index, a buffer or a bitcast may show only when code is made; the cases that pass have it made.
#[test]
fn passes_and_fails_in_build() {
    let cases = TestCases::new();
    give_hlo_files();
    cases.pass("tests/pass/*.rs");
    for folder in BUILT {
        cases.compile_fail(format!("tests/fail/{folder}/*.rs"));
    }
}

/// Cases whose lines are not all named, and why.
const NOT_NAMED: &[(&str, &str)] = &[
    ("buffer/tiled_ndarray", "not compiled: the optimised library is without the feature `ndarray`"),
    (
        "infer_in_build/in_generic_code",
        "the constant is in the user's function, which the compiler puts into its caller",
    ),
    ("iteration/no_lanes", "the check is in a function below the one that users call, at its line in every build"),
];

/// Errors in constants (E0080) name the user's lines in optimised builds too: all that the expected output names, which is that
/// of a build that is not optimised.
#[test]
fn optimised_builds_name_the_same_lines() {
    let library = Library::compile();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    for folder in BUILT {
        for entry in fs::read_dir(root.join("tests/fail").join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = format!("{folder}/{}", path.file_stem().expect("a file").to_string_lossy());
            if path.extension().is_some_and(|extension| extension == "stderr")
                && fs::read_to_string(&path).expect("text").contains("error[E0080]")
            {
                cases.push(name);
            }
        }
    }
    assert!(cases.len() >= 45, "{cases:?}");
    let (work, wrong) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    let next = || work.lock().expect("no panic").next();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let file = format!("tests/fail/{case}.rs");
                    let expected =
                        lines(&fs::read_to_string(root.join(&file).with_extension("stderr")).expect("text"), &file);
                    let shown = library.errors(root, &file);
                    let named = shown.contains("error[E0080]")
                        && !expected.is_empty()
                        && expected.is_subset(&lines(&shown, &file));
                    let excused = NOT_NAMED.iter().any(|(name, _)| name == case);
                    if named == excused {
                        wrong
                            .lock()
                            .expect("no panic")
                            .push(format!("{case}: expected lines {expected:?} in:\n{shown}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "lines that are not named, or that `NOT_NAMED` says so of:\n{}", wrong.join("\n"));
}

/// The lines of a file that an error of the compiler points at.
fn lines(errors: &str, file: &str) -> BTreeSet<usize> {
    let arrow = format!("--> {file}:");
    let places = errors.lines().filter_map(|line| line.split_once(&arrow)?.1.split(':').next());
    places.map(|number| number.parse().expect("a line number")).collect()
}

/// The library, compiled with optimisations.
struct Library {
    library: PathBuf,
    half: PathBuf,
    dependencies: PathBuf,
}

impl Library {
    fn compile() -> Self {
        // The test of machine code needs the same library.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codegen");
        let output = Command::new(env!("CARGO"))
            .args(["build", "--release", "--package", "xla-shape", "--message-format", "json", "--target-dir"])
            .arg(&target)
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).expect("JSON");
        let file = |prefix: &str| {
            let mut strings = messages.split('"').filter(|string| string.ends_with(".rlib")).map(PathBuf::from);
            let named =
                |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
            strings.rfind(named).expect("cargo names what it made")
        };
        // The library's own file has no hash in its name, its dependencies have one.
        Self { library: file("libxla_shape."), half: file("libhalf-"), dependencies: target.join("release/deps") }
    }

    /// What the compiler says of a program, compiled with optimisations.
    fn errors(&self, root: &Path, file: &str) -> String {
        let with = |name: &str, path: &Path| {
            let mut argument = OsString::from(name);
            argument.push(path);
            argument
        };
        let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .current_dir(root)
            .args(["--edition", "2024", "-Copt-level=3", "--emit=obj", "--crate-type", "bin", file, "--extern"])
            .arg(with("xla_shape=", &self.library))
            .arg("--extern")
            .arg(with("half=", &self.half))
            .arg("-L")
            .arg(with("dependency=", &self.dependencies))
            .args(["--out-dir", env!("CARGO_TARGET_TMPDIR")])
            .output()
            .expect("rustc runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// Puts the HLO modules of the cases where their paths begin: in the crate that `trybuild` makes of the cases.
fn give_hlo_files() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder of the target directory");
    let crate_of_cases = target.join("tests/trybuild").join(env!("CARGO_PKG_NAME")).join("hlo");
    fs::create_dir_all(&crate_of_cases).expect("cargo makes the directory");
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hlo")).expect("a folder");
    for file in files.map(|entry| entry.expect("an entry").path()) {
        let name = file.file_name().expect("a file");
        fs::copy(&file, crate_of_cases.join(name)).expect("the file can be copied");
    }
}
