//! Compiling while a crate is built, so that a kernel is checked against what the compiler says now.
//!
//! In the kernel's crate, `build.rs` compiles the program, and [`hlo_types!`](macro@xla_shape::hlo_types) makes types of the result's
//! shapes:
//!
//! ```no_run
//! // `main` of build.rs, with xla-shape-pjrt among the build-dependencies
//! use xla_shape_pjrt::build::Compile;
//!
//! Compile::new("program.mlir", "v5e:2x2").or_checked_in("hlo/program.hlo").write("program.hlo");
//! ```
//!
//! ```ignore
//! // src/lib.rs
//! xla_shape::hlo_types! { mod program = "$OUT_DIR/program.hlo"; }
//! ```
//!
//! Where no plug-in is found, the module that is checked in takes its place, and the build warns. With a plug-in, the build warns
//! if that module is out of date; `XLA_SHAPE_UPDATE=1` writes it anew.

use crate::error::Error;
use crate::options::CompileOptions;
use crate::plugin::Plugin;
use crate::program::Program;
use crate::slice::Slice;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fmt::{self, Write as _};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error as DeriveError;
use xla_shape::Shape;
use xla_shape::hlo::Module;

/// The variable that asks for the checked-in module to be written anew.
const UPDATE: &str = "XLA_SHAPE_UPDATE";
/// What decides which plug-in is found.
const VARIABLES: [&str; 5] = ["PJRT_PLUGIN", "TPU_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", UPDATE];

/// A program that is compiled while a crate is built.
#[derive(Clone, Debug)]
pub struct Compile {
    program: PathBuf,
    target: String,
    checked_in: Option<PathBuf>,
    options: CompileOptions,
    plugin: Option<PathBuf>,
}

/// Where the module of a build comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Source {
    /// The compiler made it now.
    Compiled {
        /// What the compiler calls this program, these options and its own version together.
        fingerprint: String,
    },
    /// The compiler made it in an earlier build, from the same.
    Cached {
        /// The same.
        fingerprint: String,
    },
    /// It is the one that is checked in, because there was no compiler to ask.
    CheckedIn {
        /// Why not.
        reason: String,
    },
}

/// A module that a build wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// Where the module comes from.
    pub source: Source,
    /// How the checked-in module differs, if it is out of date.
    pub outdated: Option<String>,
}

/// Why a build has no module.
#[derive(Debug, DeriveError)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no compiler, it refuses the program, or the program cannot be read.
    #[error("{program}: {error}", program = .program.display())]
    Compile {
        /// The program.
        program: PathBuf,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A file cannot be read or written.
    #[error("`{path}`: {error}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
}

impl Compile {
    /// The program in a file, for a TPU such as `v5e:2x2`. The path begins at the directory of `Cargo.toml`.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, target: &str) -> Self {
        let options = CompileOptions::new();
        Self { program: program.into(), target: target.to_owned(), checked_in: None, options, plugin: None }
    }

    /// Uses the module in this file where no compiler is found. The path begins at the directory of `Cargo.toml`.
    #[must_use]
    pub fn or_checked_in(self, module: impl Into<PathBuf>) -> Self {
        Self { checked_in: Some(module.into()), ..self }
    }

    /// Compiles with these options.
    #[must_use]
    pub fn options(self, options: CompileOptions) -> Self {
        Self { options, ..self }
    }

    /// Asks this plug-in, instead of the one that [`Plugin::find`] finds.
    #[must_use]
    pub fn plugin(self, path: impl Into<PathBuf>) -> Self {
        Self { plugin: Some(path.into()), ..self }
    }

    /// Writes the optimized module's text into `OUT_DIR` under a name, for `hlo_types!` to read as `"$OUT_DIR/NAME"`, and tells
    /// Cargo what it depends on. For `build.rs`: prints for Cargo.
    ///
    /// # Panics
    /// If there is no module, or it cannot be written; the message says why.
    pub fn write(&self, name: &str) {
        let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
        let plugin = self.find();
        for line in self.directives(&plugin, crate::find::packages()) {
            println!("{line}");
        }
        let written = match self.write_with(&folder.join(name), plugin) {
            Ok(written) => written,
            Err(error) => panic!("{error}"),
        };
        let program = self.program.display();
        if let Source::CheckedIn { reason } = &written.source {
            let checked_in = self.checked_in.as_deref().unwrap_or(Path::new("")).display();
            let first = reason.lines().next().unwrap_or_default();
            println!("cargo::warning={program} was not compiled, {checked_in} is used: {first}");
        }
        if let Some(outdated) = &written.outdated {
            for line in outdated.lines() {
                println!("cargo::warning={line}");
            }
        }
    }

    /// The same into any file; prints nothing for Cargo.
    ///
    /// # Errors
    /// If the compiler refuses the program, there is neither a compiler nor a checked-in module, or a file cannot be read or
    /// written.
    pub fn write_into(&self, path: &Path) -> Result<Written, BuildError> {
        self.write_with(path, self.find())
    }

    /// The file of the plug-in.
    fn find(&self) -> Result<PathBuf, Error> {
        self.plugin.clone().map_or_else(crate::find::plugin, Ok)
    }

    /// What Cargo is told: with what the build begins anew. Where no plug-in is found, `packages` are the folders in which one
    /// may be installed.
    fn directives(&self, plugin: &Result<PathBuf, Error>, packages: Vec<PathBuf>) -> Vec<String> {
        let watched = match plugin {
            Ok(path) | Err(Error::Load { path, .. }) => vec![path.clone()],
            Err(_) => packages,
        };
        let files = [Some(&self.program), self.checked_in.as_ref()].into_iter().flatten().chain(&watched);
        let variables = VARIABLES.iter().map(|variable| format!("cargo::rerun-if-env-changed={variable}"));
        variables.chain(files.map(|file| format!("cargo::rerun-if-changed={}", file.display()))).collect()
    }

    fn write_with(&self, path: &Path, found: Result<PathBuf, Error>) -> Result<Written, BuildError> {
        let fail = |error: Error| BuildError::Compile { program: self.program.clone(), error: Box::new(error) };
        let bytes = read(&self.program)?;
        let program = Program::from_bytes(&bytes).map_err(fail)?;
        let slice: Slice = self.target.parse().map_err(|error| fail(Error::Slice(error)))?;
        let key_file = with_ending(path, ".key");
        let key = found.as_ref().ok().map(|plugin| self.key(&program, &slice, plugin));
        let cached = key.as_ref().and_then(|key| cached(path, &key_file, key));
        let source = if let Some(fingerprint) = cached {
            Source::Cached { fingerprint }
        } else {
            match found.and_then(|plugin| self.compile(&plugin, &slice, &program)) {
                Ok((text, fingerprint)) => {
                    write(path, text.as_bytes())?;
                    write(&key_file, format!("{}\n{fingerprint}\n", key.unwrap_or_default()).as_bytes())?;
                    Source::Compiled { fingerprint }
                }
                Err(error) => {
                    // What the compiler refuses is wrong whatever is checked in.
                    let is_absent = matches!(
                        error,
                        Error::NotFound { .. } | Error::Load { .. } | Error::Locked { .. } | Error::TimedOut { .. }
                    );
                    let Some(checked_in) = self.checked_in.as_ref().filter(|_| is_absent) else {
                        return Err(fail(error));
                    };
                    write(path, &read(checked_in)?)?;
                    // Whatever was compiled before is gone.
                    let _ = fs::remove_file(&key_file);
                    return Ok(Written {
                        path: path.to_owned(),
                        source: Source::CheckedIn { reason: error.to_string() },
                        outdated: None,
                    });
                }
            }
        };
        let outdated = self.outdated(path)?;
        Ok(Written { path: path.to_owned(), source, outdated })
    }

    /// A number that is another one when the program, the options, the device or the plug-in's file is another.
    fn key(&self, program: &Program, slice: &Slice, plugin: &Path) -> String {
        let mut hasher = DefaultHasher::new();
        program.code().hash(&mut hasher);
        self.options.to_proto(program).hash(&mut hasher);
        slice.hash(&mut hasher);
        plugin.hash(&mut hasher);
        if let Ok(data) = fs::metadata(plugin) {
            data.len().hash(&mut hasher);
            data.modified().ok().hash(&mut hasher);
        }
        // What this crate makes of a message may change, too.
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    fn compile(&self, plugin: &Path, slice: &Slice, program: &Program) -> Result<(String, String), Error> {
        let compiled = Plugin::load(plugin)?.topology(slice)?.compile(program, &self.options)?;
        let fingerprint = compiled.fingerprint().unwrap_or_default();
        Ok((compiled.module()?.to_string(), fingerprint))
    }

    /// How the checked-in module differs from the new one; or writes it anew, if that is asked for.
    fn outdated(&self, path: &Path) -> Result<Option<String>, BuildError> {
        let Some(checked_in) = &self.checked_in else { return Ok(None) };
        let new = read(path)?;
        if env::var_os(UPDATE).is_some_and(|value| value != "0") {
            if fs::read(checked_in).ok().as_ref() != Some(&new) {
                write(checked_in, &new)?;
            }
            return Ok(None);
        }
        let old = match fs::read(checked_in) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = checked_in.display();
                return Ok(Some(format!("there is no {file} for those without a compiler; {UPDATE}=1 writes it")));
            }
            Err(error) => return Err(BuildError::File { path: checked_in.clone(), error }),
        };
        Ok(difference(&old, &new).map(|difference| {
            let file = checked_in.display();
            format!("{file} is out of date, {UPDATE}=1 writes it again:\n{difference}")
        }))
    }
}

/// Compiles the program in a file, such as `program.mlir`, for a TPU, as [`Compile`] does with all that is usual: the module is
/// `$OUT_DIR/program.hlo`, and `program.hlo` beside the program takes its place where no compiler is found. For `build.rs`.
///
/// # Panics
/// Same as [`Compile::write`].
pub fn compile(program: impl AsRef<Path>, target: &str) {
    let module = program.as_ref().with_extension("hlo");
    let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Compile::new(program.as_ref(), target).or_checked_in(module).write(&name);
}

fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|error| BuildError::File { path: path.to_owned(), error })
}

/// The path with something after its name.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    let fail = |error| BuildError::File { path: path.to_owned(), error };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    // Nobody sees half of it.
    let new = with_ending(path, ".new");
    fs::write(&new, bytes).map_err(fail)?;
    fs::rename(&new, path).map_err(fail)
}

/// The fingerprint of what an earlier build wrote, if that was made from the same.
fn cached(path: &Path, key_file: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(key_file).ok()?;
    let (found, fingerprint) = text.split_once('\n')?;
    (found == key && path.is_file()).then(|| fingerprint.trim_end().to_owned())
}

/// The parameters and the result of a module.
fn boundary(bytes: &[u8]) -> Option<(Vec<Shape>, Shape)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let module = Module::parse(text).ok()?;
    let entry = module.entry()?;
    let parameters = entry.parameters_by_number().into_iter().map(|(_, made)| made.shape().clone()).collect();
    Some((parameters, entry.root().shape().clone()))
}

/// How the parameters and the results of two modules differ.
fn difference(old: &[u8], new: &[u8]) -> Option<String> {
    if old == new {
        return None;
    }
    let Some(((old_parameters, old_result), (parameters, result))) = boundary(old).zip(boundary(new)) else {
        return Some("it cannot be read".to_owned());
    };
    let mut text = String::new();
    let mut say = |what: fmt::Arguments<'_>, old: Option<&Shape>, new: Option<&Shape>| {
        if old != new {
            let shown = |shape: Option<&Shape>| shape.map_or_else(|| "nothing".to_owned(), Shape::to_string);
            // Writing to memory does not fail.
            let _ = writeln!(text, "{what} was {}, the compiler now chooses {}", shown(old), shown(new));
        }
    };
    for number in 0..old_parameters.len().max(parameters.len()) {
        say(format_args!("parameter {number}"), old_parameters.get(number), parameters.get(number));
    }
    say(format_args!("the result"), Some(&old_result), Some(&result));
    if text.is_empty() {
        text = "parameters and result are the same, but the instructions between them differ".to_owned();
    }
    Some(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Compile, VARIABLES, difference};
    use crate::error::Error;
    use std::path::PathBuf;

    #[test]
    fn cargo_watches_the_plugin_or_where_it_may_be_installed() {
        let compile = Compile::new("p.mlir", "v5e").or_checked_in("p.hlo");
        let files = |plugin: Result<PathBuf, Error>| {
            let lines = compile.directives(&plugin, vec!["venv/lib/python3.12/site-packages".into()]);
            let (variables, files) = lines.split_at(VARIABLES.len());
            assert!(variables.iter().all(|line| line.starts_with("cargo::rerun-if-env-changed=")), "{variables:?}");
            let files = files.iter().map(|line| line.strip_prefix("cargo::rerun-if-changed=").unwrap().to_owned());
            files.collect::<Vec<_>>()
        };
        assert_eq!(files(Ok("found/libtpu.so".into())), ["p.mlir", "p.hlo", "found/libtpu.so"]);
        let none = Err(Error::NotFound { looked: Vec::new() });
        assert_eq!(files(none), ["p.mlir", "p.hlo", "venv/lib/python3.12/site-packages"]);
        let missing = Err(Error::Load { path: "named.so".into(), reason: String::new() });
        assert_eq!(files(missing), ["p.mlir", "p.hlo", "named.so"]);
    }

    #[test]
    fn what_the_compiler_chooses_now_is_said() {
        let module = |layout: &str, name: &str| {
            format!(
                "HloModule m\nENTRY e {{ p = f32[8,128]{layout} parameter(0)\nROOT {name} = f32[8,128]{{1,0}} negate(p) }}"
            )
        };
        let old = module("{1,0}", "n");
        assert_eq!(difference(old.as_bytes(), old.as_bytes()), None);
        assert_eq!(
            difference(old.as_bytes(), module("{0,1}", "n").as_bytes()).unwrap(),
            "parameter 0 was f32[8,128]{1,0}, the compiler now chooses f32[8,128]{0,1}"
        );
        assert_eq!(
            difference(old.as_bytes(), module("{1,0}", "o").as_bytes()).unwrap(),
            "parameters and result are the same, but the instructions between them differ"
        );
        assert_eq!(difference(b"no module", old.as_bytes()).unwrap(), "it cannot be read");
    }
}
