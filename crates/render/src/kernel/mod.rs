//! What the compiler made of kernels, as text and as a page.

mod names;
mod page;
mod text;
