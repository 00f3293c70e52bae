//! Which memory spaces a program uses.

use crate::words::space_name;
use std::error::Error;
use std::fmt;
use xla_shape_hlo::Module;

/// No value of the program is in this memory space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchSpace {
    /// The memory space.
    pub space: u8,
    /// Those that the program uses.
    pub used: Vec<u8>,
}

impl fmt::Display for NoSuchSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.used.iter().map(|&space| space_name(space)).collect::<Vec<_>>();
        let used = if used.is_empty() { "none".into() } else { used.join(", ") };
        write!(f, "no value is in memory space {}; the program uses {used}", self.space)
    }
}

impl Error for NoSuchSpace {}

/// Checks that the program has values in a memory space.
///
/// # Errors
/// If it has none.
pub fn check_space(module: &Module<'_>, space: u8) -> Result<(), NoSuchSpace> {
    let used = module.memory().usage().into_keys().collect::<Vec<_>>();
    if used.contains(&space) { Ok(()) } else { Err(NoSuchSpace { space, used }) }
}
