"""Sends requests made of the OpenAPI description, good and bad: no answer may be 5xx or other than described.

python benchmarks/service_schema.py --count 10000
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from schema_cases import ask_all
from servers import Server


def main() -> None:
    """Prints how many requests were sent; raises at a wrong answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        limits = {"queue": 100_000, "client_jobs": 100_000, "solve_seconds": 0.05, "solve_most": 0.2, "job_most": 0.1}
        with Server(Path(folder), places=100, **limits) as server:
            sent, number = 0, arguments.seed
            while sent < arguments.count:
                sent += ask_all(server.url, min(1000, arguments.count), number)
                number += 1
                print(f"{sent} requests, no wrong answer", flush=True)


if __name__ == "__main__":
    main()
