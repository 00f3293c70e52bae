//! Compares shardings with XLA's own answers, and checks their laws.

use serde::Deserialize;
use std::fmt::Write;
use xla_shape::proto::{ProtoErrorKind, decode_sharding, encode_sharding};
use xla_shape::shard::{MAX_AXES, Sharding, ShardingError, ShardingKind, Subgroup};
use xla_shape::text::ParseErrorKind;
use xla_shape_tests::corpus;

/// XLA's answers about a text.
#[derive(Deserialize)]
struct Row {
    text: String,
    ok: bool,
    printed: Option<String>,
    proto: Option<String>,
    devices: Option<Vec<i64>>,
    tiles: Option<Vec<u64>>,
    v2: Option<String>,
    tuple: Option<Vec<String>>,
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn read(text: &str) -> Sharding {
    text.parse().unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Checks all of XLA's answers about a sharding.
fn check(row: &Row) {
    let text = &row.text;
    let sharding = match (row.ok, text.parse::<Sharding>()) {
        (true, Ok(sharding)) => sharding,
        (false, Err(error)) => {
            let span = error.span();
            assert!(span.start <= span.end && span.end <= text.len(), "{error} in {text}");
            return;
        }
        (_, result) => panic!("{result:?} of {text}"),
    };
    assert_eq!(Some(&sharding.to_string()), row.printed.as_ref(), "{text}");
    let bytes = encode_sharding(&sharding);
    assert_eq!(hexadecimal(&bytes), row.proto.as_deref().unwrap_or(""), "{text}");
    if let Some(v2) = &row.v2 {
        let tiled = sharding.to_tiled().unwrap();
        assert_eq!(tiled.to_string(), *v2, "{text}");
        assert_eq!(*tiled, sharding, "{text}");
    }
    if let ShardingKind::Tiled(tiled) = sharding.kind() {
        let assignment = tiled.assignment();
        if let (Some(tiles), Some(devices)) = (&row.tiles, &row.devices) {
            assert_eq!(assignment.dimensions(), tiles, "{text}");
            assert!(assignment.devices().iter().eq(devices.iter().copied()), "{text}");
        }
    }
    if let Some(elements) = &row.tuple {
        assert!(sharding.leaves().iter().map(ToString::to_string).eq(elements.iter().cloned()), "{text}");
    }
}

#[test]
fn every_text_means_what_it_means_to_xla() {
    let rows = corpus::<Row>("shardings.jsonl.zst");
    assert_eq!(rows.len(), 2500);
    rows.iter().for_each(check);
}

#[test]
fn equal_meaning_is_equal() {
    let equal = [
        ("{devices=[4]<=[4]}", "{devices=[4]0,1,2,3}"),
        ("{devices=[4]<=[4]}", "{mesh['a'=4], [{'a'}]}"),
        ("{mesh['a'=4], [{'a'}]}", "{mesh['b'=4], [{'b'}]}"),
        ("{mesh['a'=4], [{'a'}]}", "{mesh['a'=2,'b'=2], [{'a', 'b'}]}"),
        ("{replicated}", "{mesh['a'=4], []}"),
        ("{replicated}", "{replicated metadata={op_name=\"a\"}}"),
        ("{{replicated}}", "{{mesh['a'=4], [{}]}}"),
        ("{maximal device=3}", "{single_device[device_id=3]}"),
        ("{unreduced}", "{mesh['a'=2,'b'=2], unreduced}"),
    ];
    for (a, b) in equal {
        assert_eq!(read(a), read(b), "{a} {b}");
    }
    let different = [
        ("{devices=[4]<=[4]}", "{devices=[4]0,1,3,2}"),
        ("{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}"),
        ("{replicated}", "{replicated shard_as 1}"),
        ("{replicated shard_like 1}", "{replicated shard_as 1}"),
        ("{replicated}", "{{replicated}}"),
        ("{replicated}", "{manual}"),
        ("{unreduced}", "{mesh['a'=2,'b'=2], unreduced=min}"),
        ("{maximal device=3}", "{maximal device=4}"),
        ("{devices=[2,2]<=[4] last_tile_dims={manual}}", "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
    ];
    for (a, b) in different {
        assert_ne!(read(a), read(b), "{a} {b}");
    }
}

/// The message and the place of an error.
fn error(text: &str) -> (String, &str) {
    let error = text.parse::<Sharding>().unwrap_err();
    (error.to_string(), &text[error.span().start..error.span().end])
}

#[test]
fn an_iota_of_any_size_takes_no_memory() {
    for text in [
        "{devices=[1000000000]<=[1000000000]}",
        "{devices=[1000000000,1000000000]<=[1000000000,1000000000]T(1,0)}",
        "{devices=[2,500000000]<=[1000000000] last_tile_dim_replicate}",
        "{mesh['x'=1000000000,'y'=9], [{'y'}, {'x':(1)1000}]}",
    ] {
        let sharding = read(text);
        assert_eq!(sharding.to_string().parse(), Ok(sharding.clone()));
        assert_eq!(sharding.to_tiled().unwrap().to_string().parse(), Ok(sharding));
    }
    // If an order of so many devices would have to be listed, that is an error.
    let (message, place) = error("{devices=[10000000,6]<=[5,4000000,3]T(1,0,2) last_tile_dim_replicate}");
    assert_eq!(
        (message.as_str(), place),
        (
            "expected at most 1048576 devices where their order must be listed, found 60000000",
            "last_tile_dim_replicate"
        )
    );
    let error = "{devices=[9223372036854775807,2]<=[2]}".parse::<Sharding>().unwrap_err();
    assert_eq!(error.kind(), &ParseErrorKind::Sharding(ShardingError::TooManyDevices));
}

#[test]
fn messages() {
    for (text, message, place) in [
        ("", "expected a sharding, such as `{replicated}` or `{devices=[2,1]<=[2]}`, found the end of the text", ""),
        ("{replicated} x", "expected the end of the sharding, found `x`", "x"),
        ("{replicated device=1}", "expected no devices in a `replicated` sharding, found some", "1"),
        ("{maximal}", "expected exactly one device in a `maximal` sharding, found 0", "{maximal}"),
        ("{maximal devices=[2]0,1}", "expected exactly one device in a `maximal` sharding, found 2", "0,1"),
        (
            "{shard_as 1}",
            "expected `replicated`, `maximal`, `manual`, `unreduced`, `unknown` or `devices=[…]`, found none of them",
            "{shard_as 1}",
        ),
        (
            "{foo}",
            "expected `replicated`, `maximal`, `manual`, `unreduced`, `unknown`, `devices=`, `last_tile_dims=`, \
             `shard_as`, … or `}`, found `foo`",
            "foo",
        ),
        ("{devices=[1]0}", "expected more than one device in a list, found one; that is `{maximal device=…}`", "0"),
        ("{device=1 devices=[2]<=[2]}", "expected the devices once, found a list and `<=`", "1"),
        ("{devices=[2,2]0,1,2}", "expected 4 devices, one for each tile, found 3", "0,1,2"),
        ("{devices=[2,2]<=[3]}", "expected an iota of 4 devices, one for each tile, found one of 3", "[3]"),
        ("{devices=[2,2]<=[2,2]T(1)}", "expected a transposition of 2 dimensions, found 1", ")"),
        ("{devices=[2,2]<=[2,2]T(1,1)}", "expected each of the dimensions 0 to 1 once, found 1", "1"),
        ("{devices=[2,2]<=[2,2]T(1,2)}", "expected each of the dimensions 0 to 1 once, found 2", "2"),
        ("{devices=[4,2]<=[4,2]}", "expected `T(` and a transposition of several dimensions, found `}`", "}"),
        ("{devices=[2,0]<=[0]}", "expected a size of at least 1, found 0", "0"),
        ("{devices=[-2]0,1}", "expected the number of tiles, found `-2`, which is negative", "-2"),
        ("{maximal device=1.5}", "expected a number in plain decimal digits, found `1.5`", "1.5"),
        (
            "{maximal device=9223372036854775808}",
            "expected a number that fits in an i64, found `9223372036854775808`",
            "9223372036854775808",
        ),
        (
            "{devices=[2,2]<=[4] last_tile_dims={manual,manual,manual}}",
            "expected at most 2 subgroups, one for each dimension, found 3",
            "last_tile_dims={manual,manual,manual}",
        ),
        (
            "{devices=[2,2]<=[4] last_tile_dim_replicate last_tile_dims={manual}}",
            "expected `last_tile_dim_replicate` or `last_tile_dims`, found both",
            "last_tile_dim_replicate last_tile_dims={manual}",
        ),
        ("{{{replicated}}}", "expected no tuple in a tuple of shardings, found one", "{"),
        ("{{replicated}", "expected `,` or `}`, found the end of the text", ""),
        ("{mesh['a'=2,'a'=2], []}", "expected axes of different names, found 'a' again", "'a'"),
        ("{mesh['a'=2], [{'b'}]}", "expected an axis of the mesh, found 'b'", "'b'"),
        ("{mesh[], manual}", "expected a mesh with axes for `manual`, found none", "manual"),
        (
            "{mesh['a'=2], device_ids=(1,1), [{'a'}]}",
            "expected each device of the mesh once, counted from 0, found 1",
            "(1,1)",
        ),
        (
            "{mesh['a'=2], device_ids=(0,1), [{'a'}]}",
            "expected no device ids where they are in order, found 0, 1, 2, …; leave them out",
            "(0,1)",
        ),
        ("{mesh['a'=2], device_ids=(0,1,2), [{'a'}]}", "expected 2 devices, one for each tile, found 3", "(0,1,2)"),
        (
            "{mesh['a'=8], [{'a':(3)2}]}",
            "expected a part of an axis of size 8: a size above 1 and below 8, whose product with the size before it \
             divides 8; found (3)2",
            "'a':(3)2",
        ),
        ("{mesh['a'=8], [{'a'}, {'a'}]}", "expected each part of an axis at most once, found 'a' again", "'a'"),
        (
            "{mesh['a'=8], [{'a':(1)2, 'a':(2)2}]}",
            "expected neighbouring parts of an axis to be merged into one, found 'a':(2)2",
            "'a':(2)2",
        ),
        (
            "{mesh['a'=2,'b'=2], [], manual={'b', 'a'}}",
            "expected the axes in the order of the mesh, found 'a' out of order",
            "'a'",
        ),
        ("{mesh['a'=2], [{?, 'a'}]}", "expected nothing after `?`, found another axis", "'a'"),
        ("{replicated /*", "expected `*/` to close the comment, found the end of the text", "/*"),
    ] {
        let (found, at) = error(text);
        assert_eq!((found.as_str(), at), (message, place), "{text}");
    }
    let axes = (0..=MAX_AXES).map(|axis| format!("'{axis}'=1")).collect::<Vec<_>>().join(",");
    let text = format!("{{mesh[{axes}], []}}");
    assert_eq!(error(&text).0, "expected a mesh of at most 256 axes, found 257");
}

#[test]
fn messages_of_protos() {
    let message = |bytes: &[u8]| {
        let error = decode_sharding(bytes).unwrap_err();
        (error.path().to_owned(), error.to_string())
    };
    assert_eq!(message(&[0x08, 7]).1, "type: expected the number of one of the field's values, found 7");
    assert_eq!(message(&[0x08, 3]).1, "tile_assignment_devices: expected this field, found none");
    assert_eq!(
        message(&[0x08, 1]).1,
        "tile_assignment_devices: expected exactly one device in a `maximal` sharding, found 0"
    );
    assert_eq!(message(&[0x08, 2, 0x2a, 2, 0x08, 2]).0, "tuple_shardings[0]");
    assert!(matches!(decode_sharding(&[0xff]).unwrap_err().kind(), ProtoErrorKind::Wire(_)));
}

#[test]
fn other_texts() {
    for (text, expected) in [
        (r##"#sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y", ?}]>"##, "{mesh['x'=2,'y'=4], [{'x'}, {'y', ?}]}"),
        (
            r##"#sdy.sharding<mesh<["x"=2,"y"=8], device_ids=[15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0]>, [{"y":(1)2}p1, {}], replicated={"x"}, unreduced={"y":(2)4}>"##,
            "{mesh['x'=2,'y'=8], device_ids=(15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0), [{'y':(1)2}, {}], replicated={'x'}, \
             unreduced={'y':(2)4}}",
        ),
        (r#"sdy.sharding<mesh<[], device_ids=[3]>, [{}]>"#, "{single_device[device_id=3]}"),
        (
            "NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x', None, ('y',)))",
            "{mesh['x'=2,'y'=4], [{'x'}, {}, {'y'}]}",
        ),
        (
            "NamedSharding(mesh=Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto)), spec=PartitionSpec(('x', 'y'),), \
             memory_kind=device)",
            "{mesh['x'=2,'y'=4], [{'x', 'y'}]}",
        ),
        ("NamedSharding(mesh=AbstractMesh('x': 2, axis_types=(Explicit,)), spec=P('x'))", "{mesh['x'=2], [{'x'}]}"),
        ("\"{devices=[2,1]<=[2]}\"", "{devices=[2,1]<=[2]}"),
        ("mhlo.sharding = \"{replicated}\"", "{replicated}"),
    ] {
        assert_eq!(read(text).to_string(), expected, "{text}");
    }
    for (text, message, place) in [
        ("#sdy.sharding<@mesh, [{}]>", "expected a mesh that is defined, found `@mesh`", "mesh"),
        (
            "#sdy.mesh<[]>",
            "expected a sharding, such as `#sdy.sharding<mesh<[\"x\"=2]>, [{\"x\"}]>`, found `sdy.mesh`",
            "sdy.mesh",
        ),
        (r##"#sdy.sharding<mesh<["x"=2]>, [{"y"}]>"##, "expected an axis of the mesh, found 'y'", "\"y\""),
        (
            "PartitionSpec('x', None)",
            "expected a mesh beside it, as in `NamedSharding(mesh=Mesh('x': 2), spec=P('x'))`, found `PartitionSpec`",
            "PartitionSpec",
        ),
        ("\"{replicated}", "expected `\"`, found the end of the text", ""),
        (
            "NamedSharding(mesh=Mesh('x': 2), spec=P('x', 'x'))",
            "expected each part of an axis at most once, found 'x' again",
            "'x'",
        ),
    ] {
        let (found, at) = error(text);
        assert_eq!((found.as_str(), at), (message, place), "{text}");
    }
}

#[test]
fn subgroups_have_numbers() {
    for (number, name) in ["maximal", "manual", "unreduced", "replicated"].into_iter().enumerate() {
        let subgroup = Subgroup::from_number(number as u8).unwrap();
        assert_eq!((usize::from(subgroup.number()), subgroup.name()), (number, name));
    }
    assert_eq!(Subgroup::from_number(4), None);
}
