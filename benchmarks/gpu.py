"""The learned search on one GPU: the time of a problem, alone and among others, and how far from the optimum it ends.

    python benchmarks/gpu.py optimum              proves the optima of 200 problems; needs the extra `exact`, no GPU
    python benchmarks/gpu.py table                times one, 8, 128 and 2,000 problems together, with K = 20 and 100
    python benchmarks/gpu.py large                problems of 1,000 and 2,000 nodes, eight together
    python benchmarks/gpu.py command              10,000 problems through `orienteer batch`, from command to file

All problems are random, Euclidean, with uniform prizes: the 200 have the seed 424202, the timed ones 20261115. Sets and
results are kept in `--out` (out/gpu) as NPZ, for a judge; optima in optimum.json there. Times are wall-clock, after a
first run that compiles.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from subprocess import run

import torch
from safetensors.numpy import load_file

from orienteer import MaxSeconds, solve
from orienteer.data.files import write_results, write_set
from orienteer.data.generate import generate
from orienteer.data.instance_set import InstanceSet
from orienteer.model.result import Result
from orienteer.network.solver import LearnedCostLevelSearch
from orienteer.search.registry import make_solver

JUDGED, TIMED, LARGE = 424202, 20261115, 424203
"""Seeds."""
PROVEN = 200
TOGETHER = {1: 9, 8: 5, 128: 3, 2000: 2}
"""How many problems together, and how many batches are timed: the median counts."""
PEAK = 990e12
"""Operations a second of an H200 in bfloat16, as its maker states them."""
TOKENS = 55
"""Nodes that a path of a search with 100 nodes still has before it, on average."""


def main() -> int:
    """Measures and prints what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("optimum", "table", "large", "command"))
    parser.add_argument("--out", type=Path, default=Path("out") / "gpu")
    out = (arguments := parser.parse_args()).out
    out.mkdir(parents=True, exist_ok=True)
    {"optimum": _optimum, "table": _table, "large": _large, "command": _command}[arguments.what](out)
    return 0


def _optimum(out: Path) -> None:
    prizes = []
    for number, instance in enumerate(generate(100, "uniform", count=PROVEN, seed=JUDGED), 1):
        result = solve(instance, "exact", MaxSeconds(600), seed=1)
        prizes.append(result.prize if result.status == "optimal" else None)
        (out / "optimum.json").write_text(json.dumps(prizes))
        print(f"{number} of {PROVEN}", end="\r", file=sys.stderr)
    print(f"{sum(prize is not None for prize in prizes)} of {PROVEN} proven: {out / 'optimum.json'}")


def _table(out: Path) -> None:
    judged = generate(100, "uniform", count=PROVEN, seed=JUDGED)
    write_set(judged, out / "judged.npz")
    print("| K | prize | gap to the optimum | alone | of 8 | of 128 | of 2,000 | passes | share of the limit |")
    print("|---|---|---|---|---|---|---|---|---|")
    for beam in (20, 100):
        solver = make_solver("cs-l", beam=beam, device="cuda")
        assert isinstance(solver, LearnedCostLevelSearch)
        results = solver.solve_batch(judged)
        write_results(results, out / f"judged_{beam}.npz")
        times = {count: _seconds(solver, count, repeats) for count, repeats in TOGETHER.items()}
        before = solver.scorer().passes
        solver.solve_batch(judged)
        passes = (solver.scorer().passes - before) / PROVEN
        weights = sum(one.size for one in load_file(solver.weights_file()).values())
        share = passes * 2 * TOKENS * weights / PEAK / (times[2000] / 2000)
        prize = sum(result.prize for result in results) / PROVEN
        each = " | ".join(f"{1e3 * seconds / count:.3g} ms each" for count, seconds in times.items())
        print(
            f"| {beam} | {prize:.4f} | {_gap(results, out)} | {each} | {passes:,.0f} | {100 * share:.1f} % |",
            flush=True,
        )


def _seconds(solver: LearnedCostLevelSearch, count: int, repeats: int) -> float:
    """The median of the seconds that batches of `count` problems take."""
    problems = list(generate(100, "uniform", count=max(count, repeats), seed=TIMED))
    taken = []
    for number in range(repeats + 1):
        batch = problems[number % repeats : number % repeats + 1] if count == 1 else problems[:count]
        began = time.perf_counter()
        solver.solve_batch(batch)
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[1:])


def _gap(results: list[Result], out: Path) -> str:
    if not (out / "optimum.json").exists():
        return "unknown: run `optimum`"
    optima = json.loads((out / "optimum.json").read_text())
    gaps = [1 - one.prize / most for one, most in zip(results, optima, strict=True) if most is not None]
    return f"{100 * sum(gaps) / len(gaps):.4f} %"


def _large(out: Path) -> None:
    for nodes in (1000, 2000):
        problems = generate(nodes, "uniform", count=8, seed=LARGE)
        write_set(problems, out / f"large_{nodes}.npz")
        solver = make_solver("cs-l", device="cuda")
        solver.solve_batch(problems[:1])
        began = time.perf_counter()
        results = solver.solve_batch(problems)
        taken = (time.perf_counter() - began) / len(results)
        write_results(results, out / f"large_{nodes}_result.npz")
        print(f"n = {nodes}: {taken:.2f} s each, mean prize {sum(one.prize for one in results) / len(results):.2f}")


def _command(out: Path) -> None:
    path, answer = out / "ten_thousand.npz", out / "ten_thousand_result.npz"
    problems: InstanceSet = generate(100, "uniform", count=10_000, seed=TIMED)
    write_set(problems, path)
    command = [sys.executable, "-m", "orienteer", "batch", str(path), "--solver", "cs-l", "--device", "cuda"]
    for _ in range(2):  # the second time with warm caches
        began = time.perf_counter()
        run([*command, "--out", str(answer)], check=True)
        print(f"{time.perf_counter() - began:.1f} s from command to file", flush=True)


if __name__ == "__main__":
    sys.exit(main())
