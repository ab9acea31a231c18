"""The how-to pages as programs: their files are written, their commands and code run, from top to bottom.

    python tests/how_to.py docs/how-to/*.md

puts what was printed into the pages, and the pictures that were drawn into docs/images/how-to. What a page holds:

- a fence with a title is a file that the reader writes: ```csv title="places.csv"
- an indented line `orienteer ...` is a command; ```python, ```sh and ```js run too
- ```text is what the block before it printed; one that begins with `...` is the end of it, as many lines as stand
  there, and one with such a line further below was shortened by hand and stays as it is
- a comment before a block says how it differs: <!-- status: 2 --> ends with an error, <!-- server --> asks a server
  that runs, in place of the one at port 8000, <!-- not run: why --> is only read
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orienteer.cli.main import run

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "images" / "how-to"
ADDRESS = "http://127.0.0.1:8000"
SHORTENED = re.compile(r"^ *\.\.\.", re.MULTILINE)
SMALLER = {
    "--count 20 ": "--count 1 ",
    "--count 200 ": "--count 20 ",
    "--iterations 10 ": "--iterations 1 ",
    "--n 100000 ": "--n 4000 ",
    "--steps 1000000 ": "--steps 5000 ",
}
"""What a test changes in commands that take a reader minutes."""

_FENCE = r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```$"
_BLOCK = re.compile(rf"(?:^<!-- (?P<mark>[^>]*) -->\n\n)?(?:{_FENCE}|^    (?P<command>orienteer [^\n]*)$)", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A part of a page that is run, written, or compared with what was printed."""

    kind: str
    """command, file, python, sh, js or text; any other language is only shown."""
    code: str
    title: str
    mark: str
    begin: int
    end: int
    """Where its code stands in the page."""

    def marked(self, word: str) -> str | None:
        """What stands behind a word of the comment before this block; None where the word is not there."""
        found = re.match(rf"{word}(?:: (.*))?$", self.mark)
        return None if found is None else found[1] or ""


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page, in order."""
    found = []
    for match in _BLOCK.finditer(text):
        part = "code" if match["command"] is None else "command"
        kind = "command" if part == "command" else "file" if match["title"] else match["language"]
        found.append(Block(kind, match[part], match["title"] or "", match["mark"] or "", *match.span(part)))
    return found


def run_page(text: str, folder: Path, server: Callable[[], str], small: bool = False) -> list[tuple[Block, str]]:
    """Blocks `text` with what the block before them printed, after all blocks have run in `folder`."""
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    scope: dict[str, object] = {"__name__": "page"}
    pairs, printed = [], ""
    with contextlib.chdir(folder):
        for block in blocks_of(text):
            if block.kind == "text":
                pairs.append((block, printed))
            elif block.marked("not run") is None:
                url = server() if block.marked("server") is not None else ADDRESS
                printed = _run(block, block.code.replace(ADDRESS, url), scope, small).replace(url, ADDRESS)
    return pairs


def _run(block: Block, code: str, scope: dict[str, object], small: bool) -> str:
    """What a block printed; an AssertionError where it ended otherwise than it says."""
    if block.kind == "file":
        Path(block.title).parent.mkdir(parents=True, exist_ok=True)
        Path(block.title).write_text(code)
    elif block.kind == "command":
        return _command(code, int(block.marked("status") or 0), small)
    elif block.kind == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, "page", "exec"), scope)
        return out.getvalue()
    elif block.kind == "sh" or (block.kind == "js" and shutil.which("node")):
        words = ["bash", "-euo", "pipefail", "-c"] if block.kind == "sh" else ["node", "--input-type=module", "-e"]
        done = subprocess.run([*words, code], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
        return done.stdout
    return ""


def _command(line: str, expected: int, small: bool) -> str:
    for large, few in SMALLER.items() if small else ():
        line = line.replace(large, few)
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = run(shlex.split(line)[1:])
    assert status == expected, f"{line}: {status}, not {expected}\n{out.getvalue()}\n{err.getvalue()}"
    said = "" if status == 0 else err.getvalue()  # else lines such as "compiling, once", which few readers see
    return out.getvalue() + said


def refresh(page: Path, server: Callable[[], str]) -> None:
    """Puts what was printed into a page, and the pictures of the page into their folder."""
    text = page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        pairs = run_page(text, Path(folder), server)
        for name in re.findall(rf"\]\(\.\./images/{PICTURES.name}/([\w-]+\.\w+)\)", text):
            for picture in sorted(Path(folder).rglob(name), reverse=True):  # of several the first in order is kept
                _keep(picture)
    for block, printed in reversed(pairs):
        lines = printed.strip("\n").splitlines()
        if block.code.startswith("...\n"):
            lines = ["...", *lines[1 - len(block.code.splitlines()) :]]
        if not SHORTENED.search(block.code.removeprefix("...")):
            text = text[: block.begin] + "\n".join(lines).rstrip() + "\n" + text[block.end :]
    page.write_text(text)


def _keep(picture: Path) -> None:
    """Puts a picture into the folder of pictures, with as few colours as it needs, so that it stays small."""
    from PIL import Image

    PICTURES.mkdir(exist_ok=True)
    Image.open(picture).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
        PICTURES / picture.name, optimize=True
    )


def main(pages: list[str]) -> None:
    """Refreshes pages, with one server for all of them."""
    from servers import Server

    with contextlib.ExitStack() as stack:
        started: list[Server] = []

        def server() -> str:
            if not started:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                started.append(stack.enter_context(Server(folder)))
            return started[0].url

        for page in pages:
            print(os.path.relpath(page))
            refresh(Path(page).resolve(), server)


if __name__ == "__main__":
    main(sys.argv[1:])
