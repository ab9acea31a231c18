"""Networks on sizes that they were not trained for, beside the neighbourhood search."""

from collections.abc import Sequence
from pathlib import Path

from orienteer.lab.bench.compare import compare
from orienteer.lab.bench.methods import Method
from orienteer.lab.bench.paper_figures import GENERALIZATION
from orienteer.lab.bench.paper_report import Report
from orienteer.lab.bench.run import OnDone
from orienteer.lab.bench.sets import NamedSet


def run_generalization(
    folder: Path,
    weights: Sequence[str],
    sets: Sequence[NamedSet],
    device: str,
    seconds: float | None,
    on_done: OnDone,
) -> Report:
    """Runs cs-l with each of the weights and lns on every set; weights are files or shipped names."""
    from orienteer.beam.backend import choose_backend
    from orienteer.network.solver import LearnedCostLevelSearch
    from orienteer.network.weights import find_weights, read_header

    methods = []
    notes = []
    for name in weights or (LearnedCostLevelSearch.default_weights(choose_backend(device)),):
        path = find_weights(name)
        label = f"cs-l {name}" if path.suffix not in str(name) else f"cs-l {path.parent.name}/{path.stem}"
        methods.append(Method(label, "cs-l", {"weights": str(name), "device": device}))
        config = LearnedCostLevelSearch.config_class(weights=str(name), device=device)
        search = f"K = {config.beam}, tau = {config.tau or 'limit / 80'}, routes recombined and polished"
        notes.append(f"{label}: {search}; {_training(read_header(path).record)}")
    methods.append(Method("lns", "lns", seconds=seconds))
    theirs = ", ".join(f"{prize:.2f} trained at n = {nodes}" for nodes, prize in GENERALIZATION.items())
    notes.append(f"The paper's CS (20, 0.05) on distance prizes, n = 100: {theirs}.")
    return compare(folder, "Generalization to other sizes", methods, sets, on_done, notes)


def _training(record: dict[str, object]) -> str:
    """What a weights file says about the sizes it was trained on."""
    found = record.get("settings")
    settings = found if isinstance(found, dict) else {}
    recipe = settings.get("recipe", {})
    if "smallest" in recipe:
        return f"trained on n from {recipe['smallest']} to {recipe['largest']}"
    if settings.get("labels"):
        own = f" and on its own routes, n from {recipe['sizes'][0]} to {recipe['sizes'][1]}"
        labels = ", ".join(dict.fromkeys(settings["labels"]))
        return f"trained on the labels {labels}{own if settings.get('rounds') else ''}"
    return "the file does not say on which sizes it was trained"
