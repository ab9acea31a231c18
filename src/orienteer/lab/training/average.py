"""One network made of several: the mean of their weights.

Networks of one run, or of runs that went on from the same checkpoint, lie close enough together that a mean of them
works, and it keeps what each is good at.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from orienteer.lab.networks.models import Model, load_model, save_weights
from orienteer.lab.networks.scorers import score_of
from orienteer.lab.training.devices import choose_device
from orienteer.lab.training.instances import Recipe
from orienteer.lab.training.validation import Validation
from orienteer.network.weights import Header


def average_weights(
    names: Sequence[str | Path],
    out: str | Path,
    shares: Sequence[float] | None = None,
    device: str = "auto",
    count: int = 64,
) -> Path:
    """Writes the mean of weights, by equal shares unless `shares` has others, and returns its path.

    Scores are those of the mean, on `count` instances of each validation set.
    """
    portions = _portions(names, shares)
    where = choose_device(device)
    loaded = [load_model(name, where, ("expert",)) for name in names]
    headers = [header for _, header in loaded]
    _check_alike(headers)
    model = _mean([one for one, _ in loaded], portions)
    _, scores = Validation(Recipe(), count, where)(score_of(model, "expert"))
    return save_weights(out, model, "expert", _record(headers, portions), scores)


def _portions(names: Sequence[str | Path], shares: Sequence[float] | None) -> list[float]:
    """Shares that add up to 1."""
    given = [1.0] * len(names) if shares is None else list(shares)
    if len(names) < 2:
        raise ValueError("an average needs two or more weights")
    if len(given) != len(names):
        raise ValueError(f"there are {len(given)} shares for {len(names)} weights")
    if not all(math.isfinite(share) and share > 0 for share in given):
        raise ValueError(f"shares must be above 0, got {', '.join(f'{share:g}' for share in given)}")
    largest = max(given)  # whose sum may be no float
    return [share / largest / math.fsum(one / largest for one in given) for share in given]


def _check_alike(headers: Sequence[Header]) -> None:
    first = headers[0]
    for other in headers[1:]:
        for key in sorted(first.config.keys() | other.config.keys()):
            one, two = first.config.get(key), other.config.get(key)
            if one != two:
                raise ValueError(
                    f"{first.name} and {other.name} have no mean: {key} is {one} in one, {two} in the other"
                )


def _mean(models: Sequence[Model], portions: Sequence[float]) -> Model:
    """The first network, with the mean of all networks' weights."""
    parts = [model.state_dict() for model in models]
    mean = {
        name: sum(share * part[name].double() for share, part in zip(portions, parts, strict=True)) for name in parts[0]
    }
    models[0].load_state_dict(mean)
    return models[0]


def _record(headers: Sequence[Header], portions: Sequence[float]) -> dict[str, object]:
    """The longest training's, and how far each part had come."""
    longest = max(headers, key=lambda header: header.record.get("minutes") or 0)
    told = ("seed", "iterations", "states", "minutes", "average")
    parts = [
        {"share": share, **{key: header.record[key] for key in told if key in header.record}}
        for share, header in zip(portions, headers, strict=True)
    ]
    return {**longest.record, "average": parts}
