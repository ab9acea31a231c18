"""Executes the tutorials as Jupyter would, for their test and for the outputs that they store.

`python tests/notebooks.py [NAME ...]`, or `make notebooks`, stores the outputs anew.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All that viewers need; Jupyter would add the version of Python and more."""

COMPILING = "compiling its kernels for this machine, once\n"
"""The one notice that may come on standard error: whether it comes depends on what ran before."""


def load(path: Path) -> NotebookNode:
    """A notebook, checked against the schema of its format."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def execute(notebook: NotebookNode, folder: Path, parameters: Mapping[str, object] | None = None) -> NotebookNode:
    """A copy of the notebook with outputs, executed in `folder`/docs/tutorials beside `folder`/examples.

    `parameters` take the place of the cell with the tag "parameters".
    """
    done = nbformat.from_dict(notebook)
    if parameters is not None:
        (cell,) = [cell for cell in done.cells if "parameters" in tags(cell)]
        cell.source = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    here = folder / "docs" / "tutorials"
    here.mkdir(parents=True)
    (folder / "examples").symlink_to(ROOT / "examples")
    # In folders of its own, so that Jupyter's history and settings of the user neither matter nor change.
    own = {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_CONFIG_DIR": str(folder / "jupyter")}
    with patch.dict(os.environ, own), tempfile.TemporaryDirectory() as sockets:
        # By sockets in a folder with a short name: two tests that look for free ports at once may take the same one.
        kernel = AsyncKernelManager(transport="ipc", connection_file=f"{sockets}/kernel.json")
        options = {"timeout": 1200, "coalesce_streams": True, "resources": {"metadata": {"path": str(here)}}}
        NotebookClient(done, kernel, **options).execute()
    done.metadata = nbformat.from_dict(METADATA)
    for cell in code(done):
        cell.metadata = nbformat.from_dict({"tags": tags(cell)} if tags(cell) else {})
        cell.outputs = [_small(output) for output in cell.outputs if not _is_notice(output)]
    return done


def code(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that are executed."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> list[str]:
    """ "parameters" or "varies", which stands for outputs that differ from run to run; mostly neither."""
    return list(cell.metadata.get("tags", []))


def printed(cell: NotebookNode) -> str:
    """What a cell prints."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def pictures(notebook: NotebookNode) -> int:
    """How many pictures the outputs hold."""
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def _is_notice(output: NotebookNode) -> bool:
    return output.output_type == "stream" and output.name == "stderr" and output.text.endswith(COMPILING)


def _small(output: NotebookNode) -> NotebookNode:
    """The output without the text that stands in for a picture."""
    if "image/png" in output.get("data", {}):
        output.data = {"image/png": output.data["image/png"]}
        output.metadata = {}
    return output


def main(names: list[str]) -> None:
    """Executes the tutorials of these names, by default all, and stores their outputs."""
    for name in names or sorted(path.stem for path in TUTORIALS.glob("*.ipynb")):
        path = TUTORIALS / f"{name}.ipynb"
        with tempfile.TemporaryDirectory() as folder:
            done = execute(load(path), Path(folder))
        nbformat.write(done, path)
        print(f"{path.relative_to(ROOT)}: {pictures(done)} pictures, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
