//! The structure of the workspace: crates use only crates below them, and the rooms of a crate do not use each other in circles.
//!
//! A room is a file or a folder directly in a crate's `src`. A room uses another if it names it in a path that begins with `crate::`, or with enough
//! `super::` to lead to the root. Uses in tests and comments do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Uses = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn rooms_do_not_use_each_other_in_circles() {
    let mut found = Vec::new();
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["python", "xla-shape", "xla-shape-macros"].map(|name| root().join(name));
    let mut all: Vec<PathBuf> = crates.chain(others).filter(|path| path.join("src").is_dir()).collect();
    all.sort();
    for path in all {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        found.extend(circles(&uses(&path.join("src"))).into_iter().map(|circle| (name.clone(), circle)));
    }
    assert_eq!(found, [], "rooms that use each other in a circle");
}

#[test]
fn a_circle_is_found_and_a_test_module_makes_none() {
    let arrows = |list: &[(&str, &str)]| {
        let mut uses = Uses::new();
        for (from, to) in list {
            uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            uses.entry((*to).to_owned()).or_default();
        }
        circles(&uses)
    };
    assert_eq!(arrows(&[("a", "b"), ("b", "c"), ("a", "c")]), Vec::<Vec<String>>::new());
    assert_eq!(arrows(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]), [["a", "b", "c"]]);
    let rooms = BTreeSet::from(["a", "b", "c", "d"].map(str::to_owned));
    let text =
        "use crate::{a::X, b};\n// crate::c\nfn f() { super::c::g() }\n#[cfg(test)]\nmod tests { use crate::d; }";
    let named = |depth| named(text, depth, &rooms).into_iter().collect::<Vec<_>>();
    assert_eq!(named(1), ["a", "b", "c"]);
    assert_eq!(named(2), ["a", "b"]);
}

/// In the table in `docs/design.md`, each crate uses only crates below it, and the table lists them.
#[test]
fn crates_use_those_below_them() {
    let metadata = super::metadata();
    let uses: Uses = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().unwrap().iter();
            let ours = all.filter(|used| used["kind"].is_null() && used["source"].is_null());
            let names = ours.map(|used| used["name"].as_str().unwrap().to_owned());
            (package["name"].as_str().unwrap().to_owned(), names.collect())
        })
        .collect();
    let page = fs::read_to_string(root().join("docs/design.md")).unwrap();
    let rows =
        page.lines().skip_while(|line| *line != "## The crates").skip(1).take_while(|line| !line.starts_with("## "));
    let rows: Vec<Vec<&str>> =
        rows.filter(|line| line.starts_with("| `")).map(|line| line.split(" | ").collect()).collect();
    let order: Vec<&str> = rows.iter().map(|row| row[0].trim_matches(['|', ' ', '`'])).collect();
    for (row, name) in rows.iter().zip(&order).filter(|(_, name)| **name != "python/") {
        let cell: Vec<&str> = row[2].split('`').filter(|word| word.starts_with("xla-shape")).collect();
        let listed: BTreeSet<String> = cell.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(uses[*name], listed, "what docs/design.md says that {name} uses");
        let place = order.iter().position(|other| other == name).unwrap();
        for used in &cell {
            assert!(order[place..].contains(used), "{name} uses {used}, which is above it");
        }
    }
}

/// For each room of a crate: the rooms that it uses.
fn uses(src: &Path) -> Uses {
    let entries = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path());
    let mut rooms: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in entries.filter(|path| path.is_dir() || path.extension().is_some_and(|extension| extension == "rs")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if !["lib", "main", "tests"].contains(&name.as_str()) {
            rooms.entry(name).or_default().push(path);
        }
    }
    let names: BTreeSet<String> = rooms.keys().cloned().collect();
    let mut all = Uses::new();
    for (room, mut paths) in rooms {
        let used = all.entry(room.clone()).or_default();
        while let Some(path) = paths.pop() {
            if path.is_dir() {
                paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if !["tests.rs", "proptests.rs"].iter().any(|name| path.ends_with(name)) {
                let inside = path.strip_prefix(src).unwrap();
                let depth = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
                used.extend(named(&fs::read_to_string(&path).unwrap(), depth, &names));
            }
        }
        used.remove(&room);
    }
    all
}

/// The rooms that a file names. `depth` is how many modules lead to it.
fn named(text: &str, depth: usize, rooms: &BTreeSet<String>) -> BTreeSet<String> {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") {
            // A module of tests is always at the end of its file; other items for tests have one line.
            match lines.next() {
                Some(item) if item.starts_with("mod") && item.ends_with('{') => break,
                _ => continue,
            }
        }
        code.push_str(line.split("//").next().unwrap());
        code.push('\n');
    }
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for start in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&start) {
            // `super::super::` leads to the root only if nothing precedes it.
            if code[..at].ends_with("::") {
                continue;
            }
            let rest = &code[at + start.len()..];
            match rest.strip_prefix('{') {
                None => drop(found.insert(word(rest))),
                // In a list, the names are the first words after the commas at the outer level.
                Some(list) => {
                    let (mut open, mut begins) = (1, true);
                    for (at, letter) in list.char_indices() {
                        match letter {
                            '{' => open += 1,
                            '}' => open -= 1,
                            ',' if open == 1 => begins = true,
                            _ if letter.is_whitespace() => {}
                            _ if begins => {
                                found.insert(word(&list[at..]));
                                begins = false;
                            }
                            _ => {}
                        }
                        if open == 0 {
                            break;
                        }
                    }
                }
            }
        }
    }
    found.retain(|name| rooms.contains(name));
    found
}

/// The sets of rooms that use each other in a circle, directly or through others.
fn circles(uses: &Uses) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(room) = next.pop() {
            for used in uses.get(room).into_iter().flatten() {
                if reached.insert(used.clone()) {
                    next.push(used);
                }
            }
        }
        reached
    };
    let reached: Uses = uses.keys().map(|room| (room.clone(), reached(room))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (room, to) in &reached {
        if to.contains(room) {
            circles.insert(to.iter().filter(|other| reached[*other].contains(room)).cloned().collect());
        }
    }
    circles.into_iter().collect()
}
