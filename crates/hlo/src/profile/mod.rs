//! Profiles: an `XSpace` (`tsl/profiler/protobuf/xplane.proto`), as the profilers of JAX and TensorFlow write it.
//!
//! [`Profile`] has the modules that ran while it was recorded, and how long each of their instructions took on each device. A profile is
//! read plane by plane, so that a reader of files needs memory for one plane, not for the whole file.

mod device;
mod error;
mod events;
mod kept;
mod line;
mod module;
mod plane;
mod reading;
mod space;
mod times;

pub use device::ProfiledDevice;
pub use error::{ProfileError, ProfileErrorKind};
pub use kept::{EventRow, KeptEvent};
pub use module::ProfiledModule;
pub use space::Profile;
pub use times::{Doubts, InstructionTimes, Run};
