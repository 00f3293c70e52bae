//! The arrays that programs share: their places, and the memories that they may be in.

use crate::{Memory, Place, SharedArray, TuneError};
use std::collections::BTreeMap;
use std::str::FromStr;
use xla_shape_pjrt::Argument;

/// An array that programs share, and where: `kv=A:arg4,A:out1,B:arg5`. The name of the program may be missing if there is only one.
///
/// ```
/// use xla_shape_tune::{Place, Share};
///
/// let share: Share = "kv=prefill:out1,decode:arg4".parse()?;
/// assert_eq!(share.places[1], (Some("decode".to_owned()), Place::Parameter(4, vec![])));
/// assert!("kv=prefill".parse::<Share>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// The user's name for it.
    pub name: String,
    /// The places, each with the name of its program; `None` if there is only one program.
    pub places: Vec<(Option<String>, Place)>,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected NAME=PROGRAM:PLACE,… with places such as arg0 or out1";
        let (name, places) = text.split_once('=').ok_or(EXPECTED)?;
        if name.is_empty() {
            return Err(EXPECTED.to_owned());
        }
        let place = |text: &str| {
            // A place has no colon, but the name of a program may have one, such as `c:/x`.
            let (program, place) = match text.rsplit_once(':') {
                Some((program, place)) => (Some(program.to_owned()), place),
                None => (None, text),
            };
            // `parse` alone would also accept `+1`.
            let number =
                |rest: &str| rest.parse::<usize>().ok().filter(|_| rest.bytes().all(|byte| byte.is_ascii_digit()));
            let parameter =
                place.strip_prefix("arg").and_then(number).map(|number| Place::Parameter(number, Vec::new()));
            let result = || place.strip_prefix("out").and_then(number).map(|number| Place::Result(vec![number]));
            let place = parameter.or_else(result).ok_or_else(|| format!("{EXPECTED}, found {place:?}"))?;
            Ok((program, place))
        };
        let places = places.split(',').map(place).collect::<Result<_, String>>()?;
        Ok(Self { name: name.to_owned(), places })
    }
}

/// The arrays with the memories that they may be in.
pub(crate) fn with_memories(mut arrays: Vec<SharedArray>, memories: &[(String, Vec<Memory>)]) -> Vec<SharedArray> {
    for array in &mut arrays {
        for (_, memories) in memories.iter().filter(|(name, _)| *name == array.name) {
            array.memories.clone_from(memories);
        }
    }
    arrays
}

/// Returns an error if memories are given for an array that is not shared, or twice for one array.
pub(crate) fn check_memories(shares: &[Share], memories: &[(String, Vec<Memory>)]) -> Result<(), TuneError> {
    for (number, (name, _)) in memories.iter().enumerate() {
        if !shares.iter().any(|share| share.name == *name) {
            let known = shares.iter().map(|share| share.name.clone()).collect();
            return Err(TuneError::MemoryOfNone { name: name.clone(), known });
        }
        if memories.iter().take(number).any(|(other, _)| other == name) {
            return Err(TuneError::MemoryTwice { name: name.clone() });
        }
    }
    Ok(())
}

/// The number of the program with a name.
pub(crate) fn number(names: &[String], name: &str) -> Result<usize, TuneError> {
    let found = names.iter().position(|other| other == name);
    found.ok_or_else(|| TuneError::NoProgram { name: name.to_owned(), known: names.to_vec() })
}

/// The places of a shared array, each with the number of its program.
type Places = Vec<(usize, Place)>;

/// The places of each shared array. A donated parameter also adds the result that takes its memory, and such a result adds the parameter.
///
/// `donated`: for each program, the result that takes the memory of a parameter.
pub(crate) fn places(
    shares: &[Share],
    names: &[String],
    donated: &[BTreeMap<usize, usize>],
) -> Result<Vec<(String, Places)>, TuneError> {
    let mut owners = BTreeMap::<(usize, Place), &str>::new();
    let mut found: Vec<(String, Places)> = Vec::new();
    for share in shares {
        if found.iter().any(|(name, _)| *name == share.name) {
            return Err(TuneError::SharedTwice { name: share.name.clone() });
        }
        let mut places = Vec::new();
        for (program, place) in &share.places {
            let number = match program {
                Some(name) => number(names, name)?,
                None if names.len() == 1 => 0,
                None => {
                    return Err(TuneError::NoName {
                        name: share.name.clone(),
                        program: names.first().cloned().unwrap_or_default(),
                    });
                }
            };
            let donated = &donated[number];
            // A donated parameter and its result are in the same memory, so they need the same layout.
            let mates = match place {
                Place::Parameter(parameter, _) => donated.get(parameter).map(|&result| Place::Result(vec![result])),
                Place::Result(index) => donated
                    .iter()
                    .find(|(_, result)| index.first() == Some(result))
                    .map(|(&parameter, _)| Place::Parameter(parameter, Vec::new())),
            };
            for place in std::iter::once(place.clone()).chain(mates) {
                let place = (number, place);
                match owners.insert(place.clone(), &share.name) {
                    // If both ends of a donation are named, the second one adds nothing.
                    Some(owner) if *owner == share.name => {}
                    Some(owner) => {
                        let (number, place) = place;
                        return Err(TuneError::TwoArrays {
                            place: place.to_string(),
                            program: names[number].clone(),
                            names: [(*owner).to_owned(), share.name.clone()],
                        });
                    }
                    None => places.push(place),
                }
            }
        }
        found.push((share.name.clone(), places));
    }
    for (number, name) in names.iter().enumerate() {
        if !owners.keys().any(|(owner, _)| *owner == number) {
            return Err(TuneError::NotShared { program: name.clone() });
        }
    }
    Ok(found)
}

/// The parameter or result that a place names.
pub(crate) fn argument(place: &Place) -> Argument {
    match place {
        Place::Parameter(number, _) => Argument::Parameter(*number),
        Place::Result(index) => Argument::Result(index.first().copied().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn shares_are_read() {
        for text in ["kv=A:arg4,A:out1,B:arg5", "w=arg0", "w=c:/x:out0"] {
            assert!(text.parse::<Share>().is_ok(), "{text}");
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
            assert!(text.parse::<Share>().unwrap_err().starts_with("expected NAME=PROGRAM:PLACE"), "{text}");
        }
    }
}
