//! The explorer: what the `xla-shape` program says about anything that is pasted or dropped into a page.
//!
//! [`answer`] says what it takes the input for, which other readings the input has, and what the program's verbs say about it.
//! Each [`View`] of an answer is the output of one command of the program, by the same functions of `xla-shape-render`.
//!
//! ```
//! use xla_shape_web::{Given, answer};
//!
//! let answer = answer(&Given::text("f32[100,1]{1,0:T(8,128)}"));
//! assert_eq!(answer.reading.unwrap().name, "shape");
//! let view = answer.view.unwrap();
//! assert_eq!(view.command, ["explain", "f32[100,1]{1,0:T(8,128)}"]);
//! assert!(view.text.contains("53,248 bytes (52 KiB)"));
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `given.rs` | the input: texts and files |
//! | `views.rs` | the output of the commands that an input has, which `xla-shape-program` names |
//! | `answer.rs` | the answer |
//! | `border.rs` | the functions that JavaScript calls |
//! | `capacity.rs` | blocks that no memory can hold |

#![deny(unsafe_code)]

mod answer;
// Only JavaScript calls its functions.
#[cfg(target_family = "wasm")]
mod border;
#[cfg(any(test, target_family = "wasm"))]
mod capacity;
mod given;
mod message;
mod views;

pub use answer::{Answer, Choice, answer};
pub use given::Given;
pub use message::reply;
pub use views::View;
pub use xla_shape_program::{File, PASTED};
