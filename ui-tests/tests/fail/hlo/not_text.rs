//! The file is not UTF-8.

xla_shape::hlo_types! {
    mod program = "hlo/not_text.hlo";
}

fn main() {}
