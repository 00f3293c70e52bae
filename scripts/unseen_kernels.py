"""Pallas kernels on which no rule about relayouts was fitted, for `scripts/kernels.py --unseen`.

Kernels of JAX with arguments that `kernels.py` does not have, those of published packages if they are installed (`pip install --no-deps tokamax
pallas-forge pyyaml atomic-ops deltanet-tpu flywheel-tpu`), and small ones whose layouts are unusual.
"""

import importlib.util
import os
import sys
import types
import unittest.mock


def programs(array):
    """Pairs of a name and a function that returns a function for JAX and its arguments."""
    yield from of_jax(array)
    yield from of_packages(array)
    yield from small(array)


def of_jax(array):
    import jax
    import jax.numpy as jnp

    f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32

    def flash_bias():
        from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention
        return (lambda q, k, v, bias: flash_attention(q, k, v, bias)), [array((1, 2, 512, 128), bf16)] * 3 + [array((1, 2, 512, 512), bf16)]

    def flash_segments(width):
        def make():
            from jax.experimental.pallas.ops.tpu.flash_attention import SegmentIds, flash_attention
            function = lambda q, k, v, s: flash_attention(q, k, v, segment_ids=SegmentIds(s, s), causal=True, sm_scale=0.1)
            return function, [array((2, 2, 256, width), f32)] * 3 + [array((2, 256), s32)]
        return make

    def flash_blocks(backward):
        def make():
            from jax.experimental.pallas.ops.tpu.flash_attention import BlockSizes, flash_attention
            sizes = BlockSizes(block_q=256, block_k_major=256, block_k=128, block_b=1, block_q_major_dkv=256, block_k_major_dkv=256, block_k_dkv=256,
                               block_q_dkv=256, block_k_major_dq=256, block_k_dq=256, block_q_dq=256)
            function = lambda q, k, v: flash_attention(q, k, v, causal=True, block_sizes=sizes)
            if backward:
                forward = function
                function = jax.grad(lambda q, k, v: forward(q, k, v).astype(f32).sum(), (0, 1, 2))
            return function, [array((1, 2, 512, 64), bf16)] * 3
        return make

    yield "flash_bias", flash_bias
    yield "flash_segments_128", flash_segments(128)
    yield "flash_segments_64", flash_segments(64)
    yield "flash_blocks", flash_blocks(False)
    yield "flash_blocks_backward", flash_blocks(True)

    def paged(heads, groups, page, dtype, quantized=False):
        def make():
            from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention, quantization_utils
            def function(q, k, v, lengths, pages):
                if quantized:
                    k, v = (quantization_utils.quantize_to_int8(x) for x in (k, v))
                    k, v = (quantization_utils.QuantizedTensor(weight=x[0], scales=x[1]) for x in (k, v))
                return paged_attention(q, k, v, lengths, pages, pages_per_compute_block=2)
            pages = array((groups, 32, page, 128), dtype)
            return function, [array((4, heads, 128), dtype), pages, pages, array((4,), s32), array((4, 4), s32)]
        return make

    for heads, groups, page, dtype in ((8, 8, 32, f32), (32, 8, 64, bf16), (8, 2, 128, bf16), (16, 2, 16, f32)):
        yield f"paged_{heads}_{groups}_{page}_{dtype.__name__}", paged(heads, groups, page, dtype)
    yield "paged_quantized", paged(8, 2, 32, f32, True)

    def ragged(heads, groups, width, dtype, window=None):
        def make():
            from jax.experimental.pallas.ops.tpu.ragged_paged_attention import ragged_paged_attention
            function = lambda q, kv, lengths, pages, starts, count: ragged_paged_attention(
                q, kv, lengths, pages, starts, count, sliding_window=window, soft_cap=None if window is None else 30.0, num_kv_pages_per_block=4,
                num_queries_per_block=32, vmem_limit_bytes=32 << 20)
            return function, [array((64, heads, width), dtype), array((64, 16, 2 * groups, width), dtype), array((8,), s32), array((8, 16), s32),
                              array((9,), s32), array((1,), s32)]
        return make

    for heads, groups, width, dtype, window in ((8, 8, 128, bf16, None), (16, 4, 128, f32, None), (32, 8, 128, bf16, 64), (8, 1, 256, bf16, None)):
        yield f"ragged_{heads}_{groups}_{width}_{dtype.__name__}", ragged(heads, groups, width, dtype, window)

    def splash(mask, dtype, backward=False, width=128):
        def make():
            from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernels, splash_attention_mask as masks
            one = {"full": lambda: masks.FullMask((512, 512)), "local": lambda: masks.LocalMask((512, 512), (128, 64), 0),
                   "chunked": lambda: masks.ChunkedCausalMask((512, 512), 128)}[mask]
            sizes = kernels.BlockSizes(block_q=256, block_kv=256, block_kv_compute=128, block_q_dkv=256, block_kv_dkv=256, block_kv_dkv_compute=128,
                                       block_q_dq=256, block_kv_dq=256)
            kernel = kernels.make_splash_mha_single_device(masks.MultiHeadMask([one() for _ in range(2)]), block_sizes=sizes)
            function = kernel
            if backward:
                function = jax.grad(lambda q, k, v: kernel(q, k, v).astype(f32).sum(), (0, 1, 2))
            return function, [array((2, 512, width), dtype)] * 3
        return make

    for mask in ("full", "local", "chunked"):
        yield f"splash_{mask}", splash(mask, bf16)
    yield "splash_local_f32", splash("local", f32)
    yield "splash_backward", splash("local", bf16, True)
    yield "splash_64", splash("full", bf16, False, 64)

    def gmm(m, k, n, dtype, tiling):
        def make():
            from jax.experimental.pallas.ops.tpu.megablox import gmm
            return (lambda x, y, sizes: gmm(x, y, sizes, tiling=tiling)), [array((m, k), dtype), array((6, k, n), dtype), array((6,), s32)]
        return make

    yield "gmm_tiling", gmm(768, 384, 256, bf16, (256, 128, 128))
    yield "gmm_odd", gmm(512, 300, 200, f32, (128, 128, 128))

    def tgmm():
        from jax.experimental.pallas.ops.tpu.megablox.gmm import tgmm
        return (lambda x, y, sizes: tgmm(x, y, sizes)), [array((128, 512), bf16), array((512, 256), bf16), array((4,), s32)]

    yield "tgmm", tgmm

    def matmul(m, k, n, dtype, block, block_k):
        def make():
            from jax.experimental.pallas.ops.tpu.matmul import matmul
            return (lambda x, y: matmul(x, y, block_shape=block, block_k=block_k)), [array((m, k), dtype), array((k, n), dtype)]
        return make

    yield "matmul_s8", matmul(512, 512, 512, s8, (256, 256), 256)
    yield "matmul_wide", matmul(256, 1024, 2048, f32, (128, 512), 512)


def without_init(*packages):
    """Lets modules of these packages be imported without the packages' own `__init__`, which need more than the kernels do."""
    for name in packages:
        if name not in sys.modules:
            parent, _, last = name.rpartition(".")
            folder = os.path.join(sys.modules[parent].__path__[0], last) if parent else os.path.dirname(importlib.util.find_spec(name).origin)
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [folder]


def as_on_tpu(function):
    """The function, traced as if JAX ran on a TPU: some kernels are interpreted elsewhere."""
    def on_tpu(*inputs):
        with unittest.mock.patch("jax.default_backend", return_value="tpu"):
            return function(*inputs)
    return on_tpu


def of_packages(array):
    import jax
    import jax.numpy as jnp

    f32, bf16, s32 = jnp.float32, jnp.bfloat16, jnp.int32
    tokamax = lambda: without_init("tokamax", "tokamax._src", "tokamax._src.ops", "tokamax._src.ops.mhc", "tokamax._src.ops.router_topk")

    def router(rows, experts, top):
        def make():
            tokamax()
            from tokamax._src.ops.router_topk.pallas_mosaic_tpu_kernel import select
            return (lambda scores: select(scores, top)), [array((rows, experts))]
        return make

    yield "router_64", router(256, 64, 4)
    yield "router_256", router(64, 256, 8)

    def mixed_after(hidden, streams):
        def make():
            tokamax()
            from tokamax._src.ops.mhc.post_kernel import mhc_post
            return mhc_post, [array((256, hidden), bf16), array((256, streams, hidden), bf16), array((256, streams, 1)), array((256, streams, streams))]
        return make

    yield "mhc_post", mixed_after(1024, 4)
    yield "mhc_post_3", mixed_after(512, 3)

    def mixed_before(combined):
        def make():
            tokamax()
            from tokamax._src.ops.mhc import pre_kernel
            if not combined:
                return (lambda x, w: pre_kernel.mhc_pre_mixes(x, w)), [array((256, 2048), bf16), array((24, 2048))]
            function = lambda x, w, scale, base: pre_kernel.mhc_pre(x, w, scale, base, 1e-6, 1e-6, 1e-6, 2.0, 3)
            return function, [array((256, 4, 512), bf16), array((24, 2048)), array((3,)), array((24,))]
        return make

    yield "mhc_mixes", mixed_before(False)
    yield "mhc_pre", mixed_before(True)

    def forge_norm(rows, width, dtype):
        def make():
            from pallas_forge import _compat
            _compat.is_tpu_available = lambda: True
            from pallas_forge.kernels.rmsnorm import fused_rmsnorm_residual
            return fused_rmsnorm_residual, [array((rows, width), dtype), array((rows, width), dtype), array((width,), dtype)]
        return make

    yield "forge_norm_f32", forge_norm(256, 512, f32)
    yield "forge_norm_bf16", forge_norm(128, 2048, bf16)

    def forge_gated(geglu):
        def make():
            from pallas_forge import _compat
            _compat.is_tpu_available = lambda: True
            from pallas_forge.kernels import swiglu
            return swiglu.fused_geglu if geglu else swiglu.fused_swiglu, [array((256, 512), bf16), array((512, 256), bf16), array((512, 256), bf16)]
        return make

    yield "forge_swiglu", forge_gated(False)
    yield "forge_geglu", forge_gated(True)

    def gdn2():
        from atomic_ops.gdn2_fwd import gdn2_pallas_forward
        from atomic_ops.configs import KernelConfig
        config = KernelConfig(bt=128, bc=64, mb=16, clip=1e4, wy_eps=1e-3)
        one = array((1, 256, 2, 128))
        return (lambda q, k, v, w, b, g: gdn2_pallas_forward(q, k, v, w, b, g, 0.1, None, config)), [one] * 6

    yield "atomic_gdn2", gdn2

    def delta(backward):
        def make():
            from deltanet_tpu.gdn2 import chunk_gdn2
            function = lambda q, k, v, g, b, w: chunk_gdn2(q, k, v, g, b, w, chunk_size=128)
            if backward:
                forward = function
                function = jax.grad(lambda *inputs: forward(*inputs).astype(f32).sum(), tuple(range(6)))
            return as_on_tpu(function), [array((1, 256, 2, 128), bf16)] * 6
        return make

    yield "delta_gdn2", delta(False)
    yield "delta_gdn2_backward", delta(True)

    def flywheel(causal, dtype):
        def make():
            from flywheel_tpu import flash_attn_func
            return (lambda q, k, v: flash_attn_func(q, k, v, causal=causal)), [array((1, 4, 512, 128), dtype)] * 3
        return make

    yield "flywheel", flywheel(False, bf16)
    yield "flywheel_causal", flywheel(True, bf16)


def small(array):
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    f32, bf16, s8, s32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32
    out = jax.ShapeDtypeStruct

    def call(kernel, outputs, *arguments, **options):
        return lambda: (lambda *inputs: pl.pallas_call(kernel, out_shape=outputs, **options)(*inputs), arguments)

    def layer_norm(height, width, dtype):
        def kernel(x, scale, bias, o):
            x = x[...].astype(f32)
            centred = x - jnp.mean(x, axis=-1, keepdims=True)
            norm = centred * jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-5)
            o[...] = (norm * scale[...].astype(f32) + bias[...].astype(f32)).astype(dtype)
        return call(kernel, out((height, width), dtype), array((height, width), dtype), array((1, width), dtype), array((1, width), dtype))

    for height, width, dtype in ((32, 384, f32), (48, 640, bf16), (12, 200, f32)):
        yield f"layer_norm_{height}_{width}_{dtype.__name__}", layer_norm(height, width, dtype)

    def batch_norm(kernel_shape):
        def kernel(x, o):
            mean = jnp.mean(x[...], axis=(0, 1), keepdims=True)
            o[...] = x[...] - mean
        return call(kernel, out(kernel_shape, f32), array(kernel_shape))

    for shape in ((4, 16, 256), (3, 5, 130)):
        yield f"centre_{'x'.join(map(str, shape))}", batch_norm(shape)

    def stencil(first, dtype):
        def kernel(x, o):
            o[...] = x[first:first + 24, :] * 2 + x[first + 1:first + 25, :] - x[first + 2:first + 26, :]
        return call(kernel, out((24, 256), dtype), array((64, 256), dtype))

    for first in (0, 5, 9):
        for dtype in (f32, s32):
            yield f"stencil_{first}_{dtype.__name__}", stencil(first, dtype)
    yield "stencil_bf16", stencil(7, bf16)

    def neighbours(kernel_width):
        def kernel(x, o):
            total = x[:, 0:256]
            for shift in range(1, kernel_width):
                total = total + x[:, shift:shift + 256]
            o[...] = total
        return call(kernel, out((16, 256), f32), array((16, 384)))

    for width in (2, 4):
        yield f"neighbours_{width}", neighbours(width)

    def joined(axis, sizes, dtype):
        shapes = [(size, 256) if axis == 0 else (16, size) for size in sizes]
        total = (sum(sizes), 256) if axis == 0 else (16, sum(sizes))
        def kernel(*refs):
            refs[-1][...] = jnp.concatenate([ref[...] for ref in refs[:-1]], axis=axis)
        return call(kernel, out(total, dtype), *(array(shape, dtype) for shape in shapes))

    for axis, sizes, dtype in ((0, (8, 16), f32), (0, (3, 5), f32), (0, (16, 4, 12), bf16), (1, (128, 256), f32), (1, (64, 64), f32), (1, (100, 30), bf16)):
        yield f"joined_{axis}_{'_'.join(map(str, sizes))}", joined(axis, sizes, dtype)

    def rotated_halves(width, dtype):
        def kernel(x, cosine, sine, o):
            half = width // 2
            x = x[...].astype(f32)
            turned = jnp.concatenate([-x[:, half:], x[:, :half]], axis=-1)
            o[...] = (x * cosine[...] + turned * sine[...]).astype(dtype)
        return call(kernel, out((64, width), dtype), array((64, width), dtype), array((64, width)), array((64, width)))

    for width, dtype in ((128, f32), (256, bf16), (64, f32)):
        yield f"rotary_{width}_{dtype.__name__}", rotated_halves(width, dtype)

    def masked(dtype, over):
        def kernel(x, lengths, o):
            column = jax.lax.broadcasted_iota(s32, (64, 256), over)
            kept = jnp.where(column < lengths[...], x[...].astype(f32), -1e9)
            best = jnp.max(kept, axis=-1, keepdims=True)
            o[...] = jnp.exp(kept - best).astype(dtype)
        return call(kernel, out((64, 256), dtype), array((64, 256), dtype), array((64, 1), s32))

    for dtype in (f32, bf16):
        for over in (0, 1):
            yield f"masked_{dtype.__name__}_{over}", masked(dtype, over)

    def argument(operation, dtype):
        def kernel(x, o):
            o[...] = operation(x[...], axis=-1, keepdims=True).astype(s32)
        return call(kernel, out((64, 1), s32), array((64, 256), dtype))

    yield "argmax", argument(jnp.argmax, f32)
    yield "argmin", argument(jnp.argmin, f32)

    def outer(dtype):
        def kernel(x, y, o):
            o[...] = x[...].astype(dtype) * y[...].astype(dtype)
        return call(kernel, out((64, 256), dtype), array((64, 1), dtype), array((1, 256), dtype))

    for dtype in (f32, bf16, s32):
        yield f"outer_{dtype.__name__}", outer(dtype)

    def outer_of_vectors():
        def kernel(x, y, o):
            o[...] = x[...][:, None] + y[...][None, :]
        return call(kernel, out((128, 256), f32), array((128,)), array((256,)))

    yield "outer_of_vectors", outer_of_vectors()

    def dequantised(rows, width, block):
        def kernel(x, scale, o):
            o[...] = x[...].astype(f32) * scale[...]
        return call(kernel, out((rows, width), f32), array((rows, width), s8), array((rows, 1) if block else (1, width)))

    for block in (False, True):
        yield f"dequantised_{block}", dequantised(64, 256, block)

    def quantised():
        def kernel(x, o, scale):
            top = jnp.max(jnp.abs(x[...]), axis=-1, keepdims=True) / 127
            o[...] = jnp.round(x[...] / top).astype(s8)
            scale[...] = top
        return call(kernel, (out((64, 256), s8), out((64, 1), f32)), array((64, 256)))

    yield "quantised", quantised()

    def vectors(size, dtype):
        def kernel(x, y, o):
            o[...] = x[...] * y[...] + 1
        return call(kernel, out((size,), dtype), array((size,), dtype), array((size,), dtype))

    for size, dtype in ((1024, f32), (300, f32), (2048, bf16), (128, s32)):
        yield f"vectors_{size}_{dtype.__name__}", vectors(size, dtype)

    def reduced(shape, axes, keep, dtype=f32):
        result = tuple(1 if axis in axes else size for axis, size in enumerate(shape)) if keep else tuple(size for axis, size in enumerate(shape) if axis not in axes)
        def kernel(x, o):
            o[...] = jnp.sum(x[...], axis=axes, keepdims=keep)
        return call(kernel, out(result, dtype), array(shape, dtype))

    for shape, axes, keep in (((4, 16, 256), (0,), False), ((4, 16, 256), (1,), False), ((4, 16, 256), (2,), False), ((4, 16, 256), (0, 2), True), ((2, 3, 8, 128), (1,), True),
                              ((24, 300), (1,), True), ((24, 300), (0,), True)):
        yield f"reduced_{'x'.join(map(str, shape))}_{''.join(map(str, axes))}_{keep}", reduced(shape, axes, keep)

    def swapped(shape, dtype, axes):
        def kernel(x, o):
            o[...] = jnp.transpose(x[...], axes)
        return call(kernel, out(tuple(shape[axis] for axis in axes), dtype), array(shape, dtype))

    for shape, dtype, axes in (((8, 16, 128), f32, (1, 0, 2)), ((16, 8, 128), bf16, (1, 0, 2)), ((4, 128, 128), f32, (0, 2, 1)), ((8, 128), f32, (1, 0))):
        yield f"swapped_{'x'.join(map(str, shape))}_{dtype.__name__}", swapped(shape, dtype, axes)

    def reshaped(before, after, dtype):
        def kernel(x, o):
            o[...] = x[...].reshape(after) * 2
        return call(kernel, out(after, dtype), array(before, dtype))

    for before, after, dtype in (((64, 128), (8, 8, 128), bf16), ((2, 32, 128), (64, 128), f32), ((8, 512), (8, 4, 128), f32), ((16, 4, 128), (16, 512), f32), ((16, 1, 256), (16, 256), f32)):
        yield f"reshaped_{'x'.join(map(str, before))}_{dtype.__name__}", reshaped(before, after, dtype)

    def dynamic(height, aligned):
        def kernel(start, x, o):
            first = start[0] * 8 if aligned else start[0]
            o[...] = x[pl.ds(pl.multiple_of(first, 8) if aligned else first, height), :] + 1
        spec = pl.BlockSpec(memory_space=pltpu.SMEM)
        return call(kernel, out((height, 256), f32), array((1,), s32), array((128, 256)), in_specs=[spec, pl.BlockSpec()])

    for height in (1, 8, 12):
        for aligned in (False, True):
            yield f"dynamic_{height}_{aligned}", dynamic(height, aligned)

    def strided(step):
        def kernel(x, o):
            o[...] = x[pl.ds(0, 16, step), :]
        return call(kernel, out((16, 256), f32), array((128, 256)))

    for step in (2, 4):
        yield f"strided_{step}", strided(step)

    def carried(rows, dtype):
        def kernel(x, o, state):
            def body(i, total):
                row = x[pl.ds(i, 1), :]
                total = total * 0.5 + row
                o[pl.ds(i, 1), :] = total
                return total
            state[...] = jax.lax.fori_loop(0, rows, body, jnp.zeros((1, 256), dtype))
        return call(kernel, out((rows, 256), dtype), array((rows, 256), dtype), scratch_shapes=[pltpu.VMEM((1, 256), dtype)])

    yield "carried", carried(16, f32)

    def branches():
        def kernel(flag, x, o):
            o[...] = jax.lax.cond(flag[0] > 0, lambda v: v * 2, lambda v: v - jnp.max(v, axis=0, keepdims=True), x[...])
        return call(kernel, out((32, 256), f32), array((1,), s32), array((32, 256)), in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec()])

    yield "branches", branches()

    def selected(rows, width, dtype):
        def kernel(x, y, o):
            o[...] = jnp.where(x[...] > y[...], x[...], jnp.zeros_like(x[...]))
        return call(kernel, out((rows, width), dtype), array((rows, width), dtype), array((rows, 1), dtype))

    for rows, width, dtype in ((32, 256, f32), (32, 256, bf16), (20, 100, f32)):
        yield f"selected_{rows}_{width}_{dtype.__name__}", selected(rows, width, dtype)

    def products(m, k, n, dtype, transposed, bias):
        def kernel(x, y, b, o):
            result = jax.lax.dot_general(x[...], y[...], (((1,), (1 if transposed else 0,)), ((), ())), preferred_element_type=f32)
            o[...] = (result + b[...] if bias else result).astype(dtype)
        return call(kernel, out((m, n), dtype), array((m, k), dtype), array((n, k) if transposed else (k, n), dtype), array((1, n)))

    for m, k, n, dtype, transposed in ((64, 256, 128, bf16, True), (24, 128, 256, f32, False), (16, 384, 128, bf16, False), (40, 72, 200, f32, True)):
        yield f"products_{m}_{k}_{n}_{dtype.__name__}", products(m, k, n, dtype, transposed, True)

    def batched(dtype):
        def kernel(x, y, o):
            o[...] = jax.lax.dot_general(x[...], y[...], (((2,), (1,)), ((0,), (0,))), preferred_element_type=f32)
        return call(kernel, out((4, 32, 128), f32), array((4, 32, 128), dtype), array((4, 128, 128), dtype))

    for dtype in (f32, bf16):
        yield f"batched_{dtype.__name__}", batched(dtype)

    def broadcast_rows(height, width, dtype):
        def kernel(x, o):
            o[...] = jnp.broadcast_to(x[...][None, :, :], (4, height, width)).astype(dtype)
        return call(kernel, out((4, height, width), dtype), array((height, width), dtype))

    yield "broadcast_rows", broadcast_rows(8, 256, f32)
    yield "broadcast_one_row", broadcast_rows(1, 256, f32)

    def unpacked():
        def kernel(x, o):
            low = pltpu.bitcast(x[...], jnp.uint32)
            o[...] = pltpu.bitcast(low << 1, f32)
        return call(kernel, out((32, 256), f32), array((32, 256)))

    yield "unpacked", unpacked()

    def columns_picked(picked, dtype):
        def kernel(x, o):
            total = jnp.zeros((64, 256), f32)
            for column in picked:
                total = total + x[:, column:column + 1].astype(f32) * 2.0
            o[...] = total.astype(dtype)
        return call(kernel, out((64, 256), dtype), array((64, 128), dtype))

    yield "columns_picked", columns_picked((0, 3, 70), f32)
    yield "columns_picked_bf16", columns_picked((1, 5), bf16)

    def stored_columns():
        def kernel(x, o):
            for column in range(4):
                o[:, column:column + 1] = jnp.max(x[...] * (column + 1), axis=1, keepdims=True)
        return call(kernel, out((32, 4), f32), array((32, 256)))

    yield "stored_columns", stored_columns()

    def stored_rows(first):
        def kernel(x, o):
            o[...] = jnp.zeros((32, 256), f32)
            o[first:first + 8, :] = x[...] * 3
        return call(kernel, out((32, 256), f32), array((8, 256)))

    for first in (3, 8, 12):
        yield f"stored_rows_{first}", stored_rows(first)

    def running_sum():
        def kernel(x, o):
            o[...] = jnp.cumsum(x[...], axis=0)
        return call(kernel, out((16, 128), f32), array((16, 128)))

    yield "running_sum", running_sum()

    def online_softmax(steps, width, dtype):
        def kernel(q, k, v, o):
            def body(i, state):
                best, total, acc = state
                block = k[pl.ds(i * 128, 128), :]
                s = jax.lax.dot_general(q[...], block, (((1,), (1,)), ((), ())), preferred_element_type=f32)
                new = jnp.maximum(best, jnp.max(s, axis=1, keepdims=True))
                p = jnp.exp(s - new)
                keep = jnp.exp(best - new)
                total = total * keep + jnp.sum(p, axis=1, keepdims=True)
                acc = acc * keep + jnp.dot(p.astype(dtype), v[pl.ds(i * 128, 128), :], preferred_element_type=f32)
                return new, total, acc
            start = (jnp.full((64, 1), -1e30, f32), jnp.zeros((64, 1), f32), jnp.zeros((64, width), f32))
            _, total, acc = jax.lax.fori_loop(0, steps, body, start)
            o[...] = (acc / total).astype(dtype)
        return call(kernel, out((64, width), dtype), array((64, width), dtype), array((steps * 128, width), dtype), array((steps * 128, width), dtype))

    for steps, width, dtype in ((4, 128, f32), (4, 128, bf16), (2, 256, bf16), (3, 64, f32)):
        yield f"online_softmax_{steps}_{width}_{dtype.__name__}", online_softmax(steps, width, dtype)
