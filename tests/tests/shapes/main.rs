//! Shapes as values: their text, their rules, their sizes, their map, held against XLA's data and by laws.

mod algebra;
mod bitcasts;
mod canonical;
mod depth;
mod effort;
mod errors;
mod floats;
mod fuzz;
mod infer;
mod kernels;
mod laws;
mod legacy;
mod limits;
mod notations;
mod padding;
mod parity;
mod partition;
mod proto;
mod reference;
mod serde;
mod sharding;
mod slices;
mod tpu;
mod vector_layouts;
mod worlds;
