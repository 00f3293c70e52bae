//! How much there is, and where it lies in a buffer: elements, bits and bytes, with and without padding.

pub(crate) mod advise;
pub(crate) mod padding;
pub(crate) mod placement;
pub(crate) mod strides;
