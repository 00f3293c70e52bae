"""Changes of shardings, in memory and in files."""

import json

import numpy as np
import pytest

import xla_shape
from xla_shape import Shape, ShapeError, Sharding, reshard, shard


def shards_of(array, sharding, shape):
    return {device: array[region] for device, region in Sharding(sharding).regions(shape).items()}


def test_shards_of_another_sharding():
    array = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    before, after = "{devices=[4,1]<=[4]}", "{devices=[2,4]<=[4,2]T(1,0)}"
    plan = reshard.plan(before, after, "f32[64,48]")
    assert plan.answer(devices=[5]).data["devices"][0]["device"] == 5
    rows = shards_of(array, before, "f32[64,48]")
    expected = shards_of(array, after, "f32[64,48]")
    for given in (rows, [rows[device] for device in range(4)]):
        made = plan.apply(given)
        assert made.keys() == expected.keys()
        assert all(np.array_equal(made[device], expected[device]) for device in made)
    assert np.array_equal(np.asarray(plan.receive(rows, 3)), expected[3])
    assert plan.apply(rows, [2]).keys() == {2}
    with pytest.raises(ShapeError, match=r"device 1: expected a shard of the sizes \[16, 48\], found \[8, 48\]"):
        plan.apply({**rows, 1: rows[1][:8]})
    with pytest.raises(ShapeError):
        plan.apply({0: rows[0]})
    with pytest.raises(ShapeError, match="expected the shape of the whole array"):
        reshard.plan(before, after)


@pytest.mark.parametrize("layout", ["", "{0,1}", "{1,0:T(8,128)}"])
def test_arrays_are_laid_out(layout):
    array = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    before, after = "{devices=[2,1]<=[2]}", "{devices=[1,2]<=[2]}"
    plan = reshard.plan(before, after, "f32[64,48]" + layout)
    expected = shards_of(array, after, "f32[64,48]")
    buffers = [xla_shape.relayout(part) for part in (array[:32], array[32:])]
    laid_out = [buffer.relayout(plan.shape.layout) for buffer in buffers]
    arrays = [array[:32], np.asfortranarray(array[32:])]
    for given in (arrays, buffers, laid_out, [buffer.data for buffer in laid_out]):
        made = plan.apply(given)
        assert all(np.array_equal(made[device], expected[device]) for device in expected)
        assert np.array_equal(np.asarray(plan.receive(given, 1)), expected[1])


def test_what_is_no_shard():
    plan = reshard.plan("{devices=[2]<=[2]}", "{replicated}", "f32[4]")
    for shard, message in [
        (np.zeros(2, np.int32), "device 1: expected elements of f32, found s32"),
        ([0.0, 0.0], "device 1: expected elements of f32, found f64"),
        ([[0.0], [0.0, 1.0]], "device 1: expected an array, found list"),
        (None, "device 1: expected an array, found NoneType"),
        ([0.0], r"device 1: expected a shard of the sizes \[2\], found \[1\]"),
    ]:
        with pytest.raises(ShapeError, match=message):
            plan.apply([np.zeros(2, np.float32), shard], [0])
    whole = reshard.plan("{devices=[2]<=[2]}", "{replicated}", "s32[4]").apply([np.zeros(2, np.int32), np.ones(2, np.int32)], [0])
    assert whole[0].tolist() == [0, 0, 1, 1]
    with pytest.raises(ShapeError, match="expected the shard of device 1, found none"):
        plan.apply([np.zeros(2, np.float32)], [0])
    with pytest.raises(ShapeError, match="expected a sharding, or an array that has one, found ndarray"):
        reshard.plan(np.zeros(4, np.float32), "{replicated}")


def test_pages_of_a_cache():
    pages = np.arange(8 * 2 * 8 * 16 * 4, dtype=np.int32).reshape(8, 2, 8, 16, 4)
    text = "(page part=4) kv head token d -> page kv head (part token) d"
    large = pages.reshape(2, 4, 2, 8, 16, 4).transpose(0, 2, 3, 1, 4, 5).reshape(2, 2, 8, 64, 4)
    eight, two = "{devices=[1,1,8,1,1]<=[8]}", "{devices=[1,1,2,1,1]<=[2]}"
    plan = reshard.plan(eight, two, "s32[8,2,8,16,4]", rearrange=text)
    made = plan.apply(shards_of(pages, eight, "s32[8,2,8,16,4]"))
    assert np.array_equal(made[0], large[:, :, :4]) and np.array_equal(made[1], large[:, :, 4:])
    back = reshard.plan(two, eight, "s32[2,2,8,64,4]", rearrange="page kv head (part=4 token) d -> (page part) kv head token d")
    assert all(np.array_equal(shard, pages[:, :, [device]]) for device, shard in back.apply(made).items())
    assert plan.answer().data["messages"] == 7
    with pytest.raises(ShapeError, match="expected each axis on both sides, found `b` on one"):
        reshard.plan(eight, two, "s32[8,2,8,16,4]", rearrange="a b -> a")


def test_the_instruction_of_a_warned_change_is_named(monkeypatch):
    monkeypatch.setenv("PJRT_PLUGIN", "missing.so")
    log = (
        "[SPMD] Involuntary full rematerialization. The compiler cannot go from sharding {devices=[4,1]<=[4]} to {devices=[1,4]<=[4]} "
        "efficiently for HLO operation %p = f32[24,8]{1,0} parameter(0)."
    )
    program = """HloModule m, num_partitions=4
ENTRY e {
  p = f32[96,8] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT c = f32[96,8] copy(p), sharding={devices=[1,4]<=[4]}, metadata={source_file="/me/train.py" source_line=7}
}"""
    (cause,) = xla_shape.scan(log, program=program).data["causes"]
    assert cause["instruction"] == {"name": "%c", "source": "train.py:7"}
    assert "instruction" not in xla_shape.scan(log, program="module {}").data["causes"][0]


def test_a_bad_plan_is_refused_at_once():
    rows = "{devices=[4,1]<=[4]}"
    for before, after, shape in (
        (rows, "{devices=[4]<=[4]}", "f32[8,8]"),
        (rows, "{manual}", "f32[8,8]"),
        ("{devices=[4]<=[4]}", rows, "f32[8,8]"),
        (rows, rows, "f32[?,8]"),
        (rows, rows, "(f32[8,8])"),
    ):
        with pytest.raises(ShapeError):
            reshard.plan(before, after, shape)


def test_specs_may_leave_out_dimensions():
    rows = "NamedSharding(mesh=Mesh('x': 4), spec=P('x'))"
    plan = reshard.plan(rows, "{devices=[1,4]<=[4]}", "f32[64,48]")
    assert str(plan.before) == "{mesh['x'=4], [{'x'}, {}]}"
    array = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    made = plan.apply(np.split(array, 4))
    assert all(np.array_equal(made[device], part) for device, part in enumerate(np.split(array, 4, axis=1)))
    for hosts in (2, "2", [[0, 1], [2, 3]]):
        assert plan.answer(hosts=hosts).data["messages"] == 12
    with pytest.raises(ShapeError, match="found device 1 again"):
        plan.answer(hosts=[[0, 1], [1]])
    with pytest.raises(ShapeError, match="expected at least 1 device of a host"):
        plan.answer(hosts=0)
    with pytest.raises(ShapeError, match="expected one of the 8 devices to compile for, 0 to 7, found one of 4"):
        plan.answer(for_="v5e:2x4")


def test_directories(tmp_path):
    array = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    xla_shape.write(tmp_path / "w.safetensors", xla_shape.relayout(array), "w")
    index = {"weight_map": {"w": "w.safetensors"}}
    (tmp_path / "m.safetensors.index.json").write_text(json.dumps(index))
    four = {"w": {"sharding": "{devices=[4,1]<=[4]}", "layout": "{1,0:T(8,128)}"}}
    eight = {"w": "{devices=[2,4]<=[8]}"}
    for input, before, after in (("w.safetensors", "files", "more"), ("m.safetensors.index.json", "four", "eight")):
        shard.run(tmp_path / input, four, tmp_path / before, range(4))
        results = reshard.run(tmp_path / before, eight, tmp_path / after, range(8))
        assert [result.device for result in results] == list(range(8))
        assert reshard.jobs(tmp_path / before, eight, tmp_path / after, [3])[0].run().resumed
    part = xla_shape.read(tmp_path / "eight" / "w.device-5.safetensors", "w")
    assert np.array_equal(np.asarray(part), shards_of(array, "{devices=[2,4]<=[8]}", "f32[64,48]")[5])
    assert (tmp_path / "eight" / "m.safetensors.device-5.index.json").exists()
    (tmp_path / "none").mkdir()
    with pytest.raises(ShapeError, match="expected .safetensors files, found none"):
        reshard.run(tmp_path / "none", eight, tmp_path / "out", [0])


def test_shardings_and_formats_of_jax():
    jax = pytest.importorskip("jax")
    if len(jax.devices()) < 8:
        pytest.skip("eight devices")
    from jax.sharding import NamedSharding, PartitionSpec

    from xla_shape.jax import to_format

    mesh = jax.make_mesh((4, 2), ("x", "y"))
    rows, columns = NamedSharding(mesh, PartitionSpec("x")), NamedSharding(mesh, PartitionSpec(None, ("x", "y")))
    array = np.arange(64 * 48, dtype=np.float32).reshape(64, 48)
    placed = jax.device_put(array, rows)
    for plan in (
        reshard.plan(placed, columns),
        reshard.plan(rows, columns, "f32[64,48]"),
        reshard.plan(jax.ShapeDtypeStruct((64, 48), np.float32, sharding=rows), to_format("{1,0}", columns)),
    ):
        made = plan.apply([np.asarray(part.data) for part in placed.addressable_shards])
        for part in jax.device_put(placed, columns).addressable_shards:
            assert np.array_equal(made[part.device.id], np.asarray(part.data))
    assert plan.shape == Shape("f32[64,48]") and plan.layout == "{1,0}"


def test_shapes_are_rearranged():
    assert str(Shape("bf16[6,5]{0,1}").rearrange("(a b=3) c -> c a b")) == "bf16[5,2,3]{2,1,0}"
    with pytest.raises(ShapeError, match="expected dimension 0 to have a size divisible by 4|a size divisible by 4"):
        Shape("f32[6,5]").rearrange("(a b=4) c -> c a b")
    with pytest.raises(ShapeError):
        Shape("(f32[2], f32[3])").rearrange("a -> a")
