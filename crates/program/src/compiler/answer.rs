//! What a compiler says about a program, and how one process passes it to another.

use super::CompileError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use xla_shape_core::Shape;
use xla_shape_core::gpu::{Gpu, Speed};
use xla_shape_core::shard::Sharding;
use xla_shape_hlo::{Account, Module};

/// What a compiler says about a program that it compiled for one device.
///
/// Its serialized form is what the compiler's process writes; no number is rounded.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_program::CompilerAnswer;
///
/// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?;
/// let shape: xla_shape_core::Shape = "f32[8]{0}".parse()?;
/// let said = CompilerAnswer {
///     message: module.to_proto()?,
///     inputs: vec![shape.clone()],
///     outputs: vec![shape],
///     cost: [("flops".to_owned(), 0.1)].into(),
///     ..CompilerAnswer::default()
/// };
/// let read: CompilerAnswer = serde_json::from_str(&serde_json::to_string(&said)?)?;
/// assert_eq!(read, said);
/// assert_eq!(read.module()?.name(), Some("m"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CompilerAnswer {
    /// The optimized module as XLA's message, `HloModuleProto`.
    #[serde(with = "base64")]
    pub message: Vec<u8>,
    /// The parameters, in the layouts that the compiler chose.
    #[serde(with = "texts")]
    pub inputs: Vec<Shape>,
    /// The results, in the layouts that the compiler chose.
    #[serde(with = "texts")]
    pub outputs: Vec<Shape>,
    /// How the parameters are divided among devices, if the compiler says so.
    #[serde(with = "some_texts")]
    pub input_shardings: Option<Vec<Sharding>>,
    /// How the results are divided among devices, if the compiler says so.
    #[serde(with = "some_texts")]
    pub output_shardings: Option<Vec<Sharding>>,
    /// The memory that the program takes.
    #[serde(with = "account")]
    pub account: Account,
    /// The bytes of the program's own code on the device.
    pub generated_code: u64,
    /// What the compiler expects the program to cost, by its own names, such as `flops`.
    #[serde(with = "bits")]
    pub cost: BTreeMap<String, f64>,
    /// For a GPU: whether the compiler took results of autotuning from a file. Without such results it does not tune. `None` for a TPU,
    /// or if the user's options decide about tuning.
    #[serde(default)]
    pub autotuned: Option<bool>,
    /// For a GPU, if the file lacks some results of autotuning: the number of instructions without a result, and the
    /// number of all that need one. `None` for a number that the compiler does not give.
    #[serde(default)]
    pub untuned: Option<[Option<u64>; 2]>,
    /// The bandwidth of the GPU's memory in bytes per second; `None` for a TPU, or if the description of the GPU does not say it.
    #[serde(default)]
    pub bytes_per_second: Option<u64>,
    /// The GPU, if it is in the core's table.
    #[serde(default)]
    pub gpu: Option<String>,
    /// A text that is the same for the same program, options and compiler.
    pub fingerprint: Option<String>,
    /// The version of the compiler, in its own words.
    pub compiler: Option<String>,
}

impl CompilerAnswer {
    /// How fast the GPU is; `None` for a TPU, or if the description of the GPU does not say the bandwidth of its memory.
    #[must_use]
    pub fn speed(&self) -> Option<Speed> {
        let gpu = self.gpu.as_deref().and_then(Gpu::from_name);
        self.bytes_per_second.map(|bytes_per_second| Speed { bytes_per_second, gpu })
    }

    /// The optimized module.
    ///
    /// # Errors
    /// If the message cannot be read.
    pub fn module(&self) -> Result<Module, CompileError> {
        let unreadable = |error| CompileError::Refused(format!("the program's message cannot be read: {error}"));
        Module::from_proto(&self.message).map_err(unreadable)
    }

    /// The bytes of HBM that the program takes, without its code.
    ///
    /// ```
    /// let mut said = xla_shape_program::CompilerAnswer::default();
    /// said.account.device.temporaries = 4096;
    /// said.generated_code = 100;
    /// assert_eq!(said.hbm_bytes(), 4096);
    /// ```
    #[must_use]
    pub fn hbm_bytes(&self) -> u64 {
        self.account.device.total()
    }
}

/// Bytes as a text.
mod base64 {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Values by their texts.
mod texts {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(super) fn serialize<T: Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
    }
}

/// An optional list of values, stored as their texts.
mod some_texts {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(super) fn serialize<T: Display, S: Serializer>(
        values: &Option<Vec<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let texts = values.as_ref().map(|values| values.iter().map(ToString::to_string).collect::<Vec<_>>());
        texts.serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<T>>, D::Error> {
        let texts = Option::<Vec<String>>::deserialize(deserializer)?;
        let read = |texts: Vec<String>| texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect();
        texts.map(read).transpose()
    }
}

/// The totals and the peak of the memory, which the compiler counts exactly. It does not report the other fields of an
/// account.
mod account {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use xla_shape_hlo::{Account, Totals};

    /// Arguments, outputs, aliases and temporaries.
    type Numbers = [u64; 4];

    pub(super) fn serialize<S: Serializer>(account: &Account, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = |totals: Totals| [totals.arguments, totals.outputs, totals.aliases, totals.temporaries];
        (numbers(account.device), numbers(account.host), account.peak, account.exact).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Account, D::Error> {
        let (device, host, peak, exact) = <(Numbers, Numbers, u64, bool)>::deserialize(deserializer)?;
        let totals =
            |[arguments, outputs, aliases, temporaries]: Numbers| Totals { arguments, outputs, aliases, temporaries };
        let mut account = Account::default();
        account.device = totals(device);
        account.host = totals(host);
        account.peak = peak;
        account.exact = exact;
        Ok(account)
    }
}

/// Numbers by the bits of each `f64`, because a decimal text could round it.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<S: Serializer>(numbers: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(numbers.iter().map(|(name, number)| (name, number.to_bits())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, f64>, D::Error> {
        let numbers = BTreeMap::<String, u64>::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|(name, bits)| (name, f64::from_bits(bits))).collect())
    }
}
