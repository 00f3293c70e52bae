//! What a program is expected to cost, as text and as a page.

mod measured;
mod measured_page;
mod page;
mod text;

pub(crate) use text::{answer, change, lines_of_text};
