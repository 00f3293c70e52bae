//! The data of pictures that show where the elements of an array are: by index and by position in memory, on devices, or in registers.
//!
//! The drawing of a large array shows parts of it: the beginning, the end, and the places where tiles meet.

mod devices;
mod elements;
mod picture;
mod registers;

pub use devices::{DeviceDrawing, Shard, ShardPlane, Side};
pub use elements::{Drawing, Picture, Place, Plane};
pub use registers::{Register, RegisterDrawing, Run};

use crate::Answer;
use crate::digest::Digest;
use schemars::JsonSchema;
use serde::Serialize;

/// JSON has the element at each position if there are at most this many.
const MAX_MAP: u64 = 1 << 20;

/// What `draw` writes as JSON. For a large array, it has only a part, like the drawing.
///
/// ```
/// use xla_shape_answers::Answer;
/// use xla_shape_answers::draw::{Drawing, Drawn};
///
/// let drawn = Drawn::Elements(Drawing::new(&"u8[3]{0:T(2)}".parse()?)?);
/// assert!(drawn.json().starts_with("{\"schema\":\"xla-shape/draw/1\",\"shape\":\"u8[3]{0:T(2)}\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "a command has one of them, and moves it once")]
pub enum Drawn {
    /// Where the elements are.
    Elements(Drawing),
    /// With --sharding: which device has which part.
    Devices(DeviceDrawing),
    /// With --vector: the registers of a vector.
    Registers(RegisterDrawing),
}

impl Answer for Drawn {
    const SCHEMA: &'static str = "xla-shape/draw/1";

    /// The next command explains how much memory the array takes, and why.
    fn digest(&self) -> Digest {
        let explain = match self {
            Self::Elements(drawing) => vec!["explain".into(), drawing.picture.shape.clone().into()],
            Self::Devices(drawing) => vec![
                "explain".into(),
                drawing.shape.clone().into(),
                "--sharding".into(),
                drawing.sharding.clone().into(),
            ],
            Self::Registers(drawing) => {
                vec!["explain".into(), drawing.vector.clone().into(), "--vector".into(), drawing.layout.clone().into()]
            }
        };
        Digest { causes: Vec::new(), next: vec![explain] }
    }
}
