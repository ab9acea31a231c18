"""Draws docs/images/page.png, the page with the example town, solved.

PYTHONPATH=tests .venv/bin/python -m page.picture docs/images/page.png
"""

import sys
import tempfile
from pathlib import Path

from page.browser import Page, start_chromium
from servers import Server

SIZE = (1360, 860)


def draw(path: Path) -> None:
    """Writes a picture of the page."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        driver = start_chromium(Path(folder))
        try:
            page = Page(driver, server.url, Path(folder))
            page.look(SIZE)
            page.loaded(42)
            page.solve()
            out = next(name for name in page.names() if name not in page.stops())
            page.find(f'[aria-label="{out}: not in the plan; why?"]').click()
            page.until(lambda: "It comes closest to fitting" in page.text("#card"), "a reason")
            driver.save_screenshot(str(path))
        finally:
            driver.quit()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
