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

/// The error for a program that was compiled for another kind of device than the user names. What it takes there is not known until it is compiled for
/// that device, because arrays have tiles on a TPU only, and compilers fuse in other ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherPlatform {
    /// The device that the user names.
    device: Device,
}

impl fmt::Display for OtherPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.device.name().unwrap_or("this device");
        let found = match self.device.platform() {
            Platform::Tpu => "a CPU or a GPU: its arrays have no tiles, as a TPU's have",
            _ => "a TPU: its arrays have tiles",
        };
        write!(f, "the program was not compiled for {name}, but for {found}")
    }
}

impl std::error::Error for OtherPlatform {}

/// Checks that a program was compiled for the kind of device that a user names. Only a TPU's arrays have tiles. A program that is not compiled yet passes,
/// and a number of bytes can be of any device.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::hlo::{OtherPlatform, check_platform};
///
/// let tiled = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0) }")?;
/// assert!(check_platform(&tiled, "v5e".parse()?).is_ok());
/// let error: OtherPlatform = check_platform(&tiled, "h100".parse()?).unwrap_err();
/// assert_eq!(error.to_string(), "the program was not compiled for h100, but for a TPU: its arrays have tiles");
/// let plain = Module::parse("HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[8,128]{1,0} parameter(0) }")?;
/// assert!(check_platform(&plain, "h100".parse()?).is_ok());
/// let error = check_platform(&plain, "v5e".parse()?).unwrap_err();
/// assert!(error.to_string().starts_with("the program was not compiled for v5e, but for a CPU or a GPU"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If its arrays have tiles and the device is a GPU, or the other way round.
pub fn check_platform(module: &Module, device: Device) -> Result<(), OtherPlatform> {
    let is_other = match device.platform() {
        Platform::Tpu => !module.is_for_tpu() && (module.is_scheduled() || module.is_for_gpu()),
        Platform::Gpu => module.is_for_tpu(),
        Platform::Other => false,
    };
    if is_other { Err(OtherPlatform { device }) } else { Ok(()) }
}

/// The number of partitions or replicas in a module; 1 if the module does not say it.
pub(crate) fn device_count(module: &Module, what: &str) -> String {
    module.attribute(what).map_or_else(|| "1".to_owned(), |value| value.text().to_owned())
}
