#!/usr/bin/env python3
"""Writes tests/corpus/fit_borders.jsonl.zst: programs, each compiled ahead of time in 40 sizes, with what the compiler says of each. No TPU is
needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), for example in an environment under target/, and the program zstd.

usage: scripts/data/fit_borders.py [NAME…]       without names, all programs; with names, those rows are made anew

A row: `program`; `for`, the device; `values`, the sizes in ascending order; `outcomes`, for each size one of: `bytes`, the memory of a compiled
program by the compiler's analysis; `message`, why it refused the program; `missing`, why JAX did not make one.
"""
import functools, json, os, pathlib, re, subprocess, sys, time

os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import pallas as pl, topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

TARGET = pathlib.Path(__file__).resolve().parents[2] / "tests/corpus/fit_borders.jsonl.zst"
bf16, f32, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32
PROGRAMS = {}


def program(device, first, step=None, donated=(), level="O0"):
    """Adds a function that returns a function and its arguments, as (type, sizes…) or (type, sizes…, partition), for each of 40 sizes.

    level: how much the compiler optimizes. With its own level, it would take a minute for each size of most programs.
    """
    def add(make):
        values = list(range(first, first + 40 * (step or first), step or first))
        PROGRAMS[make.__name__] = (device, values, make, donated, level)
        return make
    return add


def normal(x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x.astype(f32)), -1, keepdims=True) + 1e-6).astype(x.dtype)


def attention(x, qkv, out, heads):
    """x: [batch, sequence, model]."""
    batch, sequence, _ = x.shape
    q, k, v = jnp.split((x @ qkv).reshape(batch, sequence, 3 * heads, -1), 3, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(f32) * 0.09
    scores = jnp.where(jnp.tril(jnp.ones((sequence, sequence), bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v).reshape(batch, sequence, -1) @ out


def block(x, w, heads=8):
    qkv, out, up, down = w
    x = x + attention(normal(x), qkv, out, heads)
    return x + jax.nn.gelu(normal(x) @ up) @ down


def layers(x, w, remat=False):
    layer = jax.checkpoint(block) if remat else block
    return jax.lax.scan(lambda x, w: (layer(x, w), None), x, w)[0]


def weights(count, model, where=(None,) * 4):
    sizes = ((model, 3 * model), (model, model), (model, 4 * model), (4 * model, model))
    return [(bf16, count, *size, *([spec] if spec else [])) for size, spec in zip(sizes, where)]


def train(remat, *given):
    """A step of training: the weights after it."""
    *w, x = given
    gradients = jax.grad(lambda w: jnp.square(layers(x, w, remat).astype(f32)).mean())(w)
    return [one - gradient * 0.01 for one, gradient in zip(w, gradients)]


def train_arguments(batch): return [*weights(12, 1024), (bf16, batch, 512, 1024)]


@program("v5e:2x2", 3, donated=range(4))
def train_step(n): return functools.partial(train, False), train_arguments(n)


@program("v5e:2x2", 40, donated=range(4))
def train_step_with_remat(n): return functools.partial(train, True), train_arguments(n)


@program("v5e:2x4", 128, donated=range(2))
def train_step_sharded(n):
    """Layers without attention, over the devices of two axes."""
    def step(up, down, x):
        layer = jax.checkpoint(lambda x, w: (x + jax.nn.gelu(normal(x) @ w[0]) @ w[1], None))
        gradients = jax.grad(lambda w: jnp.square(jax.lax.scan(layer, x, w)[0].astype(f32)).mean())((up, down))
        return [w - gradient * 0.01 for w, gradient in zip((up, down), gradients)]

    up, down = (bf16, 24, 2048, 8192, P(None, "data", "model")), (bf16, 24, 8192, 2048, P(None, "model", "data"))
    return step, [up, down, (bf16, n, 512, 2048, P("data", None, None))]


def decode(k, v, qkv, out, x, at):
    """One token of each sequence of a batch, with a cache [layers, batch, sequence, heads, size]."""
    def layer(state, number):
        k, v, x = state
        heads = k.shape[3]
        q, new_k, new_v = jnp.split((normal(x) @ qkv[number]).reshape(x.shape[0], 3 * heads, -1), 3, 1)
        put = lambda cache, new: jax.lax.dynamic_update_slice(cache, new[None, :, None].astype(cache.dtype), (number, 0, at, 0, 0))
        k, v = put(k, new_k), put(v, new_v)
        scores = jnp.einsum("bhd,bshd->bhs", q, k[number].astype(q.dtype)).astype(f32)
        found = jnp.einsum("bhs,bshd->bhd", jax.nn.softmax(scores).astype(q.dtype), v[number].astype(q.dtype))
        return (k, v, x + found.reshape(x.shape) @ out[number]), None
    return jax.lax.scan(layer, (k, v, x), jnp.arange(k.shape[0]))[0]


def decode_arguments(batch, sequence, kind, heads=8, partition=()):
    cache = (kind, 16, batch, sequence, heads, 128, *partition)
    return [cache, cache, (bf16, 16, heads * 128, 3 * heads * 128), (bf16, 16, heads * 128, heads * 128), (bf16, batch, heads * 128), (s32,)]


@program("v6e:2x2", 6, donated=(0, 1))
def decode_step(n): return decode, decode_arguments(n, 4096, bf16)


@program("v6e:2x2", 2048, donated=(0, 1))
def decode_step_sharded(n): return decode, decode_arguments(64, n, s8, 16, [P(None, "data", None, "model")])


@program("v5e:2x2", 384)
def prefill(n):
    """Beyond 8192, the compiler computes attention in another way, and the program fits again."""
    return lambda x, *w: block(x, w), [(bf16, 4, n, 2048)] + [(kind, *sizes) for kind, _, *sizes in weights(1, 2048)]


@program("v5e:2x2", 112)
def convolutions(n):
    def loss(ws, x):
        for number, w in enumerate(ws):
            strides = (2, 2) if number % 2 else (1, 1)
            x = jax.nn.relu(jax.lax.conv_general_dilated(x, w, strides, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.square(x.astype(f32)).sum()

    sizes = [(7, 7, 3, 64), (3, 3, 64, 64), (3, 3, 64, 128), (3, 3, 128, 128), (3, 3, 128, 256)]
    return lambda x, *ws: jax.grad(loss)(ws, x), [(bf16, n, 224, 224, 3)] + [(bf16, *size) for size in sizes]


@program("v6e:2x2", 96)
def experts(n):
    """A layer of 16 experts: of each group of 512 tokens, an expert has room for 64."""
    def loss(router, up, down, x):
        found = jax.nn.softmax((x @ router).astype(f32))
        chosen = jax.nn.one_hot(found.argmax(-1), 16, dtype=f32)
        place = jnp.cumsum(chosen, 1) * chosen - 1
        dispatch = jax.nn.one_hot(place, 64, dtype=bf16)
        inputs = jnp.einsum("gtec,gtm->gecm", dispatch, x)
        outputs = jnp.einsum("gecf,efm->gecm", jax.nn.gelu(jnp.einsum("gecm,emf->gecf", inputs, up)), down)
        combined = dispatch * (found * chosen).astype(bf16)[..., None]
        return jnp.square((x + jnp.einsum("gtec,gecm->gtm", combined, outputs)).astype(f32)).mean()

    return jax.grad(loss, (0, 1, 2)), [(bf16, 2048, 16), (bf16, 16, 2048, 8192), (bf16, 16, 8192, 2048), (bf16, n, 512, 2048)]


@program("v5e:2x2", 640)
def recurrence(n):
    """An LSTM, whose states of all steps are kept for its gradient."""
    def run(w, u, xs):
        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ w + h @ u, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
        start = jnp.zeros(xs.shape[1:], xs.dtype)
        return jax.lax.scan(step, (start, start), xs)[0][0].astype(f32).sum()

    return jax.grad(run, (0, 1)), [(bf16, 1024, 4096), (bf16, 1024, 4096), (bf16, n, 128, 1024)]


@program("v7x:2x2x1", 32768)
def logits(n):
    def loss(w, x, at):
        found = (x @ w).astype(f32)
        return (jax.nn.logsumexp(found, -1) - jnp.take_along_axis(found, at[:, None], 1)[:, 0]).mean()
    return jax.grad(loss, (0, 1)), [(bf16, 4096, 131072), (bf16, n, 4096), (s32, n)]


@program("v5e:2x2", 52, level="UNKNOWN")
def kernel(n):
    """A Pallas kernel, whose blocks grow until they do not fit into VMEM. Blocks must have a multiple of 8 rows."""
    def body(x, o): o[...] = jax.nn.softmax(x[...].astype(f32), -1).astype(o.dtype)
    spec = pl.BlockSpec((n, 2048), lambda i: (i, 0))
    return lambda x: pl.pallas_call(body, out_shape=x, grid=(pl.cdiv(x.shape[0], n),), in_specs=[spec], out_specs=spec)(x), [(bf16, 1 << 15, 2048)]


@program("v5e:2x2", 16384)
def transform(n): return lambda x: jnp.abs(jnp.fft.fft(x)), [(f32, 4096, n)]


@program("v5e:2x2", 90001, 89989)
def transform_of_any_size(n):
    """The memory of a Fourier transform depends on the prime factors of its size: it does not grow with the size."""
    return lambda x: jnp.abs(jnp.fft.fft(x)), [(f32, 1024, n)]


@functools.cache
def devices(device):
    return topologies.get_topology_desc(platform="tpu", topology_name=device.replace("v7x", "tpu7x")).devices


def outcome(device, make, n, donated, level):
    all_of_them = devices(device)
    jax.config.update("jax_optimization_level", level)
    def argument(kind, *sizes):
        partition = sizes[-1] if sizes and isinstance(sizes[-1], P) else None
        return kind, sizes[:-1] if partition is not None else sizes, partition
    try:
        function, arguments = make(n)
        arguments = [argument(*one) for one in arguments]
        is_divided = any(partition is not None for *_, partition in arguments)
        used = np.array(all_of_them[:len(all_of_them) if is_divided else 1])
        mesh = Mesh(used.reshape(-1, 2 if is_divided else 1), ("data", "model"))
        arguments = [jax.ShapeDtypeStruct(sizes, kind, sharding=NamedSharding(mesh, partition or P())) for kind, sizes, partition in arguments]
        step = lambda *given: function(*given)
        lowered = jax.jit(step, donate_argnums=tuple(donated)).trace(*arguments).lower(lowering_platforms=("tpu",))
    except ValueError as error:
        return {"missing": re.sub(r"\S*/fit_borders", "fit_borders", str(error).strip().splitlines()[0])}
    try:
        memory = lowered.compile().memory_analysis()
    except Exception as error:
        # The text of an instruction is long, and names files.
        message = re.sub(r"%\S+ = .*?(?=\. Scoped|$)", "%k = …", str(error).strip(), flags=re.S)
        return {"message": re.sub(r'"[^"]*/([^"/]+)"', r'"\1"', "\n".join(message.splitlines()[:6]))[:600]}
    parts = memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.temp_size_in_bytes, memory.generated_code_size_in_bytes
    return {"bytes": sum(parts) - memory.alias_size_in_bytes}


def main(names):
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        sys.exit(f"no program is called {unknown[0]}; there are: {', '.join(PROGRAMS)}")
    old = subprocess.run(["zstd", "-dc", TARGET], check=True, capture_output=True, text=True).stdout if names and TARGET.exists() else ""
    found = {row["program"]: row for row in map(json.loads, old.splitlines())}
    for name in names or PROGRAMS:
        device, values, make, donated, level = PROGRAMS[name]
        start = time.process_time()
        outcomes = [outcome(device, make, n, donated, level) for n in values]
        found[name] = {"program": name, "for": device, "values": values, "outcomes": outcomes}
        kinds = [next(iter(one)) for one in outcomes]
        print(f"{name}: {kinds.count('bytes')} of 40 compiled, {kinds.count('message')} refused, {kinds.count('missing')} missing, {time.process_time() - start:.0f} s", flush=True)
        text = "".join(json.dumps(found[name], ensure_ascii=False) + "\n" for name in PROGRAMS if name in found)
        subprocess.run(["zstd", "-q", "-19", "-f", "-o", TARGET], input=text.encode(), check=True)
    os._exit(0)


main(sys.argv[1:])
