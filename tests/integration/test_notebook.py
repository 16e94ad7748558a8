"""A notebook, run for real: callers may wait in the event loop of its kernel, and a record shows itself."""

from pathlib import Path
from typing import Any

import pytest

CELLS = (
    "import kgqa\nasked = {'kg': KG, 'model': 'offline'}\nquestion = 'Where does <b>Ada</b> live?'",
    "kgqa.ask(question, **asked)",
    "print(await kgqa.aask(question, **asked))",
    "[step['node'] for step in kgqa.stream(question, **asked) if 'node' in step][0]",
    "[record['answers'][0]['name'] for record in kgqa.batch([question] * 2, **asked)]",
)

TRIPLES = """
<http://t/ada> <http://www.w3.org/2000/01/rdf-schema#label> "<b>Ada</b>" .
<http://t/ulm> <http://www.w3.org/2000/01/rdf-schema#label> "<script>Ulm</script>" .
<http://t/ada> <http://t/lives_in> <http://t/ulm> .
"""


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_a_notebook_shows_records(tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel runs a notebook")
    pytest.importorskip("ipykernel")
    import nbformat

    (tmp_path / "ada.nt").write_text(TRIPLES)
    first, *others = CELLS
    cells = [first.replace("KG", repr(str(tmp_path / "ada.nt"))), *others]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client.NotebookClient(notebook, timeout=100).execute()
    _, asked, awaited, stepped, many = (cell["outputs"] for cell in notebook["cells"])
    shown = data(asked)["text/html"]
    assert "&lt;script&gt;Ulm&lt;/script&gt;" in shown
    assert "<svg" in shown
    assert "<script" not in shown
    assert awaited[0]["text"].splitlines()[1] == "<script>Ulm</script>"
    assert data(stepped)["text/plain"] == "'link'"
    assert data(many)["text/plain"] == "['<script>Ulm</script>', '<script>Ulm</script>']"


def data(outputs: list[Any]) -> dict[str, str]:
    """Return what the last output of a cell shows, by its kind."""
    found: dict[str, str] = outputs[-1]["data"]
    return found
