//! The words, text and page of the answer of `tune`: the best layouts of arrays that several programs share.

mod page;
#[cfg(test)]
mod tests;
mod text;

pub use page::page;
