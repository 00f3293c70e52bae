#![no_main]

xla_shape_fuzz::program!("notation_text");
