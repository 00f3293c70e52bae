//! The HLO file that a request names.

use super::request::{Error, Quoted};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use xla_shape_core::ParseError;
use xla_shape_hlo::{Module, utf8};

/// A file's place and contents.
pub(super) struct File {
    /// For `include_bytes!`, which has the compiler run again when the file has changed.
    pub(super) absolute: String,
    bytes: Vec<u8>,
}

impl File {
    /// Reads the file at a path that begins at the directory of the `Cargo.toml` of the crate that is compiled, or with
    /// `$OUT_DIR/`, where its build script writes.
    pub(super) fn read(path: &Quoted) -> Result<Self, Error> {
        let error = |message| Error::new(message, path.span);
        let shown = &path.value;
        let (variable, rest) = match shown.strip_prefix("$OUT_DIR/") {
            Some(rest) => ("OUT_DIR", rest),
            None => ("CARGO_MANIFEST_DIR", shown.as_str()),
        };
        let folder = std::env::var_os(variable).map(PathBuf::from);
        if folder.is_none() && variable == "OUT_DIR" {
            return Err(error(format!("`{shown}`: only a crate with a build script has `OUT_DIR`")));
        }
        let place = folder.unwrap_or_default().join(rest);
        let bytes = fs::read(&place).map_err(|cause| {
            error(match cause.kind() {
                ErrorKind::NotFound => {
                    let begin = match variable {
                        "OUT_DIR" => "the build script has not written it",
                        _ => "paths begin at the directory of `Cargo.toml`",
                    };
                    format!("there is no file `{shown}`; {begin}{}", near(&file_name(&place), &neighbours(&place)))
                }
                kind => format!("the file `{shown}` cannot be read: {kind}"),
            })
        })?;
        let absolute = std::path::absolute(&place).ok().and_then(|place| place.to_str().map(str::to_owned));
        let absolute = absolute.ok_or_else(|| error(format!("the path of the file `{shown}` is not UTF-8")))?;
        Ok(Self { absolute, bytes })
    }

    /// What the file says, or what is wrong with it, and where.
    pub(super) fn module(&self, path: &Quoted) -> Result<Module<'_>, Error> {
        let text = utf8(&self.bytes).map_err(|error| {
            let valid = self.bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            Error::new(located(&path.value, &error, valid), path.span)
        })?;
        Module::parse(text).map_err(|error| {
            let shown = error.render(text).to_string();
            let (_, lines) = shown.split_once('\n').unwrap_or_default();
            Error::new(format!("{}\n{lines}", located(&path.value, &error, text)), path.span)
        })
    }
}

/// `path:line:column: what is wrong`
fn located(path: &str, error: &ParseError, text: &str) -> String {
    let (line, column) = error.line_column(text);
    format!("{path}:{line}:{column}: {error}")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names in the directory that a file should be in.
fn neighbours(path: &Path) -> Vec<String> {
    let entries = path.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten();
    let mut names: Vec<_> = entries.flatten().map(|entry| file_name(&entry.path())).collect();
    names.sort_unstable();
    names
}

/// Those of some names that look most like the one that is not there, as the end of a message.
pub(super) fn near(wanted: &str, names: &[impl AsRef<str>]) -> String {
    const MOST: usize = 3;
    let mut alike: Vec<(usize, &str)> = names
        .iter()
        .map(|name| (common(wanted, name.as_ref()), name.as_ref()))
        // More than half of either must be the same.
        .filter(|(common, name)| 2 * common > wanted.len().max(name.len()))
        .collect();
    // The shortest of those with the longest common parts is the nearest.
    alike.sort_by_key(|(common, name)| (std::cmp::Reverse(*common), name.len()));
    alike.dedup();
    let alike: Vec<String> = alike.iter().take(MOST).map(|(_, name)| format!("`{name}`")).collect();
    if alike.is_empty() { String::new() } else { format!("; similar: {}", alike.join(", ")) }
}

/// How many bytes at the beginning and at the end are the same, none of them twice.
fn common(a: &str, b: &str) -> usize {
    let shorter = a.len().min(b.len());
    let same = |(a, b): &(u8, u8)| a == b;
    let before = a.bytes().zip(b.bytes()).take_while(same).count();
    let behind = a.bytes().rev().zip(b.bytes().rev()).take_while(same).count();
    shorter.min(before + behind)
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn names_that_look_alike() {
        let names = ["convolution.3", "convolution.31", "copy.3", "fusion.3", "fusion.12"];
        assert_eq!(near("convolution.33", &names), "; similar: `convolution.3`, `convolution.31`");
        assert_eq!(near("fusoin.12", &names), "; similar: `fusion.12`");
        assert_eq!(near("tanh", &names), "");
        assert_eq!(near("", &names), "");
    }
}
