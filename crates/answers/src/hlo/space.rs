//! Which memory spaces a program uses.

use crate::numbers::space_name;
use std::error::Error;
use std::fmt;
use xla_shape_core::memory_space::Platform;
use xla_shape_hlo::Module;

/// The error that no value of the program is in a memory space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchSpace {
    /// The memory space that was named.
    pub space: u8,
    /// The memory spaces that the program uses.
    pub used: Vec<u8>,
    platform: Platform,
}

impl fmt::Display for NoSuchSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.used.iter().map(|&space| space_name(space, self.platform)).collect::<Vec<_>>();
        let used = if used.is_empty() { "none".into() } else { used.join(", ") };
        write!(f, "no value is in memory space {}; the program uses {used}", self.space)
    }
}

impl Error for NoSuchSpace {}

/// Checks that the program has values in a memory space.
///
/// # Errors
/// If it has none.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::hlo::{NoSuchSpace, check_space};
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
/// assert!(check_space(&module, 0).is_ok());
/// let error: NoSuchSpace = check_space(&module, 1).unwrap_err();
/// assert_eq!((error.space, error.used), (1, vec![0]));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
pub fn check_space(module: &Module, space: u8) -> Result<(), NoSuchSpace> {
    let used = module.memory().usage().into_keys().collect::<Vec<_>>();
    if used.contains(&space) { Ok(()) } else { Err(NoSuchSpace { space, used, platform: module.platform() }) }
}
