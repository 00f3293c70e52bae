//! Whether lines are shapes or shardings: one answer for each line of a file.

use crate::Answer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use xla_shape_core::proto::{encode_shape, encode_sharding};
use xla_shape_core::shard::Sharding;
use xla_shape_core::text::Parser;
use xla_shape_core::tpu::{Generation, unused_tiles};
use xla_shape_core::{ParseError, Shape, Span};

/// The answer to one line of the input.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Checked<'a> {
    /// The line is a shape.
    Shape(CheckedShape<'a>),
    /// With --sharding: the line is a sharding.
    Sharding(CheckedSharding<'a>),
    /// The line is neither.
    Bad(BadLine<'a>),
}

/// The line is a shape.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedShape<'a> {
    /// The line.
    pub input: &'a str,
    /// The line is a shape.
    #[schemars(extend("const" = true))]
    pub ok: bool,
    /// The canonical text of the shape.
    pub shape: &'a str,
    /// The bytes of the value, with padding; null if a dimension is unbounded or they do not fit in 64 bits.
    pub bytes: Option<u64>,
    /// The bytes of XLA's ShapeProto, in base64.
    pub proto: &'a str,
    /// Which array has tiles that no TPU uses for its element type, and which tiles TPUs use. Absent if all tiles are usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hint: Option<String>,
}

/// With --sharding: the line is a sharding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedSharding<'a> {
    /// The line.
    pub input: &'a str,
    /// The line is a sharding.
    #[schemars(extend("const" = true))]
    pub ok: bool,
    /// The canonical text of the sharding.
    pub sharding: String,
    /// The bytes of XLA's OpSharding, in base64.
    pub proto: String,
}

/// The line is neither.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BadLine<'a> {
    /// The line; U+FFFD replaces bytes that are not UTF-8. If the line is longer than 64 MiB, only its first 1,024 bytes.
    pub input: &'a str,
    /// The line is not valid.
    #[schemars(extend("const" = false))]
    pub ok: bool,
    /// What is wrong.
    pub error: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// The sentence.
    pub message: String,
    /// Where in the input: the first byte and the one after the last, counted from 0.
    pub span: [u64; 2],
}

impl From<ParseError> for Problem {
    fn from(error: ParseError) -> Self {
        let Span { start, end } = error.span();
        Self { message: error.to_string(), span: [start as u64, end as u64] }
    }
}

impl<'a> Checked<'a> {
    /// The answer to a line with an error.
    #[must_use]
    pub fn bad(input: &'a str, error: impl Into<Problem>) -> Self {
        Self::Bad(BadLine { input, ok: false, error: error.into() })
    }

    /// Whether the line is a shape or a sharding.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        !matches!(self, Self::Bad(_))
    }
}

impl Answer for Checked<'_> {
    const SCHEMA: &'static str = "xla-shape/check/1";
}

/// What each line should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// Shapes. If a TPU is given, its default layouts replace those in the lines.
    Shapes(Option<Generation>),
    Shardings,
}

/// Checks lines one after the other. It reuses its memory from line to line.
///
/// ```
/// use xla_shape_answers::check::{Checked, Checker};
///
/// let mut checker = Checker::of_shapes(None);
/// let Checked::Shape(answer) = checker.check("f32[2, 3]") else { panic!("a shape") };
/// assert_eq!((answer.shape, answer.bytes), ("f32[2,3]{1,0}", Some(24)));
/// let Checked::Bad(answer) = checker.check("f32[2") else { panic!("no shape") };
/// assert_eq!(answer.error.span, [5, 5]);
/// let mut checker = Checker::of_shardings();
/// let Checked::Sharding(answer) = checker.check("{devices=[2,1]<=[2]}") else { panic!("a sharding") };
/// assert_eq!(answer.sharding, "{devices=[2,1]<=[2]}");
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    expected: Expected,
    /// The texts of the last answer.
    shape: String,
    proto: String,
}

impl Checker {
    /// Expects shapes. If a TPU is given, its default layouts replace those in the lines.
    ///
    /// ```
    /// use xla_shape_answers::check::{Checked, Checker};
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let mut checker = Checker::of_shapes(Some(Generation::V5e));
    /// let Checked::Shape(answer) = checker.check("f32[100,200]") else { panic!("a shape") };
    /// assert_eq!(answer.shape, "f32[100,200]{0,1:T(8,128)}");
    /// ```
    #[must_use]
    pub const fn of_shapes(generation: Option<Generation>) -> Self {
        Self { expected: Expected::Shapes(generation), shape: String::new(), proto: String::new() }
    }

    /// Expects shardings.
    #[must_use]
    pub const fn of_shardings() -> Self {
        Self { expected: Expected::Shardings, shape: String::new(), proto: String::new() }
    }

    /// The answer to a line.
    pub fn check<'a>(&'a mut self, input: &'a str) -> Checked<'a> {
        match self.expected {
            Expected::Shapes(generation) => match read(input, generation) {
                Ok(shape) => Checked::Shape(self.shape(input, shape)),
                Err(error) => Checked::bad(input, error),
            },
            Expected::Shardings => match input.parse::<Sharding>() {
                Ok(sharding) => Checked::Sharding(CheckedSharding {
                    input,
                    ok: true,
                    proto: STANDARD.encode(encode_sharding(&sharding)),
                    sharding: sharding.to_string(),
                }),
                Err(error) => Checked::bad(input, error),
            },
        }
    }

    fn shape<'a>(&'a mut self, input: &'a str, shape: Shape) -> CheckedShape<'a> {
        self.shape.clear();
        self.proto.clear();
        // Writing to memory does not fail.
        let _ = write!(self.shape, "{shape}");
        let (bytes, encoded) = (shape.byte_size(), encode_shape(&shape));
        let mut arrays = shape.flatten_tuple_shape().filter_map(Shape::array);
        let hint = arrays.find_map(|array| unused_tiles(array.element_type(), array.layout()));
        let hint = hint.map(|hint| hint.as_str().to_owned());
        drop(arrays);
        // A shape with many elements takes more memory than its answer, so it is freed first.
        drop(shape);
        STANDARD.encode_string(&encoded, &mut self.proto);
        CheckedShape { input, ok: true, shape: &self.shape, bytes, proto: &self.proto, hint }
    }

    /// Frees the memory that the answer to a huge line took. Each text keeps room for at most `most` bytes.
    pub fn shrink_to(&mut self, most: usize) {
        for text in [&mut self.shape, &mut self.proto] {
            text.clear();
            text.shrink_to(most);
        }
    }
}

/// Reads a shape, with the layouts of a TPU if there is one.
fn read(text: &str, generation: Option<Generation>) -> Result<Shape, ParseError> {
    let Some(generation) = generation else { return text.parse() };
    let mut parser = Parser::whole(text).for_tpu(generation);
    let shape = parser.shape()?;
    parser.finish()?;
    Ok(shape)
}
