//! Padding, strides, the cheapest order of dimensions, and where elements lie in a buffer: in elements, bits and bytes.

pub(crate) mod advise;
pub(crate) mod padding;
pub(crate) mod placement;
pub(crate) mod strides;
