"""Calls kernels of Rust libraries made with the crate `xla-shape-ffi` from JAX on CPU.

    kernels = xla_shape_ffi.load("target/release/libkernels.so")
    y = kernels.layer_norm(x, gain, eps=1e-5)

Each kernel is registered once, under the name `package.kernel`, and called with the layouts, element types and sizes of its Rust
signature. A mismatch is a `TypeError` at the line of the call, also under `jax.jit`. This module depends on JAX only.

    python xla_shape_ffi.py stubs libkernels.so > kernels.pyi       # type stubs of the kernels, for editors and mypy
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import inspect
import itertools
import json
import keyword
import operator
import os
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

__all__ = ["Kernel", "Library", "load", "stubs"]

# How the names of element types begin in NumPy and ml_dtypes, and in XLA.
_KINDS = {"int": "s", "uint": "u", "float": "f", "bfloat": "bf", "complex": "c"}

# The options of `Kernel.__call__`, which cannot be names of parameters.
_OPTIONS = ("results", "vmap_method")
_VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")

_Parameter = dict[str, Any]
# The types of a call's results, its attributes, its `vmap_method`, and its number of operands.
_Prepared = tuple[tuple[Any, ...], tuple[tuple[str, Any], ...], str | None, int]
# JAX does not annotate the types of these.
_Type: Any = jax.ShapeDtypeStruct
_spec: Any = PartitionSpec
_capsule: Any = jax.ffi.pycapsule


class _Float:
    """A number as an attribute, compared by its bits.

    JAX reuses compiled code for equal attributes, so 0 and -0 must differ, and nan must equal itself.
    """

    def __init__(self, number: Any) -> None:
        self._number = number

    def __jax_array__(self) -> Any:
        return self._number

    def __repr__(self) -> str:
        return repr(self._number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Float) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, bytes]:
        return self._number.dtype, self._number.tobytes()


def _dtype(element_type: str) -> Any:
    """The type with XLA's name: `bf16` is `bfloat16`, `f8e4m3fn` is `float8_e4m3fn`, `s4` is `int4`."""
    if element_type == "pred":
        return jnp.dtype("bool")
    match = re.fullmatch(r"(bf|[sufc])(\d+)(\w*)", element_type)
    if match is None:
        raise TypeError(f"JAX has no elements of type {element_type}")
    kind, bits, rest = match.groups()
    begin = {xla: numpy for numpy, xla in _KINDS.items()}[kind]
    return jnp.dtype(begin + bits + (f"_{rest}" if rest else ""))


# Names in annotations that stand for several element types.
_FAMILIES: dict[str, Any] = {"float": np.floating, "int": np.integer, "key": jax.dtypes.prng_key}


def _is_of(element_type: str, dtype: Any) -> bool:
    """Whether a type is the one with this name, or one of those that the name stands for."""
    family = _FAMILIES.get(element_type)
    return element_type == _element_type(dtype) if family is None else bool(jnp.issubdtype(dtype, family))


def _converted(element_type: str, dtype: Any) -> Any:
    """The type that a weakly typed value would get. If the annotation's name stands for several types, it is the value's own type if that is one of
    them, or else JAX's default."""
    family = _FAMILIES.get(element_type)
    if family is None:
        return _dtype(element_type)
    if jnp.issubdtype(dtype, family) or family is jax.dtypes.prng_key:
        return dtype
    return jnp.result_type(float if family is np.floating else int)


def _element_type(dtype: Any) -> str:
    """XLA's name of the element type. JAX has types that XLA does not have: those of random keys are `key`, as in annotations."""
    if dtype.name == "bool":
        return "pred"
    match = re.fullmatch(r"(u?int|b?float|complex)(\d+)_?(e\w+)?", dtype.name)
    if match:
        return _KINDS[match[1]] + match[2] + (match[3] or "")
    return "key" if jnp.issubdtype(dtype, jax.dtypes.prng_key) else str(dtype.name)


def _text(shape: Sequence[Any], dtype: Any) -> str:
    """The array in XLA's notation."""
    return f"{_element_type(dtype)}[{','.join(map(str, shape))}]"


class _Sizes:
    """The values of named sizes in a call."""

    def __init__(self, kernel: str, takes: str = "this kernel takes", has: str = "the call has") -> None:
        self._kernel, self.takes, self.has = kernel, takes, has
        self._known: dict[str, tuple[Any, str]] = {}

    def copy(self) -> _Sizes:
        """The same values, to be changed without effect on these."""
        new = _Sizes(self._kernel, self.takes, self.has)
        new._known = dict(self._known)
        return new

    def fit(self, place: str, wants: dict[str, Any], shape: Sequence[Any], dtype: Any) -> None:
        """Raises `TypeError` if the array does not match the parameter."""
        if wants["shape"] is None:
            return
        sizes = wants["sizes"]
        # If leading dimensions are allowed, they may have any sizes: only the last ones are compared.
        last = shape[max(len(shape) - len(sizes), 0) :] if wants.get("leading") else shape
        if (
            not _is_of(wants["element_type"], dtype)
            or len(sizes) != len(last)
            or any(size is not None and size != found for size, found in zip(sizes, last))
            or any(bound is not None and bound < found for bound, found in zip(wants.get("bounds", ()), last))
        ):
            self._refuse(place, _sizes_text(wants), shape, dtype)
        if wants.get("leading_name") is not None:
            name, found = f"*{wants['leading_name']}", tuple(shape[: len(shape) - len(sizes)])
            first, where = self._known.setdefault(name, (found, place))
            if first != found:
                self._refuse(place, f"{_sizes_text(wants)} with {name} = {list(first)} as in {where}", shape, dtype)
        for name, factor, found in zip(wants["names"], wants.get("factors") or itertools.repeat(1), last):
            if name is not None:
                if factor != 1 and found % factor:
                    self._refuse(place, _sizes_text(wants), shape, dtype)
                found = found if factor == 1 else found // factor
                size, where = self._known.setdefault(name, (found, place))
                if size != found:
                    self._refuse(place, f"{_sizes_text(wants)} with {name} = {size} as in {where}", shape, dtype)

    def infer(self, wants: dict[str, Any]) -> Any:
        """The type of a result, or `None` if the operands do not determine it."""
        if wants["shape"] is None:
            return None
        named = (name in self._known for name in wants["names"])
        if not all(size is not None or known for size, known in zip(wants["sizes"], named)):
            return None
        sizes = [self._known[name][0] if size is None else size for size, name in zip(wants["sizes"], wants["names"])]
        return _Type(tuple(sizes), _dtype(wants["element_type"]))

    def _refuse(self, place: str, takes: str, shape: Sequence[Any], dtype: Any) -> None:
        raise TypeError(f"{self._kernel}: {place}: {self.takes} {takes}, {self.has} {_text(shape, dtype)}")


def _sizes_text(wants: dict[str, Any]) -> str:
    """The array that a parameter takes, without its layout: arrays of JAX have none to compare."""
    return str(wants["shape"]).partition("{")[0]


class Kernel:
    """A function of a Rust library. Call it with its operands in order, and its attributes by name.

    Results have the shapes of the signature. If the operands do not determine all of their sizes, pass them as `results`: a
    `jax.ShapeDtypeStruct` or an array for each result.

    `jax.vmap` makes one call of a kernel that computes the indices of a size independently (`where batch(…)` in Rust), otherwise one
    call for each element. `vmap_method` chooses another method, as in `jax.ffi.ffi_call`. On a mesh, arrays may be divided only
    along independent sizes.
    """

    __name__: str
    __signature__: inspect.Signature

    def __init__(self, target: str, signature: dict[str, Any]) -> None:
        self.__name__ = self.__qualname__ = signature["name"]
        self.signature = signature
        self.target = target
        parameters: list[_Parameter] = signature["parameters"]
        self._operands = [p for p in parameters if p["role"] in ("operand", "in_place")]
        self._results = [p for p in parameters if p["role"] in ("result", "in_place")]
        self._attributes = {p["name"]: p for p in parameters if p["role"] == "attribute"}
        self._batch: list[str] = signature["batch"]
        self.__signature__ = _python_signature(self)
        self.__doc__ = "\n\n".join(filter(None, [signature["doc"], repr(self)]))
        self._prepared = functools.lru_cache(maxsize=256)(self._prepare)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{p['name']}: {_words(p)}" for p in self.signature["parameters"] if p["role"] != "context")
        return f"{self.__name__}({parameters})"

    def __call__(self, *operands: Any, results: Any = None, vmap_method: str | None = None, **attributes: Any) -> Any:
        arrays, prepared = self._bind(operands, results, vmap_method, attributes)
        return _alone(self._prepared(*prepared)(*arrays))

    def with_gradient(self, backward: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel as a differentiable function.

        `backward(operands, results, cotangents, **attributes)` returns a cotangent for each operand (if there is only one, not as a
        tuple); `None` means zeros. `operands`, `results` and `cotangents` are each one array, or a tuple if there are several.
        Attributes are those of the call, as Python numbers, lists and strings. Gradients can be differentiated again, in reverse mode:
        `jax.grad(jax.grad(f))`, `jax.jacrev(jax.grad(f))`.

            softmax = kernels.softmax.with_gradient(lambda x, y, dy: y * (dy - (y * dy).sum(-1, keepdims=True)))
        """

        @functools.lru_cache(maxsize=256)
        def prepare(prepared: _Prepared, names: frozenset[str]) -> Any:
            kernel, count = self._prepared(*prepared), prepared[-1]
            attributes = dict.fromkeys(names) | {name: _python_value(value) for name, value in prepared[1]}

            def forward(*operands: Any) -> Any:
                try:
                    inspect.signature(backward).bind("operands", "results", "cotangents", **attributes)
                except TypeError as error:
                    raise TypeError(
                        f"{self.__name__}: gradient: expected a function of operands, results, cotangents and the attributes of the call, "
                        f"found one that cannot take them: {error}"
                    ) from None
                # Calls the differentiable function, not the kernel itself, so that gradients can be differentiated again.
                y = call(*operands)
                return y, (operands, y)

            def back(saved: Any, cotangents: Any) -> Any:
                operands, y = saved
                found = backward(operands[0] if count == 1 else operands, y, cotangents, **attributes)
                found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
                if len(found) != count:
                    expected = _count(count, "operand")
                    raise TypeError(f"{self.__name__}: gradient: expected the cotangents of {expected}, found {len(found)}")
                for (place, _), operand, cotangent in zip(self._places(count), operands, found):
                    if cotangent is not None and np.shape(cotangent) != operand.shape:
                        takes, has = _text(operand.shape, operand.dtype), list(np.shape(cotangent))
                        raise TypeError(f"{self.__name__}: gradient: {place}: expected a cotangent like {takes}, found one of sizes {has}")
                return found

            call = jax.custom_vjp(lambda *operands: _alone(kernel(*operands)))
            # Without `jit`, some versions of JAX would trace the function for the cotangents at each gradient.
            call.defvjp(forward, jax.jit(back, inline=True))
            return jax.jit(_named(call, self.__name__), inline=True)

        def differentiable(*operands: Any, results: Any = None, vmap_method: str | None = None, **attributes: Any) -> Any:
            arrays, prepared = self._bind(operands, results, vmap_method, attributes)
            # Cotangents of replicated operands are summed over the devices where the operand becomes varying.
            return prepare(prepared, frozenset(attributes))(*_alike(arrays))

        differentiable.__name__ = differentiable.__qualname__ = self.__name__
        differentiable.__doc__ = self.__doc__
        setattr(differentiable, "__signature__", self.__signature__)
        return differentiable

    def _bind(
        self, operands: Sequence[Any], results: Any, vmap_method: str | None, attributes: dict[str, Any]
    ) -> tuple[list[Any], _Prepared]:
        """The operands of a call as arrays, and its other parts. Removes operands that were given by name from the attributes."""
        if vmap_method is not None and vmap_method not in _VMAP_METHODS:
            raise TypeError(f"{self.__name__}: vmap_method: expected one of {', '.join(_VMAP_METHODS)}, found {vmap_method!r}")
        given = self._given(operands, attributes)
        places = self._places(len(given))
        arrays = [x if isinstance(x, jax.Array) else self._array(place, p, x) for (place, p), x in zip(places, given)]
        sizes = _Sizes(self.__name__)
        for (place, parameter), array in zip(places, arrays):
            self._expect_cpu(place, array)
            sizes.fit(place, parameter["wants"], array.shape, array.dtype)
        types = tuple(self._result_types(results, sizes, {p["name"]: a for (_, p), a in zip(places, arrays)}))
        return arrays, (types, tuple(self._values(attributes)), vmap_method, len(arrays))

    def _given(self, operands: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
        """All operands, also those given by name; checks their number, and the names of attributes."""
        variadic = next((i for i, p in enumerate(self._operands) if p["variadic"]), len(self._operands))
        given, rest, last = [], list(operands), []
        for i, parameter in enumerate(self._operands[:variadic]):
            name = parameter["name"]
            if name in attributes and rest:
                raise TypeError(f"{self.__name__}: operand {i} ({name}): given twice, by its place and by its name")
            if name in attributes:
                given.append(attributes.pop(name))
            elif rest:
                given.append(rest.pop(0))
        for parameter in reversed(self._operands[variadic + 1 :]):
            if parameter["name"] in attributes:
                last.append(attributes.pop(parameter["name"]))
            elif rest:
                last.append(rest.pop())
        given += [*rest, *reversed(last)]
        least = sum(not p["variadic"] for p in self._operands)
        names = ", ".join(f"*{p['name']}" if p["variadic"] else p["name"] for p in self._operands)
        # Unknown names are reported first: if an operand's name is misspelt, the operand is also missing.
        for name in attributes:
            if name not in self._attributes:
                known = ", ".join(self._attributes)
                known = f"has no attribute of this name; it has {known}" if known else "has no attributes"
                operands = "" if len(given) >= least else f"; its operands are {names}"
                raise TypeError(f"{self.__name__}: attribute {name!r}: this kernel {known}{operands}")
        if len(given) < least or len(given) > least and not self._is_variadic():
            expected = ("at least " if self._is_variadic() else "") + _count(least, "operand")
            names = names and f" ({names})"
            unnamed = ", ".join(f"{name}=…" for name in self._attributes if name not in attributes) if len(given) > least else ""
            hint = unnamed and f"; attributes are given by name: {unnamed}"
            raise TypeError(f"{self.__name__}: this kernel takes {expected}{names}, the call has {len(given)}{hint}")
        for name, parameter in self._attributes.items():
            if name not in attributes and not parameter["optional"]:
                raise TypeError(f"{self.__name__}: attribute {name!r}: this kernel takes {_value_words(parameter)}, the call has none")
        return given

    def _is_variadic(self) -> bool:
        return any(p["variadic"] for p in self._operands)

    def _places(self, count: int) -> list[tuple[str, _Parameter]]:
        """The name of each operand for messages, and its parameter."""
        more = count - len(self._operands) + 1
        parameters = itertools.chain.from_iterable([p] * more if p["variadic"] else [p] for p in self._operands)
        return [(f"operand {i} ({p['name']})", p) for i, p in enumerate(parameters)]

    def _array(self, place: str, parameter: _Parameter, operand: Any) -> Any:
        """An operand as JAX's array."""
        is_list = isinstance(operand, (list, tuple))
        if is_list and parameter["variadic"] and any(hasattr(x, "shape") for x in operand):
            found = f"{type(operand).__name__} of arrays: write *{parameter['name']} for its arrays one by one"
            raise TypeError(f"{self.__name__}: {place}: expected an array, found a {found}")
        try:
            return jnp.asarray(operand)
        except (TypeError, ValueError) as error:
            found = type(operand).__name__ + (f": {error}" if is_list else "")
            raise TypeError(f"{self.__name__}: {place}: expected an array, found a value of type {found}") from None

    def _expect_cpu(self, place: str, array: Any) -> None:
        if isinstance(array, jax.core.Tracer):
            return
        for device in array.devices():
            if device.platform != "cpu":
                raise TypeError(f"{self.__name__}: {place}: this kernel runs on CPU, the array is on {device}")

    def _result_types(self, given: Any, sizes: _Sizes, operands: dict[str, Any]) -> Iterator[Any]:
        if given is not None and not isinstance(given, (tuple, list)):
            given = [given]
        if given is not None and len(given) != len(self._results):
            expected = _count(len(self._results), "result")
            raise TypeError(f"{self.__name__}: results: expected the types of {expected}, found {len(given)}")
        for i, result in enumerate(self._results):
            wants, place = result["wants"], f"result {i} ({result['name']})"
            like = operands.get(result["name"]) if result["role"] == "in_place" else None
            if given is not None:
                if not (hasattr(given[i], "shape") and hasattr(given[i], "dtype")):
                    found = repr(given[i])
                    raise TypeError(f"{self.__name__}: results: expected a jax.ShapeDtypeStruct or an array, found {found}")
                found_type = _Type(given[i].shape, jax.dtypes.canonicalize_dtype(given[i].dtype))
                if like is not None and (like.shape, like.dtype) != (found_type.shape, found_type.dtype):
                    takes, found = _text(like.shape, like.dtype), _text(found_type.shape, found_type.dtype)
                    raise TypeError(f"{self.__name__}: {place}: this kernel takes {takes}, the call has {found}")
                sizes.fit(place, wants, found_type.shape, found_type.dtype)
                yield found_type
            elif like is not None:
                yield _Type(like.shape, like.dtype)
            else:
                inferred = sizes.infer(wants)
                if inferred is None:
                    takes = _sizes_text(wants) if wants["shape"] else "an array of any shape"
                    raise TypeError(f"{self.__name__}: {place}: the operands do not say all sizes of {takes}: say its type with results=…")
                if jax.dtypes.canonicalize_dtype(inferred.dtype) != inferred.dtype:
                    raise TypeError(f"{self.__name__}: {place}: {wants['shape']} needs jax_enable_x64")
                yield inferred

    def _values(self, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """The attributes, converted to the types of the signature, in a hashable form."""
        for name, value in sorted(given.items()):
            parameter = self._attributes[name]
            if value is None and parameter["optional"]:
                continue
            yield name, self._value(name, parameter, value)

    def _value(self, name: str, parameter: _Parameter, value: Any) -> Any:
        wants = parameter["wants"]
        if isinstance(value, jax.core.Tracer):
            raise TypeError(
                f"{self.__name__}: attribute {name!r}: expected a constant of the program, found what is traced: {value!r}; "
                "under jax.jit, name it in static_argnames"
            )
        if "text" in wants:
            if not isinstance(value, str):
                raise TypeError(f"{self.__name__}: attribute {name!r}: this kernel takes a text, the call has {value!r}")
            return value
        if "scalar" in wants:
            number = _exactly(self.__name__, name, value, _dtype(wants["scalar"]))
            if number.ndim != 0:
                raise TypeError(f"{self.__name__}: attribute {name!r}: this kernel takes a number, the call has {value!r}")
            if wants["scalar"] == "u64" and np.any(number >= 1 << 63):
                raise TypeError(f"{self.__name__}: attribute {name!r}: JAX passes no number of 2**63 or more, found {value!r}")
            return _Float(number[()]) if isinstance(number[()], np.floating) else number[()]
        values = _exactly(self.__name__, name, value, _dtype(wants["values"]))
        if values.ndim != 1:
            hint = f": write [{value!r}]" if values.ndim == 0 else ""
            raise TypeError(f"{self.__name__}: attribute {name!r}: expected a list of numbers, found {value!r}{hint}")
        # XLA's attributes cannot be lists of booleans.
        values = values.astype(np.uint8) if values.dtype == bool else values
        return _Values(values)

    def _prepare(self, types: tuple[Any, ...], values: tuple[tuple[str, Any], ...], vmap_method: str | None, count: int) -> Any:
        """The function that makes a call with these results, attributes and number of operands."""
        attributes = {name: value.array if isinstance(value, _Values) else value for name, value in values}
        parameters = [p for _, p in self._places(count)]
        names = [p["name"] for p in self._results]
        aliases = {i: names.index(p["name"]) for i, p in enumerate(parameters) if p["role"] == "in_place"}
        independent = vmap_method is None and bool(types) and bool(self._batch)

        def call(types: tuple[Any, ...], *operands: Any) -> Any:
            found = jax.ffi.ffi_call(
                self.target,
                types,
                input_layouts=[_layout(p, np.ndim(operand)) for p, operand in zip(parameters, operands)],
                output_layouts=[_layout(p, len(result.shape)) for p, result in zip(self._results, types)],
                input_output_aliases=aliases,
                # A call without results is made for its side effects: XLA must not remove it.
                has_side_effect=not types,
                vmap_method=vmap_method or "sequential",
            )(*operands, **attributes)
            # Otherwise, JAX would assume that the results are the same on all devices.
            return [_vary(y, _varying(*operands)) for y in found]

        function = _Batched(self, parameters, types, call).function if independent else functools.partial(call, types)
        return jax.jit(_named(self._without_gradient(function) if types else function, self.__name__), inline=True)

    def _without_gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with an error that explains `with_gradient` if it is differentiated."""

        @jax.custom_jvp
        def call(*operands: Any) -> Any:
            return function(*operands)

        @call.defjvp
        def _(operands: Any, tangents: Any) -> Any:
            raise TypeError(f"{self.__name__}: this kernel has no gradient: give it one with with_gradient")

        plain: Callable[..., Any] = call
        return plain


class _Values:
    """A hashable list of numbers."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self._key = array.dtype, array.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Values) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _python_value(value: Any) -> Any:
    """An attribute as a Python value."""
    if isinstance(value, _Float):
        return value._number.item()
    if isinstance(value, _Values):
        return value.array.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _alone(found: Sequence[Any]) -> Any:
    """The results of a call: a single one as it is, several as a tuple."""
    return found[0] if len(found) == 1 else tuple(found)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function with another name, which appears in printed programs."""

    def call(*operands: Any) -> Any:
        return function(*operands)

    call.__name__ = call.__qualname__ = name
    return call


class _Batched:
    """A call of a kernel with batch sizes, whose indices it computes independently.

    A mesh may divide these dimensions, and `jax.vmap` may add dimensions in front of them. The kernel sees added dimensions as part of
    the size after them, or, if it takes arrays of any shape, as they are. They are merged only in the call on each device, so that the
    mesh may divide them, too.
    """

    def __init__(
        self, kernel: Kernel, parameters: list[_Parameter], types: tuple[Any, ...], call: Callable[..., Any], added: int = 0
    ) -> None:
        self._kernel, self._parameters, self._types, self._call = kernel, parameters, types, call
        # Names for the dimensions that `vmap` has added so far; no kernel can have such names.
        self._added = [f"+{i}" for i in range(added)]
        self._batch = {*kernel._batch, *self._added}
        self._first = self._first_size()

        @jax.custom_batching.custom_vmap
        def batched(*operands: Any) -> Any:
            # In the body of a shard_map, arrays are already divided.
            return self._whole(types, *operands) if _is_manual() else self._on_a_mesh(operands)(*operands)

        batched.def_vmap(self._vmap)
        # Versions of JAX before 0.10 do not support custom_vmap in the body of a shard_map.
        is_old = jax.__version_info__ < (0, 10)
        self.function: Callable[..., Any] = lambda *operands: (self._whole(types, *operands) if is_old and _is_manual() else batched(*operands))

    def _first_size(self) -> str | None:
        """The named size in front of which dimensions may be added: the first of all results."""
        if self._kernel._batch == ["..."]:
            return "..."
        names = [p["wants"].get("names") or [None] for p in self._kernel._results]
        name = names[0][0] if names[0] else None
        return name if name in self._kernel._batch and all(n[:1] == [name] and name not in n[1:] for n in names) else None

    def _is_longer(self, parameter: _Parameter) -> bool:
        """Whether the parameter gets the added dimensions."""
        return self._first == "..." or self._first in (parameter["wants"].get("names") or [])

    def _names(self, parameter: _Parameter, rank: int) -> list[str | None]:
        """The names of an array's sizes, with those of added dimensions."""
        added = self._added if self._is_longer(parameter) else []
        return [*added, *(parameter["wants"].get("names") or [None] * (rank - len(added)))]

    def _whole(self, types: Sequence[Any], *operands: Any) -> tuple[Any, ...]:
        """The call as a function that `vmap` batches by adding dimensions."""
        added = len(self._added)
        if not added or self._first == "...":
            return tuple(self._call(tuple(types), *operands))

        def flat(shape: Sequence[Any]) -> tuple[Any, ...]:
            return (functools.reduce(operator.mul, shape[: added + 1]), *shape[added + 1 :])

        flat_operands = (x.reshape(flat(x.shape)) if self._is_longer(p) else x for p, x in zip(self._parameters, operands))
        found = self._call(tuple(_Type(flat(t.shape), t.dtype) for t in types), *flat_operands)
        return tuple(y.reshape(t.shape) for y, t in zip(found, types))

    def _vmap(self, size: int, is_batched: Sequence[bool], *operands: Any) -> Any:
        if self._may_add(is_batched):
            longer = [
                jnp.broadcast_to(x, (size, *x.shape)) if self._is_longer(p) and not b else x
                for p, b, x in zip(self._parameters, is_batched, operands)
            ]
            types = tuple(_Type((size, *t.shape), t.dtype) for t in self._types)
            found = _Batched(self._kernel, self._parameters, types, self._call, len(self._added) + 1).function(*longer)
        else:

            def one(batched: Any) -> Any:
                rest = iter(batched)
                return self.function(*(next(rest) if b else x for b, x in zip(is_batched, operands)))

            found = jax.lax.map(one, [x for b, x in zip(is_batched, operands) if b])
        return tuple(found), tuple(True for _ in self._types)

    def _may_add(self, is_batched: Sequence[bool]) -> bool:
        """Whether a dimension in front of all batched operands is in front of the batch size in each."""
        if self._first is None or self._first == "...":
            return self._first is not None
        names = [p["wants"].get("names") or [] for p in self._parameters]
        leads = (n[:1] == [self._first] and self._first not in n[1:] for n in names)
        return all(leads or not (b or self._first in n) for leads, b, n in zip(leads, is_batched, names))

    def _on_a_mesh(self, operands: Sequence[Any]) -> Callable[..., Any]:
        """The call as a function whose batch sizes may be divided among the devices of a mesh."""
        from jax.experimental import custom_partitioning as partitioning

        types = self._types
        custom_partitioning: Any = partitioning.custom_partitioning
        function: Any = custom_partitioning(_named(lambda *operands: self._whole(types, *operands), self._kernel.__name__))

        def shardings(mesh: Any, arguments: Any, results: Any) -> tuple[list[Any], list[Any]]:
            """The sharding that the kernel can compute with, nearest to the present one."""
            axes: dict[str, Any] = {}
            found = [*zip(self._parameters, arguments), *zip(self._kernel._results, results)]
            for parameter, argument in found:
                spec = getattr(argument.sharding, "spec", None) or ()
                for name, axis in zip(self._names(parameter, len(argument.shape)), spec):
                    if name in self._batch and axis is not None and axis not in axes.values():
                        axes.setdefault(str(name), axis)

            def sharding(parameter: _Parameter, argument: Any) -> Any:
                names = self._names(parameter, len(argument.shape))
                return NamedSharding(mesh, _spec(*(axes.get(name or "") for name in names)))

            fitted = [sharding(*each) for each in found]
            return fitted[: len(arguments)], fitted[len(arguments) :]

        def partition(mesh: Any, arguments: Any, results: Any) -> Any:
            operands, found = shardings(mesh, arguments, results)
            local = tuple(_Type(s.shard_shape(r.shape), r.dtype) for s, r in zip(found, results))
            return mesh, lambda *pieces: self._whole(local, *pieces), tuple(found), tuple(operands)

        def infer(mesh: Any, arguments: Any, results: Any) -> Any:
            return tuple(shardings(mesh, arguments, results)[1])

        rule, whole = self._rule([np.ndim(x) for x in operands])
        options: dict[str, Any] = {"sharding_rule": rule, "need_replication_factors": whole}
        known = inspect.signature(function.def_partition).parameters
        function.def_partition(
            partition=partition, infer_sharding_from_operands=infer, **{name: v for name, v in options.items() if name in known}
        )
        call: Callable[..., Any] = function
        return call

    def _rule(self, ranks: Sequence[int]) -> tuple[str, tuple[str, ...]]:
        """Shardy's rule, with a factor for each named size and for each size without a name; and the factors that need replication."""
        factors: dict[str, str] = {}
        whole: list[str] = []

        def factor(name: str | None) -> str:
            if name is not None and name in factors:
                return factors[name]
            new = f"i{len(factors)}"
            factors[name or f" {len(factors)}"] = new
            if name not in self._batch:
                whole.append(new)
            return new

        def side(parameters: Sequence[_Parameter], ranks: Sequence[int]) -> str:
            return ", ".join(" ".join(map(factor, self._names(p, rank))) for p, rank in zip(parameters, ranks))

        # Factors are numbered in the order of their first use in the rule.
        operands = side(self._parameters, ranks)
        results = side(self._kernel._results, [len(t.shape) for t in self._types])
        return f"{operands} -> {results}", tuple(whole)


def _varying(*operands: Any) -> frozenset[str]:
    """The axes of a `shard_map` over which one of these arrays varies."""
    axes: set[str] = set()
    for operand in operands:
        kind = jax.typeof(operand) if hasattr(jax, "typeof") else None
        found = getattr(getattr(kind, "manual_axis_type", None), "varying", None)
        axes |= set(getattr(kind, "vma", ()) if found is None else found)
    return frozenset(axes)


def _vary(array: Any, axes: frozenset[str]) -> Any:
    """The same array, marked as varying over these axes."""
    new = tuple(sorted(axes - _varying(array)))
    if not new:
        return array
    lax: Any = jax.lax
    return lax.pcast(array, new, to="varying") if hasattr(lax, "pcast") else lax.pvary(array, new)


def _alike(arrays: Sequence[Any]) -> list[Any]:
    """The arrays, each marked as varying over all axes over which one of them varies."""
    axes = _varying(*arrays)
    return [_vary(array, axes) for array in arrays]


def _is_manual() -> bool:
    """Whether JAX is tracing the body of a `shard_map`."""
    mesh = getattr(jax.sharding, "get_abstract_mesh", lambda: None)()
    if getattr(mesh, "manual_axes", ()):
        return True
    if jax.__version_info__ >= (0, 7):
        return False
    # Versions of JAX before 0.7 give only the names of axes, including those of vmap.
    from jax._src import core

    axes: Any = core
    return bool(axes.get_axis_env().axis_sizes)


def _exactly(kernel: str, name: str, value: Any, dtype: Any) -> Any:
    """A number or a list of numbers, converted to this type; integers and booleans exactly, others with rounding."""
    try:
        with np.errstate(over="raise"):
            converted = np.array(value, dtype)
        if np.issubdtype(dtype, np.inexact):
            # NumPy would parse numbers in strings.
            if np.asarray(value).dtype.kind not in "SU":
                return converted
        # Compare Python objects, because NumPy converts a list such as [2**64 - 1, 1] to floats.
        elif converted.tolist() == np.asarray(value, object).tolist():
            return converted
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise TypeError(f"{kernel}: attribute {name!r}: expected {dtype.name}, found {value!r}")


def _words(parameter: _Parameter) -> str:
    """A parameter as one line of text."""
    wants = parameter["wants"]
    if "shape" in wants:
        text = ("*" if parameter["variadic"] else "") + (wants["shape"] or "any array")
        prefix = {"result": "result ", "in_place": "in place "}.get(parameter["role"], "")
        return prefix + text
    text = f"[{wants['values']}]" if "values" in wants else wants.get("scalar", "text")
    if parameter["default"] is not None:
        return f"{text} = {parameter['default']!r}"
    return f"{text}, optional" if parameter["optional"] else text


def _value_words(parameter: _Parameter) -> str:
    wants = parameter["wants"]
    if "scalar" in wants:
        return f"a number of type {wants['scalar']}"
    return f"numbers of type {wants['values']}" if "values" in wants else "a text"


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _layout(parameter: _Parameter, rank: int) -> tuple[int, ...] | None:
    """The layout, major to minor, as `jax.ffi.ffi_call` takes it; `None` is row-major for any rank."""
    order = parameter["wants"].get("minor_to_major")
    return tuple(reversed(order)) if order is not None and len(order) == rank else None


def _default(parameter: _Parameter) -> Any:
    """The default of an attribute, as a Python value."""
    value, wants = parameter["default"], parameter["wants"]
    if "text" in wants or value is None:
        return value
    # JSON has no infinities, so they are written as strings.
    return [float(v) if isinstance(v, str) else v for v in value] if "values" in wants else float(value) if isinstance(value, str) else value


def _python_type(parameter: _Parameter) -> str:
    wants = parameter["wants"]
    element = wants.get("scalar") or wants.get("values") or ""
    number = "bool" if element == "pred" else "float" if element.startswith("f") else "int"
    text = "str" if "text" in wants else number if "scalar" in wants else f"Sequence[{number}]"
    return f"{text} | None" if parameter["optional"] and parameter["default"] is None else text


def _python_signature(kernel: Kernel) -> inspect.Signature:
    kinds, parameters = inspect.Parameter, []
    kind: Any = kinds.POSITIONAL_OR_KEYWORD
    for parameter in kernel._operands:
        this = kinds.VAR_POSITIONAL if parameter["variadic"] else kind
        parameters.append(kinds(parameter["name"], this, annotation="ArrayLike"))
        if parameter["variadic"]:
            kind = kinds.KEYWORD_ONLY
    attributes = [
        kinds(
            name,
            kinds.KEYWORD_ONLY,
            default=_default(p) if p["optional"] else kinds.empty,
            annotation=_python_type(p),
        )
        for name, p in kernel._attributes.items()
    ]
    options = [
        kinds("results", kinds.KEYWORD_ONLY, default=None, annotation="Any"),
        kinds("vmap_method", kinds.KEYWORD_ONLY, default=None, annotation="str | None"),
    ]
    count = len(kernel._results)
    returned = "jax.Array" if count == 1 else f"tuple[{', '.join(['jax.Array'] * count) or '()'}]"
    # Required parameters come before optional ones.
    return inspect.Signature([*parameters, *attributes, *options], return_annotation=returned)


def _check(signature: dict[str, Any]) -> None:
    """Raises `ValueError` if this module cannot call a kernel with this signature."""
    if keyword.iskeyword(signature["name"]):
        raise ValueError(f"{signature['name']}: expected another name of a kernel, this is a word of Python")
    for parameter in signature["parameters"]:
        name, obstacle = parameter["name"], parameter["wants"].get("obstacle")
        if obstacle:
            raise ValueError(f"{signature['name']}: {_words(parameter)} ({name}): {obstacle}")
        if parameter["role"] in ("result", "context"):
            continue
        role = "attribute" if parameter["role"] == "attribute" else "operand"
        if name in _OPTIONS:
            raise ValueError(f"{signature['name']}: {role} {name!r}: expected another name, this is an option of every call")
        if keyword.iskeyword(name):
            raise ValueError(f"{signature['name']}: {role} {name!r}: expected another name, this is a word of Python")
    named = {name for p in signature["parameters"] for name in p["wants"].get("names") or ()}
    for name in signature.get("batch", ()):
        if name not in named and name != "...":
            raise ValueError(f"{signature['name']}: batch({name}): expected the name of a size, found none of this name")


def _api_version() -> tuple[int, int]:
    """The version of XLA's FFI in this JAX."""
    text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    numbers = dict(re.findall(r"#define XLA_FFI_API_(MAJOR|MINOR) (\d+)", text))
    return int(numbers["MAJOR"]), int(numbers["MINOR"])


def _check_version(path: str, library: tuple[int, int], found: tuple[int, int]) -> None:
    """Raises `ValueError` if this JAX cannot call the library."""
    if library[0] != found[0] or library[1] > found[1]:
        wanted, here = (f"{major}.{minor}" for major, minor in (library, found))
        raise ValueError(
            f"{path}: expected a JAX whose XLA has version {wanted} of the foreign function interface, or a later minor version, "
            f"found JAX {jax.__version__} with version {here}"
        )


class Library:
    """The kernels of a library, by their names."""

    def __init__(self, path: str, kernels: dict[str, Kernel]) -> None:
        self.__dict__.update(kernels)
        self._path, self._kernels = path, kernels

    def __getattr__(self, name: str) -> Kernel:
        known = ", ".join(self.__dict__.get("_kernels", ()))
        raise AttributeError(f"{self.__dict__.get('_path')} has no kernel {name!r}; its kernels are {known}")

    def __dir__(self) -> list[str]:
        return list(self._kernels)

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._kernels.values())

    def __repr__(self) -> str:
        return "\n".join([f"Library({self._path!r}):", *(f"    {kernel!r}" for kernel in self)])


_loaded: dict[tuple[str, str | None], Library] = {}
_loading = threading.Lock()


def _packages() -> dict[str, bytes]:
    """The file for each registered package name. XLA has one registry per process, so all copies of this module share this table."""
    registry = sys.modules.setdefault("_xla_shape_ffi_packages", types.ModuleType("_xla_shape_ffi_packages"))
    packages: dict[str, bytes] = registry.__dict__.setdefault("packages", {})
    return packages


def _known_to_xla() -> set[str]:
    """The names of functions registered with XLA for CPU, and of those that JAX will register when it starts its backend.

    It is empty for versions of JAX that do not give these names.
    """
    from jaxlib import xla_client

    client: Any = xla_client
    waiting = getattr(client, "_custom_callback", {}).get("Host", ())
    return {name for name, *_ in waiting} | set(getattr(client, "custom_call_targets", lambda platform: ())("cpu"))


def load(path: str | os.PathLike[str], package: str | None = None) -> Library:
    """Loads a library, registers its kernels, and returns them as attributes.

    Their names in XLA are `package.kernel`; the default package is the library's crate. Loading the library again returns the same
    object. Raises `OSError` if the file cannot be loaded. Raises `ValueError`, without registering anything, if

    - it is not a library of kernels, or was built with an `xla-shape-ffi` that is too old for this module;
    - a parameter has a layout that a custom call on CPU cannot carry, or a name is a keyword of Python or an option of calls;
    - another library has the same package name, or XLA has a function with a kernel's name;
    - this version of JAX is too old for the library.
    """
    path = os.path.realpath(path)
    with _loading:
        key = path, package
        if key not in _loaded:
            _loaded[key] = _load(path, package)
        return _loaded[key]


def _load(path: str, package: str | None) -> Library:
    library = ctypes.CDLL(path)
    try:
        get_signatures, handler = library.xla_shape_ffi_signatures, library.xla_shape_ffi_handler
    except AttributeError as error:
        raise ValueError(f"{path}: expected a library with `xla_shape_ffi::export![…]`: {error}") from None
    try:
        refusal = library.xla_shape_ffi_refusal
    except AttributeError:
        raise ValueError(f"{path}: expected a library built with a newer `xla-shape-ffi`: build it again") from None
    get_signatures.restype = ctypes.c_char_p
    for function in (handler, refusal):
        function.restype, function.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    signatures = json.loads(get_signatures())
    package = package or str(signatures[0]["package"])
    version, kernels = _api_version(), {}
    for signature in signatures:
        _check(signature)
        _check_version(path, tuple(signature["api"]), version)
        kernels[signature["name"]] = Kernel(f"{package}.{signature['name']}", signature)
    digest = hashlib.sha256(Path(path).read_bytes()).digest()
    packages = _packages()
    if packages.get(package, digest) != digest:
        raise ValueError(f"{path}: another library has the package {package!r}: give this one a name with load(…, package=…)")
    # A copy of the same file has the same kernels.
    new = list(kernels.values()) if package not in packages else []
    known = _known_to_xla()
    for kernel in new:
        if kernel.target in known:
            raise ValueError(
                f"{path}: {kernel.__name__}: something else has registered {kernel.target!r} with XLA: "
                "give this library another name with load(…, package=…)"
            )
    for number, kernel in enumerate(new):
        jax.ffi.register_ffi_target(kernel.target, _capsule(handler(number)), platform="cpu")
        for platform in ("CUDA", "ROCM"):
            jax.ffi.register_ffi_target(kernel.target, _capsule(refusal(number)), platform=platform)
    packages[package] = digest
    return Library(path, kernels)


def stubs(library: Library) -> str:
    """Type stubs of a library's kernels: the text of a `.pyi` file."""
    head = ["from collections.abc import Sequence", "from typing import Any", "", "import jax", "from jax.typing import ArrayLike", ""]
    return "\n".join(head) + "\n" + "\n\n".join(map(_stub, library)) + "\n"


def _stub(kernel: Kernel) -> str:
    signature, parameters = kernel.__signature__, []
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    for parameter in signature.parameters.values():
        is_named = parameter.kind is parameter.KEYWORD_ONLY
        if is_named and parameter.VAR_POSITIONAL not in kinds and "*" not in parameters:
            parameters.append("*")
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        default = "" if parameter.default is parameter.empty else " = ..."
        parameters.append(f"{star}{parameter.name}: {parameter.annotation}{default}")
    doc = kernel.signature["doc"].replace("\\", "\\\\").replace('"', '\\"')
    body = f'"""{doc}"""'.replace("\n", "\n    ").replace("    \n", "\n") if doc else "..."
    return f"def {kernel.__name__}({', '.join(parameters)}) -> {signature.return_annotation}:\n    {body}"


def _main(arguments: list[str]) -> None:
    if len(arguments) != 2 or arguments[0] != "stubs":
        raise SystemExit("expected: stubs LIBRARY")
    sys.stdout.write(stubs(load(arguments[1])))


if __name__ == "__main__":
    _main(sys.argv[1:])
