#!/usr/bin/env python3
"""Compiles Pallas kernels ahead of time and compares the counts of `xla-shape kernel` with the compiler's.

    scripts/kernels.py [--for v4,v5e,v5p,v6e,v7x] [--unseen] [--program target/release/xla-shape] [--corpus FILE] [NAME…]

The kernels are those of `jax.experimental.pallas.ops.tpu` at several sizes, and some in this file; with `--unseen` those of `unseen_kernels.py`, on
which no rule was fitted. Needs jax and libtpu, but no TPU. Compares the numbers of bundles and of empty bundles with the compiler's analysis of the
schedule, and the numbers of operations and relayouts with the occurrences of `out_layout` and `.relayout` in Mosaic's text. Then removes Mosaic's
texts from relayout insertion on, and asks `kernel` again. From the vector layouts alone, it now says which vectors need a relayout before an
operation, and which relayouts need instructions. Compares that with the relayouts that the compiler inserted, and with their instructions.
`--corpus` appends the dumps, without paths, to a JSON Lines file.
"""

import argparse
import base64
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAGES = "post-infer-vector-layout|post-relayout-insertion|post-apply-vector-layout|final_bundles|schedule-analysis_final_bundles|final_hlo-static-per-bundle-utilization|vmem_report"
# The names of libtpu's topologies.
TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "v7x": "tpu7x:2x2x1"}


def programs(array):
    """Pairs of a name and a function that returns a function for JAX and its arguments."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32

    def call(kernel, outputs, *arguments, **options):
        return lambda: (lambda *inputs: pl.pallas_call(kernel, out_shape=outputs, **options)(*inputs), arguments)

    out = jax.ShapeDtypeStruct

    def rows(first, height):
        def kernel(x, y, o):
            o[...] = x[:height, :] + y[first:first + height, :]
        return call(kernel, out((height, 256), f32), array((64, 256)), array((64, 256)))

    for first in (0, 1, 3, 8, 13):
        for height in (8, 16):
            yield f"rows_{first}_{height}", rows(first, height)

    def columns(first, dtype):
        def kernel(x, o):
            o[...] = x[:, first:first + 128] * 2
        return call(kernel, out((32, 128), dtype), array((32, 512), dtype))

    for first in (0, 5, 64, 128):
        for dtype in (f32, bf16):
            yield f"columns_{first}_{dtype.__name__}", columns(first, dtype)

    def softmax(block, width, dtype):
        def kernel(x, o):
            e = jnp.exp(x[...].astype(f32) - jnp.max(x[...].astype(f32), axis=-1, keepdims=True))
            o[...] = (e / jnp.sum(e, axis=-1, keepdims=True)).astype(dtype)
        spec = pl.BlockSpec((block, width), lambda i: (i, 0))
        return call(kernel, out((block * 4, width), dtype), array((block * 4, width), dtype), grid=(4,), in_specs=[spec], out_specs=spec)

    for block, width in ((8, 128), (16, 512), (64, 1024), (128, 1024)):
        for dtype in (f32, bf16):
            yield f"softmax_{block}_{width}_{dtype.__name__}", softmax(block, width, dtype)

    def reduction(axis, dtype, operation):
        def kernel(x, o):
            o[...] = operation(x[...], axis=axis)
        return call(kernel, out((256,) if axis == 0 else (64,), dtype), array((64, 256), dtype))

    for axis in (0, 1):
        for operation in (jnp.sum, jnp.max, jnp.min):
            yield f"{operation.__name__}_{axis}", reduction(axis, f32, operation)

    def transposed(height, width, dtype):
        def kernel(x, o):
            o[...] = x[...].T
        return call(kernel, out((width, height), dtype), array((height, width), dtype))

    for height, width in ((128, 128), (128, 256), (256, 128)):
        for dtype in (f32, bf16):
            yield f"transpose_{height}_{width}_{dtype.__name__}", transposed(height, width, dtype)

    def converted(before, after):
        def kernel(x, o):
            o[...] = x[...].astype(after)
        return call(kernel, out((64, 256), after), array((64, 256), before))

    for before, after in ((f32, bf16), (bf16, f32), (s8, f32), (s8, s32), (s32, f32), (f32, s32)):
        yield f"convert_{before.__name__}_{after.__name__}", converted(before, after)

    def rolled(axis, shift):
        def kernel(x, o):
            o[...] = pltpu.roll(x[...], shift, axis)
        return call(kernel, out((64, 256), f32), array((64, 256)))

    for axis, shift in ((0, 1), (0, 8), (1, 3), (1, 128)):
        yield f"roll_{axis}_{shift}", rolled(axis, shift)

    def looped(steps):
        def kernel(x, o):
            def body(i, total):
                return total + x[pl.ds(i * 8, 8), :]
            o[...] = jax.lax.fori_loop(0, steps, body, jnp.zeros((8, 256), f32))
        return call(kernel, out((8, 256), f32), array((steps * 8, 256)))

    for steps in (2, 5, 32, 100):
        yield f"loop_{steps}", looped(steps)

    def reshaped(before, after):
        def kernel(x, o):
            o[...] = x[...].reshape(after)
        return call(kernel, out(after, f32), array(before))

    for before, after in (((16, 256), (32, 128)), ((8, 4, 128), (32, 128)), ((32, 128), (8, 4, 128)), ((256, 128), (2, 128, 128))):
        yield f"reshape_{'x'.join(map(str, before))}", reshaped(before, after)

    def product(m, k, n, dtype):
        def kernel(x, y, o):
            o[...] = jnp.dot(x[...], y[...], preferred_element_type=f32)
        return call(kernel, out((m, n), f32), array((m, k), dtype), array((k, n), dtype))

    for m, k, n in ((128, 128, 128), (256, 512, 256), (8, 128, 128), (100, 200, 130)):
        for dtype in (f32, bf16):
            yield f"product_{m}_{k}_{n}_{dtype.__name__}", product(m, k, n, dtype)

    def elementwise(operation, dtype):
        def kernel(x, o):
            o[...] = operation(x[...])
        return call(kernel, out((64, 256), dtype), array((64, 256), dtype))

    for operation in (jnp.exp, jnp.log, jnp.tanh, jnp.sin, jnp.sqrt, jnp.abs, jax.nn.sigmoid, jax.nn.gelu, jax.lax.rsqrt):
        yield f"{operation.__name__}", elementwise(operation, f32)

    # The kernels that JAX comes with.
    def attention(heads, length, dtype, causal, backward=False):
        def make():
            from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention
            function = lambda q, k, v: flash_attention(q, k, v, causal=causal)
            if backward:
                forward = function
                function = jax.grad(lambda q, k, v: forward(q, k, v).astype(f32).sum(), (0, 1, 2))
            return function, [array((1, heads, length, 128), dtype)] * 3
        return make

    for dtype in (f32, bf16):
        for causal in (False, True):
            yield f"flash_{dtype.__name__}_{causal}", attention(4, 1024, dtype, causal)
            yield f"flash_backward_{dtype.__name__}_{causal}", attention(2, 512, dtype, causal, True)

    def matmul(size, dtype):
        def make():
            from jax.experimental.pallas.ops.tpu.matmul import matmul
            return (lambda x, y: matmul(x, y, block_shape=(256, 256), block_k=256)), [array((size, size), dtype)] * 2
        return make

    for size in (512, 1024):
        for dtype in (f32, bf16):
            yield f"matmul_{size}_{dtype.__name__}", matmul(size, dtype)

    def grouped(dtype, transposed):
        def make():
            from jax.experimental.pallas.ops.tpu.megablox import gmm
            shape = (8, 256, 128) if transposed else (8, 128, 256)
            return (lambda x, y, sizes: gmm(x, y, sizes, transpose_rhs=transposed)), [array((512, 128), dtype), array(shape, dtype), array((8,), s32)]
        return make

    for dtype in (f32, bf16):
        for transpose in (False, True):
            yield f"gmm_{dtype.__name__}_{transpose}", grouped(dtype, transpose)

    def paged(dtype):
        def make():
            from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention
            pages = array((4, 64, 16, 128), dtype)
            return (lambda q, k, v, lengths, pages: paged_attention(q, k, v, lengths, pages, pages_per_compute_block=4)), \
                [array((8, 16, 128), dtype), pages, pages, array((8,), s32), array((8, 8), s32)]
        return make

    yield "paged_float32", paged(f32)
    yield "paged_bfloat16", paged(bf16)

    def splash(heads, length):
        def make():
            from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel, splash_attention_mask
            mask = splash_attention_mask.MultiHeadMask([splash_attention_mask.CausalMask((length, length)) for _ in range(heads)])
            kernel = splash_attention_kernel.make_splash_mha_single_device(mask)
            return kernel, [array((heads, length, 128), bf16)] * 3
        return make

    yield "splash_2_512", splash(2, 512)
    yield "splash_4_1024", splash(4, 1024)

    def threefry():
        from jax.experimental.pallas.ops.tpu.random import threefry
        return (lambda key: threefry.threefry_2x32_count(key, (512, 512), (512, 512), (256, 256))), [array((2,), jnp.uint32)]

    def philox():
        from jax.experimental.pallas.ops.tpu.random import philox
        return (lambda key: philox.philox_4x32_count(key, (512, 512))), [array((2,), jnp.uint32)]

    yield "threefry", threefry
    yield "philox", philox


def without_paths(text):
    """The text without directories, also in the kernels' bytecode (base64), where lengths must stay."""
    def inside(match):
        try:
            raw = base64.b64decode(match[1], validate=True)
        except ValueError:
            return match[0]
        path = rb"/[A-Za-z0-9_.][A-Za-z0-9_./-]*/(?=[A-Za-z0-9_-]+\.py)"
        raw = re.sub(path, lambda found: b"/" + b"-" * (len(found[0]) - 2) + b"/", raw)
        return '"body":"' + base64.b64encode(raw).decode() + '"'
    text = re.sub(r'"body":"([A-Za-z0-9+/=]*)"', inside, text)
    return re.sub(r'"/[^"\n]*?/([^"/\n]+\.py)"', r'"\1"', text)


def expected(folder):
    """The compiler's counts: for each kernel's instruction its bundles, and the operations and relayouts of all kernels' texts."""
    read = lambda path: open(path, encoding="utf-8", errors="replace").read()
    calls = {}
    for path in sorted(glob.glob(folder + "/*schedule-analysis_final_bundles.txt")):
        text = read(path)
        subject = re.match(r"(?:\d+-(.*)-\d+-|llo\.(.*)\.)schedule", os.path.basename(path))
        subject = subject[1] or subject[2]
        lines = re.findall(r"scheduled bundles \([0-9.]+%\): %(\S+) = .*custom_call_target=\"tpu_custom_call\"", text)
        if lines == [subject]:
            count = lambda what: int(re.search(r"\t" + what + r" scheduled bundles:\s+(\d+)", text)[1])
            calls[subject] = (count("total"), count("empty"))
    texts = [read(path) for path in glob.glob(folder + "/*post-relayout-insertion.txt")]
    texts = sorted((text.count("out_layout = ["), len(re.findall(r"= \S+\.relayout ", text))) for text in texts)
    return calls, texts


def compared(found, needed, operands):
    """Counts the operands, and yields the differences between the relayouts computed from vector layouts alone and the compiler's."""
    if len(found) != len(needed):
        operands["kernels"] += len(found)
        yield f"{len(needed)} kernels by their layouts"
    for one, other in zip(found, needed):
        inserted, expected = one["relayouts"] or [], other["relayouts"] or []
        operands["all"] += one["operands"] or 0
        key = lambda relayout: (relayout["from"], relayout["to"], relayout["shape"])
        if [key(relayout) for relayout in inserted] != [key(relayout) for relayout in expected] or one["operands"] != other["operands"]:
            operands["kernels"] += 1
            operands["wrong"] += one["operands"] or 0
            yield "other relayouts by their layouts"
            continue
        operands["inserted"] += len(inserted)
        for known, told in zip(inserted, expected):
            if known["instructions"] is None:
                operands["not known"] += 1
                continue
            operands["moving"] += not known["free"]
            if known["free"] != told["free"]:
                operands["wrong"] += 1
                yield known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--for", dest="generations", default="v4,v5e,v5p,v6e,v7x")
    parser.add_argument("--program", default=os.path.join(ROOT, "target/release/xla-shape"))
    parser.add_argument("--corpus")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()

    work = tempfile.mkdtemp(prefix="kernels-")
    flags = f"--xla_mosaic_dump_to={work} --xla_jf_dump_to={work} --xla_jf_dump_llo_text=true --xla_jf_dump_llo_pass_label_regex=final|vmem_report " \
        "--xla_mosaic_enable_llo_source_annotations=true --xla_mosaic_enable_dump_debug_info=true"
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1", TPU_ACCELERATOR_TYPE="v5litepod-4",
                      TPU_WORKER_HOSTNAMES="localhost", LIBTPU_INIT_ARGS=flags)
    import jax
    import jax.numpy as jnp
    import numpy
    from jax.experimental import topologies

    if options.unseen:
        import unseen_kernels
    listed = unseen_kernels.programs if options.unseen else programs
    corpus = open(options.corpus, "a", encoding="utf-8") if options.corpus else None
    dumps = kernels = refused = wrong = slots = attributed = 0
    operands = collections.Counter()
    for generation in options.generations.split(","):
        topology = topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[generation])
        device = jax.sharding.SingleDeviceSharding(topology.devices[0])
        array = lambda shape, dtype=jnp.float32: jax.ShapeDtypeStruct(shape, dtype, sharding=device)
        for name, make in listed(array):
            if options.names and name not in options.names:
                continue
            for path in glob.glob(work + "/*"):
                os.remove(path)
            try:
                function, arguments = make()
                # Some functions of JAX ask for the kind of the device while they are traced.
                mesh = jax.sharding.Mesh(numpy.array(topology.devices[:1]), ("x",)).abstract_mesh
                def traced(*inputs):
                    with jax.sharding.use_abstract_mesh(mesh):
                        return function(*inputs)
                try:
                    lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=("tpu",))
                except ValueError as error:
                    if "use_abstract_mesh" not in str(error):
                        raise
                    lowered = jax.jit(traced).trace(*arguments).lower(lowering_platforms=("tpu",))
                lowered.compile()
            except Exception as error:  # A program that the compiler refuses is skipped.
                refused += 1
                print(f"{name} {generation}: not compiled: {str(error).splitlines()[0][:120]}", flush=True)
                continue
            for path in glob.glob(work + "/*"):
                if not re.search(rf"(?:{STAGES})\.(?:txt|html)$", path):
                    os.remove(path)
            ours = subprocess.run([options.program, "kernel", work, "--format", "json"], capture_output=True, text=True)
            dumps += 1
            if ours.returncode:
                wrong += 1
                print(f"{name} {generation}: {ours.stderr.strip()}", flush=True)
                continue
            found = json.loads(ours.stdout)["kernels"]
            calls, texts = expected(work)
            got_calls = {one["instruction"]: (one["bundles"], one["empty"]) for one in found if one["instruction"]}
            got_texts = sorted((one["operations"] or 0, len(one["relayouts"] or [])) for one in found)
            if got_calls != calls or got_texts != texts or any(one["unread"] or one["notes"] for one in found):
                wrong += 1
                doubts = [one["unread"] or one["notes"] for one in found if one["unread"] or one["notes"]]
                print(f"{name} {generation}: found {got_calls} {got_texts}, expected {calls} {texts}; {doubts}", flush=True)
            if corpus:
                files = {os.path.basename(path): without_paths(open(path, encoding="utf-8", errors="replace").read()) for path in sorted(glob.glob(work + "/*.txt"))}
                files = {name: text for name, text in files.items() if "-TLP-" not in name and "-<" not in name}
                row = {"kernel": name, "for": generation, "calls": calls, "texts": texts, "files": files}
                print(json.dumps(row), file=corpus, flush=True)
            # The relayouts that the operands need, computed from the vector layouts alone, must be the same.
            for path in glob.glob(work + "/*post-relayout-insertion.txt") + glob.glob(work + "/*post-apply-vector-layout.txt"):
                os.remove(path)
            needed = subprocess.run([options.program, "kernel", work, "--format", "json"], capture_output=True, text=True)
            needed = json.loads(needed.stdout)["kernels"] if needed.returncode == 0 else []
            for difference in compared(found, needed, operands):
                print(f"{name} {generation}: {difference}", flush=True)
            kernels += len(found)
            slots += sum(one["vector_slots"] for one in found)
            attributed += sum(one["vector_slots_with_source"] for one in found)
    shutil.rmtree(work)
    print(f"{dumps} dumps, {kernels} kernels, {wrong} differ, {refused} not compiled; {attributed} of {slots} vector slots have a line")
    right = operands["all"] - operands["not known"] - operands["wrong"]
    print(f"{right} of {operands['all'] - operands['not known']} operands are right by their layouts; {operands['inserted']} have a relayout, {operands['moving']} of "
          f"these move data; {operands['not known']} are not known, {operands['kernels']} kernels have other relayouts")
    sys.stdout.flush()
    # libtpu's threads may keep the process alive: end it here.
    os._exit(1 if wrong else 0)


main()
