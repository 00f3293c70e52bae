//! Finds a plug-in's file.
//!
//! The file's code will run in this process, so the search is limited to places that the user has named or installs packages into. The current
//! directory may belong to somebody else: it is never searched, and no program is started in it.

use crate::error::{Error, Result};
use crate::target::Target;
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that names the file of any plug-in.
const ANY: &str = "PJRT_PLUGIN";
/// The environment variables that name the active Python environment.
const ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Where NVIDIA's Python packages have the program `ptxas`, for each version of CUDA.
const PTXAS: [&str; 2] = ["nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas"];
/// Where NVIDIA's installers put `ptxas`.
const SYSTEM_PTXAS: &str = "/usr/local/cuda/bin/ptxas";
/// Prints the folders of packages, one per line. The user's folder is first, as in Python; virtual environments do not use it.
const SCRIPT: &str = "\
import os, site, sys
user = sys.prefix == sys.base_prefix and not os.environ.get('PYTHONNOUSERSITE')
folders = [site.getusersitepackages()] * user + site.getsitepackages()
sys.stdout.buffer.write(b'\\n'.join(map(os.fsencode, folders)))";
/// The time limit for asking Python.
const PYTHON_TIMEOUT: Duration = Duration::from_secs(10);
/// The limit of what is read from Python.
const MAX_BYTES: u64 = 1 << 20;

/// The devices that a plug-in is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Kind {
    #[default]
    Tpu,
    /// GPUs. `last` is the last version of CUDA that compiles for them, if CUDA 13 does not.
    Cuda { last: Option<u32> },
}

impl Kind {
    pub(crate) fn of(target: &Target) -> Self {
        match target {
            Target::Tpu(_) => Self::Tpu,
            Target::Gpu(gpus) => Self::Cuda { last: gpus.gpu().and_then(|gpu| gpu.capability().last_cuda()) },
        }
    }

    /// The environment variables that name a plug-in's file.
    const fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Tpu => &[ANY, "TPU_LIBRARY_PATH"],
            Self::Cuda { .. } => &[ANY],
        }
    }

    /// The paths of plug-ins in a folder of packages, the preferred one first.
    const fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Tpu => &["libtpu/libtpu.so"],
            Self::Cuda { last: None } => {
                &["jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"]
            }
            Self::Cuda { last: Some(_) } => &["jax_plugins/xla_cuda12/xla_cuda_plugin.so"],
        }
    }

    /// Whether a file is known to be a plug-in for the other kind of devices. A program may be compiled for both kinds, but `PJRT_PLUGIN` names one
    /// file.
    fn is_of_other(self, file: &Path) -> bool {
        let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        match self {
            Self::Tpu => name.contains("cuda"),
            Self::Cuda { .. } => name.contains("libtpu"),
        }
    }
}

/// The file of the plug-in. `interpreter` is the Python that runs this program, if any.
pub(crate) fn plugin(kind: Kind, interpreter: Option<&Path>) -> Result<PathBuf> {
    find(kind, &variable, interpreter, &packages_of)
}

/// The program `ptxas`, with which a plug-in for GPUs compiles: on the `PATH`, in the packages beside the plug-in, or where NVIDIA's
/// installers put it, which is where the plug-in itself looks.
pub(crate) fn ptxas(plugin: &Path) -> Result<PathBuf> {
    // The plug-in is in a folder of `jax_plugins`.
    let packages = plugin.ancestors().nth(3).map(Path::to_owned);
    let beside = packages.iter().flat_map(|packages| PTXAS.map(|path| packages.join(path)));
    let path = variable("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("ptxas"));
    let mut places = on_path.chain(beside).chain([SYSTEM_PTXAS.into()]);
    let package = match plugin.components().any(|part| part.as_os_str() == "xla_cuda12") {
        true => "nvidia-cuda-nvcc-cu12",
        false => "nvidia-cuda-nvcc",
    };
    places.find(|place| place.is_file()).ok_or(Error::NoPtxas { package })
}

/// The option that names the folder with `bin/ptxas` for a plug-in for GPUs. Its own default is `./cuda_sdk_lib`, so it would run a program of the
/// current directory (`FindCudaExecutable` in `xla/stream_executor/cuda/subprocess_compilation.cc`). `None` if `ptxas` is not found, or if
/// `XLA_FLAGS` has the option already.
pub(crate) fn cuda_data(plugin: Option<&Path>) -> Option<(&'static str, String)> {
    const OPTION: &str = "xla_gpu_cuda_data_dir";
    if variable("XLA_FLAGS").is_some_and(|flags| flags.to_string_lossy().contains(OPTION)) {
        return None;
    }
    let found = ptxas(plugin?).ok()?;
    let folder = found.parent()?;
    // If the folder has another name, the plug-in finds no `ptxas` in a `bin` inside it, and then looks on the `PATH`, where `ptxas` is.
    let root = if folder.ends_with("bin") { folder.parent()? } else { folder };
    Some((OPTION, root.to_str()?.to_owned()))
}

/// The JAX package that contains a plug-in for GPUs, and its version, such as `jax_cuda13_pjrt 0.12.0.1`: found in the folder of installed
/// packages.
pub(crate) fn package(plugin: &Path) -> Option<String> {
    let mut folders = plugin.ancestors().skip(1);
    let name = folders.next()?.file_name()?.to_str()?.strip_prefix("xla_")?;
    let package = format!("jax_{name}_pjrt");
    let versions = folders.nth(1)?.read_dir().ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut versions = versions.filter_map(|entry| {
        Some(entry.strip_prefix(&package)?.strip_prefix('-')?.strip_suffix(".dist-info")?.to_owned())
    });
    Some(format!("{package} {}", versions.next()?))
}

/// The folders of packages in the active environments. They change when something is installed.
pub(crate) fn packages() -> Vec<PathBuf> {
    let environments = ENVIRONMENTS.iter().filter_map(|name| variable(name)).map(PathBuf::from);
    environments.filter(|environment| environment.is_absolute()).flat_map(|folder| packages_in(&folder)).collect()
}

/// An environment variable; `None` if it is empty.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The folders of packages in one environment, the newest version of Python last.
fn packages_in(environment: &Path) -> Vec<PathBuf> {
    let versions = environment.join("lib").read_dir().into_iter().flatten().flatten();
    let mut packages = versions.map(|version| version.path().join("site-packages")).collect::<Vec<_>>();
    packages.retain(|packages| packages.is_dir());
    // `python3.9` is older than `python3.12`.
    packages.sort_unstable_by_key(|packages| (packages.as_os_str().len(), packages.clone()));
    packages
}

/// The first plug-in in the order of `docs/pjrt.md`. `variable` returns an environment variable, and `packages` the folders of
/// packages of a Python interpreter.
fn find(
    kind: Kind,
    variable: &dyn Fn(&str) -> Option<OsString>,
    interpreter: Option<&Path>,
    packages: &dyn Fn(&Path) -> Vec<PathBuf>,
) -> Result<PathBuf> {
    let mut looked = Vec::new();
    for &name in kind.variables() {
        if let Some(path) = variable(name).map(PathBuf::from) {
            if kind.is_of_other(&path) {
                looked.push(format!("{name} (a plug-in for other devices)"));
                continue;
            }
            let wrong = match (path.is_absolute(), path.is_file()) {
                (true, true) => return Ok(path),
                (true, false) => "there is no such file",
                // The current directory can change while the variable stays the same.
                (false, _) => "a relative path means another file in each directory: write the absolute path",
            };
            return Err(Error::Load { path, reason: format!("{name} names it, but {wrong}") });
        }
        looked.push(format!("{name} (not set)"));
    }
    let ask = |python: &Path| found_in(kind, packages(python));
    if let Some(python) = interpreter {
        if let Some(path) = ask(python) {
            return Ok(path);
        }
        looked.push(format!("the packages of {}", python.display()));
    }
    for name in ENVIRONMENTS {
        let Some(environment) = variable(name).map(PathBuf::from) else { continue };
        if !environment.is_absolute() {
            looked.push(format!("{name} (not used, since `{}` is not an absolute path)", environment.display()));
            continue;
        }
        // The newest version of Python first.
        if let Some(path) = found_in(kind, packages_in(&environment).into_iter().rev()) {
            return Ok(path);
        }
        looked.push(format!("{name} ({})", environment.display()));
    }
    match python_on(variable("PATH")) {
        Some(python) => {
            if let Some(path) = ask(&python) {
                return Ok(path);
            }
            looked.push(format!("the packages of {}", python.display()));
        }
        None => looked.push("python3 (not found)".to_owned()),
    }
    Err(match kind {
        Kind::Tpu => Error::NotFound { looked },
        Kind::Cuda { last } => Error::NoCuda { looked, version: last.unwrap_or(13) },
    })
}

/// The path of a plug-in in the first of these folders that contains one.
fn found_in(kind: Kind, packages: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let paths = |packages: PathBuf| kind.paths().iter().map(move |path| packages.join(path));
    packages.into_iter().flat_map(paths).find(|path| path.is_absolute() && path.is_file())
}

/// The first `python3` in the absolute folders of `path`: relative ones depend on the current directory.
fn python_on(path: Option<OsString>) -> Option<PathBuf> {
    let name = format!("python3{EXE_SUFFIX}");
    let path = path?;
    let mut places = env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
    places.find(|place| place.is_file())
}

/// The folders of packages of a Python interpreter.
///
/// It runs isolated (`-I`): it imports nothing from the current directory, `PYTHONPATH` or the user's packages. It is started in the
/// root directory, because `python3` may be a script that reads settings from the current one, as the scripts of pyenv and asdf do.
fn packages_of(python: &Path) -> Vec<PathBuf> {
    let command = Command::new(python)
        .args(["-I", "-c", SCRIPT])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let answer = command.ok().and_then(|mut python| {
        let begin = Instant::now();
        while python.try_wait().ok()?.is_none() {
            if begin.elapsed() > PYTHON_TIMEOUT {
                // Fails if Python has ended meanwhile.
                let _ = python.kill();
                let _ = python.wait();
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let mut folders = String::new();
        python.stdout.take()?.take(MAX_BYTES).read_to_string(&mut folders).ok()?;
        Some(folders)
    });
    answer.unwrap_or_default().lines().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, cuda_data, find, package, packages_in, packages_of, python_on};
    use std::ffi::OsString;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// A folder of its own for each test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xla-shape-pjrt-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn library(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join("libtpu.so");
        fs::write(&path, "").unwrap();
        path
    }

    /// Wherever `ptxas` is found, its folder is absolute, so a plug-in for GPUs never looks in the current directory.
    #[test]
    fn the_folder_of_ptxas_is_absolute() {
        let folder = folder("ptxas");
        let plugin = folder.join("jax_plugins/xla_cuda13/xla_cuda_plugin.so");
        let ptxas = folder.join("nvidia/cu13/bin/ptxas");
        fs::create_dir_all(ptxas.parent().unwrap()).unwrap();
        fs::write(&ptxas, "").unwrap();
        let (name, root) = cuda_data(Some(&plugin)).unwrap();
        // On this machine, the `PATH` may have another one.
        let expected = [Path::new(&root).join("bin/ptxas"), Path::new(&root).join("ptxas")];
        assert_eq!((name, Path::new(&root).is_absolute()), ("xla_gpu_cuda_data_dir", true));
        assert!(expected.iter().any(|ptxas| ptxas.is_file()), "{root}");
        assert_eq!(cuda_data(None), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_plug_in_for_gpus_has_a_package_with_a_version() {
        let folder = folder("package");
        let plugin = folder.join("jax_plugins/xla_cuda13/xla_cuda_plugin.so");
        assert_eq!(package(&plugin), None);
        for name in
            ["jax_cuda13_plugin-0.1.dist-info", "jax_cuda13_pjrt-0.12.0.1.dist-info", "jax_cuda12_pjrt-0.3.dist-info"]
        {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        assert_eq!(package(&plugin).as_deref(), Some("jax_cuda13_pjrt 0.12.0.1"));
        assert_eq!(package(&folder.join("libtpu.so")), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn variables_come_first_then_environments_then_python() {
        let folder = folder("order");
        let named = library(&folder.join("named"));
        let active = library(&folder.join("venv/lib/python3.12/site-packages/libtpu"));
        let old = library(&folder.join("venv/lib/python3.10/site-packages/libtpu"));
        let packaged = library(&folder.join("packages/libtpu"));
        let python = |_: &Path| vec![folder.join("none"), folder.join("packages")];
        let nothing = |_: &Path| Vec::new();
        let set = |names: &'static [&'static str]| {
            let (named, venv, bin) = (named.clone(), folder.join("venv"), folder.join("bin"));
            move |name: &str| -> Option<OsString> {
                let path = match name {
                    "PATH" => &bin,
                    "VIRTUAL_ENV" | "CONDA_PREFIX" => &venv,
                    _ => &named,
                };
                names.contains(&name).then(|| path.into())
            }
        };
        fs::create_dir(folder.join("bin")).unwrap();
        fs::write(folder.join(format!("bin/python3{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
        let running = Some(Path::new("running"));
        assert_eq!(find(Kind::Tpu, &set(&["PJRT_PLUGIN", "VIRTUAL_ENV"]), running, &python).unwrap(), named);
        assert_eq!(find(Kind::Tpu, &set(&["TPU_LIBRARY_PATH"]), None, &python).unwrap(), named);
        assert_eq!(find(Kind::Tpu, &set(&["VIRTUAL_ENV"]), running, &python).unwrap(), packaged);
        assert_eq!(find(Kind::Tpu, &set(&["VIRTUAL_ENV"]), running, &nothing).unwrap(), active);
        assert_eq!(find(Kind::Tpu, &set(&["VIRTUAL_ENV", "PATH"]), None, &python).unwrap(), active);
        assert_eq!(find(Kind::Tpu, &set(&["CONDA_PREFIX"]), None, &nothing).unwrap(), active);
        assert_eq!(find(Kind::Tpu, &set(&["PATH"]), None, &python).unwrap(), packaged);
        assert!(find(Kind::Tpu, &set(&[]), None, &python).is_err());
        fs::remove_file(&active).unwrap();
        assert_eq!(find(Kind::Tpu, &set(&["VIRTUAL_ENV"]), None, &nothing).unwrap(), old);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_list_the_places_searched_and_help() {
        let folder = folder("missing");
        let venv = folder.clone();
        let only_venv = move |name: &str| (name == "VIRTUAL_ENV").then(|| venv.clone().into_os_string());
        let running = Some(Path::new("running"));
        let error = find(Kind::Tpu, &only_venv, running, &|_| Vec::new()).unwrap_err().to_string();
        let looked = "PJRT_PLUGIN (not set), TPU_LIBRARY_PATH (not set), the packages of running, VIRTUAL_ENV (";
        assert!(error.starts_with(&format!("found no PJRT plug-in; looked at {looked}")), "{error}");
        assert!(error.contains("pip install libtpu"), "{error}");
        assert!(error.contains("), python3 (not found)\n"), "{error}");
        let missing = folder.join("no.so");
        let named = |name: &str| (name == "PJRT_PLUGIN").then(|| missing.clone().into_os_string());
        let error = find(Kind::Tpu, &named, None, &|_| Vec::new()).unwrap_err().to_string();
        let reason = "PJRT_PLUGIN names it, but there is no such file";
        assert_eq!(error, format!("cannot load the plug-in `{}`: {reason}", missing.display()));
        fs::remove_dir_all(folder).unwrap();
    }

    /// A relative path depends on the current directory, which may belong to somebody else. In tests, it is the crate's folder.
    #[test]
    fn relative_paths_are_not_followed() {
        assert!(Path::new("Cargo.toml").is_file());
        let set = |wanted: &'static str, value: &'static str| move |name: &str| (name == wanted).then(|| value.into());
        let here = |_: &Path| vec![PathBuf::from("."), PathBuf::new()];
        for name in ["PJRT_PLUGIN", "TPU_LIBRARY_PATH"] {
            let error = find(Kind::Tpu, &set(name, "Cargo.toml"), None, &here).unwrap_err().to_string();
            let start = format!("cannot load the plug-in `Cargo.toml`: {name} names it, but a relative path");
            assert!(error.starts_with(&start), "{error}");
        }
        let error =
            find(Kind::Tpu, &set("VIRTUAL_ENV", "."), Some(Path::new("running")), &here).unwrap_err().to_string();
        assert!(error.contains("VIRTUAL_ENV (not used, since `.` is not an absolute path)"), "{error}");
        let folder = folder("path");
        let python = folder.join(format!("python3{}", std::env::consts::EXE_SUFFIX));
        fs::write(&python, "").unwrap();
        let path = std::env::join_paths([Path::new(""), Path::new("."), Path::new("src"), &folder]).unwrap();
        assert_eq!(python_on(Some(path)).unwrap(), python);
        assert_eq!(python_on(Some("".into())), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_newest_python_of_an_environment_counts() {
        let folder = folder("newest");
        for version in ["3.12", "3.9", "3.10"] {
            fs::create_dir_all(folder.join(format!("lib/python{version}/site-packages"))).unwrap();
        }
        assert!(packages_in(&folder).last().unwrap().ends_with("python3.12/site-packages"));
        fs::remove_dir_all(folder).unwrap();
    }

    /// A script in place of Python prints how it was started.
    #[test]
    #[cfg(unix)]
    fn python_is_started_isolated_and_not_here() {
        use std::os::unix::fs::PermissionsExt;

        let folder = folder("script");
        let python = folder.join("python3");
        fs::write(&python, "#!/bin/sh\npwd; printf '%s %s' \"$1\" \"$2\"\n").unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        // A process that another test has just forked may hold the script open for writing; then it cannot be run yet.
        let answers = (0..100).map(|_| packages_of(&python)).find(|answer| !answer.is_empty());
        assert_eq!(answers.unwrap(), [Path::new("/"), Path::new("-I -c")]);
        fs::remove_dir_all(folder).unwrap();
    }
}
