#!/usr/bin/env python3
"""Writes tests/corpus/hlo_pairs.jsonl.zst: programs with pairs of instructions that start and finish an operation, valid and invalid, with XLA's own answers.

usage: scripts/data/hlo_pairs.py [CASES]    CASES for each opcode, 56 by default; makes its environment in target/hlo-pairs

Like scripts/data/hlo_cases.py, for opcodes that StableHLO does not have or has in another form: copies and collectives with a start and a done
instruction, asynchronous operations, `send` and `recv`, `scan` and `shuffle`. The program tests the instruction `r`. In half of the programs,
`r` or an instruction that belongs to it is changed; `changed` describes the change.

infer   the shape that XLA's parser infers if the shape of `r` is left out, or null if it refuses. Missing for opcodes whose shape
        must be written.
valid   whether XLA reads the program and its verifier takes it, as the TPU compiler (libtpu) asks it before the first pass. The compiler gets
        the message of the module as it is. Later errors, such as that a TPU has no such instruction, do not count. Missing if the
        compiler ends the process at a point that does not show the verifier's answer.
"""
import ctypes, json, os, random, re, struct, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from hlo_cases import Gen, SIZE, TYPE, braces, changed, other_number, shape, tuple_of  # noqa: E402

TYPES = ["f32", "bf16", "s32", "u32", "s8", "pred"]
CLASS = {"f32": 0, "bf16": 0, "f16": 0, "s32": 1, "u32": 2, "s8": 3, "pred": 4, "s64": 5, "u64": 6}
HEAD = "HloModule m, replica_count=4\n\n"
GROUPS = [[[0, 1, 2, 3]], [[3, 1, 2, 0]], [[0, 1], [2, 3]], [[0, 2], [3, 1]], [[0], [1], [2], [3]]]


class Program:
    """Callees, and instructions of the entry as [name, shape, operation]; the last is the root."""
    def __init__(self, callees, lines): self.callees, self.lines = callees, [list(x) for x in lines]
    def at(self, name): return next((x for x in self.lines if x[0] == name), None)

    def text(self, left_out=False):
        out = HEAD + "".join(self.callees) + "ENTRY e {\n"
        for i, (name, s, does) in enumerate(self.lines):
            s = "" if left_out and name == "r" else s + " "
            out += f"  {'ROOT ' if i == len(self.lines) - 1 else ''}{name} = {s}{does}\n"
        return out + "}\n"


def computation(name, parameters, body): return f"{name} {{\n" + "".join(f"  a{i} = {t} parameter({i})\n" for i, t in enumerate(parameters)) + "".join(f"  {x}\n" for x in body) + "}\n"


class Pairs(Gen):
    def array(self, low=0): return self.r.choice(TYPES), self.dims(low, 3)
    def sum(self, t): return computation("sum", [t + "[]"] * 2, [f"ROOT z = {t}[] {'or' if t == 'pred' else 'add'}(a0, a1)"])
    def replica_groups(self): g = self.r.choice(GROUPS); return len(g[0]), "replica_groups={" + ",".join(map(braces, g)) + "}"

    def pair(self, op, callees, parameters, start, s, result, attributes="", done=""):
        """The instructions of a pair; `r` is the one that is tested."""
        names = [("r", "d"), ("s", "r")][op.endswith("-done")]
        operands = ", ".join(f"p{i}" for i in range(len(parameters)))
        stem = start
        lines = [(f"p{i}", x, f"parameter({i})") for i, x in enumerate(parameters)]
        lines += [(names[0], s, f"{stem}-start({operands}){attributes}"), (names[1], result, f"{stem}-done({names[0]}){done}")]
        return Program(callees, lines)

    def copy(self, op): s = shape(*self.array()); return self.pair(op, [], [s], "copy", tuple_of([s, s, "u32[]"]), s, self.r.choice(["", "", ", cross_program_prefetch_index=0"]))

    def all_gather(self, op):
        (t, d), (n, g) = self.array(1), self.replica_groups(); i = self.r.randrange(len(d)); e = d[:i] + [d[i] * n] + d[i + 1:]
        if self.r.random() < .3:
            u = self.r.choice(TYPES); a, b = tuple_of([shape(t, d), shape(u, d)]), tuple_of([shape(t, e), shape(u, e)])
            return self.pair(op, [], [shape(t, d), shape(u, d)], "all-gather", tuple_of([a, b]), b, f", dimensions={braces([i])}, {g}")
        return self.pair(op, [], [shape(t, d)], "all-gather", tuple_of([shape(t, d), shape(t, e)]), shape(t, e), f", dimensions={braces([i])}, {g}")

    def all_reduce(self, op):
        (t, d), (_, g) = self.array(), self.replica_groups(); s = [shape(t, d)]
        if self.r.random() < .3: s.append(shape(t, self.dims(0, 3)))
        e = s[0] if len(s) == 1 else tuple_of(s)
        return self.pair(op, [self.sum(t)], s, "all-reduce", e, e, f", {g}, to_apply=sum")

    def collective_permute(self, op):
        s = shape(*self.array()); to = list(range(4)); self.r.shuffle(to); n = self.r.randint(1, 4)
        context = self.r.choice([[], [], ["u32[]", "u32[]"]])
        return self.pair(op, [], [s], "collective-permute", tuple_of([s, s] + context), s, ", source_target_pairs={" + ",".join(braces(x) for x in list(enumerate(to))[:n]) + "}")

    def wrapped(self):
        """An operation to be wrapped: its operands, opcode, result and attributes."""
        t, d = self.array(1); s = shape(t, d); kind = self.r.choice(["custom-call", "slice", "copy", "transpose", "broadcast", "reduce-scatter", "all-to-all", "collective-broadcast"])
        if kind == "custom-call": e = shape(*self.array()); return [s] * self.r.randint(0, 2), kind, e, ', custom_call_target="f"'
        if kind == "slice": e = [self.r.randint(0, n) for n in d]; return [s], kind, shape(t, e), ", slice={" + ", ".join(f"[0:{n}]" for n in e) + "}"
        if kind == "transpose": return [s], kind, shape(t, d[::-1]), f", dimensions={braces(reversed(range(len(d))))}"
        if kind == "broadcast": return [s], kind, shape(t, [2] + d), f", dimensions={braces(range(1, len(d) + 1))}"
        n, g = self.replica_groups()
        if kind == "reduce-scatter": t = "f32"; return [shape(t, [d[0] * n] + d[1:])], kind, shape(t, d), f", dimensions={{0}}, {g}, to_apply=sum"
        if kind == "all-to-all": e = shape(t, [d[0] * n] + d[1:]); return [e], kind, e, f", dimensions={{0}}, {g}"
        if kind == "collective-broadcast": return [s], kind, s, ", " + g
        return [s], kind, s, ""

    def asynchronous(self, op):
        operands, kind, e, attributes = self.wrapped(); context = self.r.choice([[], ["s32[]"], ["u32[]"], ["u32[]", "s32[]"]]); s = tuple_of([tuple_of(operands), e] + context)
        given = lambda x: ", ".join(f"{x}{i}" for i in range(len(operands)))
        short = self.r.random() < .4 and kind != "copy"; stem = kind if short else "async"
        thread = self.r.choice(["", "", ', async_execution_thread="t"'])
        head = attributes if short else thread + ", calls=w"
        callees = [self.sum("f32")] if "sum" in attributes else []
        if not short: callees.append(computation("w", operands, [f"ROOT z = {e} {kind}({given('a')}){attributes}"]))
        if thread and not short: callees[-1] = callees[-1].replace("}\n", '}, execution_thread="t"\n') if callees[-1].count("}\n") == 1 else callees[-1][:-2] + '}, execution_thread="t"\n'
        lines = [(f"p{i}", x, f"parameter({i})") for i, x in enumerate(operands)]
        names = {"async-start": ["r", "u", "d"], "async-update": ["s", "r", "d"], "async-done": ["s", "u", "r"]}[op]
        lines.append((names[0], s, f"{stem}-start({given('p')}){head}")); last = names[0]
        if op == "async-update" or self.r.random() < .3: lines.append((names[1], s, f"{stem}-update({last})")); last = names[1]
        return Program(callees, lines + [(names[2], e, f"{stem}-done({last})")])

    def transfer(self, op):
        s = shape(*self.array()); channel, host = self.r.randint(1, 9), self.r.choice(["", ", is_host_transfer=true", ", is_host_transfer=true"]); a = f", channel_id={channel}{host}"
        names = [("r", "d"), ("s", "r")][op.endswith("-done")]
        lines = [("p0", s, "parameter(0)"), ("k", "token[]", "after-all()")]
        t = tuple_of([s, "u32[]", "token[]"])
        if op.startswith("send"): return Program([], lines + [(names[0], t, f"send(p0, k){a}"), (names[1], "token[]", f"send-done({names[0]}){a}")])
        return Program([], lines + [(names[0], t, f"recv(k){a}"), (names[1], tuple_of([s, "token[]"]), f"recv-done({names[0]}){a}")])

    def scan(self, op):
        t, (d, n) = self.r.choice(["f32", "s32"]), (self.dims(1, 3), self.r.randint(1, 5)); i = self.r.randint(0, len(d)); whole = d[:i] + [n] + d[i:]
        carries, inputs = self.r.randint(0, 2), self.r.randint(1, 2); p, w = shape(t, d), shape(t, whole); outs = self.r.randint(0 if carries else 1, 2)
        parameters, results = [p] * (inputs + carries), [p] * (outs + carries)
        callee = computation("f", parameters, [f"b = {p} {'add(a0, a1)' if len(parameters) > 1 else 'negate(a0)'}", f"ROOT z = {tuple_of(results)} tuple({', '.join(['b'] * len(results))})"])
        operands = [w] * inputs + [p] * carries; more = self.r.choice(["", "", ", is_reverse=true"])
        result = tuple_of([w] * outs + [p] * carries)
        return Program([callee], [(f"p{j}", x, f"parameter({j})") for j, x in enumerate(operands)] + [("r", result, f"scan({', '.join(f'p{j}' for j in range(len(operands)))}), dimensions={braces([i])}, num_carries={carries}{more}, to_apply=f")])

    def shuffle(self, op):
        t, d = self.array(1); s = shape(t, d); n = self.r.randint(1, len(d)); places = sorted(self.r.sample(range(len(d)), n)); mode = "rotate"
        more = f", shifts={braces(self.r.randint(0, 3) for _ in places)}"
        return Program([], [("p0", s, "parameter(0)"), ("r", s, f"shuffle(p0), dimensions={braces(places)}, mode={mode}{more}")])


OPS = {"copy-start": "copy", "copy-done": "copy", "all-gather-start": "all_gather", "all-gather-done": "all_gather", "all-reduce-start": "all_reduce", "all-reduce-done": "all_reduce",
       "collective-permute-start": "collective_permute", "collective-permute-done": "collective_permute", "async-start": "asynchronous", "async-update": "asynchronous", "async-done": "asynchronous",
       "send": "transfer", "send-done": "transfer", "recv": "transfer", "recv-done": "transfer", "scan": "scan", "shuffle": "shuffle"}
KINDS = ["operand size", "operand type", "result size", "result type", "attribute", "other shape", "callee", "element less", "element more", "operand count", "no end", "two ends", "other opcode", "other operand", "channel"]


def other_class(r): return lambda old: r.choice([t for t in CLASS if CLASS[t] != CLASS.get(old)])


def mutate(r, p):
    """Changes a program in one place; returns a description, or None if there is no such place."""
    kind = r.choice(KINDS); mine = p.at("r"); size = lambda text: changed(r, text, SIZE, other_number(r)); kind_of = lambda text: changed(r, text, TYPE, other_class(r))
    ends = [x for x in p.lines if re.match(r"[a-z-]+-(done|update)\(", x[2])]
    given = [x for x in p.lines if re.match(r"parameter\(", x[2])]
    others = [x for x in p.lines if x is not mine and x not in given and x[1] != "token[]"]

    def put(line, i, new):
        if new is None or new == line[i]: return None
        line[i] = new; return kind
    if kind.startswith("operand ") and kind != "operand count": return put(x := r.choice(given), 1, (size if kind.endswith("size") else kind_of)(x[1])) if given else None
    if kind.startswith("result"): return put(mine, 1, (size if kind.endswith("size") else kind_of)(mine[1]))
    if kind == "other shape": return put(x := r.choice(others), 1, r.choice([size, kind_of])(x[1])) if others else None
    if kind == "attribute":
        head, mark, tail = mine[2].partition("), ")
        return put(mine, 2, (new := changed(r, tail, r"(?<=[{,=:\[])-?\d+(?=[},:\]]|$)", other_number(r))) and head + mark + new)
    if kind == "callee":
        if not p.callees: return None
        new = r.choice([size, kind_of])(p.callees[-1])
        if new is None: return None
        p.callees[-1] = new; return kind
    if kind == "element less": return put(mine, 1, "(" + mine[1][1:-1].rpartition(", ")[0] + ")") if mine[1].startswith("(") and mine[1].count("(") == 1 else None
    if kind == "element more": return put(mine, 1, mine[1][:-1] + r.choice([", u32[])", ", s32[])"])) if mine[1].startswith("(") else None
    if kind == "operand count":
        head, mark, tail = mine[2].partition("("); inside, close, tail = tail.partition(")"); names = inside.split(", ") if inside else []
        names = names[:-1] if names and r.random() < .5 else names + [r.choice(given)[0]] if given else names
        return put(mine, 2, f"{head}({', '.join(names)}){tail}")
    if kind == "other operand":
        if not given: return None
        return put(mine, 2, re.sub(r"\((\w+)", lambda m: "(" + r.choice([x[0] for x in p.lines if x is not mine and x[0] != m.group(1) and p.lines.index(x) < p.lines.index(mine)] or [m.group(1)]), mine[2], count=1))
    if not ends: return None
    # Before the TPU compiler asks the verifier, it removes instructions that nothing uses and that have no effect.
    has_effect = not re.search(r"copy-done|async-done|(?<!gather)(?<!permute)(?<!reduce)-(done|update)", " ".join(x[2] for x in ends)) or "send" in mine[2] or "recv" in mine[2]
    if kind == "no end":
        if not has_effect: kind = "taken apart"; return put(ends[-1], 2, re.sub(r"^[a-z-]+\((\w+).*", r"get-tuple-element(\1), index=1", ends[-1][2])) if ends[-1] is not mine else None
        p.lines.pop(); p.lines += [["q", "u32[]", "replica-id()"]] if p.at("r") else []
        return kind if p.at("r") else None
    if kind == "two ends": 
        last = p.lines[-1]; p.lines.insert(len(p.lines) - 1, ["q"] + last[1:])
        if not has_effect: p.lines.append(["z", tuple_of([last[1]] * 2), f"tuple(q, {last[0]})"])
        return kind
    if kind == "other opcode":
        end = r.choice(ends); old = end[2].partition("(")[0]; new = r.choice([x for x in OPS if x != old and ("-done" in x or "-update" in x)])
        if old.endswith("-done") and r.random() < .3: new = r.choice(["slice-done", "negate", "bitcast", "tuple"])
        return put(end, 2, end[2].replace(old, new, 1))
    found = [x for x in p.lines if "channel_id" in x[2]]
    if not found: return None
    x = r.choice(found)
    return put(x, 2, r.choice([re.sub(r"channel_id=\d+", f"channel_id={r.randint(0, 9)}", x[2]), x[2].replace(", is_host_transfer=true", ""), re.sub(r", channel_id=\d+", "", x[2])]))


# Messages of the TPU compiler from before its first pass, and from after it. Other messages decide nothing.
BEFORE = "[pre-optimization]"
AFTER = ("memory_space_assignment", "lowering_util", "windowing_util", "send_recv_emitter", "llo_value", "all_gather_emitter", "[post-layout]", "kXlaHostTransferHandlerNameAttr", "Unsupported async call",
         "not implemented", "Unsupported execution thread", "[post-optimization]", "all_to_all_utils", "Cannot split")


def inferred(text):
    """The shape that XLA's parser gives to `r`."""
    from jaxlib import _hlo
    try: printed = _hlo.hlo_module_from_text(text).to_string()
    except Exception as e: return "unknown" if "cannot infer shape" in str(e) or "shape is required" in str(e).lower() else None
    found = re.search(r"^  (?:ROOT )?%?r(?:\.\d+)? = (.*?) [a-z][\w-]*\(", printed[printed.index("\nENTRY"):], re.M)
    return re.sub(r"\{[^{}]*\}", "", found.group(1)) if found else "unknown"


class Compiler:
    """The TPU compiler through PJRT's C interface, the only interface that accepts a module unchanged."""
    def __init__(self):
        import libtpu
        from jax._src.lib import xla_client
        library = ctypes.CDLL(os.path.join(os.path.dirname(libtpu.__file__), "libtpu.so")); library.GetPjrtApi.restype = ctypes.c_void_p; self.api = library.GetPjrtApi()
        self.places = {}
        for line in open(os.path.join(ROOT, "crates/pjrt/src/abi/abi.txt")):
            if found := re.match(r"PJRT_Api\.(\w+) (\d+)", line): self.places[found[1]] = int(found[2])
        self.call("PJRT_Plugin_Initialize"); name = b"v5e:2x2"
        error, out = self.call("PJRT_TopologyDescription_Create", self.at(name), len(name), 0, 0, 0)
        if error: sys.exit(self.message(error))
        options = xla_client.CompileOptions(); options.num_replicas = 4; options.executable_build_options.num_replicas = 4
        self.topology, self.options = out[4], options.SerializeAsString()

    def at(self, data): return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value

    def call(self, name, *fields):
        form = "<QQ" + "Q" * len(fields); record = ctypes.create_string_buffer(struct.pack(form, 16 + 8 * len(fields), 0, *fields), 16 + 8 * len(fields))
        place = ctypes.c_void_p.from_address(self.api + self.places[name]).value
        error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(place)(ctypes.addressof(record))
        return error, struct.unpack(form, record.raw)[2:]

    def message(self, error):
        _, out = self.call("PJRT_Error_Message", error, 0, 0); text = ctypes.string_at(out[1], out[2]).decode(errors="replace")
        self.call("PJRT_Error_Destroy", error); return text

    def ask(self, text):
        from jaxlib import _hlo
        try: code = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        except Exception as e: return "read: " + str(e)[:300]
        program = ctypes.create_string_buffer(struct.pack("<QQQQQQ", 48, 0, self.at(code), len(code), self.at(b"hlo"), 3), 48)
        error, out = self.call("PJRT_Compile", self.topology, ctypes.addressof(program), self.at(self.options), len(self.options), 0, 0)
        if error: return self.message(error)[:300]
        self.call("PJRT_Executable_Destroy", out[5]); return ""


def worker():
    compiler = Compiler()
    for line in sys.stdin:
        sys.stdout.write("ANSWER " + json.dumps(compiler.ask(json.loads(line))) + "\n"); sys.stdout.flush()


def ask(rows):
    """XLA's answer for each program. Some make the compiler end the process; standard error then tells where."""
    child = None
    for at, row in enumerate(rows):
        if child is None:
            log = tempfile.NamedTemporaryFile("w+", errors="replace"); child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        child.stdin.write(json.dumps(row) + "\n"); child.stdin.flush()
        while (line := child.stdout.readline()) and not line.startswith("ANSWER "): pass
        if line: yield json.loads(line[7:])
        else:
            child.wait(); log.seek(0); found = re.search(r"^F\d.*", log.read(), re.M); child = None
            yield "ends: " + (found[0][:300] if found else "")
        if at % 100 == 99: print(f"{at + 1} of {len(rows)}", file=sys.stderr, flush=True)
    if child: child.stdin.close(); child.wait()


def judge(said):
    if said.startswith("read: ") or BEFORE in said: return False
    return True if not said or any(x in said for x in AFTER) else None


def main(cases):
    rows = []
    for op, maker in OPS.items():
        g, seen = Pairs(op), set()
        for number in range(cases * 40):
            p, kind = getattr(g, maker)(op), "none"
            if len(seen) % 3 and (kind := mutate(g.r, p)) is None: continue
            text = p.text()
            if text in seen: continue
            seen.add(text); rows.append({"op": op, "changed": kind, "text": text, "left": p.text(True)})
            if len(seen) == cases: break
    with open(os.environ.get("SAID", os.devnull), "w") as notes:
        for row, said in zip(rows, ask([x["text"] for x in rows])):
            shape = inferred(row.pop("left"))
            if shape != "unknown": row["infer"] = shape
            if (ok := judge(said)) is not None: row["valid"] = ok
            notes.write(json.dumps({**row, "said": said}) + "\n"); notes.flush()
    to = os.path.join(ROOT, "tests/corpus/hlo_pairs.jsonl")
    with open(to, "w") as out:
        for row in rows: out.write(json.dumps(row, separators=(",", ":")) + "\n")
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", to], check=True)


if __name__ == "__main__":
    os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3", TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    try: import jaxlib._hlo, libtpu  # noqa: F401, E401
    except ImportError:
        home = os.path.join(ROOT, "target/hlo-pairs")
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([home + "/bin/pip", "install", "-q", "jax==0.12.*", "jaxlib==0.12.*", "libtpu==0.0.52"], check=True)
        os.execv(home + "/bin/python", [home + "/bin/python", os.path.abspath(__file__), *sys.argv[1:]])
    if sys.argv[1:] == ["--worker"]: worker()
    else: main(int(sys.argv[1]) if len(sys.argv) > 1 else 56)
