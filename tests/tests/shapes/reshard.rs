//! The data that move between devices when a sharding changes, compared with brute force for each element of each shard.

use proptest::prelude::*;
use serde::Deserialize;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use xla_shape::shard::{
    Hosts, Partition, RearrangeError, Rearrangement, Region, Reshard, ReshardKind, Sharding, ShardingError, Transfer,
};
use xla_shape::{ArrayShape, Layout, Slot};
use xla_shape_answers::reshard::Through;
use xla_shape_tests::{corpus, every, is_thorough};

/// A random sharding of an array of this rank: the number of tiles in each dimension, the copies, and the order of the devices. The shards are often
/// uneven.
fn sharding(rank: usize) -> impl Strategy<Value = Sharding> {
    let tiles = prop::collection::vec(1_u64..4, rank);
    (tiles, 1_u64..4, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(tiles, copies, order, is_listed)| {
        let devices = tiles.iter().product::<u64>() * copies;
        let dimensions = tiles.iter().chain([&copies]).map(ToString::to_string).collect::<Vec<_>>().join(",");
        // A list may begin with any device; an iota may be transposed.
        let order = match (is_listed, order.index(devices as usize) as u64) {
            (true, first) => {
                (0..devices).map(|i| ((i * 5 + first) % devices).to_string()).collect::<Vec<_>>().join(",")
            }
            (false, order) if order % 2 == 0 => format!("<=[{},{copies}]T(1,0)", devices / copies),
            _ => format!("<=[{devices}]"),
        };
        let order = if devices.is_multiple_of(5) && is_listed { format!("<=[{devices}]") } else { order };
        match devices {
            1 => Sharding::maximal(0),
            _ => format!("{{devices=[{dimensions}]{order} last_tile_dim_replicate}}").parse().unwrap(),
        }
    })
}

fn layout(rank: usize) -> impl Strategy<Value = &'static str> {
    prop::sample::select(match rank {
        1 => &["{0}", "{0:T(4)}", "{0:T(2)(2)}", "{0:T(8)}"][..],
        2 => &[
            "{1,0}",
            "{0,1}",
            "{1,0:T(2,4)}",
            "{0,1:T(2,4)(2,1)}",
            "{1,0:T(4,2)(2,2)}",
            "{1,0:T(3)}",
            "{1,0:T(*,4)}",
            "{1,0:T(4,4)(4,1)}",
        ],
        _ => &[
            "{2,1,0}",
            "{0,1,2}",
            "{2,0,1}",
            "{2,1,0:T(2,4)}",
            "{1,2,0:T(2,2)(2,1)}",
            "{2,1,0:T(4)}",
            "{0,2,1:T(2,2,2)}",
        ],
    })
}

#[derive(Clone, Debug)]
struct Change {
    array: ArrayShape,
    layout: Layout,
    shardings: [Sharding; 2],
}

fn change() -> impl Strategy<Value = Change> {
    (1_usize..4).prop_flat_map(|rank| {
        let sizes = prop::collection::vec(0_u64..14, rank);
        let layouts = (layout(rank), layout(rank), any::<bool>());
        (
            sizes,
            prop::sample::select(vec!["f32", "bf16", "u8", "c128", "s4"]),
            layouts,
            [sharding(rank), sharding(rank)],
        )
            .prop_map(|(sizes, element, (from, to, is_same), shardings)| {
                let sizes = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                let to = if is_same { from } else { to };
                let array = format!("{element}[{sizes}]{from}").parse().unwrap();
                Change { array, layout: to.parse().unwrap(), shardings }
            })
    })
}

/// The shard of a device: for each position, the row-major number of its element in the whole array, or `None`.
fn shard(partition: &Partition, device: i64) -> Vec<Option<u64>> {
    let Ok(region) = partition.region(device) else { return Vec::new() };
    let table = partition.shard().stride_table().unwrap();
    let number = |index: Vec<u64>| {
        let index = index.iter().zip(&region.start).map(|(i, start)| i + start).collect::<Vec<_>>();
        let is_inside = index.iter().zip(&region.limit).all(|(i, limit)| i < limit);
        is_inside.then(|| index.iter().zip(partition.sizes()).fold(0, |number, (i, size)| number * size + i))
    };
    let at = |position| match table.as_ref().multi_index(position) {
        Slot::Element(index) => number(index),
        _ => None,
    };
    (0..table.as_ref().positions()).map(at).collect()
}

/// The new shard of a device, assembled from the runs of the plan.
fn made(reshard: &Reshard, device: i64) -> Vec<Option<u64>> {
    let mut made = vec![None; shard(reshard.to(), device).len()];
    for source in reshard.sources(device) {
        let before = shard(reshard.from(), source.from);
        let mut last = None;
        for run in reshard.runs(&source).unwrap() {
            assert!(run.len > 0);
            // Runs are in order, and as long as possible.
            let joins = last.is_some_and(|(from, to)| (from, to) == (run.from, run.to));
            assert!(!joins && last.is_none_or(|(_, to)| to <= run.to));
            last = Some((run.from + run.len, run.to + run.len));
            for i in 0..run.len as usize {
                let place = &mut made[run.to as usize + i];
                assert_eq!(*place, None, "written once");
                *place = before[run.from as usize + i];
                assert!(place.is_some(), "no padding is sent");
            }
        }
    }
    made
}

/// How many random changes are compared with brute force; `scripts/laws.sh` compares 10,000.
fn pairs() -> ProptestConfig {
    let own = ProptestConfig::default();
    ProptestConfig { cases: if is_thorough() { own.cases.max(10_000) } else { own.cases }, ..own }
}

proptest! {
    #![proptest_config(pairs())]

    #[test]
    fn runs_make_every_shard(Change { array, layout, shardings: [from, to] } in change()) {
        let reshard = from.reshard(&to, &array).unwrap().into_layout(layout).unwrap();
        for device in reshard.receivers().collect::<Vec<_>>() {
            prop_assert_eq!(made(&reshard, device), shard(reshard.to(), device), "device {}", device);
        }
        // If no sharding names devices, any device has the whole array, and keeps it.
        let is_named = [reshard.from(), reshard.to()].iter().any(|partition| partition.device_count().is_some());
        prop_assert_eq!(reshard.sources(1_000).next().is_none(), is_named || array.elements() == Some(0));
    }

    /// No device receives what it has already. The devices that hold a part send it equally often, except those on the receiver's host.
    #[test]
    fn the_nearest_send(Change { array, shardings: [from, to], .. } in change(), per_host in 1_u64..9) {
        let reshard = from.reshard(&to, &array).unwrap();
        let holders = |transfer: &Transfer| {
            reshard.from().holders(&transfer.region.start).collect::<Vec<_>>()
        };
        let mut sent = BTreeMap::<Vec<i64>, BTreeMap<i64, u64>>::new();
        for transfer in reshard.transfers() {
            let holders = holders(&transfer);
            prop_assert!(holders.contains(&transfer.from) && !holders.contains(&transfer.to));
            let counts = sent.entry(holders.clone()).or_insert_with(|| holders.iter().map(|&holder| (holder, 0)).collect());
            *counts.get_mut(&transfer.from).unwrap() += 1;
        }
        for counts in sent.values() {
            let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
            prop_assert!(most - least <= 1, "{:?}", sent);
        }
        let near = reshard.clone().with_hosts(Hosts::of_size(NonZeroU64::new(per_host).unwrap()));
        let host = |device: i64| device as u64 / per_host;
        for transfer in near.transfers() {
            let has_neighbour = holders(&transfer).iter().any(|&holder| host(holder) == host(transfer.to));
            prop_assert_eq!(has_neighbour, host(transfer.from) == host(transfer.to));
        }
        prop_assert_eq!(near.bytes(), reshard.bytes());
        prop_assert_eq!(reshard.messages(), Some(reshard.transfers().count() as u64));
        // All needed bytes are either kept or received.
        let needed = reshard.receivers().map(|device| to.partition(&array).unwrap().region(device).unwrap().elements()).sum::<u64>();
        let needed = (needed * array.element_bits()).div_ceil(8);
        let parts = reshard.bytes().unwrap() + reshard.bytes_kept().unwrap();
        // Both numbers are rounded up to bytes.
        prop_assert!((needed..=needed + 1).contains(&parts), "{} {}", needed, parts);
    }
}

/// All shardings of a matrix on 2, 3 and 4 devices: all tiles, all numbers of copies, and every order of the devices. The flag says whether the
/// devices are in ascending order.
fn small_worlds() -> Vec<(Sharding, bool)> {
    let mut all = vec![("{replicated}".parse().unwrap(), true)];
    all.extend([0, 2].map(|device| (Sharding::maximal(device), true)));
    for count in 2..=4_u64 {
        let mut orders = vec![vec![]];
        for device in 0..count {
            let with = |order: &Vec<u64>| {
                let order = order.clone();
                (0..=order.len()).rev().map(move |at| [&order[..at], &[device], &order[at..]].concat())
            };
            orders = orders.iter().flat_map(with).collect();
        }
        for [rows, columns] in (1..=count).flat_map(|rows| (1..=count).map(move |columns| [rows, columns])) {
            let copies = count / (rows * columns);
            if rows * columns * copies != count {
                continue;
            }
            for order in &orders {
                let text = order.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                let text = format!("{{devices=[{rows},{columns},{copies}]{text} last_tile_dim_replicate}}");
                all.push((text.parse().unwrap(), order.is_sorted()));
            }
        }
    }
    all
}

/// Distributes messages over these senders as evenly as possible, by trying all choices. Returns how many messages the busiest sender sends.
fn most_even(messages: usize, senders: usize) -> usize {
    let most = |mut choice: usize| {
        let mut sent = [0; 4];
        for _ in 0..messages {
            sent[choice % senders] += 1;
            choice /= senders;
        }
        sent.into_iter().max()
    };
    (0..senders.pow(messages as u32)).filter_map(most).min().unwrap_or(0)
}

/// Each device receives exactly the elements that it lacks, each once, from a device that has it. So no plan moves less. For each part, no other
/// choice of senders gives fewer messages to the busiest sender.
#[test]
fn no_plan_of_a_small_world_moves_less() {
    // A set of elements, as bits.
    let elements = |region: &Region| {
        let indices =
            (region.start[0]..region.limit[0]).flat_map(|i| (region.start[1]..region.limit[1]).map(move |j| 4 * i + j));
        indices.fold(0_u16, |set, number| set | 1 << number)
    };
    let world = small_worlds();
    let mut plans = 0;
    // Renumbering the devices is the same as another order after the change, so the order before is always ascending.
    let arrays = ["f32[3,4]", "f32[1,3]"].map(|text| text.parse::<ArrayShape>().unwrap());
    let pairs = arrays.iter().flat_map(|array| world.iter().map(move |(from, is_in_order)| (array, from, is_in_order)));
    for (array, from, _) in pairs.filter(|(.., is_in_order)| **is_in_order) {
        let before = from.partition(array).unwrap();
        let has = [0, 1, 2, 3].map(|device| before.region(device).map_or(0, |region| elements(&region)));
        for (to, _) in &world {
            let plan = from.reshard(to, array).unwrap();
            plans += 1;
            // For each set of devices that hold a part: the number of messages of each sender.
            let mut parts = BTreeMap::<u8, [usize; 4]>::new();
            for device in plan.receivers() {
                let own = has[device as usize];
                let mut received = 0;
                for Transfer { from: sender, region, .. } in plan.sources(device).filter(|part| part.from != device) {
                    let part = elements(&region);
                    assert!(has[sender as usize] & part == part && received & part == 0, "{from} {to}: {region:?}");
                    received |= part;
                    let holders =
                        (0..4).filter(|&other| has[other] & part == part).fold(0, |set, other| set | 1 << other);
                    parts.entry(holders).or_default()[sender as usize] += 1;
                }
                let needed = elements(&plan.need(device).unwrap());
                assert_eq!(received, needed & !own, "{from} {to}: device {device}");
            }
            for (holders, sent) in parts {
                let least = most_even(sent.iter().sum(), holders.count_ones() as usize);
                assert_eq!(sent.iter().max(), Some(&least), "{from} {to}: {sent:?}");
            }
        }
    }
    assert_eq!(plans, 2 * 15 * world.len());
}

/// Elements of 4 bits are moved, too, and shards of a wrong length are refused.
#[test]
fn shards_are_received() {
    let [rows, columns] =
        ["{devices=[2,1]<=[2]}", "{devices=[1,2]<=[2]}"].map(|text| text.parse::<Sharding>().unwrap());
    let array = "s4[2,6]{1,0:E(4)}".parse().unwrap();
    let reshard = rows.reshard(&columns, &array).unwrap();
    // Each row takes three bytes: elements 1 to 6, and 7 to 12. The lower half of a byte is its first element.
    let before = [[0x21, 0x43, 0x65], [0x87, 0xa9, 0xcb]];
    let shard = |device: i64| before.get(device as usize).map(|shard| &shard[..]);
    let mut after = [[0; 3]; 2];
    for (device, after) in (0..).zip(&mut after) {
        reshard.receive(device, shard, after).unwrap();
    }
    assert_eq!(after, [[0x21, 0x73, 0x98], [0x54, 0xa6, 0xcb]]);

    let error = |result: Result<(), ShardingError>| result.unwrap_err().to_string();
    assert_eq!(error(reshard.receive(2, shard, &mut [0; 3])), "expected a device of the sharding, found 2");
    assert_eq!(error(reshard.receive(1, |_| None, &mut [0; 3])), "expected the shard of device 0, found none");
    assert_eq!(error(reshard.receive(1, shard, &mut [0; 4])), "expected 3 bytes in the shard of device 1, found 4");
    assert_eq!(
        error(reshard.receive(1, |_| Some(&[]), &mut [0; 3])),
        "expected 3 bytes in the shard of device 0, found 0"
    );
    let wider = reshard.into_layout("{1,0}".parse().unwrap()).unwrap_err();
    assert_eq!(wider.to_string(), "expected a layout that keeps the 4 bits of an element, found 8");
}

/// A KV cache on 8 devices with one head each becomes one on 2 groups of 4 with 4 heads each, in tiles.
#[test]
fn a_cache_moves_between_groups() {
    let array = "bf16[16,2,8,16,128]".parse::<ArrayShape>().unwrap();
    let [one, four] = ["{devices=[1,1,8,1,1]<=[8]}", "{devices=[1,1,2,1,1,4]<=[8] last_tile_dim_replicate}"]
        .map(|text| text.parse::<Sharding>().unwrap());
    let reshard =
        one.reshard(&four, &array).unwrap().into_layout("{4,3,2,1,0:T(8,128)(2,1)}".parse().unwrap()).unwrap();
    assert_eq!((reshard.kind(), reshard.messages()), (ReshardKind::AllGather, Some(24)));
    for device in every(3, 0..8) {
        assert_eq!(made(&reshard, device), shard(reshard.to(), device), "device {device}");
    }
}

/// For thousands of devices, the part of one device is computed without the parts of the others.
#[test]
fn one_device_of_many() {
    let rows = "{devices=[4096,1]<=[4096]}".parse::<Sharding>().unwrap();
    let columns = "{devices=[1,4096]<=[4096]}".parse::<Sharding>().unwrap();
    let array = "bf16[65536,65536]{1,0:T(8,128)(2,1)}".parse().unwrap();
    let reshard = rows.reshard(&columns, &array).unwrap();
    let sources = reshard.sources(17).collect::<Vec<_>>();
    assert_eq!(sources.len(), 4096);
    assert!(sources.iter().all(|source| source.region.elements() == 256));
    let runs = reshard.runs(&sources[5]).unwrap().collect::<Vec<_>>();
    assert_eq!(runs.iter().map(|run| run.len).sum::<u64>(), 256);
}

/// The collectives with which XLA's partitioner changes a sharding on 8 devices (`scripts/data/reshards.py`).
#[derive(Deserialize)]
struct Row {
    array: ArrayShape,
    from: String,
    to: String,
    collectives: Vec<Collective>,
}

#[derive(Deserialize)]
struct Collective {
    opcode: String,
    /// The bytes of the operand on one device.
    bytes: u64,
    /// The devices of a group.
    group: Option<u64>,
    /// The pairs of different devices.
    pairs: Option<u64>,
}

impl Collective {
    /// The bytes that all 8 devices receive.
    fn received(&self) -> u64 {
        let group = self.group.unwrap_or(1);
        match self.opcode.as_str() {
            "all-gather" => 8 * self.bytes * (group - 1),
            "all-to-all" => 8 * self.bytes * (group - 1) / group,
            "collective-permute" => self.bytes * self.pairs.unwrap(),
            other => panic!("{other}"),
        }
    }
}

/// XLA's partitioner never sends less. If a single collective is enough, it uses the same one.
#[test]
fn xla_sends_no_less() {
    let rows = corpus::<Row>("reshards.jsonl");
    assert_eq!(rows.len(), 300);
    let (mut equal, mut single) = (0, 0);
    for Row { array, from, to, collectives } in rows {
        let [before, after] = [&from, &to].map(|text| text.parse::<Sharding>().unwrap());
        let reshard = before.reshard(&after, &array).unwrap();
        let (least, sent) = (reshard.bytes().unwrap(), collectives.iter().map(Collective::received).sum::<u64>());
        assert!(least <= sent, "{array} {from} {to}: {least} {sent}");
        equal += usize::from(least == sent);
        if let ([one], ReshardKind::AllGather | ReshardKind::AllToAll | ReshardKind::Permute) =
            (&*collectives, reshard.kind())
        {
            assert_eq!(one.opcode, reshard.kind().name(), "{array} {from} {to}");
            single += 1;
        }
        assert_eq!(
            collectives.is_empty(),
            matches!(reshard.kind(), ReshardKind::Nothing | ReshardKind::Slice),
            "{array} {from} {to}"
        );
    }
    assert_eq!((equal, single), (154, 120), "as many bytes, and the same single collective");
}

/// A change for which XLA's partitioner warns of an "Involuntary full rematerialization" (`scripts/data/reshards.py`).
#[derive(Deserialize)]
struct Warned {
    array: ArrayShape,
    from: String,
    to: String,
    /// The shardings to go through; `None` if there were none.
    through: Option<Vec<String>>,
    /// The bytes that all devices receive in XLA's program.
    direct_bytes: u64,
    /// The same for a program that goes through the shardings, and whether XLA warns about it.
    through_bytes: Option<u64>,
    warns: Option<bool>,
}

fn texts(through: &Through) -> Vec<String> {
    through.shardings.iter().map(|between| between.sharding.clone()).collect()
}

/// Checks that each step is one collective or none, and that the last one leads to the requested sharding.
fn is_made_of_single_steps(through: &Through, [from, to]: [&Sharding; 2], array: &ArrayShape) {
    let sides = [from].into_iter().chain(&through.values).chain([to]).collect::<Vec<_>>();
    let steps = sides.windows(2).map(|sides| sides[0].reshard(sides[1], array).unwrap()).collect::<Vec<_>>();
    let names = steps.iter().filter_map(|step| match step.kind() {
        ReshardKind::Nothing | ReshardKind::Slice => None,
        kind => Some(kind.name()),
    });
    let expected = through.collectives.iter().map(|collective| collective.as_str());
    assert_eq!(names.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{array} {from} {to}");
    assert_eq!(through.bytes_moved, steps.iter().map(Reshard::bytes).sum(), "{array} {from} {to}");
}

/// With the shardings between the two, XLA sends less, and does not warn.
#[test]
fn a_sharding_between_saves_bytes() {
    let rows = corpus::<Warned>("through.jsonl");
    let found = rows.iter().filter(|row| {
        let [from, to] = [&row.from, &row.to].map(|text| text.parse::<Sharding>().unwrap());
        let found = Through::new(&row.array, &from, &to);
        let shardings = found.as_ref().map(texts);
        assert_eq!(shardings, row.through, "{} {from} {to}", row.array);
        let Some(found) = found else { return false };
        is_made_of_single_steps(&found, [&from, &to], &row.array);
        assert_eq!(row.warns, Some(false), "{} {from} {to}", row.array);
        assert!(row.through_bytes.unwrap() < row.direct_bytes, "{} {from} {to}", row.array);
        assert!(found.bytes_moved.unwrap() <= row.through_bytes.unwrap(), "{} {from} {to}", row.array);
        true
    });
    assert_eq!((found.count(), rows.len()), (64, 64));
}

/// Shardings that name axes keep their mesh, and large meshes take little time.
#[test]
fn a_sharding_between_is_in_the_same_notation() {
    let through = |array: &str, from: &str, to: &str| {
        let [from, to] = [from, to].map(|text| text.parse::<Sharding>().unwrap());
        Through::new(&array.parse().unwrap(), &from, &to).as_ref().map(texts)
    };
    let mesh = "mesh['data'=256,'x'=4,'y'=2]";
    let named = |axes: &str| format!("{{{mesh}, [{axes}]}}");
    assert_eq!(
        through("f32[1024,32,64]", &named("{'data','x'}, {'y'}, {}"), &named("{'data'}, {}, {'x','y'}")),
        Some(vec![named("{'data'}, {'y'}, {'x'}")])
    );
    // Lists of devices that are equal to an iota, and to an order of the mesh.
    let listed = |tiles: &str| format!("{{devices={tiles}0,1,2,3,7,6,5,4 last_tile_dim_replicate}}");
    let rows = "{devices=[8,1]0,1,2,3,7,6,5,4}";
    let halves = through("f32[64,16]", rows, &listed("[1,2,4]"));
    assert_eq!(halves, Some(vec!["{devices=[1,8]0,1,2,3,7,6,5,4}".to_owned()]));
    let one = through("f32[64,16]", "{devices=[4,1,2]<=[8] last_tile_dim_replicate}", "{devices=[4,2]0,2,4,6,1,3,5,7}");
    assert_eq!(one, Some(vec!["{devices=[4,2]<=[8]}".to_owned()]));
    assert_eq!(through("f32[1024]", "{devices=[1024]<=[1024]}", "{devices=[1024]<=[512,2]T(1,0)}"), None);
    // There is no sharding to go through if shards are uneven, the devices differ, or the array is not divided by axes.
    let (rows, columns) = ("{devices=[4,2]<=[8]}", "{devices=[2,4]<=[4,2]T(1,0)}");
    assert_eq!(through("f32[8,6]", rows, columns), None);
    assert_eq!(through("f32[8,8]", rows, "{devices=[1,4]<=[4]}"), None);
    assert_eq!(through("f32[8,8]", rows, "{manual}"), None);
    assert_eq!(through("f32[8,8]", rows, "{devices=[2,4]0,3,5,6,1,2,4,7}"), None);
    assert_eq!(through("f32[12,12]", "{devices=[3,4]<=[12]}", "{devices=[4,3]<=[12]}"), None, "3 and 4 overlap");
}

/// There is an answer for arrays of very many dimensions, and for shardings in which very many axes move.
#[test]
fn a_sharding_between_many_dimensions() {
    let list = |first: &[u64], rank: usize, rest: u64| {
        (0..rank).map(|i| first.get(i).copied().unwrap_or(rest).to_string()).collect::<Vec<_>>().join(",")
    };
    let few = "f32[32,16,32]".parse().unwrap();
    let [from, to] = ["{devices=[1,2,4]<=[4,2]T(1,0)}", "{devices=[8,1,1]<=[8]}"].map(|text| text.parse().unwrap());
    let few = Through::new(&few, &from, &to).unwrap();
    // Dimensions of one element do not change the answer.
    for rank in [4, 60, 200] {
        let array = format!("f32[{}]", list(&[32, 16, 32], rank, 1)).parse().unwrap();
        let from = format!("{{devices=[{}]<=[4,2]T(1,0)}}", list(&[1, 2, 4], rank, 1)).parse().unwrap();
        let to = format!("{{devices=[{}]<=[8]}}", list(&[8], rank, 1)).parse().unwrap();
        let many = Through::new(&array, &from, &to).unwrap();
        is_made_of_single_steps(&many, [&from, &to], &array);
        assert_eq!((many.collectives, many.bytes_moved), (few.collectives.clone(), few.bytes_moved), "{rank}");
    }
    // Larger dimensions and more axes make the search stop earlier.
    for (rank, rest) in [(60, 1), (50, 2)] {
        let array = format!("u8[{}]", list(&[128, 2, 2, 2, 2, 2, 2, 2], rank, rest)).parse().unwrap();
        let before = list(&[2], rank, 1);
        let after = list(&[1, 2, 2, 2, 2, 2, 2, 2], rank, 1);
        let from = format!("{{devices=[{before},128]<=[256] last_tile_dim_replicate}}").parse().unwrap();
        let to = format!("{{devices=[{after},2]<=[2,128]T(1,0) last_tile_dim_replicate}}").parse().unwrap();
        if let Some(found) = Through::new(&array, &from, &to) {
            is_made_of_single_steps(&found, [&from, &to], &array);
        }
    }
}

/// A rearrangement with a sharding and a layout on either side. In lists of two, the left side comes first.
#[derive(Clone, Debug)]
struct Rearranged {
    /// The size of each axis, and a number by which the axes are sorted on the right side.
    axes: Vec<(u64, u32)>,
    /// For each side and each axis: whether a dimension ends after it.
    ends: [Vec<bool>; 2],
    /// For each side: the number of parts into which each dimension is cut, if its size is a multiple of that number.
    cuts: [Vec<u64>; 2],
    /// For each side: the number of the layout.
    layouts: [usize; 2],
}

fn rearranged() -> impl Strategy<Value = Rearranged> {
    let side = || (prop::collection::vec(any::<bool>(), 5), prop::collection::vec(1_u64..5, 5), 0_usize..8);
    (prop::collection::vec((1_u64..7, any::<u32>()), 1..6), side(), side()).prop_map(|(axes, before, after)| {
        Rearranged { axes, ends: [before.0, after.0], cuts: [before.1, after.1], layouts: [before.2, after.2] }
    })
}

/// These axes in groups, one for each dimension.
fn grouped(axes: &[usize], ends: &[bool]) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new()];
    for (&axis, &ends) in axes.iter().zip(ends) {
        groups.last_mut().unwrap().push(axis);
        if ends {
            groups.push(Vec::new());
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Each device holds the same bytes of an array and of the corresponding array, whose dimensions are the axes.
#[test]
fn arrays_of_axes_have_the_bytes_of_the_arrays() {
    let mut runner = prop::test_runner::TestRunner::new(ProptestConfig::with_cases(600));
    let (done, cut, tiled) = (&Cell::new(0), &Cell::new(0), &Cell::new(0));
    let checked = runner.run(&rearranged(), |Rearranged { axes, ends, cuts, layouts }| {
        let name = |&axis: &usize| format!("{}={}", char::from(b'a' + axis as u8), axes[axis].0);
        let before = (0..axes.len()).collect::<Vec<_>>();
        let mut after = before.clone();
        after.sort_by_key(|&axis| axes[axis].1);
        let sides = [grouped(&before, &ends[0]), grouped(&after, &ends[1])];
        let texts = sides.each_ref().map(|groups| {
            let groups = groups.iter().map(|group| group.iter().map(name).collect::<Vec<_>>().join(" "));
            groups.map(|group| format!("({group})")).collect::<Vec<_>>().join(" ")
        });
        let rearrangement: Rearrangement = texts.join(" -> ").parse().unwrap();
        prop_assert_eq!(rearrangement.to_string().parse::<Rearrangement>().unwrap(), rearrangement.clone());
        let sizes = |groups: &[Vec<usize>]| {
            groups.iter().map(|group| group.iter().map(|&axis| axes[axis].0).product()).collect::<Vec<u64>>()
        };
        let laid_out = |groups: &[Vec<usize>], number: usize| {
            let descending = (0..groups.len()).rev().map(|i| i.to_string()).collect::<Vec<_>>().join(",");
            let ascending = (0..groups.len()).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
            let order = if number.is_multiple_of(2) { descending } else { ascending };
            let tiles = ["", "", ":T(2,3)", ":T(4)"][number / 2];
            let layout = if tiles == ":T(2,3)" && groups.len() < 2 {
                format!("{{{order}}}")
            } else {
                format!("{{{order}{tiles}}}")
            };
            ArrayShape::with_default_layout(xla_shape::ElementType::F32, &sizes(groups))
                .unwrap()
                .with_layout(layout.parse().unwrap())
                .unwrap()
        };
        let arrays = [0, 1].map(|side| laid_out(&sides[side], layouts[side]));
        let result = rearrangement.result(&arrays[0]).unwrap();
        prop_assert_eq!(result.dimensions(), arrays[1].dimensions());
        let divided = |side: usize| {
            // Cut a dimension only if that divides it evenly.
            let cuts = sizes(&sides[side]).into_iter().zip(&cuts[side]);
            let cuts = cuts.map(|(size, &cut)| if size % cut == 0 { cut } else { 1 }).chain([2]).collect::<Vec<_>>();
            let devices = cuts.iter().product::<u64>();
            let cuts = cuts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            format!("{{devices=[{cuts}]<=[2,{}]T(1,0) last_tile_dim_replicate}}", devices / 2)
                .parse::<Sharding>()
                .unwrap()
        };
        let [from, to] = [0, 1].map(divided);
        let reshard = match rearrangement.reshard((&arrays[0], &from), &to, Some(arrays[1].layout())) {
            Err(RearrangeError::Cut { .. }) => {
                cut.set(cut.get() + 1);
                return Ok(());
            }
            Err(RearrangeError::Tiles { .. }) => {
                tiled.set(tiled.get() + 1);
                return Ok(());
            }
            reshard => reshard.unwrap(),
        };
        done.set(done.get() + 1);
        // From the row-major number of an element after the change, in which the axes have the order of the right side, computes its number before
        // the change.
        let before_number = |number: u64| {
            let mut rest = number;
            let mut index = vec![0; axes.len()];
            for &axis in after.iter().rev() {
                (index[axis], rest) = (rest % axes[axis].0, rest / axes[axis].0);
            }
            index.iter().zip(&axes).fold(0, |number, (i, (size, _))| number * size + i)
        };
        let [before, after] = [from.partition(&arrays[0]).unwrap(), to.partition(&arrays[1]).unwrap()];
        for device in 0..before.device_count().unwrap_or(2) as i64 {
            prop_assert_eq!(shard(reshard.from(), device), shard(&before, device));
        }
        for device in 0..after.device_count().unwrap_or(2) as i64 {
            let expected =
                shard(&after, device).into_iter().map(|number| number.map(before_number)).collect::<Vec<_>>();
            prop_assert_eq!(shard(reshard.to(), device), expected);
        }
        Ok(())
    });
    checked.unwrap();
    let found = [done, cut, tiled].map(Cell::get);
    assert!(found.iter().all(|&found| found > 20), "{found:?}");
}

#[test]
fn what_is_no_rearrangement_is_refused() {
    for (text, message) in [
        ("a b", "expected `->` between two sides at byte 3"),
        ("(a b -> a b", "expected `)` at byte 5"),
        ("a) -> a", "expected the name of an axis at byte 1"),
        ("a -> (a (b))", "expected the name of an axis at byte 8"),
        ("a=0 -> a", "expected a size of at least 1 at byte 2"),
        ("a 3 -> a", "expected the name of an axis at byte 2"),
        ("a é -> a", "expected the name of an axis at byte 2"),
        ("a a -> a", "expected each axis once on a side, found `a` again"),
        ("a -> a a", "expected each axis once on a side, found `a` again"),
        ("a b -> a", "expected each axis on both sides, found `b` on one"),
        ("a -> a b", "expected each axis on both sides, found `b` on one"),
        ("a=2 -> a=3", "expected one size of axis `a`, found two"),
    ] {
        assert_eq!(text.parse::<Rearrangement>().unwrap_err().to_string(), message, "{text}");
    }
    let many = (0..65).map(|i| format!("a{i}")).collect::<Vec<_>>().join(" ");
    assert!(matches!(format!("{many} -> {many}").parse::<Rearrangement>(), Err(RearrangeError::TooManyAxes { .. })));
    let refused = |text: &str, array: &str, from: &str, to: &str, layout: Option<&str>| {
        let layout = layout.map(|layout| layout.parse().unwrap());
        let (array, from, to) = (array.parse().unwrap(), from.parse().unwrap(), to.parse().unwrap());
        let text: Rearrangement = text.parse().unwrap();
        text.reshard((&array, &from), &to, layout.as_ref()).unwrap_err().to_string()
    };
    let (whole, halves) = ("{replicated}", "{devices=[2]<=[2]}");
    for ((text, array, from, to, layout), message) in [
        (
            ("a b -> b a", "f32[4]", whole, whole, None),
            "expected an array of 2 dimensions, as the left side has, found one of 1",
        ),
        (
            ("(a b) -> a b", "f32[4]", whole, whole, None),
            "expected sizes of all axes of dimension 0 except one, such as `b=2`, found two without",
        ),
        (
            ("(a b=3) -> a b", "f32[4]", whole, whole, None),
            "expected dimension 0 to have a size divisible by 3, found 4",
        ),
        (
            ("a=3 -> a", "f32[4]", whole, whole, None),
            "expected dimension 0 to have the product of its axes (3), found 4",
        ),
        (
            ("(a b=3) -> a b", "f32[6]", "{devices=[3]<=[3]}", whole, None),
            "the old sharding cuts dimension 0 in 3, which cuts none of its axes evenly",
        ),
        (
            ("a b=3 -> (a b)", "f32[2,3]", whole, "{devices=[3]<=[3]}", None),
            "the new sharding cuts dimension 0 in 3, which cuts none of its axes evenly",
        ),
        (
            ("a b=2 -> (b a)", "f32[6,2]", whole, whole, Some("{0:T(4)}")),
            "a tile of f32[12]{0:T(4)} spans several axes of a dimension; each tile must divide the innermost axis",
        ),
        (
            ("a -> a", "f32[6]", "{unreduced}", whole, None),
            "expected a sharding that says what each device has, found `{unreduced}`",
        ),
        (
            ("a -> a", "f32[6]", whole, "{devices=[4]<=[4]}", None),
            "expected dimension 0 to have a size divisible by 4, such as 8, found 6",
        ),
        (("a -> a", "f32[<=6]", whole, halves, None), "expected dimension 0 to have a static size, found another"),
    ] {
        assert_eq!(refused(text, array, from, to, layout), message, "{text}");
    }
}
