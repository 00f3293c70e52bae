//! Tests of the workspace as a whole: its crates, their dependencies, the machine code of optimised builds. These tests start cargo and the
//! compiler, which is impossible on other machines (`scripts/targets.sh`).

#[cfg(feature = "optimised")]
mod codegen;
mod dependencies;
mod modules;
mod rooms;
mod texts;

/// Cargo's metadata about the workspace's packages.
fn metadata() -> serde_json::Value {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
