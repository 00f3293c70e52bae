//! What the values of an HLO program take in memory, and what changed between two programs.

mod diff;
mod memory;
mod page;
mod report;
mod sharding;
mod space;
mod statistics;
mod text;

pub use diff::Difference;
pub use memory::Device;
pub(crate) use memory::{Capacity, Memory, capacity_of};
pub use page::page;
pub use report::Report;
pub(crate) use report::Value;
pub use space::{NoSuchSpace, check_space};
pub use statistics::{Statistics, StatisticsError};
