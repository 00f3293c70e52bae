//! A module of a profile: its runs, and the times of its instructions.

use super::times::{InstructionTimes, Run};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A module of a profile.
///
/// ```
/// use xla_shape_hlo::profile::{Doubts, Profile, Run};
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/v6e.xplane.pb"));
/// let profile = Profile::read(bytes)?;
/// let [module] = profile.modules() else { panic!("one module") };
/// let (name, times) = module.instructions().next().unwrap();
/// assert_eq!((name, times.count, times.total), ("matmul_optimized.1", 3, 227_262_500));
/// let first: &Run = &module.runs()[0];
/// assert_eq!((first.duration, first.busy), (75_571_250, 75_566_250));
/// assert_eq!(profile.doubts(), Doubts::default());
/// # Ok::<(), xla_shape_hlo::profile::ProfileError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProfiledModule {
    pub(super) name: String,
    pub(super) message: Option<Vec<u8>>,
    pub(super) runs: Vec<Run>,
    pub(super) instructions: Times,
    pub(super) asynchronous: Times,
}

/// The times of instructions, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) all: Vec<(String, InstructionTimes)>,
    by_name: BTreeMap<String, u32>,
}

impl Times {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        // The cast is exact: memory would run out before there were 2^32 names.
        let number = self.all.len() as u32;
        self.all.push((name.to_owned(), InstructionTimes::default()));
        self.by_name.insert(name.to_owned(), number);
        number
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut InstructionTimes> {
        self.all.get_mut(number as usize).map(|(_, times)| times)
    }
}

impl ProfiledModule {
    /// Its name with the number of its program, such as `jit_step(6)`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its message, an `HloProto`; `None` if the profile has none.
    #[must_use]
    pub fn message(&self) -> Option<&[u8]> {
        self.message.as_deref()
    }

    /// Its runs, on all devices; empty if the profile does not say when it ran.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The times of its instructions, by name.
    pub fn instructions(&self) -> impl ExactSizeIterator<Item = (&str, &InstructionTimes)> {
        self.instructions.all.iter().map(|(name, times)| (name.as_str(), times))
    }

    /// The times of instructions that ran asynchronously, by name: copies and collectives of a TPU, each from its start to its end.
    pub fn asynchronous(&self) -> impl ExactSizeIterator<Item = (&str, &InstructionTimes)> {
        self.asynchronous.all.iter().map(|(name, times)| (name.as_str(), times))
    }

    /// The time of all its runs in picoseconds or, if the profile has no runs, that of all its instructions.
    #[must_use]
    pub fn picoseconds(&self) -> u64 {
        let runs = self.runs.iter().map(|run| run.duration).fold(0, u64::saturating_add);
        let own = || self.instructions().map(|(_, times)| times.own).fold(0, u64::saturating_add);
        if self.runs.is_empty() { own() } else { runs }
    }
}
