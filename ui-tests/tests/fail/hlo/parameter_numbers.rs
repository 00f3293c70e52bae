//! The numbers of the parameters must have no gaps.

xla_shape::hlo_types! {
    mod program = "hlo/parameters.hlo";
}

fn main() {}
