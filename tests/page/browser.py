"""Chromium on the page: what a person does and sees, in the words of the page."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from orienteer.service.pages import FOLDER

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 120.0
"""Seconds after which something that should happen at once counts as never."""
DESKTOP, PHONE = (1280, 900), (390, 844)


def check_installed() -> None:
    """Skips the test where it has no browser or no page; under continuous integration that is an error."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    files = [str(path) for path in (FOLDER / "index.html", AXE) if not path.exists()]
    if programs or files:
        reason = (
            f"needs Chromium with its driver and the built page (make page); missing: {', '.join(programs + files)}"
        )
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def start_chromium(downloads: Path) -> webdriver.Chrome:
    """A browser without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


class Page:
    """The page in a browser."""

    def __init__(self, driver: webdriver.Chrome, url: str, downloads: Path):
        self.driver, self.url, self.downloads = driver, url, downloads
        self.look(DESKTOP)
        driver.get("about:blank")  # another address behind # alone would load nothing anew
        driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        driver.get_log("browser")
        driver.get(url)

    def look(self, size: tuple[int, int], scheme: str = "light") -> None:
        """Takes a window of this size, as a phone where that is narrow, in light or dark colours."""
        width, height = size
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def until(self, happens: Callable[[], Any], what: str = "") -> Any:
        """Waits until something happens, and gives its value."""
        try:
            return WebDriverWait(self.driver, PATIENCE, 0.1).until(lambda _: happens())
        except TimeoutException:
            raise AssertionError(f"never: {what}; the page says: {self.told()}") from None

    def told(self) -> str:
        """The page's news and its error."""
        return " | ".join(self.text(part) for part in ("#news", "#error"))

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        """What can be read there; at once, since a live page may replace the element any moment."""
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def press(self, label: str) -> None:
        """Clicks the visible button with this text or label."""
        for button in self.all("button, summary"):
            if label in (button.text.strip(), button.get_attribute("aria-label")) and button.is_displayed():
                button.click()
                return
        raise AssertionError(f"there is no button {label!r}")

    def choose(self, selector: str, text: str) -> None:
        Select(self.find(selector)).select_by_visible_text(text)

    def names(self) -> list[str]:
        """The places in the table."""
        return self.run('return [...document.querySelectorAll("#places-body .name")].map((box) => box.value)')

    def stops(self) -> list[str]:
        """The places in the timetable."""
        return self.run(
            'return [...document.querySelectorAll("#timetable tbody th button")].map((cell) => cell.textContent)'
        )

    def loaded(self, count: int) -> None:
        """Waits until the table has this number of places."""
        self.until(lambda: self.text("#place-count") == str(count), f"{count} places")

    def solve(self) -> None:
        """Solves for a second, and waits for the end."""
        self.run('document.getElementById("seconds").value = "1"')
        self.find("#solve").click()
        self.solved()

    def solved(self) -> None:
        """Waits for the end of a search."""
        self.until(lambda: self.find("#plan").get_attribute("aria-busy") == "true" or self.is_done(), "a search")
        self.until(self.is_done, "the end of a search")

    def is_done(self) -> bool:
        return self.find("#plan").get_attribute("aria-busy") == "false" and self.find("#result").is_displayed()

    def drop(self, name: str, content: str) -> None:
        """Drops a file onto the page."""
        self.run(
            """const data = new DataTransfer();
            data.items.add(new File([arguments[1]], arguments[0]));
            const drag = (kind) => document.getElementById("map").dispatchEvent(
                new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
            drag("dragover"); drag("drop");""",
            name,
            content,
        )

    def export(self, format: str, suffix: str = "") -> Path:
        """The file that an entry of the menu downloads."""
        before = set(self.downloads.iterdir())
        self.find("#export > summary").click()
        self.find(f"[data-export={format}]").click()

        def new() -> list[Path]:
            return [path for path in set(self.downloads.iterdir()) - before if path.suffix == (suffix or f".{format}")]

        return self.until(new, f"a file as {format}")[0]

    def faults(self) -> list[str]:
        """What axe finds that is serious or worse."""
        self.run(AXE.read_text())
        found = self.driver.execute_async_script("axe.run().then(arguments[0])")
        return [
            json.dumps([fault["id"], fault["help"], [node["html"][:200] for node in fault["nodes"][:3]]])
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
        ]

    def complaints(self) -> list[str]:
        """What the browser wrote to its console."""
        return [f"{entry['level']} {entry['message']}" for entry in self.driver.get_log("browser")]
