"""Solves the published files of team orienteering, with and without windows and budgets, and prints gaps to best known.

    python benchmarks/plans.py top --seconds 20              # recent values of sets 4, 6 and 7
    python benchmarks/plans.py top-small --seconds 2         # sets 1 to 3
    python benchmarks/plans.py toptw --seconds 20            # 1 to 4 routes
    python benchmarks/plans.py toptw --routes 1 --solver cs-p
    python benchmarks/plans.py mctopmtw --seconds 10

Each file is solved once, seed 1, on one core; `--workers` solves several side by side. Plans go to `--out`, as JSON,
and where ../shared/tools/judge_plan.py is there, it judges every plan. `--every 7` takes every seventh file.
"""

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import orienteer  # noqa: E402
from orienteer.lab.bench.variant_files import VariantFile, listed_files  # noqa: E402

SHARED = Path(__file__).parents[2] / "shared"


def main() -> int:
    """Solves, judges and prints; 1 if a plan is refused."""
    options = _arguments()
    folder = options.data / "variants"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there; --data names the folder of the data")
    listed = listed_files(options.kind, folder)
    jobs = [job for job in listed if options.routes in (None, job.routes)][:: options.every]
    options.out.mkdir(parents=True, exist_ok=True)
    _solve(jobs[0], 0.1, options.solver, options.out)  # compiles
    prizes = {}
    with ProcessPoolExecutor(options.workers) as pool:
        work = [pool.submit(_solve, job, options.seconds, options.solver, options.out) for job in jobs]
        for done, (job, future) in enumerate(zip(jobs, work, strict=True), 1):
            prizes[job] = future.result()
            if sys.stderr.isatty():
                print(f"{done} of {len(jobs)}", end="\r", file=sys.stderr)
    _print_table(prizes)
    return _judge(jobs, options.out)


def _solve(job: VariantFile, seconds: float, solver: str, out: Path) -> float:
    """The prize of a file's plan, which is written to a file of its own."""
    result = orienteer.solve(job.read(), solver, orienteer.MaxSeconds(seconds), seed=1)
    (out / f"{job.name}.json").write_text(result.to_json())
    return result.prize


def _print_table(prizes: dict[VariantFile, float]) -> None:
    gaps: dict[str, list[float]] = defaultdict(list)
    for job, prize in prizes.items():
        gap = 100 * (job.best - prize) / job.best if job.best else -prize
        family = job.path.stem.removeprefix(f"MCTOPMTW-{job.routes}-")[:2]
        for row in ("all", f"{job.routes} route(s)", f"family {family}, {job.routes} route(s)"):
            gaps[row].append(gap)
    print("files  mean gap %  best known hit  above")
    for row, values in sorted(gaps.items()):
        hit, above = sum(gap <= 0 for gap in values), sum(gap < 0 for gap in values)
        print(f"{len(values):5}  {sum(values) / len(values):10.4f}  {hit:14}  {above:5}  {row}")
    for job, prize in prizes.items():
        if prize > job.best:
            print(f"above the best known: {job.name} {prize:g} (best known {job.best:g})")
    worst = sorted(prizes, key=lambda job: prizes[job] / max(job.best, 1))[:12]
    print("largest gaps: " + ", ".join(f"{job.name} {prizes[job]:g}/{job.best:g}" for job in worst))


def _judge(jobs: list[VariantFile], out: Path) -> int:
    """Has the independent judge look at all plans; 1 if one is refused."""
    judge = SHARED / "tools" / "judge_plan.py"
    if not judge.exists():
        print(f"not judged: {judge} is not there")
        return 0
    refused = 0
    for job in jobs:
        command = [sys.executable, str(judge), job.kind, str(job.path), str(out / f"{job.name}.json")]
        answer = subprocess.run([*command, "--routes", str(job.routes)], capture_output=True, text=True, check=False)
        if answer.returncode:
            refused += 1
            print(answer.stdout, answer.stderr)
    print(f"judged: {len(jobs) - refused} of {len(jobs)} plans pass")
    return int(refused > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("top", "top-small", "toptw", "mctopmtw"))
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds for each file (default 20)")
    parser.add_argument("--solver", default="auto", help="default auto")
    parser.add_argument("--routes", type=int, metavar="M", help="take only files with M routes")
    parser.add_argument("--every", type=int, metavar="N", default=1, help="take only every N-th file (default 1)")
    parser.add_argument("--workers", type=int, default=1, help="files solved side by side, a core each (default 1)")
    parser.add_argument(
        "--data", type=Path, default=SHARED / "data", help="folder of the data (default ../shared/data)"
    )
    parser.add_argument("--out", type=Path, default=Path("out") / "plans", help="plans (default out/plans)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
