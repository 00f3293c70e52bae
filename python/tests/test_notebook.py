"""Runs the tutorial, and shows it in a browser if there is one."""

import html
import json
import re
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


# Clicks on the first element of each tile map; returns the map's text about it, and the number of marked cells.
CLICK = """
<script>
addEventListener('load', () => setTimeout(() => {
  const said = [];
  for (const frame of document.querySelectorAll('iframe')) {
    const page = frame.contentDocument;
    const cell = page.querySelector('.c[data-i="0,1"]');
    if (!cell) continue;
    const before = page.getElementById('info').textContent;
    cell.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    said.push([before, page.getElementById('info').textContent, page.querySelectorAll('.c.pin').length]);
  }
  const result = document.createElement('pre');
  result.id = 'said';
  result.textContent = JSON.stringify(said);
  document.body.append(result);
}, 1000));
</script>
"""


@pytest.fixture(scope="module")
def page(notebook, tmp_path_factory):
    nbconvert = pytest.importorskip("nbconvert")
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page.replace("</body>", CLICK + "</body>"))
    return path


def browse(page, *options):
    common = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    command = [CHROMIUM, *common, profile, *options, f"file://{page}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
def test_in_a_browser(page):
    picture = page.parent / "page.png"
    browse(page, "--hide-scrollbars", "--window-size=1200,4000", f"--screenshot={picture}")
    # The screenshot of a page without pictures has a tenth of this size.
    assert picture.stat().st_size > 100_000


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
def test_clicks(page):
    """A click on an element shows its position, and marks it in the array and in the memory."""
    found = browse(page, "--dump-dom")
    (said,) = re.findall(r'<pre id="said">(.*?)</pre>', found)
    said = json.loads(html.unescape(said))
    # The shape and the buffer of the tutorial.
    assert len(said) == 2
    for before, after, pinned in said:
        assert before != after and after.startswith("element [0,1] at position ") and pinned == 2
    # In the first map, the elements of two rows alternate.
    assert "at position 2, byte 4," in said[0][1]
