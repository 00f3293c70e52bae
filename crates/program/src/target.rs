//! The GPU that a program was compiled for, from the `gpu_target_config.pbtxt` of its dump (`GpuTargetConfigProto` in
//! `xla/stream_executor/device_description.proto`).

use std::fmt;
use xla_shape_hlo::InUnits;

/// The device in a target config. It displays as its name, with its memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target<'t> {
    name: &'t str,
    memory_bytes: Option<u64>,
}

impl<'t> Target<'t> {
    /// The device that a target config names; the error is a part of a sentence.
    pub(crate) fn parse(text: &'t str) -> Result<Self, &'static str> {
        let name = after(text, "device_description_str").and_then(|rest| {
            let quote = rest.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
            rest.get(1..)?.split_once(quote)
        });
        let name = name.map(|(name, _)| name).filter(|name| !name.is_empty() && !name.contains('\n'));
        let digits = |rest: &'t str| rest.split(|letter: char| !letter.is_ascii_digit()).next();
        let memory = after(text, "device_memory_size").and_then(digits);
        let memory_bytes = memory.and_then(|digits| digits.parse().ok()).filter(|bytes| *bytes > 0);
        Ok(Self { name: name.ok_or("it names no device")?, memory_bytes })
    }
}

/// What follows the name of a field, a colon and space.
fn after<'t>(text: &'t str, field: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(field)?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.memory_bytes.map_or(Ok(()), |bytes| write!(f, ", which has {}", InUnits(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_target_config_names_the_device_and_its_memory() {
        let text = "gpu_device_info {\n  core_count: 132\n  device_memory_size: 84942979072\n}\nplatform_name: \"CUDA\"\n\
                    device_description_str: \"NVIDIA H100 80GB HBM3\"\n";
        assert_eq!(Target::parse(text).unwrap().to_string(), "NVIDIA H100 80GB HBM3, which has 79.1 GiB");
        assert_eq!(Target::parse("device_description_str: 'x'").unwrap().to_string(), "x");
        for text in ["", "device_description_str: \"\"", "device_description_str: \"x", "device_memory_size: 3"] {
            assert_eq!(Target::parse(text), Err("it names no device"), "{text}");
        }
    }
}
