//! Unique names, generated as in XLA (`NameUniquer` in `xla/service/name_uniquer.cc`).

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

/// Makes names unique. In text, names are unique in a computation; in a message, in the module.
#[derive(Default)]
pub(crate) struct Names {
    /// For each name without its numeric suffix: the numbers in use, and the next one to try.
    given: BTreeMap<String, (BTreeSet<u64>, u64)>,
}

impl Names {
    /// Returns this name or, if it is in use, the name with the next free number: `add`, `add.1`, `add.2`.
    #[expect(clippy::arithmetic_side_effects, reason = "the number to try next is at most the number of names")]
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let numbered = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        let numbered = numbered.and_then(|(stem, number)| Some((stem, number.parse::<u64>().ok()?)));
        let (stem, number) = numbered.unwrap_or((name, 0));
        if !self.given.contains_key(stem) {
            self.given.insert(stem.to_owned(), Default::default());
        }
        let Some((given, next)) = self.given.get_mut(stem) else { return name.to_owned() };
        let mut number = number;
        if !given.insert(number) {
            while !given.insert(*next) {
                *next += 1;
            }
            number = *next;
            *next += 1;
        }
        if number == 0 && numbered.is_none() { stem.to_owned() } else { format!("{stem}.{number}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_given_once() {
        let mut names = Names::default();
        let given: alloc::vec::Vec<_> = ["add", "add", "add.5", "add.1", "add.x", "add.0", "add", "x.0", ".5", "y.007"]
            .map(|name| names.unique(name))
            .into();
        assert_eq!(given, ["add", "add.1", "add.5", "add.2", "add.x", "add.3", "add.4", "x.0", ".5", "y.7"]);
    }
}
