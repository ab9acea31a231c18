"""What an installed orienteer must do. A script of its own, run by the Python into which it was installed.

    python tests/installed.py

`tests/test_wheel.py` runs it in an environment with nothing else, `make try PYTHON=python3.14` by another Python.
"""

import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

BIN = Path(sys.executable).parent


def main() -> None:
    """Prints a line for each thing that works; the first one that does not ends the script."""
    import orienteer

    assert Path(orienteer.__file__).is_relative_to(sys.prefix), f"not installed: {orienteer.__file__}"
    print("Python", sys.version.split()[0], "orienteer", orienteer.__version__)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        the_command_line_solves()
        the_network_ships()
        the_service_answers()


def the_command_line_solves() -> None:
    """The way of the first page: an example, its route, and a judge of the route."""
    command("example")
    command("solve", "city.csv", "--steps", "200", "--seed", "1", "--out", "route.json")
    command("check", "city.csv", "route.json")
    print("example, solve, check")


def the_network_ships() -> None:
    """`cs-l` finds a route with weights of the package, better than the one without stops."""
    import orienteer

    result = orienteer.solve("city.csv", "cs-l", beam=2)
    assert result.tour == orienteer.check_tour(orienteer.solve("city.csv", "random").instance, result.tour.nodes)
    assert result.prize > 0
    print("cs-l")


def the_service_answers() -> None:
    """The service is alive, and has the page with its script."""
    words = [BIN / "orienteer", "serve", "--port", "0", "--workers", "1", "--quick", "0", "--store", "jobs.sqlite3"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = re.search(r"http://\S+", server.stdout.readline())
            assert url is not None, "the service says no address"
            address = url[0].rstrip("/")
            assert get(f"{address}/healthz")
            script = re.search(r'src="\.?(/[^"]+\.js)"', get(f"{address}/").decode())
            assert script is not None, "the page is not in the package"
            assert b"function" in get(f"{address}{script[1]}")
        finally:
            server.terminate()
    print("serve")


def command(*words: str) -> None:
    """Runs `orienteer` of this environment; an error ends the script."""
    done = subprocess.run([BIN / "orienteer", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"orienteer {' '.join(words)}: {done.stdout}{done.stderr}"


def get(url: str) -> bytes:
    """What is at an address of this machine."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        body: bytes = answer.read()
        return body


if __name__ == "__main__":
    main()
