//! XLA's helper functions, by their names in `ShapeUtil`, `LayoutUtil`, `IndexUtil` and `Shape`.
//!
//! They are what code that was written against XLA asks for. They follow from the rules of the rooms below: layouts, maps and shapes.

mod dynamic;
pub(crate) mod extent;
pub mod index;
pub(crate) mod reshape;
pub(crate) mod subshape;
pub(crate) mod transform;
