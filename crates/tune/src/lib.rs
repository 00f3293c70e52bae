//! Finds the best layout of an array that several programs share, by compiling them with many layouts.
//!
//! A [`Question`] has the programs and the arrays that they share. [`Question::answer`] compiles the programs with many layouts, in processes of this
//! machine or where the caller's [`Workers`] are, and keeps the compiler's answers on disk. The search itself, [`search()`], does not compile: it
//! decides which layouts to try, and compares the results. The answer is [`Tuning`](xla_shape_answers::tune::Tuning); `xla-shape-render` writes its
//! text and its page.
//!
//! [`fit`] compiles programs in many settings, and finds the sizes from which they no longer fit; [`blocks`] compiles a kernel with many sizes of
//! its blocks, and sorts them by a lower bound on their time.
//!
//! [`try_remedies`] compiles one program with the layouts that would remove its copies; and [`report_of_refused`] says what takes the memory of a
//! program that does not fit. [`Devices`] compiles a program for the devices that a user names, or asks their compiler about the refusals in a log;
//! [`kernels`](kernels()) says what code the compiler made of a program's kernels.

#![forbid(unsafe_code)]

mod advice;
mod answer;
mod asking;
pub mod blocks;
mod cache;
mod candidates;
mod changed;
mod compilers;
mod devices;
mod error;
#[cfg(test)]
mod fake;
pub mod fit;
mod kernels;
mod measured;
mod memory;
mod needed;
mod protocol;
mod question;
mod ranked;
mod refused;
mod remedies;
mod scanned;
mod search;
mod share;
#[cfg(test)]
mod tests;
mod workers;

pub use advice::{Compiled, CompiledCopy, advise};
pub use answer::search;
pub use devices::{Devices, Made};
pub use error::{Setting, TuneError};
pub use kernels::{KernelSource, KernelsError, Version, kernels};
pub use measured::{Figures, Measured};
pub use memory::{Memory, Requested};
pub use protocol::answer_as_worker;
pub use question::{Given, Keep, Question, Watch};
pub use refused::{Left, report_of_refused};
pub use remedies::try_remedies;
pub use search::Compile;
use search::described;
pub use share::Share;
use std::collections::BTreeMap;
pub use workers::{Workers, jobs};
pub use xla_shape_answers::place::Place;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Layout};
pub use xla_shape_pjrt::Target;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

/// A program that uses shared arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The user's name for it.
    pub name: String,
    /// How often it runs, relative to the other programs.
    pub weight: u32,
}

/// An array that is a parameter or a result of several programs, or in several places of one.
#[derive(Clone, PartialEq, Debug)]
pub struct SharedArray {
    /// The user's name for it.
    pub name: String,
    /// The places: the index of a program, and the parameter or result in it.
    pub places: Vec<(usize, Place)>,
    /// The array on one device, in today's layout.
    pub array: ArrayShape,
    /// The memories that it may be in, the preferred one first. If empty, each program keeps the array in the memory where it is now.
    pub memories: Vec<Memory>,
}

/// The layouts that a program is compiled with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ask {
    /// The program's own layouts.
    Today,
    /// The compiler chooses the layouts of shared arrays.
    Auto,
    /// Layouts, by the number of the shared array.
    Layouts(BTreeMap<usize, Layout>),
}

/// How to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The TPU, which determines the tiles of the layouts; `None` for a GPU, where arrays have none.
    pub generation: Option<Generation>,
    /// Try every combination of layouts.
    pub all: bool,
    /// Also try tiles other than those that the device's rules give for an order of dimensions.
    pub tilings: bool,
    /// The most bytes of HBM that a program may take.
    pub at_most_bytes: Option<u64>,
    /// The most compilations, including those with cached answers. The first two of each program are always made: one with its own layouts, and
    /// one with layouts that the compiler chooses.
    pub most: Option<usize>,
}
impl SharedArray {
    /// The array at these places of the programs, in the layout that it has today.
    ///
    /// # Errors
    /// If a place has no array, or an array whose type or sizes differ from those of the array at the first place.
    pub fn new(
        name: &str,
        places: Vec<(usize, Place)>,
        programs: &[Program],
        today: &[Measured],
    ) -> Result<Self, TuneError> {
        let mut first: Option<ArrayShape> = None;
        for (number, place) in &places {
            let text = || match programs.get(*number) {
                Some(program) => format!("{place} of {}", program.name),
                None => place.to_string(),
            };
            let array = today.get(*number).and_then(|measured| measured.array(place));
            let array = array.ok_or_else(|| TuneError::NoArray { name: name.to_owned(), place: text() })?;
            match &first {
                Some(first) if described(first) != described(&array) => {
                    return Err(TuneError::OtherArray {
                        name: name.to_owned(),
                        first: described(first),
                        other: described(&array),
                        place: text(),
                    });
                }
                Some(_) => {}
                None => first = Some(array),
            }
        }
        let none = || TuneError::NoArray { name: name.to_owned(), place: "any place".to_owned() };
        Ok(Self { name: name.to_owned(), places, array: first.ok_or_else(none)?, memories: Vec::new() })
    }
}
