"""`xla_shape.jax.kernel`, on dumps that the repository has; with libtpu, also on a function."""

import importlib.util
import json
from pathlib import Path

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from xla_shape import ShapeError
from xla_shape.jax import kernel

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"


def test_a_dump():
    answer = kernel(EXAMPLES / "first", for_="v7x", clock_ghz=1.5)
    [found] = answer["kernels"]
    assert (found["bundles"], found["operations"], len(found["relayouts"])) == (57, 15, 3)
    assert found["vmem"]["limit"] == 32 << 20
    assert found["least_seconds"] == pytest.approx(57 / 1.5e9)
    assert str(answer).startswith("name.1 (first): 57 bundles, 1 empty")
    page = answer.html()
    assert page is not None and page.startswith("<!doctype html>") and page.count('class="bundle"') == 57


def test_two_dumps():
    answer = kernel(str(EXAMPLES / "aligned"), against=EXAMPLES / "first")
    [difference] = answer["differences"]
    assert (difference["before"]["moving"], difference["after"]["moving"]) == (2, 0)
    assert json.loads(answer.json)["differences"] == answer["differences"]


def test_errors(tmp_path):
    with pytest.raises(ShapeError, match="expected files of kernels"):
        kernel(tmp_path)
    with pytest.raises(ShapeError, match="one device"):
        kernel(EXAMPLES / "first", for_=("v5e", "v6e"))
    with pytest.raises(ShapeError, match="positive number of GHz"):
        kernel(EXAMPLES / "first", clock_ghz=0.0)
    with pytest.raises(ShapeError, match="v99"):
        kernel(EXAMPLES / "first", for_="v99")
    with pytest.raises(TypeError, match="a function or the directory"):
        kernel(7)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="missing"):
        kernel(tmp_path / "missing")


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="needs libtpu")
def test_a_function():
    from jax.experimental import pallas as pl

    def shifted(x, y, o):
        o[...] = x[...] * y[3:19, :]

    def f(x, y):
        return pl.pallas_call(shifted, out_shape=jax.ShapeDtypeStruct((16, 256), jnp.float32))(x, y)

    x, y = jax.ShapeDtypeStruct((16, 256), jnp.float32), jax.ShapeDtypeStruct((32, 256), jnp.float32)
    answer = kernel(f, x, y, for_=("v5e", "v6e"))
    assert [found["for"] for found in answer["kernels"]] == ["v5e:2x2", "v6e:2x2"]
    [relayout, *_] = [one for one in answer["kernels"][0]["relayouts"] if not one["free"]]
    assert relayout["from"] == "32,{3,0},(8,128)" and relayout["instructions"]
    assert "y[3:19, :]" in answer.html()
    with pytest.raises(ShapeError, match="dumped no kernel"):
        kernel(lambda x: x + 1, x)
