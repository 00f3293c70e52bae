#![doc = include_str!("table.md")]

// Items to which the page has links.
#[cfg(doc)]
use crate::{index_util, layout_util, shape_util};
#[cfg(doc)]
use alloc::string::ToString;
#[cfg(doc)]
use xla_shape_core::compare::{LayoutEqual, ShapeEqual};
#[cfg(doc)]
use xla_shape_core::map::StrideTableRef;
#[cfg(all(doc, feature = "proto"))]
use xla_shape_core::proto;
#[cfg(doc)]
use xla_shape_core::{
    ArrayShape, Dimension, DimensionNumber, ElementType, Layout, Shape, ShapeIndex, SplitConfig, Tile, memory_space,
};
