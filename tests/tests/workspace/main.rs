//! What holds of the workspace as a whole: its crates, their dependencies, the machine code of optimised builds.
//! These tests start cargo and the compiler, which other machines (`scripts/targets.sh`) cannot.

mod codegen;
mod dependencies;
mod modules;
mod rooms;
