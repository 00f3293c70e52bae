//! A search that asks a compiler about many settings: what differs between the settings, and how the search went.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Something that differs between settings, such as a batch size, the rows of a block, or the device.
///
/// ```
/// use xla_shape_answers::search::{Axis, setting, words};
///
/// let axes = [Axis::new("bm", ["128", "256"]), Axis::new("for", ["v5e"]), Axis::new("bk", ["512", "1024"])];
/// let one = setting(&axes, &[1, 0, 0]);
/// assert_eq!((one["bm"].as_str(), one["for"].as_str()), ("256", "v5e"));
/// assert_eq!(words(&axes, &one), "bm 256, bk 512");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
    /// Whether only the values around the border were tried. This assumes that the values are in ascending order of the memory that they need.
    pub bisected: bool,
}

impl Axis {
    /// An axis that is not bisected.
    #[must_use]
    pub fn new<T: Into<String>>(name: impl Into<String>, values: impl IntoIterator<Item = T>) -> Self {
        Self { name: name.into(), values: values.into_iter().map(Into::into).collect(), bisected: false }
    }
}

/// The value of each axis, by its name.
///
/// `at`: for each axis, the number of its value.
#[must_use]
pub fn setting(axes: &[Axis], at: &[usize]) -> BTreeMap<String, String> {
    let values = axes.iter().zip(at);
    values.filter_map(|(axis, &number)| Some((axis.name.clone(), axis.values.get(number)?.clone()))).collect()
}

/// A setting in words, such as `bm 512, bk 256`: its value of each axis that has several values.
#[must_use]
pub fn words(axes: &[Axis], setting: &BTreeMap<String, String>) -> String {
    let axes = axes.iter().filter(|axis| axis.values.len() > 1);
    let values = axes.filter_map(|axis| Some(format!("{} {}", axis.name, setting.get(&axis.name)?)));
    values.collect::<Vec<_>>().join(", ")
}

/// How a search went.
///
/// ```
/// use xla_shape_answers::search::Search;
///
/// let search = Search { kept: 3, compilers: vec!["libtpu 0.0.52".to_owned()], goes_on: true, ..Search::default() };
/// assert_eq!(serde_json::to_string(&search)?, r#"{"kept":3,"compilers":["libtpu 0.0.52"],"cut":false}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Search {
    /// How many answers of the compiler came from the cache.
    pub kept: usize,
    /// The versions of the compilers that made the figures, in their own words.
    pub compilers: Vec<String>,
    /// Whether it stopped early: the user ended it, or it reached a limit of compilations.
    pub cut: bool,
    /// Whether another search can continue with the answers of this one.
    #[serde(skip)]
    pub goes_on: bool,
}
