"""Calls kernels of Rust libraries made with the crate `xla-shape-ffi` from JAX on CPU.

    kernels = xla_shape_ffi.load("target/release/libkernels.so")
    y = kernels.layer_norm(x, gain, eps=1e-5)

Every kernel is registered under its name, once, and called with the layouts, element types and sizes of its Rust signature. It
needs nothing but JAX.
"""

import ctypes
import json
import os
import threading
import types

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["Kernel", "load"]

# XLA's names of element types that NumPy, or JAX's additions to it, call otherwise.
_DTYPES = {
    "pred": "bool",
    "bf16": "bfloat16",
    "c64": "complex64",
    "c128": "complex128",
    **{f"s{bits}": f"int{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{
        f"f{name}": f"float{bits}_{name[1:]}"
        for bits, names in {
            4: ["4e2m1fn"],
            8: ["8e3m4", "8e4m3", "8e4m3b11fnuz", "8e4m3fn", "8e4m3fnuz", "8e5m2", "8e5m2fnuz", "8e8m0fnu"],
        }.items()
        for name in names
    },
}


# What `Kernel.__call__` takes itself.
_OPTIONS = ("results", "vmap_method")


class _Float:
    """A number as an attribute. JAX calls what it has compiled for equal attributes: 0 and -0 are not, and nan is itself."""

    def __init__(self, number):
        self._number = number

    def __jax_array__(self):
        return self._number

    def __repr__(self):
        return repr(self._number)

    def __eq__(self, other):
        return isinstance(other, _Float) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return self._number.dtype, self._number.tobytes()


def _dtype(element_type):
    return jnp.dtype(_DTYPES[element_type])


class Kernel:
    """A function of a Rust library. Call it with its operands in order, and its attributes by name.

    Results have the shapes of the signature; where the signature leaves sizes open, `results` says them: one
    `jax.ShapeDtypeStruct` (or array) for each result.
    """

    def __init__(self, target, signature):
        self.__name__ = signature["name"]
        self.signature = signature
        self._target = target
        by_role = {role: [p for p in signature["parameters"] if p["role"] == role] for role in ("operand", "result", "attribute")}
        self._operands, self._results = by_role["operand"], by_role["result"]
        self._attributes = {p["name"]: p["wants"] for p in by_role["attribute"]}

    def __repr__(self):
        parameters = ", ".join(f"{p['name']}: {_words(p)}" for p in self.signature["parameters"])
        return f"{self.__name__}({parameters})"

    def __call__(self, *operands, results=None, vmap_method="sequential", **attributes):
        if len(operands) != len(self._operands):
            raise TypeError(f"{self!r}: expected {_count(self._operands, 'operand')}, found {len(operands)}")
        results = tuple(self._result_types(results))
        call = jax.ffi.ffi_call(
            self._target,
            results,
            input_layouts=[_layout(p, np.ndim(operand)) for p, operand in zip(self._operands, operands)],
            output_layouts=[_layout(p, result.ndim) for p, result in zip(self._results, results)],
            # A call without results is made for what it does: XLA must not leave it out.
            has_side_effect=not results,
            vmap_method=vmap_method,
        )
        found = call(*operands, **{name: self._attribute(name, value) for name, value in attributes.items()})
        return found[0] if len(found) == 1 else found

    def _result_types(self, given):
        if given is not None and not isinstance(given, (tuple, list)):
            given = [given]
        if given is not None and len(given) != len(self._results):
            raise TypeError(f"{self!r}: expected the types of {_count(self._results, 'result')}, found {len(given)}")
        for i, result in enumerate(self._results):
            wants = result["wants"]
            if given is not None:
                if not (hasattr(given[i], "shape") and hasattr(given[i], "dtype")):
                    raise TypeError(f"{self!r}: results: expected a jax.ShapeDtypeStruct or an array, found {given[i]!r}")
                yield jax.ShapeDtypeStruct(given[i].shape, given[i].dtype)
            elif wants["shape"] is None or None in wants["sizes"]:
                raise TypeError(f"{self!r}: say the type of result {result['name']!r} with results=…")
            else:
                yield jax.ShapeDtypeStruct(wants["sizes"], _dtype(wants["element_type"]))

    def _attribute(self, name, value):
        """The value as the type of the signature. What does not fit is left to the kernel to refuse."""
        wants = self._attributes.get(name, {})
        if isinstance(value, jax.core.Tracer):
            raise TypeError(f"{self!r}: attribute {name!r}: expected a constant of the program, found what is traced: {value!r}")
        if "scalar" in wants and not isinstance(value, (str, dict)):
            number = _exactly(self, name, value, _dtype(wants["scalar"]))[()]
            if wants["scalar"] == "u64" and np.any(number >= 1 << 63):
                raise TypeError(f"{self!r}: attribute {name!r}: JAX passes no number of 2**63 or more, found {value!r}")
            return _Float(number) if isinstance(number, np.floating) else number
        if "values" in wants and not isinstance(value, (str, dict)):
            values = _exactly(self, name, value, _dtype(wants["values"]))
            if values.ndim != 1:
                raise TypeError(f"{self!r}: attribute {name!r}: expected a list of numbers, found {value!r}")
            # XLA's attributes have no lists of truth values.
            return values.astype(np.uint8) if values.dtype == bool else values
        return value


def _exactly(kernel, name, value, dtype):
    """The number or numbers, of this type; integers and truth values must be those that were given, others may be rounded."""
    try:
        with np.errstate(over="raise"):
            converted = np.array(value, dtype)
        if np.issubdtype(dtype, np.inexact):
            # NumPy reads numbers in texts.
            if np.asarray(value).dtype.kind not in "SU":
                return converted
        # As Python's numbers: those of NumPy for a list such as [2**64 - 1, 1] are floats.
        elif converted.tolist() == np.asarray(value, object).tolist():
            return converted
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise TypeError(f"{kernel!r}: attribute {name!r}: expected {dtype.name}, found {value!r}")


def _words(parameter):
    wants = parameter["wants"]
    if "shape" in wants:
        text = wants["shape"] or "any array"
        return f"result {text}" if parameter["role"] == "result" else text
    if "values" in wants:
        return f"[{wants['values']}]"
    return wants.get("scalar") or ("text" if "text" in wants else "context")


def _count(parameters, what):
    return f"{len(parameters)} {what}{'' if len(parameters) == 1 else 's'}"


def _layout(parameter, rank):
    """Major to minor, as `jax.ffi.ffi_call` wants it; `None` is row-major of any rank.

    An array of another rank than the signature's is left to the kernel to refuse.
    """
    order = parameter["wants"].get("minor_to_major")
    return tuple(reversed(order)) if order is not None and len(order) == rank else None


def _check(signature):
    """Raises `ValueError` if no call from here can reach a kernel of this signature."""
    for parameter in signature["parameters"]:
        name, obstacle = parameter["name"], parameter["wants"].get("obstacle")
        if obstacle:
            raise ValueError(f"{signature['name']}: {_words(parameter)} ({name}): {obstacle}")
        if parameter["role"] == "attribute" and name in _OPTIONS:
            raise ValueError(f"{signature['name']}: attribute {name!r}: expected another name, this is an option of every call")


_loaded = {}
_loading = threading.Lock()


def load(path):
    """Loads a library, registers its kernels, and returns them as attributes of a namespace.

    Loading it again gives the same. Raises `OSError` if it cannot be loaded, and `ValueError`, having registered nothing, if it
    is no library of kernels or a kernel takes what a custom call on CPU cannot carry.
    """
    path = os.path.realpath(path)
    with _loading:
        if path not in _loaded:
            _loaded[path] = _load(path)
        return _loaded[path]


def _load(path):
    library = ctypes.CDLL(path)
    try:
        signatures, handler = library.xla_shape_ffi_signatures, library.xla_shape_ffi_handler
    except AttributeError as error:
        raise ValueError(f"{path}: expected a library with `xla_shape_ffi::export![…]`: {error}") from None
    signatures.restype = ctypes.c_char_p
    handler.restype, handler.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    signatures = json.loads(signatures())
    for signature in signatures:
        _check(signature)
    kernels = types.SimpleNamespace()
    for number, signature in enumerate(signatures):
        # Two libraries may have kernels of one name.
        target = f"{path}:{signature['name']}"
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(handler(number)), platform="cpu")
        setattr(kernels, signature["name"], Kernel(target, signature))
    return kernels
