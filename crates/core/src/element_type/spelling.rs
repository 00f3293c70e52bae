//! Element types as other libraries call them.

use super::ElementType;

impl ElementType {
    /// The element type that XLA, JAX, NumPy, `ml_dtypes`, torch or MLIR calls by this name, without the name of a module before it.
    ///
    /// Upper and lower case are the same, because MLIR writes `f8E4M3FN`, and a `_` between a digit and a letter does not count. As in
    /// MLIR, `i1` is a truth value. Names without a width, such as `half` and `double`, are not accepted.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// for (name, expected) in [("float8_e4m3fn", "f8e4m3fn"), ("bfloat16", "bf16"), ("f8E4M3FN", "f8e4m3fn"), ("ui8", "u8"), ("s4", "s4")] {
    ///     assert_eq!(ElementType::from_any_name(name).unwrap().name(), expected);
    /// }
    /// assert_eq!(ElementType::from_any_name("int"), None);
    /// ```
    #[must_use]
    pub fn from_any_name(name: &str) -> Option<Self> {
        let (text, length) = lower_case(name)?;
        let name = core::str::from_utf8(text.get(..length)?).ok()?;
        match name {
            "bool" | "i1" => return Some(Self::Pred),
            "complex64" | "complex<f32>" => return Some(Self::C64),
            "complex128" | "complex<f64>" => return Some(Self::C128),
            "bfloat16" => return Some(Self::Bf16),
            _ => {}
        }
        let prefixes = [("float", "f"), ("uint", "u"), ("int", "s"), ("ui", "u"), ("si", "s"), ("i", "s")];
        let in_xla = |(theirs, ours): (&str, &str)| {
            let rest = name.strip_prefix(theirs)?;
            rest.starts_with(|first: char| first.is_ascii_digit()).then_some(())?;
            let mut own = [0; LONGEST];
            let end = ours.len().checked_add(rest.len())?;
            own.get_mut(..ours.len())?.copy_from_slice(ours.as_bytes());
            own.get_mut(ours.len()..end)?.copy_from_slice(rest.as_bytes());
            Self::from_name(core::str::from_utf8(own.get(..end)?).ok()?)
        };
        Self::from_name(name).or_else(|| prefixes.into_iter().find_map(in_xla))
    }
}

/// No name of an element type is longer, in bytes: `float8_e4m3b11fnuz` has 18.
const LONGEST: usize = 24;

/// The name in lower case, without a `_` between a digit and a letter, and its length; `None` if it is too long to be a name.
fn lower_case(name: &str) -> Option<([u8; LONGEST], usize)> {
    let mut text = [0; LONGEST];
    let mut length = 0_usize;
    let mut rest = name.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = match after {
            [b'_', letter, ..] if byte.is_ascii_digit() && letter.is_ascii_alphabetic() => after.get(1..)?,
            _ => after,
        };
        *text.get_mut(length)? = byte.to_ascii_lowercase();
        length = length.checked_add(1)?;
    }
    Some((text, length))
}
