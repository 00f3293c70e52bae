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
//! Two things are not XLA's: the layouts of 2017 ([`LegacyShape`](crate::LegacyShape)), and indices, with the letters of
//! their dimensions or without ([`parse_index`]).
//!
//! ```text
//! legacy     ::= element_type '[' [ INT { ',' INT } ] ']' [ '{' [ INT { ',' INT } ] [ ':' [ widths [ value ] ] ] '}' ]
//! widths     ::= 'PAD' '(' INT { ',' INT } ')'
//! value      ::= 'V' '(' ( 'zero' | 'one' | 'lowest' | 'highest' ) ')'
//! index      ::= [ entry { ',' entry } ] | '(' [ entry { ',' entry } ] ')'
//! entry      ::= INT | letter '=' INT
//! ```
//!
//! White space and comments may be between tokens. [`Shape`](crate::Shape), [`ArrayShape`](crate::ArrayShape) and
//! [`Layout`](crate::Layout) implement [`FromStr`](core::str::FromStr) and [`Display`](core::fmt::Display); Use [`Parser`] if
//! more text follows the shape, or if the text differs slightly from XLA's. Whole programs are read by the crate
//! `xla-shape-hlo`.

mod error;
mod escape;
mod parse;
pub(crate) mod print;
mod sharding;
mod token;

pub use crate::limits::MAX_NESTING;
pub use crate::sink::{ConstText, same_text};
pub use error::{Expected, Found, ParseError, ParseErrorKind, Span};
pub use escape::{bad_escape, escaped, unescaped};
pub use parse::{Parser, SizeExpression, parse_index};
pub use print::index_with_letters;
