//! What holds of every text in the repository.

use std::fs;
use std::process::Command;

/// A merge that was not finished leaves lines that Markdown shows and no compiler sees.
#[test]
fn no_file_has_marks_of_a_merge() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    // A package has no repository around it.
    let Ok(output) = output else { return };
    let names = String::from_utf8(output.stdout).unwrap();
    for name in names.split_terminator('\0') {
        let Ok(text) = fs::read_to_string(format!("{root}/{name}")) else { continue };
        let has = |mark: &str| text.lines().any(|line| line.starts_with(mark));
        assert!(!has("<<<<<<< ") && !has(">>>>>>> "), "{name}");
    }
}
