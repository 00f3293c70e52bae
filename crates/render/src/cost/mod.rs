//! What a program is expected to cost, as text and as a page.

mod measured;
mod measured_page;
mod page;
mod roofline;
mod run_page;
mod text;

pub(crate) use measured::Each;
pub use run_page::{MOST_EVENTS, page_with_run};
pub(crate) use text::{answer, change, lines_of_text};
