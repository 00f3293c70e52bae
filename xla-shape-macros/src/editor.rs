//! Support for editors, which call the procedural macros without the path of the library.
//!
//! An editor can explain, complete and rename a name inside `shape!`. rust-analyzer does that only if the macro that the user writes makes the type
//! itself: in the signature of an item, it does not look into a macro that another macro calls. So with `cfg(rust_analyzer)`, the `macro_rules!`
//! macros of `xla-shape`, which pass `$crate`, are left out, and users call these procedural macros directly. In a compilation, users call the
//! `macro_rules!` macros.

use proc_macro::TokenStream;
use std::fs;
use std::path::{Path, PathBuf};

/// The path of the library in the crate that the editor shows: `::xla_shape`, or the name that its manifest gives to the dependency.
pub(crate) fn library() -> TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let name = folder.ancestors().find_map(|folder| name_in(&folder.join("Cargo.toml")));
    format!("::{}", name.as_deref().unwrap_or("xla_shape")).parse().unwrap_or_default()
}

/// The name of `xla-shape` in a manifest, as Rust writes it; `None` if the manifest gives no name, as with `other.workspace = true`.
fn name_in(manifest: &Path) -> Option<String> {
    const MAX_BYTES: u64 = 1 << 20;
    // Only a manifest is read.
    fs::metadata(manifest).ok().filter(|known| known.is_file() && known.len() <= MAX_BYTES)?;
    name_of_library(&fs::read_to_string(manifest).ok()?)
}

/// The same for the text of a manifest. It need not be parsed as TOML, because a dependency with another name has `package = "xla-shape"` on its
/// line, or in its table.
fn name_of_library(manifest: &str) -> Option<String> {
    let mut table = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            table = name.rsplit('.').next().unwrap_or_default();
        }
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        let is_package = |part: &str| {
            part.trim_start().strip_prefix('=').is_some_and(|value| value.trim_start().starts_with("\"xla-shape\""))
        };
        let name = if line.split("package").skip(1).any(is_package) {
            if key == "package" { table } else { key }
        } else if key == "xla-shape" || table == "xla-shape" {
            "xla-shape"
        } else {
            continue;
        };
        let name = name.trim_matches('"').replace('-', "_");
        return name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_').then_some(name);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::name_of_library;

    #[test]
    fn the_name_is_that_of_the_manifest() {
        for (manifest, name) in [
            ("[dependencies]\nxla-shape = \"0.1\"", Some("xla_shape")),
            ("[dependencies]\nxla-shape.workspace = true", Some("xla_shape")),
            (
                "[dependencies]\nxla-shape-hlo = \"0.1\"\nxla-shape = { path = \"..\", features = [\"hlo\"] }",
                Some("xla_shape"),
            ),
            ("[dependencies.xla-shape]\nversion = \"0.1\"", Some("xla_shape")),
            ("[dependencies]\nother-name = { package = \"xla-shape\", path = \"..\" }", Some("other_name")),
            ("[dependencies]\nother = { version = \"0.1\", package=\"xla-shape\" }", Some("other")),
            ("[dependencies.other]\nversion = \"0.1\"\npackage = \"xla-shape\"", Some("other")),
            ("[workspace.dependencies]\nxs = { package = \"xla-shape\", version = \"0.1\" }", Some("xs")),
            ("[dependencies]\nffi = { package = \"xla-shape-ffi\", path = \"..\" }", None),
            ("[package]\nname = \"kernels\"\n[dependencies]\nother.workspace = true", None),
            ("", None),
        ] {
            assert_eq!(name_of_library(manifest).as_deref(), name, "{manifest}");
        }
    }
}
