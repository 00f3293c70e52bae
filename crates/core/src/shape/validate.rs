//! The rules for a valid array shape, besides those for its layout: the parser, the macros and all constructors call
//! these checks. XLA states them in `ShapeUtil::ValidateShape` (`xla/shape_util.cc`) and
//! `LayoutUtil::ValidateLayoutForShape` (`xla/layout_util.cc`).

pub use crate::layout::attribute::{AttributeEffect, LayoutAttribute};
pub use crate::layout::error::{ShapePart, ValidationError};
pub use crate::limits::{MAX_MEMORY_SPACE, MAX_SIZE};

use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::map::size;

type Check = Result<(), ValidationError>;

/// Checks that a valid layout fits these dimensions, and that sizes, elements and bytes fit in an `i64`: rules 1, 4 and
/// the end of 5 of `docs/layouts.md`.
pub(crate) const fn array(
    element_type: ElementType,
    dimensions: &[Dimension],
    layout: &Layout,
    scratch: size::Scratch<'_>,
) -> Check {
    if let Err(error) = self::dimensions(dimensions, layout) {
        return Err(error);
    }
    size::check(element_type, dimensions, layout, scratch)
}

/// Checks that a valid layout fits these dimensions, without the rules about the number of elements and bytes.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
#[inline]
pub(crate) const fn dimensions(dimensions: &[Dimension], layout: &Layout) -> Check {
    if let Err(error) = num_dimensions(dimensions, layout) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < dimensions.len() {
        if let Some(size) = dimensions[dimension].extent()
            && size > MAX_SIZE
        {
            return Err(ValidationError::DimensionTooLarge { dimension, size });
        }
        dimension += 1;
    }
    if layout.split_configs().is_empty() { Ok(()) } else { splits_fit(dimensions, layout) }
}

/// Checks that `minor_to_major` names as many dimensions as there are.
#[inline]
pub(crate) const fn num_dimensions(dimensions: &[Dimension], layout: &Layout) -> Check {
    if layout.num_dimensions() == dimensions.len() {
        return Ok(());
    }
    Err(ValidationError::NumDimensionsMismatch {
        dimensions: dimensions.len(),
        minor_to_major: layout.num_dimensions(),
    })
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn splits_fit(dimensions: &[Dimension], layout: &Layout) -> Check {
    let splits = layout.split_configs();
    let mut split = 0;
    while split < splits.len() {
        let indices = splits[split].split_indices();
        let physical = layout.num_dimensions() - 1 - splits[split].dimension();
        let Some(size) = dimensions[layout.minor_to_major()[physical]].extent() else {
            return Err(ValidationError::SplitOfUnboundedDimension { split, dimension: splits[split].dimension() });
        };
        let mut position = 0;
        while position < indices.len() {
            if indices[position] >= size {
                let index = indices[position];
                return Err(ValidationError::SplitIndexOutOfRange { split, position, index, size });
            }
            position += 1;
        }
        split += 1;
    }
    Ok(())
}
