#![no_main]

xla_shape_fuzz::program!("bytecode");
