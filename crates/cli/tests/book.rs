//! The book in `docs/` and the first page: the output of their commands, their pictures and links.
//!
//! In a `console` block, a line `$ …` is a command, and the lines below it are its output.
//! `BLESS=1 cargo test -p xla-shape-cli --test program book` rewrites output and pictures.

use crate::program::program_path;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The output of a shell command at the root of the repository.
fn run(command: &str) -> String {
    let program = program_path();
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", path.unwrap())
        .env_remove("COLUMNS")
        .current_dir(root())
        .output()
        .unwrap();
    let shown = [output.stdout, output.stderr].concat();
    let mut shown = String::from_utf8(shown).unwrap();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// A page with the current output of each of its commands, and how many commands there are.
fn with_output(page: &str) -> (String, usize) {
    let (mut text, mut commands, mut in_console) = (String::new(), 0, false);
    for line in page.lines() {
        match (in_console, line) {
            (false, _) => in_console = line == "```console",
            (true, "```") => in_console = false,
            (true, _) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    commands += 1;
                    write!(text, "{line}\n{}", run(command)).unwrap();
                }
                continue;
            }
        }
        writeln!(text, "{line}").unwrap();
    }
    (text, commands)
}

/// Replaces a file atomically, because another test may read it at the same time.
fn replace(path: &Path, contents: &str) {
    let new = path.with_extension("new");
    fs::write(&new, contents).unwrap();
    fs::rename(new, path).unwrap();
}

#[test]
fn the_book_has_the_output_of_its_commands() {
    let mut commands = 0;
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    for path in pages.chain([root().join("README.md")]) {
        if path.extension().is_some_and(|extension| extension == "md") {
            let page = fs::read_to_string(&path).unwrap();
            let (now, count) = with_output(&page);
            if std::env::var_os("BLESS").is_some() {
                replace(&path, &now);
            } else {
                assert_eq!(now, page, "{}", path.display());
            }
            commands += count;
        }
    }
    assert!(commands > 20);
}

#[test]
fn the_book_has_the_pictures_of_the_program() {
    for (name, shape) in [
        ("tiles", "f32[3,5]{1,0:T(2,2)}"),
        ("bf16", "bf16[6,200]{1,0:T(8,128)(2,1)}"),
        ("short", "f32[3,200]{1,0:T(4,128)}"),
        ("line", "f32[300]{0:T(512)}"),
    ] {
        let path = root().join(format!("docs/pictures/{name}.svg"));
        let picture = run(&format!("xla-shape draw '{shape}' --svg -"));
        if std::env::var_os("BLESS").is_some() {
            replace(&path, &picture);
        }
        let is_same = fs::read_to_string(&path).unwrap() == picture;
        assert!(is_same, "{} is not what the program draws", path.display());
    }
}

/// The targets of links (`](…)`) in a page, outside of code.
fn links(page: &str) -> Vec<String> {
    let mut in_code = false;
    let mut links = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        // Text between back quotes is code.
        let text = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        if !in_code {
            links.extend(text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
        }
    }
    links
}

/// The anchors that GitHub and mdBook give the headings of a page.
fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let kept =
            heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
        kept.replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_have_targets() {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "crates/ffi/README.md", "examples/README.md"]
        .map(|name| root().join(name));
    let mut checked = 0;
    for path in pages.chain(others) {
        let page = fs::read_to_string(&path).unwrap();
        for link in links(&page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", path.display());
            if !anchor.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                assert!(anchors(&target).contains(&anchor.to_owned()), "{}: no heading for {link}", path.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked} links");
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(summary.contains(&format!("({name})")), "{name}");
        }
    }
}
