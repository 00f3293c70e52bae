//! What the parts of a program's memory say of the reason why it does not fit.

use crate::advise::WORTH_IT;
use crate::numbers::InUnits;
use xla_shape_hlo::ReportedAmount;

/// What the parts of a message say of the whole, as sentences: `after` are the amounts after it.
pub(super) fn details(whole: &ReportedAmount, after: &[ReportedAmount]) -> Vec<String> {
    // The parts of another message follow after the amount that it begins with.
    let end = after.iter().position(|amount| amount.limit.is_some()).unwrap_or(after.len());
    let part = |name: &str| after[..end].iter().find(|amount| amount.is_part && amount.what == name);
    let arguments = part("arguments").map(|amount| amount.bytes).filter(|bytes| *bytes >= whole.bytes / 2);
    let arguments = arguments.map(|bytes| match whole.limit {
        Some(limit) if bytes > limit => {
            format!("The arguments alone take {}: they do not fit, whatever the program does.", InUnits(bytes))
        }
        _ => format!("The arguments take {} of it.", InUnits(bytes)),
    });
    let temporaries = part("HLO temp").and_then(|temporaries| {
        let padding = temporaries.padded_bytes?.checked_sub(temporaries.unpadded_bytes?)?;
        let is_much = padding > 0 && padding as f64 >= WORTH_IT * whole.bytes as f64;
        is_much.then(|| format!("Of the temporaries (HLO temp), {} are padding.", InUnits(padding)))
    });
    arguments.into_iter().chain(temporaries).collect()
}
