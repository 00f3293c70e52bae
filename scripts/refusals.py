#!/usr/bin/env python3
"""Makes programs that the compilers for TPUs refuse, asks `xla-shape scan` about each message, applies the first remedy that it names, and
compiles again. No TPU is needed. The exit code is 1 if `scan` names the right cause of fewer than 95 in 100 messages,
if fewer than 90 in 100 remedies compile, or if one makes its program need more memory.

    scripts/refusals.py [GENERATIONS] [--corpus FILE]      such as v5e,v6e; v4,v5e,v5p,v6e,v7x if not given

Needs: pip install jax==0.12.0 libtpu==0.0.52 (Python 3.12 or newer), and target/debug/xla-shape (cargo build -p xla-shape-cli). `--corpus` writes
the messages, without paths, to a JSON Lines file, each distinct one once: `name`, `generation`, the `kind` of cause, and the `message`.

libtpu 0.0.52, five generations: 195 refusals, all with the right cause; 180 remedies change the program, and all of them compile.
Older ones, v5e and v6e: libtpu 0.0.48.1 with jax 0.11.2, 79 of 79 and 73 of 73; libtpu 0.0.34 with jax 0.9.0, 78 of 79 and 71 of 73.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "target/debug/xla-shape"
# The names of libtpu's topologies.
TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "v7x": "tpu7x:2x2x1"}
CASES = []


def cases():
    """Each case is a name, the right kind of cause (or several, by generation), and a function that makes a program. It gets the remedy:
    its kind and the numbers in its text; or None."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32
    vmem, smem = (pl.BlockSpec(memory_space=space) for space in (pltpu.VMEM, pltpu.SMEM))
    hbm = pl.BlockSpec(memory_space=pl.ANY)

    def call(kernel, result, *specs, out_specs=None, **options):
        def run(*arguments):
            inputs = list(specs) or [vmem] * len(arguments)
            shape = jax.ShapeDtypeStruct(*result)
            return pl.pallas_call(kernel, out_shape=shape, in_specs=inputs, out_specs=out_specs or vmem, **options)(*arguments)
        return run

    def copy(x, o):
        o[...] = x[...]

    def blocks(rows, columns=1024, whole=None):
        def make(fix):
            options, size = {}, rows
            if fix and fix[0] == "raise_vmem_limit":
                options = {"compiler_params": pltpu.CompilerParams(vmem_limit_bytes=fix[1][-1])}
            elif fix and fix[0] == "smaller_blocks":
                size = 256
            spec = pl.BlockSpec((size, columns), lambda i: (i, 0))
            all_rows = (whole or rows * 2) // size * size
            return call(copy, ((all_rows, columns), f32), spec, out_specs=spec, grid=(all_rows // size,), **options), [((all_rows, columns), f32)]
        return make

    def whole(fix):
        if fix and fix[0] == "smaller_blocks":
            return blocks(256, 4096, 16384)(None)
        return call(copy, ((16384, 4096), f32)), [((16384, 4096), f32)]

    def scratch(fix):
        size = (64, 128) if fix and fix[0] == "smaller_blocks" else (16384, 4096)
        def kernel(x, o, s):
            s[0:8, 0:128] = x[...]
            o[...] = s[0:8, 0:128]
        return call(kernel, ((8, 128), f32), scratch_shapes=[pltpu.VMEM(size, f32)]), [((8, 128), f32)]

    def prefetch(fix):
        if fix and fix[0] == "scalars_elsewhere":
            def kernel(p, x, o):
                o[...] = x[...] + p[0:8, :]
            return call(kernel, ((8, 128), s32)), [((4096, 128), s32), ((8, 128), s32)]
        def kernel(p, x, o):
            o[...] = x[...] + p[0]
        block = pl.BlockSpec((8, 128), lambda i, p: (0, 0))
        grid = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(1,), in_specs=[block], out_specs=block)
        shape = jax.ShapeDtypeStruct((8, 128), s32)
        return (lambda p, x: pl.pallas_call(kernel, out_shape=shape, grid_spec=grid)(p, x)), [((1 << 19,), s32), ((8, 128), s32)]

    def scalar_block(fix):
        space = vmem if fix and fix[0] == "scalars_elsewhere" else smem
        def kernel(x, o):
            o[...] = jnp.full((8, 128), x[0, 0], s32) if space is smem else x[0:8, :]
        return call(kernel, ((8, 128), s32), space), [((8192, 128), s32)]

    def aligned(index, fix):
        return pl.multiple_of(index, fix[1][0]) if fix and fix[0] == "multiple_of" else index

    def load_columns(fix):
        def kernel(i, x, o):
            o[...] = x[:, pl.ds(aligned(i[0], fix), 128)]
        return call(kernel, ((8, 128), f32), smem, vmem), [((1,), s32), ((8, 1024), f32)]

    def load_rows(dtype, rows):
        def make(fix):
            def kernel(i, x, o):
                o[...] = x[pl.ds(aligned(i[0], fix), rows), :]
            return call(kernel, ((rows, 256), dtype), smem, vmem), [((1,), s32), ((64, 256), dtype)]
        return make

    def store_columns(fix):
        def kernel(i, x, o):
            o[...] = jnp.zeros((8, 1024), f32)
            o[:, pl.ds(aligned(i[0], fix), 128)] = x[...]
        return call(kernel, ((8, 1024), f32), smem, vmem), [((1,), s32), ((8, 128), f32)]

    def product(dtype, accumulator, other=None, **options):
        def make(fix):
            to = fix[2] if fix and fix[0] in ("convert", "convert_outside") else None
            inside, outside = to if fix and fix[0] == "convert" else None, to if fix and fix[0] == "convert_outside" else None
            more = {} if fix and fix[0] == "default_precision" else options
            def kernel(x, y, o):
                x, y = (x[...], y[...]) if inside is None else (x[...].astype(inside), y[...].astype(inside))
                kind = f32 if to else accumulator
                o[...] = jnp.dot(x, y, preferred_element_type=kind, **more).astype(accumulator)
            run = call(kernel, ((256, 256), accumulator))
            function = (lambda x, y: run(x.astype(outside), y.astype(outside))) if outside else run
            return function, [((256, 256), dtype), ((256, 256), other or dtype)]
        return make

    def transfer(shape, start, size):
        def make(fix):
            first, length = start, size
            if fix and fix[0] == "copy_whole_lanes":
                multiple = fix[1][0]
                first = start // multiple * multiple
                length = -(-(start + size - first) // multiple) * multiple
            def kernel(x, o, s, semaphore):
                copied = pltpu.make_async_copy(x.at[:, pl.ds(first, length)], s, semaphore)
                copied.start()
                copied.wait()
                o[...] = s[:, start - first:start - first + size]
            scratch_shapes = [pltpu.VMEM((shape[0], length), f32), pltpu.SemaphoreType.DMA]
            return call(kernel, ((shape[0], size), f32), hbm, scratch_shapes=scratch_shapes), [(shape, f32)]
        return make

    def transfer_rows(fix):
        def kernel(i, x, o, s, semaphore):
            copied = pltpu.make_async_copy(x.at[pl.ds(aligned(i[0], fix), 8), :], s, semaphore)
            copied.start()
            copied.wait()
            o[...] = s[...]
        scratch_shapes = [pltpu.VMEM((8, 256), f32), pltpu.SemaphoreType.DMA]
        return call(kernel, ((8, 256), f32), smem, hbm, scratch_shapes=scratch_shapes), [((1,), s32), ((64, 256), f32)]

    def transfer_size(fix):
        def kernel(i, x, o, s, semaphore):
            size = pl.ds(0, aligned(i[0], fix))
            copied = pltpu.make_async_copy(x.at[size, :], s.at[size, :], semaphore)
            copied.start()
            copied.wait()
            o[...] = s[...]
        scratch_shapes = [pltpu.VMEM((64, 256), f32), pltpu.SemaphoreType.DMA]
        return call(kernel, ((64, 256), f32), smem, hbm, scratch_shapes=scratch_shapes), [((1,), s32), ((64, 256), f32)]

    def block(array, sizes):
        def make(fix):
            used = tuple(fix[1]) if fix and fix[0] == "block" else sizes
            grid = tuple(-(-all_ // one) for all_, one in zip(array, used))
            spec = pl.BlockSpec(used, lambda *i: i)
            return call(copy, (array, f32), spec, out_specs=spec, grid=grid), [(array, f32)]
        return make

    def values(inside, outside, shape=(8, 128), dtype=f32, result=None, kind=None):
        """`inside` is what the kernel computes; with a remedy that moves the work, `outside` makes its argument."""
        def make(fix):
            moved = fix and fix[0] in ("outside_kernel", "reshape_outside", "convert_outside")
            to = fix[2] if fix and fix[0] in ("convert", "convert_outside") else None
            final = (result or shape, kind or dtype)
            def kernel(x, o):
                x = x[...]
                if moved:
                    o[...] = x.astype(final[1])
                elif to is not None:
                    o[...] = inside(x.astype(to)).astype(final[1])
                else:
                    o[...] = inside(x)
            run = call(kernel, final)
            function = (lambda x: run(outside(x) if to is None else outside(x.astype(to)))) if moved else run
            return function, [(shape, dtype)]
        return make

    def iota(fix):
        def kernel(x, o):
            kind = s32 if fix and fix[0] == "convert" else f32
            o[...] = x[...] + lax.broadcasted_iota(kind, (8, 128), 1).astype(f32)
        return call(kernel, ((8, 128), f32)), [((8, 128), f32)]

    def strided(fix):
        moved = fix and fix[0] == "reshape_outside"
        def kernel(x, o):
            o[...] = x[...] if moved else x[:, ::2]
        run = call(kernel, ((8, 128), f32))
        return (lambda x: run(x[:, ::2])) if moved else run, [((8, 256), f32)]

    def store_scalar(fix):
        def kernel(x, o):
            if fix and fix[0] == "store_vector":
                o[...] = jnp.full((8, 128), jnp.sum(x[...]), f32)
            else:
                o[0, 0] = jnp.sum(x[...])
        return call(kernel, ((8, 128), f32)), [((8, 128), f32)]

    def store_other(fix):
        def kernel(x, o):
            value = lax.broadcasted_iota(s32, (8, 128), 1)
            o[...] = value.astype(fix[2]) if fix and fix[0] == "convert" else value
        return call(kernel, ((8, 128), f32)), [((8, 128), f32)]

    def direct(fix):
        return call(copy, ((8, 128), f32), vmem if fix and fix[0] == "copy_to_vmem" else hbm), [((8, 128), f32)]

    def slice_value(fix):
        moved = fix and fix[0] == "outside_kernel"
        def kernel(i, x, o):
            o[...] = x[...] if moved else lax.dynamic_slice(x[...], (0, i[0]), (8, 128))
        run = call(kernel, ((8, 128), f32), smem, vmem)
        function = (lambda i, x: run(i, lax.dynamic_slice(x, (0, i[0]), (8, 128)))) if moved else run
        return function, [((1,), s32), ((8, 1024), f32)]

    def large(function, *shapes):
        return lambda fix: (function, [(shape, f32) for shape in shapes])

    CASES.extend([
        ("blocks_17m", ("scoped_vmem", "vmem"), blocks(1096)),
        ("blocks_40m", ("scoped_vmem", "vmem"), blocks(2560)),
        ("blocks_128m", ("scoped_vmem", "vmem"), blocks(2048, 4096)),
        ("whole_array", ("vmem",), whole),
        ("scratch", ("vmem",), scratch),
        ("prefetch", ("smem",), prefetch),
        ("scalar_block", ("smem",), scalar_block),
        ("load_columns", ("unproven_index",), load_columns),
        ("load_rows", ("unproven_index",), load_rows(f32, 8)),
        ("load_rows_bf16", ("unproven_index",), load_rows(bf16, 16)),
        ("store_columns", ("unproven_index",), store_columns),
        ("product_s8", ("matmul_type",), product(s8, s32)),
        ("product_s4", ("matmul_type",), product(jnp.int4, s32)),
        ("product_f8", ("matmul_type",), product(jnp.float8_e4m3fn, f32)),
        ("product_f8e5m2", ("matmul_type",), product(jnp.float8_e5m2, f32)),
        ("product_f4", ("matmul_type",), product(jnp.float4_e2m1fn, f32)),
        ("product_s32", ("matmul_type",), product(s32, s32)),
        ("product_f16", ("element_type",), product(jnp.float16, f32)),
        ("product_highest", ("matmul_precision",), product(bf16, f32, precision=lax.Precision.HIGHEST)),
        ("transfer_lanes", ("transfer_line", "slice_size"), transfer((8, 1024), 0, 64)),
        ("transfer_offset", ("transfer_line", "unproven_index"), transfer((8, 1024), 64, 128)),
        ("transfer_rows", ("unproven_index",), transfer_rows),
        ("transfer_size", ("slice_size",), transfer_size),
        ("block_lanes", ("block_shape",), block((8, 1024), (8, 100))),
        ("block_rows", ("block_shape",), block((64, 256), (4, 256))),
        ("block_both", ("block_shape",), block((100, 300), (10, 100))),
        ("reshape", ("shape_cast",), values(lambda x: x.reshape(30, 100), lambda x: x.reshape(30, 100), (10, 300), result=(30, 100))),
        ("sort", ("primitive",), values(lambda x: jnp.sort(x), lambda x: jnp.sort(x))),
        ("cumsum", ("primitive",), values(lambda x: jnp.cumsum(x, axis=-1), lambda x: jnp.cumsum(x, axis=-1))),
        ("rev", ("primitive",), values(lambda x: x[:, ::-1], lambda x: x[:, ::-1])),
        ("argsort", ("primitive",), values(lambda x: jnp.argsort(x).astype(f32), lambda x: jnp.argsort(x).astype(f32))),
        ("store_s32", ("store_type",), store_other),
        ("fft", ("no_instruction",), values(lambda x: jnp.abs(jnp.fft.fft(x)), lambda x: jnp.abs(jnp.fft.fft(x)))),
        ("f16", ("element_type",), values(lambda x: (x * 2).astype(f32), lambda x: x, dtype=jnp.float16, kind=f32)),
        ("s8_product", ("element_type",), values(lambda x: x * x, lambda x: x * x, (32, 128), s8)),
        ("f4", ("element_type",), values(lambda x: x.astype(f32), lambda x: x, (64, 128), jnp.float4_e2m1fn, kind=f32)),
        ("broadcast_sum", ("no_instruction",), values(lambda x: jnp.broadcast_to(jnp.sum(x, axis=-1), (8, 8)), lambda x: jnp.broadcast_to(jnp.sum(x, axis=-1), (8, 8)), result=(8, 8))),
        ("iota", ("element_type",), iota),
        ("strided", ("strided_load",), strided),
        ("store_scalar", ("scalar_store",), store_scalar),
        ("direct", ("no_direct_access",), direct),
        ("slice_value", ("primitive",), slice_value),
        ("arguments", ("program",), large(lambda x, y: x + y, (1 << 20, 1 << 15), (1 << 20, 1 << 15))),
        ("padding", ("program",), large(lambda x: (x * 2).reshape(-1, 3, 1) * jnp.ones((1, 3, 5)), (600000000,))),
        ("outer_product", ("program",), large(lambda x: jnp.sort((x[:, :, None] * x[:, None, :]).reshape(1 << 16, -1))[:, :5], (1 << 16, 512))),
    ])


def clean(message):
    """Without paths of this machine."""
    return re.sub(r'(["\s(])/[^\s":]*/([A-Za-z0-9_-]+\.py)', r"\1\2", message)


def one_generation(generation, corpus):
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_HOSTNAMES="localhost")
    import jax
    import jax.numpy as jnp
    from jax.experimental import topologies

    cases()
    topology = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[generation])
    device = jax.sharding.SingleDeviceSharding(topology.devices[0])

    def attempt(case, fix):
        function, arguments = case(fix)
        arguments = [jax.ShapeDtypeStruct(shape, dtype, sharding=device) for shape, dtype in arguments]
        lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=("tpu",))
        lowered.compile()

    def scanned(message):
        answer = subprocess.run([PROGRAM, "scan", "--summary", "--format", "json"], input=message, capture_output=True, text=True)
        return json.loads(answer.stdout)

    def needed(answer):
        return max((amount["bytes"] for amount in answer["amounts"]), default=0)

    refused = named = compiled = asked = worse = 0
    for name, right, case in CASES:
        try:
            attempt(case, None)
            continue
        except Exception as error:
            message = clean(str(error))
        refused += 1
        answer = scanned(message)
        causes = answer["causes"]
        kind = causes[0]["kind"] if causes else None
        named += kind in right
        if kind not in right:
            print(f"{name} {generation}: named {kind}, expected {right}: {message[:300]!r}", flush=True)
        if corpus and kind in right:
            row = {"name": name, "generation": generation, "kind": kind, "message": message[:1200]}
            with open(corpus, "a") as file:
                file.write(json.dumps(row) + "\n")
        if not causes or not causes[0]["remedies"]:
            continue
        remedy = causes[0]["remedies"][0]
        # These remedies change nothing in the program: one asks for a list, the other for more devices.
        if remedy["kind"] in ("list_allocations", "shard"):
            continue
        asked += 1
        numbers = [int(number) for number in re.findall(r"\d+", re.sub(r"[a-z]+\d+", "", remedy["text"]).replace(",", " ")) if int(number) > 0]
        to = re.search(r"jnp\.(\w+)", remedy["text"])
        try:
            attempt(case, (remedy["kind"], numbers, getattr(jnp, to[1]) if to and hasattr(jnp, to[1]) else None))
            compiled += 1
        except Exception as error:
            worse += needed(scanned(str(error))) > needed(answer)
            print(f"{name} {generation}: {remedy['text']!r} does not compile: {str(error)[:300]!r}", flush=True)
    print(json.dumps([refused, named, asked, compiled, worse]), flush=True)
    os._exit(0)


def words(counts):
    refused, named, asked, compiled, worse = counts
    return (f"{refused} refusals: {named} named right; {asked} remedies change the program, {compiled} of them compile, "
            f"{worse} make it need more memory")


def main(arguments):
    corpus = None
    if "--corpus" in arguments:
        place = arguments.index("--corpus")
        corpus = arguments[place + 1]
        del arguments[place:place + 2]
    if arguments and arguments[0] == "--one":
        return one_generation(arguments[1], corpus)
    generations = arguments[0].split(",") if arguments else list(TOPOLOGIES)
    if corpus:
        open(corpus, "w").close()
    total = [0] * 5
    for generation in generations:
        command = [sys.executable, __file__, "--one", generation] + (["--corpus", corpus] if corpus else [])
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        counts = json.loads(output[-1])
        print("\n".join([*output[:-1], f"{generation}: {words(counts)}"]), flush=True)
        total = [sum(pair) for pair in zip(total, counts)]
    if corpus:
        rows = {}
        for line in pathlib.Path(corpus).read_text().splitlines():
            rows.setdefault(json.loads(line)["message"], line)
        pathlib.Path(corpus).write_text("".join(f"{line}\n" for line in sorted(rows.values())))
    refused, named, asked, compiled, worse = total
    print(words(total))
    return 0 if named >= 0.95 * refused and compiled >= 0.9 * asked and worse == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
