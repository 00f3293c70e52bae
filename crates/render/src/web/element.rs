//! The one way in which pages and pictures write HTML and SVG: elements, which escape every text that is put into them.

use super::escape;
use crate::words::shortened;
use std::fmt::Display;

/// The longest text of an element, in characters, so that a page stays small whatever its names are.
const LONGEST: usize = 400;

/// Elements after which a line ends, so that a page can be read as text.
const BLOCKS: [&str; 18] = [
    "defs", "details", "div", "form", "g", "h2", "h3", "li", "output", "p", "pre", "section", "style", "svg", "table",
    "tbody", "tr", "ul",
];

/// Elements of HTML that have no content.
const VOID: [&str; 1] = ["input"];

/// Elements of SVG without content, which end as in XML.
const SHAPES: [&str; 2] = ["path", "rect"];

/// An element of HTML or SVG, or a list of elements.
///
/// The code reads like the page: `element("p").class("hint").text("3 < 4")` is `<p class="hint">3 &lt; 4</p>`.
#[derive(Clone, Default)]
pub(crate) struct Element {
    /// The name of the tag; empty for a list of elements without a tag around them.
    name: &'static str,
    /// The attributes and the content, as HTML.
    attributes: String,
    content: String,
}

/// An element without attributes and content.
pub(crate) fn element(name: &'static str) -> Element {
    Element { name, ..Element::default() }
}

/// A list of elements, empty at first, without a tag around them.
pub(crate) fn elements() -> Element {
    Element::default()
}

/// HTML that is put into the page without escaping. Use it only for parts of pages that come from files of this crate, and for data that is
/// escaped already.
pub(crate) fn made(html: String) -> Element {
    Element { content: html, ..Element::default() }
}

impl Element {
    pub(crate) fn attribute(mut self, name: &str, value: impl Display) -> Self {
        let value = escape(&value.to_string());
        self.attributes.extend([" ", name, "=\"", &value, "\""]);
        self
    }

    pub(crate) fn id(self, id: impl Display) -> Self {
        self.attribute("id", id)
    }

    pub(crate) fn class(self, names: &str) -> Self {
        if names.is_empty() { self } else { self.attribute("class", names) }
    }

    /// Adds a text; if it is very long, its end is left out.
    pub(crate) fn text(self, text: impl Display) -> Self {
        let text = text.to_string();
        self.whole_text(shortened(&text, LONGEST))
    }

    /// Adds a text, however long it is.
    pub(crate) fn whole_text(mut self, text: impl Display) -> Self {
        self.content += &escape(&text.to_string());
        self
    }

    pub(crate) fn with(mut self, inner: Self) -> Self {
        self.content += &inner.html();
        self
    }

    /// Adds the elements of a list, or of an `Option`.
    pub(crate) fn with_all(self, inner: impl IntoIterator<Item = Self>) -> Self {
        inner.into_iter().fold(self, Self::with)
    }

    /// The element as HTML.
    pub(crate) fn html(self) -> String {
        let Self { name, attributes, content } = self;
        let end = if BLOCKS.contains(&name) { "\n" } else { "" };
        match name {
            "" => content,
            name if VOID.contains(&name) => format!("<{name}{attributes}>\n"),
            name if SHAPES.contains(&name) => format!("<{name}{attributes}/>"),
            name => format!("<{name}{attributes}>{content}</{name}>{end}"),
        }
    }
}

/// A small remark below something else.
pub(crate) fn hint(text: impl Display) -> Element {
    element("p").class("hint").text(text)
}

/// A part of a page with a heading.
pub(crate) fn section(id: impl Display, heading: impl Display) -> Element {
    element("section").id(id).with(element("h2").text(heading))
}

#[cfg(test)]
mod tests {
    use super::{element, elements, made};

    #[test]
    fn every_text_is_escaped() {
        let hostile = "</p><script>\"&";
        let html = element("p").id(hostile).class("a").text(hostile).with(element("b").whole_text(hostile)).html();
        let safe = "&lt;/p&gt;&lt;script&gt;&quot;&amp;";
        assert_eq!(html, format!("<p id=\"{safe}\" class=\"a\">{safe}<b>{safe}</b></p>\n"));
    }

    #[test]
    fn elements_stand_in_each_other() {
        let list = element("ul").with_all(["a", "b"].map(|text| element("li").text(text)));
        assert_eq!(
            elements().with(list).with(made("<svg/>".to_owned())).html(),
            "<ul><li>a</li>\n<li>b</li>\n</ul>\n<svg/>"
        );
        assert_eq!(element("input").id("x").html(), "<input id=\"x\">\n");
        assert_eq!(element("rect").attribute("x", 2).html(), "<rect x=\"2\"/>");
        assert!(element("p").text("x".repeat(1000)).html().len() < 500);
    }
}
