//! Parts that all pages and pictures share.

use crate::words::shortened;
use serde::Serialize;
use std::fmt::Write as _;

mod sides;

pub(crate) use sides::{Side, side_by_side};

/// The style of all pages. Each colour is written once, as `light-dark(…)`; `data-theme` of the root element chooses.
const STYLE: &str = include_str!("web/style.css");

/// The script of all pages.
const SHARED: &str = include_str!("web/page.js");

/// A script that searches in the tables and lists of a page.
const FIND: &str = include_str!("web/find.js");

/// A page of tables and lists, with a search in all of them. The title is text, the body HTML.
pub(crate) fn page_of_tables(title: &str, body: &str) -> String {
    let bar = search("Search in all tables");
    Page { title, heading: title, bar: &bar, main: body, script: FIND, ..Page::default() }.html()
}

/// A search field for the bar of a page, and what says how much was found.
pub(crate) fn search(what: &str) -> String {
    format!(
        "<form id=\"filter\" role=\"search\">\n<input id=\"search\" type=\"search\" placeholder=\"{what}\" aria-label=\"{what}\">\n\
         <output id=\"found\"></output>\n</form>\n"
    )
}

/// The parts of a page.
#[derive(Default)]
pub(crate) struct Page<'t> {
    /// The title of the window, and the heading: both are text.
    pub(crate) title: &'t str,
    pub(crate) heading: &'t str,
    /// HTML: what the bar at the top has beside the heading, the content, and elements after it.
    pub(crate) bar: &'t str,
    pub(crate) main: &'t str,
    pub(crate) end: &'t str,
    /// CSS beside the style of all pages.
    pub(crate) style: &'t str,
    pub(crate) script: &'t str,
}

impl Page<'_> {
    /// The page, without external resources.
    pub(crate) fn html(&self) -> String {
        let Self { bar, main, end, style, script, .. } = self;
        let style = format!("{STYLE}{style}");
        let script = format!("{SHARED}{script}");
        let parts = [
            ("title", escape(self.title)),
            ("heading", escape(self.heading)),
            ("style", style),
            ("bar", (*bar).to_owned()),
            ("main", (*main).to_owned()),
            ("end", (*end).to_owned()),
            ("script", script),
        ];
        fill(include_str!("web/page.html"), &parts)
    }
}

/// The template with HTML in place of each `{{name}}`. What is put in is not searched for names.
pub(crate) fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        let part = parts.iter().find(|(other, _)| *other == name);
        debug_assert!(part.is_some(), "nothing for {name}");
        page.push_str(before);
        page.push_str(part.map_or("", |(_, part)| part));
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Text for XML or HTML, with `<`, `>`, `&` and `"` as entities. Characters that XML 1.0 does not allow, such as control characters, become
/// U+FFFD.
///
/// ```
/// assert_eq!(xla_shape_render::escape("<=8 & \"?\""), "&lt;=8 &amp; &quot;?&quot;");
/// assert_eq!(xla_shape_render::escape("a\u{1}\u{fffe}\t"), "a\u{fffd}\u{fffd}\t");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().map(|c| if is_allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Data for a script: a `<script type="application/json">` element with these attributes.
pub(crate) fn json_script(attributes: &str, data: &impl Serialize) -> String {
    // `</script>` in a text would end the element, and `<!--` would begin a comment. `<` is only inside of JSON's texts.
    let json = serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c");
    format!("<script type=\"application/json\" {attributes}>{json}</script>\n")
}

/// The SVG pattern of padding: diagonal lines. An id is in a page only once.
pub(crate) fn hatching(id: &str) -> String {
    format!(
        "<defs><pattern id=\"{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect class=\"back\" width=\"6\" height=\"6\" fill=\"#fff\"/>\
         <path class=\"line\" d=\"M0 0V6\" stroke=\"#777\" stroke-width=\"2.4\"/></pattern></defs>"
    )
}

/// The pattern that all drawings of a page share.
pub(crate) fn hatching_of_page() -> String {
    format!("<svg class=\"defs\" aria-hidden=\"true\">{}</svg>\n", hatching("padding"))
}

/// What a narrow page says below a picture that may be wider.
pub(crate) const SCROLLS: &str = "<p class=\"hint narrow\">A wider picture scrolls sideways.</p>\n";

/// A list of a page about programs has at most this many entries, so that a page has at most about 5 MB.
pub(crate) const MOST: usize = 500;
/// The longest text of an entry, in characters.
const LONGEST: usize = 400;

/// Appends to a page. Writing to a `String` does not fail.
pub(crate) fn push(body: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = body.write_fmt(text);
}

/// A text as HTML, shortened.
pub(crate) fn cell(text: &str) -> String {
    escape(&shortened(text, LONGEST))
}

/// Ends a section, and says how many entries of its list are not shown.
pub(crate) fn end(body: &mut String, length: usize) {
    if let Some(left) = length.checked_sub(MOST).filter(|&left| left > 0) {
        push(body, format_args!("<p class=\"hint\">… and {left} more; --format json has all</p>\n"));
    }
    body.push_str("</section>\n");
}

/// The columns of a table on a narrow screen. A column of numbers is as wide as its numbers; the other columns share the rest of the width.
pub(crate) fn tracks(numbers: usize, columns: usize) -> String {
    let tracks =
        (0..columns).map(|column| if column < numbers.min(columns.saturating_sub(1)) { "max-content" } else { "auto" });
    tracks.collect::<Vec<_>>().join(" ")
}

/// A table whose first `numbers` columns are numbers. Narrow screens show the last column below the others if there are more than two, and
/// the last two if there are more than four.
pub(crate) fn table<const COLUMNS: usize>(
    body: &mut String,
    id: &str,
    heading: &str,
    columns: [&str; COLUMNS],
    numbers: usize,
    rows: impl ExactSizeIterator<Item = [String; COLUMNS]>,
) {
    let length = rows.len();
    if length == 0 {
        return;
    }
    let beside = COLUMNS.saturating_sub(match COLUMNS {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    });
    let class = |column: usize| match column {
        _ if column < numbers => " class=\"number\"",
        _ if column >= beside => " class=\"wide\"",
        _ => "",
    };
    push(
        body,
        format_args!(
            "<section id=\"{id}\">\n<h2>{heading}</h2>\n<div class=\"scroll\"><table style=\"--tracks:{}\">\n<thead><tr>",
            tracks(numbers, beside)
        ),
    );
    for (number, column) in columns.iter().enumerate() {
        push(body, format_args!("<th{}>{column}</th>", class(number)));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for row in rows.take(MOST) {
        body.push_str("<tr>");
        for (number, (text, column)) in row.iter().zip(columns).enumerate() {
            // A narrow screen has no header above such a column.
            let name = if number >= beside { format!(" data-name=\"{column}\"") } else { String::new() };
            push(body, format_args!("<td{}{name}>{}</td>", class(number), cell(text)));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody>\n</table></div>\n");
    end(body, length);
}
