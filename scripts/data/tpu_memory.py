#!/usr/bin/env python3
"""Writes tests/corpus/tpu_memory_more.jsonl.zst: programs compiled ahead of time for TPUs, and the compiler's reports of their memory.

usage: scripts/data/tpu_memory.py [FOLDER]    makes its environment in target/hlo-programs; needs the program zstd

With FOLDER, the whole dump of every program stays there. Each function below returns a function and its arguments, and options of
`jax.jit`; S(shape, type, spec, memory) makes an argument on the first device, or over `mesh` ("data", "model", 2 by 2) if the spec names
its axes.
"""
import base64, functools, glob, json, os, re, shutil, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "tpu7x": "tpu7x:2x2x1"}

try:
    import jax, jax.numpy as jnp
    from jax import lax, shard_map
    from jax.ad_checkpoint import checkpoint_name
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu
    from jax.sharding import PartitionSpec as P
    F32, BF, I8, I32, F8 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32, jnp.float8_e4m3fn
except ImportError:
    home = os.path.join(ROOT, "target/hlo-programs")
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([home + "/bin/pip", "install", "-q", "jax==0.12.*", "jaxlib==0.12.*", "libtpu==0.0.52"], check=True)
    os.execv(home + "/bin/python", [home + "/bin/python", os.path.abspath(__file__), *sys.argv[1:]])

HERE = os.path.abspath(__file__)
norm = lambda x: x * lax.rsqrt((x.astype(F32) ** 2).mean(-1, keepdims=True) + 1e-6).astype(x.dtype)
heads = lambda x, n: x.reshape(*x.shape[:-1], n, -1)


def attend(q, k, v, causal=True):
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * q.shape[-1] ** -0.5
    if causal: s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s).astype(q.dtype), v)


def layer(x, p, n=8, causal=True):
    q, k, v = jnp.split(norm(x) @ p["qkv"], 3, -1)
    x = x + attend(heads(q, n), heads(k, n), heads(v, n), causal).reshape(x.shape) @ p["o"]
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def weights(S, d, f, stack=(), dtype=None, spec=None):
    S = functools.partial(S, **({"dtype": dtype} if dtype else {}))
    return {"qkv": S((*stack, d, 3 * d)), "o": S((*stack, d, d)), "up": S((*stack, d, f)), "down": S((*stack, f, d))}


def adam(p, g, m, v, rate=1e-3):
    m = jax.tree.map(lambda m, g: .9 * m + .1 * g.astype(F32), m, g)
    v = jax.tree.map(lambda v, g: .99 * v + .01 * g.astype(F32) ** 2, v, g)
    return jax.tree.map(lambda p, m, v: (p - rate * m * lax.rsqrt(v + 1e-8)).astype(p.dtype), p, m, v), m, v


def like(S, tree, dtype): return jax.tree.map(lambda s: S(s.shape, dtype), tree)
def loss_of(logits, labels): return -jnp.take_along_axis(jax.nn.log_softmax(logits.astype(F32)), labels[..., None], -1).mean()
def conv(x, w, stride=1, **more):
    return lax.conv_general_dilated(x, w, (stride,) * (x.ndim - 2), "SAME", dimension_numbers={4: ("NHWC", "HWIO", "NHWC"), 3: ("NHC", "HIO", "NHC"), 5: ("NDHWC", "DHWIO", "NDHWC")}[x.ndim], **more)


def bert_adam(S, mesh):
    p = {"embed": S((8192, 512)), "layers": [weights(S, 512, 2048) for _ in range(4)]}
    def f(p, m, v, ids, labels):
        def loss(p):
            x = p["embed"][ids]
            for w in p["layers"]: x = jax.checkpoint(functools.partial(layer, causal=False), policy=jax.checkpoint_policies.dots_saveable)(x, w)
            return loss_of(x @ p["embed"].T, labels)
        l, g = jax.value_and_grad(loss)(p)
        return *adam(p, g, m, v), l
    return f, [p, like(S, p, F32), like(S, p, F32), S((8, 256), I32), S((8, 256), I32)], dict(donate_argnums=(0, 1, 2))
def gpt_scan(S, mesh):
    p = weights(S, 512, 2048, (6,))
    def f(p, x, y):
        def loss(p): return ((lax.scan(jax.checkpoint(lambda x, w: (layer(x, w), None)), x, p)[0] - y).astype(F32) ** 2).mean()
        return jax.tree.map(lambda p, g: p - (.1 * g).astype(p.dtype), p, jax.grad(loss)(p))
    return f, [p, S((4, 512, 512)), S((4, 512, 512))], dict(donate_argnums=(0,))
def gpt_scan_kept(S, mesh):
    p = weights(S, 384, 1536, (4,), F32)
    def f(p, x): return jax.value_and_grad(lambda p: (lax.scan(lambda x, w: (layer(x, w, 6), None), x, p)[0] ** 2).mean())(p)
    return f, [p, S((2, 256, 384), F32)]
def vit(S, mesh):
    p = {"patch": S((16, 16, 3, 384)), "layers": [weights(S, 384, 1536) for _ in range(3)], "head": S((384, 1000))}
    def f(p, image, label):
        def loss(p):
            x = lax.conv_general_dilated(image, p["patch"], (16, 16), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")).reshape(image.shape[0], -1, 384)
            for w in p["layers"]: x = layer(x, w, 6, False)
            return loss_of(x.mean(1) @ p["head"], label)
        return jax.value_and_grad(loss)(p)
    return f, [p, S((16, 224, 224, 3)), S((16,), I32)]
def vae(S, mesh):
    p = {"e1": S((3, 3, 3, 32)), "e2": S((3, 3, 32, 64)), "mu": S((16384, 32)), "d0": S((32, 16384)), "d1": S((3, 3, 64, 32)), "d2": S((3, 3, 32, 3))}
    def f(p, x, key):
        def loss(p):
            h = jax.nn.relu(conv(jax.nn.relu(conv(x, p["e1"], 2)), p["e2"], 2)); mu = h.reshape(x.shape[0], -1) @ p["mu"]
            z = mu + jax.random.normal(jax.random.wrap_key_data(key), mu.shape, mu.dtype); y = (z @ p["d0"]).reshape(-1, 16, 16, 64)
            y = jax.nn.relu(lax.conv_transpose(y, p["d1"], (2, 2), "SAME")); return ((lax.conv_transpose(y, p["d2"], (2, 2), "SAME") - x) ** 2).mean() + (mu ** 2).mean()
        return jax.tree.map(lambda p, g: p - .01 * g, p, jax.grad(loss)(p))
    return f, [p, S((32, 64, 64, 3)), S((2,), jnp.uint32)], dict(donate_argnums=(0,))
def gan(S, mesh):
    g, d = [S((64, 1024), F32), S((1024, 4096), F32)], [S((4096, 1024), F32), S((1024, 1), F32)]
    def f(g, d, z, real):
        make = lambda g: jnp.tanh(jax.nn.relu(z @ g[0]) @ g[1]); judge = lambda d, x: jax.nn.relu(x @ d[0]) @ d[1]
        dg = jax.grad(lambda g: jax.nn.softplus(-judge(d, make(g))).mean())(g); dd = jax.grad(lambda d: (jax.nn.softplus(judge(d, make(g))) + jax.nn.softplus(-judge(d, real))).mean())(d)
        return jax.tree.map(lambda a, b: a - .1 * b, g, dg), jax.tree.map(lambda a, b: a - .1 * b, d, dd)
    return f, [g, d, S((256, 64), F32), S((256, 4096), F32)], dict(donate_argnums=(0, 1))
def llama_decode(S, mesh):
    L, B, T, D, H = 4, 8, 1024, 512, 8
    p = {**weights(S, D, 2048, (L,)), "embed": S((16384, D))}
    def f(p, k, v, token, start, key):
        def step(c):
            i, token, k, v, out = c
            def block(x, w):
                w, kc, vc = w; q, a, b = jnp.split(norm(x) @ w["qkv"], 3, -1)
                kc = lax.dynamic_update_slice(kc, heads(a, H)[:, None], (0, i, 0, 0)); vc = lax.dynamic_update_slice(vc, heads(b, H)[:, None], (0, i, 0, 0))
                s = jnp.einsum("bhd,bkhd->bhk", heads(q, H), kc).astype(F32); s = jnp.where(jnp.arange(T) <= i, s, -1e9)
                x = x + jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(s).astype(x.dtype), vc).reshape(x.shape) @ w["o"]
                return x + jax.nn.silu(norm(x) @ w["up"]) @ w["down"], (kc, vc)
            x, (k, v) = lax.scan(block, p["embed"][token], ({n: p[n] for n in ("qkv", "o", "up", "down")}, k, v))
            top, where = lax.top_k((x @ p["embed"].T).astype(F32), 40)
            token = jnp.take_along_axis(where, jax.random.categorical(jax.random.fold_in(jax.random.wrap_key_data(key), i), top)[:, None], 1)[:, 0]
            return i + 1, token, k, v, lax.dynamic_update_slice(out, token[:, None], (0, i))
        return lax.while_loop(lambda c: c[0] < T, step, (start, token, k, v, jnp.zeros((B, T), I32)))
    return f, [p, S((L, B, T, H, D // H)), S((L, B, T, H, D // H)), S((B,), I32), S((), I32), S((2,), jnp.uint32)], dict(donate_argnums=(1, 2))
def beam(S, mesh):
    def f(scores, table, w):
        def step(c, _):
            s, h = c; logits = jax.nn.log_softmax((h @ w).astype(F32)) + s[..., None]; s, i = lax.top_k(logits.reshape(s.shape[0], -1), 5)
            parent, token = i // w.shape[1], i % w.shape[1]; h = jnp.take_along_axis(h, parent[..., None], 1) + table[token]
            return (s, h), (parent, token)
        return lax.scan(step, (scores, jnp.zeros((8, 5, 256), BF)), None, length=32)
    return f, [S((8, 5), F32), S((4096, 256)), S((256, 4096))]
def mamba(S, mesh):
    def f(x, a, b, c, w):
        def loss(a, b, c, w):
            u = x @ w; da, db = jnp.exp(-jax.nn.softplus(u @ a)), (u @ b)
            h = lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (da, db), axis=1)[1]
            return ((h @ c) ** 2).mean()
        return jax.grad(loss, argnums=(0, 1, 2, 3))(a, b, c, w)
    return f, [S((4, 512, 256), F32), S((512, 256), F32), S((512, 256), F32), S((256, 256), F32), S((256, 512), F32)]
def fft_net(S, mesh):
    def f(x, w, v):
        for _ in range(3): x = jnp.fft.irfft2(jnp.fft.rfft2(x) * lax.complex(w, v), s=x.shape[-2:]) + x
        return jax.nn.relu(x)
    return f, [S((16, 128, 128), F32), S((128, 65), F32), S((128, 65), F32)]
def sorting(S, mesh):
    def f(x, k):
        a = jnp.sort(x, 0); i = jnp.argsort(k); b = x[i]; c, d = lax.sort((k, jnp.arange(k.shape[0])), num_keys=1)
        return a, b, jax.ops.segment_sum(b, c // 16, 256), lax.top_k(x.T, 16), jnp.searchsorted(c, d), jnp.unique(k, size=512), jnp.median(x, 1), jnp.lexsort((k, k % 7))
    return f, [S((4096, 128), F32), S((4096,), I32)]
def moe_a2a(S, mesh):
    def g(x, r, w1, w2):
        e = jnp.argmax(x @ r, -1); t = x.shape[0]; slot = jnp.cumsum(jax.nn.one_hot(e, 4, dtype=I32), 0)[jnp.arange(t), e] - 1
        boxes = jnp.zeros((4, t // 2, x.shape[1]), x.dtype).at[e, slot].set(x, mode="drop")
        boxes = lax.all_to_all(boxes, "model", 0, 1, tiled=True); h = jnp.einsum("ecd,edf->ecf", boxes, w1); y = jnp.einsum("ecf,efd->ecd", jax.nn.relu(h), w2)
        return x + lax.all_to_all(y, "model", 1, 0, tiled=True)[e, slot]
    h = shard_map(g, mesh=mesh, in_specs=(P(("data", "model")), P(), P("model"), P("model")), out_specs=P(("data", "model")), check_vma=False)
    return h, [S((4096, 256), BF, P(("data", "model"))), S((256, 4), BF, P(None, None) if False else P()), S((4, 256, 1024), BF, P("model")), S((4, 1024, 256), BF, P("model"))]
def tp_mlp(S, mesh):
    def g(x, w1, w2):
        x = lax.all_gather(x, "model", axis=1, tiled=True); return lax.psum_scatter(jax.nn.gelu(x @ w1) @ w2, "model", scatter_dimension=1, tiled=True)
    h = shard_map(g, mesh=mesh, in_specs=(P("data", "model"), P(None, "model"), P("model")), out_specs=P("data", "model"), check_vma=False)
    return jax.grad(lambda x, a, b: (h(x, a, b) ** 2).mean().astype(F32), argnums=(1, 2)), [S((8, 1024, 512), BF, P("data", "model")), S((512, 2048), BF, P(None, "model")), S((2048, 512), BF, P("model"))]
def pipeline(S, mesh):
    def g(x, w):
        w = w[0]
        def tick(c, i):
            h, out = c; y = jnp.tanh(jnp.where(lax.axis_index("model") == 0, x[i % 4], h) @ w); out = lax.dynamic_update_slice(out, y[None], (i % 4, 0, 0))
            return (lax.ppermute(y, "model", [(0, 1), (1, 0)]), out), None
        return lax.scan(tick, (x[0], x), jnp.arange(6))[0][1]
    return shard_map(g, mesh=mesh, in_specs=(P(None, "data"), P("model")), out_specs=P(None, "data"), check_vma=False), [S((4, 512, 512), BF, P(None, "data")), S((2, 512, 512), BF, P("model"))]
def ring_attention(S, mesh):
    def g(q, k, v):
        def turn(c, _):
            k, v, m, l, o = c; s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32); n = jnp.maximum(m, s.max(-1)); e = jnp.exp(s - n[..., None]); a = jnp.exp(m - n)
            o = o * a[..., None].astype(o.dtype) + jnp.einsum("bhqk,bkhd->bhqd", e.astype(v.dtype), v); move = lambda t: lax.ppermute(t, "data", [(0, 1), (1, 0)])
            return (move(k), move(v), n, l * a + e.sum(-1), o), None
        b, t, h, d = q.shape; m = jnp.full((b, h, t), -1e9, F32)
        _, _, _, l, o = lax.scan(turn, (k, v, m, jnp.zeros_like(m), jnp.zeros((b, h, t, d), q.dtype)), None, length=2)[0]
        return o / l[..., None].astype(o.dtype)
    spec = P(None, "data", "model")
    return shard_map(g, mesh=mesh, in_specs=(spec,) * 3, out_specs=P(None, "model", "data"), check_vma=False), [S((2, 2048, 8, 64), BF, spec)] * 3
def fp8_train(S, mesh):
    def f(x, w1, w2):
        q = lambda t: t.astype(F8); dot = lambda a, b: lax.dot(q(a), q(b), preferred_element_type=BF)
        return jax.grad(lambda w: (dot(jax.nn.relu(dot(x, w[0])), w[1]).astype(F32) ** 2).mean())((w1, w2))
    return f, [S((1024, 512)), S((512, 2048)), S((2048, 512))]
def int8_matmuls(S, mesh):
    def f(x, ws, scales):
        for w, s in zip(ws, scales):
            top = jnp.abs(x).max(-1, keepdims=True); i = jnp.round(x / top * 127).astype(I8); x = jax.nn.relu(lax.dot(i, w, preferred_element_type=I32).astype(BF) * s * top)
        return x
    return f, [S((512, 1024)), [S((1024, 1024), I8)] * 6, [S((1024,))] * 6]
def int4_decode(S, mesh):
    def f(x, ws, s): return lax.scan(lambda x, w: (jax.nn.silu(x @ (w[0].astype(BF) * w[1])), None), x, (ws, s))[0]
    return f, [S((16, 1024)), S((8, 1024, 1024), jnp.int4), S((8, 1, 1024))]
def host_adam(S, mesh):
    p = [S((1024, 1024), F32)] * 3; m = [S((1024, 1024), F32, P(), "pinned_host")] * 3
    def f(p, m, x):
        g = jax.grad(lambda p: (functools.reduce(lambda x, w: jnp.tanh(x @ w), p, x) ** 2).mean())(p)
        m = [.9 * jax.device_put(a, jax.memory.Space.Device) + b for a, b in zip(m, g)]
        return [a - .1 * b for a, b in zip(p, m)], [jax.device_put(a, jax.memory.Space.Host) for a in m]
    return f, [p, m, S((256, 1024), F32)], dict(donate_argnums=(0,))
def offload_names(S, mesh):
    p = weights(S, 512, 2048, (4,)); policy = jax.checkpoint_policies.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["x"], offload_src="device", offload_dst="pinned_host")
    def f(p, x): return jax.grad(lambda p: (lax.scan(jax.checkpoint(lambda x, w: (layer(checkpoint_name(x, "x"), w), None), policy=policy), x, p)[0].astype(F32) ** 2).mean())(p)
    return f, [p, S((4, 512, 512))]
def pallas_softmax(S, mesh):
    def kernel(x, o): v = x[...].astype(F32); e = jnp.exp(v - v.max(-1, keepdims=True)); o[...] = (e / e.sum(-1, keepdims=True)).astype(o.dtype)
    def f(x, w):
        for _ in range(2): x = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.shape[0] // 256,), in_specs=[pl.BlockSpec((256, x.shape[1]), lambda i: (i, 0))], out_specs=pl.BlockSpec((256, x.shape[1]), lambda i: (i, 0)))(x @ w)
        return x
    return f, [S((4096, 1024)), S((1024, 1024))]
def pallas_accumulate(S, mesh):
    def kernel(x, y, o, a):
        @pl.when(pl.program_id(2) == 0)
        def _(): a[...] = jnp.zeros_like(a)
        a[...] += jnp.dot(x[...], y[...], preferred_element_type=F32)
        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _(): o[...] = a[...].astype(o.dtype)
    def product(x, y):
        b = 512; (m, k), n = x.shape, y.shape[1]
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((m, n), x.dtype), grid=(m // b, n // b, k // b), scratch_shapes=[pltpu.VMEM((b, b), F32)],
                              in_specs=[pl.BlockSpec((b, b), lambda i, j, k: (i, k)), pl.BlockSpec((b, b), lambda i, j, k: (k, j))], out_specs=pl.BlockSpec((b, b), lambda i, j, k: (i, j)))(x, y)
    return (lambda x, ws: lax.scan(lambda x, w: (jax.nn.relu(product(x, w)), None), x, ws)), [S((1024, 1024)), S((4, 1024, 1024))]
def gnn(S, mesh):
    def f(x, src, dst, ws):
        def loss(ws):
            h = x
            for w, u in ws: h = jax.nn.relu(jax.ops.segment_sum((h @ w)[src], dst, h.shape[0]) + h @ u)
            return (h ** 2).mean()
        return jax.grad(loss)(ws)
    return f, [S((4096, 128), F32), S((32768,), I32), S((32768,), I32), [(S((128, 128), F32), S((128, 128), F32))] * 2]
def dlrm(S, mesh):
    def f(tables, w, ids, dense):
        def loss(t, w):
            x = jnp.concatenate([t[i][ids[:, i]] for i in range(4)] + [dense], 1); return (jax.nn.relu(x @ w) ** 2).mean()
        gt, gw = jax.grad(loss, argnums=(0, 1))(tables, w); return [a - .1 * b for a, b in zip(tables, gt)], w - .1 * gw
    return f, [[S((50000, 64), F32)] * 4, S((320, 256), F32), S((1024, 4), I32), S((1024, 64), F32)], dict(donate_argnums=(0, 1))
def kalman(S, mesh):
    def f(x, p, zs, a, h):
        def step(c, z):
            x, p = c; x = a @ x; p = a @ p @ a.T + jnp.eye(32) * .1; s = h @ p @ h.T + jnp.eye(16); k = jnp.linalg.solve(s, h @ p).T
            return (x + k @ (z - h @ x), p - k @ h @ p), x
        return lax.scan(step, (x, p), zs)
    return f, [S((32,), F32), S((32, 32), F32), S((64, 16), F32), S((32, 32), F32), S((16, 32), F32)]
def ppo(S, mesh):
    def f(w, v, state, key):
        def act(c, k):
            s = c; logits = jnp.tanh(s @ w[0]) @ w[1]; a = jax.random.categorical(k, logits); s = jnp.sin(s + a[:, None] * .1); return s, (s, a, jax.nn.log_softmax(logits)[jnp.arange(a.shape[0]), a], s.mean(-1))
        s, (ss, aa, lp, r) = lax.scan(act, state, jax.random.split(jax.random.wrap_key_data(key), 64)); adv = lax.associative_scan(lambda a, b: a * .9 + b, r, reverse=True) - (ss @ v)
        def loss(w):
            new = jnp.take_along_axis(jax.nn.log_softmax(jnp.tanh(ss @ w[0]) @ w[1]), aa[..., None], -1)[..., 0]; ratio = jnp.exp(new - lp); return -jnp.minimum(ratio * adv, jnp.clip(ratio, .8, 1.2) * adv).mean()
        return lax.fori_loop(0, 4, lambda _, w: jax.tree.map(lambda w, g: w - .01 * g, w, jax.grad(loss)(w)), w), s
    return f, [(S((64, 256), F32), S((256, 8), F32)), S((64,), F32), S((512, 64), F32), S((2,), jnp.uint32)]
def wavenet(S, mesh):
    def f(x, ws):
        def loss(ws):
            h = x
            for i, (a, b) in enumerate(ws): h = h + jnp.tanh(conv(h, a, rhs_dilation=(2 ** i,))) * jax.nn.sigmoid(conv(h, b, rhs_dilation=(2 ** i,)))
            return (h ** 2).mean()
        return jax.grad(loss)(ws)
    return f, [S((8, 4096, 64), F32), [(S((2, 64, 64), F32), S((2, 64, 64), F32))] * 4]
def conv3d(S, mesh): return (lambda x, a, b: jax.grad(lambda w: (conv(jax.nn.relu(conv(x, w[0])), w[1], 2) ** 2).mean())((a, b))), [S((2, 16, 64, 64, 16)), S((3, 3, 3, 16, 32)), S((3, 3, 3, 32, 32))]
def mobilenet(S, mesh):
    def f(x, ws):
        def loss(ws):
            h = x
            for e, d, p in ws: h = h + conv(jax.nn.relu6(conv(jax.nn.relu6(conv(h, e)), d, feature_group_count=d.shape[-1])), p)
            return (h.astype(F32) ** 2).mean()
        return jax.tree.map(lambda w, g: w - .1 * g, ws, jax.grad(loss)(ws))
    return f, [S((16, 56, 56, 24)), [(S((1, 1, 24, 144)), S((3, 3, 1, 144)), S((1, 1, 144, 24)))] * 3], dict(donate_argnums=(1,))
def sharded_layers(S, mesh):
    d, f = 512, 2048; p = {"qkv": S((2, d, 3 * d), BF, P(None, "data", "model")), "o": S((2, d, d), BF, P(None, "model", "data")), "up": S((2, d, f), BF, P(None, "data", "model")), "down": S((2, f, d), BF, P(None, "model", "data"))}
    def g(p, x): return jax.tree.map(lambda p, g: p - .1 * g, p, jax.grad(lambda p: (lax.scan(jax.checkpoint(lambda x, w: (layer(x, w), None)), x, p)[0].astype(F32) ** 2).mean())(p))
    return g, [p, S((8, 512, d), BF, P("data"))], dict(donate_argnums=(0,))
def accumulate(S, mesh):
    p = [S((768, 3072)), S((3072, 768))]
    def f(p, xs):
        def micro(g, x): return jax.tree.map(lambda a, b: a + b.astype(F32), g, jax.grad(lambda p: ((jax.nn.gelu(x @ p[0]) @ p[1]).astype(F32) ** 2).mean())(p)), None
        g = lax.scan(micro, jax.tree.map(lambda p: jnp.zeros(p.shape, F32), p), xs)[0]; return jax.tree.map(lambda p, g: p - g.astype(p.dtype), p, g)
    return f, [p, S((8, 512, 768))], dict(donate_argnums=(0,))
def optimizer(S, mesh):
    p = [S((1000 + 24 * i, 512), F32) for i in range(12)] + [S((512,), F32)] * 12
    def f(p, m, v, g):
        n = jnp.sqrt(sum((x ** 2).sum() for x in g)); return adam(p, [x / jnp.maximum(n, 1.) for x in g], m, v)
    return f, [p, p, p, p], dict(donate_argnums=(0, 1, 2))
def lora(S, mesh):
    def f(w, a, b, x, y): return jax.value_and_grad(lambda ab: (((functools.reduce(lambda x, t: jax.nn.relu(x @ t[0] + x @ t[1] @ t[2]), zip(w, *ab), x)) - y).astype(F32) ** 2).mean())((a, b))
    return f, [[S((1024, 1024))] * 4, [S((1024, 8))] * 4, [S((8, 1024))] * 4, S((512, 1024)), S((512, 1024))]
def clip(S, mesh):
    def f(a, b, x, y):
        def loss(a, b):
            u, v = norm(x @ a), norm(y @ b); s = (u @ v.T).astype(F32) * 10; i = jnp.arange(s.shape[0]); return loss_of(s, i) + loss_of(s.T, i)
        return jax.grad(loss, argnums=(0, 1))(a, b)
    return f, [S((1024, 512), BF, P(None, "model")), S((768, 512), BF, P(None, "model")), S((2048, 1024), BF, P("data")), S((2048, 768), BF, P("data"))]
def hessian(S, mesh):
    def f(w, v, x): g = jax.grad(lambda w: (jnp.tanh(jnp.tanh(x @ w) @ w) ** 2).sum()); return jax.jvp(g, (w,), (v,)), jax.vmap(lambda t: jax.jvp(g, (w,), (t,))[1])(jnp.stack([v, w]))
    return f, [S((512, 512), F32), S((512, 512), F32), S((128, 512), F32)]
def ode(S, mesh):
    def f(x, w):
        d = lambda x: jnp.tanh(x @ w)
        def step(c):
            t, h, x = c; a = d(x); b = d(x + h * a / 2); c = d(x + h * b / 2); e = d(x + h * c); n = x + h / 6 * (a + 2 * b + 2 * c + e); err = jnp.abs(n - x - h * a).max()
            return t + h, jnp.where(err > .1, h / 2, h * 1.1), n
        return lax.while_loop(lambda c: c[0] < 1., step, (0., .01, x))
    return f, [S((2048, 512), F32), S((512, 512), F32)]
def branches(S, mesh):
    def f(i, x, ws):
        big = lambda w: lambda x: jax.nn.softmax((x @ w).astype(F32)).astype(x.dtype) @ w.T
        y = lax.switch(i, [big(w) for w in ws] + [lambda x: x], x); return lax.cond(i > 1, lambda y: (y.sum(0), y), lambda y: (y.max(0), y * 2), y)
    return f, [S((), I32), S((1024, 512)), [S((512, 2048))] * 3]
def slices(S, mesh):
    def f(x, y, i):
        a = jnp.concatenate([x, y, x[:, ::-1]], 0); b = lax.dynamic_slice(a, (i, 0), (512, 300)); c = jnp.pad(b, ((3, 5), (100, 0))); d = lax.dynamic_update_slice(a, c[:256, :300], (i, i % 7))
        return d, c.T, jnp.roll(a, i, 0)[::3], jnp.repeat(b, 2, 0), a.reshape(-1, 100)
    return f, [S((1000, 300), F32), S((777, 300), F32), S((), I32)]
def blocks_prefill(S, mesh):
    def f(q, k, v):
        def rows(i):
            qi = lax.dynamic_slice_in_dim(q, i * 256, 256, 1)
            def columns(c, j):
                m, l, o = c; kj, vj = (lax.dynamic_slice_in_dim(t, j * 256, 256, 1) for t in (k, v)); s = jnp.einsum("bqhd,bkhd->bhqk", qi, kj).astype(F32); n = jnp.maximum(m, s.max(-1)); e = jnp.exp(s - n[..., None]); a = jnp.exp(m - n)
                return (n, l * a + e.sum(-1), o * a[..., None] + jnp.einsum("bhqk,bkhd->bhqd", e.astype(BF), vj)), None
            z = jnp.zeros((q.shape[0], q.shape[2], 256), F32); _, l, o = lax.scan(columns, (z - 1e9, z, jnp.zeros((*z.shape, q.shape[3]), F32)), jnp.arange(8))[0]; return (o / l[..., None]).astype(BF)
        return lax.map(rows, jnp.arange(8))
    return f, [S((2, 2048, 8, 128))] * 3
def many_outputs(S, mesh):
    def f(x, n): return {"sums": [x.sum(i) for i in range(3)], "nested": {"a": (x * 2, x.astype(BF)), "b": [x[0], (x[1] > 0)]}, "x": x + 1, "n": n + 1}
    return f, [S((8, 256, 384), F32), S((), I32)], dict(donate_argnums=(0,))
def scan_ys(S, mesh):
    def f(x, w):
        def step(h, _): h = jnp.tanh(h @ w); return h, (h, h.sum(-1), h.astype(BF))
        return jax.grad(lambda w: sum(y.astype(F32).sum() for y in jax.tree.leaves(lax.scan(step, x, None, length=24))))(w), lax.scan(step, x, None, length=24)
    return f, [S((128, 256), F32), S((256, 256), F32)]
def fsdp_adam(S, mesh):
    spec = P(("data", "model")); p = [S((1024, 1024), F32, spec)] * 3
    def f(p, m, v, x):
        g = jax.grad(lambda p: (functools.reduce(lambda x, w: jax.nn.relu(x @ w.astype(BF)), p, x).astype(F32) ** 2).mean())(p); return adam(p, g, m, v)
    return f, [p, p, p, S((4096, 1024), BF, spec)], dict(donate_argnums=(0, 1, 2))
def logits_chunks(S, mesh):
    def f(x, w, y):
        def chunk(c, t): return c + loss_of(t[0] @ w, t[1]), None
        return jax.grad(lambda w, x: lax.scan(jax.checkpoint(lambda c, t: (c + loss_of(t[0] @ w, t[1]), None)), 0., (x.reshape(8, -1, x.shape[1]), y.reshape(8, -1)))[0], argnums=(0, 1))(w, x)
    return f, [S((4096, 512)), S((512, 32000)), S((4096,), I32)]
def image_warp(S, mesh):
    def f(x, g): return jax.vmap(lambda im, gr: jax.scipy.ndimage.map_coordinates(im, gr, 1, mode="nearest"))(x, g), jax.image.resize(x, (4, 96, 96), "bilinear")
    return f, [S((4, 128, 128), F32), S((4, 2, 64, 64), F32)]


# Programs from here on were added after all rules were complete, so no rule was made for them.
def unet(S, mesh):
    conv = lambda x, w, s=1: lax.conv_general_dilated(x, w, (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    up = lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    def loss(ws, x, y):
        a = jax.nn.silu(conv(x, ws[0])); b = jax.nn.silu(conv(a, ws[1], 2)); c = jax.nn.silu(conv(b, ws[2], 2))
        d = jnp.concatenate([jax.nn.silu(up(c, ws[3])), b], -1); e = jnp.concatenate([jax.nn.silu(up(d, ws[4])), a], -1)
        return jnp.mean((conv(e, ws[5]) - y).astype(F32) ** 2)
    def f(ws, x, y):
        l, g = jax.value_and_grad(loss)(ws, x, y)
        return l, [w - 0.01 * q for w, q in zip(ws, g)]
    channels = [(3, 64), (64, 128), (128, 256), (256, 128), (256, 64), (128, 3)]
    return f, [[S((3, 3, *c)) for c in channels], S((8, 128, 128, 3)), S((8, 128, 128, 3))], dict(donate_argnums=0)
def kalman_cholesky(S, mesh):
    def f(m, p, a, q, h, r, zs):
        def one(c, z):
            m, p = a @ c[0], a @ c[1] @ a.T + q
            k = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(h @ p @ h.T + r), True), h @ p).T
            m = m + k @ (z - h @ m)
            return (m, p - k @ h @ p), m
        return lax.scan(one, (m, p), zs)
    return f, [S((256,), F32), S((256, 256), F32), S((256, 256), F32), S((256, 256), F32), S((64, 256), F32), S((64, 64), F32), S((500, 64), F32)]
def branches_large(S, mesh):
    def f(i, x, w): return lax.switch(i, [lambda x: jnp.tanh(x @ w), lambda x: jnp.sort(x, -1), lambda x: lax.fori_loop(0, 5, lambda i, y: y @ w * 0.5, x)], x)
    return f, [S((), I32), S((4096, 2048)), S((2048, 2048))]
def int4_mlp(S, mesh):
    def f(x, w, s):
        for i in range(3): x = jax.nn.gelu((x @ w[i].astype(BF)) * s[i])
        return x, jnp.argmax(x, -1)
    return f, [S((512, 4096)), S((3, 4096, 4096), jnp.int4), S((3, 4096))]
def adagrad_embedding(S, mesh):
    def f(table, acc, ids, y):
        l, g = jax.value_and_grad(lambda t: jnp.mean((t[ids].sum(1) - y) ** 2))(table)
        acc = acc + g * g
        return l, table - g * lax.rsqrt(acc + 1e-6), acc, jnp.bincount(ids.reshape(-1), length=1000)
    return f, [S((50000, 96), F32), S((50000, 96), F32), S((512, 20), I32), S((512, 96), F32)], dict(donate_argnums=(0, 1))
def nearest(S, mesh):
    def f(q, db):
        v, i = lax.top_k(2 * q @ db.T - (q * q).sum(-1)[:, None] - (db * db).sum(-1)[None], 32)
        return v, i, db[i[:, 0]]
    return f, [S((1024, 128), F32), S((20000, 128), F32)]
def ffn_sharded(S, mesh):
    def f(x, w1, w2): return lax.with_sharding_constraint(jax.nn.silu(x @ w1) @ w2, jax.sharding.NamedSharding(mesh, P("data", None)))
    return f, [S((4096, 2048), spec=P("data", None)), S((2048, 8192), spec=P(None, "model")), S((8192, 2048), spec=P("model", None))]
def offload_scan(S, mesh):
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=["h"], offload_src="device", offload_dst="pinned_host")
    def one(x, w): return checkpoint_name(jnp.tanh(x @ w), "h") * x, None
    def f(ws, x): return jax.value_and_grad(lambda ws: lax.scan(jax.checkpoint(one, policy=policy), x, ws)[0].astype(F32).sum())(ws)
    return f, [S((8, 2048, 2048)), S((1024, 2048))]
def lstm(S, mesh):
    def f(wx, wh, xs, h, c):
        def loss(wx, wh):
            def cell(s, x):
                i, k, o, u = jnp.split(x @ wx + s[0] @ wh, 4, -1)
                c = jax.nn.sigmoid(k) * s[1] + jax.nn.sigmoid(i) * jnp.tanh(u)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h
            return (lax.scan(cell, (h, c), xs)[1].astype(F32) ** 2).mean()
        return jax.value_and_grad(loss, argnums=(0, 1))(wx, wh)
    return f, [S((512, 2048)), S((512, 2048)), S((128, 64, 512)), S((64, 512)), S((64, 512))]

# The generations for each program: two or three of the five.
PROGRAMS = {
    bert_adam: "v5e v6e tpu7x", gpt_scan: "v4 v5e v5p", gpt_scan_kept: "v5e v6e", vit: "v5e v5p", vae: "v4 v5e", gan: "v6e tpu7x", llama_decode: "v5e v6e", beam: "v4 v5e",
    mamba: "v5e tpu7x", fft_net: "v5e v5p", sorting: "v5e v6e tpu7x", moe_a2a: "v5e v4", tp_mlp: "v5e v6e tpu7x", pipeline: "v5p v5e", ring_attention: "v5e tpu7x", fp8_train: "v6e tpu7x",
    int8_matmuls: "v5e v4", int4_decode: "v5e v6e", host_adam: "v5e v5p", offload_names: "v5e v6e", pallas_softmax: "v5e v4", pallas_accumulate: "v5e v6e", gnn: "v5e v5p tpu7x", dlrm: "v5e v6e tpu7x",
    kalman: "v5e tpu7x", ppo: "v5e v4", wavenet: "v5e v6e", conv3d: "v5e v5p", mobilenet: "v5e v6e", sharded_layers: "v5e tpu7x", accumulate: "v5e v4", optimizer: "v5e v5p v6e tpu7x",
    lora: "v5e tpu7x", clip: "v5e v6e", hessian: "v5e v4", ode: "v5e v5p", branches: "v5e v6e tpu7x", slices: "v5e tpu7x", blocks_prefill: "v5e v5p", many_outputs: "v5e v4", scan_ys: "v5e v6e",
    fsdp_adam: "v5e v5p", logits_chunks: "v5e v6e", image_warp: "v5e tpu7x",
    unet: "v5e tpu7x", kalman_cholesky: "v5e tpu7x", branches_large: "v4 v5e", int4_mlp: "v4 v5e", adagrad_embedding: "v5e tpu7x", nearest: "v5e tpu7x", ffn_sharded: "v5e",
    offload_scan: "v5e tpu7x", lstm: "v4 v5e",
}
# Programs of which the message and the buffer assignment are kept, too.
WITH_MESSAGE = ["many_outputs", "pallas_softmax", "ode", "pipeline", "host_adam", "ring_attention"]
# The length limit of a module for the tests, in characters.
LONGEST = 160_000
KEEP = {".txt": "after.hlo", ".hlo.pb": "after.hlo.pb", "-buffer-assignment.txt": "buffer-assignment.txt", "-live-range.txt": "live-range.txt", "-memory-usage-report.txt": "memory-usage-report.txt"}


def compile_some(generation, out, names):
    """Runs in a separate process, because XLA reads its flags once, and a program may end the process."""
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding
    devices = np.array(list(topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[generation]).devices)[:4])
    alone, mesh = Mesh(devices[:1].reshape(1, 1), ("data", "model")), Mesh(devices.reshape(2, 2), ("data", "model"))

    def S(shape, dtype=jnp.bfloat16, spec=P(), memory=None, on=None):
        on = on or (mesh if any(axis is not None for axis in spec) else alone)
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(on, spec, **({"memory_kind": memory} if memory else {})))
    for name in names:
        function, arguments, *options = globals()[name](S, mesh)
        # If one argument is on several devices, all arguments are placed on the same mesh.
        if any(leaf.sharding.mesh.size > 1 for leaf in jax.tree.leaves(arguments)):
            arguments = jax.tree.map(lambda s: S(s.shape, s.dtype, s.sharding.spec, s.sharding.memory_kind, mesh), arguments)
        step = lambda *a: function(*a)
        step.__name__ = name
        try:
            memory = jax.jit(step, **(options[0] if options else {})).lower(*arguments).compile().memory_analysis()
        except Exception as error:
            print(generation, name, "failed:", str(error)[:300].replace("\n", " "), flush=True)
            continue
        to = os.path.join(out, f"{name}__{generation}")
        os.makedirs(to, exist_ok=True)
        for tail, new in KEEP.items():
            found = [path for path in glob.glob(os.path.join(out, f"dump-{generation}", "module_*.after_optimizations" + tail)) if f".jit_{name}." in path]
            if found: shutil.copy(max(found, key=os.path.getsize), os.path.join(to, new))
        with open(os.path.join(to, "stats.json"), "w") as stats:
            json.dump({"program": name, "generation": generation, "memory": {key: getattr(memory, key) for key in dir(memory) if key.endswith("_in_bytes")}}, stats)
        print(generation, name, flush=True)
    os._exit(0)


def row(folder):
    """The data for a test: the module without folder names, and of the buffer assignment only the sizes of heaps."""
    read = lambda name: open(os.path.join(folder, name)).read()
    stats = json.loads(read("stats.json"))
    heaps = {}
    for size, color in re.findall(r"^allocation \d+: size (\d+)(?:, color (\d+))?, page 0, preallocated-temp:", read("buffer-assignment.txt"), re.M):
        heaps[color or "0"] = heaps.get(color or "0", 0) + int(size)
    module = re.sub(r'"/[^"]*/', '"/', read("after.hlo"))
    if stats["program"] in WITH_MESSAGE and stats["generation"] == "v5e":
        # Paths are replaced by others of the same length, so that the lengths in the message remain valid.
        proto = re.sub(rb"/[\w./-]+/(?=\w+\.py)", lambda path: b"/" + b"x" * (len(path[0]) - 2) + b"/", open(os.path.join(folder, "after.hlo.pb"), "rb").read())
        stats |= {"proto": base64.b64encode(proto).decode(), "buffer_assignment": read("buffer-assignment.txt")}
    return {**stats, "heaps": heaps, "module": module}


def main():
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "target/tpu-memory"))
    for generation in TOPOLOGIES:
        dump = os.path.join(out, f"dump-{generation}")
        left = [p.__name__ for p, on in PROGRAMS.items() if generation in on.split() and not os.path.exists(os.path.join(out, f"{p.__name__}__{generation}", "stats.json"))]
        while left:
            shutil.rmtree(dump, ignore_errors=True)
            env = dict(os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1", XLA_FLAGS=f"--xla_dump_to={dump} --xla_dump_hlo_as_text --xla_dump_hlo_as_proto")
            run = subprocess.run([sys.executable, HERE, "--some", generation, out, *left], env=env, stdout=subprocess.PIPE, text=True)
            seen = [line.split()[1] for line in run.stdout.splitlines() if line.startswith(generation)]
            print(run.stdout, end="", flush=True)
            # The program that ended the process is skipped.
            left = left[len(seen) + 1:]
        shutil.rmtree(dump, ignore_errors=True)
    rows = [row(folder) for folder in sorted(glob.glob(os.path.join(out, "*__*")))]
    # Tests stay quick.
    rows = [row for row in rows if len(row["module"]) <= LONGEST]
    to = os.path.join(ROOT, "tests/corpus/tpu_memory_more.jsonl")
    with open(to, "w") as file:
        for one in rows: file.write(json.dumps(one, separators=(",", ":")) + "\n")
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", to], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--some"]: compile_some(sys.argv[2], sys.argv[3], sys.argv[4:])
    else: main()
