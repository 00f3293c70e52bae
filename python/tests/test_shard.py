"""Checkpoints divided among devices, a job for each file and device."""

import json
import os
import pickle
import socket
import subprocess
import sys
import time

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

import xla_shape
from xla_shape import Layout, Shape, ShapeError, Sharding, shard

PLAN = {
    "*.w": {"sharding": "{devices=[2,2]<=[4]}", "generation": "v5e"},
    "*.t": {"sharding": "{devices=[1,4]<=[4]}", "layout": "{0,1:T(8,128)}"},
    "*": "{replicated}",
}


@pytest.fixture
def checkpoint(tmp_path):
    """A model of three files and their index."""
    random = np.random.default_rng(0)
    weights = {}
    for layer in range(3):
        tensors = {
            f"{layer}.w": random.normal(size=(64, 256)).astype(np.float32),
            f"{layer}.t": random.normal(size=(10, 400)).astype(np.float32),
            f"{layer}.b": random.normal(size=7).astype(np.float32),
        }
        save_file(tensors, tmp_path / f"model-{layer}.safetensors")
        weights |= {name: (f"model-{layer}.safetensors", tensor) for name, tensor in tensors.items()}
    index = {"weight_map": {name: file for name, (file, _) in weights.items()}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    return tmp_path / "model.safetensors.index.json", {name: tensor for name, (_, tensor) in weights.items()}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_shard_is_the_region_in_its_layout(checkpoint, tmp_path):
    input, tensors = checkpoint
    results = shard.run(input, PLAN, tmp_path / "out", range(4))
    assert len(results) == 12 and not any(result.resumed for result in results)
    seen = set()
    for result in results:
        assert os.path.getsize(result.output) == result.bytes
        for entry in result.shards:
            tensor, shape = tensors[entry["name"]], Shape(entry["shape"])
            rule = PLAN["*" + entry["name"][1:]] if entry["name"][1:] in (".w", ".t") else {"sharding": PLAN["*"]}
            whole = Shape(entry["whole"])
            region = Sharding(rule["sharding"]).region(whole, result.device)
            found = xla_shape.read(result.output, entry["name"])
            expected = xla_shape.relayout(tensor[region], shape.layout)
            assert found.tobytes() == expected.tobytes()
            seen.add((entry["name"], result.device))
    assert len(seen) == 9 * 4
    for device in range(4):
        index = json.loads((tmp_path / "out" / f"model.safetensors.device-{device}.index.json").read_text())
        assert set(index["weight_map"]) == set(tensors)


def test_as_the_program(checkpoint, tmp_path):
    input, _ = checkpoint
    shard.run(input, PLAN, tmp_path / "ours", range(4))
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    for device in range(4):
        arguments = ["shard", input, "--plan", tmp_path / "plan.json", "--device", device, "-o", tmp_path / "theirs"]
        assert xla_shape._native.main(["xla-shape", *map(str, arguments)]) == 0
    assert contents(tmp_path / "ours") == contents(tmp_path / "theirs")


def test_jobs_are_pure(checkpoint, tmp_path):
    """Jobs in any order, twice, pickled, or after a crash write the same files."""
    input, _ = checkpoint
    shard.run(input, PLAN, tmp_path / "a", range(4))
    jobs = shard.jobs(input, PLAN, tmp_path / "b", range(4))
    assert len(jobs) == 12
    for job in reversed(jobs):
        first = pickle.loads(pickle.dumps(job)).run()
        again = job.run()
        assert not first.resumed and again.resumed
        assert (first.output, first.bytes, first.shards) == (again.output, again.bytes, again.shards)
    # Files that a crash or another process may leave.
    victim = tmp_path / "b" / os.path.basename(jobs[0].run().output)
    victim.write_bytes(victim.read_bytes()[:-1])
    assert not jobs[0].run().resumed
    victim.write_bytes(b"\0" * len(victim.read_bytes()))
    assert not jobs[0].run().resumed
    shard.index(input, PLAN, tmp_path / "b", range(4))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_single_files_and_plans_in_files(checkpoint, tmp_path):
    input, tensors = checkpoint
    (tmp_path / "plan.json").write_text(json.dumps({"*": "{devices=[2,1]<=[2]}", "0.b": "{replicated}"}))
    results = shard.run([input.parent / "model-0.safetensors"], tmp_path / "plan.json", tmp_path / "out", [1])
    (result,) = results
    assert np.array_equal(xla_shape.read(result.output, "0.w").numpy(), tensors["0.w"][32:])


def test_plans_of_values(checkpoint, tmp_path):
    """Plans may contain shardings and layouts as values or texts."""
    input, _ = checkpoint
    layout = "{1,0:T(8,128)}"
    values = {"*.b": Sharding("{replicated}"), "*": {"sharding": Sharding("{devices=[2,2]<=[4]}"), "layout": Layout(layout)}}
    texts = {"*.b": "{replicated}", "*": {"sharding": "{devices=[2,2]<=[4]}", "layout": layout}}
    shard.run(input, values, tmp_path / "values", range(4))
    shard.run(input, texts, tmp_path / "texts", range(4))
    assert contents(tmp_path / "values") == contents(tmp_path / "texts")
    with pytest.raises(TypeError, match="expected a Sharding, a Layout or a text in a plan, found 1j"):
        shard.jobs(input, {"*": {"sharding": 1j}}, tmp_path / "out", [0])


def test_dask(checkpoint, tmp_path):
    """Jobs run on a Dask cluster unchanged."""
    distributed = pytest.importorskip("distributed")
    input, _ = checkpoint
    shard.run(input, PLAN, tmp_path / "alone", range(4))
    jobs = shard.jobs(input, PLAN, tmp_path / "cluster", range(4))
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        results = client.gather(client.map(shard.Job.run, jobs))
    assert [result.output for result in results] == [job.run().output for job in jobs]
    shard.index(input, PLAN, tmp_path / "cluster", range(4))
    assert contents(tmp_path / "cluster") == contents(tmp_path / "alone")


def test_errors(checkpoint, tmp_path):
    input, _ = checkpoint
    for plan, message in [
        ({"*.w": "{replicated}"}, "no rule matches tensor"),
        ({"*": "{replicated}", "z": "{replicated}"}, "no tensor `z`"),
        ({"*": "{devices=[2]<=[3]}"}, "sharding"),
        ({"*": 3}, "expected a sharding"),
    ]:
        with pytest.raises(ShapeError, match=message):
            shard.jobs(input, plan, tmp_path / "out", [0])
    (job, *_) = shard.jobs(input, {"*.b": "{devices=[2]<=[2]}", "*": "{replicated}"}, tmp_path / "out", [0])
    with pytest.raises(ShapeError, match="tensor `0.b`"):
        job.run()
    with pytest.raises(FileNotFoundError):
        shard.jobs(tmp_path / "none.safetensors", PLAN, tmp_path / "out", [0])
    assert not (tmp_path / "out").exists()


def test_types_that_numpy_lacks(tmp_path):
    tensor = np.arange(64, dtype=np.float32).reshape(8, 8).astype(ml_dtypes.bfloat16)
    xla_shape.write(tmp_path / "a.safetensors", xla_shape.relayout(tensor), "w")
    (result,) = shard.run(tmp_path / "a.safetensors", {"*": "{devices=[1,2]<=[2]}"}, tmp_path / "out", [1])
    assert np.array_equal(xla_shape.read(result.output, "w").numpy(), tensor[:, 4:])


def test_arrays_come_back(checkpoint, tmp_path):
    jax = pytest.importorskip("jax")
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    input, tensors = checkpoint
    # The ids of the devices differ from their positions in the mesh.
    mesh = Mesh(np.array(jax.devices()[:8][::-1]).reshape(4, 2), ("x", "y"))
    specs = {"w": P("x", "y"), "t": P(None, ("y", "x")), "b": P()}
    plan = {
        "*.w": {"sharding": NamedSharding(mesh, specs["w"]), "generation": "v5e"},
        "*.t": {"sharding": NamedSharding(mesh, specs["t"]), "layout": "{0,1:T(8,128)}"},
        "*": "{replicated}",
    }
    shard.run(input, plan, tmp_path / "out", range(8))
    given = {name: specs[name[2:]] for name in tensors}
    for shardings in (None, given, {name: NamedSharding(mesh, spec) for name, spec in given.items()}):
        arrays = shard.load(tmp_path / "out", mesh, shardings)
        assert arrays.keys() == tensors.keys()
        for name, array in arrays.items():
            assert np.array_equal(array, tensors[name])
            assert array.sharding.is_equivalent_to(NamedSharding(mesh, given[name]), array.ndim)
    with pytest.raises(ShapeError, match=r"0.w: expected the part of f32\[64,256\]"):
        shard.load(tmp_path / "out", mesh, {"0.w": P("y", "x")})
    (tmp_path / "out" / "model-1.device-3.safetensors").unlink()
    with pytest.raises(ShapeError, match="expected a part for each of 8 devices, found 7"):
        shard.load(tmp_path / "out", mesh)
    with pytest.raises(ShapeError, match="expected files of device 0"):
        shard.load(input.parent, mesh)
    save_file({"a": np.zeros(2, np.float32)}, tmp_path / "other.device-0.safetensors")
    with pytest.raises(ShapeError, match="expected a file that `xla-shape shard` has written"):
        shard.load(tmp_path, mesh)
    with pytest.raises(FileNotFoundError):
        shard.load(tmp_path / "nothing", mesh)


# A process with half of the devices. Its folder has only the files of these devices.
PROCESS = """
import sys
import numpy as np
import jax
from jax.sharding import NamedSharding, PartitionSpec as P
from xla_shape import shard

number, address, folder, expected = int(sys.argv[1]), *sys.argv[2:]
jax.config.update("jax_num_cpu_devices", 4)
jax.distributed.initialize(address, num_processes=2, process_id=number)
assert jax.device_count() == 8 and jax.local_device_count() == 4
mesh = jax.make_mesh((4, 2), ("x", "y"), devices=jax.devices())
arrays = shard.load(folder, mesh, {"0.w": P("x", "y"), "1.w": P("x", "y")})
for name, whole in np.load(expected).items():
    found = arrays.pop(name)
    assert found.shape == whole.shape and len(found.addressable_shards) == 4, name
    for part in found.addressable_shards:
        assert np.array_equal(part.data, whole[part.index]), (name, part.index)
    if name == "0.w":
        assert found.sharding == NamedSharding(mesh, P("x", "y"))
        # All devices have their parts, so a computation over both processes gives the sum of the whole.
        total = jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(mesh, P()))(found)
        assert np.allclose(np.asarray(total.addressable_data(0)), whole.sum())
assert not arrays
"""


def test_each_process_reads_its_own_files(checkpoint, tmp_path):
    pytest.importorskip("jax")
    input, tensors = checkpoint
    plan = {"*.w": "{devices=[4,2]<=[8]}", "*": "{replicated}"}
    for number, devices in enumerate((range(4), range(4, 8))):
        shard.run(input, plan, tmp_path / str(number), devices)
    np.savez(tmp_path / "expected.npz", **tensors)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"} | {"JAX_PLATFORMS": "cpu"}
    logs = [(tmp_path / f"{number}.log").open("w+") for number in range(2)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(number), address, str(tmp_path / str(number)), str(tmp_path / "expected.npz")],
            env=environment,
            stderr=logs[number],
        )
        for number in range(2)
    ]
    # If one process fails, the other waits for it forever, so both are killed.
    stop = time.monotonic() + 240
    while time.monotonic() < stop and {process.poll() for process in processes} in ({None}, {None, 0}):
        time.sleep(0.1)
    for process in processes:
        process.kill()
    codes = [process.wait() for process in processes]
    for log in logs:
        log.seek(0)
    assert codes == [0, 0], [log.read()[-3000:] for log in logs]


def test_shards_are_read_as_arrays(checkpoint, tmp_path):
    input, tensors = checkpoint
    results = shard.run(input, PLAN, tmp_path / "out", [0])
    for result in results:
        for entry in result.shards:
            found = xla_shape.read(result.output, entry["name"])
            assert found.shape == Shape(entry["shape"])
            region = tuple(slice(start, start + size) for start, size in zip(entry["start"], found.shape.dimensions))
            assert np.array_equal(found.numpy(), tensors[entry["name"]][region])
    done = xla_shape.relayout_file(results[0].output, tmp_path / "a.npy", tensor="0.t")
    assert np.array_equal(np.load(tmp_path / "a.npy"), tensors["0.t"][:, :100]) and done["bytes"] == 4000


@pytest.mark.parametrize("notes", ["no JSON", "{}", '{"tensors":{"a":{"shape":"f32[99]"}}}', '{"tensors":{"a":{"shape":3}}}', '{"tensors":{"a":{"shape":"token[]"}}}'])
def test_wrong_notes_are_left_alone(tmp_path, notes):
    save_file({"a": np.arange(8, dtype=np.uint8)}, tmp_path / "a.safetensors", {"xla_shape": notes})
    assert xla_shape.read(tmp_path / "a.safetensors").shape == Shape("u8[8]")


def test_the_files_of_one_plan_become_those_of_another(checkpoint, tmp_path):
    input, _ = checkpoint
    other = {
        "*.w": {"sharding": "{devices=[8,1]<=[2,4]T(1,0)}", "layout": "{1,0:T(8,128)}"},
        "*.t": "{devices=[2,4]<=[8]}",
        "*": "{replicated}",
    }
    shard.run(input, PLAN, tmp_path / "four", range(4))
    shard.run(input, other, tmp_path / "eight", range(8))
    indices = sorted((tmp_path / "four").glob("*.index.json"))
    [job] = [job for job in shard.jobs(indices, other, tmp_path / "again", [5]) if job.name == "model-1.safetensors"]
    assert [os.path.basename(path) for path in job.paths] == [f"model-1.device-{n}.safetensors" for n in range(4)]
    assert not pickle.loads(pickle.dumps(job)).run().resumed
    assert sum(result.resumed for result in shard.run(indices, other, tmp_path / "again", range(8))) == 1
    assert contents(tmp_path / "again") == contents(tmp_path / "eight")
    with pytest.raises(ShapeError, match="expected the files of all devices of `model-0.safetensors`"):
        shard.jobs(indices[1:], other, tmp_path / "never", [0])
