#!/usr/bin/env python3
"""Writes tests/corpus/called_kernels.jsonl.zst: programs that call Pallas kernels around what fits into VMEM, and whether libtpu takes them. No TPU is
needed.

Needs: pip install jax==0.12.0.1 libtpu==0.0.52 (Python 3.12 or newer), for example in an environment under target/, and the program zstd.

usage: scripts/data/called_kernels.py               some minutes

A row: `name`; `program`, as StableHLO, for v5e; `compiles`, for each generation null, or why libtpu refuses the program. The kernels compute next to
nothing: their blocks are what matters.
"""
import json, os, re, subprocess

os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl, topologies
from jax.experimental.pallas import tpu as pltpu

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOPOLOGIES = {"v4": "v4:2x2x1", "v5e": "v5e:2x2", "v5p": "v5p:2x2x1", "v6e": "v6e:2x2", "tpu7x": "tpu7x:2x2x1"}
K = 1024
S0 = jax.ShapeDtypeStruct


def mm(m,n,k,bm,bn,bk,dt=jnp.bfloat16,pre=False,lim=None,sem=("parallel","parallel","arbitrary")):
    def f(x,y):
        def kern(x_ref,y_ref,o_ref,acc):
            @pl.when(pl.program_id(2)==0)
            def _(): acc[:8,:128]=jnp.zeros((8,128),jnp.float32)
            o_ref[...]=jnp.full_like(o_ref,jnp.sum(acc[:8,:128]))
        if pre: x,y=jnp.sin(x),jnp.sin(y)
        return pl.pallas_call(kern,grid=(m//bm,n//bn,k//bk),in_specs=[pl.BlockSpec((bm,bk),lambda i,j,k:(i,k)),pl.BlockSpec((bk,bn),lambda i,j,k:(k,j))],out_specs=pl.BlockSpec((bm,bn),lambda i,j,k:(i,j)),out_shape=S0((m,n),dt),scratch_shapes=[pltpu.VMEM((bm,bn),jnp.float32)],compiler_params=pltpu.CompilerParams(vmem_limit_bytes=lim,dimension_semantics=sem))(x,y)
    return f,[((m,k),dt),((k,n),dt)]
def one(shape,dt,bm,g,im,oshape=(8,128),obm=(8,128),oim=None,odt=jnp.float32,scr=(),lim=None,sem=None,pre=False,n=1,mode=None):
    def f(*xs):
        def kern(*r):
            o=r[n]; total=0.0
            for q in r[n+1:]:
                place=(slice(0,8),slice(0,min(q.shape[1],128))) if len(q.shape)==2 else (slice(0,1024),) if len(q.shape)==1 else (0,)
                @pl.when(pl.program_id(0)==0)
                def _(): q[place]=jnp.zeros_like(q[place])
                total=total+jnp.sum(q[place].astype(jnp.float32))
            o[...]=jnp.full_like(o,total)
        if pre: xs=[jnp.sin(x) for x in xs]
        return pl.pallas_call(kern,grid=g,in_specs=[pl.BlockSpec(bm,im,**(dict(pipeline_mode=mode) if mode else {}))]*n,out_specs=pl.BlockSpec(obm,oim or (lambda *i:(0,)*len(obm))),out_shape=S0(oshape,odt),scratch_shapes=list(scr),compiler_params=pltpu.CompilerParams(vmem_limit_bytes=lim,dimension_semantics=sem))(*xs)
    return f,[(shape,dt)]*n


def two_kernels():
    def first(x):
        def kernel(a, o): o[...] = a[...]
        return pl.pallas_call(kernel, grid=(6,), in_specs=[pl.BlockSpec((K, K), lambda i: (i, 0))], out_specs=pl.BlockSpec((K, K), lambda i: (i, 0)), out_shape=S0((6 * K, K), jnp.float32))(x)
    def second(x):
        def kernel(a, o): o[...] = a[:8, :128]
        return pl.pallas_call(kernel, in_specs=[pl.BlockSpec(memory_space=pltpu.VMEM)], out_shape=S0((8, 128), jnp.float32))(x)
    return (lambda x: second(first(x))), [((6 * K, K), jnp.float32)]


PROGRAMS = {
    "matmul_fits":mm(2048,2048,2048,512,512,512),
    "matmul_huge":mm(8192,8192,8192,2048,2048,1024),
    "matmul_huge_pre":mm(4096,4096,4096,2048,2048,1024,pre=True),
    "matmul_limit":mm(4096,4096,4096,1024,1024,1024,lim=60<<20),
    "matmul_1024":mm(4096,4096,4096,1024,1024,1024),
    "matmul_f8":mm(8192,8192,8192,2048,2048,2048,dt=jnp.float8_e4m3fn),
    "moving_12_of_96":one((24*K,K),jnp.float32,(3*K,K),(8,),lambda i:(i,0)),
    "fixed_12_of_96":one((24*K,K),jnp.float32,(3*K,K),(8,),lambda i:(0,0)),
    "fixed_20_of_96":one((25*K,K),jnp.float32,(5*K,K),(5,),lambda i:(0,0)),
    "zero_times_i":one((24*K,K),jnp.float32,(3*K,K),(8,),lambda i:(i*0,0)),
    "computed":one((24*K,K),jnp.float32,(3*K,K),(8,),lambda i:(jnp.maximum(i-1,0),0)),
    "axis_of_one":one((24*K,K),jnp.float32,(3*K,K),(8,1),lambda i,j:(j,0)),
    "parallel_2":one((6*K,K),jnp.float32,(3*K,K),(2,),lambda i:(i,0),sem=("parallel",)),
    "parallel_4":one((12*K,K),jnp.float32,(3*K,K),(4,),lambda i:(i,0),sem=("parallel",)),
    "parallel_3":one((9*K,K),jnp.float32,(3*K,K),(3,),lambda i:(i,0),sem=("parallel",)),
    "synchronous":one((24*K,K),jnp.float32,(3*K,K),(8,),lambda i:(i,0),mode=pl.Buffered(1)),
    "limit_20":one((24*K,K),jnp.float32,(3*K,K),(8,),lambda i:(i,0),lim=20<<20),
    "limit_100":one((24*K,K),jnp.float32,(12*K,K),(2,),lambda i:(i,0),lim=100<<20),
    "limit_1000":one((32*K,K),jnp.float32,(16*K,K),(2,),lambda i:(i,0),lim=1000<<20),
    "narrow":one((128*K,1),jnp.float32,(16*K,1),(8,),lambda i:(i,0)),
    "narrow_bf16":one((512*K,1),jnp.bfloat16,(64*K,1),(8,),lambda i:(i,0)),
    "narrow_2":one((128*K,2),jnp.float32,(16*K,2),(8,),lambda i:(i,0)),
    "narrow_3d":one((512,8,2*K),jnp.float32,(64,8,2*K),(8,),lambda i:(i,0,0)),
    "heads":one((4096,2,128),jnp.bfloat16,(4096,2,128),(1,),lambda i:(0,0,0)),
    "heads_wide":one((64*K,2,128),jnp.bfloat16,(64*K,2,128),(1,),lambda i:(0,0,0)),
    "heads_3":one((32*K,3,128),jnp.float32,(8*K,3,128),(4,),lambda i:(i,0,0)),
    "short_rows":one((64*K,3),jnp.float32,(32*K,3),(2,),lambda i:(i,0)),
    "u8":one((8,1<<26),jnp.uint8,(8,1<<21),(32,),lambda i:(0,i)),
    "int4":one((96*K,2*K),jnp.int4,(12*K,2*K),(8,),lambda i:(i,0)),
    "int4_fits":one((96*K,2*K),jnp.int4,(6*K,2*K),(16,),lambda i:(i,0)),
    "int4_scratch":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((12*K,2*K),jnp.int4)]),
    "int4_scratch_fits":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((4*K,2*K),jnp.int4)]),
    "bool":one((12*K,4*K),jnp.bool_,(K,4*K),(12,),lambda i:(i,0)),
    "scratch_20":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((5*K,K),jnp.float32)]),
    "scratch_15_narrow":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((30*K,1),jnp.float32)]),
    "scratch_narrow":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((40*K,2),jnp.float32)]),
    "scratch_1row":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((K,1,128*K//8//8),jnp.float32)]),
    "scratch_line":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((3*K*K,),jnp.float32)]),
    "scratch_bf16_8rows":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((7*K,8,128),jnp.bfloat16)]),
    "scratch_bf16_1row":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((20*K,1,128),jnp.bfloat16)]),
    "scratch_i8_1row":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((20*K,1,128),jnp.int8)]),
    "scratch_i8_3row":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((20*K,3,128),jnp.int8)]),
    "scratch_bool":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),scr=[pltpu.VMEM((3*K,K),jnp.bool_)]),
    "pre_2x10":one((2560,K),jnp.float32,(2560,K),(1,),lambda i:(i,0),pre=True,n=2),
    "2x10":one((2560,K),jnp.float32,(2560,K),(1,),lambda i:(i,0),n=2),
    "2x20":one((5120,K),jnp.float32,(5120,K),(1,),lambda i:(i,0),n=2),
    "3x20":one((5120,K),jnp.float32,(5120,K),(1,),lambda i:(i,0),n=3),
    "1x72":one((18*K,K),jnp.float32,(18*K,K),(1,),lambda i:(i,0)),
    "1x132":one((33*K,K),jnp.float32,(33*K,K),(1,),lambda i:(i,0)),
    "big_out":one((8,128),jnp.float32,(8,128),(8,),lambda i:(0,0),(24*K,K),(3*K,K),lambda i:(i,0)),
    "big_out_narrow":one((8,128),jnp.float32,(8,128),(8,),lambda i:(0,0),(128*K,1),(16*K,1),lambda i:(i,0)),
    "big_out_whole":one((8,128),jnp.float32,(8,128),(1,),lambda i:(0,0),(5*K,K),(5*K,K),lambda i:(0,0)),
    "two_kernels":two_kernels(),
    "rank4":one((16,32,K,128),jnp.float32,(2,32,K,128),(8,),lambda i:(i,0,0,0)),
    "squeezed":one((16,K,8*K),jnp.float32,(None,K,8*K),(16,),lambda i:(i,0,0)),
    "rows_3":one((3,1<<22),jnp.float32,(3,1<<20),(4,),lambda i:(0,i)),
    "rows_5_bf16":one((5,1<<22),jnp.bfloat16,(5,1<<20),(4,),lambda i:(0,i)),
    "rows_1_bf16":one((1,1<<24),jnp.bfloat16,(1,1<<22),(4,),lambda i:(0,i)),
    "rows_1_i8":one((1,1<<24),jnp.int8,(1,1<<22),(4,),lambda i:(0,i)),
    "rows_4_i8":one((4,1<<24),jnp.int8,(4,1<<20),(16,),lambda i:(0,i)),
    "rows_16_i8":one((16,1<<22),jnp.int8,(16,1<<19),(8,),lambda i:(0,i)),
}


def main():
    chip = lambda name: jax.sharding.SingleDeviceSharding(topologies.get_topology_desc(platform="tpu", topology_name=TOPOLOGIES[name]).devices[0])
    rows = []
    for name, (function, arguments) in PROGRAMS.items():
        lower = lambda chip: jax.jit(function).trace(*[S0(sizes, of, sharding=chip) for sizes, of in arguments]).lower(lowering_platforms=("tpu",))
        # The source locations of a kernel are not needed.
        text = re.sub(r", \\22debug_locations\\22: \\22[^\\]*\\22", "", lower(chip("v5e")).as_text())
        row = {"name": name, "compiles": {}, "program": text}
        for tpu in TOPOLOGIES:
            try:
                lower(chip(tpu)).compile()
                row["compiles"][tpu] = None
            except Exception as error:
                said = re.search(r"Scoped allocation with size \S+ and limit \S+|Used \S+ of \S+ vmem|Allocation \(size=\d+\) would exceed memory \(size=\d+\)", str(error))
                row["compiles"][tpu] = said[0] if said else str(error).splitlines()[0][:160]
        rows.append(json.dumps(row, separators=(",", ":")) + "\n")
        print(name, row["compiles"], flush=True)
    path = os.path.join(ROOT, "tests", "corpus", "called_kernels.jsonl.zst")
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", path], input="".join(rows).encode(), check=True)


main()
