//! The text of shapes: grammar, parser, printer, and errors with positions.
//!
//! The grammar is XLA's: `HloParserImpl::ParseShape` and `ParseLayout` (`xla/hlo/parser/hlo_parser.cc`), with the
//! tokens of `HloLexer` (`xla/hlo/parser/hlo_lexer.cc`).
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
//! XLA has no text for indices. Here, they may have the letters of their dimensions ([`parse_index`]):
//!
//! ```text
//! index      ::= [ entry { ',' entry } ] | '(' [ entry { ',' entry } ] ')'
//! entry      ::= INT | letter '=' INT
//! ```
//!
//! White space and comments are allowed between tokens. [`Shape`](crate::Shape), [`ArrayShape`](crate::ArrayShape) and
//! [`Layout`](crate::Layout) implement [`FromStr`](core::str::FromStr) and [`Display`](core::fmt::Display). Use a
//! [`Parser`] if more text follows the shape. The crate `xla-shape-hlo` reads whole programs.
//!
//! ```
//! use xla_shape_core::Shape;
//!
//! let shape: Shape = "(bf16[8,128]{1,0:T(8,128)(2,1)}, token[])".parse()?;
//! let error = "bf16[8,128]{1,0:T(8,0)}".parse::<Shape>().unwrap_err();
//! assert_eq!(error.to_string(), "expected a tile dimension of at least 1 or `*`, found 0");
//! # Ok::<(), xla_shape_core::ParseError>(())
//! ```

mod error;
mod escape;
mod parse;
pub(crate) mod print;
mod sharding;
mod token;
mod vector;

pub use crate::limits::MAX_NESTING;
pub use crate::sink::{ConstText, same_text};
pub use error::{Expected, Found, OtherError, ParseError, ParseErrorKind, Span};
pub use escape::{bad_escape, escaped, unescaped};
pub use parse::{Parser, SizeExpression, parse_index};
pub use print::index_with_letters;
