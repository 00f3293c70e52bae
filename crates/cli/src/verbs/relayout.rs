//! `relayout`: an array in a file, copied into another layout.

use crate::args::RelayoutArguments;
use crate::failure::Failure;
use crate::given::array_of;
use crate::io::{self, progress};
use xla_shape::text::parse_index;
use xla_shape_answers::answer_line;
use xla_shape_files::{ArrayFile, Relayout, RelayoutDone, RelayoutOptions, is_stdout};

pub(crate) fn run(arguments: &RelayoutArguments) -> Result<(), Failure> {
    if arguments.format.is_json() && is_stdout(&arguments.output) {
        return Err(Failure::usage("standard output takes the array or JSON, not both"));
    }
    let from = arguments.from.as_deref().map(array_of).transpose()?;
    let mut options = RelayoutOptions::new().slab_bytes(arguments.slabs.slab_bytes);
    if let Some(text) = &arguments.to {
        options = options.to(text.parse().map_err(|error| Failure::shape(&error, text))?);
    }
    if let Some(name) = &arguments.tensor {
        options = options.tensor(name);
    }
    let source = ArrayFile::open(&arguments.input, arguments.tensor.as_deref(), from.as_ref())?;
    if let Some(text) = &arguments.permute {
        let numbers = parse_index(text, source.shape().num_dimensions());
        let numbers = numbers.map_err(|error| Failure::shape(&error, text))?;
        // A number that does not fit in a `usize` is not a dimension of any array; the permutation check refuses `usize::MAX`.
        let numbers = numbers.into_iter().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        options = options.transposed(&numbers.collect::<Vec<_>>());
    }
    let relayout = Relayout::new(&source, &arguments.output, &options)?;
    let bar = progress(relayout.to().byte_size().unwrap_or_default());
    let done = relayout.run(&|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    if arguments.format.is_json() { io::write(answer_line(RelayoutDone::SCHEMA, &done).as_bytes()) } else { Ok(()) }
}
