//! Optimised builds name the user's lines, too. These tests need the feature `optimised`, because
//! optimising the library takes longer than the other tests.

use super::compiler::{FOLDER, Until, compile};
use super::fail::{COMPILED, programs};
use std::collections::BTreeSet;
use std::fs;
use xla_shape_ui_tests::{Compiler, in_parallel, workspace};

/// Cases in which some lines are not named, and why.
const NOT_NAMED: &[(&str, &str)] = &[
    ("buffer/tiled_ndarray", "not compiled: the optimised library is without the feature `ndarray`"),
    (
        "infer_in_build/in_generic_code",
        "the constant is in the user's function, which the compiler puts into its caller",
    ),
    ("iteration/no_lanes", "the check is in a function below the one that users call, at its line in every build"),
];

/// Errors in constants (E0080) name the user's lines in optimised builds, too. The expected output comes from a build that is not optimised; the
/// optimised build must name every line that it names.
#[test]
fn optimised_builds_name_the_same_lines() {
    let expected = |program: &str| fs::read_to_string(workspace().join(program).with_extension("stderr"));
    let mut programs = programs(&COMPILED);
    programs.retain(|program| expected(program).expect("text").contains("error[E0080]"));
    assert!(programs.len() >= 45, "{programs:?}");
    let compiler = Compiler::optimised(FOLDER);
    let wrong = in_parallel(&programs, |program| {
        let expected = lines(&expected(program).expect("text"), program);
        let shown = String::from_utf8(compile(&compiler, program, Until::Compiled).stderr).expect("UTF-8");
        let named =
            shown.contains("error[E0080]") && !expected.is_empty() && expected.is_subset(&lines(&shown, program));
        let excused = NOT_NAMED.iter().any(|(name, _)| program.ends_with(&format!("/{name}.rs")));
        (named == excused).then(|| format!("{program}: expected lines {expected:?} in:\n{shown}"))
    });
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "lines that are not named, or that `NOT_NAMED` says so of:\n{}", wrong.join("\n"));
}

/// The lines of a program that an error of the compiler points at.
fn lines(errors: &str, program: &str) -> BTreeSet<usize> {
    let arrow = format!("--> {program}:");
    let places = errors.lines().filter_map(|line| line.split_once(&arrow)?.1.split(':').next());
    places.map(|number| number.parse().expect("a line number")).collect()
}
