//! No dependency enters the default features unnoticed: `docs/dependencies.md` gives a reason for each. No package is left out of `.ci/run`.

use super::metadata;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The version that `cargo add half` writes today (`2.7.1`) must resolve together with the library.
#[test]
fn every_release_of_half_2_may_be_used() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let needed = packages.flat_map(|package| package["dependencies"].as_array().unwrap());
    let needed: Vec<_> = needed.filter(|needed| needed["name"] == "half").map(|needed| &needed["req"]).collect();
    assert!(needed.len() >= 2 && needed.iter().all(|bound| *bound == "^2.4"), "{needed:?}");
}

#[test]
fn every_dependency_has_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--package",
            "xla-shape",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let found: BTreeSet<_> =
        tree.lines().filter_map(|line| line.split(' ').next()).filter(|name| *name != "xla-shape").collect();
    let page = fs::read_to_string(root.join("docs/dependencies.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let listed: BTreeSet<_> =
        rows.flat_map(|cell| cell.split([',', '`', ' '])).filter(|name| !name.is_empty()).collect();
    assert_eq!(found, listed);
}

/// The list of libraries in `.ci/run`, which packages them, is complete.
#[test]
fn the_gate_has_every_package_that_can_be_published() {
    let gate = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run")).unwrap();
    let list = gate.split_once("for name in ").and_then(|(_, rest)| rest.split_once("; do\n")).unwrap().0;
    let listed: BTreeSet<&str> = list.split(' ').collect();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let published = packages.filter(|package| package["publish"].is_null()).map(|package| package["name"].as_str());
    let published: BTreeSet<&str> = published.map(Option::unwrap).filter(|name| *name != "xla-shape-cli").collect();
    assert_eq!(published, listed);
}
