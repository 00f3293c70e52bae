"""`xla_shape.jax.tune`: how programs and places are named, and where compilers run.

Most tests need no compiler: they read what the search gets. Those at the end compile, and need libtpu.
"""

import json
import multiprocessing
import re
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from importlib.util import find_spec

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import xla_shape  # noqa: E402
from xla_shape import Layout, ShapeError, _tune  # noqa: E402
from xla_shape.jax import Tuned, tune  # noqa: E402

KV = jax.ShapeDtypeStruct((2, 256, 8, 128), jnp.bfloat16)
X, W = jax.ShapeDtypeStruct((2, 256, 128), jnp.bfloat16), jax.ShapeDtypeStruct((128, 8, 128), jnp.bfloat16)
Q = jax.ShapeDtypeStruct((2, 8, 128), jnp.bfloat16)
ARGS = [(X, W), ({"k": KV}, Q, X)]
SHARE = {"kv": ["prefill:out1", "decode:arg0['k']"]}


def prefill(x, w):
    return jnp.tanh(x), jnp.einsum("bsm,mhd->bshd", x, w)


@jax.jit
def decode(cache, q, unused):
    return {"scores": jnp.einsum("bhd,bshd->bhs", q, cache["k"])}


def asked(monkeypatch, *arguments, **options):
    """The names of the programs, and the settings of the search."""
    found = []

    class Seen(Exception):
        pass

    def native(programs, settings, run):
        found.extend([[name for name, _ in programs], settings])
        raise Seen

    monkeypatch.setattr(_tune, "_tune", native)
    with pytest.raises(Seen):
        tune(*arguments, **options)
    return found


def shares(monkeypatch, *arguments, **options):
    return asked(monkeypatch, *arguments, **options)[1]["share"]


def test_arguments(monkeypatch, tmp_path):
    names, settings = asked(monkeypatch, [prefill, decode], ARGS, share=SHARE, for_="v6e:2x2", weights={"decode": 100}, all=True,
                            compiles=7, at_most_bytes=1 << 30, cache=tmp_path, options={"a": True, "b": 3}, tilings=True)  # fmt: skip
    assert names == ["prefill", "decode"]
    assert settings == {
        "device": "v6e:2x2", "share": ["kv=prefill:out1,decode:arg0"], "weights": [("decode", 100)], "memory": [],
        "options": [("a", "true"), ("b", "3")], "at_most_bytes": 1 << 30, "compiles": 7, "all": True, "tilings": True, "cache": tmp_path,
        "plugin": None,
    }  # fmt: skip
    _, settings = asked(monkeypatch, [prefill], ARGS[:1], share={"w": "arg1"}, cache=False, memory={"w": ["device", "pinned_host"]})
    assert (settings["cache"], settings["memory"]) == (False, [("w", "device,pinned_host")])


def test_places_are_those_of_the_functions(monkeypatch):
    assert shares(monkeypatch, [prefill, decode], ARGS, share=SHARE) == ["kv=prefill:out1,decode:arg0"]

    def step(unused, params, *, cache):
        return cache["k"] + params[0], (params[1] * 2, params[0])

    lowered = jax.jit(step).trace(Q, [KV, KV], cache={"k": KV}).lower(lowering_platforms=("tpu",))
    # The compiled program lacks the first argument, so its arguments are numbered from the second one.
    for place, expected in [
        ("arg1[0]", "arg0"),
        ("arg1[1]", "arg1"),
        ("cache['k']", "arg2"),
        ("out0", "out0"),
        ("out1[1]", "out2"),
        ("step:arg1", "arg0,step:arg1"),
        ("arg1[0], out1", "arg0,step:out1,step:out2"),
    ]:
        assert shares(monkeypatch, {"step": lowered}, share={"x": place}) == [f"x=step:{expected}"], place
    # A result that is not a tuple is `out0`.
    assert shares(monkeypatch, [decode], ARGS[1:], share={"s": "out0['scores']"}) == ["s=decode:out0"]
    # One function, with its arguments.
    assert shares(monkeypatch, decode, ARGS[1], share={"s": "out0['scores']"}) == ["s=decode:out0"]
    # The text of a program has no names of arguments, only numbers.
    assert shares(monkeypatch, {"a": lowered.as_text()}, share={"x": "arg1"}) == ["x=a:arg1"]


def test_constants_of_a_program_move_no_argument(monkeypatch):
    table = jnp.arange(KV.shape[-1], dtype=jnp.bfloat16)
    lowered = jax.jit(lambda x: x + table).trace(KV).lower(lowering_platforms=("tpu",))
    # Find the parameter that is the argument by its type, because its number depends on the version of JAX.
    parameters = re.search(r"func public @main\((.*?)\) ->", lowered.as_text(), re.DOTALL)[1]
    types = re.findall(r"%arg\d+: tensor<([^>]*)>", parameters)
    number = types.index("x".join(map(str, KV.shape)) + "xbf16")
    assert shares(monkeypatch, {"f": lowered}, share={"x": "arg0"}) == [f"x=f:arg{number}"]


@pytest.mark.parametrize(
    ("programs", "args", "share", "error", "message"),
    [
        (decode, ARGS[1:], SHARE, TypeError, "missing 2 required positional arguments"),
        ([], [], SHARE, ShapeError, "found none"),
        ([prefill, 7], ARGS, SHARE, TypeError, "found 7"),
        ([prefill, prefill], [ARGS[0]] * 2, SHARE, ShapeError, "several programs have the name 'prefill'"),
        ([prefill], ARGS, SHARE, ShapeError, "arguments of 1 programs, found 2"),
        ({"a:b": prefill}, {"a:b": ARGS[0]}, SHARE, ShapeError, "cannot have the name 'a:b'"),
        ({"a": prefill}, {"b": ARGS[0]}, SHARE, ShapeError, "no such program"),
        (decode, {"decode": ARGS[1]}, SHARE, ShapeError, "the arguments of one program, found a mapping"),
        ([prefill, decode], ARGS, {"kv": "out1"}, ShapeError, "expected a place such as prefill:arg0, found 'out1'"),
        ([prefill, decode], ARGS, {"kv": "other:out1"}, ShapeError, "the programs are prefill, decode"),
        ([prefill, decode], ARGS, {"kv": "decode:arg9"}, ShapeError, r"has no 'arg9'; it has arg0\['k'\], arg1, arg2, out0"),
        ([prefill, decode], ARGS, {"kv": "decode:arg2"}, ShapeError, "does not use arg2.*keep_unused=True"),
    ],
)
def test_bad_input(programs, args, share, error, message):
    with pytest.raises(error, match=message):
        tune(programs, args, share=share)


class Answers(Executor):
    """Workers without a compiler, whose answers prefer rows."""

    def __init__(self, change=lambda answer: answer):
        self.change = change

    def submit(self, function, /, program, request):
        future = Future()
        asked = json.loads(request)
        future.set_result(self.change(self.answer(asked)))
        return future

    @staticmethod
    def answer(asked):
        if "Origin" in asked:
            return json.dumps({"Ok": {"compiler": {"path": "/x", "bytes": 1, "written": 2}, "flags": [None, None]}}).encode()
        return json.dumps({"Err": {"Refused": "no"}}).encode()


def test_answers_of_workers(tmp_path):
    def run(executor, **options):
        return tune([prefill], ARGS[:1], share={"w": "arg1"}, executor=executor, cache=tmp_path, **options)

    with pytest.raises(ShapeError, match="^prefill does not compile as it is: no$"):
        run(Answers())
    with pytest.raises(ShapeError, match="the answer of a worker cannot be read"):
        run(Answers(lambda answer: b"{"))
    with pytest.raises(TypeError):
        run(Answers(lambda answer: None))
    for arguments, message in [({"for_": "v99"}, "v99"), ({"compiles": -1}, "-1"), ({"weights": {"prefill": 0}}, "from 1 on"),
                               ({"memory": {"w": "hbm"}}, "expected device or pinned_host"), ({"plugin": tmp_path / "none"}, "does not compile")]:
        with pytest.raises(ShapeError, match=message):
            run(Answers(), **arguments)


COMPILED = """HloModule p, is_scheduled=true
ENTRY main {
  b = f32[100,1]{1,0:T(8,128)} parameter(0)
  ROOT c = f32[100,1]{0,1:T(1,128)} copy(b), backend_config={"window_config":{"estimated_cycles":"300"}}
}
"""


def test_compiled_modules_give_advice():
    # Names that differ in case alone are two programs.
    found = tune({"p": COMPILED, "P": COMPILED}, share={"w": "p:arg0,P:arg0"}, weights={"P": 10})
    assert found.advice is not None and found.advice[0]["layouts"][0]["cycles"] == 3300
    assert (found.best, found.tried, found.memory) == ({}, [], {}) and "No compiler confirmed it" in str(found)
    jitted = jax.jit(prefill).lower(*ARGS[0]).compile()
    assert tune({"f": jitted}, share={"w": "arg1"}).advice[0]["array"] == "w"
    for more, option in [({"cache": False}, "cache"), ({"memory": {"w": "device"}}, "memory"), ({"options": {"a": 1}}, "options"), ({"executor": Answers()}, "executor")]:
        with pytest.raises(ShapeError, match=f"^{option} needs a compiler"):
            tune({"p": COMPILED}, share={"w": "arg0"}, **more)


def test_what_a_worker_raises_is_raised(tmp_path):
    class Broken(Executor):
        def submit(self, function, /, *arguments):
            future = Future()
            future.set_exception(self.error)
            return future

    for error in (KeyboardInterrupt(), OSError("the cluster is gone")):
        executor = Broken()
        executor.error = error
        with pytest.raises(type(error)) as caught:
            tune([prefill], ARGS[:1], share={"w": "arg1"}, executor=executor, cache=tmp_path)
        assert caught.value is error


def test_a_worker_needs_no_jax_and_says_what_is_wrong():
    assert b"another version" in _tune.answer(b"module {}", b"{}")
    code = "import sys; sys.modules['jax'] = None; from xla_shape._tune import answer; print(answer(b'', b''))"
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "NoCompiler" in done.stdout, done.stderr


# From here on, libtpu compiles.

needs_compiler = pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu, which has the compiler, is not installed")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The answers of earlier tests are used again, unless a test compiles elsewhere."""
    return tmp_path_factory.mktemp("cache")


def threads():
    return ThreadPoolExecutor(2)


def processes():
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


@needs_compiler
@pytest.mark.parametrize("executor", [None, threads, processes])
def test_tune(executor, cache, tmp_path):
    own = executor and executor()
    # With an executor that runs processes, the cache is empty, so that the processes compile.
    found = tune([prefill, decode], ARGS, share=SHARE, weights={"decode": 100}, compiles=5 if own else None, executor=own,
                 cache=tmp_path if executor is processes else cache)  # fmt: skip
    if own:
        own.shutdown()
    assert isinstance(found, Tuned) and found.today == {"kv": Layout("{3,2,1,0:T(8,128)(2,1)}")}
    at = found.answer["tried"][found.answer["best_entry"]]
    assert at["taken"] and at["cycles"] <= found.answer["today"]["cycles"] and at["layouts"] == {"kv": str(found.best["kv"])}
    assert found.keep == (found.best == found.today) and "kv should" in str(found) and "<iframe" in found._repr_html_()
    assert len(found.answer["compilers"]) == 1
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    assert xla_shape.jax.from_layout(found.format("kv", sharding)) == found.best["kv"]
    with pytest.raises(ShapeError, match="no shared array is called 'x'"):
        found.format("x", sharding)


@needs_compiler
def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        found = tune([decode], ARGS[1:], share={"k": "arg0['k']"}, compiles=3, executor=client.get_executor(), cache=tmp_path)
    assert found.best and found.answer["kept"] == 0


@needs_compiler
def test_ray(tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from xla_shape.ray import Executor

    ray.init(num_cpus=2, include_dashboard=False, ignore_reinit_error=True)
    try:
        with Executor(num_cpus=1) as executor:
            found = tune([decode], ARGS[1:], share={"k": "arg0['k']"}, compiles=3, executor=executor, cache=tmp_path)
    finally:
        ray.shutdown()
    assert found.best and found.answer["kept"] == 0
