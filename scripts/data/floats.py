#!/usr/bin/env python3
"""Writes tests/corpus/floats.jsonl.zst: the values that ml_dtypes computes for floats of at most eight bits.

Needs: pip install ml_dtypes==0.6.0 numpy, and the program zstd.
"""

import json
import pathlib
import subprocess

import ml_dtypes
import numpy as np

TYPES = {
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f6e3m2fn": ml_dtypes.float6_e3m2fn,
    "f6e2m3fn": ml_dtypes.float6_e2m3fn,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}

# Zeros, the smallest and largest subnormal and normal numbers of f32, infinities, and quiet, signalling and all-ones NaNs.
EXTREMES = [0x0, 0x1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0x3F800000]


def row(name, dtype):
    bits = {"f4": 4, "f6": 6}.get(name[:2], 8)
    values = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float32)

    finite = np.unique(values[np.isfinite(values)].astype(np.float64))
    # Every value, the middle between neighbours, and values just outside of the range, which a format with a larger range would round.
    steps = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, finite[-2:] * 1.5, finite[-1:] * 2, finite[:1] * 2])
    top = finite[-1] + (finite[-1] - finite[-2]) / 2
    edges = np.concatenate([steps, [top, 2 * top - finite[-1], finite[1] - finite[0]]]).astype(np.float32)
    around = np.concatenate([edges, np.nextafter(edges, np.float32(np.inf)), np.nextafter(edges, np.float32(-np.inf))])
    inputs = np.concatenate([around, np.array(EXTREMES, np.uint32).view(np.float32)])
    inputs = np.unique(np.concatenate([inputs.view(np.uint32), (-inputs).view(np.uint32)]))
    codes = inputs.view(np.float32).astype(dtype).view(np.uint8)

    return {
        "type": name,
        "values": [f"{value:08x}" for value in values.view(np.uint32).tolist()],
        "conversions": [[f"{value:08x}", code] for value, code in zip(inputs.tolist(), codes.tolist())],
    }


with np.errstate(all="ignore"):
    rows = [json.dumps(row(*item), separators=(",", ":")) for item in TYPES.items()]
path = pathlib.Path(__file__).parents[2] / "tests/corpus/floats.jsonl.zst"
packed = subprocess.run(["zstd", "-19", "--ultra"], input="".join(row + "\n" for row in rows).encode(), capture_output=True, check=True)
path.write_bytes(packed.stdout)
print(f"ml_dtypes {ml_dtypes.__version__}: {path.stat().st_size} bytes")
