//! Without an ENTRY computation there are no parameters and no result.

xla_shape::hlo_types! {
    mod module = "hlo/no_entry.hlo";
    mod part = "hlo/part.hlo";
}

fn main() {}
