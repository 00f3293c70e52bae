//! The compiler, called directly: cargo compiles such cases one after another, and takes longer than the compiler to start each.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The package's folder.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The workspace's folder. Cargo calls the compiler there, so that messages have paths from there.
pub(crate) fn workspace() -> &'static Path {
    Path::new(PACKAGE).parent().expect("a package in a workspace")
}

/// How far the compiler goes.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    /// As in `cargo check`.
    Checked,
    /// As in `cargo build`: generic functions are compiled for the types that they are called with.
    Compiled,
}

/// The compiler with the libraries that cases use.
pub(crate) struct Compiler {
    arguments: Vec<OsString>,
}

impl Compiler {
    /// The libraries of these tests, and no optimisations.
    pub(crate) fn plain() -> Self {
        let libraries: &[&str] = &xla_shape_ui_libraries::libraries!();
        assert!(!libraries.is_empty(), "cargo gives the compiler libraries");
        Self { arguments: libraries.iter().map(OsString::from).collect() }
    }

    /// With optimisations, in the library too, which has its default features.
    pub(crate) fn optimised() -> Self {
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
        let with = |name: &str, path: PathBuf| {
            let mut argument = OsString::from(name);
            argument.push(path);
            argument
        };
        // The library's own file has no hash in its name, its dependencies have one.
        let arguments = vec![
            "-Copt-level=3".into(),
            "--extern".into(),
            with("xla_shape=", file("libxla_shape.")),
            "--extern".into(),
            with("half=", file("libhalf-")),
            "-L".into(),
            with("dependency=", target.join("release/deps")),
        ];
        Self { arguments }
    }

    /// Compiles a program.
    pub(crate) fn compile(&self, program: impl AsRef<Path>, until: Until) -> Output {
        let emit = match until {
            Until::Checked => "--emit=metadata",
            Until::Compiled => "--emit=obj",
        };
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .current_dir(workspace())
            .env("CARGO_MANIFEST_DIR", PACKAGE)
            // Types are written in full, and what a case does not use says nothing.
            .args([
                "--edition",
                "2024",
                "--crate-type",
                "bin",
                "--verbose",
                "-Adead_code",
                "--diagnostic-width=140",
                emit,
            ])
            .args(&self.arguments)
            .args(["--out-dir", env!("CARGO_TARGET_TMPDIR")])
            .arg(program.as_ref())
            .output()
            .expect("the compiler runs")
    }
}

/// The answers for all of these, in their order.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], answer: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).map(|item| (index, answer(item)))
        });
        taken.collect::<Vec<_>>()
    };
    let mut answers = thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, Into::into);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
