//! How much memory the values of an HLO program take, and what changed between two programs, as text and as pages.

pub mod diff;
mod graph;
mod page;
mod sharding;
mod show;
mod text;

pub use graph::graph_page;
pub use page::page;
pub use text::{Section, screen, sections};
pub(crate) use text::{capacity_text, larger_part, what_takes_memory};
