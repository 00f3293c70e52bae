"""Measures programs on a GPU: the sizes that the compiler reports, the most that the allocator held, and the time of a run, with and without
autotuning. Needs a GPU and JAX; the programs are those of gpu.py, larger.

usage: gpu_device.py OUT                       on the GPU: writes OUT/measured.json, modules, traces and the results of autotuning
       gpu_device.py --said OUT XLA_SHAPE GPU  anywhere: compares them with what the program xla-shape says without a GPU, as a table"""

import fcntl
import glob
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpu  # noqa: E402

ROUNDS, RUNS = 9, 10


def programs():
    """The programs of gpu.py, with arrays so large that a run takes longer than the launches of its kernels."""
    import jax.numpy as jnp

    bf16, f32, s32 = jnp.bfloat16, jnp.float32, jnp.int32
    weights = [((4096, 16384), bf16), ((16384, 4096), bf16)]
    larger = {
        "product": [((8192, 8192), bf16)] * 2,
        "attention": [((16, 16, 2048, 64), bf16)] * 3,
        "train": [weights, ((4096, 4096), bf16)],
        "convolution": [((64, 256, 56, 56), bf16), ((256, 256, 3, 3), bf16)],
        "convolution_grad": [((64, 256, 28, 28), bf16), ((256, 256, 3, 3), bf16)],
        "rnn": [((256, 1024), f32), ((100, 256, 1024), f32), ((1024, 1024), f32)],
        "norm": [((65536, 4096), bf16), ((4096,), bf16)],
        "embed": [((128000, 2048), bf16), ((32, 1024), s32)],
        "decode": [((64, 4096, 8, 128), bf16), ((64, 1, 8, 128), bf16), ((), s32)],
        "sort": [((65536, 1024), f32)],
        "top_k": [((512, 128000), f32)],
        "cumsum": [((8192, 8192), f32)],
        "transpose": [((512, 1024, 512), bf16)],
        "fft": [((8192, 8192), f32)],
    }
    given = gpu.programs()
    return {name: (given[name][0], shapes, given[name][2] if len(given[name]) > 2 else {}) for name, shapes in larger.items()}


def lowered(name):
    import jax

    def struct(given):
        return [struct(each) for each in given] if isinstance(given, list) else jax.ShapeDtypeStruct(*given)

    function, shapes, options = programs()[name]
    return jax.jit(function, **options).lower(*map(struct, shapes))


def values(given, seed=1):
    """An array like random numbers, made by one fusion: a generator with temporaries of its own would hide the program's peak."""
    import jax
    import jax.numpy as jnp

    if isinstance(given, list):
        return [values(each, seed + at) for at, each in enumerate(given)]
    shape, dtype = given

    @jax.jit
    def make():
        mixed = jnp.full(shape, seed * 40503, jnp.uint32)
        for axis, size in enumerate(shape):
            mixed = (mixed ^ jax.lax.broadcasted_iota(jnp.uint32, shape, axis)) * jnp.uint32(2654435761)
            mixed = mixed ^ (mixed >> 15)
        if jnp.issubdtype(dtype, jnp.integer):
            return (mixed % 1000).astype(dtype)
        return ((mixed & 0xFFFF).astype(jnp.float32) / 65536 - 0.5).astype(dtype) * dtype(0.02)

    return make()


def one(out, name, level):
    """Compiles one program in a process of its own, waits for the GPU, and measures it."""
    import jax

    options = {"xla_gpu_autotune_level": 0} if level == "default" else {}
    folder = pathlib.Path(out, f"{name}.{level}")
    folder.mkdir(parents=True, exist_ok=True)
    step = lowered(name)
    pathlib.Path(out, f"{name}.mlir").write_text(step.as_text())
    with open(os.path.join(out, "lock"), "w") as lock:
        if level == "tuned":  # it may time kernels
            fcntl.flock(lock, fcntl.LOCK_EX)
        compiled = step.compile(compiler_options=options)
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "after.hlo").write_text(compiled.as_text())
        memory = compiled.memory_analysis()
        answer = {"program": name, "level": level, **{ours: getattr(memory, f"{theirs}_size_in_bytes") for ours, theirs in gpu.PARTS.items()}}
        device = jax.devices()[0]
        stats = lambda: device.memory_stats() or {}
        _, shapes, given = programs()[name]
        arguments = [values(each, 100 * at) for at, each in enumerate(shapes)]
        jax.block_until_ready(arguments)
        answer["held_before"], answer["peak_before"] = stats().get("bytes_in_use"), stats().get("peak_bytes_in_use")

        def run():
            result = compiled(*arguments)
            if given:  # the first argument is donated: the result, or the first result, is its next value
                arguments[0] = result if isinstance(arguments[0], list) else result[0]
            return result

        result = jax.block_until_ready(run())
        answer["peak"] = stats().get("peak_bytes_in_use")
        del result
        times = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            for _ in range(RUNS):
                result = run()
            jax.block_until_ready(result)
            times.append((time.perf_counter() - begin) / RUNS)
            del result
        answer["seconds"], answer["spread"] = statistics.median(times), max(times) - min(times)
        try:
            with jax.profiler.trace(str(folder / "trace")):
                for _ in range(5):
                    result = run()
                jax.block_until_ready(result)
        except Exception as error:  # some machines do not allow traces
            answer["trace"] = str(error)
    answer["device"], answer["jax"] = device.device_kind, jax.__version__
    print(json.dumps(answer), flush=True)


def tune(out):
    """Compiles every program with autotuning, one after another, so that no two of them time kernels at once."""
    for name in programs():
        begin = time.perf_counter()
        try:
            lowered(name).compile()
            print(f"tuned {name} in {time.perf_counter() - begin:.1f} s", flush=True)
        except Exception as error:
            print(f"not tuned: {name}: {str(error)[:300]}", flush=True)


def main(out):
    out = os.path.abspath(out)
    os.makedirs(out, exist_ok=True)
    results = os.path.join(out, "autotune.pbtxt")
    base = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false", TF_CPP_MIN_LOG_LEVEL="2")
    flags = {"tuned": f"--xla_gpu_load_autotune_results_from={results}", "default": ""}
    dump = os.path.join(out, "dump")
    tuning = f"--xla_gpu_dump_autotune_results_to={results} --xla_dump_to={dump}"
    subprocess.run([sys.executable, __file__, "--tune", out], env=dict(base, XLA_FLAGS=tuning), check=False)
    for config in glob.glob(dump + "/*gpu_target_config.pbtxt")[:1]:
        os.replace(config, os.path.join(out, "config.pbtxt"))
    shutil.rmtree(dump, ignore_errors=True)
    if not os.path.exists(results):
        flags["tuned"] = ""
    waiting, answers = [(name, level) for level in ("tuned", "default") for name in programs()], []
    running = []
    while waiting or running:
        while waiting and len(running) < 6:
            name, level = waiting.pop(0)
            asked = [sys.executable, __file__, "--one", out, name, level]
            log = open(os.path.join(out, f"{name}.{level}.log"), "w+")
            running.append((name, level, log, subprocess.Popen(asked, env=dict(base, XLA_FLAGS=flags[level]), stdout=log, stderr=subprocess.STDOUT)))
        time.sleep(0.2)
        for each in [each for each in running if each[3].poll() is not None]:
            running.remove(each)
            name, level, log, _ = each
            log.seek(0)
            text = log.read()
            lines = [line for line in text.splitlines() if line.startswith("{")]
            answers.append(json.loads(lines[-1]) if lines else {"program": name, "level": level, "error": text[-1500:]})
            print(name, level, answers[-1].get("seconds", answers[-1].get("error", "")[-300:]), flush=True)
            pathlib.Path(out, "measured.json").write_text(json.dumps(answers, indent=1))
    print(len(glob.glob(out + "/*/trace/**/*.xplane.pb", recursive=True)), "traces")


def said(out, program, target):
    """Prints rows for each program, without and with autotuning: bytes and times, as said without a GPU and as measured on one."""
    need = lambda sizes: sum(sizes[part] for part in gpu.PARTS) - 2 * sizes["aliases"]

    def ask(name, *options):
        module = os.path.join(out, "said.hlo")
        asked = [program, "compile", os.path.join(out, f"{name}.mlir"), "--for", target, "-o", module, "--format", "json", *options]
        answer = json.loads(subprocess.run(asked, capture_output=True, text=True).stdout)
        cost = json.loads(subprocess.run([program, "cost", module, "--format", "json"], capture_output=True, text=True).stdout)
        return need(answer["memory"]["device"]), 1e3 * cost["seconds"]["total"]

    measured = {(each["program"], each["level"]): each for each in json.loads(pathlib.Path(out, "measured.json").read_text())}
    print("| program | autotuning | bytes said | bytes on the GPU | allocator's peak | ms said | ms on the GPU |")
    print("|---|---|--:|--:|--:|--:|--:|")
    own = ["--config", os.path.join(out, "config.pbtxt"), "--autotune", os.path.join(out, "autotune.pbtxt")]
    for (name, level), found in sorted(measured.items()):
        size, time_said = ask(name, *(own if level == "tuned" else []))
        print(f"| {name} | {level} | {size:,} | {need(found):,} | {found['peak']:,} | {time_said:.3f} | {1e3 * found['seconds']:.3f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--said":
        said(*sys.argv[2:])
    elif sys.argv[1] == "--one":
        one(*sys.argv[2:])
    elif sys.argv[1] == "--tune":
        tune(sys.argv[2])
    else:
        main(sys.argv[1])
