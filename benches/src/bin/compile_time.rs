//! Compile times: `cargo check` of a crate with 1,000 shapes, of one with 100 kernels over different shapes, and of an empty one that also
//! depends on the library; and a full build of the library and its dependencies.
//!
//! Writes the crates to `target/compile-time`.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime};

/// The number of types made by `shape!`.
const SHAPES: usize = 1000;

/// The number of functions, each of which reads and writes an array of such a type.
const KERNELS: usize = 100;

/// The number of runs of each measurement. The shortest time counts.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let empty = Package::new(&repository, "empty", "")?;
    let shapes = Package::new(&repository, "shapes", &types(SHAPES))?;
    let kernels = Package::new(&repository, "kernels", &(types(KERNELS) + &functions(KERNELS)))?;
    let [empty_time, shapes_time, kernels_time] = [&empty, &shapes, &kernels].map(Package::check_time);
    let (empty_time, shapes_time, kernels_time) = (empty_time?, shapes_time?, kernels_time?);
    println!("check, empty crate          {empty_time:6.2} s");
    println!("check, {SHAPES} shapes          {shapes_time:6.2} s");
    println!("  beyond the empty, a shape {:6.2} ms", 1e3 * (shapes_time - empty_time) / SHAPES as f64);
    println!("check, {KERNELS} kernels          {kernels_time:6.2} s");
    println!("  beyond the empty, a kernel{:6.2} ms", 1e3 * (kernels_time - empty_time) / KERNELS as f64);
    println!("build from nothing          {:6.2} s", empty.cold_build_time()?);
    Ok(())
}

/// Different shape types, as the compiler for TPUs writes them.
fn types(number: usize) -> String {
    (0..number).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "pub type S{i} = xla_shape::shape!(f32[{},{}]{{1,0:T(8,128)}});", i + 1, columns(i));
        text
    })
}

fn columns(i: usize) -> usize {
    i * 7 % 500 + 1
}

fn functions(number: usize) -> String {
    (0..number).fold(String::new(), |mut text, i| {
        let _ = writeln!(
            text,
            "pub fn k{i}(x: &xla_shape::Buffer<S{i}>, y: &mut xla_shape::Buffer<S{i}>) {{
                for row in 0..{} {{
                    for column in 0..{} {{
                        y[[row, column]] = x[[row, column]] * 2.0;
                    }}
                }}
            }}",
            i + 1,
            columns(i)
        );
        text
    })
}

/// A crate that depends on the library with its default features.
struct Package {
    folder: PathBuf,
    target: PathBuf,
}

impl Package {
    fn new(repository: &Path, name: &str, code: &str) -> Result<Self, Box<dyn Error>> {
        let root = repository.join("target/compile-time");
        let folder = root.join(name);
        fs::create_dir_all(folder.join("src"))?;
        let library = repository.join("xla-shape");
        fs::write(
            folder.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                 [dependencies]\nxla-shape = {{ path = {library:?} }}\n\n[workspace]\n"
            ),
        )?;
        // The same versions of dependencies as in this workspace.
        fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        fs::write(folder.join("src/lib.rs"), code)?;
        Ok(Self { folder, target: root.join("target") })
    }

    /// The seconds of `cargo check` when only this crate has changed.
    fn check_time(&self) -> Result<f64, Box<dyn Error>> {
        self.cargo("check", &self.target)?;
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            File::options().append(true).open(self.folder.join("src/lib.rs"))?.set_modified(SystemTime::now())?;
            best = best.min(self.cargo("check", &self.target)?);
        }
        Ok(best)
    }

    /// The seconds of `cargo build` in an empty target folder.
    fn cold_build_time(&self) -> Result<f64, Box<dyn Error>> {
        let target = self.target.with_file_name("cold");
        if target.exists() {
            fs::remove_dir_all(&target)?;
        }
        self.cargo("build", &target)
    }

    /// Runs a Cargo command, and returns its seconds.
    fn cargo(&self, command: &str, target: &Path) -> Result<f64, Box<dyn Error>> {
        let begin = Instant::now();
        let status = Command::new(env!("CARGO"))
            .args([command, "--quiet", "--target-dir"])
            .arg(target)
            // Cargo's default settings, except that nothing is reused from an earlier run.
            .envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "full")])
            .current_dir(&self.folder)
            .status()?;
        if !status.success() {
            return Err(format!("cargo {command} in {}: {status}", self.folder.display()).into());
        }
        Ok(begin.elapsed().as_secs_f64())
    }
}
