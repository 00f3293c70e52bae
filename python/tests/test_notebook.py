"""The tutorial, run as a reader runs it; where there is a browser, it is shown in one."""

import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("jax")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

TUTORIAL = Path(__file__).resolve().parents[1] / "examples" / "tutorial.ipynb"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def notebook():
    found = nbformat.read(TUTORIAL, 4)
    nbformat.validate(found)
    assert not any(cell.get("outputs") for cell in found.cells), "the file has no outputs"
    nbclient.NotebookClient(found, timeout=300, kernel_name="python3").execute()
    return found


def test_outputs(notebook):
    kinds = [set(output.get("data", ())) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert sum("text/html" in kind for kind in kinds) >= 3
    assert sum("image/svg+xml" in kind for kind in kinds) >= 2
    errors = [output for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == "error"]
    assert not errors


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
def test_in_a_browser(notebook, tmp_path):
    nbconvert = pytest.importorskip("nbconvert")
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    (tmp_path / "page.html").write_text(page)
    picture = tmp_path / "page.png"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,4000"]
    options += ["--virtual-time-budget=10000", f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}"]
    subprocess.run([CHROMIUM, *options, f"file://{tmp_path / 'page.html'}"], check=True, capture_output=True, timeout=120)
    # A page without pictures takes a tenth of this.
    assert picture.stat().st_size > 100_000
