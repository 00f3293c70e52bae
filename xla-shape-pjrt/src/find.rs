//! Where a plug-in may be.

use crate::error::{Error, Result};
use std::env;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The variables that name a plug-in's file.
const FILES: [&str; 2] = ["PJRT_PLUGIN", "TPU_LIBRARY_PATH"];
/// The variables that name an active Python environment.
const ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];
/// Prints the folder of the package, if it is installed.
const SCRIPT: &str =
    "import importlib.util as u; s = u.find_spec('libtpu'); print(s.submodule_search_locations[0] if s else '')";
/// How long Python may take to say it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file of a plug-in.
pub(crate) fn plugin() -> Result<PathBuf> {
    find(&|name| env::var_os(name).filter(|value| !value.is_empty()), &ask_python)
}

/// The folders of packages in the active environments, which change where something is installed.
pub(crate) fn packages() -> Vec<PathBuf> {
    let environments = ENVIRONMENTS.iter().filter_map(env::var_os).filter(|value| !value.is_empty());
    environments.flat_map(|environment| packages_in(Path::new(&environment))).collect()
}

/// Those of one environment, the newest version of Python last.
fn packages_in(environment: &Path) -> Vec<PathBuf> {
    let versions = environment.join("lib").read_dir().into_iter().flatten().flatten();
    let mut packages = versions.map(|version| version.path().join("site-packages")).collect::<Vec<_>>();
    packages.retain(|packages| packages.is_dir());
    packages.sort_unstable();
    packages
}

fn find(variable: &dyn Fn(&str) -> Option<OsString>, python: &dyn Fn() -> Option<PathBuf>) -> Result<PathBuf> {
    let mut looked = Vec::new();
    for name in FILES {
        if let Some(path) = variable(name).map(PathBuf::from) {
            if path.is_file() {
                return Ok(path);
            }
            return Err(Error::Load { path, reason: format!("{name} names it, but there is no such file") });
        }
        looked.push(format!("{name} (not set)"));
    }
    for name in ENVIRONMENTS {
        let Some(environment) = variable(name).map(PathBuf::from) else { continue };
        if let Some(path) = in_environment(&environment) {
            return Ok(path);
        }
        looked.push(format!("{name} ({})", environment.display()));
    }
    match python().map(|package| package.join("libtpu.so")) {
        Some(path) if path.is_file() => return Ok(path),
        _ => looked.push("the packages of python3".to_owned()),
    }
    Err(Error::NotFound { looked })
}

/// libtpu in a Python environment, whatever version of Python it has.
fn in_environment(environment: &Path) -> Option<PathBuf> {
    let packages = packages_in(environment);
    let mut places = packages.iter().map(|packages| packages.join("libtpu/libtpu.so"));
    places.rfind(|place| place.is_file())
}

/// The folder of the package in the Python that a shell would start.
fn ask_python() -> Option<PathBuf> {
    let command = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut python = command.ok()?;
    let begin = Instant::now();
    while python.try_wait().ok()?.is_none() {
        if begin.elapsed() > PATIENCE {
            // It may have ended meanwhile.
            let _ = python.kill();
            let _ = python.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let mut folder = String::new();
    python.stdout.take()?.read_to_string(&mut folder).ok()?;
    let folder = folder.trim();
    (!folder.is_empty()).then(|| folder.into())
}

#[cfg(test)]
mod tests {
    use super::find;
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
        let python = || Some(folder.join("packages/libtpu"));
        let set = |names: &'static [&'static str]| {
            let (named, venv) = (named.clone(), folder.join("venv"));
            move |name: &str| -> Option<OsString> {
                let path = if name.ends_with("_ENV") || name.ends_with("_PREFIX") { &venv } else { &named };
                names.contains(&name).then(|| path.into())
            }
        };
        assert_eq!(find(&set(&["PJRT_PLUGIN", "VIRTUAL_ENV"]), &python).unwrap(), named);
        assert_eq!(find(&set(&["TPU_LIBRARY_PATH"]), &python).unwrap(), named);
        assert_eq!(find(&set(&["VIRTUAL_ENV"]), &python).unwrap(), active);
        assert_eq!(find(&set(&["CONDA_PREFIX"]), &python).unwrap(), active);
        assert_eq!(find(&set(&[]), &python).unwrap(), packaged);
        fs::remove_file(&active).unwrap();
        assert_eq!(find(&set(&["VIRTUAL_ENV"]), &python).unwrap(), old);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_missing_is_said_with_help() {
        let folder = folder("missing");
        let venv = folder.clone();
        let only_venv = move |name: &str| (name == "VIRTUAL_ENV").then(|| venv.clone().into_os_string());
        let error = find(&only_venv, &|| None).unwrap_err().to_string();
        let looked = "PJRT_PLUGIN (not set), TPU_LIBRARY_PATH (not set), VIRTUAL_ENV";
        assert!(error.starts_with(&format!("found no PJRT plug-in; looked at {looked}")), "{error}");
        assert!(error.contains("pip install libtpu"), "{error}");
        let missing = |name: &str| (name == "PJRT_PLUGIN").then(|| "no/such.so".into());
        let error = find(&missing, &|| None).unwrap_err().to_string();
        let reason = "PJRT_PLUGIN names it, but there is no such file";
        assert_eq!(error, format!("cannot load the plug-in `no/such.so`: {reason}"));
        fs::remove_dir_all(folder).unwrap();
    }
}
