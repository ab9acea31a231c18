"""How much of its workers' speed the service gives to many clients, and what else it holds under load.

    python benchmarks/service_load.py --clients 200 --seconds 60

Clients hand in jobs (n = 50) one after the other and follow their events to the end. Meanwhile somebody asks /healthz.
The same problems by `orienteer batch --workers`, before and after, are the measure. Then POST /v1/solve (n = 20,
100 steps) beside the same call in a process. All on this machine, clients too, by loopback addresses.

Other programs on these cores spoil the figures. What they took is printed: where that is more than a few hundredths of
a core, the run is to be repeated.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from subprocess import run
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import uvloop

from orienteer import MaxSteps, solve
from orienteer.data.files import write_set
from orienteer.data.json_file import problem_of
from servers import Server, problem, until

PROBLEMS = 200
"""Different problems."""


def main() -> None:
    """Prints the figures; exits with 1 where a bar of the service is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=20_000, help="steps of a job (default 20000)")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--jobs", type=int, help="go on until this number of jobs is done, to look at memory")
    arguments = parser.parse_args()
    # What the first short batch compiled would count as its start, and make the speed behind the start too high.
    run([sys.executable, "-m", "orienteer", "warmup", "auto"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        before, beside_before = _batch(Path(folder), arguments)
        limits = {"queue": 10_000, "client_jobs": 10_000, "workers": arguments.workers, "solvers": "auto"}
        with Server(Path(folder), **limits) as server:
            warm = f"orienteer_workers {arguments.workers + 1}.0"  # a quick one besides; batch is without its start too
            until(lambda: warm in server.client.get("/metrics").text)
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:  # takes less of the cores than asyncio's
                load = runner.run(_Load(server, arguments).run())
            metrics = server.client.get("/metrics").text
            latency = _latency(server)
        after, beside_after = _batch(Path(folder), arguments)
        alone = (before + after) / 2
        share = load["rate"] / alone
        print(f"orienteer batch {before:.2f} problems a second before, {after:.2f} after")
        beside = (beside_before, load["beside"], beside_after)
        print(f"cores that other programs took: {' '.join(f'{cores:.2f}' for cores in beside)} (batch, service, batch)")
        print("milliseconds of a core a job:", ", ".join(f"{name} {ms:.1f}" for name, ms in load["spent"].items()))
        print(f"service {load['rate']:.2f} jobs a second, orienteer batch {alone:.2f}: {share:.2f} of it (bar 0.85)")
        print(f"answers {dict(load['answers'])}, lost jobs {load['lost']}, jobs that failed {load['failed']}")
        print(f"/healthz 50 % {load['healthz'][0]:.1f} ms, 99 % {load['healthz'][1]:.1f} ms (bar 50)")
        first, last = load["memory"]
        print(f"memory of server and workers {first:.0f} MB after a tenth, {last:.0f} MB at the end")
        print(f"POST /v1/solve takes {latency:.1f} ms longer than the call, at the median (bar 15)")
        print("\n".join(line for line in metrics.splitlines() if line.startswith("orienteer_workers")))
    bad = any(status >= 500 for status in load["answers"])
    sys.exit(bad or bool(load["lost"]) or share < 0.85 or load["healthz"][1] > 50 or latency > 15)


def _batch(folder: Path, arguments: argparse.Namespace) -> tuple[float, float]:
    """Problems a second of `orienteer batch`, without its start, and the cores that other programs took meanwhile.

    Without its start: what more problems take longer than few.
    """
    problems = [problem_of(problem(50, seed, 3.0)) for seed in range(PROBLEMS)]
    seconds, beside = [], 0.0
    for count in (len(problems) // 4, len(problems)):
        write_set(problems[:count], folder / "set.npz")
        command = [sys.executable, "-m", "orienteer", "batch", str(folder / "set.npz"), "--out", str(folder / "r.npz")]
        began, busy, own = time.perf_counter(), _busy(), _children()
        run([*command, "--workers", str(arguments.workers), "--steps", str(arguments.steps)], check=True)
        seconds.append(time.perf_counter() - began)
        beside = (_busy() - busy - (_children() - own)) / seconds[-1]
    return (len(problems) - len(problems) // 4) / (seconds[1] - seconds[0]), beside


def _latency(server: Server) -> float:
    """Milliseconds that a request takes longer than the call in a process; the two take turns."""
    ask = {"problem": problem(20), "steps": 100}
    instance, requests, calls = problem_of(ask["problem"]), [], []
    for _ in range(300):
        began = time.perf_counter()
        assert server.client.post("/v1/solve", json=ask).status_code == 200
        between = time.perf_counter()
        solve(instance, stop=MaxSteps(100)).to_json()
        requests.append(between - began)
        calls.append(time.perf_counter() - between)
    return 1000 * (statistics.median(requests) - statistics.median(calls))


class _Load:
    """Many clients of one server."""

    def __init__(self, server: Server, arguments: argparse.Namespace):
        self.server, self.arguments = server, arguments
        self.host, self.port = server.url.removeprefix("http://").split(":")
        self.bodies = [
            json.dumps({"problem": problem(50, seed, 3.0), "steps": arguments.steps, "seed": seed}).encode()
            for seed in range(PROBLEMS)
        ]
        self.answers: Counter[int] = Counter()
        self.accepted = self.done = self.failed = self.handed = 0
        self.waits: list[float] = []
        self.memory: list[float] = []

    async def run(self) -> dict[str, Any]:
        """The figures."""
        self.began = time.perf_counter()
        self.end = self.began + self.arguments.seconds
        self.workers = self.server.workers()
        watch = asyncio.create_task(self.watch())
        busy, spent = _busy(), self.spent()
        await asyncio.gather(*(self.client() for _ in range(self.arguments.clients)))
        seconds = time.perf_counter() - self.began
        busy, spent = _busy() - busy, {name: value - spent[name] for name, value in self.spent().items()}
        watch.cancel()
        return {
            "rate": self.done / seconds,
            "beside": (busy - sum(spent.values())) / seconds,
            "spent": {name: 1000 * value / self.done for name, value in spent.items()},
            "answers": self.answers,
            "lost": self.accepted - self.done - self.failed,
            "failed": self.failed,
            "healthz": [1000 * float(np.quantile(self.waits, share)) for share in (0.5, 0.99)],
            "memory": (self.memory[len(self.memory) // 10], self.memory[-1]),
        }

    def spent(self) -> dict[str, float]:
        """The seconds of a core that the processes have taken so far."""
        workers = sum(map(_seconds, self.workers))
        return {"workers": workers, "server": _seconds(self.server.process.pid), "clients": time.process_time()}

    @property
    def over(self) -> bool:
        """Whether clients hand in no more jobs."""
        jobs = self.arguments.jobs
        return time.perf_counter() >= self.end if jobs is None else self.handed >= jobs

    async def client(self) -> None:
        """Hands in jobs, each when the one before is done."""
        while not self.over:
            body = self.bodies[self.handed % PROBLEMS]
            self.handed += 1
            status, headers, _ = await self.ask("POST", "/v1/jobs", body)
            if status != 202:
                await asyncio.sleep(1.0)
                continue
            self.accepted += 1
            _, _, events = await self.ask("GET", f"{headers['location']}/events")
            last = events.rstrip().rpartition(b"\ndata: ")[2]
            if json.loads(last)["status"] == "done":
                self.done += 1
            else:
                self.failed += 1

    async def watch(self) -> None:
        """Asks /healthz all the time, and looks at the memory of the server and its workers."""
        while True:
            began = time.perf_counter()
            await self.ask("GET", "/healthz")
            self.waits.append(time.perf_counter() - began)
            self.memory.append(sum(map(_memory, (self.server.process.pid, *self.workers))))
            await asyncio.sleep(0.05)

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer, over a connection of its own."""
        reader, writer = await asyncio.open_connection(self.host, int(self.port))
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        first, _, rest = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        lines = first.decode().split("\r\n")
        status = int(lines[0].split()[1])
        self.answers[status] += 1
        headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines[1:])}
        return status, headers, rest if "transfer-encoding" not in headers else _joined(rest)


def _memory(pid: int) -> float:
    """The megabytes that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _seconds(pid: int) -> float:
    """The seconds of a core that a process has taken."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _children() -> float:
    """The seconds of a core that processes have taken that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _busy() -> float:
    """The seconds that all cores were busy, or were taken away by the machine that this one is a part of."""
    user, nice, system, _idle, _wait, interrupt, soft, stolen = Path("/proc/stat").read_text().split()[1:9]
    return sum(map(int, (user, nice, system, interrupt, soft, stolen))) / os.sysconf("SC_CLK_TCK")


def _joined(chunks: bytes) -> bytes:
    """The body that was sent in chunks."""
    parts = []
    while chunks:
        size, _, chunks = chunks.partition(b"\r\n")
        length = int(size, 16)
        parts.append(chunks[:length])
        chunks = chunks[length + 2 :]
        if not length:
            break
    return b"".join(parts)


if __name__ == "__main__":
    main()
