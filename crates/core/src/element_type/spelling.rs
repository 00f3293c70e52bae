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
        let is_it =
            |found: &&Self| [found.numpy_name(), found.torch_name(), Some(found.mlir_name())].contains(&Some(name));
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
        let named = || Self::ALL.iter().find(is_it).copied();
        Self::from_name(name).or_else(named).or_else(|| prefixes.into_iter().find_map(in_xla))
    }

    /// The name in NumPy (`np.float32`), or in the package `ml_dtypes` (`ml_dtypes.bfloat16`) if NumPy itself does not have the type;
    /// `None` if neither has it. NumPy has the types with an [`npy_code`](Self::npy_code).
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!(ElementType::F8E4M3Fn.numpy_name(), Some("float8_e4m3fn"));
    /// ```
    #[must_use]
    pub const fn numpy_name(self) -> Option<&'static str> {
        self.row().numpy
    }

    /// The name in torch, without `torch.`; `None` if torch does not have the type.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::Pred.torch_name(), ElementType::S4.torch_name()), (Some("bool"), None));
    /// ```
    #[must_use]
    pub const fn torch_name(self) -> Option<&'static str> {
        self.row().torch
    }

    /// The name in MLIR, where signed integers have no sign.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!([ElementType::S8, ElementType::U8].map(ElementType::mlir_name), ["i8", "ui8"]);
    /// ```
    #[must_use]
    pub const fn mlir_name(self) -> &'static str {
        self.row().mlir
    }

    /// The name in oneDNN; `None` if oneDNN does not have the type.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!(ElementType::F8E4M3Fn.onednn_name(), Some("f8_e4m3"));
    /// ```
    #[must_use]
    pub const fn onednn_name(self) -> Option<&'static str> {
        self.row().onednn
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

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn every_name_is_read_back() {
        for &element_type in ElementType::ALL {
            let names = [Some(element_type.name()), element_type.numpy_name(), element_type.torch_name()];
            // MLIR has no type of one bit that is not a truth value.
            let in_mlir = Some(element_type.mlir_name()).filter(|_| element_type != ElementType::S1);
            for name in names.into_iter().chain([in_mlir]).flatten() {
                assert_eq!(ElementType::from_any_name(name), Some(element_type), "{name}");
            }
        }
        assert_eq!(ElementType::from_any_name("si8"), Some(ElementType::S8));
    }

    #[test]
    fn codes_of_interfaces_are_unique() {
        for (number, &a) in ElementType::ALL.iter().enumerate() {
            for &b in ElementType::ALL.iter().take(number) {
                let is_same = |a: Option<&str>, b: Option<&str>| a.is_some() && a == b;
                assert!(
                    !is_same(a.npy_code(), b.npy_code()) && !is_same(a.safetensors_name(), b.safetensors_name()),
                    "{a} {b}"
                );
                assert!(
                    a.dlpack_code().is_none() || (a.dlpack_code(), a.bits()) != (b.dlpack_code(), b.bits()),
                    "{a} {b}"
                );
                assert!(a.pjrt_number().is_none() || a.pjrt_number() != b.pjrt_number(), "{a} {b}");
            }
        }
    }
}
