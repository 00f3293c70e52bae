//! The HLO file that a request names.

use super::request::Quoted;
use crate::cursor::Error;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use xla_shape_core::ParseError;
use xla_shape_hlo::{Module, utf8};

/// The absolute path and the contents of a file.
pub(super) struct File {
    /// For `include_bytes!`, which makes Cargo rebuild the crate when the file changes.
    pub(super) absolute: String,
    bytes: Vec<u8>,
}

impl File {
    /// Reads the file. The path is relative to the directory of the compiled crate's `Cargo.toml`, or begins with
    /// `$OUT_DIR/`, the output directory of its build script.
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
        let bytes = contents(&place).map_err(|cause| {
            error(match cause.kind() {
                ErrorKind::NotFound => {
                    let begin = match variable {
                        "OUT_DIR" => "the build script has not written it",
                        _ => "paths begin at the directory of `Cargo.toml`",
                    };
                    format!("there is no file `{shown}`; {begin}{}", near(&file_name(&place), &neighbours(&place)))
                }
                kind => {
                    let why = cause.get_ref().map_or_else(|| kind.to_string(), ToString::to_string);
                    format!("the file `{shown}` cannot be read: {why}")
                }
            })
        })?;
        let absolute = std::path::absolute(&place).ok().and_then(|place| place.to_str().map(str::to_owned));
        let absolute = absolute.ok_or_else(|| error(format!("the path of the file `{shown}` is not UTF-8")))?;
        Ok(Self { absolute, bytes })
    }

    /// Parses the file; an error has the line and the column.
    pub(super) fn module(&self, path: &Quoted) -> Result<Module, Error> {
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

/// The largest file that is read, in bytes. Each process that expands the macro (`rustc`, and the editor) reads the file, and needs three times as
/// much memory as the file has bytes.
const MAX_BYTES: u64 = 512 << 20;

/// The contents of a regular file. Other files are refused, because a device may be endless and a pipe may block the
/// compiler or the editor.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let known = fs::metadata(path)?;
    if known.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !known.is_file() {
        return Err(io::Error::other("it is a pipe or a device, not a regular file"));
    }
    if known.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it has {} bytes, and `hlo_types!` reads at most 512 MiB", known.len())));
    }
    let mut bytes = Vec::new();
    // The file may have grown since, and some file systems report no lengths, so the read is limited too.
    fs::File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `path:line:column: message`
fn located(path: &str, error: &ParseError, text: &str) -> String {
    let (line, column) = error.line_column(text);
    format!("{path}:{line}:{column}: {error}")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names of the files in the directory of a path.
fn neighbours(path: &Path) -> Vec<String> {
    let entries = path.parent().and_then(|directory| fs::read_dir(directory).ok()).into_iter().flatten();
    let mut names: Vec<_> = entries.flatten().map(|entry| file_name(&entry.path())).collect();
    names.sort_unstable();
    names
}

/// The names most similar to one that was not found, as the end of a message.
pub(super) fn near(wanted: &str, names: &[impl AsRef<str>]) -> String {
    const MAX_NAMES: usize = 3;
    let mut alike: Vec<(usize, &str)> = names
        .iter()
        .map(|name| (common(wanted, name.as_ref()), name.as_ref()))
        // More than half of the longer name must be in common.
        .filter(|(common, name)| 2 * common > wanted.len().max(name.len()))
        .collect();
    // Names with more bytes in common come first; among equals, the shorter name.
    alike.sort_by_key(|(common, name)| (std::cmp::Reverse(*common), name.len()));
    alike.dedup();
    let alike: Vec<String> = alike.iter().take(MAX_NAMES).map(|(_, name)| format!("`{name}`")).collect();
    if alike.is_empty() { String::new() } else { format!("; similar: {}", alike.join(", ")) }
}

/// The number of bytes in common at the beginning and at the end, without counting a byte twice.
fn common(a: &str, b: &str) -> usize {
    let shorter = a.len().min(b.len());
    let same = |(a, b): &(u8, u8)| a == b;
    let before = a.bytes().zip(b.bytes()).take_while(same).count();
    let after = a.bytes().rev().zip(b.bytes().rev()).take_while(same).count();
    shorter.min(before + after)
}

#[cfg(test)]
mod tests {
    use super::{contents, near};
    use std::fs;
    use std::path::Path;

    #[test]
    #[cfg(unix)]
    fn only_regular_files_are_read() {
        let refused = |path: &Path| contents(path).unwrap_err().to_string();
        let no_file = "it is a pipe or a device, not a regular file";
        // Reading `/dev/zero` would not end; opening a pipe that nobody writes to would block.
        assert_eq!(refused(Path::new("/dev/zero")), no_file);
        let folder = std::env::temp_dir().join(format!("xla-shape-macros-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(refused(&pipe), no_file);
        std::os::unix::fs::symlink(&pipe, folder.join("link")).unwrap();
        assert_eq!(refused(&folder.join("link")), no_file);
        // A large file takes no memory before it is refused.
        let large = folder.join("large");
        fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(refused(&large), "it has 1099511627776 bytes, and `hlo_types!` reads at most 512 MiB");
        fs::File::create(&large).unwrap().set_len(super::MAX_BYTES + 1).unwrap();
        assert!(contents(&large).is_err());
        fs::write(&large, "HloModule m").unwrap();
        assert_eq!(contents(&large).unwrap(), b"HloModule m");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_that_look_alike() {
        let names = ["convolution.3", "convolution.31", "copy.3", "fusion.3", "fusion.12"];
        assert_eq!(near("convolution.33", &names), "; similar: `convolution.3`, `convolution.31`");
        assert_eq!(near("fusoin.12", &names), "; similar: `fusion.12`");
        assert_eq!(near("tanh", &names), "");
        assert_eq!(near("", &names), "");
    }
}
