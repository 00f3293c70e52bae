#!/usr/bin/env python3
"""What each crate shows to its users: the public types, and which of them have an example in their documentation that does something.

usage: public_api.py [--check] [--types] [--missing] [CRATE…]

--check    fails where an example holds nothing but `use` lines and hidden ones, and where a type has no example
--types    prints the public types
--missing  prints the public types without an example

A type has an example if its own documentation has one, or that of one of its methods. Answers consist of many small types that are only read, so
other examples count, too:

- If the type is that of a field, an example that reads the field or matches the variant with it. It may be an example of the type with the field,
  or one that reached that type in the same way.
- If a method returns the type, an example that calls the method.
- If no other type of the crate has the same name, an example that contains the name.

Items that the documentation hides do not count, nor functions for C (`extern "C"`). An item counts in the crate that defines it. The script reads
rustdoc's JSON, whose form may change with any version. RUSTC_BOOTSTRAP lets the stable toolchain write it."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRATES = [
    "xla-shape", "xla-shape-core", "xla-shape-parity", "xla-shape-notations", "xla-shape-hlo", "xla-shape-mlir", "xla-shape-mosaic", "xla-shape-relayout", "xla-shape-answers", "xla-shape-tune",
    "xla-shape-program", "xla-shape-render", "xla-shape-files", "xla-shape-ffi", "xla-shape-pjrt",
    "xla-shape-c",
]
KINDS = ["struct", "enum", "union", "trait", "type_alias"]


def document():
    """Writes rustdoc's JSON of all crates, with all features, beside their pages. It uses the same builds as `cargo doc`."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    target.mkdir(exist_ok=True)
    # Set RUSTC_BOOTSTRAP for rustdoc only: cargo would rebuild everything when its value changes.
    rustdoc = target / "rustdoc-json.sh"
    rustdoc.write_text('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@" -Zunstable-options --output-format=json --cap-lints=allow\n')
    rustdoc.chmod(0o755)
    command = ["cargo", "doc", "--workspace", "--lib", "--no-deps", "--all-features", "--quiet"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "RUSTDOC": str(rustdoc.resolve())}, check=True)
    return target / "doc"


def statements(docs):
    """The code of each Rust example in a documentation, without comments, hidden lines and `use`."""
    for language, code in re.findall(r"^```([^\n`]*)\n(.*?)^```", docs or "", re.M | re.S):
        if set(language.replace(" ", "").split(",")) <= {"", "rust", "no_run", "compile_fail", "should_panic", "E0277", "E0080"}:
            shown = "\n".join(line for line in code.splitlines() if not re.match(r"\s*(#( |$)|//)", line))
            yield re.sub(r"^\s*use [^;]*;", "", shown, flags=re.M).strip()


def ids(type_):
    """The types that a field's type names, also as arguments of others: `Option`, `Vec` and `Shape` in `Option<Vec<Shape>>`."""
    if isinstance(type_, dict):
        if isinstance(path := type_.get("resolved_path"), dict):
            yield path["id"]
        for value in type_.values():
            yield from ids(value)
    elif isinstance(type_, list):
        for value in type_:
            yield from ids(value)


def result(output):
    """The type that a function returns if it succeeds. Errors are left out: an example that calls the function shows nothing of its error."""
    path = (output or {}).get("resolved_path") or {}
    arguments = ((path.get("args") or {}).get("angle_bracketed") or {}).get("args", [])
    return arguments[:1] if path.get("path") == "Result" and arguments else output


def fields(index, kind, inner):
    """The named fields of a struct, and all fields of an enum's variants: for each, how an example reads it, and the types that it names."""
    variants = [index[str(key)] for key in inner.get("variants", [])]
    owners = [(None, inner["kind"])] if kind == "struct" else [(item["name"], item["inner"]["variant"]["kind"]) for item in variants]
    for variant, owner in owners:
        for form, keys in owner.items() if isinstance(owner, dict) else []:
            for key in keys["fields"] if isinstance(keys, dict) else keys if variant else []:
                if (field := index.get(str(key))) is not None:
                    name = field["name"]
                    # `.error`, `Bad { error }`, `Good(…)`.
                    in_variant = rf"\b{variant}\(" if form == "tuple" else rf"\b{variant} \{{[^}}]*\b{name}\b"
                    reads = in_variant if form == "tuple" else rf"\.{name}\b" + (f"|{in_variant}" if variant else "")
                    yield reads, set(ids(field["inner"]["struct_field"]))


def public(known):
    """The public types of a crate as (name, kind, first line, whether it has an example), and the items with a hollow example."""
    index = known["index"]
    types, seen, examples, members = [], set(), {}, {}
    hollow = [item["name"] or "" for item in index.values() if item["crate_id"] == 0 and not all(statements(item["docs"]))]

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
            examples[item["id"]] = [code for each in [item, *methods] for code in statements(each["docs"]) if code]
            members[item["id"]] = list(fields(index, kind, inner)) if kind in ("struct", "enum") else []
            for method in (each for each in methods if "function" in each["inner"]):
                members[item["id"]].append((rf"\b{method['name']}\(", set(ids(result(method["inner"]["function"]["sig"]["output"])))))
            types.append((name, kind, line, item["id"]))

    visit(known["root"], "")
    # The examples that read a type: its own examples, and examples of other types that read a field of this type or call a method that returns it.
    # An added example can lead to others, so repeat until nothing is added.
    about, changes = {key: set(codes) for key, codes in examples.items()}, True
    while changes:
        changes = False
        for key, of in [(key, field) for key, found in members.items() for field in found]:
            reading = {code for code in about[key] if re.search(of[0], code)}
            for target in of[1] & about.keys():
                changes |= not reading <= about[target]
                about[target] |= reading
    names = [item["name"] for item in index.values() if item["crate_id"] == 0 and next(iter(item["inner"])) in KINDS]
    words = [word for item in index.values() if item["crate_id"] == 0 for code in statements(item["docs"]) for word in re.findall(r"\w+", code)]
    named = {name for name in words if names.count(name) == 1}

    def has(name, key):
        return bool(about[key]) or name.rsplit("::", 1)[1] in named

    return sorted((name, kind, line, has(name, key)) for name, kind, line, key in types), sorted(hollow)


def main():
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    crates = [argument for argument in sys.argv[1:] if not argument.startswith("--")] or CRATES
    if unknown := options - {"--check", "--types", "--missing"}:
        sys.exit(f"{', '.join(sorted(unknown))}: no such option\n{__doc__}")
    wrong, total, documentation = [], 0, document()
    for crate in crates:
        types, hollow = public(json.loads((documentation / f"{crate.replace('-', '_')}.json").read_text()))
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
        if without:
            wrong.append(f"{crate}: no example for {', '.join(name.split('::', 1)[1] for name in without)}")
    print(f"{total} public types")
    if "--check" in options and wrong:
        sys.exit("\n".join(wrong))


main()
