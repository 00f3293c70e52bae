"""`xla_shape.jax.fit`: which axis goes where, and how errors are reported.

Most tests need no compiler: they read what the search gets. Those at the end compile, and need libtpu.
"""

import json
import subprocess
import sys
from concurrent.futures import Executor
from importlib.util import find_spec

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

from xla_shape import ShapeError, _fit  # noqa: E402
from xla_shape.jax import fit  # noqa: E402


def step(w, batch, *, remat=False):
    layer = jax.checkpoint(lambda x, w: jnp.tanh(x @ w)) if remat else lambda x, w: jnp.tanh(x @ w)
    return jax.grad(lambda w: jax.lax.scan(lambda x, w: (layer(x, w), None), batch, w)[0].sum())(w)


def arguments(batch, width=256):
    return jax.ShapeDtypeStruct((4, width, width), jnp.bfloat16), jax.ShapeDtypeStruct((batch, width), jnp.bfloat16)


def asked(monkeypatch, *given, **options):
    """The axes, and the function that makes programs."""
    found = []

    class Seen(Exception):
        pass

    def native(axes, make, run, cache, plugin):
        found.extend([axes, make])
        raise Seen

    monkeypatch.setattr(_fit, "_fit", native)
    with pytest.raises(Seen):
        fit(*given, **options)
    return found


def test_axes_go_to_who_takes_them(monkeypatch):
    over = {"batch": [8, 16, 32], "remat": [False, True], "options": [{}, {"a": True}], "for": ["v5e", "h100:8"]}
    axes, make = asked(monkeypatch, step, arguments, over=over)
    assert axes == [
        ("batch", ["8", "16", "32"], True),
        ("remat", ["false", "true"], False),
        ("options", ["none", "a=true"], False),
        ("for", ["v5e", "h100:8"], False),
    ]
    plain, device, options = make((1, 0, 0, 0))
    assert (device, options) == ("v5e", [])
    assert b"tensor<16x256xbf16>" in plain and b"optimization_barrier" not in plain
    remat, device, options = make((1, 1, 1, 1))
    assert (device, options) == ("h100:8", [("a", "true")])
    assert b"optimization_barrier" in remat
    jitted = jax.jit(step, static_argnames="remat")
    _, make = asked(monkeypatch, jitted, arguments(8), over={"remat": [True]}, for_="v6e")
    assert b"optimization_barrier" in make((0, 0))[0] and make((0, 0))[1] == "v6e"


def test_what_ascends_is_bisected(monkeypatch):
    def bisected(batch, **options):
        axes, _ = asked(monkeypatch, step, arguments, over={"batch": batch, "width": [256, 512]}, **options)
        return [axis[2] for axis in axes]

    assert bisected(range(8, 64, 8)) == [True, True, False]
    assert bisected([16, 8]) == [False, True, False]
    assert bisected([8]) == [False, True, False]
    assert bisected([8, 16], ascending=()) == [False, False, False]
    assert bisected([16, 8], ascending=["batch"]) == [True, False, False]


def test_errors_of_axes():
    with pytest.raises(ShapeError, match="nobody takes the axis 'size'"):
        fit(step, arguments, over={"batch": [8], "size": [1]})
    with pytest.raises(ShapeError, match="no axis is called 'bach'; expected one of: batch, for"):
        fit(step, arguments, over={"batch": [8]}, ascending=["bach"])
    with pytest.raises(ShapeError, match="given twice"):
        fit(step, arguments, over={"batch": [8], "for": ["v5e"]}, for_="v6e")
    with pytest.raises(ShapeError, match='the axis "batch" has the value 8 twice'):
        fit(step, arguments, over={"batch": [8, 8]}, cache=False)
    with pytest.raises(ShapeError, match="v9"):
        fit(step, arguments, over={"batch": [8]}, for_="v9", cache=False)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"over": {"batch": 8}}, "the axis 'batch': expected a list of values, such as \\[8\\], found 8"),
        ({"over": {"batch": [8], "options": {"a": 1}}}, "the axis 'options': expected a list of values, such as \\[{'a': 1}\\]"),
        ({"over": {"batch": [8], "options": ["a"]}}, "the axis 'options': expected dicts of options, such as .*, found 'a'"),
        ({"over": {"batch": [8]}, "for_": [5]}, "the axis 'for': expected the names of devices, such as 'v5e:2x2', found 5"),
        ({"over": {"batch": [8]}, "for_": 5}, "the axis 'for': expected a list of values, such as \\[5\\], found 5"),
        ({"over": {"batch": [8]}, "ascending": "batch"}, "ascending: expected a list of axes, such as \\['batch'\\], found 'batch'"),
        ({"over": {"batch": range(10**15)}, "cache": False}, "more than 10,?000 combinations"),
    ],
)
def test_errors_of_values(options, expected):
    with pytest.raises(ShapeError, match=expected):
        fit(step, arguments, **options)


def test_a_str_is_one_value(monkeypatch):
    axes, _ = asked(monkeypatch, step, arguments, over={"batch": [8], "for": "v6e"})
    assert axes[1] == ("for", ["v6e"], False)


def test_a_mesh_is_made_of_its_axes(monkeypatch):
    def sharded(batch, mesh):
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        return (jax.ShapeDtypeStruct((batch, 128), jnp.float32, sharding=sharding),)

    axes, make = asked(monkeypatch, jnp.tanh, sharded, over={"batch": [8], "mesh": [{"x": 4}, {"x": 2, "y": 2}]}, for_="v5e:2x2")
    assert axes[1] == ("mesh", ["x=4", "x=2,y=2"], False)
    assert b"mhlo.num_partitions = 4" in make((0, 0, 0))[0]


def test_what_is_raised_while_programs_are_made(tmp_path):
    def refuses(batch):
        raise ValueError(f"no {batch}")

    answer = fit(step, refuses, over={"batch": [8, 16]}, cache=tmp_path)
    assert not answer and [row["error"] for row in answer.data["rows"]] == ["ValueError: no 8", "ValueError: no 16"]

    made = []

    def interrupted(batch):
        made.append(batch)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(step, interrupted, over={"batch": [8, 16]}, ascending=(), cache=tmp_path)
    assert made == [8], "nothing is traced after an interruption"
    with pytest.raises(ShapeError, match="v9"):
        fit(step, interrupted, over={"batch": [8]}, for_=["v5e", "v9"], cache=tmp_path)
    assert made == [8], "devices are read before programs are made"


def test_an_interruption_while_compilers_run_ends_the_search(tmp_path):
    made = []

    class Interrupted(Executor):
        def submit(self, function, /, *given, **options):
            raise KeyboardInterrupt

    def counted(batch):
        made.append(batch)
        return arguments(batch)

    with pytest.raises(KeyboardInterrupt):
        fit(step, counted, over={"batch": [8, 16, 32, 64]}, executor=Interrupted(), cache=tmp_path)
    assert len(made) == 1, "one value of the axis is asked about first"


@pytest.mark.skipif(find_spec("libtpu") is None, reason="needs libtpu")
def test_the_border_of_a_step(tmp_path):
    large = [1 << exponent for exponent in range(10, 24, 2)]
    answer = fit(step, lambda batch: arguments(batch, 1024), over={"batch": large}, cache=tmp_path)
    (border,) = answer.data["borders"]
    rows = answer.data["rows"]
    largest, following = rows[border["largest_row"]], rows[border["next_row"]]
    assert answer and largest["fits"] and not following["fits"]
    assert int(border["next"]) == 4 * int(border["largest"])
    assert largest["needed_bytes"] <= largest["available_bytes"]
    assert following["short_bytes"] > 0 and following["to_go"]
    again = fit(step, lambda batch: arguments(batch, 1024), over={"batch": large}, cache=tmp_path)
    assert again.data["kept"] == len(again.data["rows"]) and again.data["rows"] == rows


@pytest.mark.skipif(find_spec("libtpu") is None, reason="needs libtpu")
def test_the_program_gives_the_same_answer(tmp_path):
    sizes = [1 << exponent for exponent in range(10, 26, 4)]

    def of_size(batch):
        return (jax.ShapeDtypeStruct((batch, 1024), jnp.float32),)

    answer = fit(jnp.tanh, of_size, over={"batch": sizes}, cache=tmp_path / "python")
    for size in sizes:
        text = jax.jit(jnp.tanh).trace(*of_size(size)).lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
        (tmp_path / f"{size}.mlir").write_text(text)
    command = [sys.executable, "-m", "xla_shape", "fit", *(f"{size}.mlir" for size in sizes), "--ascending", "--format", "json"]
    found = subprocess.run([*command, "--cache", tmp_path / "program"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(found.stdout)
    assert [border["largest"] for border in found["borders"]] == [border["largest"] for border in answer.data["borders"]]

    def rows(data, axis):
        return [(row["setting"][axis], row["fits"], row["needed_bytes"], row["short_bytes"], row["cycles"]) for row in data["rows"]]

    assert rows(found, "program") == rows(answer.data, "batch")
