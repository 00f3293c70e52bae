//! XLA's arrays in files: copies from any layout to any other, checkpoints divided among devices, and the files of a compilation.
//!
//! Arrays are copied a part at a time, so that files of any size need little memory. An output file replaces the old one only
//! when it is complete.
//!
//! ```
//! use xla_shape_files::{ArrayFile, Relayout, RelayoutOptions, write_array};
//!
//! let folder = tempfile::tempdir()?;
//! let [input, output] = ["in.npy", "out.bin"].map(|name| folder.path().join(name));
//! write_array(&input, &"u8[2,3]".parse()?, None, &[1, 2, 3, 4, 5, 6])?;
//!
//! let source = ArrayFile::open(&input, None, None)?;
//! assert_eq!(source.shape().to_string(), "u8[2,3]{1,0}");
//! let options = RelayoutOptions::new().to("{1,0:T(2,4)(2,1)}".parse()?);
//! Relayout::new(&source, &output, &options)?.run(&|_| {})?;
//! assert_eq!(std::fs::read(&output)?, [1, 4, 2, 5, 3, 6, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`ArrayFile`], [`write_array`] | one array in a file: raw bytes, `.npy`, `.npz`, `.safetensors` |
//! | [`Relayout`], [`RelayoutOptions`], [`Destination`] | the copy of an array in another layout, in another file |
//! | [`Checkpoint`], [`ShardPlan`], [`Shards`] | `.safetensors` files, divided among devices |
//! | [`Arguments`] | the arguments of a program, from the tensors of a checkpoint |
//! | [`Dump`] | a module, and the files of the same compilation beside it |
//! | [`files_below`] | the files in a directory and below |
//! | [`contents`], [`open`], [`write_whole`], [`check_outputs`], [`is_stdout`] | any file; `-` is a standard stream |
//! | [`read_regular`], [`write_regular`] | files that the program names itself, such as those of a cache: no links, pipes or devices |
//! | [`Roots`] | the directories below which an agent may name files |
//! | [`Error`] | what can be wrong, with the file, the plan or the tensor |
//!
//! | folder of `src` | what is in it |
//! |---|---|
//! | `access` | reading from any place of a file, writing it whole or not at all, and which file a path means |
//! | `format` | how files hold arrays |
//! | `relayout` | what is to be made, and reading, copying and writing at the same time |
//! | `shard` | checkpoints, plans, and what one device needs |
//!
//! What shapes and layouts mean is in `xla-shape-core`; copies in memory are in [`xla_shape::relayout`].

#![forbid(unsafe_code)]

mod access;
mod arguments;
mod dump;
mod error;
mod format;
mod relayout;
mod shard;

pub use access::{
    Roots, RootsError, check_outputs, contents, is_stdout, open, read_regular, write_regular, write_whole,
};
pub use arguments::{Arguments, ArgumentsError, Misfit, Parameter};
pub use dump::{Dump, files_below};
pub use error::{Error, FileError, Missing, PlanError, ShardError};
pub use format::{ArrayFile, write_array};
pub use relayout::{Destination, Relayout, RelayoutDone, RelayoutOptions};
pub use shard::{Checkpoint, ShardFile, ShardPlan, ShardRule, ShardTensor, Shards, ShardsDone, shard_notes};

/// The most bytes of the source, and of the result, that are in memory at a time. Slabs are smaller if larger
/// ones would not make single reads and writes longer.
pub const SLAB_BYTES: usize = 128 << 20;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
