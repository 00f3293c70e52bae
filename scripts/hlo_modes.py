#!/usr/bin/env python3
"""Prints every module of tests/corpus in each of XLA's print modes, and checks that we read what XLA reads, and that XLA reads what we print.

usage: scripts/hlo_modes.py [TEXT…]    every module of tests/corpus, or these files; makes its environment in target/hlo-cases

For each text and each of XLA's print modes: if XLA reads back what it has printed, `xla-shape hlo print` must read it, too, and XLA must
read the output of that as the same module, which means that XLA prints the same text for both. Prints the number of texts in each mode, and of
those that XLA does not read back. The exit code is 1 if we fail where XLA does not.
"""
import collections, json, os, subprocess, sys, tempfile
from xla import ask, ready

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "target/release/xla-shape")


def options():
    """The names of XLA's print modes, each with its options."""
    from jaxlib import _hlo
    kinds = _hlo.HloPrintOptions
    for name in sorted(x for x in dir(kinds) if not x.startswith("_")):
        if name in ("short_parsable", "canonical", "fingerprint"): yield name, getattr(kinds, name)()
        elif isinstance(getattr(kinds(), name, None), bool):
            changed = kinds(); setattr(changed, name, not getattr(changed, name)); yield name, changed


def texts_of(text):
    """The texts that XLA prints for a module, by print mode; None for a text that XLA does not read back."""
    from jaxlib import _hlo
    try: module = _hlo.hlo_module_from_text(text)
    except Exception: return None
    return {"default": module.to_string(), **{name: module.to_string(option) for name, option in options()}}


def meaning(text):
    from jaxlib import _hlo
    try: return _hlo.hlo_module_from_text(text).to_string()
    except Exception: return None


def ours(text):
    """The text that we print for it; None if we do not read it."""
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as file:
        file.write(text); file.flush()
        done = subprocess.run([PROGRAM, "hlo", "print", file.name], capture_output=True)
        return done.stdout.decode() if done.returncode == 0 else None


def modules(paths):
    if paths: return [(path, open(path).read()) for path in paths]
    found = {}
    for file in ["hlo", "hlo_more", "hlo_forms", "tpu_memory"]:
        packed = os.path.join(ROOT, f"tests/corpus/{file}.jsonl.zst")
        for row in map(json.loads, subprocess.run(["zstd", "-dc", packed], capture_output=True, check=True).stdout.splitlines()):
            text = row["text"] if "text" in row else row["module"]
            found.setdefault(text, f"{file}: {row.get('form') or row.get('program') or row['module']}")
    return [(name, text) for text, name in found.items()]


def main(paths):
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "xla-shape-cli"], cwd=ROOT, check=True)
    all, counts, wrong = modules(paths), collections.defaultdict(collections.Counter), 0
    for at in range(0, len(all), 50):
        part = all[at:at + 50]
        printed = [(name, mode, text) for (name, _), found in zip(part, ask(texts_of, [text for _, text in part], None)) for mode, text in (found or {}).items()]
        meant = ask(meaning, [text for *_, text in printed], None)
        again = [ours(text) if expected is not None else "" for (*_, text), expected in zip(printed, meant)]
        for (name, mode, _), expected, text, found in zip(printed, meant, again, ask(meaning, [text or "" for text in again], None)):
            # XLA's short modes drop information. So compare what XLA reads from its text with what it reads from ours.
            kind = "not read by XLA" if expected is None else "agree" if text is not None and found == expected else "differ"
            counts[mode][kind] += 1
            if kind == "differ":
                wrong += 1
                print(f"{name}, {mode}: {'not read' if text is None else 'printed as something else'}", flush=True)
    for mode, kinds in counts.items(): print(f"{mode}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    print(f"{len(counts)} ways of printing, {sum(sum(kinds.values()) for kinds in counts.values())} texts, {wrong} differ")
    return bool(wrong)


if __name__ == "__main__":
    ready()
    sys.exit(main(sys.argv[1:]))
