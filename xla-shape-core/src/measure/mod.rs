//! How much there is: elements, bits and bytes, with and without padding.

pub(crate) mod advise;
pub(crate) mod extent;
pub(crate) mod padding;
pub(crate) mod size;
pub(crate) mod strides;
