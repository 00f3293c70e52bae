//! Constructors and options of the parser.

use super::{Brackets, Parser};
use crate::text::token::Lexer;
use crate::tpu::Generation;
use alloc::vec::Vec;

impl<'a> Parser<'a> {
    /// A parser for text in which something else may follow the shape: `{` opens a layout only before an integer or
    /// `:`, as in HLO text.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::new("f32[2] {backend_config}"); // the brace is not a layout
    /// assert_eq!(parser.shape()?.to_string(), "f32[2]{0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self::at(text, 0)
    }

    /// Like [`new`](Self::new), but begins at byte `position` of the text. Positions of errors are those in the whole
    /// text.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::at("x = f32[2]", 4);
    /// assert_eq!(parser.shape()?.to_string(), "f32[2]{0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at(text: &'a str, position: usize) -> Self {
        Self::with_brackets(text, position, Brackets::BraceBeforeLayout)
    }

    #[inline]
    fn with_brackets(text: &'a str, position: usize, brackets: Brackets) -> Self {
        let mut lexer = Lexer::new(text, position);
        let token = lexer.next();
        Self {
            lexer,
            token,
            position,
            brackets,
            for_types: false,
            tpu: None,
            arrays: 0,
            expressions: Vec::new(),
            wanted: None,
            found: None,
            stops_before_attributes: false,
            open: None,
        }
    }

    /// A parser for text that is one shape or layout; call [`finish`](Self::finish) at the end to check that nothing
    /// follows.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::whole("f32[2] x");
    /// parser.shape()?;
    /// assert_eq!(parser.finish().unwrap_err().to_string(), "expected the end of the shape, found `x`");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn whole(text: &'a str) -> Self {
        Self::with_brackets(text, 0, Brackets::Brace)
    }

    /// Also accepts layouts in angle brackets, `<…>`, as the macros do.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::whole("f32[2,3]<0,1>").allow_angle_brackets();
    /// assert_eq!(parser.shape()?.to_string(), "f32[2,3]{0,1}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn allow_angle_brackets(self) -> Self {
        Self { brackets: Brackets::BraceOrAngle, ..self }
    }

    /// For the macros. Parses shapes for types: rejects those that cannot be types, as
    /// [`type_limits::check`](crate::type_limits::check) does, and accepts layouts in angle brackets.
    ///
    /// Dimensions, bounds, entries of tiles and the memory space can be Rust [expressions](Self::size_expressions): a
    /// name, `2 * N`, `{ … }`. The parsed shape has 1 in place of each expression, and rules that depend on its value
    /// are not checked. With [`for_tpu`](Self::for_tpu), the text must have no layouts, and arrays with expressions as
    /// sizes keep the default layout.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::whole("f32[2 * N,128]<1,0:T(8,128)>").for_types();
    /// assert_eq!(parser.shape()?.to_string(), "f32[1,128]{1,0:T(8,128)}"); // 1 in place of the expression
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn for_types(self) -> Self {
        Self { for_types: true, ..self.allow_angle_brackets() }
    }

    /// Replaces the layout of every array by the default layout of a TPU of this generation.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let mut parser = Parser::whole("(f32[100,200], s1[3])").for_tpu(Generation::V5e);
    /// let error = parser.shape().unwrap_err();
    /// assert_eq!((error.span().start, error.span().end), (15, 17)); // the layout of s1 is not known
    /// ```
    #[must_use]
    pub fn for_tpu(self, generation: Generation) -> Self {
        Self { tpu: Some(generation), ..self }
    }
}
