//! Whether two programs are for the same devices, and a program for the device that a user names.

use super::signature::Signature;
use crate::device::Device;
use std::fmt;
use xla_shape_core::memory_space::Platform;
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

/// The error for a program that was compiled for another kind of device than the user names. What it takes there is unknown until it is compiled for
/// that device: arrays have tiles on a TPU only, and compilers fuse in other ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherPlatform {
    /// The device that the user names.
    device: Device,
}

impl fmt::Display for OtherPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (compiled, named) = match self.device.platform() {
            Platform::Tpu => ("GPU", "TPU"),
            _ => ("TPU", "GPU"),
        };
        write!(f, "the program was compiled for a {compiled}, so it does not say what it takes on a {named}")
    }
}

impl std::error::Error for OtherPlatform {}

/// Checks that a program was not compiled for a GPU if the device is a TPU, or the other way round. A module that shows no device passes.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::hlo::{OtherPlatform, check_platform};
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0) }")?;
/// assert!(check_platform(&module, "v5e".parse()?).is_ok());
/// let error: OtherPlatform = check_platform(&module, "h100".parse()?).unwrap_err();
/// assert_eq!(error.to_string(), "the program was compiled for a TPU, so it does not say what it takes on a GPU");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the module shows the other kind of device.
pub fn check_platform(module: &Module, device: Device) -> Result<(), OtherPlatform> {
    match (module.platform(), device.platform()) {
        (Platform::Tpu, Platform::Gpu) | (Platform::Gpu, Platform::Tpu) => Err(OtherPlatform { device }),
        _ => Ok(()),
    }
}

/// The number of partitions or replicas in a module; 1 if the module does not say it.
pub(crate) fn device_count(module: &Module, what: &str) -> String {
    module.attribute(what).map_or_else(|| "1".to_owned(), |value| value.text().to_owned())
}
