//! The cost of a program as an HTML page.

use super::measured_page;
use super::text::{
    SHOWN, answer, beside, collectives, expensive, heading_of, in_column, notes, number_in_words, result, share,
};
use crate::Html;
use crate::web::{Element, MOST, element, elements, hint, left_out, page_of_tables, section, table, table_of};
use crate::words::{Grouped, InUnits, shortened};
use xla_shape_answers::cost::{Amount, CopyCost, ProgramCost};

/// The text in place of a source line, for instructions that have none.
const NO_LINE: &str = "(no source line)";

impl Html for ProgramCost {
    /// The answer as an HTML page: the cycles by source line, scope and opcode, copies with their causes and remedies, the most expensive
    /// instructions, and collectives. For a profile, the measured times come before these. The page has no external resources.
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
        page_of_tables(&title(self), main(self, None))
    }
}

pub(super) fn title(cost: &ProgramCost) -> String {
    format!("Cost of {}", shortened(cost.module.as_deref().unwrap_or("module"), 200))
}

/// The content of the page. For a profile, `pictures` are placed below the sentence that answers the question.
pub(super) fn main(cost: &ProgramCost, pictures: Option<Element>) -> Element {
    let all = cost.sums.total;
    let lines = cost.lines.iter().map(|line| {
        let name = line.source.as_deref();
        Share {
            name: name.unwrap_or(NO_LINE),
            amount: line.amount,
            of: line.instructions,
            find: name.map(str::to_owned),
        }
    });
    let scopes = cost.scopes.iter().map(|scope| Share {
        name: &scope.scope,
        amount: scope.amount,
        of: scope.instructions,
        find: None,
    });
    let opcodes = cost.opcodes.iter().map(|opcode| {
        let find = Some(format!("({})", opcode.opcode));
        Share { name: &opcode.opcode, amount: opcode.amount, of: opcode.instructions, find }
    });
    let measured = cost.measured.as_deref();
    let is_expected = measured.is_none() || cost.sums.total.is_some();
    elements()
        .with_all(measured.map(|measured| measured_page::sections(measured, pictures)))
        .with_all(is_expected.then(|| element("p").id("summary").text(answer(cost))))
        .with_all(notes(cost).into_iter().map(hint))
        .with_all(copies(cost))
        .with_all(shares("lines", "By source line", all, &lines.collect::<Vec<_>>()))
        .with_all(shares("scopes", "By scope", all, &scopes.collect::<Vec<_>>()))
        .with_all(shares("opcodes", "By opcode", all, &opcodes.collect::<Vec<_>>()))
        .with_all(instructions(cost))
        .with_all(collectives_sent(cost))
        .with_all(tried(cost))
}

fn copies(cost: &ProgramCost) -> Option<Element> {
    let known = cost.copies.get(..MOST).unwrap_or(&cost.copies);
    let (first, others) = known.split_at(known.len().min(SHOWN));
    let list = |copies: &[CopyCost]| element("ul").class("copies").with_all(copies.iter().map(copy_entry));
    // Only the first copies are shown at once, so that users see that tables follow.
    let more = (!others.is_empty()).then(|| {
        let summary = element("summary").text(format_args!("{} more", Grouped(others.len() as u64)));
        element("details").with(summary).with(list(others))
    });
    (!known.is_empty()).then(|| {
        section("copies", heading_of(cost.copies.iter().map(|copy| copy.change)))
            .with(list(first))
            .with_all(more)
            .with_all(left_out(cost.copies.len()))
    })
}

fn copy_entry(copy: &CopyCost) -> Element {
    let total = copy.total.map_or("no figure".to_owned(), |total| total.to_string());
    let share = copy.share.map_or(String::new(), |share| format!(", {:.1} %", share * 100.0));
    let bytes = copy.bytes.map_or(String::new(), |bytes| format!(", {}", InUnits(bytes)));
    let source = copy.source.as_ref().map_or(String::new(), |source| format!(", {source}"));
    let remedy = copy.remedy.as_ref();
    element("li")
        .with(element("code").text(format_args!("%{}", copy.instruction)))
        .text(format_args!(" ({}): {total}{share}{bytes}{source}", copy.opcode))
        .with(element("p").class("shape").text(&copy.from).text(" → ").text(&copy.to))
        .with(element("p").text(&copy.cause))
        .with_all(remedy.map(|remedy| element("p").class("remedy").text("To remove it: ").text(remedy)))
}

fn instructions(cost: &ProgramCost) -> Option<Element> {
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
    table("instructions", expensive(cost), columns, 3, rows)
}

fn collectives_sent(cost: &ProgramCost) -> Option<Element> {
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
    table("collectives", collectives(cost), columns, 3, rows)
}

fn tried(cost: &ProgramCost) -> Option<Element> {
    let rows = cost.tried.iter().map(|tried| [tried.asked.join(", "), result(tried)]);
    table("tried", "Tried: compiled again with the layouts that would remove copies", ["Asked", "Answer"], 0, rows)
}

/// What a source line, a scope or an opcode of the program costs.
struct Share<'c> {
    name: &'c str,
    amount: Option<Amount>,
    /// The number of instructions in this sum.
    of: usize,
    /// What a click on the name searches for in the page.
    find: Option<String>,
}

/// A table of costs by name, each with a bar. The longest bar is as wide as its column. `None` without rows.
fn shares(id: &str, heading: &str, all: Option<Amount>, rows: &[Share<'_>]) -> Option<Element> {
    let number = |row: &Share<'_>| row.amount.map_or(0, Amount::number);
    let most = rows.iter().map(number).max().unwrap_or(0).max(1);
    let is_time = rows.iter().any(|row| row.amount.and_then(Amount::time).is_some());
    let first = if is_time { "Time" } else { "Cycles" };
    let columns = [(first, "number"), ("Part", "number"), ("Where", ""), ("Instructions", "number wide")];
    let row = |row: &Share<'_>| {
        let name = match &row.find {
            Some(words) => {
                element("button").attribute("type", "button").class("name").attribute("data-find", words).text(row.name)
            }
            None => elements().text(row.name),
        };
        // The bars compare the rows with the largest one. Their share of the program is a number in another column.
        let part = (number(row) as f64 / most as f64 * 100.0).min(100.0);
        let bar = element("span").class("part").attribute("style", format_args!("width:{part:.1}%"));
        element("tr")
            .with(element("td").class("number").text(in_column(row.amount)))
            .with(element("td").class("number").text(share(row.amount, all)))
            .with(element("td").with(name).with(bar))
            .with(element("td").class("number wide").attribute("data-name", "Instructions").text(row.of))
    };
    (!rows.is_empty()).then(|| {
        let table = table_of(columns.into_iter(), 2, 3, rows.iter().take(MOST).map(row));
        section(id, heading).with(table).with_all(left_out(rows.len()))
    })
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
        for number in 0..900 {
            let line = format!(
                "  {name}{number} = f32[8,128]{{0,1}} copy(p), metadata={{op_name=\"{name}{number}/{name}\" source_file=\"{name}\" source_line={number}}}, \
                 backend_config={{\"window_config\":{{\"estimated_cycles\":\"{number}\"}}}}"
            );
            writeln!(text, "{line}").unwrap();
        }
        text += "  ROOT r = f32[8,128]{1,0} negate(p)\n}\n";
        let page = page(&text);
        assert!(page.len() < 5_000_000 && page.contains("… and 400 more"), "{} bytes", page.len());
    }
}
