//! Writing text in a `const fn`: the printer and the validator's messages write to a [`Sink`].

use alloc::vec;
use core::fmt;

/// Writes text into a fixed buffer. Bytes that do not fit are counted, not stored.
pub(crate) struct Sink<'a> {
    buffer: &'a mut [u8],
    /// How many bytes were written, stored or not.
    len: &'a mut usize,
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no `get_mut`; the index is compared with the length first")]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "digits are below 10; a length is below the memory that holds the text"
)]
impl<'a> Sink<'a> {
    pub(crate) const fn new(buffer: &'a mut [u8], len: &'a mut usize) -> Self {
        Self { buffer, len }
    }

    /// How many bytes were written, stored or not.
    pub(crate) const fn written(&self) -> usize {
        *self.len
    }

    /// Removes everything from byte `len` on.
    pub(crate) const fn truncate(&mut self, len: usize) {
        if len < *self.len {
            *self.len = len;
        }
    }

    pub(crate) const fn byte(&mut self, byte: u8) {
        if *self.len < self.buffer.len() {
            self.buffer[*self.len] = byte;
        }
        *self.len += 1;
    }

    pub(crate) const fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.byte(bytes[i]);
            i += 1;
        }
    }

    pub(crate) const fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// Writes numbers with commas between them.
    pub(crate) const fn numbers(&mut self, numbers: &[u64]) {
        let mut i = 0;
        while i < numbers.len() {
            if i > 0 {
                self.byte(b',');
            }
            self.number(numbers[i]);
            i += 1;
        }
    }

    pub(crate) const fn signed(&mut self, number: i64) {
        if number < 0 {
            self.byte(b'-');
        }
        self.number(number.unsigned_abs());
    }

    pub(crate) const fn number(&mut self, mut number: u64) {
        // A `u64` has at most 20 digits.
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        while first < digits.len() {
            self.byte(digits[first]);
            first += 1;
        }
    }
}

/// Implements `panic`, [`Display`](fmt::Display) and [`Error`](core::error::Error) for an error that a `const` may
/// raise, from its method `write`.
macro_rules! error_in_const {
    ($error:ident) => {
        impl $error {
            /// Panics with the message of this error; in a `const`, that is a compile error with the message.
            ///
            /// # Panics
            /// Always.
            #[track_caller]
            pub const fn panic(self) -> ! {
                let mut text = crate::sink::ConstText::<256>::new();
                self.write(&mut text.sink());
                panic!("{}", text.as_str())
            }
        }

        impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                crate::sink::display(f, |sink| self.write(sink))
            }
        }

        impl core::error::Error for $error {}
    };
}
pub(crate) use error_in_const;

/// Writes the text of `write` to `f`: from a buffer on the stack, or one on the heap if the text is long.
pub(crate) fn display(f: &mut fmt::Formatter<'_>, write: impl Fn(&mut Sink<'_>)) -> fmt::Result {
    let (mut small, mut written) = ([0; 256], 0);
    write(&mut Sink::new(&mut small, &mut written));
    let pad = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| match core::str::from_utf8(bytes) {
        Ok(text) => f.pad(text),
        Err(_) => Err(fmt::Error),
    };
    // `written` also counts what did not fit.
    match small.get(..written) {
        Some(bytes) => pad(f, bytes),
        None => {
            let mut large = vec![0; written];
            write(&mut Sink::new(&mut large, &mut 0));
            pad(f, &large)
        }
    }
}

/// A short text made at compile time, such as the name of a type or the message of a failed check.
///
/// ```
/// use xla_shape_core::text::ConstText;
///
/// const MESSAGE: ConstText<64> = ConstText::new().push_str("dimension ").push_number(3);
/// assert_eq!(MESSAGE.as_str(), "dimension 3");
/// ```
#[derive(Clone, Copy)]
pub struct ConstText<const CAPACITY: usize> {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl<const CAPACITY: usize> ConstText<CAPACITY> {
    /// An empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }

    /// The text so far. If it is longer than `CAPACITY` bytes, it is cut off after the last whole character that fits.
    ///
    /// ```
    /// use xla_shape_core::text::ConstText;
    ///
    /// assert_eq!(ConstText::<4>::new().push_str("shape").as_str(), "shap");
    /// ```
    #[must_use]
    pub const fn as_str(&self) -> &str {
        let mut end = if self.len < CAPACITY { self.len } else { CAPACITY };
        loop {
            // Leave out a character that the capacity cuts in two.
            match core::str::from_utf8(self.bytes.split_at(end).0) {
                Ok(text) => return text,
                Err(error) => end = error.valid_up_to(),
            }
        }
    }

    /// Whether the text is longer than `CAPACITY` bytes, so that its end is missing.
    ///
    /// ```
    /// use xla_shape_core::text::ConstText;
    ///
    /// assert!(ConstText::<4>::new().push_str("shape").is_cut());
    /// assert!(!ConstText::<5>::new().push_str("shape").is_cut());
    /// ```
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.len > CAPACITY
    }

    /// Appends a text.
    ///
    /// ```
    /// use xla_shape_core::text::ConstText;
    ///
    /// assert_eq!(ConstText::<8>::new().push_str("f32").push_str("[]").as_str(), "f32[]");
    /// ```
    #[must_use]
    pub const fn push_str(mut self, text: &str) -> Self {
        self.sink().text(text);
        self
    }

    /// Appends a count, such as the length of a list or a dimension number, in decimal.
    ///
    /// ```
    /// use xla_shape_core::text::ConstText;
    ///
    /// let text = ConstText::<32>::new().push_count([8, 128].len()).push_str(" dimensions");
    /// assert_eq!(text.as_str(), "2 dimensions");
    /// ```
    #[must_use]
    pub const fn push_count(self, count: usize) -> Self {
        self.push_number(count as u64)
    }

    /// Appends a number in decimal.
    ///
    /// ```
    /// use xla_shape_core::text::ConstText;
    ///
    /// assert_eq!(ConstText::<8>::new().push_number(1280).as_str(), "1280");
    /// ```
    #[must_use]
    pub const fn push_number(mut self, number: u64) -> Self {
        self.sink().number(number);
        self
    }

    /// A sink that appends to the text.
    pub(crate) const fn sink(&mut self) -> Sink<'_> {
        Sink { buffer: &mut self.bytes, len: &mut self.len }
    }
}

impl<const CAPACITY: usize> Default for ConstText<CAPACITY> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const CAPACITY: usize> fmt::Debug for ConstText<CAPACITY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// Whether two texts, given as bytes, are equal; usable in a `const`, where `==` is not.
///
/// ```
/// const IS_BF16: bool = xla_shape_core::text::same_text(b"bf16", b"bf16");
/// assert!(IS_BF16);
/// ```
#[must_use]
pub const fn same_text(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, one_rest @ ..], [b, other_rest @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (one_rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}

#[cfg(test)]
mod tests {
    use super::ConstText;
    use alloc::string::ToString;

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 1, 9, 10, 99, 100, 101, 1 << 40, u64::MAX] {
            assert_eq!(ConstText::<32>::new().push_number(number).as_str(), number.to_string());
        }
    }

    #[test]
    fn too_long_a_text_is_cut_between_characters() {
        let text = ConstText::<4>::new().push_str("abcé");
        assert!(text.is_cut());
        assert_eq!(text.as_str(), "abc");
    }
}
