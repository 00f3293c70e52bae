#!/usr/bin/env python3
"""Writes crates/pjrt/src/abi/abi.txt: sizes, offsets and numbers of PJRT's C interface, as a C compiler finds them in its headers.

usage: scripts/data/pjrt_abi.py INCLUDE

INCLUDE is a folder that has xla/pjrt/c/pjrt_c_api.h: that of XLA's repository, or `tensorflow/include` of a wheel of tf-nightly-cpu. Run it with a
newer header, read the diff, and raise API_MINOR in src/abi/mod.rs."""
import os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ABI = os.path.join(HERE, "..", "..", "crates", "pjrt", "src", "abi")


def main(include):
    code = open(os.path.join(ABI, "arguments.rs")).read()
    lines = []
    for name, body in re.findall(r'\w+ = "(\w+)" \{(.*?)\}\n', code[code.index("\nstructs! {"):], re.S):
        lines.append(f'printf("{name} size %zu\\n", (size_t){name}_STRUCT_SIZE);')
        for field in ["struct_size", "extension_start", *re.findall(r"^\s*(?:r#)?(\w+):", body, re.M)]:
            # In C, this union has no name, so its members are accessed as fields of the struct. The first one stands for the union.
            field = {"value": "int64_value"}.get(field, field) if name == "PJRT_NamedValue" else field
            shown = "value" if field == "int64_value" else field
            lines.append(f'printf("{name}.{shown} %zu\\n", offsetof({name}, {field}));')
    tables = re.findall(r"\n    (Api|\w+Extension) \{.*?\n(.*?)\n\}\n", open(os.path.join(ABI, "mod.rs")).read(), re.S)
    for table, body in tables:
        name = "PJRT_Api" if table == "Api" else "PJRT_" + table.replace("Extension", "_Extension")
        for field in re.findall(r"^    (\w+)", body, re.M):
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
    numbers = ["PJRT_API_MAJOR", "PJRT_API_MINOR", "PJRT_Extension_Type_Layouts", "PJRT_Extension_Type_Shardings",
               "PJRT_HostBufferSemantics_kImmutableOnlyDuringCall", "PJRT_Buffer_MemoryLayout_Type_Tiled"]
    header = open(os.path.join(include, "xla/pjrt/c/pjrt_c_api.h")).read()
    for prefix in ["PJRT_Buffer_Type_", "PJRT_Error_Code_", "PJRT_NamedValue_k"]:
        numbers += dict.fromkeys(re.findall(rf"\b({prefix}\w+)(?=,| = |\n)", header))
    lines += [f'printf("{number} = %d\\n", (int){number});' for number in numbers]
    source = "#include <stdio.h>\n" + "".join(f'#include "xla/pjrt/c/pjrt_c_api{part}.h"\n' for part in ("", "_layouts_extension", "_shardings_extension"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi.c")
        open(path, "w").write(source + "int main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
        subprocess.run(["cc", "-I", include, path, "-o", os.path.join(folder, "abi")], check=True)
        text = subprocess.run([os.path.join(folder, "abi")], check=True, capture_output=True, text=True).stdout
    open(os.path.join(ABI, "abi.txt"), "w").write(text)


if __name__ == "__main__":
    if len(sys.argv) != 2: sys.exit(__doc__)
    main(sys.argv[1])
