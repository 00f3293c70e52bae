//! Tests the program as users run it. Each file is about a verb, or about what several verbs have in common.

mod book;
mod check;
mod compile;
mod convert;
mod cost;
mod digest;
mod divided;
mod doors;
mod draw;
mod dump;
mod explain;
mod explorer;
#[cfg(unix)]
mod faults;
mod fit;
mod generated;
mod guard;
mod hangs;
mod index;
mod kernel;
mod layouts;
mod manual;
mod mcp;
mod program;
mod programs;
mod relayout;
mod reshard;
mod rustc;
mod schemas;
mod shard;
mod sharding;
mod thing;
mod tpu;
mod tune;
mod tune_sets;
mod validator;
mod vector;

/// A file without a `mod` line is not compiled, and its tests would silently not run.
#[test]
fn every_file_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("main.rs") {
            let module = format!("\nmod {};\n", path.file_stem().unwrap().to_str().unwrap());
            assert!(include_str!("main.rs").contains(&module), "{} is in no module", path.display());
            files += 1;
        }
    }
    assert!(files > 0);
}

/// Tests run in the order of their names. This one is in the root module and begins with `t`, so it is one of the last.
#[test]
fn the_process_of_a_compiler_that_hangs_is_ended() {
    hangs::are_ended();
}
