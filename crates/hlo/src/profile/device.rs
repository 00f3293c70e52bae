//! What a plane says about its device.

use super::line::scaled;
use super::plane::{Plane, Result, Value};
use alloc::borrow::ToOwned;
use alloc::string::String;

/// A device of a profile.
///
/// ```
/// use xla_shape_hlo::profile::Profile;
///
/// // A plane of a TPU, with nothing in it but its name.
/// let space = [&[0x0a, 15, 0x12, 13], &b"/device:TPU:0"[..]].concat();
/// let profile = Profile::read(&space)?;
/// let [device] = profile.devices() else { panic!("one device") };
/// assert_eq!((device.name.as_str(), &device.kind), ("/device:TPU:0", &None));
/// # Ok::<(), xla_shape_hlo::profile::ProfileError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ProfiledDevice {
    /// The name of its plane, such as `/device:TPU:0`. For a device of a CPU, the number of the device follows. If several hosts have a plane of the
    /// same name, the hosts are numbered: the second plane is `/device:TPU:0 of host 2`. This count is separate for each name, in the order of the
    /// files.
    pub name: String,
    /// What the profile calls the device, such as `TPU v6 Lite`; `None` if the profile has no name.
    pub kind: Option<String>,
    /// The floating-point operations per second that it can do at most; `None` if the profile does not say.
    pub flops_per_second: Option<u64>,
    /// The bytes per second that its memory can move at most; `None` if the profile does not say.
    pub bytes_per_second: Option<u64>,
}

impl ProfiledDevice {
    /// The name of its plane, on which all devices have one clock.
    pub(super) fn plane(&self) -> &str {
        self.name.split_once(", ").map_or(&self.name, |(plane, _)| plane)
    }
}

/// What a plane says about its device.
pub(super) fn device(plane: &Plane<'_>) -> Result<ProfiledDevice> {
    let find = |name| plane.find(plane.stats.iter().copied(), name);
    let mut kind = None;
    for name in ["device_type_string", "gpu_device_name"] {
        kind = kind.or(find(name)?.and_then(Value::text).filter(|kind| !kind.is_empty()));
    }
    const TERA: f64 = 1e12;
    const GIGA: f64 = 1e9;
    Ok(ProfiledDevice {
        name: plane.unique_name.clone().into_owned(),
        kind: kind.map(str::to_owned),
        flops_per_second: scaled(find("peak_teraflops_per_second")?, TERA),
        // Planes of TPUs have the first of these stats, in GB per second; planes of GPUs have the second, in bytes per second.
        bytes_per_second: scaled(find("peak_hbm_bw_gigabytes_per_second")?, GIGA)
            .or(scaled(find("memory_bandwidth")?, 1.0)),
    })
}
