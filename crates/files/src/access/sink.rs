//! Where the bytes of an array go.

use crate::error::Error;

/// What takes the bytes of an array.
pub(crate) enum Sink<'a> {
    /// In order, for pipes.
    InOrder(&'a mut InOrder<'a>),
    /// In any order: each piece comes with its offset in the array, in bytes.
    Anywhere(&'a Anywhere<'a>),
}

pub(crate) type InOrder<'a> = dyn FnMut(&[u8]) -> Result<(), Error> + Send + 'a;

pub(crate) type Anywhere<'a> = dyn Fn(usize, &[u8]) -> Result<(), Error> + Sync + 'a;

impl Sink<'_> {
    /// Takes all bytes at once.
    pub(crate) fn write_whole(self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Sink::InOrder(write) => write(bytes),
            Sink::Anywhere(write) => write(0, bytes),
        }
    }
}
