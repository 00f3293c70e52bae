//! NumPy's `.npy` files: a header that is a Python dictionary with three entries, then the elements.
//!
//! ```
//! use xla_shape::{Buffer, DynBuffer, shape};
//!
//! let x = Buffer::<shape!(f32[2,3]{1,0:T(2,4)})>::from_fn(|[i, j]| (10 * i + j) as f32);
//! let file = x.to_npy()?; // row-major: such files know no tiles
//!
//! let same = Buffer::<shape!(f32[2,3]{1,0:T(2,4)})>::from_npy(&file)?; // in the layout of the type
//! assert_eq!(same[[1, 2]], 12.0);
//! let any = DynBuffer::from_npy(&file)?; // in the layout of the file
//! assert_eq!(any.shape().to_string(), "f32[2,3]{1,0}");
//! # Ok::<(), xla_shape::npy::NpyError>(())
//! ```
//!
//! NumPy has no name for some of XLA's element types, such as bf16: files with such elements only say how many bytes an element takes. Such a file
//! can be read as a typed array, whose type gives the element type, but cannot be written.

// Existing crates read any Python literal, to any depth, and trust the lengths in it. This module reads only what NumPy writes for plain
// arrays.

use crate::buffer::{AccessError, AlignedBytes, Buffer, BufferError, Bytes, ShapeMismatch, WholeShape};
use crate::relayout::{Options, Plan, RelayoutError};
use std::error::Error;
use std::fmt;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Layout, StrideTableError, ValidationError};
use xla_shape_relayout::wide::byte_count;

/// Why an `.npy` file cannot be read, or an array cannot be written as one.
///
/// ```
/// use xla_shape::DynBuffer;
/// use xla_shape::npy::NpyError;
///
/// let error = DynBuffer::from_npy(b"not such a file").unwrap_err();
/// assert!(matches!(error, NpyError::Header(_)), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NpyError {
    /// The file is not an `.npy` file of an array that XLA has; the text says why.
    Header(Box<str>),
    /// The file says how many bytes an element takes, but not its type.
    UnknownElementType {
        /// NumPy's name of the type.
        name: Box<str>,
        /// The bytes of an element.
        bytes: u64,
    },
    /// NumPy has no array of this shape; the text says why.
    NotInNumpy(Box<str>),
    /// The array's shape differs from the file's, or there is not enough memory.
    Buffer(Box<BufferError>),
    /// The array cannot be copied between the file's layout and its own.
    Relayout(RelayoutError),
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(text) | Self::NotInNumpy(text) => f.write_str(text),
            Self::UnknownElementType { name, bytes } => {
                let unit = if *bytes == 1 { "byte" } else { "bytes" };
                write!(f, "NumPy's type `{name}` only says that an element takes {bytes} {unit}: give the shape")
            }
            Self::Buffer(error) => error.fmt(f),
            Self::Relayout(error) => error.fmt(f),
        }
    }
}

impl Error for NpyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Buffer(error) => error.source(),
            Self::Relayout(error) => error.source(),
            _ => None,
        }
    }
}

impl From<BufferError> for NpyError {
    fn from(error: BufferError) -> Self {
        Self::Buffer(Box::new(error))
    }
}

impl From<ValidationError> for NpyError {
    fn from(error: ValidationError) -> Self {
        BufferError::from(error).into()
    }
}

impl From<RelayoutError> for NpyError {
    fn from(error: RelayoutError) -> Self {
        Self::Relayout(error)
    }
}

/// An error about the file.
fn damaged(reason: impl Into<Box<str>>) -> NpyError {
    NpyError::Header(reason.into())
}

impl<S: WholeShape> Buffer<S> {
    /// Reads the array in an `.npy` file that is in memory. Its layout is that of the type, or the file's if the shape is known at run
    /// time. Padding is 0.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let file = Buffer::<shape!(f32[2,3])>::filled(1.5).to_npy()?;
    /// let x = Buffer::<shape!(f32[2,3]{1,0:T(8,128)})>::from_npy(&file)?;
    /// assert_eq!(x[[1, 2]], 1.5);
    /// # Ok::<(), xla_shape::npy::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// If it is not an `.npy` file, its element type or sizes are not those of the type, it has more or fewer elements than its header
    /// says, or there is not enough memory.
    pub fn from_npy(file: &[u8]) -> Result<Self, NpyError> {
        let (from, start) = read_header(file, S::TYPE.map(ArrayShape::element_type))?;
        let elements = file.get(start..).unwrap_or_default();
        let shape = if let Some(array) = S::TYPE {
            // The layout may differ: the plan below copies. Compare everything else before memory is allocated.
            if array.num_dimensions() != from.num_dimensions() {
                return Err(BufferError::from(ShapeMismatch::new(array.clone(), from)).into());
            }
            let (expected, found) = (array.element_type(), from.element_type());
            if expected != found {
                return Err(BufferError::from(AccessError::WrongElementType { expected, found }).into());
            }
            let sizes = sizes(&from).into_iter().map(|size| usize::try_from(size).unwrap_or(usize::MAX));
            S::try_from_sizes(&sizes.collect::<Vec<_>>())?
        } else {
            S::try_from_shape(&from)?
        };
        let plan = Plan::new(&from, &shape.array(), &Options::new())?;
        let (expected, found) = (bytes_of(&from)?, elements.len());
        if found != expected {
            return Err(BufferError::WrongLength { expected, found }.into());
        }
        let mut bytes = AlignedBytes::zeroed(shape.bytes()?).map_err(BufferError::from)?;
        plan.run(elements, bytes.as_mut())?;
        Ok(shape.buffer(bytes)?)
    }
}

impl<S: WholeShape, B: Bytes> Buffer<S, B> {
    /// Writes the array as an `.npy` file: column-major if the array is column-major without padding, otherwise row-major.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let file = Buffer::<shape!(s32[3])>::from_fn(|[i]| i as i32).to_npy()?;
    /// assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&[2, 0, 0, 0]));
    /// # Ok::<(), xla_shape::npy::NpyError>(())
    /// ```
    ///
    /// # Errors
    /// If NumPy has no such element type, a dimension is bounded, or there is not enough memory.
    pub fn to_npy(&self) -> Result<Vec<u8>, NpyError> {
        let view = self.view();
        let from = view.array_shape();
        let to = match fortran_order(&from) {
            Some(_) => from.clone(),
            None => ArrayShape::with_default_layout(from.element_type(), &sizes(&from))?,
        };
        let mut file = write_header(&to)?;
        let plan = Plan::new(&from, &to, &Options::new())?;
        let (start, elements) = (file.len(), bytes_of(&to)?);
        let out_of_memory = BufferError::OutOfMemory { bytes: elements };
        file.try_reserve_exact(elements).map_err(|_| out_of_memory)?;
        file.resize(start + elements, 0);
        plan.run(view.as_bytes(), file.get_mut(start..).unwrap_or_default())?;
        Ok(file)
    }
}

/// The sizes, or bounds, of an array.
fn sizes(array: &ArrayShape) -> Vec<u64> {
    array.dimensions().iter().map(|dimension| dimension.extent().unwrap_or_default()).collect()
}

/// The bytes of an array without padding.
fn bytes_of(array: &ArrayShape) -> Result<usize, BufferError> {
    byte_count(array).ok_or(BufferError::StrideTable(StrideTableError::Overflow))
}

/// Whether the array is column-major (`Some(true)`) or row-major (`Some(false)`), without padding; `None` if it is neither.
fn fortran_order(array: &ArrayShape) -> Option<bool> {
    let num_dimensions = array.num_dimensions();
    if *array.layout() == Layout::descending(num_dimensions) {
        Some(false)
    } else if *array.layout() == Layout::ascending(num_dimensions) {
        Some(true)
    } else {
        None
    }
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads the header at the beginning of an `.npy` file. Returns the shape of the array and the byte at which its elements begin.
///
/// If the file only says how many bytes an element takes, its element type is `given`.
///
/// ```
/// use xla_shape::npy::{read_header, write_header};
///
/// let header = write_header(&"f32[2,3]{0,1}".parse()?)?;
/// let (shape, start) = read_header(&header, None)?;
/// assert_eq!((shape.to_string(), start), ("f32[2,3]{0,1}".to_owned(), 128));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the header is not valid, its element type or sizes are not possible in XLA, or it does not say the element type and `given` is `None`
/// or takes a different number of bytes.
pub fn read_header(file: &[u8], given: Option<ElementType>) -> Result<(ArrayShape, usize), NpyError> {
    let beginning = || damaged("the file does not begin like an .npy file");
    let (version, rest) =
        file.strip_prefix(MAGIC).and_then(|rest| rest.split_first_chunk::<2>()).ok_or_else(beginning)?;
    // Version 1 has a length of 2 bytes, later versions one of 4 bytes.
    let (length, rest) = match version {
        [1, _] => rest.split_first_chunk().map(|(length, rest)| (u16::from_le_bytes(*length) as usize, rest)),
        [2 | 3, _] => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
        [major, minor] => {
            return Err(damaged(format!("expected version 1, 2 or 3 of the .npy format, found {major}.{minor}")));
        }
    }
    .ok_or_else(beginning)?;
    let header = rest.get(..length).ok_or_else(|| damaged("the header is longer than the file"))?;
    let header = std::str::from_utf8(header).map_err(|_| damaged("the header is not text"))?;
    let start = file.len() - rest.len() + length;
    Ok((Header::parse(header)?.shape(given)?, start))
}

/// The header of an `.npy` file with an array of this shape. The elements follow it.
///
/// ```
/// use xla_shape::npy::write_header;
///
/// let header = write_header(&"f32[2,3]{0,1}".parse()?)?;
/// assert_eq!(header.len() % 64, 0);
/// assert!(header.starts_with(b"\x93NUMPY"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If NumPy has no such element type, a dimension is bounded or unbounded, or the array is neither row-major nor column-major without
/// padding.
pub fn write_header(array: &ArrayShape) -> Result<Vec<u8>, NpyError> {
    let not_in_numpy = |reason: String| NpyError::NotInNumpy(reason.into());
    let element_type = array.element_type();
    let name = element_type.npy_code().ok_or_else(|| {
        not_in_numpy(format!("NumPy has no element type {element_type}; a .safetensors file or raw bytes may hold it"))
    })?;
    if !array.dimensions().iter().all(|dimension| matches!(dimension, Dimension::Static(_))) {
        return Err(not_in_numpy(format!("an .npy file holds an array of static sizes, not {array}")));
    }
    let fortran_order = match fortran_order(array) {
        Some(true) => "True",
        Some(false) => "False",
        None => {
            let reason = format!("an .npy file holds an array in row-major or column-major order, not {array}");
            return Err(not_in_numpy(reason));
        }
    };
    let order = if element_type.storage_bytes() == 1 { '|' } else { '<' };
    let sizes = sizes(array).iter().map(|size| format!("{size},")).collect::<String>();
    let mut text = format!("{{'descr': '{order}{name}', 'fortran_order': {fortran_order}, 'shape': ({sizes}), }}");
    // The header is the magic bytes, two bytes of version, two of length, and the text. It ends with a line break, and the elements begin at a
    // multiple of 64 bytes.
    let before = MAGIC.len() + 4;
    let end = (before + text.len() + 1).next_multiple_of(64);
    text += &" ".repeat(end - before - text.len() - 1);
    text.push('\n');
    let length = u16::try_from(text.len())
        .map_err(|_| not_in_numpy("the array has too many dimensions for an .npy file".to_owned()))?;
    Ok([MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat())
}

#[derive(Default)]
struct Header<'a> {
    descr: Option<&'a str>,
    fortran_order: Option<bool>,
    shape: Option<Vec<u64>>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Result<Self, NpyError> {
        let mut header = Self::default();
        let mut rest = Rest(text);
        rest.expect("{")?;
        while !rest.eat("}") {
            let key = rest.string()?;
            rest.expect(":")?;
            match key {
                "descr" => header.descr = Some(rest.string()?),
                "fortran_order" => {
                    header.fortran_order = Some(rest.eat("True") || !rest.expect("False").map(|()| true)?)
                }
                "shape" => header.shape = Some(rest.tuple()?),
                key => {
                    let key = key.escape_debug();
                    return Err(damaged(format!("the header has an unknown entry `{key}`")));
                }
            }
            if !rest.eat(",") {
                rest.expect("}")?;
                break;
            }
        }
        Ok(header)
    }

    fn shape(self, given: Option<ElementType>) -> Result<ArrayShape, NpyError> {
        let missing = |entry| damaged(format!("the header has no `{entry}`"));
        let descr = self.descr.ok_or_else(|| missing("descr"))?;
        let unknown = || {
            let name = descr.escape_debug();
            damaged(format!("NumPy's type `{name}` has no counterpart in XLA, or its byte order is not supported"))
        };
        let name = descr.strip_prefix(['<', '|']).ok_or_else(unknown)?;
        let element_type = match bytes_without_a_type(name) {
            None => {
                ElementType::ALL.iter().copied().find(|known| known.npy_code() == Some(name)).ok_or_else(unknown)?
            }
            Some(bytes) => {
                let name = name.into();
                let given = given.filter(|given| given.storage_bytes() == bytes);
                given.ok_or(NpyError::UnknownElementType { name, bytes })?
            }
        };
        let sizes = self.shape.ok_or_else(|| missing("shape"))?;
        let layout = match self.fortran_order.ok_or_else(|| missing("fortran_order"))? {
            true => Layout::ascending(sizes.len()),
            false => Layout::descending(sizes.len()),
        };
        let dimensions = sizes.into_iter().map(Dimension::Static).collect::<Vec<_>>();
        Ok(ArrayShape::new(element_type, &dimensions, layout)?)
    }
}

/// The bytes of an element, if `name` does not say its type. NumPy writes such names for the types of `ml_dtypes`, such as bfloat16.
fn bytes_without_a_type(name: &str) -> Option<u64> {
    match name {
        "f1" => Some(1),
        name => name.strip_prefix('V')?.parse().ok(),
    }
}

/// The rest of the header, which is being parsed.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn eat(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_ascii_start();
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), NpyError> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"))) }
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> NpyError {
        let found = self.0.chars().take(20).collect::<String>();
        damaged(format!("expected {expected} in the header of the .npy file, found `{}`", found.escape_debug()))
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.eat("'") {
            '\''
        } else if self.eat("\"") {
            '"'
        } else {
            return Err(self.unexpected("a text"));
        };
        let (text, rest) = self.0.split_once(quote).ok_or_else(|| self.unexpected("the end of a text"))?;
        self.0 = rest;
        Ok(text)
    }

    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        self.expect("(")?;
        let mut sizes = Vec::new();
        while !self.eat(")") {
            self.0 = self.0.trim_ascii_start();
            let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            sizes.push(digits.parse().map_err(|_| self.unexpected("a size"))?);
            self.0 = rest;
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::{NpyError, read_header, write_header};
    use crate::buffer::BufferError;
    use crate::{Buffer, DynBuffer, shape};

    #[test]
    fn what_is_written_is_read_again() {
        for shape in ["f32[3,5]{1,0}", "f64[3,5]{0,1}", "pred[7]{0}", "c64[]", "s16[1,2,3,4]{3,2,1,0}", "u8[0,3]{1,0}"]
        {
            let array = shape.parse().unwrap();
            let file = write_header(&array).unwrap();
            assert_eq!(file.len() % 64, 0);
            assert_eq!(read_header(&file, None), Ok((array, file.len())), "{shape}");
        }
    }

    #[test]
    fn what_numpy_cannot_hold_is_an_error() {
        for shape in [
            "bf16[3]",
            "f32[8,128]{1,0:T(8,128)}",
            "f32[2,3,4]{1,0,2}",
            "s4[3]",
            "f32[3]{0:S(1)}",
            "f32[<=3]",
            "f32[?]",
        ] {
            assert!(write_header(&shape.parse().unwrap()).is_err(), "{shape}");
        }
    }

    #[test]
    fn damaged_headers_are_errors() {
        let good = write_header(&"f32[3,5]".parse().unwrap()).unwrap();
        for end in 0..good.len() {
            assert!(read_header(&good[..end], None).is_err(), "cut at {end}");
        }
        let with = |text: &str| [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat();
        assert!(read_header(&with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"), None).is_ok());
        assert!(read_header(&with("{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(3)}"), None).is_ok());
        for text in [
            "",
            "{}",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '>f4', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}",
            "{'descr': '<f4",
            &"(".repeat(60_000),
        ] {
            assert!(read_header(&with(text), None).is_err(), "{text}");
        }
    }

    #[test]
    fn arrays_go_through_files() {
        type Tiled = shape!(s16[5,7]{0,1:T(2,128)(2,1)});
        let x = Buffer::<Tiled>::from_fn(|[i, j]| (10 * i + j) as i16);
        let file = x.to_npy().unwrap();
        assert_eq!(file.len(), 128 + 70);
        assert_eq!(Buffer::<Tiled>::from_npy(&file).unwrap().as_bytes(), x.as_bytes());
        let open = Buffer::<shape!(s16[?,7]{1,0:T(2,4)})>::from_npy(&file).unwrap();
        assert_eq!((open.get([4, 6]), open.get([5, 0]).is_err()), (Ok(46), true));

        let any = DynBuffer::from_npy(&file).unwrap();
        assert_eq!(any.shape().to_string(), "s16[5,7]{1,0}");
        assert_eq!(any.to_npy().unwrap(), file);
        assert_eq!(any.clone().into_typed::<shape!(s16[5,7])>().unwrap().to_npy().unwrap(), file);
        let columns = Buffer::<shape!(pred[2,3]{0,1})>::filled(true).to_npy().unwrap();
        assert_eq!(read_header(&columns, None).unwrap().0.to_string(), "pred[2,3]{0,1}");
        for empty in ["f32[0,3]", "f32[]", "u8[3,0]{0,1}"] {
            let x = DynBuffer::zeroed_with(empty.parse().unwrap()).unwrap();
            assert_eq!(DynBuffer::from_npy(&x.to_npy().unwrap()).unwrap().shape(), x.shape());
        }
    }

    #[test]
    fn files_of_other_arrays_are_errors() {
        let file = Buffer::<shape!(s16[5,7])>::zeroed().to_npy().unwrap();
        let short = &file[..file.len() - 1];
        assert_eq!(
            DynBuffer::from_npy(short).unwrap_err(),
            BufferError::WrongLength { expected: 70, found: 69 }.into()
        );
        let message = |error: Option<NpyError>| error.unwrap().to_string();
        assert_eq!(message(Buffer::<shape!(s32[5,7])>::from_npy(&file).err()), "expected elements of s32, found s16");
        assert_eq!(
            message(Buffer::<shape!(s16[5])>::from_npy(&file).err()),
            "expected an array of shape s16[5]{0}, found s16[5,7]{1,0}"
        );
        assert_eq!(
            message(Buffer::<shape!(s16[5,8])>::from_npy(&file).err()),
            "expected size 8 for dimension 1, found 7"
        );
        let bounded = DynBuffer::zeroed_with("s16[<=5,7]".parse().unwrap()).unwrap();
        assert_eq!(message(bounded.to_npy().err()), "an .npy file holds an array of static sizes, not s16[<=5,7]{1,0}");
    }

    #[test]
    #[cfg(feature = "half")]
    fn types_that_numpy_does_not_know_come_from_the_array() {
        let mut file = Buffer::<shape!(s16[3])>::from_fn(|[i]| [0x3f80, 0x4000, 0x4040][i]).to_npy().unwrap();
        let place = file.windows(3).position(|text| text == b"<i2").unwrap();
        file[place..place + 3].copy_from_slice(b"<V2");
        let x = Buffer::<shape!(bf16[3]{0:T(4)})>::from_npy(&file).unwrap();
        assert_eq!(x.iter().map(f32::from).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
        assert_eq!(
            DynBuffer::from_npy(&file).unwrap_err().to_string(),
            "NumPy's type `V2` only says that an element takes 2 bytes: give the shape"
        );
    }
}
