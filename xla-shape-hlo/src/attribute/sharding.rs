//! How a value is divided among devices: the attribute `sharding`.

use super::{Value, decimal};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::text::ParseError;

/// How the elements of a value are divided among devices.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Sharding<'a> {
    /// `{replicated}`: every device has all of it.
    Replicated,
    /// `{maximal device=3}`: this device has all of it.
    Maximal {
        /// The number of the device.
        device: usize,
    },
    /// `{manual}`: the program divides it by hand.
    Manual,
    /// `{unknown}`: nothing was said.
    Unknown,
    /// `{unreduced}`: every device has a summand of it.
    Unreduced,
    /// `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`: each device has a tile.
    Tiled {
        /// Into how many tiles each dimension of the array is cut; behind those, the sizes of `subgroups`.
        tile_assignment: Vec<usize>,
        /// Which device has which tile.
        devices: Devices,
        /// What the devices of the last dimensions do with their common tile, such as `replicated` or `manual`.
        subgroups: Vec<&'a str>,
    },
    /// `{{replicated}, {manual}}`: one for each array in a tuple.
    Tuple(Vec<Self>),
    /// Any other, such as one along the axes of a mesh, as it is written.
    Other(&'a str),
}

/// The devices of the tiles, in row-major order of the tiles.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Devices {
    /// `0,2,1,3`: their numbers.
    List(Vec<usize>),
    /// `<=[2,2]T(1,0)`: the numbers 0, 1, … as an array of `dimensions`, transposed.
    Iota {
        /// The dimensions of the array that the numbers fill.
        dimensions: Vec<usize>,
        /// Its transposition, if there is one.
        permutation: Option<Vec<usize>>,
    },
}

pub(crate) fn sharding(value: Value<'_>) -> Result<Sharding<'_>, ParseError> {
    let wrong = |value: Value<'_>| value.is_not("a sharding, such as `{replicated}` or `{devices=[2,1]<=[2]}`");
    let is_tuple = |inside: &str| inside.is_empty() || inside.starts_with('{');
    let text = inside(value.text()).ok_or_else(|| wrong(value))?;
    if !is_tuple(text) {
        return single(text).ok_or_else(|| wrong(value));
    }
    // XLA does not put tuples into tuples.
    let elements = value.items()?.into_iter().map(|item| {
        let element = inside(item.text()).filter(|inside| !is_tuple(inside));
        element.and_then(single).ok_or_else(|| wrong(item))
    });
    Ok(Sharding::Tuple(elements.collect::<Result<_, _>>()?))
}

/// What stands in braces.
fn inside(text: &str) -> Option<&str> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.trim_ascii())
}

fn single(text: &str) -> Option<Sharding<'_>> {
    // Where it came from, and what other values are divided alike, does not say how this one is.
    let before = |text: &str, mark: &str| text.find(mark).unwrap_or(text.len());
    let end = [" metadata=", " shard_as ", " shard_like "].into_iter().map(|mark| before(text, mark)).min()?;
    let how = text.get(..end)?.trim_ascii_end();
    Some(match how {
        "replicated" => Sharding::Replicated,
        "manual" => Sharding::Manual,
        "unknown" => Sharding::Unknown,
        "unreduced" => Sharding::Unreduced,
        _ => {
            if let Some(device) = how.strip_prefix("maximal device=") {
                Sharding::Maximal { device: decimal(device)? }
            } else if let Some(rest) = how.strip_prefix("devices=[") {
                tiled(rest)?
            } else {
                Sharding::Other(text)
            }
        }
    })
}

/// Reads from behind `devices=[`.
fn tiled(text: &str) -> Option<Sharding<'_>> {
    let (tile_assignment, rest) = text.split_once(']')?;
    let (devices, subgroups) = if let Some(devices) = rest.strip_suffix("last_tile_dim_replicate") {
        (devices, vec!["replicated"])
    } else if let Some((devices, subgroups)) = rest.split_once("last_tile_dims={") {
        (devices, subgroups.strip_suffix('}')?.split(',').map(str::trim_ascii).collect())
    } else {
        (rest, Vec::new())
    };
    let devices = devices.trim_ascii();
    let devices = match devices.strip_prefix("<=[") {
        None => Devices::List(numbers(devices)?),
        Some(iota) => {
            let (dimensions, transposition) = iota.split_once(']')?;
            let permutation = match transposition {
                "" => None,
                text => Some(numbers(text.strip_prefix("T(")?.strip_suffix(')')?)?),
            };
            Devices::Iota { dimensions: numbers(dimensions)?, permutation }
        }
    };
    Some(Sharding::Tiled { tile_assignment: numbers(tile_assignment)?, devices, subgroups })
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|number| decimal(number.trim_ascii())).collect()
}

#[cfg(test)]
mod tests {
    use super::{Devices, Sharding};
    use crate::Module;
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec;

    /// What the attribute is read as, in the words of `Debug`; or the error.
    fn read(sharding: &str) -> String {
        let text = format!("p = f32[4] parameter(0), sharding={sharding}\n");
        let module = Module::parse(&text).unwrap();
        let value = module.instructions().next().unwrap().attribute("sharding").unwrap();
        value.sharding().map_or_else(|error| error.to_string(), |sharding| format!("{sharding:?}"))
    }

    #[test]
    fn shardings_of_every_kind() {
        // As XLA prints them, and with the white space that it reads.
        let iota = |dimensions, permutation| Devices::Iota { dimensions, permutation };
        let tiled = |tile_assignment, devices, subgroups| Sharding::Tiled { tile_assignment, devices, subgroups };
        let cases = [
            ("{replicated}", Sharding::Replicated),
            ("{ replicated }", Sharding::Replicated),
            ("{maximal device=3}", Sharding::Maximal { device: 3 }),
            ("{manual}", Sharding::Manual),
            ("{unknown}", Sharding::Unknown),
            ("{unreduced}", Sharding::Unreduced),
            ("{replicated shard_as 1}", Sharding::Replicated),
            ("{replicated metadata={op_name=\"a b\"}}", Sharding::Replicated),
            ("{devices=[2,1]1,0}", tiled(vec![2, 1], Devices::List(vec![1, 0]), vec![])),
            ("{devices=[2,1] 1, 0}", tiled(vec![2, 1], Devices::List(vec![1, 0]), vec![])),
            ("{devices=[2,1]<=[2] shard_like 5}", tiled(vec![2, 1], iota(vec![2], None), vec![])),
            (
                "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
                tiled(vec![2, 1, 2], iota(vec![2, 2], Some(vec![1, 0])), vec!["replicated"]),
            ),
            (
                "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated} metadata={{op_name=\"a\"}, {op_name=\"b\"}}}",
                tiled(vec![2, 2, 2], iota(vec![8], None), vec!["manual", "replicated"]),
            ),
            ("{}", Sharding::Tuple(vec![])),
            (
                "{{replicated}, {devices=[2]0,1}}",
                Sharding::Tuple(vec![Sharding::Replicated, tiled(vec![2], Devices::List(vec![0, 1]), vec![])]),
            ),
            ("{mesh['x'=2], [{'x'}, {}]}", Sharding::Other("mesh['x'=2], [{'x'}, {}]")),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), format!("{expected:?}"), "{text}");
        }
    }

    #[test]
    fn what_is_no_sharding() {
        for (text, found) in [
            ("replicated", "replicated"),
            ("{maximal device=x}", "{maximal device=x}"),
            ("{devices=[2,x]0,1}", "{devices=[2,x]0,1}"),
            ("{devices=[2]}", "{devices=[2]}"),
            ("{devices=[2]<=[2]T}", "{devices=[2]<=[2]T}"),
            ("{{replicated}, {{manual}}}", "{{manual}}"),
        ] {
            let expected =
                format!("expected a sharding, such as `{{replicated}}` or `{{devices=[2,1]<=[2]}}`, found `{found}`");
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
