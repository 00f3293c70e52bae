//! The cost of a program as an HTML page.

use super::text::{SHOWN, answer, beside, collectives, expensive, in_column, notes, number_in_words, result, share};
use crate::Html;
use crate::web::{MOST, cell, end, escape, page_of_tables, push, table, tracks};
use crate::words::{Grouped, InUnits, shortened};
use xla_shape_answers::cost::{Amount, CopyCost, ProgramCost};

/// What stands for the source line of instructions without one.
const NO_LINE: &str = "(no source line)";

impl Html for ProgramCost {
    /// The answer as an HTML page: the cycles by source line, scope and opcode, copies with their causes and remedies, the most expensive
    /// instructions, and collectives. The page has no external resources.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_answers::cost::ProgramCost;
    /// use xla_shape_render::Html;
    ///
    /// let module = Module::parse(r#"
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT b = f32[8,128]{0,1} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}}
    /// }"#)?;
    /// let page = ProgramCost::new(&module)?.html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("1,200 cycles in one run"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn html(&self) -> String {
        let name = shortened(self.module.as_deref().unwrap_or("module"), 200);
        let mut body = format!("<p id=\"summary\">{}</p>\n", cell(&answer(self)));
        for note in notes(self) {
            push(&mut body, format_args!("<p class=\"hint\">{}</p>\n", cell(&note)));
        }
        let all = self.sums.total;
        push_copies(self, &mut body);
        let lines = self.lines.iter();
        let lines: Vec<_> =
            lines.map(|line| (line.source.as_deref().unwrap_or(NO_LINE), line.amount, line.instructions)).collect();
        shares(&mut body, "lines", "By source line", all, &lines, |name| (name != NO_LINE).then(|| name.to_owned()));
        let scopes: Vec<_> =
            self.scopes.iter().map(|scope| (scope.scope.as_str(), scope.amount, scope.instructions)).collect();
        shares(&mut body, "scopes", "By scope", all, &scopes, |_| None);
        let opcodes: Vec<_> =
            self.opcodes.iter().map(|opcode| (opcode.opcode.as_str(), opcode.amount, opcode.instructions)).collect();
        shares(&mut body, "opcodes", "By opcode", all, &opcodes, |name| Some(format!("({name})")));
        push_instructions(self, &mut body);
        push_collectives(self, &mut body);
        push_tried(self, &mut body);
        let title = format!("Cost of {name}");
        page_of_tables(&title, &body)
    }
}

fn push_copies(cost: &ProgramCost, body: &mut String) {
    if cost.copies.is_empty() {
        return;
    }
    body.push_str("<section id=\"copies\">\n<h2>Copies, transposes and reshapes that only move data</h2>\n<ul class=\"copies\">\n");
    let known = cost.copies.get(..MOST).unwrap_or(&cost.copies);
    let (first, others) = known.split_at(known.len().min(SHOWN));
    first.iter().for_each(|copy| push_copy(body, copy));
    body.push_str("</ul>\n");
    // The tables below are not to be missed.
    if !others.is_empty() {
        push(
            body,
            format_args!(
                "<details>\n<summary>{} more</summary>\n<ul class=\"copies\">\n",
                Grouped(others.len() as u64)
            ),
        );
        others.iter().for_each(|copy| push_copy(body, copy));
        body.push_str("</ul>\n</details>\n");
    }
    end(body, cost.copies.len());
}

fn push_instructions(cost: &ProgramCost, body: &mut String) {
    let columns = ["All runs", "One run", "Runs", "Instruction", "Source", "Shape"];
    let rows = cost.instructions.iter().map(|found| {
        [
            in_column(found.total),
            in_column(found.amount),
            number_in_words(found.runs),
            format!("%{} ({})", found.instruction, found.opcode),
            found.source.clone().unwrap_or_default(),
            found.shape.clone(),
        ]
    });
    table(body, "instructions", expensive(cost), columns, 3, rows);
}

fn push_collectives(cost: &ProgramCost, body: &mut String) {
    let columns = ["Bytes in", "Bytes out", "Runs", "Instruction", "Source", "Beside it"];
    let rows = cost.collectives.iter().map(|found| {
        [
            InUnits(found.bytes_in).to_string(),
            InUnits(found.bytes_out).to_string(),
            number_in_words(found.runs),
            format!("%{} ({})", found.instruction, found.opcode),
            found.source.clone().unwrap_or_default(),
            beside(found),
        ]
    });
    table(body, "collectives", collectives(cost), columns, 3, rows);
}

fn push_tried(cost: &ProgramCost, body: &mut String) {
    let rows = cost.tried.iter().map(|tried| [tried.asked.join(", "), result(tried)]);
    table(
        body,
        "tried",
        "Tried: compiled again with the layouts that would remove copies",
        ["Asked", "Answer"],
        0,
        rows,
    );
}

fn push_copy(body: &mut String, copy: &CopyCost) {
    let total = copy.total.map_or("no figure".to_owned(), |total| total.to_string());
    let share = copy.share.map_or(String::new(), |share| format!(", {:.1} %", share * 100.0));
    let bytes = copy.bytes.map_or(String::new(), |bytes| format!(", {}", InUnits(bytes)));
    let source = copy.source.as_ref().map_or(String::new(), |source| format!(", {}", cell(source)));
    push(
        body,
        format_args!(
            "<li><code>%{}</code> ({}): {total}{share}{bytes}{source}<p class=\"shape\">{} → {}</p><p>{}</p>",
            cell(&copy.instruction),
            cell(&copy.opcode),
            cell(&copy.from),
            cell(&copy.to),
            cell(&copy.cause.to_string())
        ),
    );
    if let Some(remedy) = &copy.remedy {
        push(body, format_args!("<p class=\"remedy\">To remove it: {}</p>", cell(&remedy.to_string())));
    }
    body.push_str("</li>\n");
}

/// A table of costs by name, each with a bar, of which the longest is as wide as its column. `find` says what a click on a name searches in
/// the page.
fn shares(
    body: &mut String,
    id: &str,
    heading: &str,
    all: Option<Amount>,
    rows: &[(&str, Option<Amount>, usize)],
    find: impl Fn(&str) -> Option<String>,
) {
    let length = rows.len();
    let number = |amount: Option<Amount>| amount.map_or(0, Amount::number);
    let most = rows.iter().map(|row| number(row.1)).max().unwrap_or(0).max(1);
    let is_time = rows.iter().any(|row| row.1.and_then(Amount::time).is_some());
    let column = if is_time { "Time" } else { "Cycles" };
    if length == 0 {
        return;
    }
    push(
        body,
        format_args!(
            "<section id=\"{id}\">\n<h2>{heading}</h2>\n<div class=\"scroll\"><table style=\"--tracks:{}\">\n<thead><tr><th class=\"number\">{column}</th><th class=\"number\">Part</th><th>Where</th>\
             <th class=\"number wide\">Instructions</th></tr></thead>\n<tbody>\n",
            tracks(2, 3)
        ),
    );
    for &(name, amount, instructions) in rows.iter().take(MOST) {
        let share = share(amount, all);
        let part = (number(amount) as f64 / most as f64 * 100.0).min(100.0);
        let name = match find(name) {
            Some(words) => {
                let shown = cell(name);
                format!("<button type=\"button\" class=\"name\" data-find=\"{}\">{shown}</button>", escape(&words))
            }
            None => cell(name),
        };
        push(
            body,
            format_args!(
                "<tr><td class=\"number\">{}</td><td class=\"number\">{share}</td><td>{name}<span class=\"part\" style=\"width:{part:.1}%\"></span></td>\
                 <td class=\"number wide\" data-name=\"Instructions\">{instructions}</td></tr>\n",
                in_column(amount),
            ),
        );
    }
    body.push_str("</tbody>\n</table></div>\n");
    end(body, length);
}

#[cfg(test)]
mod tests {
    use crate::Html;
    use std::fmt::Write as _;
    use xla_shape_answers::cost::ProgramCost;
    use xla_shape_hlo::Module;

    fn page(text: &str) -> String {
        ProgramCost::new(&Module::parse(text).unwrap()).unwrap().html()
    }

    /// Names come from files: they must not become markup.
    #[test]
    fn hostile_names_stay_text() {
        let hostile = "</script><script>alert(1)</script><!--&amp;<img src=x onerror=alert(1)>";
        let page = page(&format!(
            "HloModule m\nENTRY e {{\n  p = f32[8,128]{{1,0}} parameter(0), metadata={{op_name=\"{hostile}\"}}\n  \
             ROOT q = f32[8,128]{{0,1}} copy(p), metadata={{op_name=\"{hostile}/x\" source_file=\"{hostile}\" source_line=1}}, \
             backend_config={{\"window_config\":{{\"estimated_cycles\":\"12\"}}}}\n}}\n"
        ));
        assert_eq!(page.matches("<script>").count(), 1, "the page's own");
        assert!(!page.contains("<!--") && !page.contains("<img") && page.contains("&lt;img src=x"), "{page}");
    }

    #[test]
    fn pages_are_small() {
        let name = "long.".repeat(300);
        let mut text = "HloModule m\nENTRY e {\n  p = f32[8,128]{1,0} parameter(0)\n".to_owned();
        for number in 0..3_000 {
            let line = format!(
                "  {name}{number} = f32[8,128]{{0,1}} copy(p), metadata={{op_name=\"{name}{number}/{name}\" source_file=\"{name}\" source_line={number}}}, \
                 backend_config={{\"window_config\":{{\"estimated_cycles\":\"{number}\"}}}}"
            );
            writeln!(text, "{line}").unwrap();
        }
        text += "  ROOT r = f32[8,128]{1,0} negate(p)\n}\n";
        let page = page(&text);
        assert!(page.len() < 5_000_000 && page.contains("… and 2500 more"), "{} bytes", page.len());
    }
}
