//! The texts of shardings: `parse` reads XLA's, `other` reads those of MLIR and JAX, `print` writes XLA's.

mod lexer;
mod other;
mod parse;
mod print;

use crate::shard::sharding::Sharding;
use crate::text::{Expected, ParseError};
use core::str::FromStr;
use lexer::TokenKind;
use other::quoted;
use parse::Parser;

impl FromStr for Sharding {
    type Err = ParseError;

    /// Reads a sharding in the text of XLA, `{devices=[2,1]<=[2]}`, of MLIR, `#sdy.sharding<mesh<["x"=2]>, [{"x"}]>`,
    /// or of JAX, `NamedSharding(mesh=Mesh('x': 2), spec=P('x'))`. XLA's text can be quoted, and have `mhlo.sharding =`
    /// before it, as in StableHLO.
    ///
    /// # Errors
    /// If the text is not a sharding, or XLA would reject the sharding.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser::new(text, 0);
        let sharding = match (parser.cursor.word(), parser.cursor.token().kind) {
            (Some("NamedSharding"), _) => parser.jax()?,
            (Some("P" | "PartitionSpec"), _) => {
                let expected = "a mesh beside it, as in `NamedSharding(mesh=Mesh('x': 2), spec=P('x'))`";
                return Err(parser.cursor.unexpected(Expected::Value(expected)));
            }
            (Some("sdy.sharding"), _) | (_, TokenKind::Punctuation('#')) => parser.shardy(None)?,
            _ => {
                if parser.cursor.attribute().or(parser.cursor.word()) == Some("mhlo.sharding") {
                    let is_bare = parser.cursor.word().is_some();
                    parser.cursor.advance();
                    if is_bare {
                        parser.cursor.eat('=')?;
                    }
                }
                let start = parser.cursor.token().span.start;
                let is_quoted = text.get(start..).is_some_and(|rest| rest.starts_with('"'));
                let (sharding, end) = if is_quoted { quoted(text, start)? } else { Self::parse_at(text, start)? };
                parser = Parser::new(text, end);
                sharding
            }
        };
        parser.finish()?;
        Ok(sharding)
    }
}
