//! Reads the numbers of a record: times in seconds, all others whole numbers.

use crate::cost::Seconds;
use crate::hlo::{Measure, Quantity};
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Measure, Option<Quantity>>, D::Error> {
    deserializer.deserialize_map(Measures)
}

struct Measures;

impl<'de> Visitor<'de> for Measures {
    type Value = BTreeMap<Measure, Option<Quantity>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut measures = BTreeMap::new();
        while let Some(of) = map.next_key::<Measure>()? {
            let number = match of {
                _ if of.is_time() => map.next_value::<Option<Seconds>>()?.map(Quantity::Time),
                _ => map.next_value::<Option<u64>>()?.map(Quantity::Number),
            };
            measures.insert(of, number);
        }
        Ok(measures)
    }
}
