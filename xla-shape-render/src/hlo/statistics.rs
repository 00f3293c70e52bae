//! The compiler's memory analysis, as a program of the user wrote it.

use serde_json::Value;
use std::error::Error;
use std::fmt;
use xla_shape_hlo::Account;

/// The compiler's memory analysis (in JAX `compiled.memory_analysis()`), written as JSON: an object with its fields, such as
/// `generated_code_size_in_bytes`, or one with such an object in `memory`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Arguments, outputs, aliases and temporaries: on the device, then on the host.
    sizes: [Option<u64>; 8],
    pub(super) generated_code: Option<u64>,
    pub(super) peak: Option<u64>,
}

const FIELDS: [&str; 8] = [
    "argument_size_in_bytes",
    "output_size_in_bytes",
    "alias_size_in_bytes",
    "temp_size_in_bytes",
    "host_argument_size_in_bytes",
    "host_output_size_in_bytes",
    "host_alias_size_in_bytes",
    "host_temp_size_in_bytes",
];

/// What is wrong with a memory analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StatisticsError {
    /// It is not a JSON object with such fields.
    NotThisFile,
    /// It is one of another program.
    Disagree {
        /// The field that is not the same.
        field: &'static str,
        /// What it says, in bytes.
        found: u64,
        /// What the compiler's other files say, in bytes.
        expected: u64,
    },
}

impl fmt::Display for StatisticsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThisFile => f.write_str("the file is not a memory analysis in JSON"),
            Self::Disagree { field, found, expected } => write!(
                f,
                "the files do not belong together: `{field}` is {found}, and the buffer assignment has {expected}"
            ),
        }
    }
}

impl Error for StatisticsError {}

impl Statistics {
    /// Reads the file.
    ///
    /// # Errors
    /// If it has no such fields.
    pub fn parse(bytes: &[u8]) -> Result<Self, StatisticsError> {
        let value: Value = serde_json::from_slice(bytes).map_err(|_| StatisticsError::NotThisFile)?;
        let fields = value.get("memory").unwrap_or(&value);
        let number = |name: &str| fields.get(name).and_then(Value::as_u64);
        let sizes = FIELDS.map(number);
        let (generated_code, peak) = (number("generated_code_size_in_bytes"), number("peak_memory_in_bytes"));
        if generated_code.is_none() && sizes.iter().all(Option::is_none) {
            return Err(StatisticsError::NotThisFile);
        }
        Ok(Self { sizes, generated_code, peak })
    }

    /// Checks that it says what the compiler's other files say.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self, account: &Account) -> Result<(), StatisticsError> {
        let totals = [account.device, account.host];
        let expected = totals.map(|totals| [totals.arguments, totals.outputs, totals.aliases, totals.temporaries]);
        for ((field, found), expected) in FIELDS.into_iter().zip(self.sizes).zip(expected.concat()) {
            if let Some(found) = found.filter(|found| *found != expected) {
                return Err(StatisticsError::Disagree { field, found, expected });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Statistics, StatisticsError};
    use xla_shape_hlo::Account;

    #[test]
    fn both_forms_are_read_and_checked() {
        let fields =
            "{\"argument_size_in_bytes\": 7, \"generated_code_size_in_bytes\": 9, \"peak_memory_in_bytes\": 8}";
        let flat = Statistics::parse(fields.as_bytes()).unwrap();
        assert_eq!(flat, Statistics::parse(format!("{{\"memory\": {fields}}}").as_bytes()).unwrap());
        assert_eq!((flat.generated_code, flat.peak), (Some(9), Some(8)));
        let account = |arguments| {
            let mut account = Account::default();
            account.device.arguments = arguments;
            account
        };
        assert_eq!(flat.check(&account(7)), Ok(()));
        assert_eq!(
            flat.check(&account(6)).unwrap_err().to_string(),
            "the files do not belong together: `argument_size_in_bytes` is 7, and the buffer assignment has 6"
        );
        for text in ["", "[]", "{}", "{\"memory\": 3}"] {
            assert_eq!(Statistics::parse(text.as_bytes()), Err(StatisticsError::NotThisFile), "{text}");
        }
    }
}
