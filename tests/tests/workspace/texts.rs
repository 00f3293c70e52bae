//! Checks of every text file in the repository.

use std::fs;
use std::process::Command;

/// An unfinished merge leaves conflict markers. In Markdown, no compiler finds them.
#[test]
fn no_file_has_marks_of_a_merge() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    // In a published package, there is no repository.
    let Ok(output) = output else { return };
    let names = String::from_utf8(output.stdout).unwrap();
    for name in names.split_terminator('\0') {
        let Ok(text) = fs::read_to_string(format!("{root}/{name}")) else { continue };
        let has = |mark: &str| text.lines().any(|line| line.starts_with(mark));
        assert!(!has("<<<<<<< ") && !has(">>>>>>> "), "{name}");
    }
}
