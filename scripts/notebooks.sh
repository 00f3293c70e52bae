#!/usr/bin/env bash
# Runs the notebooks of examples/notebooks, each from a fresh kernel, and writes them with their pictures to target/notebooks as pages.
# In git they have no outputs. Arguments are names of notebooks, such as shards; all by default. Needs a Rust toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."

# NOTEBOOKS_ENVIRONMENT can name an environment that has the packages already.
environment=${NOTEBOOKS_ENVIRONMENT:-target/notebooks-environment}
if [ -z "${NOTEBOOKS_ENVIRONMENT:-}" ]; then
    # JAX 0.12 needs Python 3.12.
    [ -x "$environment/bin/python" ] || "$(scripts/find_python.sh 12)" -m venv "$environment"
    # Install it each time, so that the notebooks use the package of this checkout.
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps ./python
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "./python[jax,dtypes]" jax==0.12.0 libtpu==0.0.52 nbclient nbformat nbconvert ipykernel
fi
mkdir -p target/notebooks
XLA_SHAPE_ROOT=$PWD "$environment/bin/python" - "$@" <<'PYTHON'
import sys
from pathlib import Path

import nbclient
import nbconvert
import nbformat

names = sys.argv[1:] or sorted(path.stem for path in Path("examples/notebooks").glob("*.ipynb"))
for name in names:
    notebook = nbformat.read(f"examples/notebooks/{name}.ipynb", 4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells), f"{name}: outputs do not belong into git"
    # A cell that fails raises an error, which shows the cell.
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    kinds = [kind for cell in cells for output in cell.outputs for kind in output.get("data", ())]
    pictures = sum(kind in ("text/html", "image/svg+xml") for kind in kinds)
    assert pictures, f"{name}: no picture is shown"
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    Path(f"target/notebooks/{name}.html").write_text(page, encoding="utf-8")
    print(f"{name}: {len(cells)} cells, {pictures} pictures: target/notebooks/{name}.html")
PYTHON
