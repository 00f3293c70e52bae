//! Files that are generated from the types of answers: `docs/schemas`, and the tables of tools in the pages for agents. `scripts/bless.sh` writes
//! them.

use crate::program::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The schema of a verb as the program prints it.
fn printed(verb: &str) -> String {
    let output = Command::program().args(["help", "schema", verb]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that the file has this text. With `BLESS`, writes the text into the file first.
fn compare(path: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, text).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == text, "{} is not up to date: run scripts/bless.sh", path.display());
}

#[test]
fn schemas_are_those_of_the_program() {
    let folder = root().join("docs/schemas");
    let names = xla_shape_cli::schema_names();
    for name in &names {
        compare(&folder.join(format!("{name}.json")), &printed(name));
    }
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort_unstable();
    assert_eq!(files, names);
}

/// The documentation of each field gives its meaning, its unit, and when it is null.
#[test]
fn every_field_has_a_description() {
    fn visit(form: &Value, place: &str) {
        for (name, field) in form["properties"].as_object().into_iter().flatten() {
            assert!(name == "schema" || field["description"].is_string(), "{place}.{name} has no description");
            visit(field, &format!("{place}.{name}"));
        }
        let inner = ["items", "additionalProperties"].into_iter().filter_map(|name| form.get(name));
        let lists = ["oneOf", "anyOf"].iter().filter_map(|name| form[name].as_array()).flatten();
        let definitions = form["$defs"].as_object().into_iter().flat_map(|all| all.values());
        inner.chain(lists).chain(definitions).for_each(|form| visit(form, place));
    }
    for name in xla_shape_cli::schema_names() {
        visit(&serde_json::from_str(&printed(name)).unwrap(), name);
    }
}

/// The tools, as `mcp` lists them.
fn listed(arguments: &[&str]) -> Vec<Value> {
    let asked = "{\"id\":1,\"method\":\"tools/list\"}\n";
    let output = Command::program().arg("mcp").args(arguments).write_stdin(asked).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["result"]["tools"].as_array().unwrap().clone()
}

/// The tools as a table, including those that only `--write` offers.
fn tools() -> String {
    let usual = listed(&[]);
    let row = |tool: &Value| {
        let is_usual = usual.iter().any(|other| other["name"] == tool["name"]);
        let writes = if is_usual { "" } else { " (with `--write`)" };
        let about = tool["description"].as_str().unwrap().replace('|', "\\|");
        format!("| `{}`{writes} | {about} |\n", tool["name"].as_str().unwrap())
    };
    let rows = listed(&["--write"]).iter().map(row).collect::<String>();
    format!("| tool | what it is for |\n|---|---|\n{rows}")
}

#[test]
fn pages_for_agents_have_the_tools() {
    let tools = tools();
    for page in ["docs/agents.md", "docs/skill/SKILL.md"] {
        let path = root().join(page);
        let text = fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once("<!-- tools -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end of tools -->").unwrap();
        compare(&path, &format!("{before}<!-- tools -->\n{tools}<!-- end of tools -->{after}"));
    }
}
