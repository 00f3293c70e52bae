//! Parts that all pages and pictures share.

use serde::Serialize;
use std::fmt::Display;

pub(crate) mod assets;
mod element;
mod sides;
mod strings;

pub(crate) use assets::asset;
pub(crate) use element::{Element, element, elements, hint, made, section};
pub(crate) use sides::{Side, legend, side_by_side};
pub(crate) use strings::Strings;

/// The style of all pages. Each colour is written once, as `light-dark(…)`: the attribute `data-theme` of the root element chooses between
/// light and dark.
const STYLE: &str = asset!("style.css");

/// The style of plots above an axis: the memory over time, and a run.
pub(crate) const PLOTS: &str = asset!("plots.css");

/// The script of all pages.
const SHARED: &str = asset!("page.js");

/// The script of the search in the tables and lists of a page.
pub(crate) const FIND: &str = asset!("find.js");

/// A page of tables and lists, with a search in all of them.
pub(crate) fn page_of_tables(title: &str, main: Element) -> String {
    let bar = search("Search in all tables");
    Page { title, heading: title, bar, main, script: &[FIND], ..Page::default() }.html()
}

/// A search field for the bar of a page, and the place for the number of results.
pub(crate) fn search(what: &str) -> Element {
    let field = element("input").id("search").attribute("type", "search");
    element("form")
        .id("filter")
        .attribute("role", "search")
        .with(field.attribute("placeholder", what).attribute("aria-label", what))
        .with(element("output").id("found"))
}

/// The parts of a page.
#[derive(Default)]
pub(crate) struct Page<'t> {
    /// The title of the window, and the heading: both are text.
    pub(crate) title: &'t str,
    pub(crate) heading: &'t str,
    /// `bar` follows the heading in the bar at the top, `main` is the content, and `end` follows the content.
    pub(crate) bar: Element,
    pub(crate) main: Element,
    pub(crate) end: Element,
    /// CSS in addition to the style of all pages.
    pub(crate) style: &'t [&'t str],
    /// Scripts in addition to the one of all pages.
    pub(crate) script: &'t [&'t str],
}

impl Page<'_> {
    /// The page, without external resources.
    pub(crate) fn html(self) -> String {
        let Self { bar, main, end, style, script, .. } = self;
        let style = [&[STYLE], style].concat().concat();
        let script = [&[SHARED], script].concat().concat();
        let parts = [
            ("title", escape(self.title)),
            ("heading", escape(self.heading)),
            ("style", style),
            ("bar", bar.html()),
            ("main", main.html()),
            ("end", end.html()),
            ("script", script),
        ];
        fill(include_str!("page.html"), &parts)
    }
}

/// The template with HTML in place of each `{{name}}`. Names in that HTML are not replaced.
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

/// Data for a script.
pub(crate) fn json_script(id: &str, data: &impl Serialize) -> Element {
    // `</script>` in a text would end the element, and `<!--` would begin a comment. JSON has `<` only inside strings.
    let json = serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c");
    element("script").attribute("type", "application/json").id(id).with(made(json))
}

/// What a page says where no script runs.
pub(crate) fn needs_javascript() -> Element {
    element("noscript").text("This page needs JavaScript.")
}

/// The SVG pattern of padding: diagonal lines. An id is in a page only once.
pub(crate) fn hatching(id: &str) -> Element {
    let square = |element: Element| element.attribute("width", 6).attribute("height", 6);
    let back = square(element("rect").class("back")).attribute("fill", "#fff");
    let line = element("path").class("line").attribute("d", "M0 0V6").attribute("stroke", "#777");
    let pattern = square(element("pattern").id(id)).attribute("patternUnits", "userSpaceOnUse");
    let pattern = pattern.attribute("patternTransform", "rotate(45)");
    element("defs").with(pattern.with(back).with(line.attribute("stroke-width", 2.4)))
}

/// The pattern that all drawings of a page share.
pub(crate) fn hatching_of_page() -> Element {
    element("svg").class("defs").attribute("aria-hidden", "true").with(hatching("padding"))
}

/// What a narrow page says below a picture that may be wider.
pub(crate) fn scrolls() -> Element {
    element("p").class("hint narrow").text("A wider picture scrolls sideways.")
}

/// A list of a page about programs has at most this many entries, so that a page has at most about 5 MB.
pub(crate) const MOST: usize = 500;

/// Says how many entries of a list of this length are not shown; `None` if all are.
pub(crate) fn left_out(length: usize) -> Option<Element> {
    let left = length.checked_sub(MOST).filter(|&left| left > 0)?;
    Some(hint(format_args!("… and {left} more; --format json has all")))
}

/// A table with these columns, each with its class. On a narrow screen, only the first `beside` columns are side by side: the first
/// `numbers` of them are as wide as their numbers, and the others share the rest of the width.
pub(crate) fn table_of<'c>(
    columns: impl Iterator<Item = (&'c str, &'static str)>,
    numbers: usize,
    beside: usize,
    rows: impl Iterator<Item = Element>,
) -> Element {
    let last = beside.saturating_sub(1);
    let tracks = (0..beside).map(|column| if column < numbers.min(last) { "max-content" } else { "auto" });
    let heads = columns.map(|(name, class)| element("th").class(class).text(name));
    let table = element("table")
        .attribute("style", format_args!("--tracks:{}", tracks.collect::<Vec<_>>().join(" ")))
        .with(element("thead").with(element("tr").with_all(heads)))
        .with(element("tbody").with_all(rows));
    element("div").class("scroll").with(table)
}

/// A section with a table whose first `numbers` columns are numbers; nothing without rows. Narrow screens show the last column below the others if
/// there are more than two, and the last two if there are more than four.
pub(crate) fn table<const COLUMNS: usize>(
    id: impl Display,
    heading: impl Display,
    columns: [&str; COLUMNS],
    numbers: usize,
    rows: impl ExactSizeIterator<Item = [String; COLUMNS]>,
) -> Option<Element> {
    let length = rows.len();
    let beside = COLUMNS.saturating_sub(match COLUMNS {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    });
    let class = |column: usize| match column {
        _ if column < numbers => "number",
        _ if column >= beside => "wide",
        _ => "",
    };
    let row = |row: [String; COLUMNS]| {
        let cells = row.into_iter().zip(columns).enumerate().map(|(number, (text, column))| {
            let cell = element("td").class(class(number));
            // On a narrow screen, a column below the others has no header, so its cells have its name.
            if number >= beside { cell.attribute("data-name", column) } else { cell }.text(text)
        });
        element("tr").with_all(cells)
    };
    let classes = columns.into_iter().enumerate().map(|(number, name)| (name, class(number)));
    let table = table_of(classes, numbers, beside, rows.take(MOST).map(row));
    (length > 0).then(|| section(id, heading).with(table).with_all(left_out(length)))
}
