#!/usr/bin/env python3
"""What each crate shows to its users: the public types, and which of them have an example in their documentation that does something.

usage: public_api.py [--check] [--types] [--missing] [CRATE…]

--check    fails where an example holds nothing but `use` lines and hidden ones, and where a type has no example; WITHOUT_EXAMPLE names
           those that still lack one, and shall only become shorter
--types    prints the public types
--missing  prints the public types without an example

A type has an example if its own documentation has one, or that of a method or function of it that users can name. What is hidden from
the documentation does not count, nor what is for C (`extern "C"`), and what another crate defines counts there. Reads what rustdoc knows,
as JSON, a form that rustdoc does not promise to keep: RUSTC_BOOTSTRAP lets the stable toolchain write it."""

import json
import os
import pathlib
import re
import subprocess
import sys
from fnmatch import fnmatchcase

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRATES = [
    "xla-shape", "xla-shape-core", "xla-shape-parity", "xla-shape-notations", "xla-shape-hlo", "xla-shape-mlir", "xla-shape-mosaic", "xla-shape-relayout", "xla-shape-answers", "xla-shape-tune",
    "xla-shape-program", "xla-shape-render", "xla-shape-files", "xla-shape-ffi", "xla-shape-pjrt",
    "xla-shape-c",
]
KINDS = ["struct", "enum", "union", "trait", "type_alias"]
# The types that have no example yet: names, or patterns of them. Give one to a type, and take its name
# away here. Those of `answers` and `render` still move from one to the other.
WITHOUT_EXAMPLE = {
    "xla-shape": """
        block::Fixed block::Ranges block::Slices buffer::Lender dlpack::DlpackError dlpack::ManagedTensor dlpack::RawTensor
        dlpack::TensorMut dlpack::Version element::Plain infer::Operands iter::Elements iter::IndexedRuns iter::LineElements
        iter::NestedArray iter::RunOperand iter::RunOperands iter::SameDimensions iter::StridedIter iter::TileView types::DivideBy
        types::Join types::Piece types::SameRank
    """,
    "xla-shape-answers": "*",
    "xla-shape-tune": """
        Compile CompiledCopy Options Program Requested
    """,
    "xla-shape-render": "*",
    "xla-shape-c": """
        XlaShape XlaShapeArray XlaShapeByteRange XlaShapeError XlaShapeErrorCode XlaShapeKind XlaShapePadding XlaShapePartition
        XlaShapePlan XlaShapePlanOptions XlaShapeSharding XlaShapeSizes XlaShapeSlot XlaShapeStores
    """,
}


def documentation(crate):
    """What rustdoc knows of a crate with all its features."""
    flags = ["--lib", "--all-features", "--quiet", "--", "-Zunstable-options", "--output-format=json", "--cap-lints=allow"]
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(ROOT / "target/public-api")}
    subprocess.run(["cargo", "rustdoc", "-p", crate, *flags], cwd=ROOT, env=environment, check=True)
    return json.loads((ROOT / "target/public-api/doc" / (crate.replace("-", "_") + ".json")).read_text())


def statements(docs):
    """For each example in Rust of a documentation, what it holds beside comments, hidden lines and `use`."""
    for language, code in re.findall(r"^```([^\n`]*)\n(.*?)^```", docs or "", re.M | re.S):
        if set(language.replace(" ", "").split(",")) <= {"", "rust", "no_run", "compile_fail", "should_panic", "E0277", "E0080"}:
            shown = "\n".join(line for line in code.splitlines() if not re.match(r"\s*(#( |$)|//)", line))
            yield re.sub(r"^\s*use [^;]*;", "", shown, flags=re.M).strip()


def public(crate):
    """The public types of a crate as (name, kind, first line, whether it has an example), and the items with a hollow example."""
    known = documentation(crate)
    index = known["index"]
    types, seen = [], set()
    hollow = [item["name"] or "" for item in index.values() if item["crate_id"] == 0 and not all(statements(item["docs"]))]

    def shows(item):
        return any(statements(item["docs"]))

    def visit(key, path):
        item = index.get(str(key))
        if item is None or item["crate_id"] != 0:
            return
        [(kind, inner)] = item["inner"].items()
        if kind == "use":
            target = index.get(str(inner["id"]))
            if target is not None and inner["is_glob"] and "module" in target["inner"]:
                for child in target["inner"]["module"]["items"]:
                    visit(child, path)
            elif inner["id"] is not None and not inner["is_glob"]:
                visit(inner["id"], path)
            return
        if item["id"] in seen:
            return
        name = f"{path}::{item['name']}" if path else item["name"]
        if kind == "module":
            seen.add(item["id"])
            for child in inner["items"]:
                visit(child, name)
        elif kind in KINDS:
            seen.add(item["id"])
            blocks = [index.get(str(block)) for block in inner.get("impls", [])]
            items = inner["items"] if kind == "trait" else []
            for block in blocks:
                if block is not None and block["inner"]["impl"]["trait"] is None:
                    items = items + block["inner"]["impl"]["items"]
            methods = [index[str(child)] for child in items if str(child) in index]
            line = (item["docs"] or "").split("\n\n")[0].replace("\n", " ")
            types.append((name, kind, line, any(map(shows, [item, *methods]))))

    visit(known["root"], "")
    return sorted(types), sorted(hollow)


def main():
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    crates = [argument for argument in sys.argv[1:] if not argument.startswith("--")] or CRATES
    if unknown := options - {"--check", "--types", "--missing"}:
        sys.exit(f"{', '.join(sorted(unknown))}: no such option\n{__doc__}")
    wrong, total = [], 0
    for crate in crates:
        types, hollow = public(crate)
        total += len(types)
        without = [name for name, _, _, has in types if not has]
        print(f"{crate}: {len(types) - len(without)} of {len(types)} public types have an example")
        if "--types" in options:
            for name, kind, line, _ in types:
                print(f"    {kind:10} {name}: {line}")
        if "--missing" in options:
            print("".join(f"    {name}\n" for name in without), end="")
        if hollow:
            wrong.append(f"{crate}: an example of {', '.join(hollow)} does nothing")
        if "--check" in options:
            lacks = [name.split("::", 1)[1] for name in without]
            known = WITHOUT_EXAMPLE.get(crate, "").split()
            if new := [name for name in lacks if not any(fnmatchcase(name, pattern) for pattern in known)]:
                wrong.append(f"{crate}: no example for {', '.join(new)}")
            if old := [pattern for pattern in known if not any(fnmatchcase(name, pattern) for name in lacks)]:
                wrong.append(f"{crate}: WITHOUT_EXAMPLE names {', '.join(old)}, which has one or is no public type")
    print(f"{total} public types")
    if "--check" in options and wrong:
        sys.exit("\n".join(wrong))


main()
