//! `relayout`: an array in a file, copied into another layout.

use crate::args::{Format, RelayoutArguments};
use crate::failure::Failure;
use crate::io;
use crate::io::tensor::{self, FileFormat, TensorFile};
use serde::Serialize;
use xla_shape::buffer::AlignedBytes;
use xla_shape::relayout::{Options, Plan, RelayoutError, Slabs};
use xla_shape::text::parse_index;
use xla_shape::{ArrayShape, Layout};

/// What was done, as JSON.
#[derive(Serialize)]
struct Answer {
    from: String,
    to: String,
    output: String,
    /// Of the array, without a header of the file.
    bytes: u64,
}

/// What a tensor is called that has no name yet.
const UNNAMED: &str = "tensor";

pub(crate) fn run(arguments: &RelayoutArguments) -> Result<(), Failure> {
    if arguments.format == Format::Json && arguments.output.as_os_str() == "-" {
        return Err(Failure::said("standard output takes the array or JSON, not both"));
    }
    let given = arguments.from.as_deref().map(super::array_of).transpose()?;
    let mut file = TensorFile::open(&arguments.input, arguments.tensor.as_deref(), given.as_ref())?;
    let from = source(arguments, given, &file)?;
    let mut options = Options::new().zero_padding();
    let permutation = match &arguments.permute {
        Some(text) => {
            let numbers = parse_index(text, from.num_dimensions()).map_err(|error| Failure::shape(&error, text))?;
            // Of a dimension that is too large for a `usize` there is none either.
            Some(numbers.into_iter().map(|number| usize::try_from(number).unwrap_or(usize::MAX)).collect::<Vec<_>>())
        }
        None => None,
    };
    if let Some(permutation) = &permutation {
        options = options.transposed(permutation);
    }
    let to = destination(arguments, permutation.as_deref(), &from)?;
    tensor::check_writable(&arguments.output, &to)?;
    // Before anything is made from the shapes: only then are they known to be those of real data.
    if let Some(expected) = from.byte_size()
        && file.len() != expected
    {
        let more = if file.may_have_more() && file.len() > expected { " or more" } else { "" };
        return Err(Failure::said(format_args!(
            "expected {expected} bytes of {from} in `{}`, found {}{more}",
            arguments.input.display(),
            file.len()
        )));
    }
    let slabs = Slabs::new(&from, &to, &options, arguments.slab_bytes).map_err(Failure::said)?;
    // All slabs but the last ones are alike.
    let mut plan: Option<Plan> = None;
    let parts = slabs.map(|slab| {
        let (from, to) = slab.shapes();
        let ready = plan.take().filter(|plan| (plan.from(), plan.to()) == (from, to));
        let plan = plan.insert(ready.map_or_else(|| slab.plan().map_err(Failure::said), Ok)?);
        let (mut source, mut data) = (room(from)?, room(to)?);
        file.gather(slab.source(), source.as_mut())?;
        plan.run(source.as_ref(), data.as_mut()).map_err(Failure::said)?;
        Ok(data)
    });
    tensor::write(&arguments.output, &to, arguments.tensor.as_deref().unwrap_or(UNNAMED), parts)?;
    match arguments.format {
        Format::Text => Ok(()),
        Format::Json => {
            let (output, bytes) = (arguments.output.display().to_string(), to.byte_size().unwrap_or_default());
            let answer = Answer { from: from.to_string(), to: to.to_string(), output, bytes };
            io::write(super::json_line(&answer).as_bytes())
        }
    }
}

/// The shape of the array in the file.
fn source(
    arguments: &RelayoutArguments,
    given: Option<ArrayShape>,
    file: &TensorFile<'_>,
) -> Result<ArrayShape, Failure> {
    match (given, &file.shape) {
        (Some(given), None) => Ok(given),
        (None, Some(shape)) => Ok(shape.clone()),
        (Some(given), Some(shape)) if given == *shape => Ok(given),
        (Some(given), Some(shape)) => {
            Err(Failure::said(format_args!("`{}` holds {shape}, not {given}", arguments.input.display())))
        }
        (None, None) => Err(Failure::said("raw bytes do not tell their shape; give it with --from")),
    }
}

/// The shape to write: what `--to` says, which may be a layout alone; by default, row-major.
fn destination(
    arguments: &RelayoutArguments,
    permutation: Option<&[usize]>,
    from: &ArrayShape,
) -> Result<ArrayShape, Failure> {
    let text = match &arguments.to {
        Some(text) if !text.trim_start().starts_with('{') => return super::array_of(text),
        None if FileFormat::of(&arguments.output) == FileFormat::Raw => {
            return Err(Failure::said("give the layout of the result with --to"));
        }
        text => text,
    };
    let dimensions = match permutation {
        None => from.dimensions().to_vec(),
        Some(permutation) => {
            let dimension = |&number: &usize| from.dimensions().get(number).copied();
            permutation.iter().map(dimension).collect::<Option<Vec<_>>>().ok_or_else(|| {
                let (permutation, num_dimensions) = (permutation.to_vec(), from.num_dimensions());
                Failure::said(RelayoutError::InvalidPermutation { permutation, num_dimensions })
            })?
        }
    };
    let layout = match text {
        Some(text) => text.parse::<Layout>().map_err(|error| Failure::shape(&error, text))?,
        None => Layout::descending(dimensions.len()),
    };
    ArrayShape::new(from.element_type(), &dimensions, layout).map_err(Failure::said)
}

/// Zeroed memory for an array, if there is as much.
pub(super) fn room(array: &ArrayShape) -> Result<AlignedBytes, Failure> {
    let bytes = array.byte_size().unwrap_or_default();
    usize::try_from(bytes)
        .ok()
        .and_then(|bytes| AlignedBytes::zeroed(bytes).ok())
        .ok_or_else(|| Failure::said(format_args!("{array} takes {bytes} bytes, which there is no memory for")))
}
