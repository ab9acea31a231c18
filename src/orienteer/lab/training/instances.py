"""Random instances drawn on the device that trains on them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from orienteer.beam.backend.cuda.problems import TensorProblems, cheapest_ways

PRIZES = ("constant", "uniform", "distance")


@dataclass(frozen=True)
class Recipe:
    """What training instances look like."""

    smallest: int = 10
    """Fewest nodes beside the start."""
    largest: int = 100
    """Most nodes beside the start."""
    favoured: tuple[int, ...] = (20, 50, 100)
    """Sizes drawn more often than the others, with the paper's limit."""
    favour: float = 0.7
    """Share of instances of a favoured size; the last one gets half of them."""
    prizes: tuple[str, ...] = PRIZES
    """Kinds of prizes, drawn with equal chance."""
    asymmetric: float = 0.08
    """Share of instances with asymmetric costs, in equal parts: stretched plane, closed under the triangle inequality
    (tmat), and without any structure (xasy)."""
    apart: float = 0.1
    """Share of instances whose end is another node than the start."""
    stretch: tuple[float, float] = (0.5, 1.5)
    """Range of factors on the paper's limit, for sizes that are not favoured."""

    def __post_init__(self) -> None:
        if not 2 <= self.smallest <= self.largest:
            raise ValueError(f"Recipe.smallest must be from 2 to largest {self.largest}, got {self.smallest}")
        unknown = set(self.prizes) - set(PRIZES)
        if unknown or not self.prizes:
            raise ValueError(f"Recipe.prizes must be some of {', '.join(PRIZES)}, got {self.prizes}")
        if any(not self.smallest <= size <= self.largest for size in self.favoured):
            raise ValueError(f"Recipe.favoured must lie from smallest to largest, got {self.favoured}")
        for field in ("favour", "asymmetric", "apart"):
            if not 0 <= getattr(self, field) <= 1:
                raise ValueError(f"Recipe.{field} must be from 0 to 1, got {getattr(self, field)}")


def fixed_size(size: int, prizes: str) -> Recipe:
    """The paper's instances of one size and kind of prizes."""
    return Recipe(size, size, (size,), 1.0, (prizes,), 0.0, 0.0)


def paper_limit(size: Tensor) -> Tensor:
    """The paper's limits 2, 3 and 4 for 20, 50 and 100 nodes, and what lies between and beyond, linear in the root."""
    root = size.sqrt()
    low = 2 + (root - 20**0.5) / (50**0.5 - 20**0.5)
    high = 3 + (root - 50**0.5) / (100**0.5 - 50**0.5)
    return torch.where(size < 50, low, high)


def draw(recipe: Recipe, count: int, generator: torch.Generator) -> tuple[TensorProblems, Tensor]:
    """`count` random instances in float32, and their cheapest ways.

    The host asks nothing of the device: families are fixed slices of the batch, all else is masks.
    """
    device, nodes = generator.device, recipe.largest + 1
    size, favoured = _sizes(recipe, count, generator)
    absent = torch.arange(nodes, device=device) > size[:, None]
    odd = round(recipe.asymmetric * count)
    costs = _plane(count, nodes, generator)
    scale = torch.ones(count, device=device)
    if odd:
        costs[:odd], scale[:odd] = _asymmetric(odd, costs[:odd], absent[:odd], generator)
    costs.masked_fill_(absent[:, :, None] | absent[:, None, :], torch.inf)

    end = (_uniform((count,), generator) < recipe.apart).long()
    low, high = recipe.stretch
    factor = torch.where(favoured, 1.0, low + (high - low) * _uniform((count,), generator))
    limit = paper_limit(size.float()) * scale * factor
    prizes = _prizes(recipe, costs, absent, generator)
    prizes[:, 0] = 0.0
    prizes.scatter_(1, end[:, None], 0.0)

    ways = costs
    if odd:
        ways = costs.clone()
        ways[:odd] = cheapest_ways(costs[:odd])
    to_end = ways.gather(2, end[:, None, None].expand(-1, nodes, 1))[:, :, 0]
    limit = torch.maximum(limit, to_end[:, 0])
    start = torch.zeros(count, dtype=torch.int64, device=device)
    return TensorProblems(costs, prizes, limit, start, end, to_end), ways


def _sizes(recipe: Recipe, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """(count,) nodes beside the start, and whether they are of a favoured size."""
    device = generator.device
    span = recipe.largest - recipe.smallest + 1
    size = recipe.smallest + (_uniform((count,), generator) * span).long()
    if not recipe.favoured:
        return size, torch.zeros(count, dtype=torch.bool, device=device)
    choices = len(recipe.favoured)
    table = torch.tensor(recipe.favoured, device=device)
    pick = (_uniform((count,), generator) * 2 * (choices - 1)).long() if choices > 1 else 0 * size
    favoured = _uniform((count,), generator) < recipe.favour
    return torch.where(favoured, table[pick.clamp_max(choices - 1)], size), favoured


def _plane(count: int, nodes: int, generator: torch.Generator) -> Tensor:
    points = _uniform((count, nodes, 2), generator)
    dx, dy = (points[:, :, None, axis] - points[:, None, :, axis] for axis in (0, 1))
    return (dx * dx + dy * dy).sqrt()


def _asymmetric(count: int, plane: Tensor, absent: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Costs of the three asymmetric families, and how their limits compare with those of the plane."""
    nodes, device = plane.shape[1], plane.device
    noise = _uniform((count, nodes, nodes), generator)
    third = count // 3
    costs = plane * (1 + noise)
    closed = noise[:third].masked_fill(absent[:third, :, None] | absent[:third, None, :], torch.inf)
    closed = cheapest_ways(closed)
    largest = torch.where(closed.isinf(), 0.0, closed).amax((1, 2), keepdim=True)
    costs[:third] = closed / largest
    costs[third : 2 * third] = noise[third : 2 * third]
    scale = torch.ones(count, device=device)
    scale[third : 2 * third] = 0.1
    return costs, scale


def _prizes(recipe: Recipe, costs: Tensor, absent: Tensor, generator: torch.Generator) -> Tensor:
    count, nodes = absent.shape
    uniform = (1 + (_uniform((count, nodes), generator) * 100).floor()) / 100
    away = costs[:, 0].masked_fill(absent, 0.0)
    distance = (1 + (99 * away / away.amax(1, keepdim=True)).floor()) / 100
    table = torch.stack([{"constant": torch.ones_like(uniform), "uniform": uniform, "distance": distance}[kind]
                         for kind in recipe.prizes])  # fmt: skip
    kind = (_uniform((count,), generator) * len(recipe.prizes)).long()
    return table[kind, torch.arange(count, device=costs.device)].masked_fill(absent, 0.0)


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)
