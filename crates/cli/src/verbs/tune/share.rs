//! Which arrays programs share: their places, and the memories that they may be in.

use crate::args::Share;
use crate::failure::Failure;
use std::collections::BTreeMap;
use std::path::Path;
use xla_shape_pjrt::Argument;
use xla_shape_tune::{Memory, Place, SharedArray};

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
    use super::names;
    use std::path::Path;

    #[test]
    fn programs_have_different_names() {
        let of = |files: &[&'static str]| names(files.iter().map(Path::new));
        assert_eq!(of(&["x/prefill.mlir", "decode.mlir"]), ["prefill", "decode"]);
        assert_eq!(of(&["x/step.mlir", "y/step.mlir"]), ["x/step.mlir", "y/step.mlir"]);
    }
}
