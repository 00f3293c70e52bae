//! Answers for people.

use crate::Text;
use crate::digest::digest;
use xla_shape_answers::Answer;

/// An answer that can be shown to people.
pub trait Show: Answer {
    /// The answer for people. Paragraphs are wrapped to at most `width` characters; a longer word has a line of its own.
    ///
    /// ```
    /// use xla_shape_answers::explain::Explanation;
    /// use xla_shape_render::Show;
    ///
    /// let shape: xla_shape_core::Shape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// let text = Explanation::new(shape).text(80).to_string();
    /// assert!(text.contains("53,248 bytes (52 KiB), 133.1x what the elements need"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    fn text(&self, width: usize) -> Text;

    /// The part of [`text`](Self::text) for an agent's prompt: the facts of the JSON, without explanations.
    fn lead(&self, width: usize) -> Text {
        self.text(width)
    }

    /// The answer for a prompt: its first lines, its largest causes, each with its line and its remedy, and what to ask next; at most 30 lines
    /// and 5,000 bytes. `files` are the names of the files that were asked about, in the order of the arguments; without them, the commands say
    /// `FILE`.
    ///
    /// ```
    /// use xla_shape_answers::explain::Explanation;
    /// use xla_shape_render::Show;
    ///
    /// let shape: xla_shape_core::Shape = "f32[100,1]{1,0:T(8,128)}".parse()?;
    /// let text = Explanation::new(shape).brief(&[]).to_string();
    /// assert!(text.contains("53,248 bytes") && text.lines().count() <= 30);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    fn brief(&self, files: &[&str]) -> Text {
        digest(self, files)
    }
}

/// An answer with a picture.
pub trait Svg: Answer {
    /// The picture, as one `<svg>` element.
    ///
    /// ```
    /// use xla_shape_answers::draw::Drawing;
    /// use xla_shape_render::Svg;
    ///
    /// let drawing = Drawing::new(&"f32[3,5]{1,0:T(2,2)}".parse()?)?;
    /// assert!(drawing.svg().starts_with("<svg") && drawing.svg().contains("viewBox"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn svg(&self) -> String;
}

/// An answer with a page.
pub trait Html: Answer {
    /// The answer as an HTML page without external resources.
    ///
    /// ```
    /// use xla_shape_answers::draw::Drawing;
    /// use xla_shape_render::Html;
    ///
    /// let page = Drawing::new(&"f32[3,5]{1,0:T(2,2)}".parse()?)?.html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("<svg") && !page.contains("<script src"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn html(&self) -> String;
}
