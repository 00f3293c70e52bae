//! NumPy's `.npy`: a header that is a Python dictionary of three entries, then the elements.
//!
//! The crates for it read any Python literal, to any depth and with lengths taken on trust; this reads what NumPy writes
//! for plain arrays, and nothing else.

use xla_shape::{ArrayShape, Dimension, ElementType, Layout};
use xla_shape_render::count;

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's names of element types, without the byte order.
const TYPES: &[(&str, ElementType)] = &[
    ("b1", ElementType::Pred),
    ("i1", ElementType::S8),
    ("i2", ElementType::S16),
    ("i4", ElementType::S32),
    ("i8", ElementType::S64),
    ("u1", ElementType::U8),
    ("u2", ElementType::U16),
    ("u4", ElementType::U32),
    ("u8", ElementType::U64),
    ("f2", ElementType::F16),
    ("f4", ElementType::F32),
    ("f8", ElementType::F64),
    ("c8", ElementType::C64),
    ("c16", ElementType::C128),
];

/// The shape of the array in a file that begins so, and where its elements begin. Where the file only tells how many bytes
/// an element takes, elements are of the type `given`.
pub(super) fn read(file: &[u8], given: Option<ElementType>) -> Result<(ArrayShape, usize), String> {
    let damaged = || "the file does not begin as an .npy file does".to_owned();
    let (version, rest) =
        file.strip_prefix(MAGIC).and_then(|rest| rest.split_first_chunk::<2>()).ok_or_else(damaged)?;
    let (length, rest) = match version {
        [1, _] => rest.split_first_chunk().map(|(length, rest)| (u16::from_le_bytes(*length) as usize, rest)),
        [2 | 3, _] => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest)),
        [major, minor] => return Err(format!("expected version 1, 2 or 3 of the .npy format, found {major}.{minor}")),
    }
    .ok_or_else(damaged)?;
    let header = rest.get(..length).ok_or("the header is longer than the file")?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is no text")?;
    let start = file.len() - rest.len() + length;
    Ok((Header::parse(header)?.shape(given)?, start))
}

/// The beginning of a file that holds an array of this shape.
pub(super) fn header(array: &ArrayShape) -> Result<Vec<u8>, String> {
    let element_type = array.element_type();
    let (name, _) = TYPES.iter().find(|(_, numpy)| *numpy == element_type).ok_or_else(|| {
        format!("NumPy has no element type {element_type}; a .safetensors file or raw bytes may hold it")
    })?;
    let num_dimensions = array.num_dimensions();
    let fortran_order = if *array.layout() == Layout::descending(num_dimensions) {
        "False"
    } else if *array.layout() == Layout::ascending(num_dimensions) {
        "True"
    } else {
        return Err(format!("an .npy file holds an array in row-major or column-major order, not {array}"));
    };
    let order = if element_type.storage_bytes() == 1 { '|' } else { '<' };
    let sizes = array.dimensions().iter().map(|dimension| format!("{},", dimension.extent().unwrap_or_default()));
    let sizes = sizes.collect::<String>();
    let mut text = format!("{{'descr': '{order}{name}', 'fortran_order': {fortran_order}, 'shape': ({sizes}), }}");
    // The elements begin at a multiple of 64 bytes.
    let before = MAGIC.len() + 4;
    let end = (before + text.len() + 1).next_multiple_of(64);
    text += &" ".repeat(end - before - text.len() - 1);
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| "the array has too many dimensions for an .npy file")?;
    Ok([MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat())
}

#[derive(Default)]
struct Header<'a> {
    descr: Option<&'a str>,
    fortran_order: Option<bool>,
    shape: Option<Vec<u64>>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
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
                key => return Err(format!("the header has an entry `{}`, which is not known", key.escape_debug())),
            }
            if !rest.eat(",") {
                rest.expect("}")?;
                break;
            }
        }
        Ok(header)
    }

    fn shape(self, given: Option<ElementType>) -> Result<ArrayShape, String> {
        let missing = |entry| format!("the header has no `{entry}`");
        let descr = self.descr.ok_or_else(|| missing("descr"))?;
        let unknown =
            || format!("NumPy's type `{}` has no counterpart in XLA, or not its byte order", descr.escape_debug());
        let name = descr.strip_prefix(['<', '|']).ok_or_else(unknown)?;
        let element_type = match bytes_without_a_type(name) {
            None => TYPES.iter().find(|(numpy, _)| *numpy == name).ok_or_else(unknown)?.1,
            Some(bytes) => given.filter(|given| given.storage_bytes() == bytes).ok_or_else(|| {
                let takes = count(bytes, "byte", "bytes");
                format!("NumPy's type `{name}` only says that an element takes {takes}: give the shape with --from")
            })?,
        };
        let sizes = self.shape.ok_or_else(|| missing("shape"))?;
        let layout = match self.fortran_order.ok_or_else(|| missing("fortran_order"))? {
            true => Layout::ascending(sizes.len()),
            false => Layout::descending(sizes.len()),
        };
        let dimensions = sizes.into_iter().map(Dimension::Static).collect::<Vec<_>>();
        ArrayShape::new(element_type, &dimensions, layout).map_err(|error| error.to_string())
    }
}

/// How many bytes an element takes, where NumPy has no name for its type: so it writes those of `ml_dtypes`, such as
/// bfloat16.
fn bytes_without_a_type(name: &str) -> Option<u64> {
    match name {
        "f1" => Some(1),
        name => name.strip_prefix('V')?.parse().ok(),
    }
}

/// The rest of the header.
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

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"))) }
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> String {
        let found = self.0.chars().take(20).collect::<String>();
        format!("expected {expected} in the header of the .npy file, found `{}`", found.escape_debug())
    }

    fn string(&mut self) -> Result<&'a str, String> {
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

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
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
    use super::{header, read};

    #[test]
    fn what_is_written_is_read_again() {
        for shape in ["f32[3,5]{1,0}", "f64[3,5]{0,1}", "pred[7]{0}", "c64[]", "s16[1,2,3,4]{3,2,1,0}", "u8[0,3]{1,0}"]
        {
            let array = shape.parse().unwrap();
            let file = header(&array).unwrap();
            assert_eq!(file.len() % 64, 0);
            assert_eq!(read(&file, None), Ok((array, file.len())), "{shape}");
        }
    }

    #[test]
    fn what_numpy_cannot_hold_is_an_error() {
        for shape in ["bf16[3]", "f32[8,128]{1,0:T(8,128)}", "f32[2,3,4]{1,0,2}", "s4[3]", "f32[3]{0:S(1)}"] {
            assert!(header(&shape.parse().unwrap()).is_err(), "{shape}");
        }
    }

    #[test]
    fn damaged_headers_are_errors() {
        let good = header(&"f32[3,5]".parse().unwrap()).unwrap();
        for end in 0..good.len() {
            assert!(read(&good[..end], None).is_err(), "cut at {end}");
        }
        let with = |text: &str| [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat();
        assert!(read(&with("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"), None).is_ok());
        assert!(read(&with("{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(3)}"), None).is_ok());
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
            assert!(read(&with(text), None).is_err(), "{text}");
        }
    }
}
