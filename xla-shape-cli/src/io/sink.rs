//! Where the bytes of an array go.

use crate::failure::Failure;

/// Who takes the bytes of an array.
pub(crate) enum Sink<'a> {
    /// In their order: a pipe has no places.
    InOrder(&'a mut InOrder<'a>),
    /// Each piece with the byte of the array that it begins at, in any order.
    Anywhere(&'a Anywhere<'a>),
}

pub(crate) type InOrder<'a> = dyn FnMut(&[u8]) -> Result<(), Failure> + Send + 'a;

pub(crate) type Anywhere<'a> = dyn Fn(usize, &[u8]) -> Result<(), Failure> + Sync + 'a;

impl Sink<'_> {
    /// Takes all bytes at once.
    pub(crate) fn write_whole(self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Sink::InOrder(write) => write(bytes),
            Sink::Anywhere(write) => write(0, bytes),
        }
    }
}
