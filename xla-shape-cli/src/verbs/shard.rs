//! `shard`: what one device needs of a checkpoint.

use crate::args::{Format, ShardArguments};
use crate::failure::Failure;
use crate::files::{ShardPlan, Shards, Tensor, Written};
use crate::io;
use crate::io::tensor::progress;
use serde::Serialize;
use xla_shape_render::json_line;

/// What was done, as JSON.
#[derive(Serialize)]
struct Answer {
    device: i64,
    files: Vec<Written>,
    tensors: Vec<Tensor>,
}

pub(crate) fn run(arguments: &ShardArguments) -> Result<(), Failure> {
    let plan = ShardPlan::read(&arguments.plan)?;
    let shards = Shards::new(&arguments.input, &plan, arguments.device, &arguments.output)?;
    let bar = progress(shards.bytes(), true);
    let files = shards.run(arguments.slab_bytes, &|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    if arguments.format == Format::Text {
        return Ok(());
    }
    let answer = Answer { device: arguments.device, files, tensors: shards.tensors().collect() };
    io::write(json_line(&answer).as_bytes())
}
