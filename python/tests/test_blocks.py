"""`xla_shape.pallas.blocks`: which candidates are compiled, and how errors are reported.

Most tests need no compiler: they read what the search gets. Those at the end compile, and need libtpu.
"""

from functools import partial
from importlib.util import find_spec

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas import tpu as pltpu  # noqa: E402

from xla_shape import ShapeError, _blocks  # noqa: E402
from xla_shape.pallas import blocks  # noqa: E402

X = jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16)


def matmul(x, w, *, bm, bk, bn):
    def kernel(x_ref, w_ref, o_ref, acc_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            acc_ref[...] = jnp.zeros_like(acc_ref)

        acc_ref[...] += jnp.dot(x_ref[...], w_ref[...], preferred_element_type=jnp.float32)

        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _():
            o_ref[...] = acc_ref[...].astype(o_ref.dtype)

    (m, k), n = x.shape, w.shape[1]
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        grid=(m // bm, n // bn, k // bk),
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)),
        scratch_shapes=[pltpu.VMEM((bm, bn), jnp.float32)],
    )(x, w)


def asked(monkeypatch, *given, **options):
    """The axes, and the functions that return the kernels and the programs."""
    found = []

    class Seen(Exception):
        pass

    def native(axes, parts, make, device, run, cache, plugin):
        found.extend([axes, parts, make])
        raise Seen

    monkeypatch.setattr(_blocks, "_blocks", native)
    with pytest.raises(Seen):
        blocks(*given, **options)
    return found


def test_the_blocks_of_a_kernel_are_known_before_it_is_compiled(monkeypatch):
    over = {"bm": [256, 512], "bk": [128], "bn": [1024]}
    axes, parts, make = asked(monkeypatch, matmul, [X, X], over=over, for_="v6e")
    assert axes == [("bm", ["256", "512"]), ("bk", ["128"]), ("bn", ["1024"])]
    [found] = parts((1, 0, 0))
    array = "bf16[1024,1024]"
    assert found == [
        ("input", array, "bf16[512,128]"),
        ("input", array, "bf16[128,1024]"),
        ("output", array, "bf16[512,1024]"),
    ]
    assert b"tpu_custom_call" in make((0, 0, 0))


def test_arrays_without_blocks_are_left_out(monkeypatch):
    def add(x, y, bm):
        moves, fixed = pl.BlockSpec((bm, 1024), lambda i: (i, 0)), pl.BlockSpec((bm, 1024), lambda i: (0, 0))

        def kernel(x, y, z, o):
            o[...] = x[...] + y[...]

        call = pl.pallas_call(
            kernel,
            out_shape=X,
            grid=(1024 // bm,),
            in_specs=[moves, fixed, pl.BlockSpec(memory_space=pl.ANY)],
            out_specs=moves,
            compiler_params=pltpu.CompilerParams(vmem_limit_bytes=1 << 25),
        )
        return call(jnp.tanh(x), y, x)

    _, parts, _ = asked(monkeypatch, jax.jit(add, static_argnames="bm"), [X, X], over={"bm": [128, 1024]})
    block = "bf16[128,1024]"
    [found] = parts((0,))
    assert [(kind, block) for kind, _, block in found] == [("input", block), ("input", block), ("output", block)]


def test_errors():
    with pytest.raises(ShapeError, match="nobody takes the axis 'bq'"):
        blocks(matmul, [X, X], over={"bm": [128], "bq": [1]})
    with pytest.raises(ShapeError, match="for_: expected the name of one TPU, such as 'v6e', found \\['v5e'\\]"):
        blocks(matmul, [X, X], over={"bm": [128]}, for_=["v5e"])
    with pytest.raises(ShapeError, match="over: expected the values of axes"):
        blocks(matmul, [X, X], over={})
    with pytest.raises(ShapeError, match="the axis 'bm': expected a list of values, such as \\[128\\]"):
        blocks(matmul, [X, X], over={"bm": 128})
    with pytest.raises(ShapeError, match='the axis "bm" has the value 8 twice'):
        blocks(partial(matmul, bk=128, bn=128), [X, X], over={"bm": [8, 8]}, cache=False)
    with pytest.raises(ShapeError, match="expected a TPU, such as v6e, found h100"):
        blocks(partial(matmul, bk=128, bn=128), [X, X], over={"bm": [8]}, for_="h100", cache=False)
    with pytest.raises(ShapeError, match="expected a generation of TPUs: .*; found `v12`$"):
        blocks(partial(matmul, bk=128, bn=128), [X, X], over={"bm": [8]}, for_="v12", cache=False)
    with pytest.raises(ShapeError, match="v5e.*0x1"):
        blocks(partial(matmul, bk=128, bn=128), [X, X], over={"bm": [8]}, for_="v5e:0x1", cache=False)


def test_what_cannot_be_is_not_compiled(tmp_path):
    answer = blocks(partial(matmul, bk=128, bn=1024), [X, X], over={"bm": [100, 0]}, for_="v5e", cache=tmp_path)
    rows = {row["setting"]["bm"]: (row["state"], row["error"]) for row in answer.data["rows"]}
    assert not answer and rows["100"][0] == "not allowed"
    assert "dimension 0 of the block is 100 long; a TPU takes a multiple of 8" in rows["100"][1]
    assert rows["0"][0] == "no program" and "ZeroDivisionError" in rows["0"][1]


@pytest.mark.skipif(find_spec("libtpu") is None, reason="needs libtpu")
def test_the_best_blocks_come_first_and_large_ones_are_left_out(tmp_path):
    over = {"bm": [128, 256, 1024], "bn": [128, 1024]}
    arrays = [jax.ShapeDtypeStruct((1024, 8192), jnp.bfloat16), jax.ShapeDtypeStruct((8192, 1024), jnp.bfloat16)]
    # Trace both on one line: source lines are part of a program, and a program that differs in them is compiled again.
    answer, again = (blocks(partial(matmul, bk=4096), arrays, over=over, for_="v5e", cache=tmp_path) for _ in range(2))
    rows = answer.data["rows"]
    best = [row for row in rows if row["state"] == "ranked"]
    assert answer and rows[: len(best)] == best and {row["state"] for row in rows} == {"ranked", "too large"}
    times = [row["least_seconds"] for row in best]
    assert times == sorted(times) and rows[0]["setting"] == {"bm": "256", "bn": "128"}
    # Each step copies a block of each operand. Each block of the result is copied once.
    ranked = {(row["setting"]["bm"], row["setting"]["bn"]): row["copied_bytes"] for row in best}
    assert ranked["128", "128"] == 8 * 8 * 2 * (2 * 128 * 4096 * 2) + 1024 * 1024 * 2
    assert again.data["kept"] == len(best) and again.data["rows"] == rows
