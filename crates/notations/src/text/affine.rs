//! MLIR's affine maps, which can express every stride table: `(d0, d1) -> ((d0 floordiv 8) * 1024 + d1 mod 128)`.

use crate::Obstacle;
use crate::layout::Map;
use crate::modes::Modes;
use crate::reader::{Reader, Result};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use xla_shape_core::limits::MAX_SIZE;
use xla_shape_core::map::{Digit, Intermediate, Source, StrideTable, StrideTableRef, Term};
use xla_shape_core::sorting::{sort_by, sort_by_key};

/// The longest sum that is written, in bytes. Each `*` (combined dimensions in a tile) inside another one doubles the length.
const MAX_LENGTH: usize = 1 << 16;

/// A stride table is simplified at most this many times.
const MAX_FORMS: usize = 8;

/// The most parts of indices in a map that is read.
const MAX_PARTS: usize = 256;

fn arguments(num_dimensions: usize) -> String {
    (0..num_dimensions).map(|dimension| format!("d{dimension}")).collect::<Vec<_>>().join(", ")
}

/// `(source floordiv divisor) mod modulus`, in parentheses unless it is only `source`.
fn part(source: &str, divisor: u64, modulus: Option<u64>) -> String {
    let quotient = if divisor == 1 { source.to_string() } else { format!("({source} floordiv {divisor})") };
    match modulus {
        Some(modulus) => format!("({quotient} mod {modulus})"),
        None => quotient,
    }
}

fn sum(parts: &[String], offset: i64) -> String {
    let mut text = parts.join(" + ");
    if text.is_empty() {
        return offset.to_string();
    }
    if offset != 0 {
        text.push_str(&format!(" + {offset}"));
    }
    text
}

/// The text of a map of modes.
pub(crate) fn of_modes(map: &Modes) -> String {
    let term = |mode: &crate::Mode| {
        let extent = map.extents().get(mode.dimension).copied().unwrap_or(0);
        let modulus = Some(mode.size).filter(|size| mode.divisor.saturating_mul(*size) < extent);
        let part = part(&format!("d{}", mode.dimension), mode.divisor, modulus);
        if mode.stride == 1 { part } else { format!("{part} * {}", mode.stride) }
    };
    let mut modes = map.modes().to_vec();
    sort_by_key(&mut modes, |mode| core::cmp::Reverse(mode.stride.unsigned_abs()));
    let parts = modes.iter().map(term).collect::<Vec<_>>();
    format!("affine_map<({}) -> ({})>", arguments(map.extents().len()), sum(&parts, map.offset()))
}

/// The addends of an intermediate value: the text and the factor of each part.
type Addends = Vec<(String, u64)>;

/// The texts of the addends, sorted by factor, the largest first, and then by text. So a text that is read and written again stays the same.
fn in_order(mut addends: Addends) -> Vec<String> {
    sort_by(&mut addends, |(one, a), (other, b)| b.cmp(a).then_with(|| one.cmp(other)));
    addends.into_iter().map(|(part, factor)| if factor == 1 { part } else { format!("{part} * {factor}") }).collect()
}

/// The text of a stride table, in its canonical form, with its intermediate values written out.
pub(crate) fn of_table(table: StrideTableRef<'_>) -> core::result::Result<String, Obstacle> {
    let mut form = table.canonical().map_err(Obstacle::StrideTable)?;
    for _ in 0..MAX_FORMS {
        // If `*` combines dimensions, simplifying again may shorten the form further.
        let again = form.coalesce().map_err(Obstacle::StrideTable)?;
        if again == form {
            break;
        }
        form = again;
    }
    let mut values: Vec<Addends> = Vec::new();
    let term = |term: Term, values: &[Addends]| {
        let source = match term.source {
            Source::Zero => return Some("0".to_string()),
            Source::Dimension(dimension) => format!("d{dimension}"),
            Source::Intermediate(value) => match values.get(value as usize)?.as_slice() {
                [(part, 1)] => part.clone(),
                addends => format!("({})", sum(&in_order(addends.to_vec()), 0)),
            },
        };
        Some(part(&source, term.divisor.get(), term.modulus.map(NonZeroU64::get)))
            .filter(|text| text.len() <= MAX_LENGTH)
    };
    // The text of a value contains the texts of the values that it uses, as in `(d0 * 3 + d1) floordiv 8`. Nested `*` make these texts grow exponentially, so
    // their length is bounded at each step.
    for intermediate in form.intermediates() {
        let value = match *intermediate {
            Intermediate::Term { term: cut, .. } => term(cut, &values).map(|part| vec![(part, 1)]),
            Intermediate::Combine { major, minor, minor_size, .. } => term(major, &values).and_then(|major| {
                let mut addends = match minor.source {
                    Source::Zero => Vec::new(),
                    // An uncut sum is written as its addends: `a * 6 + b * 2 + c`, not `a * 6 + (b * 2 + c)`.
                    Source::Intermediate(value) if minor.divisor == NonZeroU64::MIN && minor.modulus.is_none() => {
                        values.get(value as usize)?.clone()
                    }
                    _ => vec![(term(minor, &values)?, 1)],
                };
                addends.push((major, minor_size.get()));
                Some(addends)
            }),
        };
        let length = |addends: &Addends| addends.iter().fold(0_usize, |sum, (part, _)| sum + part.len());
        values.push(value.filter(|addends| length(addends) <= MAX_LENGTH).ok_or(Obstacle::Intricate { index: None })?);
    }
    let mut addends = Vec::new();
    for digit in form.digits().iter().filter(|digit| digit.term.source != Source::Zero) {
        addends.push((term(digit.term, &values).ok_or(Obstacle::Intricate { index: None })?, digit.stride));
    }
    Ok(format!("affine_map<({}) -> ({})>", arguments(table.extents().len()), sum(&in_order(addends), 0)))
}

/// The value of an expression: a sum of terms, each with a factor, and a constant.
#[derive(Clone)]
struct Sum {
    terms: Vec<(Term, i64)>,
    constant: i64,
}

/// The parts of a map that have been read so far.
struct Builder<'a> {
    sizes: &'a [u64],
    names: Vec<&'a str>,
    intermediates: Vec<Intermediate>,
}

/// Reads `<(d0, …) -> (…)>`, and returns the map over dimensions of these sizes.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, sizes: &'a [u64], start: usize) -> Result<Map> {
    reader.character('<')?;
    let at = *reader;
    let names = reader.list('(', ')', |reader| {
        let word = reader.word();
        if word.is_empty() { Err(reader.expected("the name of a dimension")) } else { Ok(word) }
    })?;
    if names.len() != sizes.len() {
        return Err(at.expected("as many dimensions as sizes"));
    }
    reader.all("->", "`->`")?;
    let mut builder = Builder { sizes, names, intermediates: Vec::new() };
    let results = reader.list('(', ')', |reader| builder.sum(reader, 0))?;
    reader.character('>')?;
    builder.finish(results).map_err(|obstacle| reader.obstacle(obstacle, start))
}

impl<'a> Builder<'a> {
    /// Reads a sum of products.
    fn sum(&mut self, reader: &mut Reader<'a>, depth: usize) -> Result<Sum> {
        let start = reader.at();
        let mut sum = self.product(reader, depth)?;
        loop {
            let factor = if reader.is("->") {
                return Ok(sum);
            } else if reader.take("+") {
                1
            } else if reader.take("-") {
                -1
            } else {
                return Ok(sum);
            };
            let next = self.product(reader, depth)?;
            sum = scaled(next, factor)
                .and_then(|next| added(sum, next))
                .ok_or_else(|| reader.obstacle(Obstacle::TooLarge, start))?;
            if sum.terms.len().max(self.intermediates.len()) > MAX_PARTS {
                return Err(reader.obstacle(Obstacle::TooLong { most: MAX_PARTS }, start));
            }
        }
    }

    /// Reads factors, `floordiv` and `mod`, from left to right.
    fn product(&mut self, reader: &mut Reader<'a>, depth: usize) -> Result<Sum> {
        let start = reader.at();
        let mut value = self.operand(reader, depth)?;
        loop {
            let is_product = reader.is("*");
            let word = if is_product { "*" } else { reader.peek_word() };
            if !matches!(word, "*" | "floordiv" | "mod") {
                return Ok(value);
            }
            reader.take(word);
            let at = *reader;
            let next = self.operand(reader, depth)?;
            if is_product {
                let product = match (value.terms.as_slice(), next.terms.as_slice()) {
                    (_, []) => scaled(value, next.constant),
                    ([], _) => scaled(next, value.constant),
                    _ => return Err(at.expected("a constant: the product of two dimensions is not affine")),
                };
                value = product.ok_or_else(|| reader.obstacle(Obstacle::TooLarge, start))?;
                continue;
            }
            // To apply `floordiv` or `mod` to a sum, make it an intermediate value, which can be cut like a dimension.
            let by = u64::try_from(next.constant).ok().and_then(NonZeroU64::new).filter(|_| next.terms.is_empty());
            let Some(by) = by else { return Err(at.expected("a constant above 0")) };
            let is_mod = word == "mod";
            let Some(term) = self.term(value) else {
                return Err(reader.obstacle(Obstacle::TooLarge, start));
            };
            let term = match term {
                Ok(term) => term,
                Err(()) => return Err(at.expected("no division or remainder of what may be negative")),
            };
            let term = self.cut(term, by, is_mod);
            value = Sum { terms: Vec::from([(term, 1)]), constant: 0 };
        }
    }

    /// Reads a dimension, a constant, or a sum in parentheses.
    fn operand(&mut self, reader: &mut Reader<'a>, depth: usize) -> Result<Sum> {
        if reader.is("(") {
            let depth = reader.nest(depth)?;
            reader.character('(')?;
            let sum = self.sum(reader, depth)?;
            reader.character(')')?;
            return Ok(sum);
        }
        if reader.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let minus = reader.rest().starts_with('-');
            let is_number = reader.rest().trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
            if !minus || is_number {
                let constant = reader.signed("a constant")?;
                return Ok(Sum { terms: Vec::new(), constant });
            }
            let start = reader.at();
            reader.character('-')?;
            let depth = reader.nest(depth)?;
            let value = self.operand(reader, depth)?;
            return scaled(value, -1).ok_or_else(|| reader.obstacle(Obstacle::TooLarge, start));
        }
        let at = *reader;
        let word = reader.word();
        match self.names.iter().position(|name| *name == word) {
            Some(dimension) => {
                let term =
                    Term { source: Source::Dimension(dimension as u32), divisor: NonZeroU64::MIN, modulus: None };
                Ok(Sum { terms: Vec::from([(term, 1)]), constant: 0 })
            }
            None => Err(at.expected("a dimension, a constant or `(`")),
        }
    }

    /// The largest value of a term.
    fn max(&self, term: Term) -> u64 {
        let source = match term.source {
            Source::Zero => 0,
            Source::Dimension(dimension) => self.sizes.get(dimension as usize).map_or(0, |size| size.saturating_sub(1)),
            Source::Intermediate(value) => {
                self.intermediates.get(value as usize).map_or(0, |value| value.size().saturating_sub(1))
            }
        };
        let quotient = source.checked_div(term.divisor.get()).unwrap_or(0);
        term.modulus.map_or(quotient, |modulus| quotient.min(modulus.get().saturating_sub(1)))
    }

    fn push(&mut self, intermediate: Intermediate) -> Term {
        let number = self.intermediates.len() as u32;
        self.intermediates.push(intermediate);
        Term { source: Source::Intermediate(number), divisor: NonZeroU64::MIN, modulus: None }
    }

    /// A sum as one term; `None` if its value is too large, an error if it may be negative.
    fn term(&mut self, sum: Sum) -> Option<core::result::Result<Term, ()>> {
        if let ([(term, 1)], 0) = (sum.terms.as_slice(), sum.constant) {
            return Some(Ok(*term));
        }
        if sum.constant != 0 || sum.terms.iter().any(|&(_, factor)| factor < 0) {
            // A constant would need a term of its own, and a negative factor may make the sum negative.
            return Some(Err(()));
        }
        let zero = Term { source: Source::Zero, divisor: NonZeroU64::MIN, modulus: None };
        // Each addend becomes two intermediate values: first the addend times its factor, then the sum of this product and the addends before it.
        let mut whole = zero;
        for (term, factor) in sum.terms {
            let Some(minor_size) = NonZeroU64::new(factor.unsigned_abs()) else { continue };
            let size = self.max(term).checked_mul(minor_size.get())?.checked_add(1).filter(|&size| size <= MAX_SIZE)?;
            let scaled = self.push(Intermediate::Combine { major: term, minor: zero, minor_size, size });
            let size = self.max(whole).checked_add(size).filter(|&size| size <= MAX_SIZE)?;
            whole = self.push(Intermediate::Combine { major: scaled, minor: whole, minor_size: NonZeroU64::MIN, size });
        }
        Some(Ok(whole))
    }

    /// The quotient or the remainder of a term.
    fn cut(&mut self, term: Term, by: NonZeroU64, is_mod: bool) -> Term {
        let divides = |one: NonZeroU64, other: NonZeroU64| one.get().is_multiple_of(other.get());
        // `x mod 12 mod 4` is `x mod 4`, `x floordiv 2 floordiv 3` is `x floordiv 6`, and `x mod 12 floordiv 4` has 3 values. If no such
        // rule applies, as for `x mod 12 mod 5`, the term becomes an intermediate value, which is divided or reduced in turn.
        let simple = match (is_mod, term.modulus) {
            (true, None) => Some(Term { modulus: Some(by), ..term }),
            (true, Some(modulus)) if divides(modulus, by) => Some(Term { modulus: Some(by), ..term }),
            (true, Some(modulus)) if modulus <= by => Some(term),
            (false, None) => term.divisor.checked_mul(by).map(|divisor| Term { divisor, ..term }),
            (false, Some(modulus)) if divides(modulus, by) => {
                let modulus = modulus.get().checked_div(by.get()).and_then(NonZeroU64::new);
                term.divisor.checked_mul(by).map(|divisor| Term { divisor, modulus, ..term })
            }
            _ => None,
        };
        simple.unwrap_or_else(|| {
            let size = self.max(term).saturating_add(1);
            let whole = self.push(Intermediate::Term { term, size });
            if is_mod { Term { modulus: Some(by), ..whole } } else { Term { divisor: by, ..whole } }
        })
    }

    /// The map. A single result is the position; several results are an index in a row-major array.
    fn finish(self, results: Vec<Sum>) -> core::result::Result<Map, Obstacle> {
        let position = match <[Sum; 1]>::try_from(results) {
            Ok([position]) => position,
            Err(results) => {
                let mut position = Sum { terms: Vec::new(), constant: 0 };
                let mut stride = 1_i64;
                for result in results.into_iter().rev() {
                    // The size of each dimension of that array is the largest value of its result plus 1. Its stride is the product of the sizes
                    // after it.
                    let mut last = result.constant;
                    for &(term, factor) in &result.terms {
                        let max = i64::try_from(self.max(term)).map_err(|_| Obstacle::TooLarge)?;
                        last = max
                            .checked_mul(factor)
                            .and_then(|most| last.checked_add(most))
                            .ok_or(Obstacle::TooLarge)?;
                    }
                    let size = last.checked_add(1).ok_or(Obstacle::TooLarge)?;
                    position =
                        scaled(result, stride).and_then(|result| added(position, result)).ok_or(Obstacle::TooLarge)?;
                    stride = stride.checked_mul(size).ok_or(Obstacle::TooLarge)?;
                }
                position
            }
        };
        let is_whole = |&(term, _): &(Term, i64)| {
            matches!(term.source, Source::Dimension(_)) && term.divisor == NonZeroU64::MIN && term.modulus.is_none()
        };
        // Without division and remainder, the map has only strides, which may be negative.
        if position.terms.iter().all(is_whole) {
            let mut strides = alloc::vec![0_i64; self.sizes.len()];
            for (term, factor) in position.terms {
                if let Source::Dimension(dimension) = term.source
                    && let Some(stride) = strides.get_mut(dimension as usize)
                {
                    *stride = stride.checked_add(factor).ok_or(Obstacle::TooLarge)?;
                }
            }
            return Modes::strided(self.sizes, &strides, position.constant).map(Map::Modes);
        }
        if self.sizes.contains(&0) {
            return Modes::strided(self.sizes, &alloc::vec![0; self.sizes.len()], 0).map(Map::Modes);
        }
        // A stride table has no negative strides, so the terms with negative factors become a second table, which is subtracted.
        let (above, below) = position.terms.iter().partition::<Vec<_>, _>(|(_, factor)| *factor > 0);
        if below.is_empty() && position.constant == 0 {
            return self.table(&above).map(Map::Table);
        }
        let above = Modes::of_table(self.table(&above)?.as_ref())?;
        let below = Modes::of_table(self.table(&below)?.as_ref()).map_err(|_| Obstacle::Sign)?;
        above.minus(&below).ok_or(Obstacle::Sign)?.moved(position.constant).map(Map::Modes)
    }

    /// The table of a sum of terms, ignoring the signs of their factors.
    fn table(&self, terms: &[(Term, i64)]) -> core::result::Result<StrideTable, Obstacle> {
        let mut digits = Vec::new();
        for &(term, factor) in terms {
            let stride = factor.unsigned_abs();
            if stride == 0 || self.max(term) == 0 {
                continue;
            }
            digits.push(Digit { term, size: self.max(term).saturating_add(1), stride });
        }
        sort_by_key(&mut digits, |digit| core::cmp::Reverse(digit.stride));
        StrideTable::from_digits(self.sizes, &digits, self.intermediates.clone()).ok_or(Obstacle::TooLarge)
    }
}

fn scaled(mut sum: Sum, factor: i64) -> Option<Sum> {
    sum.constant = sum.constant.checked_mul(factor)?;
    for (_, known) in &mut sum.terms {
        *known = known.checked_mul(factor)?;
    }
    sum.terms.retain(|&(_, factor)| factor != 0);
    Some(sum)
}

/// The sum of two sums, with equal terms combined.
fn added(mut sum: Sum, other: Sum) -> Option<Sum> {
    sum.constant = sum.constant.checked_add(other.constant)?;
    for (term, factor) in other.terms {
        match sum.terms.iter_mut().find(|(known, _)| *known == term) {
            Some((_, known)) => *known = known.checked_add(factor)?,
            None => sum.terms.push((term, factor)),
        }
    }
    Some(sum)
}
