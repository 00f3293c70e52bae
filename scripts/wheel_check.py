#!/usr/bin/env python3
"""Writes python/LICENSES-OF-CRATES.txt: the licences of all crates that the wheel links, on any platform. With a wheel as argument, checks
that it contains this file, that the file is up to date, and that it contains our own licences; that its tags are those of its name and of its
native part; that its page has the README and links; and that it is not larger than LARGEST bytes (an environment variable).
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python"
TARGET = PYTHON / "LICENSES-OF-CRATES.txt"
# The most bytes of a wheel.
LARGEST = 5_000_000
OWN = ["LICENSE-APACHE", "LICENSE-MIT"]
NAMES = re.compile(r"(UN)?LICEN[CS]E|COPYING|COPYRIGHT|NOTICE", re.IGNORECASE)
RULE = "=" * 100


def linked():
    """The packages whose code is in the wheel: without procedural macros and build dependencies."""
    def cargo(command):
        return subprocess.run(["cargo", *command.split()], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    known = json.loads(cargo("metadata --format-version=1 --locked"))
    packages = {(package["name"], package["version"]): package for package in known["packages"]}
    # `cargo metadata` has the features of the whole workspace, `cargo tree` those of the wheel.
    tree = cargo("tree --locked -p xla-shape-python --edges normal,no-proc-macro --target all --prefix none --format {p}")
    found = {(name, version) for name, version in re.findall(r"^(\S+) v(\S+)", tree, re.MULTILINE)}
    # Packages without a source are those of this workspace.
    return sorted((packages[key] for key in found if packages[key]["source"]), key=lambda p: (p["name"], p["version"]))


def texts(package):
    """The texts of a package's licences and notices."""
    folder = Path(package["manifest_path"]).parent
    files = {path for path in folder.iterdir() if path.is_file() and NAMES.match(path.name)}
    if package["license_file"]:
        files.add(folder / package["license_file"])
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in sorted(files)]


def with_texts(packages):
    """Each package with its licence texts. Packages of one repository share their licences, which not all of them contain."""
    of_repository = {}
    for package in packages:
        if found := texts(package):
            of_repository.setdefault((package["repository"], package["license"]), found)
    for package in packages:
        found = texts(package) or of_repository.get((package["repository"], package["license"]))
        expression = package["license"] or ""
        if not found and "Apache-2.0" in expression:
            found = [(ROOT / "LICENSE-APACHE").read_text().strip()]
        if not found and "MIT" in expression:
            mit = (ROOT / "LICENSE-MIT").read_text().strip()
            names = ", ".join(package["authors"]) or f"the authors of {package['name']}"
            found = [re.sub(r"^Copyright .*$", f"Copyright (c) {names}", mit, flags=re.MULTILINE)]
        if not found:
            raise SystemExit(f"{package['name']} {package['version']} has no text of its licence: {expression}")
        yield package, found


def written():
    users = {}
    for package, found in with_texts(linked()):
        line = f"{package['name']} {package['version']} ({package['license']})"
        for text in dict.fromkeys(found):
            users.setdefault(text, []).append(line)
    # The standard library comes with the compiler, so no package lists it.
    apache = (ROOT / "LICENSE-APACHE").read_text().strip()
    users.setdefault(apache, []).insert(0, "the standard library of Rust (MIT OR Apache-2.0), https://github.com/rust-lang/rust")
    head = "The native part of this package links these crates. Each licence text follows the names of its crates."
    parts = [f"{RULE}\n" + "\n".join(lines) + f"\n{RULE}\n\n{text}\n" for text, lines in users.items()]
    return "\n".join([head + "\n", *parts])


def check(wheel):
    with zipfile.ZipFile(wheel) as archive:
        folder = next(name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name)
        expected = {name: (ROOT / name).read_text() for name in OWN} | {TARGET.name: written()}
        for name, text in expected.items():
            if f"{folder}/licenses/{name}" not in archive.namelist():
                raise SystemExit(f"{wheel}: {name} is not in it")
            if archive.read(f"{folder}/licenses/{name}").decode() != text:
                raise SystemExit(f"{wheel}: {name} is another one than it should be: run scripts/wheel_check.py")
        metadata = archive.read(f"{folder}/METADATA").decode().split("\n\n")[0]
        check_tags(wheel, archive, folder)
        check_page(wheel, archive.read(f"{folder}/METADATA").decode())
        if metadata.count("License-File: ") != 3 or "License-Expression: MIT OR Apache-2.0" not in metadata:
            raise SystemExit(f"{wheel}: its metadata do not name its licences")


def check_tags(wheel, archive, folder):
    """The name of the wheel, its metadata and its native part agree."""
    python, abi, platforms = Path(wheel).stem.split("-")[-3:]
    expected = {f"{python}-{abi}-{platform}" for platform in platforms.split(".")}
    found = set(re.findall(r"^Tag: (.*)$", archive.read(f"{folder}/WHEEL").decode(), re.MULTILINE))
    if found != expected:
        raise SystemExit(f"{wheel}: its tags are {sorted(found)}, its name has {sorted(expected)}")
    natives = [name for name in archive.namelist() if name.endswith((".so", ".pyd", ".dylib", ".dll"))]
    if platforms.startswith("win"):
        right = "_native.pyd"
    else:
        # Without the stable interface, the name of the file has CPython's version: `_native.cpython-314t-….so`.
        right = "_native.abi3.so" if abi == "abi3" else f"_native.cpython-{abi.removeprefix('cp')}-"
    if len(natives) != 1 or not natives[0].startswith(f"xla_shape/{right}"):
        raise SystemExit(f"{wheel}: expected one native part, {right}, found {natives}")


def check_page(wheel, metadata):
    """The page of the package has our README, and the wheel is small."""
    readme = (PYTHON / "README.md").read_text()
    if readme.strip() not in metadata or "\nProject-URL: " not in metadata:
        raise SystemExit(f"{wheel}: its metadata lack the README or the project's links")
    size, largest = Path(wheel).stat().st_size, int(os.environ.get("LARGEST", LARGEST))
    if size > largest:
        raise SystemExit(f"{wheel}: it has {size} bytes, at most {largest} are allowed")
    print(f"{Path(wheel).name}: {size} bytes")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        check(sys.argv[1])
    else:
        TARGET.write_text(written())
