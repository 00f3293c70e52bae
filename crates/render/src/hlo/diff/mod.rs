//! What changed between two programs, as text, as Markdown and as a page.

mod markdown;
mod page;
mod text;

pub use markdown::markdown;
pub use page::page;
