//! The compiler, called directly. Cargo would compile the programs one after another, and takes longer to start than the compiler.
//!
//! The cases are in `tests`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The package's folder.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The workspace's folder. Cargo calls the compiler there, so that messages have paths from there.
///
/// # Panics
///
/// Never: packages are in folders of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(PACKAGE).parent().expect("a package in a workspace")
}

/// The compiler, with the libraries that test programs use.
pub struct Compiler {
    arguments: Vec<OsString>,
    folder: PathBuf,
}

impl Compiler {
    /// A compiler with these libraries, given as arguments of the compiler, and a folder for its output.
    ///
    /// # Panics
    ///
    /// If there are none.
    #[must_use]
    pub fn with_libraries(libraries: &[&str], folder: &str) -> Self {
        assert!(!libraries.is_empty(), "cargo gives the compiler libraries");
        Self { arguments: libraries.iter().map(OsString::from).collect(), folder: folder.into() }
    }

    /// With optimisations. The library has its default features.
    ///
    /// # Panics
    ///
    /// If the library does not compile.
    #[must_use]
    pub fn optimised(folder: &str) -> Self {
        let target = Path::new(folder).join("optimised");
        let output = Command::new(env!("CARGO"))
            .args(["build", "--release", "--package", "xla-shape", "--features", "num-complex"])
            .args(["--message-format", "json", "--target-dir"])
            .arg(&target)
            // With `--target`, the flags below do not apply to macros and build scripts, whose code must run.
            .args(["--target", "host-tuple"])
            // Optimise the library only before LLVM. LLVM's passes and code generation would take as long as all the rest, and change only code,
            // which no test runs.
            .env("RUSTFLAGS", "-Cno-prepopulate-passes -Clinker-plugin-lto")
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
        let half = file("libhalf-");
        let dependencies = half.parent().expect("a file is in a folder").to_owned();
        let arguments = vec![
            "-Copt-level=3".into(),
            "--extern".into(),
            with("xla_shape=", file("libxla_shape.")),
            "--extern".into(),
            with("half=", half),
            "-L".into(),
            with("dependency=", dependencies),
            "-L".into(),
            with("dependency=", target.join("release/deps")),
        ];
        Self { arguments, folder: folder.into() }
    }

    /// Compiles a program with these additional arguments. Its path is relative to the workspace.
    ///
    /// # Panics
    ///
    /// If the compiler does not start.
    pub fn compile(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Output {
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .current_dir(workspace())
            .env("CARGO_MANIFEST_DIR", PACKAGE)
            .args(["--edition", "2024"])
            .args(&self.arguments)
            .arg("--out-dir")
            .arg(&self.folder)
            .args(arguments)
            .arg(program.as_ref())
            .output()
            .expect("the compiler runs")
    }
}

/// The answers for all of these, in their order.
///
/// # Panics
///
/// If an answer panics.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], answer: impl Fn(&T) -> R + Sync) -> Vec<R> {
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
