//! Instructions of each kind, broken in one place, and unusual forms. What XLA reads must be read; what it refuses must be refused, or be named in a
//! finding.

use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_hlo::Module;
use xla_shape_tests::{corpus, every};

#[derive(Deserialize)]
struct Form {
    form: String,
    ok: bool,
    printed: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    form: String,
    /// The changed line: the root of the last computation.
    line: String,
    ok: bool,
}

/// Where the answers differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("atan(", "newer versions of XLA have the opcode"),
    ("k =2", "XLA wants no space before `=`"),
    ("{0}}}", "XLA does not miss a parenthesis of an origin"),
    ("origin={{\"a\"}, {\"b\"", "XLA does not miss a parenthesis of an origin"),
    ("\\521", "an escape that is no byte is read as text"),
    ("\\q", "an escape that there is not is read as text"),
];

/// Whether a text is read, whether it is refused, and whether there is a finding about it.
fn answer(text: &str) -> (bool, bool, bool) {
    let Ok(module) = Module::parse(text) else { return (false, true, false) };
    let findings = module.check();
    let is_error = |found: &xla_shape_hlo::Finding<'_>| found.severity() == xla_shape_hlo::Severity::Error;
    (true, findings.iter().any(is_error), !findings.is_empty())
}

#[test]
fn broken_instructions() {
    let forms: Vec<Form> = corpus("hlo_forms.jsonl.zst");
    let printed: BTreeMap<_, _> =
        forms.iter().filter(|form| form.ok).filter_map(|form| Some((&form.form, form.printed.as_ref()?))).collect();
    let rows: Vec<Row> = corpus("hlo_broken.jsonl.zst");
    let (mut read, mut refused, mut hinted, mut known, mut wrong) = (0, 0, 0, 0, Vec::new());
    assert!(rows.len() > 2000, "{} lines", rows.len());
    let rows: Vec<_> = every(2, rows).collect();
    for row in &rows {
        let mut lines: Vec<_> = printed[&row.form].lines().collect();
        let place = lines.iter().rposition(|line| line.contains("ROOT ")).unwrap();
        lines[place] = &row.line;
        let text = lines.join("\n");
        let (is_read, is_refused, is_hinted) = answer(&text);
        // XLA's parser reads many texts that its verifier refuses.
        let agrees = if row.ok { is_read } else { is_refused || is_hinted };
        match agrees {
            true if row.ok => read += 1,
            true if is_refused => refused += 1,
            true => hinted += 1,
            false if DIFFERENT.iter().any(|(part, _)| row.line.contains(part)) => known += 1,
            false => wrong.push(format!("XLA {}: {}", if row.ok { "reads" } else { "refuses" }, row.line)),
        }
    }
    println!(
        "of {}: {read} are read, {refused} refused, {hinted} named in a hint; {known} differ for a reason",
        rows.len()
    );
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(known * 100 < rows.len(), "{known} of {} lines differ", rows.len());
}

#[derive(Deserialize)]
struct Unusual {
    /// Only in the first row: the text before and after each form.
    before: Option<String>,
    after: Option<String>,
    /// An instruction after its name.
    form: Option<String>,
    /// An instruction with its name.
    line: Option<String>,
    /// A whole text.
    text: Option<String>,
    ok: Option<bool>,
}

/// Texts that XLA reads and this project does not; docs/hlo.md says why.
const NOT_READ: &[&str] = &[
    "{a='a\"b'}",
    "{1,0:#(u32)}",
    "{1,0:*(u32)}",
    "{1,1}",
    "{2,0}",
    ":T()}",
    ":T(*)}",
    ":T(0)}",
    ":S(-1)}",
    ":S(99999999999)}",
    "[1,2] <= [2]",
    "FileLocations StackFrames",
    "<=9223372036854775808",
];

#[test]
fn unusual_forms() {
    let rows: Vec<Unusual> = corpus("hlo_unusual.jsonl.zst");
    let (first, rows) = rows.split_first().unwrap();
    let (before, after) = (first.before.as_deref().unwrap(), first.after.as_deref().unwrap());
    let unnamed = before.strip_suffix("ROOT r = ").unwrap();
    let (mut read, mut refused, mut known, mut lenient, mut wrong) = (0, 0, 0, 0, Vec::new());
    assert!(rows.len() > 5000, "{} forms", rows.len());
    let rows: Vec<_> = every(3, rows).collect();
    for row in &rows {
        let text = match (&row.form, &row.line, &row.text) {
            (Some(form), ..) => format!("{before}{form}{after}"),
            (_, Some(line), _) => format!("{unnamed}{line}{after}"),
            (.., text) => text.clone().unwrap(),
        };
        let (is_read, is_refused, is_hinted) = answer(&text);
        match row.ok.unwrap() {
            true if is_read => read += 1,
            true if NOT_READ.iter().any(|part| text.contains(part)) => known += 1,
            true => wrong.push(row.form.clone().or(row.line.clone()).unwrap_or(text)),
            false if is_refused || is_hinted => refused += 1,
            false => lenient += 1,
        }
    }
    println!(
        "of {}: {read} are read, {refused} refused or named; {known} are not read for a reason, {lenient} are read though XLA refuses them",
        rows.len()
    );
    assert!(wrong.is_empty(), "{} are not read:\n{}", wrong.len(), wrong.join("\n"));
    assert!(known < 20 && lenient * 10 < rows.len(), "{known} {lenient}");
}
