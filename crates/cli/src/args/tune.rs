//! The arguments of `tune` that have a form of their own: weights of programs, and memories.

use std::num::NonZeroU32;
use xla_shape_tune::Memory;

/// Reads `B=100`.
pub(super) fn weight(text: &str) -> Result<(String, NonZeroU32), String> {
    const EXPECTED: &str = "expected PROGRAM=NUMBER, with a number from 1 on";
    let (name, number) = text.rsplit_once('=').ok_or(EXPECTED)?;
    Ok((name.to_owned(), number.parse().map_err(|_| EXPECTED)?))
}

/// Reads `kv=device,pinned_host`: the memories that an array may be in.
pub(super) fn memory(text: &str) -> Result<(String, Vec<Memory>), String> {
    let expected = || {
        let kinds = Memory::ALL.map(Memory::kind).join(" or ");
        format!("expected NAME=MEMORY,… with {kinds}, each once")
    };
    let (name, kinds) = text.rsplit_once('=').ok_or_else(expected)?;
    let memories = Memory::list(kinds).ok_or_else(expected)?;
    Ok((name.to_owned(), memories))
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn weights_are_read() {
        assert_eq!(weight("B=100"), Ok(("B".to_owned(), 100.try_into().unwrap())));
        for text in ["", "B", "B=0", "B=-1", "B=1.5", "B=99999999999"] {
            assert!(weight(text).is_err(), "{text}");
        }
    }
}
