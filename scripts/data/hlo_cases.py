#!/usr/bin/env python3
"""Writes tests/corpus/hlo_cases.jsonl.zst: small HLO programs, valid and invalid, with XLA's own answers.

usage: scripts/data/hlo_cases.py [CASES]    CASES for each opcode, 48 by default; makes its environment in target/hlo-cases

Each program tests one instruction, the root `r` of the entry computation. About half have one change: a size or an element type of an
operand or of the result, a number of an attribute, an additional or a missing operand. XLA's answers are:

infer   the shape that XLA's parser infers if the shape of `r` is left out, or null if it refuses. Missing for opcodes whose shape
        must be written.
valid   whether the program as written is valid: according to XLA's import into StableHLO, whose verifier checks it, and the CPU compiler.
        Missing if an answer does not tell, such as for an opcode that the CPU compiler does not implement.
"""
import json, os, random, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from xla import ask, ready  # noqa: E402

FLOATS, INTS, COMPLEX = ["f32", "bf16", "f16", "f64"], ["s32", "u32", "s8", "u8", "s64"], ["c64", "c128"]
ALL = FLOATS + INTS + COMPLEX + ["pred"]


def shape(t, dims): return f"{t}[{','.join(map(str, dims))}]"
def braces(numbers): return "{" + ",".join(map(str, numbers)) + "}"
def tuple_of(shapes): return "(" + ", ".join(shapes) + ")"
def names(n): return ", ".join(f"p{i}" for i in range(n))


class Gen:
    """Makes a valid case of each opcode: operands, instruction, shape."""
    def __init__(self, seed): self.r = random.Random(seed); self.callees = {}

    def dims(self, low=1, high=4): return [self.r.choice([1, 2, 3, 4, 5, 6, 8]) for _ in range(self.r.randint(low, high))]
    def of(self, *lists): return self.r.choice(sum(lists, []))

    def callee(self, name, parameters, root):
        body = "".join(f"  a{i} = {t}[] parameter({i})\n" for i, t in enumerate(parameters))
        self.callees[name] = f"{name} {{\n{body}  ROOT z = {root}\n}}\n"
        return name

    def sum_of(self, t):
        return self.callee(f"sum_{t}", [t, t], f"{t}[] {'or' if t == 'pred' else 'add'}(a0, a1)")

    def unary(self, op, types, result=lambda t: t):
        t, d = self.of(types), self.dims(0)
        return [shape(t, d)], f"{op}(p0)", shape(result(t), d)

    def binary(self, op, types, result=lambda t: t, attributes=""):
        t, d = self.of(types), self.dims(0)
        return [shape(t, d)] * 2, f"{op}(p0, p1){attributes}", shape(result(t), d)

    def clamp(self):
        t, d = self.of(FLOATS, INTS), self.dims(0)
        bound = shape(t, d if self.r.random() < .5 else [])
        return [bound, shape(t, d), bound], "clamp(p0, p1, p2)", shape(t, d)

    def select(self):
        t, d = self.of(ALL), self.dims(0)
        return [shape("pred", d if self.r.random() < .8 else []), shape(t, d), shape(t, d)], "select(p0, p1, p2)", shape(t, d)

    def convert(self): t, u, d = self.of(FLOATS, INTS), self.of(FLOATS, INTS), self.dims(0); return [shape(t, d)], "convert(p0)", shape(u, d)
    def compare(self): return self.binary("compare", FLOATS + INTS + ["pred"], lambda t: "pred", ", direction=" + self.r.choice(["EQ", "LT", "GE"]))
    def complex(self): return self.binary("complex", ["f32", "f64"], {"f32": "c64", "f64": "c128"}.get)
    def real(self): return self.unary("real", COMPLEX + ["f32"], lambda t: {"c64": "f32", "c128": "f64"}.get(t, t))
    def imag(self): return self.unary("imag", COMPLEX + ["f32"], lambda t: {"c64": "f32", "c128": "f64"}.get(t, t))
    def abs(self): return self.unary("abs", FLOATS + ["s32", "s8"] + COMPLEX, lambda t: {"c64": "f32", "c128": "f64"}.get(t, t))
    def is_finite(self): return self.unary("is-finite", FLOATS, lambda t: "pred")
    def reduce_precision(self): o, i, s = self.unary("reduce-precision", FLOATS); return o, i + f", exponent_bits={self.r.randint(1, 8)}, mantissa_bits={self.r.randint(0, 10)}", s

    def stochastic_convert(self):
        (t, u), d = self.r.choice([("f32", "u32"), ("f16", "u16"), ("bf16", "u16"), ("f64", "u64")]), self.dims(0)
        return [shape(t, d), shape(u, d)], "stochastic-convert(p0, p1)", shape(self.of(["bf16", "s8", "f16", "s32"]), d)

    def bitcast_convert(self):
        bits = {"f32": 32, "s32": 32, "bf16": 16, "u8": 8, "s8": 8, "f64": 64, "c64": 64, "s64": 64, "c128": 128, "u32": 32}
        t, u, d = self.of(list(bits)), self.of(list(bits)), self.dims(0, 3)
        if bits[t] > bits[u]: return [shape(t, d)], "bitcast-convert(p0)", shape(u, d + [bits[t] // bits[u]])
        if bits[t] < bits[u]: return [shape(t, d + [bits[u] // bits[t]])], "bitcast-convert(p0)", shape(u, d)
        return [shape(t, d)], "bitcast-convert(p0)", shape(u, d)

    def broadcast(self):
        t, d = self.of(ALL), self.dims(1)
        places = sorted(self.r.sample(range(len(d)), self.r.randint(0, len(d))))
        return [shape(t, [d[i] for i in places])], f"broadcast(p0), dimensions={braces(places)}", shape(t, d)

    def iota(self): t, d = self.of(FLOATS, INTS, ["c64"]), self.dims(1); return [], f"iota(), iota_dimension={self.r.randrange(len(d))}", shape(t, d)

    def reshape(self):
        t, d = self.of(ALL), self.dims(1); e = d[:]
        i = self.r.randrange(len(e)); e[i:i + 1] = [e[i], 1] if self.r.random() < .5 else [1, e[i]]
        if self.r.random() < .5: e = [int(__import__("math").prod(d))]
        return [shape(t, d)], "reshape(p0)", shape(t, e)

    def transpose(self):
        t, d = self.of(ALL), self.dims(1); p = list(range(len(d))); self.r.shuffle(p)
        return [shape(t, d)], f"transpose(p0), dimensions={braces(p)}", shape(t, [d[i] for i in p])

    def reverse(self):
        t, d = self.of(ALL), self.dims(1); p = self.r.sample(range(len(d)), self.r.randint(1, len(d)))
        return [shape(t, d)], f"reverse(p0), dimensions={braces(p)}", shape(t, d)

    def slice(self):
        t, d = self.of(ALL), self.dims(1); parts, e = [], []
        for n in d:
            a = self.r.randint(0, n); b = self.r.randint(a, n); s = self.r.randint(1, 3)
            parts.append(f"[{a}:{b}]" if s == 1 else f"[{a}:{b}:{s}]"); e.append(-(-(b - a) // s))
        return [shape(t, d)], "slice(p0), slice={" + ", ".join(parts) + "}", shape(t, e)

    def pad(self):
        t, d = self.of(FLOATS, INTS, ["pred"]), self.dims(1); parts, e = [], []
        for n in d:
            a, b, c = self.r.randint(-1, 2), self.r.randint(0, 2), self.r.randint(0, 2)
            parts.append(f"{a}_{b}" + (f"_{c}" if c else "")); e.append(n + a + b + c * (n - 1))
        return [shape(t, d), shape(t, [])], "pad(p0, p1), padding=" + "x".join(parts), shape(t, e)

    def concatenate(self):
        t, d = self.of(ALL), self.dims(1); at = self.r.randrange(len(d)); n = self.r.randint(1, 3); sizes = [self.r.randint(1, 4) for _ in range(n)]
        with_size = lambda s: d[:at] + [s] + d[at + 1:]
        return [shape(t, with_size(s)) for s in sizes], f"concatenate({names(n)}), dimensions={braces([at])}", shape(t, with_size(sum(sizes)))

    def reduced(self, t):
        """One or two inputs with their initial values, and the computation that combines them."""
        if self.r.random() < .7: return [t], self.sum_of(t)
        u = self.of(FLOATS, INTS)
        return [t, u], self.callee(f"both_{t}_{u}", [t, u, t, u], f"({t}[], {u}[]) tuple(a0, a3)")

    def reduce(self):
        d = self.dims(1); types, apply = self.reduced(self.of(FLOATS, INTS)); gone = self.r.sample(range(len(d)), self.r.randint(1, len(d)))
        e = [shape(t, [n for i, n in enumerate(d) if i not in gone]) for t in types]
        return [shape(t, d) for t in types] + [shape(t, []) for t in types], f"reduce({names(2 * len(types))}), dimensions={braces(gone)}, to_apply={apply}", e[0] if len(e) == 1 else tuple_of(e)

    def window(self, d, stride=3, dilate=True):
        size, steps, pads, rhs, e = [], [], [], [], []
        for n in d:
            w, s, a, b = self.r.randint(1, min(n, 3)), self.r.randint(1, stride), self.r.randint(0, 1), self.r.randint(0, 1)
            k = self.r.randint(1, 2) if dilate else 1
            size.append(w); steps.append(s); pads.append(f"{a}_{b}"); rhs.append(k); span = (w - 1) * k + 1
            e.append(0 if n + a + b < span else (n + a + b - span) // s + 1)
        x = lambda l: "x".join(map(str, l))
        return f"window={{size={x(size)} stride={x(steps)} pad={x(pads)}" + (f" rhs_dilate={x(rhs)}" if dilate else "") + "}", size, e

    def reduce_window(self):
        d = self.dims(1, 3); types, apply = self.reduced(self.of(FLOATS, INTS)); w, _, e = self.window(d); e = [shape(t, e) for t in types]
        return [shape(t, d) for t in types] + [shape(t, []) for t in types], f"reduce-window({names(2 * len(types))}), {w}, to_apply={apply}", e[0] if len(e) == 1 else tuple_of(e)

    def select_and_scatter(self):
        t, d = self.of(FLOATS, INTS), self.dims(1, 3); w, _, e = self.window(d, dilate=False)
        ge = self.callee(f"ge_{t}", [t, t], "pred[] compare(a0, a1), direction=GE")
        return [shape(t, d), shape(t, e), shape(t, [])], f"select-and-scatter(p0, p1, p2), {w}, select={ge}, scatter={self.sum_of(t)}", shape(t, d)

    def map(self):
        t, d, n = self.of(FLOATS, INTS), self.dims(1, 3), self.r.randint(1, 2)
        apply = self.sum_of(t) if n == 2 else self.callee(f"neg_{t}", [t], f"{t}[] negate(a0)")
        return [shape(t, d)] * n, f"map({names(n)}), dimensions={braces(range(len(d)))}, to_apply={apply}", shape(t, d)

    def split(self, d):
        kinds = [self.r.choice("bcf") for _ in d]; self.r.random()
        return [[i for i, k in enumerate(kinds) if k == x] for x in "bcf"]

    def dot(self):
        t, b, c = self.of(FLOATS, INTS), self.dims(0, 2), self.dims(0, 2); l, r = self.dims(0, 2), self.dims(0, 2)
        left, right = b + l + c, b + c + r; nb, nc = len(b), len(c); at = nb + len(l)
        a = f"lhs_contracting_dims={braces(range(at, at + nc))}, rhs_contracting_dims={braces(range(nb, nb + nc))}"
        if nb: a = f"lhs_batch_dims={braces(range(nb))}, rhs_batch_dims={braces(range(nb))}, " + a
        return [shape(t, left), shape(t, right)], f"dot(p0, p1), {a}", shape(t, b + l + r)

    def ragged_dot(self):
        t, m, k, n, g = self.of(["f32", "bf16"]), *[self.r.randint(2, 7) for _ in range(4)]
        if self.r.random() < .5: return [shape(t, [m, k]), shape(t, [g, k, n]), shape("s32", [g])], "ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}", shape(t, [m, n])
        return [shape(t, [m, k]), shape(t, [k, n]), shape("s32", [g])], "ragged-dot(p0, p1, p2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}", shape(t, [g, m, n])

    def convolution(self):
        t, n, f, o, g = self.of(["f32", "bf16", "f64"]), self.r.randint(1, 4), self.r.randint(1, 4), self.r.randint(1, 4), self.r.choice([1, 1, 2])
        d = [self.r.randint(3, 8) for _ in range(self.r.randint(1, 2))]; w, size, e = self.window(d); s = "01"[:len(d)]
        a = f"{w}, dim_labels=b{s}f_{s}io->b{s}f" + (f", feature_group_count={g}" if g > 1 else "")
        return [shape(t, [n, *d, f * g]), shape(t, [*size, f, o * g])], f"convolution(p0, p1), {a}", shape(t, [n, *e, o * g])

    def dynamic_slice(self):
        t, u, d = self.of(ALL), self.of(["s32", "s64", "u32"]), self.dims(1, 3); e = [self.r.randint(0, n) for n in d]
        return [shape(t, d)] + [shape(u, [])] * len(d), f"dynamic-slice({names(1 + len(d))}), dynamic_slice_sizes={braces(e)}", shape(t, e)

    def dynamic_update_slice(self):
        t, u, d = self.of(ALL), self.of(["s32", "s64", "u32"]), self.dims(1, 3); e = [self.r.randint(1, n) for n in d]
        return [shape(t, d), shape(t, e)] + [shape(u, [])] * len(d), f"dynamic-update-slice({names(2 + len(d))})", shape(t, d)

    def indexed(self):
        """An operand, index vectors for some of its dimensions, and the slices at these indices."""
        d, batch = self.dims(2, 3), self.dims(1, 2); chosen = sorted(self.r.sample(range(len(d)), self.r.randint(1, len(d))))
        sizes = [1 if i in chosen else self.r.randint(1, n) for i, n in enumerate(d)]
        offset = [n for i, n in enumerate(sizes) if i not in chosen]
        return d, batch, chosen, sizes, batch + offset, list(range(len(batch), len(batch) + len(offset)))

    def gather(self):
        t, u = self.of(ALL), self.of(["s32", "s64", "u32"]); d, batch, chosen, sizes, e, offset = self.indexed()
        a = f"offset_dims={braces(offset)}, collapsed_slice_dims={braces(chosen)}, start_index_map={braces(chosen)}, index_vector_dim={len(batch)}, slice_sizes={braces(sizes)}"
        if self.r.random() < .3:
            n = self.r.randint(2, 4); d, batch, chosen, sizes, e, offset = [n] + d, [n] + batch, [i + 1 for i in chosen], [1] + sizes, [n] + e, [i + 1 for i in offset]
            a = f"offset_dims={braces(offset)}, collapsed_slice_dims={braces(chosen)}, start_index_map={braces(chosen)}, operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, index_vector_dim={len(batch)}, slice_sizes={braces(sizes)}"
        return [shape(t, d), shape(u, batch + [len(chosen)])], f"gather(p0, p1), {a}", shape(t, e)

    def scatter(self):
        t, u = self.of(FLOATS, INTS), self.of(["s32", "s64"]); d, batch, chosen, _, e, offset = self.indexed()
        more = ""
        if self.r.random() < .3:
            n = self.r.randint(2, 4); d, batch, chosen, e, offset = [n] + d, [n] + batch, [i + 1 for i in chosen], [n] + e, [i + 1 for i in offset]
            more = ", input_batching_dims={0}, scatter_indices_batching_dims={0}"
        return [shape(t, d), shape(u, batch + [len(chosen)]), shape(t, e)], f"scatter(p0, p1, p2), update_window_dims={braces(offset)}, inserted_window_dims={braces(chosen)}, scatter_dims_to_operand_dims={braces(chosen)}{more}, index_vector_dim={len(batch)}, to_apply={self.sum_of(t)}", shape(t, d)

    def topk(self):
        d = self.dims(1, 3); k = self.r.randint(1, d[-1]); e = d[:-1] + [k]
        return [shape("f32", d)], f"topk(p0), k={k}, largest={self.r.choice(['true', 'false'])}", tuple_of([shape("f32", e), shape("s32", e)])

    def fft(self):
        kind, d = self.r.choice(["FFT", "IFFT", "RFFT", "IRFFT"]), self.dims(1, 3); n = self.r.randint(1, len(d)); length = d[-n:]
        half = d[:-1] + [d[-1] // 2 + 1]; (r, c) = self.r.choice([("f32", "c64"), ("f64", "c128")])
        o, e = {"FFT": (shape(c, d),) * 2, "IFFT": (shape(c, d),) * 2, "RFFT": (shape(r, d), shape(c, half)), "IRFFT": (shape(c, half), shape(r, d))}[kind]
        return [o], f"fft(p0), fft_type={kind}, fft_length={braces(length)}", e

    def cholesky(self): t, b, n = self.of(["f32", "f64"]), self.dims(0, 2), self.r.randint(1, 5); s = shape(t, b + [n, n]); return [s], "cholesky(p0), lower=true", s

    def triangular_solve(self):
        t, b, n, m, left = self.of(["f32", "f64", "c64"]), self.dims(0, 2), self.r.randint(1, 5), self.r.randint(1, 5), self.r.random() < .5
        s = shape(t, b + ([n, m] if left else [m, n]))
        return [shape(t, b + [n, n]), s], f"triangular-solve(p0, p1), left_side={str(left).lower()}, lower=true, transpose_a={self.r.choice(['NO_TRANSPOSE', 'TRANSPOSE', 'ADJOINT'])}", s

    def batch_norm(self, kind):
        t, d = self.of(["f32", "f64"]), self.dims(2, 4); i = self.r.randrange(len(d)); x, v = shape(t, d), shape(t, [d[i]])
        o = {"training": [x, v, v], "inference": [x, v, v, v, v], "grad": [x, v, v, v, x]}[kind]
        return o, f"batch-norm-{kind}({names(len(o))}), epsilon=0.001, feature_index={i}", x if kind == "inference" else tuple_of([x, v, v])

    def get_dimension_size(self): t, d = self.of(ALL), self.dims(1); return [shape(t, d)], f"get-dimension-size(p0), dimensions={braces([self.r.randrange(len(d))])}", "s32[]"

    def set_dimension_size(self):
        t, d = self.of(FLOATS), self.dims(1); i = self.r.randrange(len(d))
        return [shape(t, d), "s32[]"], f"set-dimension-size(p0, p1), dimensions={braces([i])}", shape(t, d[:i] + [f"<={d[i]}"] + d[i + 1:])

    def rng(self):
        t, d = self.of(["f32", "f64", "s32", "u32"]), self.dims(0)
        return [shape(t, [])] * 2, f"rng(p0, p1), distribution={'rng_normal' if t[0] == 'f' and self.r.random() < .5 else 'rng_uniform'}", shape(t, d)

    def rng_bit_generator(self): t, d = self.of(["u32", "u64", "s32"]), self.dims(0); return ["u64[2]"], "rng-bit-generator(p0), algorithm=rng_default", tuple_of(["u64[2]", shape(t, d)])

    def sort(self):
        d, n = self.dims(1), self.r.randint(1, 2); types = [self.of(FLOATS, INTS) for _ in range(n)]; s = [shape(t, d) for t in types]
        apply = self.callee("less_" + "_".join(types), [t for t in types for _ in "ab"], "pred[] compare(a0, a1), direction=LT")
        return s, f"sort({names(n)}), dimensions={braces([self.r.randrange(len(d))])}, to_apply={apply}", s[0] if n == 1 else tuple_of(s)

    def groups(self):
        n = self.r.choice([1, 2, 4]); m = self.r.choice([1, 2]); ids = list(range(n * m)); self.r.shuffle(ids)
        return n, ", replica_groups={" + ",".join(braces(ids[i * n:(i + 1) * n]) for i in range(m)) + "}"

    def all_gather(self):
        t, d = self.of(FLOATS, INTS), self.dims(1); n, g = self.groups(); i = self.r.randrange(len(d))
        return [shape(t, d)], f"all-gather(p0), dimensions={braces([i])}{g}", shape(t, d[:i] + [d[i] * n] + d[i + 1:])

    def all_reduce(self): t, d = self.of(FLOATS, INTS), self.dims(0); return [shape(t, d)], f"all-reduce(p0){self.groups()[1]}, to_apply={self.sum_of(t)}", shape(t, d)

    def reduce_scatter(self):
        t, d = self.of(FLOATS, INTS), self.dims(1); n, g = self.groups(); i = self.r.randrange(len(d))
        return [shape(t, d[:i] + [d[i] * n] + d[i + 1:])], f"reduce-scatter(p0), dimensions={braces([i])}{g}, to_apply={self.sum_of(t)}", shape(t, d)

    def all_to_all(self):
        t, d = self.of(FLOATS, INTS), self.dims(1); n, g = self.groups()
        if self.r.random() < .5: i = self.r.randrange(len(d)); s = shape(t, d[:i] + [d[i] * n] + d[i + 1:]); return [s], f"all-to-all(p0), dimensions={braces([i])}{g}", s
        return [shape(t, d)] * n, f"all-to-all({names(n)}){g}", tuple_of([shape(t, d)] * n)

    def collective_permute(self):
        t, d, n = self.of(FLOATS, INTS), self.dims(0), self.r.randint(1, 4); to = list(range(n)); self.r.shuffle(to)
        return [shape(t, d)], "collective-permute(p0), source_target_pairs={" + ",".join(braces(x) for x in enumerate(to)) + "}", shape(t, d)

    def collective_broadcast(self): t, d = self.of(FLOATS, INTS), self.dims(0); return [shape(t, d)], f"collective-broadcast(p0){self.groups()[1]}", shape(t, d)

    def tuple(self): s = [shape(self.of(ALL), self.dims(0)) for _ in range(self.r.randint(0, 3))]; return s, f"tuple({names(len(s))})", tuple_of(s)

    def get_tuple_element(self):
        s = [shape(self.of(ALL), self.dims(0)) for _ in range(self.r.randint(1, 3))]; i = self.r.randrange(len(s))
        return [tuple_of(s)], f"get-tuple-element(p0), index={i}", s[i]

    def opt_barrier(self): s = shape(self.of(ALL), self.dims(0)); return [s], "opt-barrier(p0)", s
    def partition_id(self): return [], "partition-id()", "u32[]"
    def replica_id(self): return [], "replica-id()", "u32[]"

    def whole(self, name, parameter, root):
        self.callees[name] = f"{name} {{\n  a0 = {parameter} parameter(0)\n  ROOT z = {root}\n}}\n"
        return name

    def call(self):
        t, d = self.of(FLOATS, INTS), self.dims(0); s = shape(t, d)
        return [s], f"call(p0), to_apply={self.whole(f'twice_{t}_' + '_'.join(map(str, d)), s, f'{s} add(a0, a0)')}", s

    def while_(self):
        t, d = self.of(FLOATS, INTS), self.dims(0); s = shape(t, d); n = f"{t}_" + "_".join(map(str, d))
        return [s], f"while(p0), condition={self.whole(f'never_{n}', s, 'pred[] constant(false)')}, body={self.whole(f'twice_{n}', s, f'{s} add(a0, a0)')}", s

    def conditional(self):
        t, d = self.of(FLOATS, INTS), self.dims(0); s = shape(t, d); n = f"{t}_" + "_".join(map(str, d))
        f, g = self.whole(f"twice_{n}", s, f"{s} add(a0, a0)"), self.whole(f"minus_{n}", s, f"{s} negate(a0)")
        if self.r.random() < .5: return ["pred[]", s, s], f"conditional(p0, p1, p2), true_computation={f}, false_computation={g}", s
        return ["s32[]", s, s], f"conditional(p0, p1, p2), branch_computations={{{f}, {g}}}", s


UNARY = {**dict.fromkeys("cosine sine tan exponential exponential-minus-one log log-plus-one logistic rsqrt sqrt cbrt tanh".split(), FLOATS + COMPLEX),
         **dict.fromkeys("floor ceil round-nearest-afz round-nearest-even erf acos acosh asin asinh atanh cosh sinh".split(), FLOATS),
         "negate": FLOATS + ["s32", "s8"] + COMPLEX, "sign": FLOATS + ["s32"] + COMPLEX, "not": INTS + ["pred"], "popcnt": INTS, "count-leading-zeros": INTS, "copy": ALL}
BINARY = {"add": ALL, "multiply": ALL, "subtract": FLOATS + INTS + COMPLEX, "divide": FLOATS + INTS + COMPLEX, "maximum": ALL, "minimum": ALL, "power": FLOATS + INTS, "mulhi": ["s32", "u32"],
          "remainder": FLOATS + INTS, "atan2": FLOATS, "and": INTS + ["pred"], "or": INTS + ["pred"], "xor": INTS + ["pred"], "shift-left": INTS, "shift-right-arithmetic": INTS, "shift-right-logical": INTS}
OTHERS = """clamp select convert compare complex real imag abs is_finite reduce_precision stochastic_convert bitcast_convert broadcast iota reshape transpose reverse slice pad
concatenate reduce reduce_window select_and_scatter map dot ragged_dot convolution dynamic_slice dynamic_update_slice gather scatter topk fft cholesky triangular_solve get_dimension_size
set_dimension_size rng rng_bit_generator sort all_gather all_reduce reduce_scatter all_to_all collective_permute collective_broadcast tuple get_tuple_element opt_barrier partition_id replica_id
call while_ conditional""".split()


def right(g, op):
    if op in UNARY: return g.unary(op, UNARY[op])
    if op in BINARY: return g.binary(op, BINARY[op])
    if op.startswith("batch-norm-"): return g.batch_norm(op[11:])
    return getattr(g, op)()


def changed(r, text, pattern, new):
    places = list(re.finditer(pattern, text))
    if not places: return None
    m = r.choice(places); return text[:m.start()] + new(m.group()) + text[m.end():]


def other_number(r): return lambda old: str(max(0, int(old) + r.choice([-2, -1, 1, 2])))
def other_type(r): return lambda old: r.choice([t for t in ALL if t != old])
SIZE, TYPE = r"(?<=[\[,=])\d+(?=[\],])", r"\b(?:" + "|".join(ALL) + r")(?=\[)"


def mutate(r, case):
    """The case with one change, and a description of the change."""
    operands, instruction, result = case
    for _ in range(20):
        kind = r.choice(["operand size", "operand type", "result size", "result type", "attribute", "operand count"])
        o, i, s = operands[:], instruction, result; at = r.randrange(len(o)) if o else None
        if kind.startswith("operand ") and kind != "operand count":
            if at is None: continue
            new = changed(r, o[at], SIZE if kind.endswith("size") else TYPE, other_number(r) if kind.endswith("size") else other_type(r))
            if new is None: continue
            o[at] = new
        elif kind.startswith("result"):
            s = changed(r, s, SIZE if kind.endswith("size") else TYPE, other_number(r) if kind.endswith("size") else other_type(r))
            if s is None: continue
        elif kind == "attribute":
            head, _, tail = i.partition("), ")
            tail = changed(r, tail, r"(?<=[{,=x_:\[])\d+(?=[},x_:\] ]|$)", other_number(r)) if tail else None
            if tail is None: continue
            i = head + "), " + tail
        else:
            if not o: continue
            n = len(o) + r.choice([-1, 1]); o = (o + [o[-1]])[:n]; i = re.sub(r"\(.*?\)", f"({names(n)})", i, count=1)
        return (o, i, s), kind
    return case, "none"


def program(g, case, written=True):
    operands, instruction, result = case
    used, front = set(re.findall(r"=\{?([a-z]\w*_\w+)", instruction)) | set(re.findall(r", ([a-z]\w*_\w+)(?=[,}])", instruction)), ""
    for name, body in g.callees.items():
        if name in used: front += body
    text = "HloModule m\n\n" + front + "ENTRY e {\n"
    for i, o in enumerate(operands): text += f"  p{i} = {o} parameter({i})\n"
    return text + f"  ROOT r = {result + ' ' if written else ''}{instruction}\n}}\n"


def inferred(text):
    from jaxlib import _hlo
    try: printed = _hlo.hlo_module_from_text(text).to_string()
    except Exception as e:
        # If XLA only demands a written shape, the operation may be valid. Any other error refuses the operation.
        return "unknown" if "cannot infer shape" in str(e) or "shape is required" in str(e).lower() else None
    found = re.search(r"ROOT %?r(?:\.\d+)? = (.*?) [a-z][\w-]*\(", printed[printed.index("ENTRY"):])
    return re.sub(r"\{[^{}]*\}", "", found.group(1)) if found else "unknown"


SILENT = ("UNIMPLEMENTED", "nimplemented", "not supported", "nsupported", "unregistered operation", "not implemented", "func.return", "failed to legalize", "LAPACK", "custom call")


def valid(text):
    import jax
    from jax._src.lib import _jax, xla_client
    from jaxlib import _hlo
    try:
        module = _hlo.hlo_module_from_text(text)
        program = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
        device = jax.devices("cpu")[0]
        device.client.compile_and_load(program, _jax.DeviceList((device,)), xla_client.CompileOptions())
    except Exception as e:
        said = str(e).split("Failed to parse using")[0]
        return None if any(word in said for word in SILENT) else False
    return True


def both(row): return inferred(row[0]), valid(row[1])


def main(cases):
    rows = []
    for op in [*UNARY, *BINARY, *OTHERS, "batch-norm-training", "batch-norm-inference", "batch-norm-grad"]:
        g, seen = Gen(op), set()
        for number in range(cases * 4):
            case, kind = right(g, op), "none"
            if number % 2: case, kind = mutate(g.r, case)
            text = program(g, case)
            if text in seen: continue
            seen.add(text); rows.append({"op": op.replace("_", "-").strip("-"), "changed": kind, "text": text, "left": program(g, case, False)})
            if len(seen) == cases: break
    for at in range(0, len(rows), 400):
        part = rows[at:at + 400]
        for row, (shape, ok) in zip(part, ask(both, [(x.pop("left"), x["text"]) for x in part], ("unknown", None))):
            if shape != "unknown": row["infer"] = shape
            if ok is not None: row["valid"] = ok
        print(f"{at + len(part)} of {len(rows)}", file=sys.stderr, flush=True)
    to = os.path.join(ROOT, "tests/corpus/hlo_cases.jsonl")
    with open(to, "w") as out:
        for row in rows: out.write(json.dumps(row, separators=(",", ":")) + "\n")
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", to], check=True)


if __name__ == "__main__":
    ready()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 48)
