//! The arguments of `tune` that have a form of their own: shared arrays, weights of programs, memories.

use xla_shape_tune::{Memory, Place};

/// A shared array: its name, and its places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    pub(crate) name: String,
    /// The place, with the name of its program; `None` if there is only one program.
    pub(crate) places: Vec<(Option<String>, Place)>,
}

/// Reads `kv=A:arg4,A:out1,B:arg5`. The name of the program may be missing if there is only one.
pub(super) fn share(text: &str) -> Result<Share, String> {
    const EXPECTED: &str = "expected NAME=PROGRAM:PLACE,… with places such as arg0 or out1";
    let (name, places) = text.split_once('=').ok_or(EXPECTED)?;
    if name.is_empty() {
        return Err(EXPECTED.to_owned());
    }
    let place = |text: &str| {
        let (program, place) = match text.rsplit_once(':') {
            Some((program, place)) => (Some(program.to_owned()), place),
            None => (None, text),
        };
        let number = |rest: &str| rest.parse::<usize>().ok().filter(|_| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let parameter = place.strip_prefix("arg").and_then(number).map(|number| Place::Parameter(number, Vec::new()));
        let result = || place.strip_prefix("out").and_then(number).map(|number| Place::Result(vec![number]));
        let place = parameter.or_else(result).ok_or_else(|| format!("{EXPECTED}, found {place:?}"))?;
        Ok((program, place))
    };
    let places = places.split(',').map(place).collect::<Result<_, String>>()?;
    Ok(Share { name: name.to_owned(), places })
}

/// Reads `B=100`.
pub(super) fn weight(text: &str) -> Result<(String, u32), String> {
    const EXPECTED: &str = "expected PROGRAM=NUMBER, with a number from 1 on";
    let (name, number) = text.rsplit_once('=').ok_or(EXPECTED)?;
    Ok((name.to_owned(), number.parse().ok().filter(|&number| number > 0).ok_or(EXPECTED)?))
}

/// Reads `kv=device,pinned_host`: the memories that an array may be in.
pub(super) fn memory(text: &str) -> Result<(String, Vec<Memory>), String> {
    let expected = || {
        let kinds = Memory::ALL.map(Memory::kind).join(" or ");
        format!("expected NAME=MEMORY,… with {kinds}, each once")
    };
    let (name, kinds) = text.rsplit_once('=').ok_or_else(expected)?;
    let mut memories = Vec::new();
    for kind in kinds.split(',') {
        let memory = kind.parse().ok();
        memories.push(memory.filter(|memory| !memories.contains(memory)).ok_or_else(expected)?);
    }
    Ok((name.to_owned(), memories))
}

#[cfg(test)]
mod tests {
    use super::{share, weight};

    #[test]
    fn shares_are_read() {
        for text in ["kv=A:arg4,A:out1,B:arg5", "w=arg0", "w=c:/x:out0"] {
            assert!(share(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "kv",
            "=A:arg0",
            "kv=",
            "kv=A:",
            "kv=A:arg",
            "kv=A:arg-1",
            "kv=A:arg+1",
            "kv=A:arg1,",
            "kv=A:in0",
            "kv=arg99999999999999999999",
        ] {
            assert!(share(text).unwrap_err().starts_with("expected NAME=PROGRAM:PLACE"), "{text}");
        }
        assert_eq!(weight("B=100"), Ok(("B".to_owned(), 100)));
        for text in ["", "B", "B=0", "B=-1", "B=1.5", "B=99999999999"] {
            assert!(weight(text).is_err(), "{text}");
        }
    }
}
