//! Runs the fuzz targets on the inputs of fixed faults (`fuzz/regressions`) and on their seeds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape_tests::fuzz::{TARGETS, seeds};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(name)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn target(name: &str) -> fn(&[u8]) {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("{name} is not a target")).run
}

#[test]
fn every_target_has_its_program() {
    assert_eq!(names(&folder("fuzz_targets")), TARGETS.iter().map(|target| target.name.to_owned()).collect());
}

#[test]
fn what_was_found_stays_mended() {
    for name in names(&folder("regressions")) {
        let inputs = folder("regressions").join(&name);
        for input in fs::read_dir(inputs).unwrap() {
            let path = input.unwrap().path();
            println!("{}", path.display());
            target(&name)(&fs::read(path).unwrap());
        }
    }
}

#[test]
fn seeds_are_no_finding() {
    for seed in seeds() {
        println!("{} {}", seed.target, seed.name);
        target(seed.target)(&seed.content);
    }
}

/// Runs the targets that make arrays from arbitrary bytes on random bytes.
#[test]
fn arbitrary_bytes_are_no_finding() {
    let mut state = 1_u64;
    for round in 0..400 {
        let bytes = (0..round % 97).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        });
        let bytes = bytes.collect::<Vec<_>>();
        for target in TARGETS {
            (target.run)(&bytes);
        }
    }
}
