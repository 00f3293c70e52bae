//! Elementwise operations, select, clamp, broadcast and iota.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::{InferError, agree, check_dimensions, check_len, merge};
use crate::element_type::{ElementClass, ElementType};
use crate::layout::dimension::Dimension;

/// The classes of elements that an operation takes, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Classes(u8);

const PRED: u8 = 1;
const SIGNED: u8 = 2;
const UNSIGNED: u8 = 4;
const FLOAT: u8 = 8;
const COMPLEX: u8 = 16;
const INTEGER: u8 = SIGNED | UNSIGNED;

impl Classes {
    const fn has(self, element_type: ElementType) -> bool {
        let bit = match element_type.class() {
            ElementClass::Predicate => PRED,
            ElementClass::SignedInteger => SIGNED,
            ElementClass::UnsignedInteger => UNSIGNED,
            ElementClass::Float => FLOAT,
            ElementClass::Complex => COMPLEX,
        };
        self.0 & bit != 0
    }

    const fn name(self) -> &'static str {
        const FLOAT_OR_COMPLEX: u8 = FLOAT | COMPLEX;
        const SIGNED_FLOAT_COMPLEX: u8 = SIGNED | FLOAT | COMPLEX;
        const NUMBER: u8 = INTEGER | FLOAT | COMPLEX;
        const BITS: u8 = INTEGER | PRED;
        match self.0 {
            FLOAT => "floats",
            FLOAT_OR_COMPLEX => "floats or complex numbers",
            SIGNED_FLOAT_COMPLEX => "signed integers, floats or complex numbers",
            INTEGER => "integers",
            BITS => "integers or predicates",
            NUMBER => "numbers",
            _ => "another type",
        }
    }
}

/// The element type of the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ResultType {
    /// The operands' type.
    Same,
    /// The type of the real part of complex operands; else the operands' type.
    Component,
    /// The complex type whose real and imaginary parts are the operands.
    Complex,
    /// `pred`.
    Pred,
    /// Any type; the program declares it.
    Any,
}

/// A named elementwise operation: it computes each element of the result from one element of each operand.
///
/// Which element types it takes follows `ShapeInference::InferUnaryOpShape` and `InferBinaryOpShape` in
/// `xla/service/shape_inference.cc`.
///
/// ```
/// use xla_shape_core::infer::{Elementwise, Operation};
///
/// let exponential = Operation::Named(Elementwise::named("exponential").unwrap());
/// let s32 = "s32[8]".parse()?;
/// assert_eq!(
///     exponential.obstacle(&[&s32], &s32).unwrap().as_str(),
///     "s32[8] is not the result of exponential(s32[8]): expected elements of floats or complex numbers in operand 0, found s32"
/// );
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Elementwise {
    name: &'static str,
    /// The number of operands; 0 for any number of at least one.
    operands: usize,
    accepts: Classes,
    result: ResultType,
}

const ANY: u8 = PRED | INTEGER | FLOAT | COMPLEX;

macro_rules! table {
    ($($name:literal $operands:literal $accepts:expr, $result:ident;)*) => {
        /// All named elementwise operations, sorted by name.
        const TABLE: &[Elementwise] = &[
            $(Elementwise { name: $name, operands: $operands, accepts: Classes($accepts), result: ResultType::$result },)*
        ];
    };
}

table! {
    "abs" 1 SIGNED | FLOAT | COMPLEX, Component;
    "acos" 1 FLOAT | COMPLEX, Same;
    "acosh" 1 FLOAT | COMPLEX, Same;
    "add" 2 ANY, Same;
    "and" 2 INTEGER | PRED, Same;
    "asin" 1 FLOAT | COMPLEX, Same;
    "asinh" 1 FLOAT | COMPLEX, Same;
    "atan" 1 FLOAT | COMPLEX, Same;
    "atan2" 2 INTEGER | FLOAT | COMPLEX, Same;
    "atanh" 1 FLOAT | COMPLEX, Same;
    "cbrt" 1 FLOAT, Same;
    "ceil" 1 FLOAT, Same;
    "compare" 2 ANY, Pred;
    "complex" 2 FLOAT, Complex;
    "convert" 1 ANY, Any;
    "cosh" 1 FLOAT | COMPLEX, Same;
    "cosine" 1 FLOAT | COMPLEX, Same;
    "count-leading-zeros" 1 INTEGER, Same;
    "divide" 2 INTEGER | FLOAT | COMPLEX, Same;
    "erf" 1 FLOAT, Same;
    "exponential" 1 FLOAT | COMPLEX, Same;
    "exponential-minus-one" 1 FLOAT | COMPLEX, Same;
    "floor" 1 FLOAT, Same;
    "imag" 1 FLOAT | COMPLEX, Component;
    "is-finite" 1 FLOAT, Pred;
    "log" 1 FLOAT | COMPLEX, Same;
    "log-plus-one" 1 FLOAT | COMPLEX, Same;
    "logistic" 1 FLOAT | COMPLEX, Same;
    "maximum" 2 ANY, Same;
    "minimum" 2 ANY, Same;
    "mulhi" 2 ANY, Same;
    "multiply" 2 ANY, Same;
    "negate" 1 INTEGER | FLOAT | COMPLEX, Same;
    "not" 1 INTEGER | PRED, Same;
    "or" 2 INTEGER | PRED, Same;
    "popcnt" 1 INTEGER, Same;
    "power" 2 INTEGER | FLOAT | COMPLEX, Same;
    "real" 1 FLOAT | COMPLEX, Component;
    "reduce-precision" 1 FLOAT, Same;
    "remainder" 2 INTEGER | FLOAT | COMPLEX, Same;
    "round-nearest-afz" 1 FLOAT, Same;
    "round-nearest-even" 1 FLOAT, Same;
    "rsqrt" 1 FLOAT | COMPLEX, Same;
    "shift-left" 2 INTEGER | FLOAT | COMPLEX, Same;
    "shift-right-arithmetic" 2 INTEGER | FLOAT | COMPLEX, Same;
    "shift-right-logical" 2 INTEGER | FLOAT | COMPLEX, Same;
    "sign" 1 SIGNED | FLOAT | COMPLEX, Same;
    "sine" 1 FLOAT | COMPLEX, Same;
    "sinh" 1 FLOAT | COMPLEX, Same;
    "sqrt" 1 FLOAT | COMPLEX, Same;
    "subtract" 2 INTEGER | FLOAT | COMPLEX, Same;
    "tan" 1 FLOAT | COMPLEX, Same;
    "tanh" 1 FLOAT | COMPLEX, Same;
    "xor" 2 INTEGER | PRED, Same;
}

impl Elementwise {
    /// Any number of operands and any elements.
    pub(super) const UNNAMED: Self =
        Self { name: "elementwise", operands: 0, accepts: Classes(ANY), result: ResultType::Same };
    /// `compare`.
    pub(super) const COMPARE: Self =
        Self { name: "compare", operands: 2, accepts: Classes(ANY), result: ResultType::Pred };
    /// `convert`.
    pub(super) const CONVERT: Self =
        Self { name: "convert", operands: 1, accepts: Classes(ANY), result: ResultType::Any };

    /// The elementwise operation with this name in XLA; `None` if there is none.
    ///
    /// ```
    /// use xla_shape_core::infer::Elementwise;
    ///
    /// assert_eq!(Elementwise::named("add").map(Elementwise::name), Some("add"));
    /// assert_eq!(Elementwise::named("dot"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLE.binary_search_by(|row| row.name.cmp(name)).ok().and_then(|row| TABLE.get(row).copied())
    }

    /// XLA's name of the operation.
    ///
    /// ```
    /// use xla_shape_core::infer::Elementwise;
    ///
    /// assert_eq!(Elementwise::named("log-plus-one").unwrap().name(), "log-plus-one");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The number of operands; `None` if it takes any number.
    pub(super) const fn num_operands(self) -> Option<usize> {
        if self.operands == 0 { None } else { Some(self.operands) }
    }

    /// Checks that the operation takes elements of this type; `operand` is the operand's number.
    pub(super) const fn check(self, operand: usize, found: ElementType) -> Result<(), InferError> {
        let fits = match self.result {
            ResultType::Complex => found.complex_type().is_some(),
            _ => self.accepts.has(found),
        };
        if fits { Ok(()) } else { Err(InferError::ElementClass { operand, expected: self.expected(), found }) }
    }

    const fn expected(self) -> &'static str {
        match self.result {
            ResultType::Complex => "f32 or f64",
            _ => self.accepts.name(),
        }
    }

    /// The element type of the result for operands of this type; `None` if the program declares it.
    pub(super) const fn result(self, operands: ElementType) -> Option<ElementType> {
        match self.result {
            ResultType::Same => Some(operands),
            ResultType::Component => match operands.complex_component_type() {
                Some(component) => Some(component),
                None => Some(operands),
            },
            // `check` refuses operands that cannot be parts of a complex number.
            ResultType::Complex => operands.complex_type(),
            ResultType::Pred => Some(ElementType::Pred),
            ResultType::Any => None,
        }
    }
}

/// The result of an elementwise operation: the dimensions that all operands have
/// (`ShapeInference::InferElementwiseBinaryOpShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 1];
/// infer::elementwise(&[&[Static(8)], &[Static(8)]], &mut result)?;
/// assert_eq!(result, [Static(8)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If there is no operand, or the sizes of two operands do not [`agree`].
pub const fn elementwise(operands: &[&[Dimension]], result: &mut [Dimension]) -> Result<(), InferError> {
    let Some((first, others)) = operands.split_first() else {
        return Err(InferError::NoOperands);
    };
    if let Err(error) = check_len("the result", first.len(), result.len()) {
        return Err(error);
    }
    result.copy_from_slice(first);
    let mut i = 0;
    while i < others.len() {
        if let Err(error) = join(result, others[i]) {
            return Err(error);
        }
        i += 1;
    }
    Ok(())
}

/// Merges the sizes of another operand into the result so far.
pub(super) const fn join(result: &mut [Dimension], other: &[Dimension]) -> Result<(), InferError> {
    if let Err(error) = check_len("an operand", result.len(), other.len()) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < other.len() {
        let (expected, found) = (result[dimension], other[dimension]);
        if !agree(expected, found) {
            return Err(InferError::SizeMismatch { what: "an operand", dimension, expected, found });
        }
        // XLA broadcasts a size of 1: if the other size is unbounded, so is the result.
        result[dimension] = match (expected, found) {
            (Dimension::Unbounded, Dimension::Static(1)) | (Dimension::Static(1), Dimension::Unbounded) => {
                Dimension::Unbounded
            }
            _ => merge(expected, found),
        };
        dimension += 1;
    }
    Ok(())
}

/// The result of a select: the dimensions of the two values. The predicate has the same dimensions or is a scalar
/// (`ShapeInference::InferSelectShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 1];
/// infer::select(&[], &[Static(8)], &[Static(8)], &mut result)?;
/// assert_eq!(result, [Static(8)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If the dimensions do not agree.
pub const fn select(
    predicate: &[Dimension],
    on_true: &[Dimension],
    on_false: &[Dimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let checked = if predicate.is_empty() {
        elementwise(&[on_true, on_false], result)
    } else {
        elementwise(&[on_true, on_false, predicate], result)
    };
    if let Err(error) = checked {
        return Err(error);
    }
    let mut i = 0;
    while i < result.len() {
        // If one value's size is unbounded, the result has the other value's size. Unlike in other operations, this holds for size 1, too.
        result[i] = match (on_true[i], on_false[i]) {
            (Dimension::Unbounded, other) | (other, Dimension::Unbounded) => other,
            _ if i < predicate.len() && matches!(predicate[i], Dimension::Unbounded) => Dimension::Unbounded,
            _ => result[i],
        };
        i += 1;
    }
    Ok(())
}

/// The result of a clamp: the operand's dimensions. Each bound has the same dimensions or is a scalar
/// (`ShapeInference::InferClampShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 1];
/// infer::clamp(&[], &[Static(8)], &[Static(8)], &mut result)?;
/// assert_eq!(result, [Static(8)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If the dimensions of a bound do not agree with the operand's.
pub const fn clamp(
    min: &[Dimension],
    operand: &[Dimension],
    max: &[Dimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let min = if min.is_empty() { operand } else { min };
    let max = if max.is_empty() { operand } else { max };
    if let Err(error) = elementwise(&[operand, min, max], result) {
        return Err(error);
    }
    result.copy_from_slice(operand);
    Ok(())
}

/// Checks a broadcast: dimension `i` of the operand becomes dimension `dimensions[i]` of the result
/// (`ShapeInference::InferBroadcastShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer;
///
/// infer::broadcast(&[Static(64)], &[1], &[Static(8), Static(64)])?;
/// assert!(infer::broadcast(&[Static(64)], &[0], &[Static(8), Static(64)]).is_err());
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If `dimensions` does not have one entry for each dimension of the operand, names a dimension twice or one that the
/// result does not have, or if sizes do not [`agree`].
pub const fn broadcast(operand: &[Dimension], dimensions: &[usize], result: &[Dimension]) -> Result<(), InferError> {
    if let Err(error) = check_len("`dimensions`", operand.len(), dimensions.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions("`dimensions`", dimensions, result.len()) {
        return Err(error);
    }
    let mut i = 0;
    while i < dimensions.len() {
        let dimension = dimensions[i];
        if !agree(operand[i], result[dimension]) {
            let (expected, found) = (operand[i], result[dimension]);
            return Err(InferError::SizeMismatch { what: "the result", dimension, expected, found });
        }
        i += 1;
    }
    Ok(())
}

/// Checks an iota that counts along `dimension` (`ShapeVerifier::HandleIota` in `xla/service/hlo_verifier.cc`).
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer;
///
/// infer::iota(0, &[Static(8)])?;
/// assert!(infer::iota(1, &[Static(8)]).is_err());
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If the result has no such dimension.
pub const fn iota(dimension: usize, result: &[Dimension]) -> Result<(), InferError> {
    let (what, num_dimensions) = ("`iota_dimension`", result.len());
    if dimension < num_dimensions {
        return Ok(());
    }
    Err(InferError::DimensionOutOfRange { what, dimension, num_dimensions })
}

#[cfg(test)]
mod tests {
    use super::{Elementwise, TABLE};

    #[test]
    fn the_table_is_sorted_and_its_names_are_found() {
        assert!(TABLE.is_sorted_by(|a, b| a.name < b.name));
        for row in TABLE {
            assert_eq!(Elementwise::named(row.name), Some(*row));
        }
        assert_eq!(Elementwise::named("compare"), Some(Elementwise::COMPARE));
        assert_eq!(Elementwise::named("convert"), Some(Elementwise::CONVERT));
        assert_eq!(Elementwise::named(""), None);
    }
}
