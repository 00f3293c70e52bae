#!/usr/bin/env python3
"""Compares xla-shape with JAX, both with libtpu: layouts, memory and modules of compiled programs, and default layouts.

usage: pjrt.py [--for v5e:2x2,v4:2x2x1,v6e:2x2,tpu7x:2x2x1] [--arrays 5000]

Run it with a Python that has `pip install jax libtpu` (Python 3.12 or newer for jax 0.12), after
`cargo build -p xla-shape-cli && cargo build -p xla-shape-pjrt --example default_layouts`; XLA_SHAPE names another program. Prints one line for each program and
device; the exit code is 1 if something differs."""
import importlib.util, json, os, re, subprocess, sys, tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TARGET = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "debug")
PROGRAM = os.environ.get("XLA_SHAPE", os.path.join(TARGET, "xla-shape"))
os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1",
                  TPU_ACCELERATOR_TYPE="v5litepod-1", TPU_WORKER_HOSTNAMES="localhost", TPU_MIN_LOG_LEVEL="3", TPU_STDERR_LOG_LEVEL="3")
PLUGIN = os.path.join(importlib.util.find_spec("libtpu").submodule_search_locations[0], "libtpu.so")


def programs(jax, jnp, P):
    """Functions with their arguments: (sizes, type, partition), and options of jax.jit."""
    bf16, f32, s4, s8, s32 = jnp.bfloat16, jnp.float32, jnp.int4, jnp.int8, jnp.int32
    def attention(q, k, v): return jax.nn.softmax((q @ k.mT).astype(f32) / 8).astype(bf16) @ v
    def scan(x, w): return jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum(-1)), x, None, length=7)
    def convolution(x, w): return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return {
        "matmul": (lambda x, w: x @ w, [((100, 200), f32, P()), ((200, 300), f32, P())], {}),
        "attention": (attention, [((8, 512, 64), bf16, P())] * 3, {}),
        "scan": (scan, [((4, 224), bf16, P()), ((224, 224), bf16, P())], {}),
        "convolution": (convolution, [((8, 32, 32, 3), bf16, P()), ((3, 3, 3, 16), bf16, P())], {}),
        "int8": (lambda x, w: jnp.dot(x, w, preferred_element_type=s32), [((64, 256), s8, P()), ((256, 128), s8, P())], {}),
        "int4": (lambda x: x.astype(s8) + 1, [((64, 256), s4, P())], {}),
        "donated": (lambda x, y: (x + 1, y.sum()), [((1000, 1000), f32, P()), ((17,), s32, P())], {"donate_argnums": (0,)}),
        "sort": (lambda x: jnp.argsort(x), [((1000,), f32, P())], {}),
        "transpose": (lambda x: x.transpose(2, 0, 1).reshape(-1, 7), [((5, 7, 11), bf16, P())], {}),
        "sharded": (lambda x, w: (x @ w).sum(0), [((64, 256), bf16, P("data", "model")), ((256, 512), bf16, P("model", None))], {}),
    }


def jax_answers(topology, folder):
    import jax, jax.numpy as jnp, numpy as np
    from jax.experimental import topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    devices = np.array(topologies.get_topology_desc(platform="tpu", topology_name=topology).devices)[:4]
    alone, mesh = Mesh(devices[:1].reshape(1, 1), ("data", "model")), Mesh(devices.reshape(2, 2), ("data", "model"))
    answers = {}
    for name, (function, arguments, options) in programs(jax, jnp, P).items():
        on = mesh if name == "sharded" else alone
        shapes = [jax.ShapeDtypeStruct(sizes, kind, sharding=NamedSharding(on, spec)) for sizes, kind, spec in arguments]
        lowered = jax.jit(function, **options).lower(*shapes)
        path = os.path.join(folder, name + ".mlir")
        open(path, "w").write(lowered.as_text(debug_info=True))
        compiled = lowered.compile()
        m = compiled.memory_analysis()
        layouts = lambda formats: [str(x.layout) for x in jax.tree.leaves(formats, is_leaf=lambda x: hasattr(x, "layout"))]
        answers[name] = {"inputs": layouts(compiled.input_formats[0]), "outputs": layouts(compiled.output_formats),
                         "memory": [m.argument_size_in_bytes, m.output_size_in_bytes, m.alias_size_in_bytes, m.temp_size_in_bytes,
                                    m.peak_memory_in_bytes, m.generated_code_size_in_bytes], "text": compiled.as_text()}
    return answers


def parts(text):
    """JAX writes `Layout(major_to_minor=(0, 1), tiling=((8, 128),), …)`: as ({minor to major}, tiles, bits of an element)."""
    def numbers(name):
        found = re.search(name + r"=(\(.*?\))(?:, \w+=|\)$)", text)
        return eval(found.group(1)) if found else ()
    bits = re.search(r"sub_byte_element_size_in_bits=(\d+)", text)
    return [*reversed(numbers("major_to_minor"))], [list(tile) for tile in numbers("tiling") or ()], int(bits.group(1)) if bits else 0


def of_shape(text):
    """The same for a shape in XLA's text."""
    layout = re.search(r"\{(.*)\}", text).group(1).split(":")
    tiles = re.search(r"T((?:\([0-9,*]+\))+)", layout[1]) if len(layout) > 1 else None
    bits = re.search(r"E\((\d+)\)", layout[1]) if len(layout) > 1 else None
    return ([int(n) for n in layout[0].split(",") if n], [[int(n) for n in tile.split(",")] for tile in re.findall(r"\(([0-9,]+)\)", tiles.group(1))] if tiles else [],
            int(bits.group(1)) if bits else 0)


def printed(path, alone):
    """A module as `xla-shape` prints it: every shape, operand and attribute of every instruction, and the layouts of the entry. Without
    where the instructions come from, and of programs for one device without shardings, which JAX leaves out of its own."""
    module = subprocess.run([PROGRAM, "hlo", "print", path], capture_output=True, text=True, check=True).stdout
    layouts = re.search(r"entry_computation_layout=\{(.*?)\}(?=, \w+=|$)", module.splitlines()[0]).group(1)
    body = module[re.search(r"^(?:%|ENTRY)", module, re.M).start():]
    body = re.sub(r", metadata=\{[^{}]*\}", "", body)
    nested = r"\{(?:[^{}]|\{[^{}]*\})*\}"
    return layouts, re.sub(rf", sharding={nested}(?:, frontend_attributes={nested})?", "", body) if alone else body


def main(arguments):
    topologies, arrays = ["v5e:2x2", "v4:2x2x1", "v6e:2x2", "tpu7x:2x2x1"], "5000"
    for option, value in zip(arguments[::2], arguments[1::2]):
        if option == "--for": topologies = value.split(",")
        elif option == "--arrays": arrays = value
        else: sys.exit(__doc__)
    different = 0
    for topology in topologies:
        with tempfile.TemporaryDirectory() as folder:
            for name, expected in jax_answers(topology, folder).items():
                out = os.path.join(folder, "out.hlo")
                done = subprocess.run([PROGRAM, "compile", os.path.join(folder, name + ".mlir"), "--for", topology,
                                       "--plugin", PLUGIN, "--format", "json", "-o", out], capture_output=True, text=True)
                found = json.loads(done.stdout) if done.stdout else {"error": done.stderr}
                problems = []
                if "error" in found:
                    problems.append(str(found["error"]))
                else:
                    d = found["memory"]["device"]
                    memory = [d["arguments"], d["outputs"], d["aliases"], d["temporaries"], d["peak"], d["generated_code"]]
                    if memory != expected["memory"]: problems.append(f"memory {memory}, JAX says {expected['memory']}")
                    for side in "inputs", "outputs":
                        ours, theirs = [of_shape(s) for s in found[side]], [parts(l) for l in expected[side]]
                        if ours != theirs: problems.append(f"{side} {ours}, JAX says {theirs}")
                    path = os.path.join(folder, "jax.hlo")
                    open(path, "w").write(expected["text"])
                    (layouts, ours), (their_layouts, theirs) = [printed(file, name != "sharded") for file in (out, path)]
                    listed = ", ".join(found["outputs"])
                    listed = f"({', '.join(found['inputs'])})->" + (listed if len(found["outputs"]) == 1 else f"({listed})")
                    if not listed == layouts == their_layouts: problems.append(f"layouts {listed}, module {layouts}, JAX has {their_layouts}")
                    if ours != theirs:
                        lines = [pair for pair in zip(ours.splitlines(), theirs.splitlines()) if pair[0] != pair[1]]
                        problems.append(f"module: {lines[0] if lines else 'its length'}")
                print(topology, name, "same" if not problems else "DIFFERENT: " + "; ".join(problems), flush=True)
                different += bool(problems)
    done = subprocess.run([os.path.join(TARGET, "examples", "default_layouts"), arrays], env=dict(os.environ, PJRT_PLUGIN=PLUGIN))
    sys.exit(1 if different or done.returncode else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
