from pathlib import Path

from ._kernels import *

LIBRARY: Path
