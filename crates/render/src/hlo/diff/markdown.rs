//! What changed between two programs, as Markdown for a pull request.

use super::text::{in_words, percent};
use crate::times;
use crate::words::markdown::{self, code, plain};
use crate::words::{Signed, count};
use xla_shape_answers::cost::Amount;
use xla_shape_answers::hlo::{Difference, Exceeded};

/// The differences as Markdown: tables of numbers, of copies, collectives and fusions, and of values. The exceeded limits come first:
/// `exceeded` is the result of [`exceeded`](Difference::exceeded).
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
/// use xla_shape_answers::hlo::Difference;
/// use xla_shape_render::hlo::diff::markdown;
///
/// let text = |size: u32| format!("HloModule m, is_scheduled=true\nENTRY e {{ ROOT p = f32[{size}] parameter(0) }}");
/// let [before, after] = [Module::parse(&text(8))?, Module::parse(&text(9))?].map(Program::from);
/// let difference = Difference::new(&before.memory(None), &after.memory(None));
/// let markdown = markdown(&difference, &[]);
/// assert!(markdown.contains("| shape | <code>p</code> | <code>f32&#91;8&#93;&#123;0&#125;</code> |"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn markdown(difference: &Difference, exceeded: &[Exceeded]) -> String {
    let [before, after] = [0, 1].map(|side: usize| difference.programs.get(side).map_or("", |(name, _)| name));
    let mut lines = vec![if before == after {
        format!("### {}", code(before))
    } else {
        format!("### {} and {}", code(before), code(after))
    }];
    let mut table = |heading: &str, columns: &[&str], rows: Vec<Vec<String>>| {
        markdown::table(&mut lines, heading, columns, rows);
    };
    table("More than allowed", &["limit"], exceeded.iter().map(|limit| vec![plain(&limit.to_string())]).collect());
    let measures = difference.changed_measures().map(|measured| {
        let [before, after] = [measured.before, measured.after].map(|number| in_words(measured, number));
        vec![
            measured.measure.name().to_owned(),
            before,
            after,
            percent(measured).unwrap_or_default(),
            measured.cause.to_string(),
        ]
    });
    let measures = measures.collect::<Vec<_>>();
    table("What changed", &["", "before", "after", "change", "cause"], measures);
    table(times::HEADING, &times::COLUMNS, times::rows(&difference.times));
    let optional = |text: &Option<String>| text.as_deref().map(code).unwrap_or_default();
    let parts = difference.parts.iter().map(|part| {
        let remedy = part.remedy.as_ref().map(|remedy| plain(&remedy.to_string()));
        vec![
            part.change.to_string(),
            code(&part.name),
            part.amount.map_or_else(String::new, Amount::in_column),
            optional(&part.source),
            part.cause.to_string(),
            part.because.as_ref().map(|because| plain(&because.to_string())).unwrap_or_default(),
            remedy.unwrap_or_default(),
        ]
    });
    let is_time = difference.parts.iter().any(|part| part.amount.and_then(Amount::time).is_some());
    let unit = if is_time { "time" } else { "cycles" };
    let columns = ["change", "instruction", unit, "source", "cause", "why", "remedy"];
    table("Copies, collectives and fusions", &columns, parts.collect());
    let changes = difference.changes.iter().map(|change| {
        let [before, after] = [&change.before, &change.after].map(optional);
        let bytes = Signed(change.bytes).to_string();
        let name = code(&change.name);
        vec![change.change.to_string(), name, before, after, bytes, optional(&change.source), change.cause.to_string()]
    });
    let heading = count(difference.changes.len() as u64, "value changed", "values changed");
    table(&heading, &["change", "value", "before", "after", "bytes", "source", "cause"], changes.collect());
    if lines.len() == 1 {
        lines.extend([String::new(), "Nothing that matters changed.".to_owned()]);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Difference, markdown};
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    #[test]
    fn every_table_has_as_many_cells_as_columns() {
        let before = "HloModule m, is_scheduled=true
ENTRY e { a = f32[8,128]{1,0} parameter(0)
  ROOT n = f32[8,128]{1,0} negate(a), metadata={op_name=\"f|g\"} }";
        let after = "HloModule m, is_scheduled=true
ENTRY e { a = f32[8,128]{1,0} parameter(0)
  n = f32[8,128]{1,0} negate(a), metadata={op_name=\"f|g\" source_file=\"f|g.py\" source_line=3}
  ROOT c = f32[8,128]{0,1} copy(n), metadata={op_name=\"copy\" source_file=\"f|g.py\" source_line=4} }";
        let [before, after] = [before, after].map(|text| Program::from(Module::parse(text).unwrap()));
        let difference = Difference::new(&before.memory(None), &after.memory(None));
        let text = markdown(&difference, &difference.exceeded(&["copies>0".parse().unwrap()]));
        let expected = "\
### <code>m</code>

**More than allowed**

| limit |
| --- |
| copies&#62;0&#58; 0 before, 1 after (layout asked) |
";
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.contains("| copy added | <code>c</code> |  | <code>f&#124;g.py&#58;4</code> | layout asked |"),
            "{text}"
        );
        let mut columns = 0;
        for line in text.lines() {
            let cells = line.matches(" | ").count();
            columns = if line.starts_with("| ") && columns > 0 { columns } else { cells };
            assert!(!line.starts_with("| ") || cells == columns, "{text}");
            columns = if line.starts_with("| ") { columns } else { 0 };
        }
        let same = markdown(&Difference::new(&before.memory(None), &before.memory(None)), &[]);
        assert_eq!(same, "### <code>m</code>\n\nNothing that matters changed.\n");
    }
}
