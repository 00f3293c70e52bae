"""Compares the C interface in `xla-shape-ffi` with the header that comes with JAX.

    BLESS=1 python -m pytest examples/jax/test_abi.py       # updates abi.txt: its diff shows the changes
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import jax
import pytest

KNOWN = Path(__file__).resolve().parents[2] / "crates/ffi/src/abi.txt"
HEADER = Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h"

# The structs that the crate declares, and the enumerations whose values it uses.
STRUCTS = [
    "XLA_FFI_Extension_Base",
    "XLA_FFI_Metadata_Extension",
    "XLA_FFI_Metadata",
    "XLA_FFI_Api_Version",
    "XLA_FFI_Api",
    "XLA_FFI_Error_Create_Args",
    "XLA_FFI_Error_Destroy_Args",
    "XLA_FFI_ThreadPool_Schedule_Args",
    "XLA_FFI_ThreadPool_NumThreads_Args",
    "XLA_FFI_Buffer",
    "XLA_FFI_Args",
    "XLA_FFI_Rets",
    "XLA_FFI_Attrs",
    "XLA_FFI_ByteSpan",
    "XLA_FFI_Scalar",
    "XLA_FFI_Array",
    "XLA_FFI_CallFrame",
]
NUMBERS = r"XLA_FFI_(?:Extension_Metadata|(?:Error_Code|DataType|ArgType|RetType|AttrType|ExecutionStage)_\w+)(?= = \d)"
# The enumerations that occur in arrays, and the structs that do not begin with their size.
SIZES = [f"XLA_FFI_{name}" for name in ("Extension_Type", "Error_Code", "DataType", "ArgType", "RetType", "AttrType", "ExecutionStage")]
SIZES += ["XLA_FFI_ByteSpan", "XLA_FFI_Scalar", "XLA_FFI_Array"]
# Fields after the last one that the crate needs.
UNKNOWN = {"XLA_FFI_CallFrame.future", "XLA_FFI_Metadata.state_type_id"}
NEEDED_FUNCTIONS = ["Error_Create", "Error_Destroy", "ThreadPool_Schedule", "ThreadPool_NumThreads"]


def fields(text, struct):
    body = re.search(r"struct " + struct + r" \{(.*?)\n\}", text, re.DOTALL).group(1)
    found = re.findall(r"^ +(?!//)[\w ]+\W+(\w+);", body, re.MULTILINE)
    if struct == "XLA_FFI_Api":
        found += [f"XLA_FFI_{function}" for function in NEEDED_FUNCTIONS]
    return [field for field in found if f"{struct}.{field}" not in UNKNOWN]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_interface_is_that_of_the_header(tmp_path):
    text = HEADER.read_text()
    # JAX 0.12 has other names for these.
    text = re.sub(r"XLA_FFI_InternalExtension_(Type|Metadata)\b", r"XLA_FFI_Extension_\1", text)
    text = re.sub(r"XLA_FFI_InternalExtension\b", "XLA_FFI_Extension_Base", text)
    values = {f"{struct}.{field}": f"offsetof({struct}, {field})" for struct in STRUCTS for field in fields(text, struct)}
    # Two sizes are not compared: that of the table of functions, which grows at its end, and that of an extension's first fields, which nothing
    # checks.
    sizes = [s for s in STRUCTS if f"STRUCT_TRAITS({s}," in text and s not in ("XLA_FFI_Api", "XLA_FFI_Extension_Base")]
    values |= {name: name for name in [f"{struct}_STRUCT_SIZE" for struct in sizes]}
    values |= {f"sizeof {name}": f"sizeof({name})" for name in SIZES}
    values |= {name: name for name in ["XLA_FFI_API_MAJOR", *re.findall(NUMBERS, text)]}
    values = {name: value for name, value in values.items() if name not in ("XLA_FFI_Error_Code_OK", "XLA_FFI_DataType_INVALID")}
    prints = "".join(f'    printf("{name} %zu\\n", (size_t)({value}));\n' for name, value in values.items())
    header, program = tmp_path / "c_api.h", tmp_path / "abi.c"
    header.write_text(text)
    program.write_text(f'#include <stdio.h>\n#include "{header}"\nint main(void) {{\n{prints}}}\n')
    subprocess.run(["cc", "-o", tmp_path / "abi", program], check=True)
    found = subprocess.run([tmp_path / "abi"], check=True, capture_output=True, text=True).stdout
    if os.environ.get("BLESS"):
        KNOWN.write_text(found)
    found, known = (dict(line.rsplit(" ", 1) for line in text.splitlines()) for text in (found, KNOWN.read_text()))
    assert {name: found[name] for name in known if name in found} == {name: known[name] for name in known if name in found}
    # Versions have different numbers of element types and stages.
    others = found.keys() ^ known.keys()
    assert all(name.startswith(("XLA_FFI_DataType_", "XLA_FFI_ExecutionStage_")) for name in others), others
