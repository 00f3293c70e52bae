"""Checked annotations, with JAX."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, TypedDict, get_args

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

import xla_shape
import xla_shape._checked as _checked
from xla_shape import ParseError, ShapeError
from xla_shape.jax import Arr, check_layouts, checked

ROWS = jnp.ones((4, 8), jnp.bfloat16)
GAIN = jnp.ones(8)


@checked
def scaled(x: Arr[jax.Array, "bf16[rows,d]"], g: Arr[jax.Array, "f32[d]"]) -> Arr[jax.Array, "bf16[rows,d]"]:
    return (x * g).astype(x.dtype)


@jax.tree_util.register_dataclass
@dataclass
class Linear:
    w: Arr["f32[into,out]"]
    b: Arr["f32[out]"] | None


class Pair(NamedTuple):
    left: Arr["f32[n]"]
    right: Arr["f32[n]"]


class State(TypedDict, total=False):
    count: Arr["s32[]"]
    mean: Arr["f32[d]"]


@dataclass
class Tree:
    left: Tree | None
    value: Arr["f32[d]"]


def refused(function, *args, **kwargs):
    with pytest.raises(TypeError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_an_annotation_is_an_annotated_array():
    kind, pattern = get_args(Arr["f32[rows,128]"])
    assert kind is jax.Array and repr(pattern) == "'f32[rows,128]'"
    assert Arr["f32[d]"] == Arr[jax.Array, "f32[d]"] == Annotated[jax.Array, get_args(Arr["f32[d]"])[1]]
    assert get_args(Arr[np.ndarray, "f32[d]"])[0] is np.ndarray


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_names_bind_across_arguments_and_results(wrap):
    call = wrap(scaled)
    for _ in range(2):
        assert call(ROWS, GAIN).shape == call(ROWS, g=GAIN).shape == (4, 8)
        assert refused(call, ROWS, jnp.ones(7)) == (
            "scaled: argument g: this function takes f32[d] with d = 8 as in argument x, the call has f32[7]"
        )
        assert refused(call, ROWS, ROWS) == "scaled: argument g: this function takes f32[d], the call has bf16[4,8]"
        assert refused(call, [1.0], GAIN) == "scaled: argument x: expected an array, found a value of type list"
        assert "missing" in refused(call, ROWS)


@pytest.mark.parametrize("returned", [jnp.ones(3), jnp.ones(2, jnp.int32), None, (jnp.ones(2),)])
def test_results(returned):
    @checked
    def f(x: Arr["f32[d]"]) -> Arr["f32[d]"]:
        return returned

    assert refused(f, jnp.ones(2)).startswith("f: result: ")
    # The sizes of a result are not kept for the next call.
    assert refused(f, jnp.ones(2)).startswith("f: result: ")


def test_the_words_of_a_result():
    f = checked(lambda x: x)
    assert f(1) == 1

    @checked
    def g(x: Arr["f32[d]"]) -> Arr["f32[2,d]"]:
        return x

    assert refused(g, jnp.ones(2)) == "g: result: this function returns f32[2,d], the call returned f32[2]"


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("f32[<=4]", [(0,), (4,)], [(5,), (), (1, 4)]),
        ("f32[?,3]", [(0, 3), (9, 3)], [(3,), (3, 4)]),
        ("f32[...,n,3]", [(2, 3), (1, 2, 3), (0, 1, 2, 3)], [(3,), (2, 4), ()]),
        ("f32[...]", [(), (1,), (2, 3)], []),
        ("f32[*batch,n,3]", [(2, 3), (1, 2, 3), (0, 1, 2, 3)], [(3,), (2, 4), ()]),
        ("f32[*batch]", [(), (1,), (2, 3)], []),
        ("f32[]", [()], [(1,)]),
        ("f32[n,n]", [(0, 0), (3, 3)], [(2, 3)]),
    ],
)
def test_sizes(text, good, bad):
    def f(x):
        return x.sum()

    f.__annotations__ = {"x": Arr[text]}
    f = checked(f)
    for sizes in good:
        f(jnp.ones(sizes))
    for sizes in bad:
        assert f"f: argument x: this function takes {text}" in refused(f, jnp.ones(sizes))


def test_trees():
    @checked
    def f(layers: list[Linear], state: State, pair: Pair, more: dict[str, tuple[Arr["f32[into]"], ...]]) -> Tree | None:
        return None

    layer, d = Linear(jnp.ones((2, 3)), jnp.ones(3)), jnp.ones(2)
    empty = Linear(jnp.ones((2, 3)), None)
    good = [layer, empty], {"mean": jnp.ones(5)}, Pair(d, d), {"a": (d, d), "b": ()}
    f(*good)
    jax.jit(f)(*good)
    f([], {}, Pair(GAIN, GAIN), {})
    wrong = Linear(jnp.ones((2, 3)), jnp.ones(4))
    assert refused(f, [layer, wrong], *good[1:]) == (
        "f: argument layers[1].b: this function takes f32[out] with out = 3 as in argument layers[0].w, the call has f32[4]"
    )
    assert "f: argument state['count']: this function takes s32[], the call has f32[]" in refused(f, good[0], {"count": jnp.ones(())}, *good[2:])
    assert "argument pair.right" in refused(f, *good[:2], Pair(d, GAIN), good[3])
    assert "argument more['a'][1]" in refused(f, *good[:3], {"a": (d, GAIN)})
    assert refused(f, layer, *good[1:]) == "f: argument layers: expected a list or a tuple, found a value of type Linear"
    assert refused(f, [None], *good[1:]) == "f: argument layers[0]: expected a Linear, found a value of type NoneType"
    assert refused(f, [Linear(None, None)], *good[1:]) == "f: argument layers[0].w: expected an array, found a value of type NoneType"

    @checked
    def g(tree: Tree) -> Tree:
        return Tree(tree, jnp.ones(3))

    assert "g: result.value: this function returns f32[d] with d = 2" in refused(g, Tree(None, jnp.ones(2)))
    assert "g: argument tree.value: this function takes f32[d] with d = 3 as in argument tree.left.value" in refused(g, Tree(Tree(None, jnp.ones(3)), jnp.ones(2)))


def test_records_are_checked_once(monkeypatch):
    checks = []
    fit = _checked.Signature.fit_arguments
    monkeypatch.setattr(_checked.Signature, "fit_arguments", lambda *call: checks.append(call) or fit(*call))

    @checked
    def f(tree: Tree, pair: Pair) -> Tree:
        return tree

    d = jnp.ones(2)
    for _ in range(3):
        f(Tree(Tree(None, d), d), Pair(d, d))
    assert len(checks) == 1
    # A call with other sizes is checked again, even if only an array inside a record has another size.
    assert "argument tree.value: this function takes f32[d] with d = 3" in refused(f, Tree(Tree(None, jnp.ones(3)), d), Pair(d, d))
    assert "argument pair.right" in refused(f, Tree(None, d), Pair(d, jnp.ones(3)))

    @dataclass
    class Node:
        value: Arr["f32[d]"]
        parent: object = None

    @checked
    def g(node: Node) -> None: ...

    # A value that contains itself is checked each time.
    node = Node(d)
    node.parent = node
    g(node), g(node)
    assert len(checks) == 5

    # Of a value that is not checked, the class is enough to recognize an earlier call, unless it is a container or an array.
    class Broken:
        @property
        def shape(self):
            raise ValueError

    checks.clear()
    for value in (jax.nn.gelu, jnp.bfloat16, Broken(), {"a": (len, d)}):
        g(Node(d, value)), g(Node(d, value))
    assert len(checks) == 5
    assert "argument node.value" in refused(g, Node(jnp.ones((2, 2)), jax.nn.gelu))


def test_values_that_are_not_arrays():
    @checked
    def f(x: Arr["f32[n]"] | Literal["none", 0], mode: Literal["train", "eval"] = "train") -> Arr["f32[n]"] | str:
        return x

    f(jnp.ones(3), "eval"), f("none")
    assert refused(f, b"none") == (
        "f: argument x: expected an array, found a value of type bytes"
        "\n  or argument x: expected a value of type str or int, found a value of type bytes"
    )


def test_families_of_types_and_multiples():
    @checked
    def f(x: Arr["float[n,d]"], gates: Arr["float[n,2*d]"] | None = None, ids: Arr["int[n]"] | None = None) -> Arr["float[d*2]"]:
        return jnp.ones(2 * x.shape[1], x.dtype)

    x = jnp.ones((3, 4))
    for kind in (jnp.float32, jnp.bfloat16, jnp.float8_e4m3fn):
        f(x.astype(kind), jnp.ones((3, 8), kind), jnp.ones(3, jnp.int8))
    f(x, ids=jnp.ones(3, jnp.uint32))
    assert refused(f, x.astype(int)) == "f: argument x: this function takes float[n,d], the call has s32[3,4]"
    assert "takes int[n], the call has f32[3]" in refused(f, x, ids=jnp.ones(3))
    assert "takes float[n,2*d], the call has f32[3,7]" in refused(f, x, jnp.ones((3, 7)))
    assert "takes float[n,2*d] with d = 4 as in argument x, the call has f32[3,10]" in refused(f, x, jnp.ones((3, 10)))

    @checked
    def g(scale: Arr["float[]"], count: Arr["int[]"] = 1) -> None: ...

    g(2), g(2.5), g(jnp.bfloat16(2), 3)
    assert "takes int[], the call has f32[]" in refused(g, 2, 2.5)


def test_alternatives():
    @checked
    def f(x: Arr["f32[d]"] | Arr["bf16[d]"] | None, y: Arr["s32[d]"] | None = None) -> None:
        return None

    f(None), f(GAIN), f(GAIN.astype(jnp.bfloat16), jnp.ones(8, int)), f(None, jnp.ones(3, int))
    assert "this function takes f32[d], the call has f16[8]" in refused(f, GAIN.astype(jnp.float16))
    assert "s32[d] with d = 8" in refused(f, GAIN, jnp.ones(3, int))

    @checked
    def g(x: Arr["f32[d]"] | float | str) -> None: ...

    g(GAIN), g("x"), g(2), g(0.5)
    assert "this function takes f32[d], the call has bf16[4,8]" in refused(g, ROWS)


@pytest.mark.parametrize(
    ("element_type", "good", "bad"),
    [
        ("bf16", [1, 2.0, jnp.asarray(1.0).astype(jnp.bfloat16)], [True, 1j, jnp.float32(1), np.float64(1)]),
        ("f32", [1, 2.0, np.float64(1), np.ones(())], [True, 1j, np.int32(1)]),
        ("s32", [1, np.int64(1)], [True, 1.0]),
        ("u8", [1], [1.5, jnp.int32(1)]),
        ("c64", [1, 1.0, 1j], [True]),
        ("pred", [True, np.bool_(True)], [1, 1.0]),
    ],
)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_numbers_of_python_are_weak(wrap, element_type, good, bad):
    def f(x):
        return jnp.asarray(x)

    f.__annotations__ = {"x": Arr[f"{element_type}[]"]}
    f = wrap(checked(f))
    for x in good:
        f(x)
        f(x)
    for x in bad:
        assert f"f: argument x: this function takes {element_type}[], the call has" in refused(f, x)


def test_transformations():
    @checked
    def loss(w: Arr["f32[d]"], x: Arr["f32[d]"]) -> Arr["f32[]"]:
        return (w * x).sum()

    w, x = jnp.ones(3), jnp.ones((5, 3))
    assert jax.vmap(loss, (None, 0))(w, x).shape == (5,)
    assert jax.jit(jax.grad(loss))(w, x[0]).shape == (3,)
    assert jax.vmap(jax.grad(loss), (None, 0))(w, x).shape == (5, 3)
    assert "argument x" in refused(jax.vmap(loss, (None, 0)), w, jnp.ones((5, 4)))
    assert jax.eval_shape(loss, w, x[0]).shape == ()
    assert jax.jit(jax.checkpoint(loss))(w, x[0]) == 3
    assert jax.lax.scan(lambda c, x: (c + loss(w, x), None), 0.0, x)[0] == 15


def test_static_and_donated_arguments():
    @checked
    def f(x: Arr["f32[d]"], n: int, y: Arr["f32[d]"], flag: bool = False) -> Arr["f32[d]"]:
        return x * n + y

    x = jnp.ones(3)
    jitted = jax.jit(f, static_argnames=("n", "flag"), donate_argnames="x")
    assert jitted(x + 0, 2, x).shape == jitted(x + 0, 2, y=x, flag=True).shape == (3,)
    compiled = jitted.lower(x, 2, x, flag=True).compile()
    jitted.check(compiled)
    check_layouts(f, compiled, static_argnames=("n", "flag"))
    outside = checked(jax.jit(f, donate_argnums=0))
    assert outside(x + 0, 2, x).shape == (3,)
    assert "argument y" in refused(outside, x + 0, 2, jnp.ones(4))


class Model:
    @checked
    def __call__(self, x: Arr["f32[d]"], *rest: Arr["f32[d]"], scale: Arr["f32[]"] = 1.0, **named: Arr["f32[d]"]) -> Arr["f32[d]"]:
        """What it does."""
        return x * scale


def test_methods_and_any_number_of_arguments():
    model, x = Model(), jnp.ones(3)
    assert Model.__call__.__doc__ == "What it does."
    assert model(x, x, x, scale=2.0, a=x).shape == (3,)
    assert "argument rest[1]" in refused(model, x, x, jnp.ones(4))
    assert "argument named['a']" in refused(model, x, a=jnp.ones(4))
    assert "argument scale" in refused(model, x, scale=x)


def test_leading_sizes_with_a_name_are_the_same_everywhere():
    @checked
    def f(x: Arr["f32[*batch,d]"], ids: Arr["s32[*batch]"], batch: Arr["f32[batch]"]) -> Arr["f32[*batch,2*d]"]:
        return jnp.concatenate([x, x], -1)

    f(jnp.ones((5, 6, 4)), jnp.ones((5, 6), int), jnp.ones(7))
    assert refused(f, jnp.ones((5, 6, 4)), jnp.ones(5, int), jnp.ones(7)) == (
        "f: argument ids: this function takes s32[*batch] with *batch = [5, 6] as in argument x, the call has s32[5]"
    )


def test_random_keys():
    @checked
    def f(key: Arr["key[]"], more: Arr["key[n]"]) -> Arr["key[2]"]:
        return jax.random.split(key)

    key = jax.random.key(0)
    f(key, jax.random.split(key, 3))
    jax.jit(f)(key, jax.random.split(key, 3))
    assert refused(f, key, key) == "f: argument more: this function takes key[n], the call has key[]"
    assert refused(f, jax.random.PRNGKey(0), key) == "f: argument key: this function takes key[], the call has u32[2]"
    assert refused(f, 1, key) == "f: argument key: this function takes key[], the call has s32[]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f33[d]", "expected an element type, found `f33`; did you mean `f32`?"),
        ("f32[d]{1}", "expected a dimension number less than 1, found 1"),
        ("f32[2*d*d]", "expected a number, the name of a size, or a number times a name, found `2*d*d`"),
        ("f32[0*n]", "expected a number, the name of a size, or a number times a name, found `0*n`"),
        ("key<fry>[n]", "expected `key`, for keys of any implementation, found `key<fry>`"),
        ("float[n]{0}", "expected no layout, because it depends on the element type, found `{0}`"),
        ("f32[<=n]", "expected a number, the name of a size, or a number times a name, found `n`"),
        ("f32[d]{0:T(n)}", "expected a number, the name of a size, or a number times a name, found `n`"),
        ("(f32[d])", "expected an array, found `(f32[d])`"),
        ("f32[...d]", "expected a dimension's size, `<=` and a bound, or `?`, found `.`"),
        ("f32[...,d]{1,0}", "expected no layout after `...`, which is any number of dimensions, found `{1,0}`"),
        ("f32[*b,d]{1,0}", "expected no layout after a name with `*`, which is any number of dimensions, found `{1,0}`"),
        ("f32[*2,d]", "expected a dimension's size, `<=` and a bound, or `?`, found `*`"),
        ("", "expected a shape, found the end of the text"),
    ],
)
def test_wrong_annotations_fail_where_the_function_is_defined(text, message):
    with pytest.raises(ParseError) as caught:
        Arr[text]
    assert caught.value.message == message and caught.value.text == text

    def f(x):
        return x

    f.__annotations__ = {"x": f"Arr[jax.Array, {text!r}]"}
    with pytest.raises(ParseError) as caught:
        checked(f)
    assert caught.value.__notes__ == ["This is the annotation of argument x of f."]


def test_other_wrong_annotations():
    with pytest.raises(TypeError, match="expected Arr"):
        Arr[3]
    with pytest.raises(TypeError, match="cannot be checked"):

        @checked
        def f(x: set[Arr["f32[d]"]]) -> None: ...

    with pytest.raises(ShapeError, match="v99"):
        checked(tpu="v99")(lambda x: x)


def test_a_class_that_is_defined_later():
    @checked
    def f(x: Later) -> None: ...

    with pytest.raises(NameError):
        f(GAIN)

    @dataclass
    class Local:
        x: Arr["f32[d]"]

    @checked
    def g(x: Local) -> None: ...

    g(Local(GAIN))
    assert "argument x.x" in refused(g, Local(ROWS))


def test_layouts_of_a_compiled_program():
    @jax.jit
    @checked
    def f(x: Arr["f32[n,d]{0,1}"], y: Arr["f32[n,d]"]) -> Arr["f32[n,d]{1,0}"]:
        return x + y

    x = jnp.ones((4, 8))
    with pytest.raises(TypeError, match=r"f: argument x: expected the layout \{0,1\} for f32\[4,8\], the program has \{1,0\}"):
        f.check(f.lower(x, x).compile())
    with pytest.raises(TypeError, match=r"argument y: this function takes f32\[n,d\] with n = 4"):
        f.check(jax.jit(lambda x, y: x).lower(x, x[:3]).compile())

    @jax.jit
    @checked(constrain=True)
    def g(x: Arr["f32[n,d]"]) -> dict[str, Arr["f32[n,d]{0,1}"]]:
        return {"y": x + 1}

    compiled = g.lower(x).compile()
    if jax.__version_info__ >= (0, 10):
        g.check(compiled)
        assert compiled.output_formats["y"].layout.major_to_minor == (1, 0)
    else:
        with pytest.raises(TypeError, match=r"result\['y'\]: expected the layout \{0,1\}"):
            g.check(compiled)
    assert g(x)["y"].shape == jax.vmap(lambda x: x + 1)(x).shape == (4, 8)

    @jax.jit
    @checked(tpu="v5e")
    def h(x: Arr["f32[n,d]"]) -> Arr["f32[n,d]"]:
        return x

    with pytest.raises(TypeError, match=r"expected the layout \{1,0:T\(4,128\)\} for f32\[4,8\], the program has \{1,0\}"):
        h.check(h.lower(x).compile())


def test_which_arguments_are_static_may_be_unknown():
    @checked
    def f(x: Arr["f32[d]"], n: int, y: Arr["f32[d]"] = GAIN) -> None: ...

    compiled = jax.jit(lambda x, n: x).lower(GAIN, 2).compile()
    with pytest.raises(ShapeError, match="static_argnames"):
        check_layouts(f, compiled)
    check_layouts(f, compiled, static_argnames=())


def test_types_for_rust():
    @checked
    def f(x: Arr["bf16[rows,d]{1,0:T(8,128)(2,1)}"], params: dict[str, Arr["f32[d]"]], y: Arr["f32[...,d]"]) -> tuple[Arr["f32[8]"], Linear]: ...

    assert xla_shape.rust_types(f) == "\n".join(
        [
            "// f",
            "type X = xla_shape::shape!(bf16[rows,d]{1,0:T(8,128)(2,1)});",
            "type Params = xla_shape::shape!(f32[d]);",
            "// y: f32[...,d] is an array of any number of dimensions, for which there is no type.",
            "type Result0 = xla_shape::shape!(f32[8]);",
            "type Result1W = xla_shape::shape!(f32[into,out]);",
            "type Result1B = xla_shape::shape!(f32[out]);",
        ]
    )
    assert xla_shape.rust_types(jax.jit(f)) == xla_shape.rust_types(f)


def test_other_checkers_go_with_it():
    beartype = pytest.importorskip("beartype").beartype
    jaxtyping = pytest.importorskip("jaxtyping")

    @jaxtyping.jaxtyped(typechecker=beartype)
    @checked
    def f(x: Arr[jax.Array, "f32[d]"], y: jaxtyping.Float[jax.Array, " d"]) -> Arr[jax.Array, "f32[d]"]:
        return x

    assert f(GAIN, GAIN).shape == (8,)
    assert "this function takes f32[d]" in refused(f, ROWS, GAIN)


def test_threads_and_leaks():
    class Large:
        pass

    def defined():
        kept = Large()

        @checked
        def f(x: Arr["f32[d]"]) -> Arr["f32[d]"]:
            return x if x.shape[0] != 399 else x[1:]

        return f, weakref.ref(kept)

    f, gone = defined()
    arrays = [jnp.ones(size) for size in range(400)]
    with ThreadPoolExecutor(4) as pool:
        good = list(pool.map(lambda x: f(x).shape, arrays[:-1] * 3))
    assert good == [x.shape for x in arrays[:-1]] * 3
    assert "result" in refused(f, arrays[-1])
    array = weakref.ref(arrays[5])
    del arrays
    gc.collect()
    assert gone() is None and array() is None


def test_every_alternative_is_named():
    @checked
    def f(x: Arr[jax.Array, "f32[m]"] | Arr[jax.Array, "f32[m,n]"] | None) -> None:
        del x

    f(None)
    f(jnp.ones((2, 3)))
    with pytest.raises(TypeError) as caught:
        f(jnp.ones((2, 3, 4)))
    lines = str(caught.value).splitlines()
    assert lines[0] == "f: argument x: this function takes f32[m], the call has f32[2,3,4]"
    assert lines[1].startswith("  or argument x: this function takes f32[m,n]") and lines[2:] == ["  or None"]


def test_a_method_has_its_class():
    class Layer:
        @checked
        def apply(self, x: Arr[jax.Array, "f32[m]"]) -> None:
            del x

    with pytest.raises(TypeError, match=r"^Layer\.apply: argument x: this function takes"):
        Layer().apply(jnp.ones((2, 3)))


class Weights(TypedDict):
    w: Arr[jax.Array, "f32[n,m]"]
    b: Arr[jax.Array, "f32[m]"]
    step: int


def test_a_typed_dictionary_has_its_keys():
    @checked
    def f(params: Weights) -> None:
        del params

    good = {"w": jnp.ones((2, 3)), "b": jnp.ones(3), "step": 1}
    f(good)
    with pytest.raises(TypeError, match=r"f: argument params: expected the key 'b' of Weights, found 'w', 'step'"):
        f({"w": jnp.ones((2, 3)), "step": 1})
    with pytest.raises(TypeError, match=r"f: argument params: expected the keys of Weights, 'b', 'step', 'w', found 'bias'"):
        f({**good, "bias": jnp.ones(3)})
