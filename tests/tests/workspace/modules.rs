//! Every file of a test program is a module of it. A file without a `mod` line would not be compiled, and its tests would not run.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_file_of_a_test_program_is_a_module_of_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![root.join("tests"), root.join("ui-tests"), root.join("xla-shape")];
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("tests"));
    folders.extend(crates.filter(|folder| folder.is_dir()));
    let (mut modules, mut forgotten) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        let list = entries.iter().find(|file| file.ends_with("main.rs") || file.ends_with("mod.rs"));
        let list = list.map(|file| fs::read_to_string(file).unwrap()).unwrap_or_default();
        for path in entries {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            if !list.is_empty() && is_source && name != "main" && name != "mod" {
                modules += 1;
                if !list.lines().any(|line| {
                    line.trim_start_matches("pub ").trim_start_matches("pub(crate) ") == format!("mod {name};")
                }) {
                    forgotten.push(path);
                }
            } else if path.is_dir() && name != "node_modules" {
                folders.push(path);
            }
        }
    }
    assert!(forgotten.is_empty(), "{forgotten:?}");
    assert!(modules > 100, "{modules}");
}
