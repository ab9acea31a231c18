"""The paper's three curves: with and without multi-head attention, by number of layers, by hidden size.

Small networks are trained by double Q-learning, each for an equal share of the time given, with several seeds.
"""

import dataclasses
import hashlib
import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orienteer.beam.backend import choose_backend
from orienteer.lab.bench import chart
from orienteer.lab.bench.run import OnDone, Shard
from orienteer.lab.bench.store import Entry, Place, Store
from orienteer.lab.bench.tables import Table, number, with_error, words, write_tables
from orienteer.lab.networks.attention_network import NetworkConfig
from orienteer.lab.training import dqn
from orienteer.lab.training.instances import fixed_size
from orienteer.lab.training.presets import settings_for
from orienteer.lab.training.session import CHECKPOINT, LOG, Options
from orienteer.model.errors import OrienteerError
from orienteer.version import __version__

BASE = NetworkConfig()
"""The paper's network, of which each variant changes one field."""

STUDIES: dict[str, tuple[tuple[str, dict[str, int]], ...]] = {
    "multi-head graph attention": (("with", {}), ("without", {"graph_heads": 1})),
    "encoding layers": (("1", {"layers": 1}), ("2", {"layers": 2}), (str(BASE.layers), {})),
    "hidden size": (("8", {"hidden": 8}), ("16", {"hidden": 16}), (str(BASE.hidden), {})),
}
"""Studies, their variants, and what these change."""

LOOKS = 8
"""Validations of a training run: points of its curve."""


@dataclass(frozen=True)
class Plan:
    """What is trained, how long in all and how often."""

    minutes: float
    nodes: int = 50
    prizes: str = "distance"
    seeds: int = 5
    preset: str = "small"
    """Training settings; the network is the paper's."""
    device: str = "auto"
    validation: int = 200
    """Instances of a validation, which are the paper's test instances in kind and number."""

    @property
    def variants(self) -> list[dict[str, int]]:
        """The different networks, each once."""
        return [dict(one) for one in dict.fromkeys(tuple(v.items()) for rows in STUDIES.values() for _, v in rows)]

    @property
    def each(self) -> float:
        """Minutes of one training run."""
        return self.minutes / (len(self.variants) * self.seeds)

    def settings(self, variant: dict[str, int]) -> dqn.DqnSettings:
        """The settings of a variant's training."""
        return dataclasses.replace(
            settings_for("dqn", self.preset),
            network=NetworkConfig(**{**dataclasses.asdict(BASE), **variant}),
            recipe=fixed_size(self.nodes, self.prizes),
        )

    def key(self, variant: dict[str, int]) -> str:
        """A short name for a variant with all that its training depends on beside the seed."""
        said = {
            "settings": dataclasses.asdict(self.settings(variant)),
            "minutes": self.each,
            "validation": self.validation,
            "device": choose_backend(self.device).name,
            "version": __version__,
        }
        name = "-".join(f"{field}-{value}" for field, value in variant.items()) or "base"
        return f"{name}-{hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:10]}"


def run_sensitivity(folder: Path, plan: Plan, on_done: OnDone, shard: Shard | None = None) -> list[str] | None:
    """Trains what is missing, writes table and curves, and returns the failures; a shard alone writes none: None."""
    part = Shard() if shard is None else shard
    runs = [(variant, seed) for seed in range(plan.seeds) for variant in plan.variants]
    todo = [runs[place] for place in part.indices(len(runs))]
    with Store(folder, part.name) as store:
        for done, (variant, seed) in enumerate(todo):
            on_done(done, len(todo))
            entry = store.entries.get((plan.key(variant), _set(plan), seed))
            if entry is None or "error" in entry:
                store.add([_train(folder, plan, variant, seed)])
        on_done(len(todo), len(todo))
        return None if part.of > 1 else _report(folder, plan, store.entries)


def _train(folder: Path, plan: Plan, variant: dict[str, int], seed: int) -> Entry:
    """The line about one training run; a run that was killed goes on from its checkpoint."""
    out = folder / "runs" / f"{plan.key(variant)}-seed-{seed}"
    checkpoint = out / CHECKPOINT
    options = Options(
        out=out,
        minutes=plan.each,
        device=plan.device,
        resume=checkpoint if checkpoint.exists() else None,
        seed=seed,
        every=60 * plan.each / LOOKS,
        validation=plan.validation,
        say=lambda text: None,
    )
    about = {"key": plan.key(variant), "set": _set(plan), "index": seed}
    try:
        session = dqn.train(plan.settings(variant), options, plan.preset)
    except OrienteerError as error:
        return {**about, "error": f"{type(error).__name__}: {error}"}
    if session.interrupted:
        raise KeyboardInterrupt
    lines = [json.loads(line) for line in (out / LOG).read_text().splitlines()]
    curve = {line["states"]: line[_set(plan)] for line in lines}
    return {**about, "states": list(curve), "prizes": list(curve.values()), "prize": lines[-1][_set(plan)]}


def _report(folder: Path, plan: Plan, entries: dict[Place, Entry]) -> list[str]:
    failed = [
        f"{plan.key(variant)} failed with seed {seed}: {entry['error']}"
        for variant in plan.variants
        for seed in range(plan.seeds)
        if "error" in (entry := entries[plan.key(variant), _set(plan), seed])
    ]
    rows = []
    panels: list[tuple[str, str, list[chart.Curve]]] = []
    for study, variants in STUDIES.items():
        curves = []
        for label, variant in variants:
            found = [entries[plan.key(variant), _set(plan), seed] for seed in range(plan.seeds)]
            done = [entry for entry in found if "error" not in entry]
            prizes = [entry["prize"] for entry in done]
            mean = statistics.fmean(prizes) if prizes else math.nan
            steps = statistics.fmean(entry["states"][-1] for entry in done) if done else None
            cells = (words(study), words(label), number(len(done), "d"), with_error(mean, _error(prizes)))
            rows.append((*cells, number(steps, ".0f")))
            if done:
                curves.append(_curve(label, done))
        panels.append((study, "steps of the environments", curves))
    title = f"Sensitivity of the network on {_set(plan)}"
    notes = [
        f"{plan.minutes:g} minutes in all, {60 * plan.each:.3g} s for a network, training preset {plan.preset}, "
        f"{plan.seeds} seeds; mean prize of greedy routes on {plan.validation} instances with its standard error over "
        "the seeds. Networks get equal time, so that small ones make more steps; compare the curves at equal "
        "steps, as the paper's are over episodes.",
        *failed,
    ]
    table = Table(title, ("study", "variant", "seeds", "prize", "steps"), tuple(rows))
    picture = chart.try_curves(folder / "chart.png", panels, notes)
    write_tables(folder, title, [table], table, notes, picture)
    return failed


def _curve(label: str, entries: Sequence[Entry]) -> chart.Curve:
    """The mean over seeds at steps that all of them reached."""
    first = max(entry["states"][0] for entry in entries)
    last = min(entry["states"][-1] for entry in entries)
    steps = np.linspace(first, max(first, last), LOOKS)
    lines = np.array([np.interp(steps, entry["states"], entry["prizes"]) for entry in entries])
    spread = lines.std(0, ddof=1) / math.sqrt(len(lines)) if len(lines) > 1 else np.zeros(LOOKS)
    return chart.Curve(label, steps.tolist(), lines.mean(0).tolist(), spread.tolist())


def _error(prizes: Sequence[float]) -> float:
    return statistics.stdev(prizes) / math.sqrt(len(prizes)) if len(prizes) > 1 else math.nan


def _set(plan: Plan) -> str:
    return f"{plan.prizes}_{plan.nodes}"
