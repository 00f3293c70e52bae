//! The parts of a program's memory that explain why it does not fit.

use crate::advise::WORTH_IT;
use crate::numbers::InUnits;
use std::fmt;
use xla_shape_hlo::ReportedAmount;

/// A large part of a program's memory, as a message lists it. Its text is a sentence.
///
/// ```
/// use xla_shape_answers::scan::{LargePart, Scan};
///
/// let mut scan = Scan::default();
/// for line in ["Used 49.34G of 32.00G hbm.", "Total hbm usage >= 49.34G:", "    arguments        40.00G"] {
///     scan.read_line(line.as_bytes());
/// }
/// let part = scan.causes()[0].parts[0];
/// assert_eq!(part, LargePart::Arguments { bytes: 40 << 30, fits: false });
/// assert_eq!(part.to_string(), "The arguments alone take 40 GiB: they do not fit, whatever the program does.");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LargePart {
    /// The arguments take at least half.
    Arguments {
        /// Their bytes.
        bytes: u64,
        /// Whether the arguments alone would fit, by the sizes in the message.
        fits: bool,
    },
    /// Much of the temporaries is padding.
    Padding {
        /// The bytes of padding.
        bytes: u64,
    },
}

impl fmt::Display for LargePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Arguments { bytes, fits: false } => {
                let bytes = InUnits(bytes);
                write!(f, "The arguments alone take {bytes}: they do not fit, whatever the program does.")
            }
            Self::Arguments { bytes, fits: true } => write!(f, "The arguments take {} of it.", InUnits(bytes)),
            Self::Padding { bytes } => write!(f, "Of the temporaries (HLO temp), {} are padding.", InUnits(bytes)),
        }
    }
}

/// The large parts of the amount `whole` of a message. `after` has the amounts that follow it in the text.
pub(super) fn large(whole: &ReportedAmount, after: &[ReportedAmount]) -> Vec<LargePart> {
    // An amount with a limit begins the next message, so the amounts after it are not parts of `whole`.
    let end = after.iter().position(|amount| amount.limit.is_some()).unwrap_or(after.len());
    let part = |name: &str| after[..end].iter().find(|amount| amount.is_part && amount.what == name);
    let arguments = part("arguments").map(|amount| amount.bytes).filter(|bytes| *bytes >= whole.bytes / 2);
    let fits = |bytes| whole.limit.is_none_or(|limit| bytes <= limit);
    let arguments = arguments.map(|bytes| LargePart::Arguments { bytes, fits: fits(bytes) });
    let padding = part("HLO temp").and_then(|part| part.padded_bytes?.checked_sub(part.unpadded_bytes?));
    let padding = padding.filter(|&bytes| bytes > 0 && bytes as f64 >= WORTH_IT * whole.bytes as f64);
    arguments.into_iter().chain(padding.map(|bytes| LargePart::Padding { bytes })).collect()
}
