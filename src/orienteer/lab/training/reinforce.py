"""REINFORCE with a greedy roll-out baseline (Kool et al. 2018) for models that encode once and decode: AN-at, AN-pn.

Each iteration draws routes from the policy, without gradients, and compares their prizes with those of the baseline's
greedy routes on the same instances. The log probabilities of all steps then come from one batched pass. The baseline is
a frozen copy of the model, replaced when the model's greedy routes beat it significantly. Sizes may grow on the way.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from orienteer.beam.backend.cuda.problems import TensorProblems
from orienteer.beam.states import States
from orienteer.lab.networks.decoders import Encoded, RouteConfig, RouteModel
from orienteer.lab.networks.models import Model
from orienteer.lab.networks.scorers import DecoderScore
from orienteer.lab.training.a2c import draw_node
from orienteer.lab.training.distributed import Team, compiled
from orienteer.lab.training.dqn import follow
from orienteer.lab.training.environment import advance
from orienteer.lab.training.instances import Recipe, draw
from orienteer.lab.training.schedule import cosine, linear
from orienteer.lab.training.session import Options, Session
from orienteer.lab.training.validation import Validation, greedy_prize
from orienteer.network.batching import in_parts, join, precision
from orienteer.network.features import take
from orienteer.network.weights import Method

SURE = 1.645
"""A challenger replaces the baseline when the paired t statistic of its prizes is above this (5 %, one side)."""


@dataclass(frozen=True)
class ReinforceSettings:
    """What is trained and how."""

    model: RouteConfig = field(default_factory=RouteConfig)
    recipe: Recipe = field(default_factory=Recipe)
    batch: int = 128
    """Instances in an iteration, in each process."""
    routes: int = 1
    """Routes drawn for each instance."""
    part: int = 4096
    """States decoded at a time with gradients."""
    learning_rate: float = 1e-4
    decaying: bool = False
    """Whether the learning rate falls to zero along a cosine."""
    entropy: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Weight of the entropy at first and later, and the share of the run after which it is later."""
    grow: tuple[float, float] = (0.0, 0.0)
    """Size of the largest instances at first, as a share of the recipe's, and the share of the run after which they
    are all allowed; zeros to allow them from the beginning."""
    challenge: int = 50
    """Iterations between challenges of the baseline."""
    follow: float = 0.0
    """Share of the running average of the weights that stays at each step; 0 for no average."""
    iterations: int = 20_000

    def __post_init__(self) -> None:
        for name in ("batch", "routes", "part", "challenge", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"ReinforceSettings.{name} must be at least 1, got {getattr(self, name)}")


def train(settings: ReinforceSettings, options: Options, preset: str = "own") -> Session:
    """Trains, leaves weights, checkpoint and log in `options.out`, and returns the finished session."""
    team = Team(options.device)
    device = team.device
    method: Method = "at" if settings.model.decoder == "attention" else "pn"
    torch.manual_seed(options.seed)
    model = RouteModel(settings.model).to(device)
    baseline, average = (copy.deepcopy(model).requires_grad_(False) for _ in range(2))
    if options.compiled:
        compiled(model.encoder, baseline.encoder)
    shared = team.wrap(LogChances(model))
    optimizer = torch.optim.AdamW(
        model.parameters(), settings.learning_rate, weight_decay=0.0, fused=device.type == "cuda"
    )
    generator = torch.Generator(device).manual_seed(options.seed + 1 + team.rank)
    validation = Validation(settings.recipe, options.validation, device)
    session = Session(method, preset, options, settings, team, validation, DecoderScore)
    best: Model = average if settings.follow else model

    def content() -> dict[str, Any]:
        return {
            "model": model.state_dict(),
            "baseline": baseline.state_dict(),
            "average": average.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
        }

    with session:
        saved = session.resume()
        if saved is not None:
            model.load_state_dict(saved["model"])
            baseline.load_state_dict(saved["baseline"])
            average.load_state_dict(saved["average"])
            optimizer.load_state_dict(saved["optimizer"])
            generator.set_state(saved["generator"].cpu())

        passed = session.fraction()
        while passed < 1:
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * (cosine(passed) if settings.decaying else 1.0)
            recipe = grown(settings.recipe, passed, settings.grow)
            problems, ways = draw(recipe, settings.batch, generator)
            routes = draw_routes(model, problems, ways, settings.routes, generator)
            usual = greedy_prize(DecoderScore(baseline, ways=ways), problems)
            gain = (routes.prize - usual.repeat(settings.routes)) / problems.prizes.mean(1).repeat(settings.routes)
            gain = gain / gain.std().clamp_min(1e-6)
            entropy = linear(passed, *settings.entropy)
            loss = _step(shared, routes, ways, gain, entropy, optimizer, settings, team)
            if settings.follow:
                follow(average, model, settings.follow)
            if (session.iteration + 1) % settings.challenge == 0:
                fresh, ways = draw(recipe, settings.batch * settings.routes, generator)
                if _beats(model, baseline, fresh, ways):
                    baseline.load_state_dict(model.state_dict())
            counted = settings.batch * settings.routes * len(routes.states)
            passed = session.tick(counted, {"loss": loss, "gain": routes.prize.mean() - usual.mean()}, best, content)
    team.part()
    return session


@dataclass(frozen=True)
class Routes:
    """Routes drawn from a policy: the states they went through, the nodes they chose and their prizes."""

    problems: TensorProblems
    states: list[States]  # by step, each (route,)
    nodes: list[Tensor]  # by step, each (route,)
    moving: list[Tensor]  # by step, each (route,) bool, false once a route has ended
    prize: Tensor  # (route,)


@torch.no_grad()
def draw_routes(
    model: RouteModel, problems: TensorProblems, ways: Tensor, copies: int, generator: torch.Generator
) -> Routes:
    """`copies` routes for each instance; route i belongs to instance i modulo their number."""
    first = States.initial(problems)
    parts = list(in_parts(first, ways, problems.batch))
    states: list[States] = []
    nodes: list[Tensor] = []
    moving: list[Tensor] = []
    with precision(problems.device):
        encoded = model.encode(problems, parts)
        now = join([first] * copies)
        while True:
            stuck = ~now.feasible().any(1)
            if stuck.all():
                return Routes(problems, states, nodes, moving, now.prize)
            decoded = model.decode(encoded, now)
            node = torch.where(stuck, now.last, draw_node(decoded.logits.float(), generator))
            states.append(now)
            nodes.append(node)
            moving.append(~stuck)
            moved = advance(now, node)
            now = replace(
                moved,
                cost=torch.where(stuck, now.cost, moved.cost),
                prize=torch.where(stuck, now.prize, moved.prize),
                memory=decoded.memory,
            )


class LogChances(nn.Module):
    """The log probability and the entropy of every choice of some routes, with gradients."""

    def __init__(self, model: RouteModel):
        super().__init__()
        self.model = model

    def forward(self, routes: Routes, ways: Tensor, part: int) -> tuple[Tensor, Tensor]:
        """Two (step * route,) tensors."""
        first = States.initial(routes.problems)
        encoded = self.model.encode(routes.problems, list(in_parts(first, ways, len(first))))
        states = self._with_memory(encoded, routes.states)
        log_chances, spreads = [], []
        for some, node in _few(states, torch.cat(routes.nodes), part):
            logits = self.model.decode(encoded, some).logits
            log_chance = torch.log_softmax(logits.masked_fill(logits.isinf(), -1e9), dim=1)
            log_chances.append(log_chance.gather(1, node[:, None])[:, 0])
            spreads.append(-(log_chance.exp() * log_chance).sum(1))
        return torch.cat(log_chances), torch.cat(spreads)

    def _with_memory(self, encoded: Encoded, steps: Sequence[States]) -> States:
        """All steps' states as one, each with the memory that a recurrent decoder had of its path."""
        memories = self.model.decoder.memories(encoded, steps)
        joined = join(steps)
        return joined if memories is None else replace(joined, memory=torch.cat(memories))


def grown(recipe: Recipe, passed: float, grow: tuple[float, float]) -> Recipe:
    """The recipe with smaller instances only, at the beginning of a run."""
    first, share = grow
    if passed >= share:
        return recipe
    largest = round(recipe.largest * linear(passed, first, 1.0, share) / 10) * 10
    largest = min(max(largest, recipe.smallest), recipe.largest)
    favoured = tuple(size for size in recipe.favoured if size <= largest)
    return replace(recipe, largest=largest, favoured=favoured)


def _step(
    shared: nn.Module,
    routes: Routes,
    ways: Tensor,
    gain: Tensor,
    entropy: float,
    optimizer: torch.optim.Optimizer,
    settings: ReinforceSettings,
    team: Team,
) -> Tensor:
    """One gradient step; the loss."""
    optimizer.zero_grad(set_to_none=True)
    moving = torch.cat(routes.moving).float()
    with precision(gain.device):
        log_chance, spread = shared(routes, ways, settings.part)
    gains = gain.repeat(len(routes.states))
    loss = -((log_chance * gains + entropy * spread) * moving).sum() / len(gain)
    torch.autograd.backward(loss)
    nn.utils.clip_grad_norm_(shared.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def _few(states: States, node: Tensor, part: int) -> list[tuple[States, Tensor]]:
    places = torch.arange(len(states), device=node.device)
    cuts = [places[first : first + part] for first in range(0, len(states), part)]
    return [(take(states, cut), node[cut]) for cut in cuts]


def _beats(model: RouteModel, baseline: RouteModel, problems: TensorProblems, ways: Tensor) -> bool:
    """Whether the model's greedy routes are significantly better than the baseline's (paired t test)."""
    ours, theirs = (greedy_prize(DecoderScore(one, ways=ways), problems) for one in (model, baseline))
    difference = ours - theirs
    error = difference.std() / len(difference) ** 0.5
    return bool(difference.mean() > SURE * error)
