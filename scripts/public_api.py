#!/usr/bin/env python3
"""What each crate shows to its users: how many public functions have an example in their documentation, and the public types.

usage: public_api.py [--check] [--types] [--missing] [CRATE…]

--check    fails where fewer than 60 % of a crate's public functions have an example, or where the types are not those that
           docs/design.md lists
--types    prints the public types
--missing  prints the public functions without an example

A function counts if users can name it: a free function, a method, or a method that a trait declares. What is hidden from the
documentation does not count, nor what is for C (`extern "C"`), and what another crate defines counts there. Reads what rustdoc knows, as JSON, a form that rustdoc
does not promise to keep: RUSTC_BOOTSTRAP lets the stable toolchain write it."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRATES = [
    "xla-shape", "xla-shape-core", "xla-shape-hlo", "xla-shape-mlir", "xla-shape-mosaic", "xla-shape-relayout", "xla-shape-tune", "xla-shape-render", "xla-shape-files", "xla-shape-ffi", "xla-shape-pjrt",
    "xla-shape-c",
]
LEAST = 60
KINDS = ["struct", "enum", "union", "trait", "type_alias"]


def documentation(crate):
    """What rustdoc knows of a crate with all its features."""
    flags = ["--lib", "--all-features", "--quiet", "--", "-Zunstable-options", "--output-format=json", "--cap-lints=allow"]
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(ROOT / "target/public-api")}
    subprocess.run(["cargo", "rustdoc", "-p", crate, *flags], cwd=ROOT, env=environment, check=True)
    return json.loads((ROOT / "target/public-api/doc" / (crate.replace("-", "_") + ".json")).read_text())


def public(crate):
    """The public types of a crate as (name, kind, first line), and its public functions as (name, whether it has an example)."""
    known = documentation(crate)
    index = known["index"]
    types, functions, seen = [], [], set()

    def function(item, owner):
        # A function for C has no example in Rust: the comment becomes part of a C header, and programs in C are its examples.
        if item["id"] not in seen and item["inner"]["function"]["header"]["abi"] == "Rust":
            seen.add(item["id"])
            functions.append((f"{owner}::{item['name']}", "```" in (item["docs"] or "")))

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
        elif kind == "function":
            function(item, path)
        elif kind in KINDS:
            seen.add(item["id"])
            types.append((name, kind, (item["docs"] or "").split("\n\n")[0].replace("\n", " ")))
            if kind == "trait":
                for child in inner["items"]:
                    method = index.get(str(child))
                    if method is not None and "function" in method["inner"]:
                        function(method, name)
            for block in inner.get("impls", []):
                block = index.get(str(block))
                if block is None or block["inner"]["impl"]["trait"] is not None:
                    continue
                for child in block["inner"]["impl"]["items"]:
                    method = index.get(str(child))
                    if method is not None and "function" in method["inner"] and method["visibility"] == "public":
                        function(method, name)

    visit(known["root"], "")
    return sorted(types), sorted(functions)


def listed():
    """The types that docs/design.md lists for each crate."""
    text = (ROOT / "docs/design.md").read_text()
    part = re.search(r"^## The public types\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    crates = {}
    for crate, body in re.findall(r"^### `([\w-]+)`\n(.*?)(?=^### |\Z)", part[1] if part else "", re.M | re.S):
        crates[crate] = {name for row in re.findall(r"^\| (.*?) \|", body, re.M) for name in re.findall(r"`([\w:]+)`", row)}
    return crates


def main():
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    crates = [argument for argument in sys.argv[1:] if not argument.startswith("--")] or CRATES
    if unknown := options - {"--check", "--types", "--missing"}:
        sys.exit(f"{', '.join(sorted(unknown))}: no such option\n{__doc__}")
    wrong, total = [], 0
    for crate in crates:
        types, functions = public(crate)
        total += len(types)
        with_example = sum(has for _, has in functions)
        share = 100 * with_example // len(functions) if functions else 100
        print(f"{crate}: {with_example} of {len(functions)} public functions have an example ({share} %), {len(types)} public types")
        if "--types" in options:
            for name, kind, line in types:
                print(f"    {kind:10} {name}: {line}")
        if "--missing" in options:
            print("".join(f"    {name}\n" for name, has in functions if not has), end="")
        if share < LEAST:
            wrong.append(f"{crate}: {share} % of the public functions have an example, fewer than {LEAST} %")
        if "--check" in options:
            names, written = {name.split("::", 1)[1] for name, _, _ in types}, listed().get(crate, set())
            if names - written:
                wrong.append(f"{crate}: docs/design.md does not list {', '.join(sorted(names - written))}")
            if written - names:
                wrong.append(f"{crate}: docs/design.md lists {', '.join(sorted(written - names))}, which is no public type")
    print(f"{total} public types")
    if "--check" in options and wrong:
        sys.exit("\n".join(wrong))


main()
