#!/usr/bin/env python3
"""Asks XLA for every module of tests/corpus in each of its ways of printing, and whether we read what it reads, and print what it reads.

usage: scripts/hlo_modes.py [TEXT…]    every module of tests/corpus, or these files; makes its environment in target/hlo-cases

For every text and each of XLA's print options: if XLA reads what it printed, `xla-shape hlo print` must, and XLA must read what that writes
and mean the same by it: the module that it prints for both is the same text. Says how many texts there are in each way, how many of them
XLA does not read itself, and ends with 1 if we fail where it does not.
"""
import collections, json, os, subprocess, sys, tempfile
from xla import ask, ready

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "target/release/xla-shape")


def options():
    """The names of XLA's ways of printing, each with its options."""
    from jaxlib import _hlo
    kinds = _hlo.HloPrintOptions
    for name in sorted(x for x in dir(kinds) if not x.startswith("_")):
        if name in ("short_parsable", "canonical", "fingerprint"): yield name, getattr(kinds, name)()
        elif isinstance(getattr(kinds(), name, None), bool):
            changed = kinds(); setattr(changed, name, not getattr(changed, name)); yield name, changed


def texts_of(text):
    """What XLA prints for a module, by the name of the way; None for a text that it does not read."""
    from jaxlib import _hlo
    try: module = _hlo.hlo_module_from_text(text)
    except Exception: return None
    return {"default": module.to_string(), **{name: module.to_string(option) for name, option in options()}}


def meaning(text):
    from jaxlib import _hlo
    try: return _hlo.hlo_module_from_text(text).to_string()
    except Exception: return None


def ours(text):
    """What we print for it; None where we do not read it."""
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
            # What XLA prints in short may not say all that it said before, and it prints what it read: the names are those of the text.
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
