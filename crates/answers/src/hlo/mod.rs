//! How much memory the values of an HLO program take, and what changed between two programs.
//!
//! [`Report`] is the answer about one program, [`Difference`] about two, [`ShownInstruction`] about one instruction.

mod causes;
mod devices;
pub mod diff;
mod donation;
mod fits;
mod limit;
mod lists;
pub mod memory;
pub mod report;
pub mod sharding;
pub mod show;
mod signature;
mod space;
mod starts;
pub mod summary;
pub mod times;

pub use crate::device::Device;
pub use causes::Reason;
pub use devices::{OtherDevices, OtherPlatform, check_devices, check_platform};
pub use diff::Difference;
pub use fits::{FitError, OfGpu};
pub(crate) use limit::measure;
pub use limit::{Exceeded, Growth, Limit, LimitError, Measure, Quantity};
pub use report::Report;
pub use show::{ShowError, ShownInstruction};
pub(crate) use signature::{Operations, Signature, same_sharding};
pub use space::{NoSuchSpace, check_space};
