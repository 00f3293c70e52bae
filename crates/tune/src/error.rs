//! Why there is no answer.

use crate::search::MOST_COMBINATIONS;
use std::fmt;

/// Why a search failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TuneError {
    /// A program does not compile as it is.
    Today {
        /// The program.
        program: String,
        /// Why.
        message: String,
    },
    /// The caller ended the search before a program had compiled as it is, so there is no result.
    Unfinished {
        /// The program.
        program: String,
    },
    /// The compiler does not say how many cycles a program takes.
    NoCycles {
        /// The program.
        program: String,
    },
    /// A program has no array at a place.
    NoArray {
        /// The shared array.
        name: String,
        /// The place, and its program.
        place: String,
    },
    /// An array has different sizes or types in different places.
    OtherArray {
        /// The shared array.
        name: String,
        /// What it is in its first place.
        first: String,
        /// What it is in another place.
        other: String,
        /// The other place, and its program.
        place: String,
    },
    /// There are too many combinations to try all.
    TooMany {
        /// How many; `None` if not even the number fits.
        combinations: Option<u64>,
    },
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Today { program, message } => write!(f, "{program} does not compile as it is: {message}"),
            Self::Unfinished { program } => {
                write!(f, "no result yet, because the search ended before {program} was compiled with today's layouts")
            }
            Self::NoCycles { program } => {
                write!(f, "the compiler does not say how many cycles {program} takes, so layouts cannot be compared")
            }
            Self::NoArray { name, place } => write!(f, "{name}: there is no array at {place}"),
            Self::OtherArray { name, first, other, place } => {
                write!(f, "{name}: it is {first} in its first place, but {other} at {place}")
            }
            Self::TooMany { combinations } => {
                let most = MOST_COMBINATIONS;
                match combinations {
                    Some(count) => write!(f, "there are {count} combinations of layouts; at most {most} are tried")?,
                    None => write!(f, "there are too many combinations of layouts; at most {most} are tried")?,
                }
                f.write_str("; without --all, the search needs a few")
            }
        }
    }
}

impl std::error::Error for TuneError {}
