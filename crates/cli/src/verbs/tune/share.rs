//! Parses `--share` and `--weight`: which arrays programs share, and how often programs run.

use crate::failure::Failure;
use std::collections::BTreeMap;
use std::path::Path;
use xla_shape_pjrt::Argument;
use xla_shape_tune::{Memory, Place, SharedArray};

/// A shared array: its name, and its places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    name: String,
    /// The place, with the name of its program; `None` if there is only one program.
    places: Vec<(Option<String>, Place)>,
}

/// Reads `kv=A:arg4,A:out1,B:arg5`. The name of the program may be missing if there is only one.
pub(crate) fn share(text: &str) -> Result<Share, String> {
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
pub(crate) fn weight(text: &str) -> Result<(String, u32), String> {
    const EXPECTED: &str = "expected PROGRAM=NUMBER, with a number from 1 on";
    let (name, number) = text.rsplit_once('=').ok_or(EXPECTED)?;
    Ok((name.to_owned(), number.parse().ok().filter(|&number| number > 0).ok_or(EXPECTED)?))
}

/// Reads `kv=device,pinned_host`: the memories that an array may be in.
pub(crate) fn memory(text: &str) -> Result<(String, Vec<Memory>), String> {
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

/// The arrays with the memories that they may be in.
pub(super) fn with_memories(mut arrays: Vec<SharedArray>, memories: &[(String, Vec<Memory>)]) -> Vec<SharedArray> {
    for array in &mut arrays {
        for (_, memories) in memories.iter().filter(|(name, _)| *name == array.name) {
            array.memories.clone_from(memories);
        }
    }
    arrays
}

/// Refuses memories of arrays that are not shared, and those of one array that are given twice.
pub(super) fn check_memories(shares: &[Share], memories: &[(String, Vec<Memory>)]) -> Result<(), Failure> {
    for (number, (name, _)) in memories.iter().enumerate() {
        if !shares.iter().any(|share| share.name == *name) {
            let names = shares.iter().map(|share| share.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(Failure::said(format_args!(
                "--memory: no shared array is called {name}; expected one of: {names}"
            )));
        }
        if memories.iter().take(number).any(|(other, _)| other == name) {
            return Err(Failure::said(format_args!(
                "--memory: {name} is given twice: write all of its memories at once"
            )));
        }
    }
    Ok(())
}

/// The names of the programs: the file's name without its ending, or the whole path if two files have the same name.
pub(super) fn names<'a>(files: impl Iterator<Item = &'a Path> + Clone) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |path: &'a Path| {
        let is_alone = files.clone().filter(|other| stem(other) == stem(path)).count() == 1;
        if is_alone { stem(path) } else { path.display().to_string() }
    };
    files.clone().map(name).collect()
}

/// The number of the program with a name.
pub(super) fn number(names: &[String], name: &str) -> Result<usize, Failure> {
    let found = names.iter().position(|other| other == name);
    found.ok_or_else(|| {
        Failure::said(format_args!("no program is called {name}; expected one of: {}", names.join(", ")))
    })
}

/// The places of a shared array, each with the number of its program.
type Places = Vec<(usize, Place)>;

/// The places of each shared array. `donated` has, for each program, the result that takes the memory of a parameter. A donated parameter also adds the result that takes its memory, and the reverse.
pub(super) fn places(
    shares: &[Share],
    names: &[String],
    donated: &[BTreeMap<usize, usize>],
) -> Result<Vec<(String, Places)>, Failure> {
    let mut owners = BTreeMap::<(usize, Place), &str>::new();
    let mut found: Vec<(String, Places)> = Vec::new();
    for share in shares {
        if found.iter().any(|(name, _)| *name == share.name) {
            return Err(Failure::said(format_args!("{} is shared twice: write all of its places at once", share.name)));
        }
        let mut places = Vec::new();
        for (program, place) in &share.places {
            let number = match program {
                Some(name) => number(names, name)?,
                None if names.len() == 1 => 0,
                None => {
                    let reason = format!(
                        "{}: there are several programs, so places need a name, such as {}:arg0",
                        share.name, names[0]
                    );
                    return Err(Failure::said(reason));
                }
            };
            let donated = &donated[number];
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
                    Some(owner) if *owner == share.name => {}
                    Some(owner) => {
                        let (number, place) = place;
                        return Err(Failure::said(format_args!(
                            "{place} of {} belongs to {owner} and to {}; a donated parameter and its result are one array",
                            names[number], share.name
                        )));
                    }
                    None => places.push(place),
                }
            }
        }
        found.push((share.name.clone(), places));
    }
    for (number, name) in names.iter().enumerate() {
        if !owners.keys().any(|(owner, _)| *owner == number) {
            return Err(Failure::said(format_args!(
                "{name} has no shared array: name one of its places with --share, or leave the program out"
            )));
        }
    }
    Ok(found)
}

/// The parameter or result that a place names.
pub(super) fn argument(place: &Place) -> Argument {
    match place {
        Place::Parameter(number, _) => Argument::Parameter(*number),
        Place::Result(index) => Argument::Result(index.first().copied().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::{names, share, weight};
    use std::path::Path;

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

    #[test]
    fn programs_have_different_names() {
        let of = |files: &[&'static str]| names(files.iter().map(Path::new));
        assert_eq!(of(&["x/prefill.mlir", "decode.mlir"]), ["prefill", "decode"]);
        assert_eq!(of(&["x/step.mlir", "y/step.mlir"]), ["x/step.mlir", "y/step.mlir"]);
    }
}
