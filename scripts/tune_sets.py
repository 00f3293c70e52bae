#!/usr/bin/env python3
"""Compares the search of `xla-shape tune` with every combination of layouts (--all), over sets of programs that share arrays. No TPU is
needed: the programs are compiled ahead of time. The exit code is 1 if a search finds layouts worse than today's.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), and target/debug/xla-shape (cargo build -p xla-shape-cli).

usage: scripts/tune_sets.py [--cache FOLDER] [--write] [NAME…]     --write adds the results to tests/corpus/tune_sets.jsonl"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("XLA_SHAPE", ROOT / "target/debug/xla-shape"))
RESULTS = ROOT / "tests/corpus/tune_sets.jsonl"
f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32
einsum = jnp.einsum
SETS = {}


def add(name, device, shares, weights=(), **programs):
    """Programs by name: a function, its arguments as (type, sizes…), and the arguments that are donated."""
    SETS[name] = (device, shares, weights, programs)


def update(cache, new, position, axis):
    return jax.lax.dynamic_update_slice_in_dim(cache, jnp.expand_dims(new, axis), position, axis)


def decode(k, v, q, new_k, new_v, position):
    """One step of attention over a cache [batch, sequence, heads, size]."""
    k, v = update(k, new_k, position, 1), update(v, new_v, position, 1)
    p = jax.nn.softmax(einsum("bkhd,bhd->bhk", k.astype(bf16), q).astype(f32))
    return k, v, einsum("bhk,bkhd->bhd", p.astype(bf16), v.astype(bf16))


def decode_of(kind, batch, sequence, heads, size):
    cache, new = (kind, batch, sequence, heads, size), (kind, batch, heads, size)
    return decode, [cache, cache, (bf16, batch, heads, size), new, new, (s32,)], (0, 1)


def quantized(k, ks, v, vs, q, new_k, new_v, position):
    """The same with a cache in int8 and a scale for each position and head, as MaxText has it."""
    def quantize(x):
        scale = jnp.max(jnp.abs(x), axis=-1) / 127
        return jnp.rint(x / scale[..., None]).astype(s8), scale

    new_k, new_ks = quantize(new_k.astype(f32))
    new_v, new_vs = quantize(new_v.astype(f32))
    k, ks = update(k, new_k, position, 1), update(ks, new_ks, position, 1)
    v, vs = update(v, new_v, position, 1), update(vs, new_vs, position, 1)
    s = einsum("bhd,bkhd->bhk", q, k.astype(bf16)).astype(f32) * ks.transpose(0, 2, 1)
    p = jax.nn.softmax(s) * vs.transpose(0, 2, 1)
    return k, ks, v, vs, einsum("bhk,bkhd->bhd", p.astype(bf16), v.astype(bf16))


def quantized_of(batch, sequence, heads, size):
    cache, scale = (s8, batch, sequence, heads, size), (f32, batch, sequence, heads)
    new = (bf16, batch, heads, size)
    return quantized, [cache, scale, cache, scale, new, new, new, (s32,)], (0, 1, 2, 3)


def prefill_of(kind, batch, sequence, heads, size, model):
    def prefill(x, wq, wk, wv):
        q, k, v = (einsum("bsm,mhd->bshd", x, w) for w in (wq, wk, wv))
        p = jax.nn.softmax(einsum("bqhd,bkhd->bhqk", q, k).astype(f32))
        scale = 1 if kind != s8 else 16
        return einsum("bhqk,bkhd->bqhd", p.astype(bf16), v), (k * scale).astype(kind), (v * scale).astype(kind)

    w = (bf16, model, heads, size)
    return prefill, [(bf16, batch, sequence, model), w, w, w], ()


def experts(x, w, v):
    return einsum("ecf,efd->ecd", jax.nn.relu(einsum("ecd,edf->ecf", x, w.astype(bf16))), v.astype(bf16))


def experts_step(x, w, v):
    loss = lambda w, v: jnp.sum(experts(x, w, v).astype(f32) ** 2)
    gw, gv = jax.grad(loss, (0, 1))(w, v)
    return w - gw * 0.1, v - gv * 0.1


def experts_of(function, kind, count, tokens, model, hidden, donated=()):
    return function, [(bf16, count, tokens, model), (kind, count, model, hidden), (kind, count, hidden, model)], donated


def language(table, tokens, w):
    x = jnp.tanh(table[tokens].astype(bf16) @ w)
    return einsum("bsd,vd->bsv", x, table.astype(bf16))


def language_step(table, tokens, w):
    loss = lambda t: jnp.mean(jax.nn.logsumexp(language(t, tokens, w).astype(f32), -1))
    return table - jax.grad(loss)(table) * jnp.asarray(0.1, table.dtype)


def language_of(function, kind, words, size, batch, sequence, donated=()):
    return function, [(kind, words, size), (s32, batch, sequence), (bf16, size, size)], donated


def convolve(numbers):
    def convolution(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers)

    return convolution


def convolve_step(numbers):
    def step(x, w):
        loss = lambda w: jnp.sum(convolve(numbers)(x, w).astype(f32) ** 2)
        return w - jax.grad(loss)(w) * jnp.asarray(0.1, w.dtype)

    return step


LAST, FIRST = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")


def adam(w, m, v, x, y):
    g = jax.grad(lambda w: jnp.sum((einsum("bd,dhk->bhk", x, w.astype(bf16)) - y).astype(f32) ** 2))(w)
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return w - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v


def projected(w, x):
    return einsum("bd,dhk->bhk", x, w.astype(bf16))


def double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def kernel(x, w):
    """A Pallas kernel reads the weights before they are used the other way around."""
    y = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(w.shape, w.dtype), grid=(w.shape[0] // 128,),
                       in_specs=[pl.BlockSpec((128, w.shape[1]), lambda i: (i, 0))],
                       out_specs=pl.BlockSpec((128, w.shape[1]), lambda i: (i, 0)))(w)
    return x @ y.T, y


def kernel3(x, w):
    y = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(w.shape, w.dtype), grid=(w.shape[0],),
                       in_specs=[pl.BlockSpec((1, *w.shape[1:]), lambda i: (i, 0, 0))],
                       out_specs=pl.BlockSpec((1, *w.shape[1:]), lambda i: (i, 0, 0)))(w)
    return einsum("sbd,hsd->hsb", x, y)


def turned(w, x):
    return einsum("dhk,bhk->bd", w, x)


def scored(k, q):
    return einsum("nsd,nd->ns", k.astype(bf16), q)


def stored(k, new, position):
    return update(k, new, position, 1)


# The case of MaxText: int8, batch 24, 2,048 positions, 8 heads of 128, v5e.
add("maxtext", "v5e", ["kv=arg0,arg2"], decode=quantized_of(24, 2048, 8, 128))
add("decode_bf16", "v6e", ["kv=arg0,arg1"], decode=decode_of(bf16, 8, 1024, 8, 128))
add("experts_rank3", "v5e", ["w=step:arg1,use:arg1"], step=experts_of(experts_step, f32, 8, 256, 512, 1024, (1, 2)),
    use=experts_of(experts, f32, 8, 256, 512, 1024))
add("embedding", "v5e", ["table=step:arg0,use:arg0"], ["use=10"], step=language_of(language_step, f32, 8192, 512, 8, 128, (0,)),
    use=language_of(language, f32, 8192, 512, 8, 128))
add("filters", "v5e", ["w=step:arg1,use:arg1"], step=(convolve_step(LAST), [(f32, 32, 28, 28, 64), (f32, 3, 3, 64, 128)], (1,)),
    use=(convolve(LAST), [(f32, 32, 28, 28, 64), (f32, 3, 3, 64, 128)], ()))
add("adam", "v5e", ["state=step:arg0,step:arg1,step:arg2,use:arg0"],
    step=(adam, [(f32, 512, 8, 128)] * 3 + [(bf16, 1024, 512), (bf16, 1024, 8, 128)], (0, 1, 2)),
    use=(projected, [(f32, 512, 8, 128), (bf16, 1024, 512)], ()))
add("kernel", "v5e", ["w=arg1"], kernel=(kernel, [(bf16, 256, 1024), (bf16, 512, 1024)], ()))
add("prefill_decode", "v5e", ["kv=prefill:out1,prefill:out2,decode:arg0,decode:arg1"], ["decode=100"],
    prefill=prefill_of(bf16, 4, 512, 8, 128, 512), decode=decode_of(bf16, 4, 512, 8, 128))
add("embedding_v7x", "v7x", ["table=step:arg0,use:arg0"], step=language_of(language_step, bf16, 4096, 768, 4, 128, (0,)),
    use=language_of(language, bf16, 4096, 768, 4, 128))
add("experts_v6e", "v6e", ["w=step:arg1,use:arg1"], ["use=100"], step=experts_of(experts_step, bf16, 16, 128, 256, 768, (1, 2)),
    use=experts_of(experts, bf16, 16, 128, 256, 768))
add("experts_s8", "v7x", ["w=arg1"], use=experts_of(experts, s8, 16, 64, 512, 512))
add("adam_v6e", "v6e", ["state=step:arg0,step:arg1,step:arg2,use:arg0"], ["use=10"],
    step=(adam, [(f32, 768, 12, 64)] * 3 + [(bf16, 256, 768), (bf16, 256, 12, 64)], (0, 1, 2)),
    use=(projected, [(f32, 768, 12, 64), (bf16, 256, 768)], ()))
add("kernel3", "v6e", ["w=kernel:arg1,use:arg0"], kernel=(kernel3, [(f32, 64, 256, 128), (f32, 16, 64, 128)], ()),
    use=(turned, [(f32, 16, 64, 128), (f32, 32, 64, 128)], ()))
add("keys", "v5e", ["k=read:arg0,write:arg0"], ["read=10"], read=(scored, [(s8, 32, 1024, 64), (bf16, 32, 64)], ()),
    write=(stored, [(s8, 32, 1024, 64), (s8, 32, 64), (s32,)], (0,)))
add("keys_v7x", "v7x", ["k=read:arg0,write:arg0"], read=(scored, [(bf16, 96, 512, 128), (bf16, 96, 128)], ()),
    write=(stored, [(bf16, 96, 512, 128), (bf16, 96, 128), (s32,)], (0,)))
add("one_head", "v5e", ["kv=arg0,arg1"], decode=decode_of(bf16, 32, 1024, 1, 128))
add("filters_first", "v6e", ["w=arg1"], use=(convolve(FIRST), [(bf16, 16, 64, 28, 28), (bf16, 128, 64, 3, 3)], ()))
add("embedding_wide", "v6e", ["table=arg0"], use=language_of(language, bf16, 1000, 300, 4, 100))
add("weights", "v7x", ["w=down:arg0,up:arg0"], down=(turned, [(bf16, 1024, 16, 128), (bf16, 64, 16, 128)], ()),
    up=(projected, [(bf16, 1024, 16, 128), (bf16, 64, 1024)], ()))
add("weights_f32", "v5e", ["w=down:arg0,up:arg0"], ["up=50"], down=(turned, [(f32, 500, 20, 64), (f32, 64, 20, 64)], ()),
    up=(projected, [(f32, 500, 20, 64), (bf16, 64, 500)], ()))
add("two_experts", "v5e", ["w=arg1", "v=arg2"], use=experts_of(experts, bf16, 4, 64, 384, 512))
add("two_experts_step", "v7x", ["w=arg1", "v=arg2"], step=experts_of(experts_step, f32, 4, 64, 256, 384, (1, 2)))
add("kernel_v7x", "v7x", ["w=arg1"], kernel=(kernel, [(f32, 64, 512), (f32, 256, 512)], ()))
add("decode_v7x", "v7x", ["kv=arg0,arg1"], decode=decode_of(s8, 16, 1024, 4, 128))
add("prefill_decode_s8", "v6e", ["kv=prefill:out1,prefill:out2,decode:arg0,decode:arg1"], ["decode=50"],
    prefill=prefill_of(s8, 2, 512, 4, 64, 256), decode=decode_of(s8, 2, 512, 4, 64))
add("filters_v7x", "v7x", ["w=step:arg1,use:arg1"], step=(convolve_step(LAST), [(bf16, 16, 14, 14, 128), (bf16, 3, 3, 128, 256)], (1,)),
    use=(convolve(LAST), [(bf16, 16, 14, 14, 128), (bf16, 3, 3, 128, 256)], ()))
add("adam_v7x", "v7x", ["state=arg0,arg1,arg2"],
    step=(adam, [(f32, 256, 16, 32)] * 3 + [(bf16, 128, 256), (bf16, 128, 16, 32)], (0, 1, 2)))
add("embedding_small", "v5e", ["table=arg0"], use=language_of(language, f32, 512, 64, 8, 32))
add("images", "v5e", ["x=arg0"], use=(convolve(LAST), [(bf16, 16, 28, 28, 32), (bf16, 5, 5, 32, 64)], ()))
# Two arrays of rank 4 have 24 * 24 combinations.
add("decode_two", "v5e", ["k=arg0", "v=arg1"], decode=decode_of(bf16, 4, 256, 8, 128))
add("keys_v6e", "v6e", ["k=arg0"], read=(scored, [(s8, 20, 600, 128), (bf16, 20, 128)], ()))


def lowered(function, arguments, donated):
    """The text of a program, for a TPU."""
    arguments = [jax.ShapeDtypeStruct(tuple(sizes), kind) for kind, *sizes in arguments]
    return jax.jit(function, donate_argnums=donated).trace(*arguments).lower(lowering_platforms=("tpu",)).as_text()


def tuned(folder, name, cache, *options):
    device, shares, weights, programs = SETS[name]
    files = []
    for program, parts in programs.items():
        file = folder / f"{program}.mlir"
        if not file.exists():
            file.write_text(lowered(*parts))
        files.append(file)
    command = [PROGRAM, "tune", *files, "--for", device, "--cache", cache, "--format", "json", *options]
    command += [part for share in shares for part in ("--share", share)] + [part for weight in weights for part in ("--weight", weight)]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        raise SystemExit(f"{name}: {answer.stderr}")
    return json.loads(answer.stdout)


def compare(name, cache):
    """A line of the results: what the search finds, and what every combination finds."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        search, every = tuned(folder, name, cache), tuned(folder, name, cache, "--all")
    at = lambda answer: answer["tried"][answer["best_entry"]]
    rows = sorted((row for row in every["tried"]), key=lambda row: (not row["taken"], row["cycles"] or 0))
    device, shares, weights, _ = SETS[name]
    return {
        "set": name, "for": device, "share": shares, "weight": list(weights), "libtpu": importlib.metadata.version("libtpu"),
        "jax": importlib.metadata.version("jax"), "arrays": [array["shape"] for array in every["arrays"]],
        "today": {"layouts": {key: value["layout"] for key, value in every["today"]["layouts"].items()}, "cycles": every["today"]["cycles"]},
        "best": {"layouts": at(every)["layouts"], "cycles": at(every)["cycles"], "bytes": at(every)["bytes"]},
        "search": {"layouts": at(search)["layouts"], "cycles": at(search)["cycles"], "bytes": at(search)["bytes"],
                   "compiles": search["compiles"], "tried": len(search["tried"])},
        "compiles": every["compiles"],
        "programs": [[program["name"], program["weight"]] for program in every["programs"]],
        # For each array, the layouts that programs prefer.
        "preferred": {array["name"]: [[one["program"], one["layout"]] for one in array["preferred"]] for array in every["arrays"]},
        # Each entry ends with the cycles of each program.
        "tried": [[row["layouts"], row["cycles"], row["bytes"], row["copies"], [program["cycles"] for program in row["programs"]]]
                  if row["taken"] else [row["layouts"], None, None, None, None] for row in rows if not row["auto"]],
        # The rows in which the compiler chose the layouts of some programs. The last entry of a row names these programs. They are recorded
        # because the compiler may compile such a program differently if the same layouts are requested.
        "auto": [[row["layouts"], row["cycles"], row["bytes"], row["copies"], [program["cycles"] for program in row["programs"]], row["auto"]]
                 for row in rows if row["auto"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cache", default=tempfile.gettempdir() + "/tune_sets")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    results, worse = {}, 0
    if RESULTS.exists():
        results = {row["set"]: row for row in map(json.loads, RESULTS.read_text().splitlines())}
    for name in arguments.names or SETS:
        row = results[name] = compare(name, arguments.cache)
        best, search, today = (row[key]["cycles"] for key in ("best", "search", "today"))
        worse += search > today
        print(f"{name} ({row['for']}): today {today}, search {search}, best {best}"
              f"{'' if search == best else f' MISSED by {search / best - 1:.2%}'}; {row['search']['compiles']} of {row['compiles']} compilations", flush=True)
        if arguments.write:
            rows = [json.dumps(results[name], separators=(",", ":")) for name in SETS if name in results]
            RESULTS.write_text("\n".join(rows) + "\n")
    return worse > 0


if __name__ == "__main__":
    sys.exit(main())
