//! Whether two programs are for the same devices.

use super::signature::Signature;
use std::fmt;
use xla_shape_hlo::Module;

/// The error for two programs that are not compared, because they are divided among different numbers of devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherDevices {
    /// The name of the number in the module, such as `num_partitions`.
    what: &'static str,
    numbers: [String; 2],
}

impl fmt::Display for OtherDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, after] = &self.numbers;
        write!(f, "the programs are for different devices: {} is {before} before and {after} after", self.what)
    }
}

impl std::error::Error for OtherDevices {}

/// Checks that two programs are divided among the same number of partitions and replicas. A module does not say for which generation of
/// TPU it was compiled.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::hlo::{OtherDevices, check_devices};
///
/// let one = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
/// let two = Module::parse("HloModule m, num_partitions=2\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
/// assert!(check_devices(&two, &two).is_ok());
/// let error: OtherDevices = check_devices(&one, &two).unwrap_err();
/// assert_eq!(error.to_string(), "the programs are for different devices: num_partitions is 1 before and 2 after");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
///
/// # Errors
/// If the numbers differ.
pub fn check_devices(before: &Module, after: &Module) -> Result<(), OtherDevices> {
    OtherDevices::compare(&Signature::new(before), &Signature::new(after))
}

impl OtherDevices {
    /// Compares the numbers of devices of two programs.
    pub(crate) fn compare(before: &Signature, after: &Signature) -> Result<(), Self> {
        for ((what, first), second) in Signature::DEVICES.iter().zip(&before.devices).zip(&after.devices) {
            if first != second {
                return Err(Self { what, numbers: [first.clone(), second.clone()] });
            }
        }
        Ok(())
    }
}

/// The number of partitions or replicas in a module; 1 if the module does not say it.
pub(crate) fn device_count(module: &Module, what: &str) -> String {
    module.attribute(what).map_or_else(|| "1".to_owned(), |value| value.text().to_owned())
}
