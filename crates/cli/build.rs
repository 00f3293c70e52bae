//! Lists the files of the explorer in `site`, for the program to carry. `scripts/web.sh embed` puts them there; without them the program is built, too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=site");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("site");
    let mut files = Vec::new();
    if env::var_os("CARGO_FEATURE_SERVE").is_some() && root.is_dir() {
        find(&root, "", &mut files)?;
    }
    files.sort();
    let mut list = String::from("&[\n");
    for name in files {
        println!("cargo::rerun-if-changed=site/{name}");
        let path = root.join(&name);
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("site.rs"), list)
}

/// The files in a directory, as paths below `site` with `/`. Names with a dot at the front are not of the site.
fn find(folder: &Path, path: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|_| io::Error::other("a file name is not UTF-8"))?;
        if name.starts_with('.') {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => find(&entry.path(), &format!("{path}{name}/"), files)?,
            false => files.push(format!("{path}{name}")),
        }
    }
    Ok(())
}
