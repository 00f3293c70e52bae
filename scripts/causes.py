#!/usr/bin/env python3
"""Checks three causes that `xla-shape cost` names: an array that is repeated for a product, a matrix product that is computed element by element, and
an array of which all elements are computed although gathers read only a few. Compiles each program ahead of time for TPUs, as it is and with the
remedy: is the cause named, is it gone with the remedy, and does the program take fewer cycles? No TPU is needed. The exit code is 1 if a named cause
has a remedy that does not help. The compiler has no cycles for gathers, so they count as 0 before and after.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), target/debug/xla-shape (cargo build -p xla-shape-cli), and for --write
the program zstd.

usage: scripts/causes.py [GENERATIONS] [--write]      such as v5e,v6e; v5e,v6e if not given

--write keeps cycles, causes and the programs with a cause in tests/corpus/causes.jsonl.zst."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/debug/xla-shape"
f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32
einsum = jnp.einsum
PAIRS = {}


def pair(change, *arguments):
    """A class with the program as it is, `before`, and with the remedy, `after`."""
    def add(both):
        shapes = [jax.ShapeDtypeStruct(sizes, kind) for kind, *sizes in arguments]
        PAIRS[both.__name__] = (change, both.before, both.after, shapes)

    return add


def rows(x, i): return jnp.take(x, i, axis=0)
def softmax(x): return jax.nn.softmax(x)
def repeat(x): return jnp.repeat(x, 4, axis=2)


@pair("values", (f32, 32000, 1024), (s32, 8, 128))
class embedding:
    """Flax's `Embed` with a dtype converts the table, then takes from it."""
    def before(t, i): return rows(t.astype(bf16), i)
    def after(t, i): return rows(t, i).astype(bf16)
@pair("values", (bf16, 32000, 1024), (s32, 8, 128))
class upcast:
    def before(t, i): return rows(t.astype(f32), i)
    def after(t, i): return rows(t, i).astype(f32)
@pair("values", (s8, 32000, 1024), (bf16, 32000), (s32, 8, 128))
class int8_embedding:
    def before(t, s, i): return rows(t.astype(bf16) * s[:, None], i)
    def after(t, s, i): return rows(t, i).astype(bf16) * rows(s, i)[..., None]
@pair("values", (bf16, 8, 128), (s8, 4096, 16, 128), (s32, 8, 32))
class int8_pages:
    def before(q, c, i): return einsum("bd,bptd->bpt", q, rows(c.astype(bf16), i))
    def after(q, c, i): return einsum("bd,bptd->bpt", q, rows(c, i).astype(bf16))
@pair("values", (bf16, 8, 512, 128), (f32, 131072, 128), (s32, 8, 512))
class rotary:
    def before(x, t, p): return x * rows(t.astype(bf16), p)
    def after(x, t, p): return x * rows(t, p).astype(bf16)
@pair("values", (bf16, 32000, 1024), (s32, 8, 128))
class scaled_embedding:
    def before(t, i): return rows(t * bf16(32), i)
    def after(t, i): return rows(t, i) * bf16(32)
@pair("values", (bf16, 65536, 256), (s32, 1000))
class sum_of_rows:
    def before(t, i): return rows(t.astype(f32), i).sum(0)
    def after(t, i): return rows(t, i).astype(f32).sum(0)
@pair("values", (bf16, 16, 8192, 512), (s32, 16, 16))
class along_an_axis:
    def before(c, i): return jnp.take_along_axis(c.astype(f32), i[:, :, None], 1)
    def after(c, i): return jnp.take_along_axis(c, i[:, :, None], 1).astype(f32)
@pair("values", (bf16, 32000, 512), (s32, 256), (s32, 256))
class two_gathers:
    def before(t, i, j): return rows(t.astype(f32), i), rows(t.astype(f32), j)
    def after(t, i, j): return rows(t, i).astype(f32), rows(t, j).astype(f32)
@pair("values", (bf16, 4096, 1024), (bf16, 1024, 32000), (s32, 4096))
class cross_entropy:
    """The log-probability of one label of each row."""
    def before(x, w, y):
        return -jnp.take_along_axis(jax.nn.log_softmax((x @ w).astype(f32)), y[:, None], 1).mean()
    def after(x, w, y):
        z = (x @ w).astype(f32)
        return (jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, y[:, None], 1)[:, 0]).mean()


@pair("repetition", (bf16, 8, 32, 64), (bf16, 8, 2048, 8, 64), (bf16, 8, 2048, 8, 64))
class decoding:
    def before(q, k, v): return einsum("bhs,bshd->bhd", softmax(einsum("bhd,bshd->bhs", q, repeat(k))), repeat(v))
    def after(q, k, v):
        s = softmax(einsum("bhgd,bshd->bhgs", q.reshape(8, 8, 4, 64), k).reshape(8, 32, 2048))
        return einsum("bhgs,bshd->bhgd", s.reshape(8, 8, 4, 2048), v).reshape(8, 32, 64)


def scores(q, k): return einsum("bhd,bhsd->bhs", q, k)
def grouped(q, k): return einsum("bhgd,bhsd->bhgs", q, k)


def heads_first(name, batch, tokens, heads, group, size, kind):
    """A step of decoding whose keys and values have the heads before the tokens."""
    class both:
        def before(q, k, v):
            k, v = (jnp.repeat(x, group, axis=1) for x in (k, v))
            return einsum("bhs,bhsd->bhd", softmax(scores(q, k)), v)
        def after(q, k, v):
            s = softmax(grouped(q.reshape(batch, heads, group, size), k))
            return einsum("bhgs,bhsd->bhgd", s, v).reshape(q.shape)
    both.__name__ = name
    pair("product", (kind, batch, heads * group, size), *[(kind, batch, heads, tokens, size)] * 2)(both)


heads_first("heads_first", 8, 2048, 8, 4, 128, bf16)
heads_first("heads_first_f32", 4, 2048, 4, 8, 128, f32)
heads_first("one_head", 16, 2048, 1, 16, 128, bf16)
heads_first("short", 2, 1024, 8, 2, 64, bf16)
@pair("product", (bf16, 8, 32, 128), (bf16, 8, 8, 2048, 128))
class scores_alone:
    def before(q, k): return scores(q, jnp.repeat(k, 4, axis=1))
    def after(q, k): return grouped(q.reshape(8, 8, 4, 128), k).reshape(8, 32, 2048)
@pair("product", (f32, 512, 256), (f32, 512, 256))
class sum_of_products:
    def before(x, y): return (x[:, None] * y[None]).sum(-1)
    def after(x, y): return einsum("mk,nk->mn", x, y)


def cost(folder, function, shapes, generation):
    """The compiled program and what it costs."""
    source, module = folder / "program.mlir", folder / "module.hlo"
    named = lambda *arguments: function(*arguments)
    named.__name__ = "step"
    source.write_text(jax.jit(named).lower(*shapes).as_text())
    subprocess.run([PROGRAM, "compile", source, "--for", generation, "-o", module], check=True, capture_output=True)
    return module.read_text(), json.loads(subprocess.check_output([PROGRAM, "cost", module, "--format", "json"]))


def main(generations, writes):
    found, wrong, unnamed = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for generation in generations:
            for name, (change, before, after, shapes) in PAIRS.items():
                (text, one), (_, other) = (cost(folder, function, shapes, generation) for function in (before, after))
                named = [[copy for copy in side["copies"] if copy["change"] == change] for side in (one, other)]
                cycles = [side["cycles"]["total"] for side in (one, other)]
                helps = not named[1] and cycles[1] < cycles[0]
                wrong, unnamed = wrong + (bool(named[0]) and not helps), unnamed + (not named[0])
                causes = [copy["cause"] for copy in named[0]]
                print(f"{generation} {name}: {cycles}{'' if helps else f' DOES NOT HELP: {named}'}", *causes or ["not named"], sep="\n    ", flush=True)
                found.append({"program": name, "device": generation, "cycles": cycles, "change": change, "causes": causes, "module": text})
    if writes:
        text = "".join(json.dumps(row) + "\n" for row in found)
        subprocess.run(["zstd", "-q", "-19", "-f", "-o", ROOT / "tests/corpus/causes.jsonl.zst"], input=text.encode(), check=True)
    print(f"{len(found)} programs: {unnamed} causes are not named, {wrong} remedies do not help")
    return wrong > 0


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if argument != "--write"]
    sys.exit(main((named[0] if named else "v5e,v6e").split(","), "--write" in sys.argv))
