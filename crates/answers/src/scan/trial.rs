//! A compiler's answer about a remedy.

#[cfg(feature = "through")]
use crate::reshard::ByXla;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_hlo::Remedy;

/// A compiler's answer about a remedy for the message in this line.
pub(super) type Tried = (u64, Remedy, Trial);

/// A compiler's answer about the program with a remedy, before the remedy is recommended.
///
/// ```
/// use xla_shape_answers::scan::{Scan, Trial};
///
/// let mut scan = Scan::default();
/// scan.read_line(b"Scoped allocation with size 24.00M and limit 16.00M exceeded scoped vmem limit by 8.00M.");
/// scan.try_remedies(|_, remedy| (remedy.name() == "raise_vmem_limit").then_some(Trial::Compiles {
///     needed_bytes: 4096,
///     device: "v5e:2x2".to_owned(),
/// }));
/// let help = &scan.causes()[0].remedies[0];
/// assert!(matches!(&help.trial, Some(Trial::Compiles { needed_bytes: 4096, device }) if device == "v5e:2x2"));
/// scan.try_remedies(|_, _| Some(Trial::Refused { message: "too large".to_owned() }));
/// assert!(scan.causes()[0].remedies.is_empty(), "a remedy that the compiler refuses is not recommended");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Trial {
    /// It takes the program.
    Compiles {
        /// The bytes of the device's memory that the program then needs, without its code.
        needed_bytes: u64,
        /// The device that the program was compiled for.
        device: String,
    },
    /// A change of sharding was compiled alone, without and with the intermediate shardings.
    #[cfg(feature = "through")]
    Change(Box<ByXla>),
    /// It refuses the program.
    Refused {
        /// Why, in the compiler's words.
        message: String,
    },
    /// The program was not compiled.
    NotCompiled {
        /// Why it was not compiled.
        why: String,
    },
}

#[cfg(feature = "through")]
impl Trial {
    /// How a compiler compiled a change of sharding; `None` for other remedies, or if it was not compiled.
    #[must_use]
    pub const fn change(&self) -> Option<&ByXla> {
        match self {
            Self::Change(change) => Some(change),
            _ => None,
        }
    }
}

#[cfg(not(feature = "through"))]
impl Trial {
    /// The explorer compiles nothing.
    #[must_use]
    pub const fn change(&self) -> Option<&crate::reshard::ByXla> {
        None
    }
}

/// What a compiler said.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// It takes the program.
    Compiles,
    /// It refuses the program.
    Refused,
    /// It was not asked.
    NotCompiled,
}

/// See [`Trial`].
#[derive(Serialize, JsonSchema)]
pub(super) struct TrialFields<'t> {
    /// Whether it compiles.
    outcome: Outcome,
    /// The bytes of the device's memory that the program then needs, without its code; null if it does not compile, and for a change of sharding.
    needed_bytes: Option<u64>,
    /// The device that it compiles for, such as "v5e:2x2"; null if it does not compile.
    device: Option<&'t str>,
    /// For a change of sharding: how the compiler compiles it alone, without and with the intermediate shardings; null for other remedies.
    #[cfg(feature = "through")]
    change: Option<&'t ByXla>,
    /// Why it does not compile, or was not compiled; null if it compiles.
    why: Option<&'t str>,
}

/// Writes a trial as JSON, with the same fields for each outcome.
pub(super) fn serialize<S: Serializer>(trial: &Option<Trial>, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = trial.as_ref().map(|trial| {
        let (outcome, needed_bytes, device, why) = match trial {
            Trial::Compiles { needed_bytes, device } => (Outcome::Compiles, Some(*needed_bytes), Some(device), None),
            #[cfg(feature = "through")]
            Trial::Change(change) => (Outcome::Compiles, None, Some(&change.devices), None),
            Trial::Refused { message } => (Outcome::Refused, None, None, Some(message)),
            Trial::NotCompiled { why } => (Outcome::NotCompiled, None, None, Some(why)),
        };
        TrialFields {
            outcome,
            needed_bytes,
            device: device.map(String::as_str),
            #[cfg(feature = "through")]
            change: trial.change(),
            why: why.map(String::as_str),
        }
    });
    fields.serialize(serializer)
}
