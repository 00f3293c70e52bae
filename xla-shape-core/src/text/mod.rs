//! The text of shapes: one grammar, one parser, one printer.
//!
//! ```text
//! shape      ::= array | tuple | 'token[]' | 'opaque[]' | 'b(' array ')'
//! tuple      ::= '(' [ shape { ',' shape } ] ')'
//! array      ::= element_type '[' [ dim { ',' dim } ] ']' [ layout ]
//! dim        ::= INT | '<=' INT | '?'
//! layout     ::= '{' [ INT { ',' INT } ] [ ':' attributes ] '}'
//! attributes ::= [D] [T] [L] [#] [*] [E] [S] [SC] [P] [M]
//! ```
//!
//! White space and comments may stand between tokens. [`Shape`](crate::Shape), [`ArrayShape`](crate::ArrayShape) and
//! [`Layout`](crate::Layout) implement [`FromStr`](core::str::FromStr) and [`Display`](core::fmt::Display); [`Parser`]
//! is for text that goes on behind the shape, or that is not quite XLA's. Whole programs are read by [`hlo`](crate::hlo).

mod error;
mod parse;
mod print;
pub(crate) mod sink;
mod token;

pub use error::{Expected, Found, ParseError, ParseErrorKind, Span};
pub use parse::{MAX_NESTING, Parser};
pub use print::WithoutLayout;
pub use sink::ConstText;
