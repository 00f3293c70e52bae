//! What the types of answers say, in files: `docs/schemas`, and the tables of fields in `docs/json.md`. `scripts/bless.sh` writes them.

use crate::program::Command;
use serde_json::Value;
use std::fmt::Write as _;
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

/// The file has this text. With `BLESS`, it gets it.
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

/// The tools of `mcp`, as it lists them.
fn listed(arguments: &[&str]) -> Vec<Value> {
    let asked = "{\"id\":1,\"method\":\"tools/list\"}\n";
    let output = Command::program().arg("mcp").args(arguments).write_stdin(asked).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["result"]["tools"].as_array().unwrap().clone()
}

/// The tools as a table; with those that only `--write` offers.
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

const START: &str = "<!-- fields of ";
const END: &str = "<!-- end of fields -->";

/// The page has tables between two comments, of which the first names the verb.
#[test]
fn tables_of_fields_are_those_of_the_schemas() {
    let path = root().join("docs/json.md");
    let mut page = fs::read_to_string(&path).unwrap();
    // A new form gets a section at the end, which can be moved.
    for name in xla_shape_cli::schema_names() {
        if !page.contains(&format!("(schemas/{name}.json)")) {
            write!(page, "\n## {name}\n\nSchema: [{name}](schemas/{name}.json).\n\n{START}{name} -->\n{END}\n")
                .unwrap();
        }
    }
    let mut parts = page.split(START);
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (verb, rest) = part.split_once(" -->\n").unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let schema: Value = serde_json::from_str(&printed(verb)).unwrap();
        let mut rows = String::new();
        add_fields(&mut rows, &schema, &schema, "", &mut Vec::new());
        write!(text, "{START}{verb} -->\n| field | type | meaning |\n|---|---|---|\n{rows}{END}{after}").unwrap();
    }
    compare(&path, &text);
}

/// Adds a row for each field of an object, and of the objects in it. `open` has the names of the forms around it, because some have
/// themselves in them.
fn add_fields<'a>(rows: &mut String, whole: &'a Value, form: &'a Value, path: &str, open: &mut Vec<&'a str>) {
    let fields = form["properties"].as_object().into_iter().flatten();
    for (name, field) in fields.filter(|(name, _)| *name != "schema") {
        let path = format!("{path}{name}");
        let is_required = form["required"].as_array().unwrap().iter().any(|required| required == name);
        let absent = if is_required { "" } else { ", or absent" };
        let meaning = field["description"].as_str().unwrap_or_else(|| panic!("{path} has no description"));
        let row = format!("| `{path}` | {}{absent} | {} |\n", kind(whole, field), meaning.replace('|', "\\|"));
        // Alternatives may share a field.
        if !rows.contains(&row) {
            rows.push_str(&row);
        }
        add_inner(rows, whole, field, &path, open);
    }
    for form in ["oneOf", "anyOf"].iter().flat_map(|list| form[list].as_array()).flatten() {
        add_inner(rows, whole, form, path.trim_end_matches('.'), open);
    }
}

/// Adds the rows of the objects in a value.
fn add_inner<'a>(rows: &mut String, whole: &'a Value, value: &'a Value, path: &str, open: &mut Vec<&'a str>) {
    if let Some(name) = value["$ref"].as_str() {
        if !open.contains(&name) {
            open.push(name);
            add_inner(rows, whole, definition(whole, name), path, open);
            open.pop();
        }
    } else if value["items"].is_object() {
        add_inner(rows, whole, &value["items"], &format!("{path}[]"), open);
    } else if value["additionalProperties"].is_object() {
        add_inner(rows, whole, &value["additionalProperties"], &format!("{path}.*"), open);
    } else {
        let dot = if path.is_empty() { "" } else { "." };
        add_fields(rows, whole, value, &format!("{path}{dot}"), open);
    }
}

fn definition<'a>(whole: &'a Value, name: &str) -> &'a Value {
    whole.pointer(name.strip_prefix('#').unwrap()).unwrap()
}

/// What a value is, in words.
fn kind(whole: &Value, value: &Value) -> String {
    let forms = ["oneOf", "anyOf"].iter().find_map(|list| value[list].as_array());
    if let Some(name) = value["$ref"].as_str() {
        kind(whole, definition(whole, name))
    } else if let Some(forms) = forms {
        let mut kinds: Vec<_> = forms.iter().map(|form| kind(whole, form)).collect();
        // A column of short words; the schema has the sentences.
        if forms.iter().any(|form| form["const"].as_str().is_some_and(|word| word.len() > 40)) {
            kinds = vec!["text".to_owned()];
        }
        kinds.dedup();
        kinds.join(" or ")
    } else if let Some(words) = value["enum"].as_array() {
        words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
    } else if let Some(word) = value.get("const") {
        format!("`{word}`")
    } else {
        let kinds = match &value["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().map_or(vec!["any"], |kind| vec![kind]),
        };
        let words = kinds.into_iter().map(|kind| match kind {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => "list".to_owned(),
            other => other.to_owned(),
        });
        words.collect::<Vec<_>>().join(" or ")
    }
}
