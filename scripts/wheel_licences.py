#!/usr/bin/env python3
"""Writes python/LICENSES-OF-CRATES.txt: the licences of all crates that the wheel links, on any platform. With a wheel as argument, checks
that it contains this file, that the file is up to date, and that it contains our own licences.
"""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python"
TARGET = PYTHON / "LICENSES-OF-CRATES.txt"
OWN = ["LICENSE-APACHE", "LICENSE-MIT"]
NAMES = re.compile(r"(UN)?LICEN[CS]E|COPYING|COPYRIGHT|NOTICE", re.IGNORECASE)
RULE = "=" * 100


def linked():
    """The packages whose code is in the wheel: without procedural macros and build dependencies."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--manifest-path={PYTHON / 'Cargo.toml'}"]
    known = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in known["packages"]}
    needs = {node["id"]: node["deps"] for node in known["resolve"]["nodes"]}
    found, open_ = {}, [known["resolve"]["root"]]
    while open_:
        package = packages[open_.pop()]
        if package["id"] in found or any("proc-macro" in target["kind"] for target in package["targets"]):
            continue
        found[package["id"]] = package
        is_linked = lambda need: any(kind["kind"] is None for kind in need["dep_kinds"])
        open_ += [need["pkg"] for need in needs[package["id"]] if is_linked(need)]
    # Packages without a source are those of this workspace.
    return sorted((p for p in found.values() if p["source"]), key=lambda p: (p["name"], p["version"]))


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
                raise SystemExit(f"{wheel}: {name} is another one than it should be: run scripts/wheel_licences.py")
        metadata = archive.read(f"{folder}/METADATA").decode().split("\n\n")[0]
        if metadata.count("License-File: ") != 3 or "License-Expression: MIT OR Apache-2.0" not in metadata:
            raise SystemExit(f"{wheel}: its metadata do not name its licences")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        check(sys.argv[1])
    else:
        TARGET.write_text(written())
