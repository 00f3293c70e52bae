//! Collects the kernels of the documentation in a file, which `src/lib.rs` includes.

use std::error::Error;
use std::path::{Path, PathBuf};

/// If both have a kernel of the same name, the library has that of the first.
const TEXTS: [&str; 2] = ["crates/ffi/README.md", "docs/jax.md"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../..");
    let (mut source, mut names, mut paths, mut modules) = (String::new(), Vec::new(), Vec::new(), 0);
    for text in TEXTS {
        let path = root.join(text);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = std::fs::read_to_string(path)?;
        for block in text.split("\n```rust").skip(1) {
            let code =
                block.split_once('\n').and_then(|(_, rest)| rest.split_once("\n```")).ok_or("a block has no end")?.0;
            source += &format!("pub mod block_{modules} {{\n");
            for line in code.lines() {
                // A library has one list of kernels, which follows below, so that a page's own list goes, with the import of its macro.
                let line = &if line.starts_with("use ") { line.replace("export, ", "") } else { line.to_owned() };
                if line.strip_prefix("xla_shape_ffi::").unwrap_or(line).starts_with("export![") {
                    continue;
                }
                // Kernels are the functions within a macro, and so indented.
                if let Some(kernel) = line.strip_prefix("    fn ") {
                    let name = kernel.split('(').next().unwrap_or(kernel).to_owned();
                    source += &format!("    pub fn {kernel}\n");
                    if !names.contains(&name) {
                        paths.push(format!("block_{modules}::{name}"));
                        names.push(name);
                    }
                } else {
                    source += &format!("{line}\n");
                }
            }
            source += "}\n";
            modules += 1;
        }
    }
    if paths.is_empty() {
        return Err("the pages have no kernels".into());
    }
    source += &format!("xla_shape_ffi::export![{}];\n", paths.join(", "));
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("kernels.rs"), source)?;
    Ok(())
}
