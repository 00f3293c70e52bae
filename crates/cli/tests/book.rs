//! Tests the book in `docs/` and the README: the output of their commands, their pictures and links.
//!
//! In a `console` block, a line `$ …` is a command, and the lines below it are its output. If a command needs a compiler or a device, its block is
//! `text`: the command is not run, but the program must know it and its options. `BLESS=1 cargo test -p xla-shape-cli --test program book` rewrites
//! output and pictures.

use crate::program::program_path;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The pages of the book and the README files of folders, each with its path from the root.
fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("README.md"));
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/skill/SKILL.md"];
    let folders =
        ["examples", "python", "scripts", "templates/kernels", "tests/corpus"].map(|name| format!("{name}/README.md"));
    let others = others.into_iter().map(str::to_owned).chain(folders).map(|name| root().join(name));
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md") && path.exists();
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(&path).unwrap())
    };
    docs.chain(crates).filter(is_page).chain(others).map(named).collect()
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

/// The page with the current output of each of its commands, and the number of commands.
fn with_output(page: &str) -> (String, usize) {
    let (mut text, mut commands, mut in_console) = (String::new(), 0, false);
    for line in page.lines() {
        match (in_console, line) {
            (false, _) => in_console = line.starts_with("```console"),
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
    for (name, page) in pages() {
        let (now, count) = with_output(&page);
        if std::env::var_os("BLESS").is_some() && now != page {
            replace(&root().join(name), &now);
        } else {
            assert_eq!(now, page, "{name}");
        }
        commands += count;
    }
    assert!(commands > 20);
}

/// The commands in a page: in blocks of shell, each line except comments and texts that a command reads; in blocks of text, the commands before
/// outputs.
fn shell_lines(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    // A backslash at the end of a line continues it.
    for (language, code) in blocks(&page.replace("\\\n", " ")) {
        let mut in_text = false;
        for line in code.lines() {
            let line = match language.as_str() {
                "sh" if in_text => {
                    in_text = line != "END";
                    continue;
                }
                "sh" => Some(line),
                "text" => line.strip_prefix("$ "),
                _ => None,
            };
            let command = line.unwrap_or_default().split(" #").next().unwrap().trim();
            in_text = command.ends_with("<<'END'");
            lines.extend((!command.is_empty()).then(|| command.to_owned()));
        }
    }
    lines
}

/// The blocks of code in a page: the language after the three back quotes, and the code.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::<(String, String)>::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(language) => {
                is_open = !is_open;
                blocks.extend(is_open.then(|| (language.to_owned(), String::new())));
            }
            None if is_open => writeln!(blocks.last_mut().unwrap().1, "{line}").unwrap(),
            None => {}
        }
    }
    blocks
}

/// Commands in blocks of shell that do not run this program: how they begin, and what else runs them.
const RUN_ELSEWHERE: [(&str, &str); 13] = [
    (
        "cargo ",
        ".ci/run tests and runs; the part `readme` of scripts/release.sh installs, and adds the library to a crate",
    ),
    ("pip install ", "scripts/wheel.sh installs the package in a clean environment"),
    ("cc program.c ", "scripts/c.sh does it with its own programs"),
    ("pip wheel ", "scripts/jax.sh builds the template's wheel"),
    ("python -m ", "scripts/jax.sh tests the template, and makes its stubs"),
    (".ci/run", "the gate itself"),
    ("scripts/", "the gate runs it, or a person before a release (docs/releasing.md)"),
    ("python3 -m http.server ", "it does not end"),
    ("python examples/kernels/", "scripts/kernels.py compiles these kernels; needs JAX"),
    ("python lower.py ", "needs JAX and a published package"),
    ("python norm.py ", "needs JAX and a published package"),
    ("python - >", "needs JAX"),
    ("--xla_", "flags of a compiler"),
];

/// The program accepts each of its commands that a page shows, in a block or in a sentence, with its options. Commands in `console` blocks are also
/// run.
#[test]
fn the_program_takes_the_commands_of_the_book() {
    let mut commands = BTreeSet::new();
    for (name, page) in pages() {
        let in_sentences = page.split('`').skip(1).step_by(2).filter(|code| code.starts_with("xla-shape "));
        commands.extend(in_sentences.map(|code| code.replace('\n', " ").replace("VERB", "hlo")));
        for line in shell_lines(&page) {
            let own = line.rsplit("| ").next().unwrap();
            if own.starts_with("xla-shape ") {
                commands.insert(own.replace("VERB", "hlo"));
            } else {
                let is_known = RUN_ELSEWHERE.iter().any(|(beginning, _)| line.starts_with(beginning));
                let is_file = ["cat > ", "cp "].iter().any(|beginning| line.starts_with(beginning));
                assert!(is_known || is_file, "{name}: what runs `{line}`?");
            }
        }
    }
    let mut script = String::new();
    for command in &commands {
        // A sentence can name an option without its value. The help of the verb must then have the option.
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

/// Code in pages that no test runs: the page, the language, and the reason.
const NOT_RUN: [(&str, &str, &str); 15] = [
    ("docs/c.md", "c", "parts of programs; scripts/c.sh runs whole ones"),
    ("docs/c.md", "cpp", "parts of programs; scripts/c.sh runs whole ones"),
    ("docs/claims.md", "python no-run", "python/tests/test_guards.py makes such calls"),
    ("docs/editor.md", "lua", "settings of Neovim"),
    ("docs/editor.md", "toml", "settings of Helix"),
    ("docs/fit.md", "python no-run", "needs libtpu"),
    (
        "docs/kernel-inside.md",
        "py",
        "lines of kernels before and after a change; scripts/kernels.py compiles those kernels",
    ),
    ("docs/kernel-inside.md", "python no-run", "needs libtpu"),
    ("docs/kernels.md", "rust,ignore", "needs candle and burn"),
    ("docs/pjrt.md", "rust,ignore", "needs libtpu; tests/pjrt calls the same functions"),
    ("docs/python.md", "python no-run", "needs libtpu, Ray, or the reader's own tests"),
    ("docs/tune.md", "python no-run", "needs libtpu, or a cluster"),
    ("docs/cost.md", "yaml", "needs GitHub"),
    ("docs/jax.md", "toml", "needs a published package"),
    ("templates/kernels/README.md", "toml", "scripts/jax.sh builds the template in this way"),
];

/// A test runs the code of each block, or the list above says why none does.
#[test]
fn all_code_of_the_book_is_run() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let python = read("python/tests/test_docs.py") + &read("examples/jax/test_docs.py");
    // A page that is included in documentation of code is tested with it.
    let mut rust = read("examples/lib.rs") + &read("xla-shape/src/lib.rs");
    rust.extend(["ffi/src/lib.rs"].map(|path| read(&format!("crates/{path}"))));
    let mut used = BTreeSet::<&(&str, &str, &str)>::new();
    for (name, page) in pages() {
        for (language, code) in blocks(&page) {
            let is_run = match language.as_str() {
                // The tests above run the commands; `text` is output.
                "console" | "console,wrap" | "sh" | "text" => true,
                "rust" | "rust,no_run" | "rust,standalone_crate" => match name
                    .strip_prefix("crates/")
                    .and_then(|name| name.strip_suffix("/README.md"))
                {
                    Some(name) => read(&format!("crates/{name}/src/lib.rs")).contains("include_str!(\"../README.md\")"),
                    None => rust.contains(&format!("../{name}\")")),
                },
                "python" => python.contains(&format!("\"{name}\"")),
                "json" => serde_json::from_str::<serde_json::Value>(&code).is_ok(),
                "toml" if name == "docs/claims.md" => code == read("examples/hlo/step.toml"),
                _ => false,
            };
            let reason = NOT_RUN.iter().find(|(page, of, _)| (*page, *of) == (name.as_str(), language.as_str()));
            used.extend(reason);
            assert!(
                is_run != reason.is_some(),
                "{name}: a block of `{language}` is run, or NOT_RUN says why not:\n{code}"
            );
        }
    }
    assert_eq!(used.len(), NOT_RUN.len(), "{used:?}");
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
        // Skip text between back quotes, which is code.
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
    let mut checked = 0;
    for (name, page) in pages() {
        let path = root().join(&name);
        for link in links(&page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{name}: {link} leads nowhere");
            if !anchor.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                assert!(anchors(&target).contains(&anchor.to_owned()), "{name}: no heading for {link}");
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
