//! Options of the compiler.

use crate::program::Program;
use prost::Message as _;
use std::collections::BTreeMap;
use std::time::Duration;

/// Options for compiling a program (`CompileOptionsProto` in `xla/pjrt/proto/compile_options.proto`).
///
/// ```
/// use xla_shape_pjrt::CompileOptions;
///
/// let options = CompileOptions::new().partitions(4).option("xla_tpu_scoped_vmem_limit_kib", "65536");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CompileOptions {
    replicas: Option<u32>,
    partitions: Option<u32>,
    options: BTreeMap<String, String>,
    pub(crate) time_limit: Option<Duration>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        let time_limit = Some(Duration::from_secs(600));
        Self { replicas: None, partitions: None, options: BTreeMap::new(), time_limit }
    }
}

impl CompileOptions {
    /// The default options: as many replicas and partitions as the program says, otherwise one; a time limit of ten minutes.
    ///
    /// ```
    /// use xla_shape_pjrt::CompileOptions;
    ///
    /// assert_eq!(CompileOptions::new(), CompileOptions::default());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of replicas, in place of the program's own.
    ///
    /// ```
    /// # use xla_shape_pjrt::CompileOptions;
    /// let options = CompileOptions::new().replicas(2).partitions(4); // for 8 devices
    /// ```
    #[must_use]
    pub fn replicas(self, replicas: u32) -> Self {
        Self { replicas: Some(replicas), ..self }
    }

    /// The number of devices among which each replica is divided, in place of the program's own.
    ///
    /// ```
    /// # use xla_shape_pjrt::CompileOptions;
    /// let options = CompileOptions::new().partitions(4);
    /// ```
    #[must_use]
    pub fn partitions(self, partitions: u32) -> Self {
        Self { partitions: Some(partitions), ..self }
    }

    /// Sets an option of the compiler, like JAX's `compiler_options`.
    ///
    /// ```
    /// # use xla_shape_pjrt::CompileOptions;
    /// let options = CompileOptions::new().option("xla_tpu_scoped_vmem_limit_kib", "65536");
    /// ```
    #[must_use]
    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets options of the compiler, except those that are set already.
    ///
    /// ```
    /// # use xla_shape_pjrt::CompileOptions;
    /// let own = CompileOptions::new().option("xla_gpu_autotune_level", "4");
    /// assert_eq!(own.clone().or_options([("xla_gpu_autotune_level", "0".to_owned())]), own);
    /// ```
    #[must_use]
    pub fn or_options<'n>(mut self, options: impl IntoIterator<Item = (&'n str, String)>) -> Self {
        for (name, value) in options {
            self.options.entry(name.to_owned()).or_insert(value);
        }
        self
    }

    /// The time limit for compiling; `None` for no limit. The default is ten minutes.
    ///
    /// ```
    /// # use xla_shape_pjrt::CompileOptions;
    /// # use std::time::Duration;
    /// let options = CompileOptions::new().time_limit(Some(Duration::from_secs(3600)));
    /// ```
    #[must_use]
    pub fn time_limit(self, limit: Option<Duration>) -> Self {
        Self { time_limit: limit, ..self }
    }

    /// The options for this program as the bytes of XLA's message `CompileOptionsProto`.
    ///
    /// ```
    /// # use xla_shape_pjrt::{CompileOptions, Program};
    /// let program = Program::from_mlir(b"module attributes {mhlo.num_partitions = 4 : i32} {}");
    /// let same = CompileOptions::new().partitions(4);
    /// assert_eq!(CompileOptions::new().to_proto(&program), same.to_proto(&program));
    /// ```
    #[must_use]
    pub fn to_proto(&self, program: &Program) -> Vec<u8> {
        let (replicas, partitions) = self.counts(program);
        let overrides = self.options.iter().map(|(name, value)| (name.clone(), OptionOverrideProto::new(value)));
        let message = CompileOptionsProto {
            executable_build_options: Some(ExecutableBuildOptionsProto {
                device_ordinal: -1,
                num_replicas: replicas.into(),
                num_partitions: partitions.into(),
                use_spmd_partitioning: partitions > 1,
                device_assignment: Some(DeviceAssignmentProto::natural(replicas, partitions)),
                use_shardy_partitioner: program.uses_shardy(),
            }),
            env_option_overrides: overrides.collect(),
        };
        message.encode_to_vec()
    }

    /// The numbers of replicas and partitions.
    fn counts(&self, program: &Program) -> (u32, u32) {
        let replicas = self.replicas.or(program.replicas()).unwrap_or(1).max(1);
        (replicas, self.partitions.or(program.partitions()).unwrap_or(1).max(1))
    }

    /// The number of devices that the program needs.
    pub(crate) fn devices(&self, program: &Program) -> u64 {
        let (replicas, partitions) = self.counts(program);
        u64::from(replicas) * u64::from(partitions)
    }
}

/// The fields of XLA's `CompileOptionsProto` that this crate sets.
#[derive(Clone, PartialEq, prost::Message)]
struct CompileOptionsProto {
    #[prost(message, optional, tag = "3")]
    executable_build_options: Option<ExecutableBuildOptionsProto>,
    #[prost(btree_map = "string, message", tag = "7")]
    env_option_overrides: BTreeMap<String, OptionOverrideProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ExecutableBuildOptionsProto {
    #[prost(int64, tag = "1")]
    device_ordinal: i64,
    #[prost(int64, tag = "4")]
    num_replicas: i64,
    #[prost(int64, tag = "5")]
    num_partitions: i64,
    #[prost(bool, tag = "6")]
    use_spmd_partitioning: bool,
    #[prost(message, optional, tag = "9")]
    device_assignment: Option<DeviceAssignmentProto>,
    #[prost(bool, tag = "19")]
    use_shardy_partitioner: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct DeviceAssignmentProto {
    #[prost(int32, tag = "1")]
    replica_count: i32,
    #[prost(int32, tag = "2")]
    computation_count: i32,
    #[prost(message, repeated, tag = "3")]
    computation_devices: Vec<ComputationDevice>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ComputationDevice {
    #[prost(int64, repeated, tag = "1")]
    replica_device_ids: Vec<i64>,
}

impl DeviceAssignmentProto {
    /// The assignment in which partition `p` of replica `r` runs on device `r * partitions + p`.
    fn natural(replicas: u32, partitions: u32) -> Self {
        // No TPU has more devices. The limit bounds the length of the list for any numbers that a user writes.
        const MAX_DEVICES: u32 = 1 << 16;
        let (replicas, partitions) = (replicas.min(MAX_DEVICES), partitions.min(MAX_DEVICES));
        let listed = if u64::from(replicas) * u64::from(partitions) > u64::from(MAX_DEVICES) { 0 } else { partitions };
        let devices = (0..listed).map(|partition| ComputationDevice {
            replica_device_ids: (0..replicas)
                .map(|replica| i64::from(replica) * i64::from(partitions) + i64::from(partition))
                .collect(),
        });
        Self {
            replica_count: replicas.cast_signed(),
            computation_count: partitions.cast_signed(),
            computation_devices: devices.collect(),
        }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct OptionOverrideProto {
    #[prost(oneof = "OptionValue", tags = "1, 2, 3, 4")]
    value: Option<OptionValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum OptionValue {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(int64, tag = "3")]
    Integer(i64),
    #[prost(double, tag = "4")]
    Float(f64),
}

impl OptionOverrideProto {
    /// Booleans and numbers are passed as such, everything else as text, as JAX does.
    fn new(value: &str) -> Self {
        let truth = match value {
            "true" | "True" => Some(OptionValue::Bool(true)),
            "false" | "False" => Some(OptionValue::Bool(false)),
            _ => None,
        };
        let integer = || value.parse().ok().map(OptionValue::Integer);
        let float = || value.parse().ok().map(OptionValue::Float);
        let value = truth.or_else(integer).or_else(float).unwrap_or_else(|| OptionValue::Text(value.to_owned()));
        Self { value: Some(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::{CompileOptions, DeviceAssignmentProto};
    use crate::Program;

    #[test]
    fn the_plain_options_are_those_of_one_device() {
        let program = Program::from_mlir(b"module {}");
        let bytes = CompileOptions::new().to_proto(&program);
        // device_ordinal -1, num_replicas 1, num_partitions 1, device_assignment {1, 1, {{0}}}.
        let ordinal = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let assignment = [0x4a, 0x09, 0x08, 0x01, 0x10, 0x01, 0x1a, 0x03, 0x0a, 0x01, 0x00];
        let build = [&ordinal[..], &[0x20, 0x01, 0x28, 0x01], &assignment].concat();
        assert_eq!(bytes, [&[0x1a, build.len() as u8][..], &build].concat());
    }

    #[test]
    fn programs_and_options_say_how_many_devices_there_are() {
        let program = Program::from_mlir(b"module attributes {mhlo.num_partitions = 4 : i32} {}");
        let by_program = CompileOptions::new().to_proto(&program);
        assert_eq!(by_program, CompileOptions::new().partitions(4).to_proto(&Program::from_mlir(b"module {}")));
        assert_ne!(by_program, CompileOptions::new().partitions(2).to_proto(&program));
        let natural = DeviceAssignmentProto::natural(2, 3);
        let ids = natural.computation_devices.iter().map(|device| device.replica_device_ids.clone());
        assert_eq!(ids.collect::<Vec<_>>(), [[0, 3], [1, 4], [2, 5]]);
        assert!(DeviceAssignmentProto::natural(u32::MAX, u32::MAX).computation_devices.is_empty());
    }
}
