#!/usr/bin/env python3
"""Prints rows of tests/corpus/other_memory.jsonl.zst: small programs compiled for the CPU, with the compiler's memory analysis.

Needs `pip install jax==0.12.*`; the environment has JAX_PLATFORMS=cpu.

usage: cpu_memory.py >> FILE.jsonl"""

import json

import jax
import jax.numpy as jnp
from jax import lax

f32 = jnp.float32
PROGRAMS = {}


def S(*sizes, dtype=f32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def p(*arguments, **options):
    def add(function):
        PROGRAMS[function.__name__] = (function, arguments, options)
        return function

    return add


@p(S(512,512))
def cumsums(x): return jnp.cumsum(jnp.cumsum(x,0),1)
@p(S(64,64,64,dtype=jnp.complex64))
def ifft3(x): return jnp.fft.ifftn(x*2)+1
@p(S(256,1024))
def sorts(x): return jnp.sort(x,axis=1)+jnp.argsort(x,axis=1)
@p(S(512,512))
def chain(x): return jnp.tanh(jnp.sin(x)@jnp.cos(x))@x
@p(S(128,256),S(256,512),S(512,256))
def mlp(x,a,b): return jax.nn.softmax(jax.nn.gelu(x@a)@b)
@p(S(128,256),S(256,256))
def scan_rnn(x,w):
    def step(c,t): c=jnp.tanh(c@w+t); return c,c.sum()
    return lax.scan(step,x,jnp.ones((10,128,256)))
@p(S(256,256))
def while_pow(x): return lax.fori_loop(0,7,lambda i,c:c@x/256+i,x)
@p(S(8,64,32,32),S(64,64,3,3))
def conv(x,w): return jax.nn.relu(lax.conv(x,w,(1,1),'SAME')).mean((2,3))
@p(S(4,128,8,32),S(4,128,8,32),S(4,128,8,32))
def attention(q,k,v): return jax.nn.dot_product_attention(q,k,v)
@p(S(256,512))
def layernorm(x):
    m=x.mean(-1,keepdims=True); return (x-m)/jnp.sqrt(((x-m)**2).mean(-1,keepdims=True)+1e-5)
@p({'a':S(256,512),'b':S(512,10)},S(64,256),S(64,10),donate_argnums=0)
def train(w,x,y):
    def loss(w): return ((jnp.tanh(x@w['a'])@w['b']-y)**2).mean()
    g=jax.grad(loss)(w); return jax.tree.map(lambda w,g:w-.1*g,w,g),loss(w)
@p(S(1000,64),S(256,dtype=jnp.int32),S(256,64))
def gather_scatter(t,i,u): return t.at[i].add(u*2),t[i]*3
@p(S(2,dtype=jnp.uint32))
def randoms(k): return jax.random.normal(k,(512,256))+jax.random.uniform(k,(512,256))
@p(S(64,64))
def linalg(x): q,r=jnp.linalg.qr(x@x.T+jnp.eye(64)); return q@r, jnp.linalg.cholesky(x@x.T+jnp.eye(64))
@p(S(64,64))
def solve(x): return jnp.linalg.solve(x+jnp.eye(64),x)
@p(S(256,256),S(dtype=jnp.bool_))
def conds(x,b): return lax.cond(b,lambda x:jnp.sin(x)@x,lambda x:jnp.cos(x).T@x,x)
@p(S(1024,256))
def assoc(x): return lax.associative_scan(jnp.add,x)
@p(S(128,128,16))
def transposes(x): return jnp.transpose(jnp.sin(x),(2,0,1)).reshape(16,-1)@jnp.ones((16384,8))
@p(S(300,300),S(300,300))
def many(x,y):
    a=x@y; b=y@x; c=a@b; d=jnp.exp(a)-b; return c+d, (d*c).sum(0), a.T
@p(S(64,1000))
def topk(x): return lax.top_k(x,10)
@p(S(32,128,dtype=jnp.bfloat16),S(128,128,dtype=jnp.bfloat16))
def bf16(x,w): return (jax.nn.silu(x@w)@w.T).astype(f32)
@p(S(16,64,64))
def vmapped(x): return jax.vmap(lambda a: jnp.linalg.inv(a@a.T+jnp.eye(64)))(x)
@p(S(4,256,dtype=jnp.int32),S(1000,64),S(64,256),S(256,64),S(64,64),S(64,64),S(64,64))
def block(ids,e,a,b,wq,wk,wv):
    x=e[ids]; q,k,v=x@wq,x@wk,x@wv
    s=jax.nn.softmax(q@k.swapaxes(1,2)/8+jnp.where(jnp.tril(jnp.ones((256,256),bool)),0,-1e9))
    x=x+s@v; return (x+jax.nn.gelu(x@a)@b)@e.T
@p(S(4,256,dtype=jnp.int32),S(1000,64),S(64,256),S(256,64))
def block_grad(ids,e,a,b):
    def loss(e,a,b):
        x=e[ids]; x=x+jax.nn.gelu(x@a)@b; return jax.nn.log_softmax(x@e.T).mean()
    return jax.grad(loss,(0,1,2))(e,a,b)
@p(S(8,512,64),S(8,1,64),S(dtype=jnp.int32),donate_argnums=0)
def cache(c,n,i): c=lax.dynamic_update_slice(c,n,(0,i,0)); return c,(c*2).sum(1)
@p(S(8,512,64),S(8,1,64),S(dtype=jnp.int32))
def cache_copied(c,n,i): c=lax.dynamic_update_slice(c,n,(0,i,0)); return c,(c*2).sum(1)
@p(S(64,64,64))
def fft_power(x): return jnp.abs(jnp.fft.rfftn(x))**2
@p(S(128,64),S(64,64))
def nested(x,w):
    def outer(i,c): return lax.fori_loop(0,3,lambda j,d: jnp.tanh(d@w),c)+i
    return lax.fori_loop(0,5,outer,x)
@p(S(1<<16))
def reductions(x): y=x.reshape(256,256); return y.max(0)-y.min(1),jnp.var(x),jnp.median(y,axis=0)
@p(S(64,28,28,1),S(5,5,1,16),S(5,5,16,32))
def cnn(x,a,b):
    c=lambda x,w: lax.reduce_window(jax.nn.relu(lax.conv_general_dilated(x,w,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC'))),-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID')
    return c(c(x,a),b)
@p(S(128,64),S(4,64,64),S(4,64,64))
def stacked(x,a,b): return lax.scan(lambda c,w:(c+jnp.tanh(c@w[0])@w[1],c.mean()),x,(a,b))
@p(S(4,64,64),S(128,64))
def stacked_grad(a,x): return jax.grad(lambda a: lax.scan(lambda c,w:(jnp.tanh(c@w),None),x,a)[0].sum())(a)
@p(S(32,16,16,8),S(3,3,8,16))
def conv_grad(x,w): return jax.grad(lambda w: jax.nn.relu(lax.conv_general_dilated(x,w,(2,2),'SAME',dimension_numbers=('NHWC','HWIO','NHWC'))).sum())(w)
@p({'w':S(128,128),'m':S(128,128),'v':S(128,128)},S(64,128),donate_argnums=0)
def adam(s,x):
    g=jax.grad(lambda w:(jnp.sin(x@w)**2).mean())(s['w']); m=.9*s['m']+.1*g; v=.99*s['v']+.01*g*g
    return {'w':s['w']-m/(jnp.sqrt(v)+1e-8),'m':m,'v':v}
@p(S(512),S(512))
def outer(x,y): a=x[:,None]*y; return a@a.T, a.sum()
@p(S(64,256,dtype=jnp.int32))
def histogram(i): return jnp.bincount(i.ravel()%1000,length=1000), jnp.unique(i[0]%7,size=8)
@p(S(1000,3),S(1000,3))
def distances(a,b): d=((a[:,None]-b)**2).sum(-1); return jnp.sqrt(d).min(1),d.argmin(1)
@p(S(64,64,dtype=jnp.complex64))
def eigen(x): return jnp.linalg.eigh(x@x.conj().T)
@p(S(128,128))
def svd(x): return jnp.linalg.svd(x,full_matrices=False)
@p(S(16,128),S(1000,128),S(16,dtype=jnp.int32))
def cross_entropy(x,e,y): l=x@e.T; return -jnp.take_along_axis(jax.nn.log_softmax(l),y[:,None],1).mean(), jax.nn.softmax(l).max(1)
@p(S(8,64,128),S(128,128),S(128,128))
def gated(x,a,b): return (jax.nn.sigmoid(x@a)*jnp.tanh(x@b)).transpose(1,0,2)
@p(S(8,1024))
def window(x): return lax.reduce_window(x,0.,lax.add,(1,5),(1,2),'SAME'), lax.cummax(x,1)
@p(S(256,256,dtype=jnp.int8),S(256,256,dtype=jnp.int8))
def int8(a,b): return (a.astype(jnp.int32)@b.astype(jnp.int32)).astype(f32)*.01
@p(S(2,dtype=jnp.uint32),S(64,256))
def dropout(k,x): return jnp.where(jax.random.bernoulli(k,.9,x.shape),x/.9,0)@x.T
@p(S(100,100))
def newton(x): return lax.while_loop(lambda s:s[1]<10,lambda s:(s[0]-.1*(s[0]@s[0].T@s[0]-s[0]),s[1]+1),(x,0))[0]
@p(S(64,512),S(64,512))
def pair(x,y): a=jnp.sin(x)+y; b=jnp.cos(a)*x; c=a@b.T; return c, c.T@a, b
@p(S(16,16,16,16))
def permuted(x): return jnp.einsum('abcd,dcef->abef',x,x).transpose(3,1,0,2)+x
@p(S(4,256,64),S(dtype=jnp.int32))
def dynamic(x,i): y=lax.dynamic_slice(x,(0,i,0),(4,16,64)); return lax.dynamic_update_slice(x*2,y+1,(0,0,0))
@p(S(128,128),S(dtype=jnp.int32))
def switch(x,i): return lax.switch(i,[lambda x:x@x,jnp.sin,lambda x:jnp.exp(x).T@x],x)
@p(S(64,32),S(32,64),S(64,16))
def rematted(x,a,b):
    f=jax.checkpoint(lambda x:jnp.tanh(jnp.sin(x@a)@b)); return jax.grad(lambda x:f(x).sum())(x)

for name, (function, arguments, options) in PROGRAMS.items():
    compiled = jax.jit(function, **options).lower(*arguments).compile()
    memory = compiled.memory_analysis()
    parts = {part: getattr(memory, part + "_size_in_bytes") for part in ("argument", "output", "alias", "temp")}
    print(json.dumps({"program": name, "device": "cpu", "module": compiled.as_text(), "memory": parts}))
