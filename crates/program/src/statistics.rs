//! The compiler's memory analysis, which the user's program wrote as JSON.

use serde_json::Value;
use std::error::Error;
use std::fmt;
use xla_shape_core::memory_space;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::Account;

/// The compiler's memory analysis (in JAX `compiled.memory_analysis()`), which the user's program wrote as JSON. The object has the
/// fields of the analysis, such as `generated_code_size_in_bytes`, itself or in its field `memory`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Arguments, outputs, aliases and temporaries: on the device, then on the host.
    sizes: [Option<u64>; 8],
    generated_code: Option<u64>,
    peak: Option<u64>,
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

/// Why a memory analysis is not used.
///
/// ```
/// use xla_shape_program::{Statistics, StatisticsError};
///
/// let error = Statistics::parse(b"{\"loss\": 3}").err();
/// assert_eq!(error, Some(StatisticsError::NotThisFile));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StatisticsError {
    /// It is not a JSON object with such fields.
    NotThisFile,
    /// It is an analysis of another program.
    Disagree {
        /// The field that differs.
        field: &'static str,
        /// Its value, in bytes.
        found: u64,
        /// The value that the module or the compiler's other files give, in bytes.
        expected: u64,
    },
}

impl fmt::Display for StatisticsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThisFile => f.write_str("it is not a memory analysis in JSON"),
            Self::Disagree { field, found, expected } => {
                write!(f, "it is of another program: `{field}` is {found}, and of this one {expected}")
            }
        }
    }
}

impl Error for StatisticsError {}

impl Statistics {
    /// Reads the contents of the file.
    ///
    /// # Errors
    /// If it is not JSON with such fields.
    ///
    /// ```
    /// use xla_shape_program::Statistics;
    ///
    /// assert!(Statistics::parse(b"{\"temp_size_in_bytes\": 4096}").is_ok());
    /// assert!(Statistics::parse(b"{\"loss\": 3}").is_err());
    /// ```
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

    /// Checks that the analysis agrees with what is known about the program. Arguments and results are compared before temporaries:
    /// if arguments and results agree, it is an analysis of this program.
    ///
    /// # Errors
    /// If a field differs. If the account is an estimate, results may differ by up to 4 KiB: they include tables of addresses,
    /// whose size depends on the device.
    ///
    /// ```
    /// use xla_shape_hlo::Account;
    /// use xla_shape_program::Statistics;
    ///
    /// let statistics = Statistics::parse(b"{\"argument_size_in_bytes\": 7}").unwrap();
    /// let error = statistics.check(&Account::default()).unwrap_err();
    /// assert!(error.to_string().starts_with("it is of another program: `argument_size_in_bytes` is 7"));
    /// ```
    pub fn check(&self, account: &Account) -> Result<(), StatisticsError> {
        /// By how many bytes the tables of addresses can differ between devices.
        const TABLES: u64 = 4096;
        let mut fields: Vec<_> = FIELDS.into_iter().zip(self.sizes).zip(sizes(account)).collect();
        sort_by_key(&mut fields, |((field, _), _)| Self::is_of_temporaries(field));
        for ((field, found), expected) in fields {
            let slack = if account.exact || !field.contains("output") { 0 } else { TABLES };
            if let Some(found) = found.filter(|found| found.abs_diff(expected) > slack) {
                return Err(StatisticsError::Disagree { field, found, expected });
            }
        }
        Ok(())
    }

    pub(crate) fn is_of_temporaries(field: &str) -> bool {
        field.contains("temp_size")
    }

    /// The bytes of the program's code, if the analysis has them.
    ///
    /// ```
    /// use xla_shape_program::Statistics;
    ///
    /// assert_eq!(Statistics::parse(b"{\"generated_code_size_in_bytes\": 7}").unwrap().generated_code(), Some(7));
    /// ```
    #[must_use]
    pub const fn generated_code(&self) -> Option<u64> {
        self.generated_code
    }

    /// The compiler's own peak, in bytes; `None` if it is 0, as in old releases, which have none.
    ///
    /// ```
    /// use xla_shape_program::Statistics;
    ///
    /// let peak = |bytes: u64| Statistics::parse(format!("{{\"temp_size_in_bytes\": 8, \"peak_memory_in_bytes\": {bytes}}}").as_bytes());
    /// assert_eq!(peak(64).unwrap().peak(), Some(64));
    /// assert_eq!(peak(0).unwrap().peak(), None);
    /// ```
    #[must_use]
    pub fn peak(&self) -> Option<u64> {
        self.peak.filter(|&peak| peak > 0)
    }

    /// The account with the values of this analysis in place of its own.
    pub(crate) fn applied(&self, account: &Account) -> Account {
        let mut account = account.clone();
        let known = |index: usize, place: &mut u64| *place = self.sizes.get(index).copied().flatten().unwrap_or(*place);
        for (first, totals) in [(0, &mut account.device), (4, &mut account.host)] {
            known(first, &mut totals.arguments);
            known(first + 1, &mut totals.outputs);
            known(first + 2, &mut totals.aliases);
            known(first + 3, &mut totals.temporaries);
        }
        // The heaps hold the temporaries.
        for (space, bytes) in
            [(memory_space::DEFAULT, account.device.temporaries), (memory_space::HOST, account.host.temporaries)]
        {
            if account.heaps.contains_key(&space) || bytes > 0 {
                account.heaps.insert(space, bytes);
            }
        }
        account.peak = self.peak().unwrap_or(account.peak);
        // The compiler has counted everything on the device, so nothing is an estimate any more.
        if self.sizes[..4].iter().all(Option::is_some) {
            (account.exact, account.may_be_more) = (true, 0);
        }
        account
    }
}

/// The values of an account, in the order of `FIELDS`.
fn sizes(account: &Account) -> [u64; 8] {
    let [[a, b, c, d], [e, f, g, h]] = [account.device, account.host]
        .map(|totals| [totals.arguments, totals.outputs, totals.aliases, totals.temporaries]);
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use super::{Statistics, StatisticsError};
    use xla_shape_hlo::Account;

    #[test]
    fn both_json_forms_are_read_and_checked() {
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
            "it is of another program: `argument_size_in_bytes` is 7, and of this one 6"
        );
        for text in ["", "[]", "{}", "{\"memory\": 3}"] {
            assert_eq!(Statistics::parse(text.as_bytes()), Err(StatisticsError::NotThisFile), "{text}");
        }
    }
}
