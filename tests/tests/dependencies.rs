//! No dependency comes into the default features unseen: `docs/dependencies.md` gives a reason for each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

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
