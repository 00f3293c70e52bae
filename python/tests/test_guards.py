"""Assertions about compiled programs, and the pytest plug-in that compares them with recorded ones."""

import importlib.util
from pathlib import Path

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import xla_shape
from xla_shape import Layout, Module, Shape, ShapeError
from xla_shape.jax import assert_fits, assert_layout, assert_memory, assert_no_copies, assert_padding, cost, expect, memory, module

pytest_plugins = ["pytester"]

PADDED = """HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8,100]{1,0:T(8,128)} parameter(0), metadata={op_name="params['w']"}
  q = f32[8,128]{1,0:T(8,128)} parameter(1), metadata={op_name="params_old"}
  c = f32[8,100]{0,1:T(8,128)} copy(p), metadata={op_name="jit(f)/copy" source_file="train.py" source_line=7}
  ROOT t = (f32[8,100]{0,1:T(8,128)}, f32[8,128]{1,0:T(8,128)}) tuple(c, q)
}
"""


@pytest.fixture(scope="module")
def compiled():
    return jax.jit(lambda params, x: jnp.tanh(params["w"] @ x)).lower({"w": jnp.ones((300, 200))}, jnp.ones(200)).compile()


def message(function, *args, **kwargs):
    with pytest.raises(AssertionError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_memory(compiled):
    assert_memory(compiled, at_most="1MiB")
    assert_memory(compiled, at_most=1 << 20, device=1 << 30)
    assert_memory(PADDED, at_most="1MiB", device="v5e")
    assert message(assert_memory, compiled, at_most="100KiB").startswith("expected a program that takes at most 102,400 bytes, found 24")
    assert message(assert_memory, compiled, at_most="1MiB", device=1000).startswith("expected a program that fits 1000")
    with pytest.raises(ShapeError, match="expected a number of bytes, such as 16GiB, found `many`"):
        assert_memory(compiled, at_most="many")
    assert_fits(compiled, 16 << 30)
    assert_fits(PADDED, "v5e")
    assert message(assert_fits, compiled, 1000).startswith("expected a program that fits 1000\n")


def test_a_program_for_another_device_is_refused(compiled):
    """A program that was compiled for a CPU says nothing about a TPU."""
    lowered = jax.jit(lambda x: x + 1).lower(jnp.ones(3))
    for call in (
        lambda: memory(compiled, "v5e"),
        lambda: memory(compiled, device="v5e"),
        lambda: memory(lowered, "v5e"),
        lambda: assert_fits(compiled, "v5e"),
        lambda: assert_memory(compiled, at_most="1GiB", device="v5e"),
    ):
        with pytest.raises(ShapeError, match=r'compiled for cpu, not for v5e: compile it .* `memory\(f, \*args, for_="v5e"\)`'):
            call()
    # A module's text does not name its device, but only modules for TPUs have tiles.
    for call in (lambda: Module(compiled.as_text()).memory("v5p"), lambda: memory(compiled.as_text(), "v5p")):
        with pytest.raises(ShapeError, match="not compiled for v5p, but for a CPU or a GPU.* `xla-shape compile PROGRAM --for v5p`"):
            call()
    tiled = "HloModule m\nENTRY e { ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0) }"
    with pytest.raises(ShapeError, match="not compiled for h100, but for a TPU: its arrays have tiles; compile it .* `xla-shape compile PROGRAM --for h100`"):
        Module(tiled).memory("h100")
    # A compiled program is neither called nor compiled again for another device.
    for program in (compiled, lowered):
        with pytest.raises(ShapeError, match="compiled for cpu, not for v5e"):
            memory(program, for_="v5e:2x2")
        with pytest.raises(ShapeError, match="expected a function, which is compiled for h100"):
            memory(program, for_="h100")
        with pytest.raises(TypeError, match="expected a function for these arguments"):
            memory(program, jnp.ones(3), for_="v5e")
        for ask in (cost, module):
            with pytest.raises(ShapeError, match="compiled for cpu, not for v5e"):
                ask(program, for_="v5e:2x2")
    for ask in (cost, module):
        with pytest.raises(TypeError, match=r"expected module\(compiled\), or module\(f, \*args"):
            ask(compiled, 3)
    assert str(cost(compiled)) == str(module(compiled).cost())
    assert memory(compiled, 1 << 30) and memory(lowered, 1 << 30)
    for call in (lambda: memory(compiled, "v5e", "v5p"), lambda: memory(compiled, "v5e", device="v5e"), lambda: memory(compiled, device="v5e", for_="v5e")):
        with pytest.raises(TypeError, match="expected"):
            call()


def test_memory_of_a_function_on_a_tpu():
    """The figures are those of libtpu 0.0.52."""
    pytest.importorskip("libtpu")

    def padded(x):
        return (x * 2).reshape(-1, 3, 1) * jnp.ones((1, 3, 5))

    large = jax.ShapeDtypeStruct((150_000_000,), jnp.float32)
    answer = memory(padded, large, for_="v5e")
    assert not answer and answer["memory"]["device"]["total"] > 28 << 30 and answer["most_padded"][0]["file"].endswith("test_guards.py")
    assert memory(padded, large, for_="v5p:2x2x1")
    small = memory(padded, jnp.ones(1500), for_="v5e")
    assert small and small["memory"]["device"]["total"] == 49152
    with pytest.raises(ShapeError, match="found `v99`"):
        memory(padded, large, for_="v99")
    assert cost(padded, jnp.ones(1500), for_="v5e:1x1")["lines"][0]["source"].rpartition(":")[0].endswith("test_guards.py")
    assert module(padded, jnp.ones(1500), for_="v5e").is_scheduled
    with pytest.raises(ShapeError, match="(?i)ran out of memory"):
        cost(padded, large, for_="v5e")


def is_installed(package):
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.skipif(
    not (is_installed("jax_plugins.xla_cuda13") and is_installed("nvidia.cu13")),
    reason="needs XLA's compiler for GPUs: pip install jax-cuda13-pjrt nvidia-cuda-nvcc",
)
def test_memory_and_cost_of_a_function_on_a_gpu():
    """The figures are those of jax-cuda13-pjrt 0.12.0.1."""

    def convolution(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")

    x, w = jax.ShapeDtypeStruct((8, 64, 56, 56), jnp.bfloat16), jax.ShapeDtypeStruct((128, 64, 3, 3), jnp.bfloat16)
    answer = memory(convolution, x, w, for_="h100")
    assert answer and answer["memory"]["device"]["temporaries"] == 6_570_240
    answer = cost(convolution, x, w, for_="h100")
    assert answer["seconds"]["total"] > 0
    # cuDNN wants NHWC: both arguments and the result are transposed.
    assert [copy["opcode"] for copy in answer["copies"]] == ["fusion"] * 3
    assert memory(convolution, x, w, for_="a100-80:8")
    with pytest.raises(ShapeError, match="did you mean `a100-40`"):
        memory(convolution, x, w, for_="a100")


def test_padding(compiled):
    assert_padding(compiled, at_most=0)
    assert_padding(PADDED, at_most=0.9)
    found = message(assert_padding, PADDED)
    assert found.startswith("expected at most 10.0% padding, found ") and "f32[8,100]{0,1:T(8,128)} jit(f)/copy" in found
    tree = {"a": Shape("f32[8,100]{1,0:T(8,128)}"), "b": [jnp.ones((2, 3)), Shape("f32[8]")]}
    assert message(assert_padding, tree) == (
        "expected at most 10.0% padding, found 21.6%: 896 of 4,152 bytes\n  896 of 4,096 bytes: f32[8,100]{1,0:T(8,128)} ['a']"
    )
    assert_padding(tree, at_most=0.22)
    assert_padding([])
    with pytest.raises(ValueError, match="from 0 to 1, found 10"):
        assert_padding(tree, at_most=10)


def test_copies(compiled):
    assert_no_copies(compiled)
    assert_no_copies(PADDED, of="params_old")
    for of in ("x", "param", "w"):
        with pytest.raises(ShapeError, match=rf"the program has no argument '{of}'; it has params\['w'\], params_old"):
            assert_no_copies(PADDED, of=of)
    for of, words in [(None, "no copies"), ("params", "no copies of params")]:
        found = message(assert_no_copies, PADDED, of=of)
        assert found.startswith(f"expected {words}, found 1\n  c: f32[8,100]{{1,0:T(8,128)}} to f32[8,100]{{0,1:T(8,128)}} (train.py:7): parameter 0")


def test_repeated_elements_are_no_copies():
    repeated = """HloModule m, is_scheduled=true
ENTRY e {
  k = f32[8,2,16]{2,1,0} parameter(0)
  q = f32[8,8,16]{2,1,0} parameter(1)
  r = f32[8,2,4,16]{3,2,1,0} broadcast(k), dimensions={0,1,3}
  b = f32[8,8,16]{2,1,0} bitcast(r)
  ROOT d = f32[8,8,8]{2,1,0} dot(q, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
}
"""
    assert [copy["change"] for copy in cost(repeated)["copies"]] == ["repetition"]
    assert_no_copies(repeated)


def test_layouts_by_name(compiled):
    tree = {"a": jnp.ones((2, 3)), "b": [jnp.ones(4), jnp.ones(())]}
    for word in ("row-major", "default"):
        assert_layout(tree, word)
        assert_layout(compiled.output_formats, word)
        assert_layout(Shape("f32[2,3]"), word)
        assert_layout(Layout("{2,1,0}"), word)
    assert "expected {1,0}, found f32[2,3]{0,1}" in message(assert_layout, {"a": Shape("f32[2,3]{0,1}")}, "row-major")
    assert_layout({"a": Shape("f32[1,3072]{1,0:T(1,128)}"), "b": Shape("f32[16]{0:T(128)}")}, "v5e")
    assert "expected {1,0:T(2,128)}" in message(assert_layout, tree, "v5e")
    with pytest.raises(ShapeError, match="compiled.out_info"):
        assert_layout(compiled.output_formats, "v5e")
    with pytest.raises(ShapeError, match="v99"):
        assert_layout(tree, "v99")


PROGRAM = """
import pytest

MODULE = '''HloModule m, is_scheduled=true
ENTRY e {
  p = f32[SIZE]{0} parameter(0)
  ROOT n = f32[SIZE]{0} negate(p)
}'''

@pytest.mark.parametrize("name", ["one", "two/2"])
def test_program(xla_program, name):
    xla_program(MODULE)
    xla_program(MODULE, "second")
"""


def test_the_plugin(pytester):
    def run(size, *options):
        pytester.makepyfile(test_it=PROGRAM.replace("SIZE", str(size)))
        return pytester.runpytest("-p", "no:cacheprovider", *options)

    run(1000).stdout.fnmatch_lines(["*no program is recorded: run pytest --xla-shape-update"])
    run(1000, "--xla-shape-update").assert_outcomes(passed=2)
    files = sorted(path.name for path in (pytester.path / "__xla__").iterdir())
    assert files == [f"test_it.test_program_{name}.hlo.gz" for name in ("one_", "one_.second", "two_2_", "two_2_.second")]
    before = [(pytester.path / "__xla__" / name).read_bytes() for name in files]
    run(1000).assert_outcomes(passed=2)
    run(1010).assert_outcomes(passed=2)
    worse = run(1100)
    worse.assert_outcomes(failed=2)
    worse.stdout.fnmatch_lines(["*worse than the recorded one", "*memory>1%: * before, * after *", "*To accept it: pytest --xla-shape-update"])
    run(1000, "--xla-shape-update")
    assert [(pytester.path / "__xla__" / name).read_bytes() for name in files] == before
    pytester.makeini("[pytest]\nxla_shape_limits =\n  memory>50%\n  copies>0")
    run(1100).assert_outcomes(passed=2)
    pytester.makeini("[pytest]\nxla_shape_limits =\n  memories>50%")
    run(1000).stdout.fnmatch_lines(["*ShapeError: expected one of memory, cycles*"])


def test_names_and_limits_of_the_plugin(xla_program, monkeypatch, tmp_path, request):
    monkeypatch.setattr(type(request.node), "path", tmp_path / "test_it.py", raising=False)
    with pytest.raises(ShapeError, match="found `memories`"):
        xla_program(PADDED, limits=["memories>2%"])
    with pytest.raises(ValueError, match="another name"):
        xla_program(Module(PADDED))


SAID = """RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory in memory space hbm. Used 49.34G of 32.00G hbm. Exceeded hbm capacity by 17.34G.
  Largest program allocations in hbm:
  1. Size: 4.0K
     Operator: op_name="jit(f)/add" source_file="train.py" source_line=43
     Shape: f32[8,1]{1,0:T(8,128)}
     Unpadded size: 32B
     ==========================
  2. Size: 8.0K
     Shape: f32[2048]{0}
     ==========================
"""


class Lowered:
    """A program that the compiler refuses."""

    def __init__(self, message, file=None):
        self.message, self.file = message, file

    def as_text(self):
        return ""

    def compile(self, compiler_options):
        if self.file is not None:
            Path(compiler_options["xla_dump_to"], "module_0000.jit_f.after_optimizations.txt").write_text(self.file)
        raise jax.errors.JaxRuntimeError(self.message)


def test_out_of_memory():
    for answer in (memory(jax.errors.JaxRuntimeError(SAID)), memory(Lowered(SAID)), memory(Lowered(SAID, "no module"), "v5e")):
        assert not answer and [answer["amounts"][0][name] for name in ("what", "limit")] == ["hbm", 32 << 30]
        assert [entry["bytes"] for entry in answer["largest"]] == [8192, 4096]
        first = answer["most_padded"][0]
        assert (first["bytes"], first["padding_bytes"], first["op_name"], first["source"]) == (4096, 4064, "jit(f)/add", "train.py:43")
        assert "train.py:43" in str(answer)
    answer = memory(Lowered(SAID, PADDED), 1000)
    assert not answer and answer["module"] == "m" and answer["most_padded"][0]["file"] == "train.py"
    assert "of 32 GiB" in str(memory(Lowered(SAID, PADDED)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        memory(Lowered("INTERNAL: something else", PADDED))
    with pytest.raises(ShapeError, match="does not say that memory ran out"):
        bool(memory(ValueError("something else")))


def test_memory_of_a_lowered_program():
    lowered = jax.jit(lambda x: x @ x.T).lower(jnp.ones((8, 8)))
    assert memory(lowered, 1 << 30)["memory"] == memory(lowered.compile())["memory"]
    with pytest.raises(TypeError, match="compile"):
        memory(jax.jit(lambda x: x))


def test_scan():
    found = xla_shape.scan(f"{SAID}\n{SAID}")
    assert found and len(found["largest"]) == 2 and found["shapes"][0]["times"] == 2
    assert str(found).startswith("Out of memory, as the message says\n  hbm: 49.3 GiB of 32 GiB, 17.3 GiB too much")
    for text in ("", "nothing\nhere"):
        assert not xla_shape.scan(text) and xla_shape.scan(text)["shapes"] == []


def test_claims(compiled, tmp_path):
    module = Module(PADDED)
    assert module.expect(module.claims())
    answer = expect(PADDED, "[[arguments]]\nname = 'params/w'\nlayout = '{1,0}'\n")
    assert answer["passed"] and len(answer["claims"]) == 1
    path = tmp_path / "claims.toml"
    path.write_text("[[copies]]\nline = 'train.py:7'\ncount = 0\n")
    found = message(expect, PADDED, path)
    assert "FAILED (1 of 1 claim)" in found and "count: expected 0, found 1" in found and "%c = f32[8,100]" in found
    # Claims are compared with the runtime's own figure for the memory.
    bytes_ = memory(compiled)["memory"]["device"]["total"]
    expect(compiled, f"[[program]]\nmemory = {bytes_}\n")
    path.write_text("[[copies]]\ncounts = 0\n")
    with pytest.raises(ShapeError, match="claims.toml: line 2, column 1: unknown field `counts`"):
        expect(PADDED, path)


def test_claims_of_the_plugin(pytester):
    pytester.makepyfile(test_it=f"""
        MODULE = {PADDED!r}
        def test_program(xla_claims):
            xla_claims(MODULE)
    """)
    def run(*options):
        return pytester.runpytest("-p", "no:cacheprovider", *options)

    missing = run()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*test_it.test_program.toml: there are no claims: run pytest --xla-shape-update*"])
    run("--xla-shape-update").assert_outcomes(passed=1)
    file = pytester.path / "__xla__" / "test_it.test_program.toml"
    run().assert_outcomes(passed=1)
    file.write_text("[[copies]]\ncount = 0\n")
    # An existing file is not changed.
    failed = run("--xla-shape-update")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*FAILED (1 of 1 claim)*"])
