//! The stride table as a formula.

use xla_shape_core::map::{Digit, Intermediate, Source, StrideTableRef, Term};

/// How division and remainder by a power of two are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// `y / 8` and `x % 128`.
    Arithmetic,
    /// `y >> 3` and `x & 127`; other divisors as in `Arithmetic`.
    ShiftsAndMasks,
}

/// The text of a term, and whether it needs parentheses in a product.
pub fn term(term: Term, names: &[String], notation: Notation) -> (String, bool) {
    let source = match term.source {
        Source::Zero => return ("0".into(), false),
        Source::Dimension(dimension) => names.get(dimension as usize).cloned().unwrap_or_default(),
        Source::Intermediate(value) => value_name(value as usize),
    };
    let divisor = term.divisor.get();
    let shifts = notation == Notation::ShiftsAndMasks;
    let quotient = match divisor {
        1 => source,
        _ if shifts && divisor.is_power_of_two() => format!("{source} >> {}", divisor.trailing_zeros()),
        _ => format!("{source} / {divisor}"),
    };
    match term.modulus.map(std::num::NonZero::get) {
        None => (quotient, divisor > 1),
        Some(modulus) if shifts && modulus.is_power_of_two() => {
            let quotient = if divisor > 1 { format!("({quotient})") } else { quotient };
            (format!("{quotient} & {}", modulus - 1), true)
        }
        Some(modulus) => {
            let quotient = if shifts && divisor > 1 { format!("({quotient})") } else { quotient };
            (format!("{quotient} % {modulus}"), true)
        }
    }
}

fn value_name(value: usize) -> String {
    format!("v{value}")
}

fn factor(term_: Term, names: &[String], notation: Notation) -> String {
    match term(term_, names, notation) {
        (text, true) => format!("({text})"),
        (text, false) => text,
    }
}

fn summand(digit: &Digit, names: &[String], notation: Notation) -> String {
    let factor = factor(digit.term, names, notation);
    if digit.stride == 1 { factor } else { format!("{factor} * {}", digit.stride) }
}

/// The formula for a position, in elements: its summands, and the definitions of the intermediate values in them.
pub fn position(table: StrideTableRef<'_>, names: &[String], notation: Notation) -> (Vec<String>, Vec<String>) {
    // A digit without a source is always 0.
    let digits = table.digits().iter().filter(|digit| digit.term.source != Source::Zero);
    let mut sum = digits.map(|digit| summand(digit, names, notation)).collect::<Vec<_>>();
    if sum.is_empty() {
        sum.push("0".into());
    }
    let values = table.intermediates().iter().enumerate().map(|(number, value)| {
        let rule = match *value {
            Intermediate::Term { term: rule, .. } => term(rule, names, notation).0,
            Intermediate::Combine { major, minor, minor_size, .. } => {
                format!("{} * {minor_size} + {}", factor(major, names, notation), factor(minor, names, notation))
            }
        };
        format!("{} = {rule}", value_name(number))
    });
    (sum, values.collect())
}
