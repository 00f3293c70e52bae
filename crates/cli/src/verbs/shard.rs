//! `shard`: the part of a checkpoint that one device needs.

use crate::args::ShardArguments;
use crate::failure::Failure;
use crate::io::{self, progress};
use xla_shape_answers::answer_line;
use xla_shape_files::{Checkpoint, ShardPlan, ShardsDone};
use xla_shape_render::Text;

pub(crate) fn run(arguments: &ShardArguments) -> Result<(), Failure> {
    let plan = ShardPlan::read(&arguments.plan)?;
    let checkpoint = Checkpoint::open(&arguments.input)?;
    let shards = checkpoint.shards(&plan, arguments.device, &arguments.output)?;
    let shards = shards.with_slab_bytes(arguments.slabs.slab_bytes);
    let bar = progress(shards.bytes());
    let done = shards.run(arguments.force, &|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    if !arguments.format.is_json() {
        let mut kept = Text::new(io::width());
        for file in done.files.iter().filter(|file| file.resumed) {
            kept.verbatim(format_args!("kept {}, which has the same bytes", file.output));
        }
        return io::print(&kept);
    }
    io::write(answer_line(ShardsDone::SCHEMA, &done).as_bytes())
}
