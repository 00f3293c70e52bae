//! A directory is no HLO file.

xla_shape::hlo_types! {
    mod program = "hlo";
}

fn main() {}
