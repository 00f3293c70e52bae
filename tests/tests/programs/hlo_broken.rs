//! Instructions of each kind, broken in one place: what XLA reads is read, and what it refuses is refused or named.

use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape_hlo::Module;
use xla_shape_tests::corpus;

#[derive(Deserialize)]
struct Form {
    form: String,
    ok: bool,
    printed: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    form: String,
    /// The root of the last computation, changed.
    line: String,
    ok: bool,
}

/// Where the answers differ, and why.
const DIFFERENT: &[(&str, &str)] = &[
    ("atan(", "newer versions of XLA have the opcode"),
    ("(,", "XLA takes a comma before the operands"),
    (",,", "XLA takes two commas for one"),
    (", ,", "XLA takes two commas for one"),
    ("k =2", "XLA wants no space before `=`"),
    ("{0}}}", "XLA does not miss a parenthesis of an origin"),
    ("origin={{\"a\"}, {\"b\"", "XLA does not miss a parenthesis of an origin"),
    ("f8e", "how large an element of eight bits may be is not checked"),
    ("\\521", "an escape that is no byte is read as text"),
    ("\\q", "an escape that there is not is read as text"),
];

#[test]
fn broken_instructions() {
    let forms: Vec<Form> = corpus("hlo_forms.jsonl.zst");
    let printed: BTreeMap<_, _> =
        forms.iter().filter(|form| form.ok).filter_map(|form| Some((&form.form, form.printed.as_ref()?))).collect();
    let rows: Vec<Row> = corpus("hlo_broken.jsonl.zst");
    let (mut read, mut refused, mut hinted, mut known, mut wrong) = (0, 0, 0, 0, Vec::new());
    for row in &rows {
        let mut lines: Vec<_> = printed[&row.form].lines().collect();
        let place = lines.iter().rposition(|line| line.contains("ROOT ")).unwrap();
        lines[place] = &row.line;
        let text = lines.join("\n");
        let (is_read, is_refused, is_hinted) = match Module::parse(&text) {
            Ok(module) => {
                let findings = module.check();
                let is_error =
                    |found: &xla_shape_hlo::Finding<'_, '_>| found.severity() == xla_shape_hlo::Severity::Error;
                (true, findings.iter().any(is_error), !findings.is_empty())
            }
            Err(_) => (false, true, false),
        };
        // XLA reads much that its verifier refuses.
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
    assert!(rows.len() > 2000 && known * 100 < rows.len(), "{} lines, {known} differ", rows.len());
}
