#![no_main]

xla_shape_fuzz::program!("kernel_dump");
