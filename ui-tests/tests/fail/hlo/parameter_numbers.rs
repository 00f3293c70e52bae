//! The parameters are numbered one after the other.

xla_shape::hlo_types! {
    mod program = "hlo/parameters.hlo";
}

fn main() {}
