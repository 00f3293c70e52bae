//! Runs the fuzz targets on the inputs of fixed faults (`fuzz/regressions`), on their seeds, and on changes of these.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::panic::{catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use xla_shape_tests::cases;
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

/// Pseudorandom numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }

    /// A number below `end`, which must not be 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap() % end
    }

    /// A range of at most 32 bytes, in `length` bytes.
    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length + 1);
        start..(start + self.below(33)).min(length)
    }
}

/// The characters between names in texts of shapes and programs.
const SIGNS: &[u8] = b"0123456789{}[](),:-<=>\"%* \0\xff";

/// Changes a few bytes: one is replaced, or some are removed, repeated, or inserted from `other`.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        match numbers.below(5) {
            0 => drop(bytes.drain(numbers.range(bytes.len()))),
            1 => {
                let range = numbers.range(bytes.len());
                let repeated = bytes[range].to_vec();
                bytes.splice(at..at, repeated);
            }
            2 => drop(bytes.splice(at..at, other[numbers.range(other.len())].iter().copied())),
            3 if at < bytes.len() => bytes[at] ^= 1 << numbers.below(8),
            _ if at < bytes.len() => bytes[at] = SIGNS[numbers.below(SIGNS.len())],
            _ => {}
        }
    }
}

/// Runs the targets on changed seeds, more of them in `scripts/laws.sh`. `scripts/fuzz.sh` goes further: it follows which code an input reaches, and
/// uses `AddressSanitizer`.
#[test]
fn changed_seeds_are_no_finding() {
    let mut numbers = Numbers(1);
    let all = seeds();
    for target in TARGETS {
        let seeds: Vec<_> =
            all.iter().filter(|seed| seed.target == target.name && seed.content.len() <= 8192).collect();
        if seeds.is_empty() {
            // Targets without seeds make arrays from arbitrary bytes. The next test runs them.
            continue;
        }
        for round in 0..cases().max(256) / 4 {
            let (seed, other) = (&seeds[numbers.below(seeds.len())], &seeds[numbers.below(seeds.len())]);
            let mut bytes = seed.content.to_vec();
            mutate(&mut bytes, &other.content, &mut numbers);
            if let Err(panic) = catch_unwind(|| (target.run)(&bytes)) {
                println!("{} {round}: {}", target.name, bytes.escape_ascii());
                resume_unwind(panic);
            }
        }
    }
}

/// Runs the targets that make arrays from arbitrary bytes on random bytes.
#[test]
fn arbitrary_bytes_are_no_finding() {
    let mut numbers = Numbers(1);
    for round in 0..cases().max(256) / 2 {
        let bytes: Vec<_> = (0..round % 97).map(|_| (numbers.next() >> 24) as u8).collect();
        for target in TARGETS {
            (target.run)(&bytes);
        }
    }
}
