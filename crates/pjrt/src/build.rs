//! Compiling an XLA program in `build.rs`, so that a kernel is checked against the compiler's current layouts.
//!
//! In the kernel's crate, `build.rs` compiles the program, and [`hlo_types!`](macro@xla_shape::hlo_types) makes types of the shapes in
//! the optimized module:
//!
//! ```no_run
//! // `main` of build.rs, with xla-shape-pjrt among the build-dependencies
//! use xla_shape_pjrt::build::Compile;
//!
//! let program = Compile::new("program.mlir", "v5e:2x2").or_checked_in("hlo/program.hlo");
//! // SAFETY: the plug-in that is found is libtpu, as `pip install libtpu` brings it.
//! unsafe { program.write("program.hlo") };
//! ```
//!
//! ```ignore
//! // src/lib.rs
//! xla_shape::hlo_types! { mod program = "$OUT_DIR/program.hlo"; }
//! ```
//!
//! If no plug-in is found, the checked-in module is used instead, with a warning. If one is found, the build warns when the checked-in
//! module is out of date; `XLA_SHAPE_UPDATE=1` updates it.

use crate::error::Error;
use crate::find::Kind;
use crate::options::CompileOptions;
use crate::plugin::Plugin;
use crate::program::Program;
use crate::target::Target;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fmt::{self, Write as _};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use thiserror::Error as DeriveError;
use xla_shape::Shape;
use xla_shape::hlo::Module;

/// The largest program or module, in bytes: the parser takes no more.
const MAX_BYTES: u64 = u32::MAX as u64;
/// The environment variable with which the checked-in module is updated.
const UPDATE: &str = "XLA_SHAPE_UPDATE";
/// The environment variables on which the result depends.
const VARIABLES: [&str; 5] = ["PJRT_PLUGIN", "TPU_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", UPDATE];

/// A program to be compiled in `build.rs`.
///
/// ```no_run
/// use xla_shape_pjrt::build::Compile;
///
/// let program = Compile::new("program.mlir", "v5e:2x2").or_checked_in("hlo/program.hlo");
/// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
/// unsafe { program.write("program.hlo") };
/// ```
#[derive(Clone, Debug)]
pub struct Compile {
    program: PathBuf,
    target: String,
    checked_in: Option<PathBuf>,
    options: CompileOptions,
    plugin: Option<PathBuf>,
}

/// Where a build's module comes from.
///
/// ```
/// use xla_shape_pjrt::build::Source;
///
/// /// What a build script that must compile says of the checked-in module.
/// fn refusal(source: &Source) -> Option<&str> {
///     match source {
///         Source::CheckedIn { reason } => Some(reason),
///         _ => None,
///     }
/// }
///
/// assert_eq!(refusal(&Source::CheckedIn { reason: "no plug-in".into() }), Some("no plug-in"));
/// assert_eq!(refusal(&Source::Compiled { fingerprint: "1f".into() }), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Source {
    /// The program was compiled in this build.
    Compiled {
        /// The [fingerprint](crate::Compiled::fingerprint).
        fingerprint: String,
    },
    /// The program was compiled in an earlier build, from the same program, options and plug-in.
    Cached {
        /// The [fingerprint](crate::Compiled::fingerprint).
        fingerprint: String,
    },
    /// The checked-in module is used, because the compiler could not be loaded.
    CheckedIn {
        /// Why it could not be loaded.
        reason: String,
    },
}

/// The module that a build has written.
///
/// ```
/// use xla_shape_pjrt::build::{Compile, Source};
///
/// # let folder = std::env::temp_dir().join(format!("xla-shape-build-output-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let [program, checked_in, output] = ["p.hlo", "old.hlo", "out.hlo"].map(|name| folder.join(name));
/// let text = "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }";
/// std::fs::write(&program, text)?;
/// std::fs::write(&checked_in, text)?;
/// let build = Compile::new(&program, "v5e:2x2").or_checked_in(&checked_in).plugin(folder.join("none.so"));
/// // SAFETY: the plug-in does not exist, so no code of it runs.
/// let written = unsafe { build.write_into(&output) }?;
/// assert!(matches!(written.source, Source::CheckedIn { .. }));
/// assert_eq!(std::fs::read_to_string(written.path)?, text);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    /// The file.
    pub path: PathBuf,
    /// Where the module comes from.
    pub source: Source,
    /// How the checked-in module differs from this one, or that it is missing; `None` if it is up to date, or if the build has no checked-in module.
    pub outdated: Option<String>,
}

/// Why a build could not write a module.
///
/// ```
/// use xla_shape_pjrt::build::{BuildError, Compile};
///
/// let build = Compile::new("there/is/none.mlir", "v5e:2x2");
/// // SAFETY: the program does not exist, so no plug-in is loaded.
/// let error = unsafe { build.write_into("out.hlo".as_ref()) }.unwrap_err();
/// assert!(matches!(error, BuildError::File { path, .. } if path.ends_with("none.mlir")));
/// ```
#[derive(Debug, DeriveError)]
#[non_exhaustive]
pub enum BuildError {
    /// The compiler was not found, it refused the program, or the program cannot be read.
    #[error("{program}: {error}", program = .program.display())]
    Compile {
        /// The program's file.
        program: PathBuf,
        /// The reason.
        error: Box<Error>,
    },
    /// A file cannot be read or written.
    #[error("`{path}`: {error}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

impl Compile {
    /// The program in a file, to be compiled for a slice of a TPU such as `v5e:2x2`. The path is relative to the folder of
    /// `Cargo.toml`.
    ///
    /// ```
    /// use xla_shape_pjrt::build::Compile;
    ///
    /// let program = Compile::new("program.mlir", "v5e:2x2");
    /// ```
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, target: &str) -> Self {
        let options = CompileOptions::new();
        Self { program: program.into(), target: target.to_owned(), checked_in: None, options, plugin: None }
    }

    /// The module to use if no compiler is found. The path is relative to the folder of `Cargo.toml`.
    ///
    /// ```
    /// # use xla_shape_pjrt::build::Compile;
    /// let program = Compile::new("program.mlir", "v5e:2x2").or_checked_in("hlo/program.hlo");
    /// ```
    #[must_use]
    pub fn or_checked_in(self, module: impl Into<PathBuf>) -> Self {
        Self { checked_in: Some(module.into()), ..self }
    }

    /// The options for compiling.
    ///
    /// ```
    /// # use xla_shape_pjrt::build::Compile;
    /// use xla_shape_pjrt::CompileOptions;
    ///
    /// let program = Compile::new("program.mlir", "v5e:2x2").options(CompileOptions::new().partitions(4));
    /// ```
    #[must_use]
    pub fn options(self, options: CompileOptions) -> Self {
        Self { options, ..self }
    }

    /// The plug-in's file, in place of the one that [`Plugin::find`] finds.
    ///
    /// ```
    /// # use xla_shape_pjrt::build::Compile;
    /// let program = Compile::new("program.mlir", "v5e:2x2").plugin("/opt/libtpu/libtpu.so");
    /// ```
    #[must_use]
    pub fn plugin(self, path: impl Into<PathBuf>) -> Self {
        Self { plugin: Some(path.into()), ..self }
    }

    /// Writes the optimized module's text to `$OUT_DIR/NAME`, where `hlo_types!` reads it, and prints the instructions for Cargo on
    /// when to run `build.rs` again.
    ///
    /// ```no_run
    /// # use xla_shape_pjrt::build::Compile;
    /// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
    /// unsafe { Compile::new("program.mlir", "v5e:2x2").write("program.hlo") };
    /// ```
    ///
    /// # Panics
    /// If the program cannot be compiled and there is no checked-in module, or a file cannot be written. The panic's message is the
    /// [`BuildError`]'s.
    ///
    /// # Safety
    /// The requirements of [`Plugin::find`] hold; or, if a [plug-in](Self::plugin) is given, those of [`Plugin::load`] for its file.
    pub unsafe fn write(&self, name: &str) {
        let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
        let plugin = self.find();
        for line in self.directives(&plugin, crate::find::packages()) {
            println!("{line}");
        }
        // SAFETY: the caller promises for the plug-in's file what `write_with` requires.
        let written = match unsafe { self.write_with(&folder.join(name), plugin) } {
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

    /// Writes the optimized module's text to any file, and prints nothing for Cargo.
    ///
    /// ```no_run
    /// use xla_shape_pjrt::build::{Compile, Source};
    ///
    /// let program = Compile::new("program.mlir", "v5e:2x2");
    /// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
    /// let output = unsafe { program.write_into("target/program.hlo".as_ref()) }?;
    /// assert!(matches!(output.source, Source::Compiled { .. } | Source::Cached { .. }));
    /// # Ok::<(), xla_shape_pjrt::build::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// If the compiler refuses the program, if there is neither a compiler nor a checked-in module, or if a file cannot be read
    /// or written.
    ///
    /// # Safety
    /// Same as [`write`](Self::write).
    pub unsafe fn write_into(&self, path: &Path) -> Result<Output, BuildError> {
        // SAFETY: the caller promises for the plug-in's file what `write_with` requires.
        unsafe { self.write_with(path, self.find()) }
    }

    /// The file of the plug-in.
    fn find(&self) -> Result<PathBuf, Error> {
        let kind = self.target.parse::<Target>().map_or_else(|_| Kind::default(), |target| Kind::of(&target));
        self.plugin.clone().map_or_else(|| crate::find::plugin(kind, None), Ok)
    }

    /// The lines for Cargo: the variables and files whose change runs `build.rs` again. If no plug-in is found, these include
    /// `packages`, the folders where one may be installed.
    fn directives(&self, plugin: &Result<PathBuf, Error>, packages: Vec<PathBuf>) -> Vec<String> {
        let watched = match plugin {
            Ok(path) | Err(Error::Load { path, .. }) => vec![path.clone()],
            Err(_) => packages,
        };
        let files = [Some(&self.program), self.checked_in.as_ref()].into_iter().flatten().chain(&watched);
        let variables = VARIABLES.iter().map(|variable| format!("cargo::rerun-if-env-changed={variable}"));
        variables.chain(files.map(|file| format!("cargo::rerun-if-changed={}", file.display()))).collect()
    }

    /// # Safety
    /// Like [`Plugin::load`], of the file that was found.
    unsafe fn write_with(&self, path: &Path, found: Result<PathBuf, Error>) -> Result<Output, BuildError> {
        let fail = |error: Error| BuildError::Compile { program: self.program.clone(), error: Box::new(error) };
        let bytes = read(&self.program)?;
        let program = Program::from_bytes(&bytes).map_err(fail)?;
        let target: Target = self.target.parse().map_err(|error| fail(Error::Target(error)))?;
        let key_file = with_ending(path, ".key");
        let key = found.as_ref().ok().map(|plugin| self.key(&program, &target, plugin));
        let cached = key.as_ref().and_then(|key| cached(path, &key_file, key));
        let source = if let Some(fingerprint) = cached {
            Source::Cached { fingerprint }
        } else {
            // SAFETY: the caller promises for the found file what `compile` requires.
            match found.and_then(|plugin| unsafe { self.compile(&plugin, &target, &program) }) {
                Ok((text, fingerprint)) => {
                    write(path, text.as_bytes())?;
                    write(&key_file, format!("{}\n{fingerprint}\n", key.unwrap_or_default()).as_bytes())?;
                    Source::Compiled { fingerprint }
                }
                Err(error) => {
                    // If the compiler refuses the program, that is an error even if there is a checked-in module.
                    let is_absent = matches!(
                        error,
                        Error::NotFound { .. } | Error::Load { .. } | Error::Locked { .. } | Error::TimedOut { .. }
                    );
                    let Some(checked_in) = self.checked_in.as_ref().filter(|_| is_absent) else {
                        return Err(fail(error));
                    };
                    write(path, &read(checked_in)?)?;
                    // The cached module has been overwritten, so its key is removed. There may have been no key.
                    let _ = fs::remove_file(&key_file);
                    return Ok(Output {
                        path: path.to_owned(),
                        source: Source::CheckedIn { reason: error.to_string() },
                        outdated: None,
                    });
                }
            }
        };
        let outdated = self.outdated(path)?;
        Ok(Output { path: path.to_owned(), source, outdated })
    }

    /// A hash of the program, the options, the slice and the plug-in's file.
    fn key(&self, program: &Program, target: &Target, plugin: &Path) -> String {
        let mut hasher = DefaultHasher::new();
        program.code().hash(&mut hasher);
        self.options.to_proto(program).hash(&mut hasher);
        target.hash(&mut hasher);
        plugin.hash(&mut hasher);
        if let Ok(data) = fs::metadata(plugin) {
            data.len().hash(&mut hasher);
            data.modified().ok().hash(&mut hasher);
        }
        // Another version of this crate may write another text for the same message.
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The text of the optimized module, and its fingerprint.
    ///
    /// # Safety
    /// Like [`Plugin::load`].
    unsafe fn compile(&self, plugin: &Path, target: &Target, program: &Program) -> Result<(String, String), Error> {
        // SAFETY: both functions have the same contract.
        let plugin = unsafe { Plugin::load(plugin) }?;
        let compiled = plugin.topology(target)?.compile(program, &self.options)?;
        let fingerprint = compiled.fingerprint().unwrap_or_default();
        Ok((compiled.module()?.to_string(), fingerprint))
    }

    /// How the checked-in module differs from the new one. If `XLA_SHAPE_UPDATE` is set, updates it instead.
    fn outdated(&self, path: &Path) -> Result<Option<String>, BuildError> {
        let Some(checked_in) = &self.checked_in else { return Ok(None) };
        let new = read(path)?;
        if env::var_os(UPDATE).is_some_and(|value| value != "0") {
            if read(checked_in).ok().as_ref() != Some(&new) {
                write(checked_in, &new)?;
            }
            return Ok(None);
        }
        let old = match read(checked_in) {
            Ok(old) => old,
            Err(BuildError::File { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                let file = checked_in.display();
                return Ok(Some(format!("{file}, for builds without a compiler, is missing; {UPDATE}=1 writes it")));
            }
            Err(error) => return Err(error),
        };
        Ok(difference(&old, &new).map(|difference| {
            let file = checked_in.display();
            format!("{file} is out of date; {UPDATE}=1 updates it:\n{difference}")
        }))
    }
}

/// Compiles the program in a file, such as `program.mlir`, in `build.rs`, with the default options of [`Compile`]: writes
/// `$OUT_DIR/program.hlo`, and uses `program.hlo` beside the program if no compiler is found.
///
/// ```no_run
/// // SAFETY: the plug-in is libtpu, as `pip install libtpu` brings it.
/// unsafe { xla_shape_pjrt::build::compile("program.mlir", "v5e:2x2") };
/// ```
///
/// # Panics
/// Same as [`Compile::write`].
///
/// # Safety
/// Same as [`Plugin::find`].
pub unsafe fn compile(program: impl AsRef<Path>, target: &str) {
    let module = program.as_ref().with_extension("hlo");
    let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = Compile::new(program.as_ref(), target).or_checked_in(module);
    // SAFETY: without a given plug-in, `write` requires what this function requires.
    unsafe { program.write(&name) };
}

/// The content of a regular file. A build must not wait for a pipe, or read an endless device such as `/dev/zero`.
fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    let read = || {
        let known = fs::metadata(path)?;
        if !known.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if known.len() > MAX_BYTES {
            return Err(io::Error::other(format!("it has {} bytes, and a module has less than 4 GiB", known.len())));
        }
        let mut bytes = Vec::new();
        fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| BuildError::File { path: path.to_owned(), error })
}

/// The path with `ending` appended to its name.
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
    // Renaming is atomic, so other processes never see an incomplete file.
    let new = with_ending(path, ".new");
    fs::write(&new, bytes).map_err(fail)?;
    fs::rename(&new, path).map_err(fail)
}

/// The fingerprint of the module that an earlier build has written, if that build had the same key.
fn cached(path: &Path, key_file: &Path, key: &str) -> Option<String> {
    let text = String::from_utf8(read(key_file).ok()?).ok()?;
    let (found, fingerprint) = text.split_once('\n')?;
    (found == key && path.is_file()).then(|| fingerprint.trim_end().to_owned())
}

/// The shapes of a module's parameters and of its result.
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
            // Writing to a `String` does not fail.
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
    use super::{Compile, VARIABLES, difference, read};
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
    #[cfg(unix)]
    fn only_regular_files_are_read() {
        let error = read("/dev/zero".as_ref()).unwrap_err().to_string();
        assert_eq!(error, "`/dev/zero`: it is not a regular file");
        let folder = std::env::temp_dir();
        assert_eq!(read(&folder).unwrap_err().to_string(), format!("`{}`: it is not a regular file", folder.display()));
    }

    #[test]
    fn changed_layouts_are_listed() {
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
