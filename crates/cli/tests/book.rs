//! The book in `docs/` and the first page: the output of their commands, their pictures and links.
//!
//! In a `console` block, a line `$ …` is a command, and the lines below it are its output.
//! `BLESS=1 cargo test -p xla-shape-cli --test program book` rewrites output and pictures.

use crate::program::program_path;
use std::collections::BTreeSet;
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

/// The lines of the blocks of shell commands in a page, without comments and without the texts that a command reads.
fn shell_lines(page: &str) -> Vec<String> {
    let (mut lines, mut in_shell, mut in_text) = (Vec::new(), false, false);
    // A backslash at its end continues a line.
    for line in page.replace("\\\n", " ").lines() {
        match (in_shell, in_text) {
            (false, _) => in_shell = line == "```sh",
            (true, true) => in_text = line != "END",
            (true, false) if line == "```" => in_shell = false,
            (true, false) => {
                let command = line.split(" #").next().unwrap().trim();
                in_text = command.ends_with("<<'END'");
                lines.extend((!command.is_empty()).then(|| command.to_owned()));
            }
        }
    }
    lines
}

/// The beginnings of the commands in blocks of shell that are not the program's, and what runs them.
const RUN_ELSEWHERE: [(&str, &str); 10] = [
    ("cargo ", ".ci/run tests and runs; scripts/release.sh installs"),
    ("pip install ", "scripts/wheel.sh installs the package in a clean environment"),
    ("cc program.c ", "scripts/c.sh does it with its own programs"),
    ("scripts/", "a script of the gate"),
    ("python3 -m http.server ", "it does not end"),
    ("python examples/kernels/", "scripts/kernels.py compiles these kernels; needs JAX"),
    ("python lower.py ", "needs JAX and a published package"),
    ("python norm.py ", "needs JAX and a published package"),
    ("python - >", "needs JAX"),
    ("--xla_", "flags of a compiler"),
];

/// The program takes each of its commands that a page has, in a block or in a sentence, with these options. Those in `console` blocks also run.
#[test]
fn the_program_takes_the_commands_of_the_book() {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut commands = BTreeSet::new();
    for path in pages.chain([root().join("README.md")]) {
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        let in_sentences = page.split('`').skip(1).step_by(2).filter(|code| code.starts_with("xla-shape "));
        commands.extend(in_sentences.map(|code| code.replace('\n', " ").replace("VERB", "hlo")));
        for line in shell_lines(&page) {
            let own = line.rsplit("| ").next().unwrap();
            if own.starts_with("xla-shape ") {
                commands.insert(own.replace("VERB", "hlo"));
            } else {
                let is_known = RUN_ELSEWHERE.iter().any(|(beginning, _)| line.starts_with(beginning));
                let is_file = ["cat > ", "cp "].iter().any(|beginning| line.starts_with(beginning));
                assert!(is_known || is_file, "{}: what runs `{line}`?", path.display());
            }
        }
    }
    let mut script = String::new();
    for command in &commands {
        // A sentence can name an option without its value, which the help of the verb must have.
        let (start, last) = command.rsplit_once(' ').unwrap();
        let (start, found) = match last.starts_with('-') {
            // Options without values can be hidden.
            true => (start, format!("{{ grep -q -e '{last}' help.txt || {command} --help >help.txt 2>&1; }}")),
            false => (command.as_str(), "true".to_owned()),
        };
        writeln!(script, "{start} --help >help.txt 2>&1 && {found} || cat <<'END'\n{command}\nEND").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let refused = run(&format!("cd '{}'\n{script}", folder.path().display()));
    assert!(refused.is_empty(), "refused, or without the option:\n{refused}");
    assert!(commands.len() > 100, "{}", commands.len());
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
