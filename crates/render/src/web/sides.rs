//! Figures before and after a change, side by side.

use super::{cell, end, escape, push, tracks};

/// A figure of both sides: its name and numbers, their texts, how much they differ, and why.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) numbers: [Option<u64>; 2],
    pub(crate) texts: [String; 2],
    pub(crate) change: String,
    pub(crate) why: String,
}

/// A table of figures, each with two bars, of which the longer one is as wide as its column.
pub(crate) fn side_by_side(body: &mut String, id: &str, heading: &str, rows: Vec<Side>) {
    if rows.is_empty() {
        return;
    }
    let has_why = rows.iter().any(|row| !row.why.is_empty());
    push(
        body,
        format_args!(
            "<section id=\"{id}\">\n<h2>{heading}</h2>\n<div class=\"scroll\"><table style=\"--tracks:{}\">\n<thead><tr><th class=\"number\">Before</th>\
             <th class=\"number\">After</th><th class=\"number\">Change</th><th>Figure</th>{}</tr></thead>\n<tbody>\n",
            tracks(3, 4),
            if has_why { "<th class=\"wide\">Cause</th>" } else { "" }
        ),
    );
    for row in rows {
        let most = row.numbers.into_iter().flatten().max().unwrap_or(0).max(1) as f64;
        let [before, after] = row.numbers.map(|number| number.map_or(0.0, |number| number as f64 / most * 100.0));
        push(
            body,
            format_args!(
                "<tr><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}\
                 <span class=\"part\" style=\"width:{before:.1}%\"></span><span class=\"part after\" style=\"width:{after:.1}%\"></span>",
                escape(&row.texts[0]),
                escape(&row.texts[1]),
                escape(&row.change),
                cell(&row.name)
            ),
        );
        if has_why {
            let why = cell(&row.why);
            push(body, format_args!("</td><td class=\"wide\" data-name=\"Cause\">{why}</td></tr>\n"));
        } else {
            body.push_str("</td></tr>\n");
        }
    }
    body.push_str("</tbody>\n</table></div>\n");
    end(body, 0);
}
