//! Amounts of memory as people read them.

use core::fmt;

/// A number of bytes in the largest unit in which it is at least 1, to three digits.
///
/// ```
/// assert_eq!(xla_shape_hlo::InUnits(1_500_000).to_string(), "1.43 MiB");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InUnits(pub u64);

impl fmt::Display for InUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut amount = self.0 as f64;
        let mut unit = "B";
        for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
            // A number that rounds to 1024 is written in the next unit.
            if amount < 1023.5 {
                break;
            }
            amount /= 1024.0;
            unit = larger;
        }
        let decimals = if amount % 1.0 == 0.0 || amount >= 100.0 { 0 } else { if amount < 10.0 { 2 } else { 1 } };
        f.pad(&alloc::format!("{amount:.decimals$} {unit}"))
    }
}
