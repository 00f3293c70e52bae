#!/usr/bin/env python3
"""Writes tests/corpus/hlo_more.jsonl.zst: JAX programs compiled for CPU and, ahead of time, for TPUs, as XLA dumps them.

usage: scripts/data/hlo_programs.py    makes its environment in target/hlo-programs; needs the program zstd

Each function below returns a function and its arguments, where S(shape, type, spec) makes an argument on the first device, or over `mesh`
("data", "model", 2 by 2) if the spec names its axes.
"""
import glob, json, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TPUS = {"v5e": "v5e:2x2", "tpu7x": "tpu7x:2x2x1", "v4": "v4:2x2x1"}

try:
    import jax, jax.numpy as jnp
    from jax import lax, shard_map
    from jax.sharding import PartitionSpec as P
    F32, BF = jnp.float32, jnp.bfloat16
except ImportError:
    home = os.path.join(ROOT, "target/hlo-programs")
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([home + "/bin/pip", "install", "-q", "jax==0.12.*", "jaxlib==0.12.*", "libtpu==0.0.52"], check=True)
    os.execv(home + "/bin/python", [home + "/bin/python", os.path.abspath(__file__), *sys.argv[1:]])


def resnet(S, mesh):
    def block(x, w1, w2, s):
        c = lambda x, w, st=1: lax.conv_general_dilated(x, w, (st, st), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = jax.nn.relu(c(x, w1)); m = y.mean((0,1,2)); v = y.var((0,1,2)); y = (y-m)*lax.rsqrt(v+1e-5)*s
        y = c(y, w2) + x
        return lax.reduce_window(y, -jnp.inf, lax.max, (1,3,3,1), (1,2,2,1), "SAME").mean()
    return jax.grad(block, argnums=(0,1,2,3)), [S((8,16,16,32), F32), S((3,3,32,32), F32), S((3,3,32,32), F32), S((32,), F32)]
def attention(S, mesh):
    def f(q,k,v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8.0
        s = jnp.where(jnp.tril(jnp.ones(s.shape[-2:], bool)), s, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s.astype(F32)).astype(q.dtype), v).astype(F32).sum()
    return jax.grad(f, argnums=(0,1,2)), [S((2,128,4,64))]*3
def gru(S, mesh):
    def f(h, xs, w, u):
        def step(h, x):
            z = jax.nn.sigmoid(x@w + h@u); h = (1-z)*h + z*jnp.tanh(x@w); return h, h
        return lax.scan(jax.checkpoint(step), h, xs)[1].sum()
    return jax.grad(f, argnums=(2,3)), [S((8,64), F32), S((20,8,64), F32), S((64,64), F32), S((64,64), F32)]
def linalg(S, mesh):
    def f(a, b):
        s = a @ a.swapaxes(-1,-2) + jnp.eye(16); l = jnp.linalg.cholesky(s)
        return l, jax.scipy.linalg.solve_triangular(l, b, lower=True), jnp.linalg.qr(a), jnp.linalg.eigh(s), jnp.linalg.inv(s), jnp.linalg.det(s)
    return f, [S((2,16,16), F32), S((2,16,4), F32)]
def randoms(S, mesh):
    def f(k):
        ks = jax.random.split(k, 6)
        return (jax.random.normal(ks[0], (8,128)), jax.random.uniform(ks[1], (3,5), BF), jax.random.bernoulli(ks[2], .3, (16,)), jax.random.permutation(ks[3], 32),
                jax.random.categorical(ks[4], jnp.ones((4,9))), jax.random.gamma(ks[5], 2.0, (6,)), jax.random.randint(ks[0], (7,), 0, 100, jnp.int8))
    return f, [S((2,), jnp.uint32)]
def ffts(S, mesh): return (lambda x: (jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(x), jnp.abs(jnp.fft.ifft(x)), jnp.angle(jnp.fft.fft(x)))), [S((4,32,64), F32)]
def control(S, mesh):
    def f(x, n, i):
        a = lax.while_loop(lambda c: c[0] < n, lambda c: (c[0]+1, lax.dynamic_update_slice(c[1], c[1][:1]*2, (c[0] % 8, 0))), (0, x))[1]
        b = lax.switch(i, [lambda x: x+1, lambda x: x.T.reshape(x.shape), lambda x: jnp.flip(x, 1)], x); c = lax.cond(n > 3, lambda x: (x, n), lambda x: (-x, n+1), x)
        d = lax.fori_loop(0, 4, lambda j, y: y + lax.dynamic_slice(x, (j, 0), (1, 128)), x[:1]); e = lax.map(lambda r: jnp.cumsum(r), x)
        return a, b, c, d, e, lax.associative_scan(jnp.multiply, x, axis=0)
    return f, [S((8,128), F32), S((), jnp.int32), S((), jnp.int32)]
def types(S, mesh):
    def f(x, i, b):
        return (x.astype(jnp.float8_e4m3fn).astype(F32), x.astype(jnp.int4).astype(jnp.int8), lax.bitcast_convert_type(x, jnp.uint8), lax.bitcast_convert_type(i, jnp.int32), lax.reduce_precision(x, 5, 10),
                lax.population_count(i), lax.clz(i), ~b, b.astype(F32), jnp.where(b, x, 0), x > 0, jnp.isfinite(x), lax.erf(x), lax.nextafter(x, x+1), jnp.round(x), jnp.sign(x), lax.complex(x, -x).conj().real, jnp.left_shift(i.astype(jnp.int32), 3),
                jnp.remainder(x, 3.0), jnp.power(x, 2.5), jnp.arctan2(x, x), jnp.cbrt(x), jnp.sinh(x), jnp.arccosh(x+2), lax.dot(i.reshape(8,-1), i.reshape(8,-1).T, preferred_element_type=jnp.int32), jnp.clip(x, -1, 1), lax.rsqrt(x))
    return f, [S((8,128), F32), S((8,128,4), jnp.uint8), S((8,128), jnp.bool_)]
def reductions(S, mesh):
    def f(x):
        return (x.sum(), x.max((0,2)), jnp.argmax(x, 1), jnp.argmin(x, -1), jnp.any(x > 0, 0), jnp.all(x > 0), x.std(1), jax.nn.logsumexp(x, 2), jnp.cumprod(x, 1), lax.cummax(x, 0), jnp.prod(x, -1), jnp.percentile(x, 30.),
                lax.reduce_window(x, 0., lax.add, (1,2,3), (1,1,2), ((0,0),(1,0),(0,2))), jnp.convolve(x[0,0], jnp.ones(5)), jnp.histogram(x, 8)[0])
    return f, [S((4,8,64), F32)]
def ragged(S, mesh): return (lambda a, b, g: jax.lax.ragged_dot(a, b, g)), [S((64,128)), S((4,128,256)), S((4,), jnp.int32)]
def gathers(S, mesh):
    def f(x, i, j, u):
        g = jax.vmap(lambda t, k: t[k])(x, i); h = jax.vmap(lambda t, k, v: t.at[k].set(v))(x, i, u); q = x[:, ::2, 1:-1]; r = jnp.roll(x, 3, 2); p = jnp.pad(x, ((0,0),(1,2),(3,0)), mode="reflect")
        return g, h, q, r, p, x.at[j, j].max(0.), jnp.repeat(x, 2, 1), jnp.tile(x, (1,2,1)), jax.grad(lambda x: x[:, i[0]].sum())(x), jnp.concatenate([x, g.mean(1, keepdims=True)*jnp.ones_like(x)], 1)
    return f, [S((4,16,32), F32), S((4,6), jnp.int32), S((3,), jnp.int32), S((4,6,32), F32)]
def collectives(S, mesh):
    def g(x):
        a = lax.psum(x, "data"); b = lax.all_gather(x, "model", tiled=True); c = lax.ppermute(x, "data", [(0,1),(1,0)]); d = lax.psum_scatter(x, "model", tiled=True); e = lax.all_to_all(x, "model", 1, 0, tiled=True)
        return a.sum()+b.sum()+c.sum()+d.sum()+e.sum()+lax.axis_index("data")+lax.pmax(x, ("data","model")).sum()+ lax.psum((x, x.astype(BF)), "model")[0].sum()
    h = shard_map(lambda x: jnp.reshape(g(x).astype(F32),(1,1)), mesh=mesh, in_specs=P("data","model"), out_specs=P("data","model"), check_vma=False)
    return h, [S((16,256), F32, P("data","model"))]
def sharded(S, mesh):
    def f(x, w1, w2): return jax.grad(lambda w: ((jax.nn.gelu(x@w[0])@w[1])**2).mean())((w1,w2))
    return f, [S((64,256), BF, P("data",None)), S((256,512), BF, P(None,"model")), S((512,256), BF, P("model",None))], dict(donate_argnums=(1,2))
def moe_sorted(S, mesh):
    def f(x, r, w):
        p = jax.nn.softmax(x@r); t, e = lax.top_k(p, 2); o = jnp.argsort(e.reshape(-1)); xs = jnp.repeat(x, 2, 0)[o]; n = jnp.bincount(e.reshape(-1), length=8).astype(jnp.int32)
        return jax.lax.ragged_dot(xs, w, n)[jnp.argsort(o)].reshape(x.shape[0], 2, -1).sum(1)
    return f, [S((128,64)), S((64,8)), S((8,64,128))]
def transposed(S, mesh): return (lambda x, w: (lax.conv_transpose(x, w, (2,2), "SAME"), lax.conv_general_dilated(x, jnp.ones((3,3,1,64), x.dtype), (1,1), "VALID", rhs_dilation=(2,2), feature_group_count=16, dimension_numbers=("NHWC","HWIO","NHWC")))), [S((2,16,16,16)), S((3,3,16,32))]
def einsums(S, mesh): return (lambda a, b, c: (jnp.einsum("abc,cbd->ad", a, b), jnp.einsum("abc,dbc->bad", a, c), jnp.tensordot(a, c, ((1,2),(1,2))), jnp.outer(a[0,0], b[0,0]))), [S((4,8,16), F32), S((16,8,32), F32), S((5,8,16), F32)]


PROGRAMS = [resnet, attention, gru, linalg, randoms, ffts, control, types, reductions, ragged, gathers, collectives, sharded, moe_sorted, transposed, einsums]


def compile_all(platform, dump):
    """Runs in a separate process, because XLA reads its flags only once."""
    import numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding
    all_devices = jax.devices() if platform == "cpu" else topologies.get_topology_desc(platform="tpu", topology_name=TPUS[platform]).devices
    devices = np.array(list(all_devices)[:4])
    alone, mesh = Mesh(devices[:1].reshape(1, 1), ("data", "model")), Mesh(devices.reshape(2, 2), ("data", "model"))

    def S(shape, dtype=jnp.bfloat16, spec=P()):
        on = mesh if any(axis is not None for axis in spec) else alone
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(on, spec))
    for program in PROGRAMS:
        function, arguments, *options = program(S, mesh)
        step = lambda *a: function(*a)
        step.__name__ = program.__name__
        jax.jit(step, **(options[0] if options else {})).lower(*arguments).compile()


def main():
    rows = []
    for platform in [*TPUS, "cpu"]:
        with tempfile.TemporaryDirectory() as dump:
            flags = f"--xla_force_host_platform_device_count=4 --xla_dump_to={dump} --xla_dump_hlo_as_text"
            env = dict(os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", XLA_FLAGS=flags)
            subprocess.run([sys.executable, os.path.abspath(__file__), "--one", platform, dump], env=env, check=True)
            for path in sorted(glob.glob(dump + "/*before_optimizations.txt") + glob.glob(dump + "/*after_optimizations.txt")):
                # Names of folders are not kept.
                text = re.sub(r'"/[^"]*/', '"/', open(path).read())
                rows.append({"module": f"{platform}/{os.path.basename(path)}", "text": text})
    to = os.path.join(ROOT, "tests/corpus/hlo_more.jsonl")
    with open(to, "w") as out:
        for row in rows: out.write(json.dumps(row, separators=(",", ":")) + "\n")
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", to], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]: compile_all(*sys.argv[2:])
    else: main()
