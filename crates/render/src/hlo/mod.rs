//! How much memory the values of an HLO program take, and what changed between two programs.
//!
//! [`Report`] is the answer about one program, [`Difference`] about two, and [`page()`] an interactive page.

mod causes;
mod devices;
pub mod diff;
mod fits;
mod graph;
mod limit;
mod memory;
mod page;
mod report;
mod sharding;
mod show;
mod signature;
mod space;
mod strings;
mod summary;
mod text;

pub(crate) use causes::Reason;
pub use devices::{OtherDevices, check_devices};
pub use diff::Difference;
pub use fits::FitError;
pub use graph::graph_page;
pub(crate) use limit::measure;
pub use limit::{Growth, Limit, LimitError, Measure};
pub use memory::Device;
pub(crate) use memory::{Capacity, Memory, capacity_in};
pub use page::page;
pub use report::Report;
pub(crate) use report::Value;
pub use show::{ShowError, ShownInstruction};
pub(crate) use signature::{Operations, Signature};
pub use space::{NoSuchSpace, check_space};
pub use text::Section;
