//! Logs in UTF-16, as PowerShell writes them.

use alloc::string::String;

/// Reads text in UTF-16, in parts.
///
/// ```
/// use xla_shape_hlo::Utf16;
///
/// let bytes = b"\xff\xfef\x003\x002\x00[\x008\x00]\x00";
/// assert_eq!(Utf16::whole(bytes).as_deref(), Some("f32[8]"));
/// assert_eq!(Utf16::whole(b"f32[8]"), None);
/// ```
#[derive(Clone, Debug)]
pub struct Utf16 {
    is_big_endian: bool,
    /// The first byte of a unit whose second byte is in the next part.
    byte: Option<u8>,
    /// The first unit of a pair whose second unit comes next.
    high: Option<u16>,
}

impl Utf16 {
    /// The bytes of the mark that begins a text in UTF-16.
    pub const MARK: usize = 2;

    /// The reader of a text that begins with these bytes; `None` if no mark says that it is UTF-16.
    #[must_use]
    pub fn of_mark(beginning: &[u8]) -> Option<Self> {
        let is_big_endian = match beginning.get(..Self::MARK)? {
            [0xff, 0xfe] => false,
            [0xfe, 0xff] => true,
            _ => return None,
        };
        Some(Self { is_big_endian, byte: None, high: None })
    }

    /// Reads the bytes that follow, and adds their text. A unit that is not valid becomes U+FFFD.
    pub fn read(&mut self, bytes: &[u8], text: &mut String) {
        for &byte in bytes {
            let Some(first) = self.byte.take() else {
                self.byte = Some(byte);
                continue;
            };
            let pair = [first, byte];
            let unit = if self.is_big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
            let is_high = (0xd800..0xdc00).contains(&unit);
            if let Some(high) = self.high.take() {
                let found = char::decode_utf16([high, unit]).next();
                let whole = found.and_then(Result::ok);
                text.push(whole.unwrap_or(char::REPLACEMENT_CHARACTER));
                if whole.is_some() {
                    continue;
                }
            }
            if is_high {
                self.high = Some(unit);
            } else {
                text.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    /// The text of a whole file, without its mark; `None` if no mark says that it is UTF-16.
    #[must_use]
    pub fn whole(bytes: &[u8]) -> Option<String> {
        let mut text = String::new();
        Self::of_mark(bytes)?.read(bytes.get(Self::MARK..)?, &mut text);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Utf16;
    use alloc::string::String;
    use alloc::vec::Vec;

    #[test]
    fn both_orders_are_read_in_any_parts() {
        let text = "Used 2G\r\né 😀 f32[8]";
        let units: Vec<u16> = ['\u{feff}'].into_iter().chain(text.chars()).collect::<String>().encode_utf16().collect();
        for bytes in [
            units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>(),
            units.iter().flat_map(|unit| unit.to_be_bytes()).collect(),
        ] {
            assert_eq!(Utf16::whole(&bytes).as_deref(), Some(text));
            for size in 1..8 {
                let mut reader = Utf16::of_mark(&bytes).unwrap();
                let mut found = String::new();
                bytes[Utf16::MARK..].chunks(size).for_each(|part| reader.read(part, &mut found));
                assert_eq!(found, text, "{size}");
            }
        }
        assert_eq!(Utf16::whole(b"\xff\xfe\x00\xd8a\x00\x00\xdcb").as_deref(), Some("\u{fffd}a\u{fffd}"));
    }
}
