//! A layout in other notations, and as code.

mod arrays;
mod code;
mod functions;

pub use code::{Code, CodeError, Language};

use crate::numbers::bracketed;
use crate::{Answer, answer_line};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_notations::{AnyLayout, Nearest, Notation, Obstacle, Sharing};

/// A layout in other notations: for each notation a text, or the reason why there is none.
///
/// ```
/// use xla_shape_notations::{AnyLayout, Notation};
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::convert::Conversion;
///
/// let layout = AnyLayout::of_array(&"f32[16,256]{1,0:T(8,128)}".parse()?)?;
/// let conversion = Conversion::new(&layout, &[Notation::Cute]);
/// assert!(conversion.json().contains(r#""notation":"cute","text":"((8,2),(128,2)):((128,2048),(1,1024))""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conversion {
    /// Which elements share positions; `None` if none do.
    pub shared: Option<Shared>,
    /// The notations.
    pub entries: Vec<Entry>,
}

/// The layout in one notation.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The notation.
    pub notation: Notation,
    /// The text, or why the notation cannot express the layout.
    pub text: Result<String, Obstacle>,
    /// The nearest layout that the notation can express, if it cannot express this one and a near one was found.
    pub nearest: Option<Nearest>,
}

/// How elements share positions.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Shared {
    /// How elements share positions; absent if none do.
    pub sharing: SharingKind,
    /// Two elements that share a position, the first in row-major order first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "[Vec<u64>; 2]")]
    pub shared: Option<[Vec<u64>; 2]>,
    /// The reason as a sentence.
    #[serde(skip)]
    pub sentence: String,
}

words! {
    /// How elements share positions.
    pub enum SharingKind {
        /// A dimension repeats: its stride is 0.
        Repeats = "repeats",
        /// Some elements share a position.
        Overlaps = "overlaps",
        /// The search gave up.
        Unknown = "unknown",
    }
}

impl Conversion {
    /// The usual targets of a conversion from a notation: for XLA's notation, all others; for any other notation, XLA's.
    ///
    /// ```
    /// use xla_shape_answers::convert::Conversion;
    /// use xla_shape_notations::Notation;
    ///
    /// assert_eq!(Conversion::usual_notations(Notation::Cute), [Notation::Xla]);
    /// assert!(!Conversion::usual_notations(Notation::Xla).contains(&Notation::Xla));
    /// ```
    #[must_use]
    pub fn usual_notations(from: Notation) -> Vec<Notation> {
        match from {
            Notation::Xla => Notation::ALL.iter().copied().filter(|&notation| notation != Notation::Xla).collect(),
            _ => vec![Notation::Xla],
        }
    }

    /// The layout in each of these notations.
    ///
    /// ```
    /// use xla_shape_answers::convert::{Conversion, SharingKind};
    /// use xla_shape_notations::{AnyLayout, Notation};
    ///
    /// let layout = AnyLayout::read(Notation::Cute, "(4,2):(0,1)")?;
    /// let conversion = Conversion::new(&layout, &[Notation::Cute]);
    /// assert_eq!(conversion.entries[0].text.as_deref(), Ok("(4,2):(0,1)"));
    /// let shared = conversion.shared.unwrap();
    /// assert_eq!((shared.sharing, shared.shared), (SharingKind::Repeats, Some([vec![0, 0], vec![1, 0]])));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(layout: &AnyLayout, notations: &[Notation]) -> Self {
        let entry = |&notation: &Notation| {
            let text = layout.write(notation);
            let nearest = if text.is_err() { layout.nearest(notation) } else { None };
            Entry { notation, text, nearest }
        };
        Self { shared: Shared::of(layout), entries: notations.iter().map(entry).collect() }
    }
}

impl Shared {
    fn of(layout: &AnyLayout) -> Option<Self> {
        match layout.sharing() {
            Sharing::Repeats { dimension, index } => {
                let mut first = index.clone();
                if let Some(entry) = first.get_mut(dimension) {
                    *entry = 0;
                }
                let (one, other) = (bracketed(&first), bracketed(&index));
                let sentence =
                    format!("dimension {dimension} repeats: elements {one} and {other} are at one position, and more");
                Some(Self { sharing: SharingKind::Repeats, shared: Some([first, index]), sentence })
            }
            Sharing::Overlaps { index, with, position } => {
                let (one, other) = (bracketed(&with), bracketed(&index));
                let sentence = format!("elements overlap: {one} and {other} are both at position {position}");
                Some(Self { sharing: SharingKind::Overlaps, shared: Some([with, index]), sentence })
            }
            Sharing::Unknown => {
                let sentence = "whether elements share positions is not known: the search gave up".to_owned();
                Some(Self { sharing: SharingKind::Unknown, shared: None, sentence })
            }
            _ => None,
        }
    }
}

/// A layout in one notation.
// Hidden, because it exists only to be written as JSON.
#[doc(hidden)]
#[derive(Serialize, JsonSchema)]
pub struct Line<'a> {
    /// The notation: xla, cute, linear, mdspan, numpy, torch, memref, mosaic or onednn.
    notation: &'a str,
    /// The layout in the notation; absent if the notation cannot express it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&'a str")]
    text: Option<&'a str>,
    /// Why the notation cannot express the layout; absent if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    reason: Option<String>,
    /// A position that shows the reason, in elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    position: Option<i64>,
    /// The index of an element that shows the reason, dimension 0 first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "&'a [u64]")]
    index: Option<&'a [u64]>,
    /// The nearest layout that the notation can express; absent if the notation can express the layout itself, or none was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Near<'a>")]
    nearest: Option<Near<'a>>,
    #[serde(flatten)]
    shared: Option<&'a Shared>,
}

/// The nearest layout that a notation can express.
#[derive(Serialize, JsonSchema)]
struct Near<'a> {
    /// The layout.
    text: &'a str,
    /// The part of that layout that is the array, such as a slice.
    view: &'a str,
}

/// What `convert` writes as JSON: one line for each notation, with the layout in it; with `--emit`, the code.
// Hidden, because it exists only for the schema of this JSON.
#[doc(hidden)]
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum Converted {
    /// A layout in one notation.
    Line(Line<'static>),
    /// Code.
    Code(Code),
}

/// The name of the schema of `convert`, for notations and for code.
pub(super) const SCHEMA: &str = "xla-shape/convert/1";

impl Conversion {
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.entries.iter().map(|entry| {
            let obstacle = entry.text.as_ref().err();
            Line {
                notation: entry.notation.name(),
                text: entry.text.as_deref().ok(),
                reason: obstacle.map(ToString::to_string),
                position: obstacle.and_then(Obstacle::position),
                index: obstacle.and_then(Obstacle::index),
                nearest: entry.nearest.as_ref().map(|nearest| Near { text: &nearest.text, view: &nearest.view }),
                shared: self.shared.as_ref(),
            }
        })
    }
}

/// A list of objects, one for each notation.
impl Serialize for Conversion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.lines())
    }
}

impl Answer for Conversion {
    const SCHEMA: &'static str = SCHEMA;

    /// One line for each notation.
    fn json(&self) -> String {
        self.lines().map(|line| answer_line(SCHEMA, &line)).collect()
    }
}
