//! Finds a plug-in's file.
//!
//! The file's code will run in this process, so only places are searched that the user has named or installs packages into. The
//! current directory may belong to somebody else: it is never searched, and no program is started in it.

use crate::error::{Error, Result};
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variables that name a plug-in's file.
const FILES: [&str; 2] = ["PJRT_PLUGIN", "TPU_LIBRARY_PATH"];
/// The environment variables that name the active Python environment.
const ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// The path of libtpu in a folder of packages.
const LIBTPU: &str = "libtpu/libtpu.so";
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

/// The file of the plug-in. `interpreter` is the Python that runs this program, if any.
pub(crate) fn plugin(interpreter: Option<&Path>) -> Result<PathBuf> {
    find(&variable, interpreter, &packages_of)
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
    variable: &dyn Fn(&str) -> Option<OsString>,
    interpreter: Option<&Path>,
    packages: &dyn Fn(&Path) -> Vec<PathBuf>,
) -> Result<PathBuf> {
    let mut looked = Vec::new();
    for name in FILES {
        if let Some(path) = variable(name).map(PathBuf::from) {
            let wrong = match (path.is_absolute(), path.is_file()) {
                (true, true) => return Ok(path),
                (true, false) => "there is no such file",
                // The variable keeps its value when the current directory changes.
                (false, _) => "a relative path means another file in each directory: write the absolute path",
            };
            return Err(Error::Load { path, reason: format!("{name} names it, but {wrong}") });
        }
        looked.push(format!("{name} (not set)"));
    }
    let ask = |python: &Path| libtpu_in(packages(python));
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
        if let Some(path) = libtpu_in(packages_in(&environment).into_iter().rev()) {
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
    Err(Error::NotFound { looked })
}

/// The path of libtpu in the first of these folders that contains it.
fn libtpu_in(packages: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    packages.into_iter().map(|packages| packages.join(LIBTPU)).find(|path| path.is_absolute() && path.is_file())
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
/// root directory, because `python3` may be a script that reads settings from the current one, as those of pyenv and asdf do.
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
    use super::{find, packages_in, packages_of, python_on};
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
        assert_eq!(find(&set(&["PJRT_PLUGIN", "VIRTUAL_ENV"]), running, &python).unwrap(), named);
        assert_eq!(find(&set(&["TPU_LIBRARY_PATH"]), None, &python).unwrap(), named);
        assert_eq!(find(&set(&["VIRTUAL_ENV"]), running, &python).unwrap(), packaged);
        assert_eq!(find(&set(&["VIRTUAL_ENV"]), running, &nothing).unwrap(), active);
        assert_eq!(find(&set(&["VIRTUAL_ENV", "PATH"]), None, &python).unwrap(), active);
        assert_eq!(find(&set(&["CONDA_PREFIX"]), None, &nothing).unwrap(), active);
        assert_eq!(find(&set(&["PATH"]), None, &python).unwrap(), packaged);
        assert!(find(&set(&[]), None, &python).is_err());
        fs::remove_file(&active).unwrap();
        assert_eq!(find(&set(&["VIRTUAL_ENV"]), None, &nothing).unwrap(), old);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_list_the_places_searched_and_help() {
        let folder = folder("missing");
        let venv = folder.clone();
        let only_venv = move |name: &str| (name == "VIRTUAL_ENV").then(|| venv.clone().into_os_string());
        let running = Some(Path::new("running"));
        let error = find(&only_venv, running, &|_| Vec::new()).unwrap_err().to_string();
        let looked = "PJRT_PLUGIN (not set), TPU_LIBRARY_PATH (not set), the packages of running, VIRTUAL_ENV (";
        assert!(error.starts_with(&format!("found no PJRT plug-in; looked at {looked}")), "{error}");
        assert!(error.contains("pip install libtpu"), "{error}");
        assert!(error.contains("), python3 (not found)\n"), "{error}");
        let missing = folder.join("no.so");
        let named = |name: &str| (name == "PJRT_PLUGIN").then(|| missing.clone().into_os_string());
        let error = find(&named, None, &|_| Vec::new()).unwrap_err().to_string();
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
            let error = find(&set(name, "Cargo.toml"), None, &here).unwrap_err().to_string();
            let start = format!("cannot load the plug-in `Cargo.toml`: {name} names it, but a relative path");
            assert!(error.starts_with(&start), "{error}");
        }
        let error = find(&set("VIRTUAL_ENV", "."), Some(Path::new("running")), &here).unwrap_err().to_string();
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
