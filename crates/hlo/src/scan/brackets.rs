//! Brackets in the texts of logs. These texts follow no grammar, so the caller says which brackets count.

/// A pair of brackets.
pub(super) type Pair = [u8; 2];

pub(super) const ROUND: Pair = *b"()";
pub(super) const SQUARE: Pair = *b"[]";
pub(super) const CURLY: Pair = *b"{}";
pub(super) const ANGLE: Pair = *b"<>";

/// The bytes of `text`, which begins after an opening bracket, up to the one that closes this bracket. Each comes with its position and the
/// number of brackets around it: 1 or more inside, and 0 for the closing one. Only brackets of these pairs count.
fn inside<'t>(text: &'t [u8], pairs: &'t [Pair]) -> impl Iterator<Item = (usize, u8, usize)> + 't {
    let mut depth = 1_usize;
    text.iter().enumerate().map_while(move |(at, &byte)| {
        if depth == 0 {
            return None;
        }
        if pairs.iter().any(|pair| pair[0] == byte) {
            depth = depth.checked_add(1)?;
        } else if pairs.iter().any(|pair| pair[1] == byte) {
            depth -= 1;
        }
        Some((at, byte, depth))
    })
}

/// Where the bracket that opens before `text` closes; `None` if it does not.
pub(super) fn closing(text: &[u8], pairs: &[Pair]) -> Option<usize> {
    inside(text, pairs).find(|(.., depth)| *depth == 0).map(|(at, ..)| at)
}

/// The number of parts, separated by commas, in the bracket that opens before `text`. Commas in inner brackets do not count.
pub(super) fn count_parts(text: &[u8], pairs: &[Pair]) -> u64 {
    let commas = inside(text, pairs).filter(|(_, byte, depth)| *byte == b',' && *depth == 1).count();
    (commas + 1) as u64
}

#[cfg(test)]
mod tests {
    use super::{ANGLE, CURLY, ROUND, SQUARE, closing, count_parts};

    #[test]
    fn only_the_pairs_that_are_asked_for_count() {
        assert_eq!(closing(b"4xcomplex<f32>> >", &[ANGLE]), Some(14));
        assert_eq!(closing(b"8,[128)]", &[SQUARE]), None);
        assert_eq!(closing(b"8]", &[SQUARE]), Some(1));
        assert_eq!(closing(b"", &[CURLY]), None);
        assert_eq!(count_parts(b"f32[8,2]{1,0}, s32[](x), y), z", &[ROUND, SQUARE, CURLY]), 3);
    }
}
