//! `relayout`: an array in a file, copied into another layout.

use crate::args::{Format, RelayoutArguments};
use crate::failure::Failure;
use crate::files::Relayout;
use crate::given::array_of;
use crate::io;
use xla_shape_render::json_line;

pub(crate) fn run(arguments: &RelayoutArguments) -> Result<(), Failure> {
    if arguments.format == Format::Json && arguments.output.as_os_str() == "-" {
        return Err(Failure::said("standard output takes the array or JSON, not both"));
    }
    let from = arguments.from.as_deref().map(array_of).transpose()?;
    let relayout = Relayout {
        input: &arguments.input,
        output: &arguments.output,
        from: from.as_ref(),
        to: arguments.to.as_deref(),
        permute: arguments.permute.as_deref(),
        tensor: arguments.tensor.as_deref(),
        slab_bytes: arguments.slab_bytes,
        shows_progress: true,
    };
    let done = relayout.run()?;
    match arguments.format {
        Format::Text => Ok(()),
        Format::Json => io::write(json_line(&done).as_bytes()),
    }
}
