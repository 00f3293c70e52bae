//! Figures before and after a change, side by side.

use super::{Element, element, section, table_of};
use std::fmt::Display;

/// A figure before and after a change: its name, both numbers and their texts, how much they differ, and why.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) numbers: [Option<u64>; 2],
    pub(crate) texts: [String; 2],
    pub(crate) change: String,
    pub(crate) why: String,
}

/// The colours of the bars.
pub(crate) fn legend(before: impl Display, after: impl Display) -> Element {
    let side = |class: &str, text: String| element("span").with(element("i").class(class)).text(text);
    element("p")
        .class("legend")
        .with(side("temporary", format!(" before{before}")))
        .with(side("output", format!(" after{after}")))
}

/// A table of figures. Each figure has two bars; the longer one is as wide as its column. `None` without rows.
pub(crate) fn side_by_side(id: impl Display, heading: &str, rows: &[Side]) -> Option<Element> {
    let has_why = rows.iter().any(|row| !row.why.is_empty());
    let columns = [("Before", "number"), ("After", "number"), ("Change", "number"), ("Figure", "")];
    let columns = columns.into_iter().chain(has_why.then_some(("Cause", "wide")));
    let row = |row: &Side| {
        let most = row.numbers.into_iter().flatten().max().unwrap_or(0).max(1) as f64;
        let number = |text: &String| element("td").class("number").text(text);
        let bars = row.numbers.into_iter().zip(["part", "part after"]).map(|(number, class)| {
            let width = number.map_or(0.0, |number| number as f64 / most * 100.0);
            element("span").class(class).attribute("style", format_args!("width:{width:.1}%"))
        });
        element("tr")
            .with_all(row.texts.iter().chain([&row.change]).map(number))
            .with(element("td").text(&row.name).with_all(bars))
            .with_all(has_why.then(|| element("td").class("wide").attribute("data-name", "Cause").text(&row.why)))
    };
    (!rows.is_empty()).then(|| section(id, heading).with(table_of(columns, 3, 4, rows.iter().map(row))))
}
