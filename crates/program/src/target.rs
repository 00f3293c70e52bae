//! The GPU that a program was compiled for, from the `gpu_target_config.pbtxt` of its dump.

use std::borrow::Cow;
use xla_shape_hlo::InUnits;
use xla_shape_hlo::proto::GpuConfig;

/// The device that the description in a dump names, with its memory; the error is a part of a sentence.
pub(crate) fn device_of(text: &str) -> Result<String, Cow<'static, str>> {
    let config = GpuConfig::parse(text).map_err(|error| error.to_string())?;
    let name = config.name().ok_or("it names no device")?;
    let memory = config.memory_bytes().map(|bytes| format!(", which has {}", InUnits(bytes)));
    Ok(format!("{name}{}", memory.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::device_of;

    #[test]
    fn a_target_config_names_the_device_and_its_memory() {
        let text = "gpu_device_info {\n  core_count: 132\n  device_memory_size: 84942979072\n}\nplatform_name: \"CUDA\"\n\
                    device_description_str: \"NVIDIA H100 80GB HBM3\"\n";
        assert_eq!(device_of(text).unwrap(), "NVIDIA H100 80GB HBM3, which has 79.1 GiB");
        assert_eq!(device_of("device_description_str: 'x'").unwrap(), "x");
        assert_eq!(device_of("device_memory_size: 3").unwrap_err(), "it names no device");
        assert!(device_of("device_description_str: \"x").is_err());
    }
}
