//! The part of an array that each device holds, compared with JAX's own answers and brute force; and the bytes that hold a region.

use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use xla_shape::shard::{Region, ReshardKind, Sharding, Slicing};
use xla_shape::tpu::Generation;
use xla_shape::{ArrayShape, Layout, Slot};
use xla_shape_tests::corpus;

/// JAX's answer about an array on a mesh.
#[derive(Deserialize)]
struct Row {
    hlo: String,
    mesh: String,
    sizes: Vec<u64>,
    shard: Vec<u64>,
    /// For each device, the first index and the limit of each dimension.
    regions: BTreeMap<i64, Vec<(u64, u64)>>,
}

fn array(sizes: &[u64]) -> ArrayShape {
    let sizes = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    format!("f32[{sizes}]").parse().unwrap()
}

#[test]
fn every_device_has_what_jax_gives_it() {
    let rows = corpus::<Row>("partitions.jsonl");
    assert_eq!(rows.len(), 300);
    for row in rows {
        // In the form with tiles, JAX numbers devices by their places in the mesh. These are the devices' own numbers only if the mesh gives no ids.
        let tiles = (!row.mesh.contains("device_ids")).then_some(&row.hlo);
        for text in tiles.into_iter().chain([&row.mesh]) {
            let sharding = text.parse::<Sharding>().unwrap();
            let partition = sharding.partition(&array(&row.sizes)).unwrap();
            assert_eq!(*partition.shard(), array(&row.shard), "{text}");
            assert!(partition.is_even(), "{text}");
            for (&device, region) in &row.regions {
                let (start, limit) = region.iter().copied().unzip();
                assert_eq!(partition.region(device), Ok(Region { start, limit }), "{text}");
            }
            let devices = partition.device_count();
            assert!(devices.is_none_or(|devices| devices == row.regions.len() as u64), "{text}");
        }
    }
}

/// A parameter of a program before and after XLA partitioned it.
#[derive(Deserialize)]
struct Parameter {
    generation: String,
    whole: ArrayShape,
    sharding: String,
    shard: ArrayShape,
}

#[test]
fn parameters_of_partitioned_programs_are_shards() {
    let rows = corpus::<Parameter>("partitioned.jsonl");
    assert_eq!(rows.len(), 26);
    for Parameter { generation, whole, sharding, shard } in rows {
        let sharding = sharding.parse::<Sharding>().unwrap();
        let partition = sharding.partition(&whole).unwrap();
        assert_eq!(*partition.shard(), shard);
        // The shard has the default layout for its sizes.
        let generation = generation.parse::<Generation>().unwrap();
        assert_eq!(partition.shard().clone().with_tpu_layout(generation).unwrap(), shard);
        assert_eq!((partition.device_count().unwrap_or(4), partition.is_even()), (4, true));
    }
}

/// Shardings of arrays of two dimensions over up to 12 devices, with sizes that mostly cannot be divided evenly.
fn divided() -> impl Strategy<Value = (Sharding, Vec<u64>)> {
    let tiles = (1_u64..5, 1_u64..4, 1_u64..3);
    (tiles, 0_u64..12, 0_u64..9, any::<bool>()).prop_map(|((a, b, copies), rows, columns, turned)| {
        let devices = a * b * copies;
        let order = if turned { format!("<=[{a},{}]T(1,0)", b * copies) } else { format!("<=[{devices}]") };
        let text = format!("{{devices=[{a},{b},{copies}]{order} last_tile_dim_replicate}}");
        (text.parse().unwrap(), vec![rows, columns])
    })
}

proptest! {
    #[test]
    fn every_element_is_where_its_holders_are((sharding, sizes) in divided()) {
        let partition = sharding.partition(&array(&sizes)).unwrap();
        let regions = partition.regions().collect::<Vec<_>>();
        for (device, region) in &regions {
            prop_assert_eq!(partition.region(*device), Ok(region.clone()));
            let sizes = region.sizes();
            prop_assert!(sizes.zip(partition.shard().dimensions()).all(|(size, d)| size <= d.extent().unwrap()));
        }
        for row in 0..sizes[0] {
            for column in 0..sizes[1] {
                let has = |region: &Region| {
                    (region.start[0]..region.limit[0]).contains(&row) && (region.start[1]..region.limit[1]).contains(&column)
                };
                let expected = regions.iter().filter(|(_, region)| has(region)).map(|(device, _)| *device);
                let mut found = partition.holders(&[row, column]).collect::<Vec<_>>();
                let mut expected = expected.collect::<Vec<_>>();
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(found.len() as u64, partition.replication().unwrap_or(found.len() as u64));
                prop_assert_eq!(found, expected);
            }
        }
        prop_assert!(partition.holders(&[sizes[0], 0]).next().is_none());
    }

    #[test]
    fn ranges_are_those_positions(
        layout in prop::sample::select(vec![
            "{1,0}", "{0,1}", "{1,0:T(2,4)}", "{0,1:T(2,4)(2,1)}", "{1,0:T(4,2)(2,2)}", "{1,0:T(3)}", "{1,0:T(*,4)}",
            "{1,0:T(2,4)(4,1)}", "{1,0:T(5,7)}",
        ]),
        sizes in prop::array::uniform2(0_u64..9),
        start in prop::array::uniform2(0_u64..9),
        limit in prop::array::uniform2(0_u64..10),
    ) {
        let array = array(&sizes).with_layout(layout.parse::<Layout>().unwrap()).unwrap();
        let region = Region { start: start.to_vec(), limit: limit.to_vec() };
        let ranges = array.ranges_of(region.clone()).unwrap().collect::<Vec<_>>();
        // Ranges are sorted, and do not touch each other.
        prop_assert!(ranges.iter().all(|range| range.start < range.end));
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
        let table = array.stride_table().unwrap();
        let inside = |position: &u64| match table.as_ref().multi_index(*position) {
            Slot::Element(index) => {
                let has = |(d, i): (usize, u64)| region.start[d] <= i && i < region.limit[d];
                index.iter().copied().enumerate().all(has)
            }
            _ => false,
        };
        let expected = (0..table.as_ref().positions()).filter(inside).collect::<Vec<_>>();
        prop_assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), expected.clone());
        let slicing = match ranges.as_slice() {
            [] => Slicing::Empty,
            [one] => Slicing::OneRange(4 * one.start..4 * one.end),
            several if several.iter().all(|range| range.end - range.start == 1) => Slicing::Elements,
            _ => Slicing::Ranges,
        };
        prop_assert_eq!(array.slicing(region), Ok(slicing));
    }

    #[test]
    fn runs_are_the_region_in_row_major_order(
        sizes in prop::array::uniform3(1_u64..5),
        corners in prop::array::uniform3((0_u64..5, 0_u64..5)),
    ) {
        let sides = corners.iter().zip(&sizes).map(|(&(a, b), &size)| (a.min(b).min(size - 1), (a.max(b) + 1).min(size)));
        let (start, limit): (Vec<_>, Vec<_>) = sides.unzip();
        let region = Region { start, limit };
        let array = array(&sizes);
        let mut found = Vec::new();
        while let Some(run) = region.row_major_run(&sizes, found.len() as u64) {
            prop_assert!(!run.is_empty());
            found.extend(run);
        }
        prop_assert_eq!(found.len() as u64, region.elements());
        prop_assert_eq!(found, array.ranges_of(region).unwrap().flatten().collect::<Vec<_>>());
    }
}

proptest! {
    #[test]
    fn a_reshard_brings_every_device_what_it_needs(
        texts in prop::array::uniform2(prop::sample::select(vec![
            "{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}", "{devices=[2,2]<=[4]}", "{devices=[2,2]3,1,2,0}", "{replicated}",
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
            "{mesh['x'=4], [{}, {}]}", "{maximal device=2}", "{devices=[3,2]<=[6]}",
        ])),
        sizes in prop::array::uniform2(0_u64..7),
    ) {
        let array = array(&sizes);
        let [from, to] = texts.map(|text| text.parse::<Sharding>().unwrap());
        let reshard = from.reshard(&to, &array).unwrap();
        let (before, after) = (from.partition(&array).unwrap(), to.partition(&array).unwrap());
        let has = |region: &Region, index: [u64; 2]| {
            (0..2).all(|d| (region.start[d]..region.limit[d]).contains(&index[d]))
        };
        let transfers = reshard.transfers().collect::<Vec<_>>();
        for transfer in &transfers {
            prop_assert!(transfer.from != transfer.to && !transfer.region.is_empty());
        }
        let mut received = 0;
        for device in 0..8 {
            let is_needing = after.device_count().is_some() || before.device_count().is_some() && before.region(device).is_ok();
            let need = after.region(device).ok().filter(|_| is_needing);
            let own = before.region(device).ok();
            let mut own_received = 0;
            for index in (0..sizes[0]).flat_map(|row| (0..sizes[1]).map(move |column| [row, column])) {
                let senders = transfers.iter().filter(|t| t.to == device && has(&t.region, index)).collect::<Vec<_>>();
                let needed = need.as_ref().is_some_and(|need| has(need, index));
                let needed = needed && !own.as_ref().is_some_and(|own| has(own, index));
                prop_assert_eq!(senders.len(), usize::from(needed), "{} {:?}", device, index);
                for sender in senders {
                    prop_assert!(has(&before.region(sender.from).unwrap(), index));
                    own_received += 1;
                }
            }
            if need.is_some() {
                prop_assert_eq!(reshard.received(device), own_received);
            }
            received += own_received;
        }
        prop_assert_eq!(reshard.bytes(), Some(received * 4));
    }
}

#[test]
fn kinds_of_reshards() {
    let kind = |from: &str, to: &str| {
        let [from, to] = [from, to].map(|text| text.parse::<Sharding>().unwrap());
        from.reshard(&to, &array(&[8, 8])).unwrap().kind()
    };
    let rows = "{devices=[4,1]<=[4]}";
    for (from, to, expected) in [
        (rows, rows, ReshardKind::Nothing),
        (rows, "{mesh['x'=4], [{'x'}, {}]}", ReshardKind::Nothing),
        (rows, "{devices=[4,1]3,2,1,0}", ReshardKind::Permute),
        (rows, "{devices=[1,4]<=[4]}", ReshardKind::AllToAll),
        (rows, "{replicated}", ReshardKind::AllGather),
        (rows, "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", ReshardKind::AllGather),
        ("{replicated}", rows, ReshardKind::Slice),
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", rows, ReshardKind::Slice),
        (rows, "{devices=[8,1]<=[8]}", ReshardKind::Mixed),
        (rows, "{devices=[1,2,2]<=[4] last_tile_dim_replicate}", ReshardKind::Mixed),
    ] {
        assert_eq!(kind(from, to), expected, "{from} {to}");
    }
}

#[test]
fn bits_are_picked() {
    let array: ArrayShape = "s4[4,6]{1,0:E(4)}".parse().unwrap();
    let region = |start: [u64; 2], limit: [u64; 2]| Region { start: start.to_vec(), limit: limit.to_vec() };
    assert_eq!(array.slicing(region([1, 0], [3, 6])), Ok(Slicing::OneRange(3..9)));
    assert_eq!(array.slicing(region([0, 2], [4, 4])), Ok(Slicing::Ranges));
    assert_eq!(array.slicing(region([0, 1], [4, 3])), Ok(Slicing::Elements));
    assert_eq!(array.slicing(region([2, 1], [3, 2])), Ok(Slicing::Elements));
}

#[test]
fn what_cannot_be_divided() {
    let error = |sharding: &str, array: &str| {
        let array = array.parse::<ArrayShape>().unwrap();
        sharding.parse::<Sharding>().unwrap().partition(&array).unwrap_err().to_string()
    };
    assert_eq!(
        error("{devices=[2,2]<=[4]}", "f32[4]"),
        "expected a sharding of 1 dimensions, as the array has, found one of 2"
    );
    assert_eq!(error("{manual}", "f32[4]"), "expected a sharding that says what each device has, found `{manual}`");
    assert_eq!(error("{devices=[2]0,0}", "f32[4]"), "expected each device once, with a number of at least 0, found 0");
    assert_eq!(
        error("{replicated}", "f32[?]"),
        "expected a size or a bound in dimension 0 of a sharded array, found `?`"
    );
    assert_eq!(
        error("{{replicated}}", "f32[4]"),
        "expected one sharding for a shape that is not a tuple, found a tuple of them"
    );
    let partition = "{devices=[4]<=[4]}".parse::<Sharding>().unwrap().partition(&array(&[10])).unwrap();
    assert_eq!(
        partition.check_even().unwrap_err().to_string(),
        "expected dimension 0 to have a size divisible by 4, such as 12, found 10"
    );
    assert_eq!(partition.region(4).unwrap_err().to_string(), "expected a device of the sharding, found 4");
}
