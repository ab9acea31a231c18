"""Expert iteration (Anthony, Tian and Barber 2017): a network imitates good routes, then its own.

The first routes come from the large neighbourhood search, in files made beforehand (`orienteer labels`).
Round after round fresh problems are then searched with the network so far, and their routes are imitated too.
"""

import copy
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from orienteer.beam.cost_level import CostLevelConfig, cost_level_search
from orienteer.beam.score import Scorer
from orienteer.lab.networks.models import Model, load_model
from orienteer.lab.networks.scorers import placed, score_of
from orienteer.lab.training.distributed import Team
from orienteer.lab.training.dqn import follow
from orienteer.lab.training.instances import Recipe
from orienteer.lab.training.labels import FIRST_SEED, Label, LabelRecipe, draw_source, is_lesson, load_labels
from orienteer.lab.training.lessons import Lessons, Library, usual_width
from orienteer.lab.training.losses import (
    LOSSES,
    Part,
    join_parts,
    make_part,
    policy_loss,
    split_steps,
)
from orienteer.lab.training.muon import optimizers, settle
from orienteer.lab.training.recorded import Recorder
from orienteer.lab.training.schedule import cosine
from orienteer.lab.training.session import Options, Session
from orienteer.lab.training.validation import TourValidation, Validation
from orienteer.model.errors import BadFile
from orienteer.network.batching import in_batches, kit_for, precision
from orienteer.network.config import PolicyConfig
from orienteer.network.features import relevant
from orienteer.network.plain import PLAIN
from orienteer.network.policy_network import PolicyNetwork
from orienteer.network.weights import Method

MOST_CELLS = 2**27
"""Pairs of tokens, padding included, up to which the parts of a step are joined: a quarter of a gigabyte of edges."""
BYTES_AT_ONCE = 32
"""Bytes of a GPU for each pair of tokens, if all steps of an iteration are to be made together: then an eighth of the
memory holds the edges, twice."""


@dataclass(frozen=True)
class ExpertSettings:
    """What is trained and how."""

    network: PolicyConfig = field(default_factory=PolicyConfig)
    labels: tuple[str, ...] = ()
    """Files of labels to begin with."""
    recipe: LabelRecipe = field(default_factory=LabelRecipe)
    """The problems of the rounds."""
    rounds: int = 0
    """How often fresh problems are searched with the network; evenly over the run."""
    fresh: int = 2048
    """Problems searched in a round."""
    beam: int = 20
    """Width of the beam of a round's search."""
    pieces: float = 0.3
    """Share of lessons that end before their route does."""
    batch: int = 2048
    """States in a gradient step."""
    part: int = 2048
    """States that go through the network at a time."""
    steps: int = 8
    """Gradient steps in an iteration."""
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    follow: float = 0.998
    """Share of the running average of the weights that stays at each step; the average is what is saved."""
    visit: float = 1.0
    """Weight of the loss of which nodes are visited later, or of what leaving each node costs."""
    worth: float = 0.5
    """Weight of the loss of the prize, or cost, to go."""
    begin: str = ""
    """Shipped weights by name, or a file, to begin with instead of random weights; these then decide `network`."""
    iterations: int = 10_000

    def __post_init__(self) -> None:
        for name in ("fresh", "beam", "batch", "part", "steps", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"ExpertSettings.{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.pieces <= 1:
            raise ValueError(f"ExpertSettings.pieces must be from 0 to 1, got {self.pieces}")
        if (self.network.goal == "cost") != (self.recipe.problem == "tsp"):
            raise ValueError(
                f"ExpertSettings.network must have the goal of its recipe: cost for tsp and prize for op, "
                f"got {self.network.goal} for {self.recipe.problem}"
            )

    @property
    def method(self) -> Method:
        """The name under which weights are kept."""
        return "tour" if self.network.goal == "cost" else "expert"


def train(settings: ExpertSettings, options: Options, preset: str = "own") -> Session:
    """Trains, leaves weights, checkpoint and log in `options.out`, and returns the finished session."""
    if not settings.labels:
        raise ValueError("labels must name at least one file; `orienteer labels` makes them")
    team = Team(options.device)
    device = team.device
    torch.manual_seed(options.seed)
    library = Library.build(_first_labels(settings), device, _processes())
    network = _beginning(settings, device)
    settings = replace(settings, network=network.config)
    average = copy.deepcopy(network).requires_grad_(False)
    teach = team.wrap(Teacher(network, settings))
    moving = optimizers(network, settings.learning_rate, settings.weight_decay)
    recorder = Recorder(teach) if kit_for(device) is not PLAIN and team.size == 1 else None
    generator = torch.Generator(device).manual_seed(options.seed + 1 + team.rank)
    validation = _validation(settings, options.validation, device)
    named = _without_folders(settings)
    session = Session(settings.method, preset, options, named, team, validation, _scorer(settings))
    best: Model = average
    options.say(f"{len(library):,} labels on {device}")

    def content() -> dict[str, Any]:
        return {
            "network": network.state_dict(),
            "average": average.state_dict(),
            "optimizers": [one.state_dict() for one in moving],
            "generator": generator.get_state(),
        }

    with session:
        saved = session.resume()
        if saved is not None:
            _take_up(network, saved["network"], options.resume)
            _take_up(average, saved["average"], options.resume)
            for optimizer, state in zip(moving, _saved_optimizers(saved, moving, options.resume), strict=True):
                settle(optimizer, state)
            drawn = saved["generator"].cpu()
            if device.type == "cpu" and len(drawn) == len(generator.get_state()):  # not that of a GPU
                generator.set_state(drawn)  # a resumed run is to equal an unbroken one

        passed = session.fraction()
        done = int(passed * (settings.rounds + 1))
        while passed < 1:
            if int(passed * (settings.rounds + 1)) > done:
                done += 1
                fresh = own_labels(average, settings, seed=options.seed * 1000 + done * team.size + team.rank)
                library.add(Library.build(fresh, device, _processes()))
                options.say(f"round {done}: {len(fresh):,} labels of its own, {len(library):,} in all")
            for group in (group for optimizer in moving for group in optimizer.param_groups):
                group["lr"] = group["initial_lr"] * cosine(passed)
            losses = []
            for lessons in _batches(library, generator, settings):
                losses.append(_step(teach, lessons, moving, team, settings.part, recorder))
                follow(average, network, settings.follow)
            policy, visit, worth = torch.stack(losses).mean(0)
            seen = settings.batch * settings.steps
            passed = session.tick(seen, {"policy": policy, "visit": visit, "worth": worth}, best, content)
    team.part()
    return session


@torch.no_grad()
def own_labels(network: nn.Module, settings: ExpertSettings, seed: int) -> list[Label]:
    """Fresh problems with the routes that the cost-level search finds with the network."""
    device = next(network.parameters()).device
    first = FIRST_SEED * 2 + seed * settings.fresh
    sources = [
        draw_source(settings.recipe, one, np.random.default_rng(one)) for one in range(first, first + settings.fresh)
    ]
    config = CostLevelConfig(settings.beam, branch=8, spread=0.5)
    backend, scorer = placed(_scorer(settings)(network), device)
    labels = []
    order = sorted(range(len(sources)), key=lambda number: sources[number].n)
    for begin in range(0, len(order), 512):
        group = [sources[number] for number in order[begin : begin + 512]]
        problems = backend.problems([source.instance() for source in group])
        routes = cost_level_search(backend, problems, scorer, config).routes()
        labels += [Label(source, tuple(route), 1) for source, route in zip(group, routes, strict=True) if route]
    return [label for label in labels if is_lesson(settings.recipe.problem, label)]


class Teacher(nn.Module):
    """The losses of a network on lessons: policy (the next node), visit (which nodes later), worth (prize to go)."""

    def __init__(self, network: PolicyNetwork, settings: ExpertSettings):
        super().__init__()
        self.network, self.settings = network, settings

    def forward(self, part: Part) -> tuple[Tensor, Tensor]:
        """The loss to lower, and (3,) its summands without their weights: policy, visit, worth."""
        with precision(part.tokens.nodes.device):
            seen = self.network.look(part.tokens)
        policy = policy_loss(seen, part)
        visit, worth = LOSSES[self.settings.network.goal](seen, part)
        total = policy + self.settings.visit * visit + self.settings.worth * worth
        return total, torch.stack((policy, visit, worth)).detach()


def _step(
    teach: nn.Module,
    parts: list[Part],
    moving: list[torch.optim.Optimizer],
    team: Team,
    most: int,
    recorder: Callable[[Part], Tensor] | None = None,
) -> Tensor:
    """Makes a gradient step on a batch in parts; returns (3,) the losses: policy, visit, worth."""
    losses = []
    if recorder is not None:
        parts = _joined(parts, most)
    if recorder is not None and len(parts) == 1:
        losses.append(recorder(parts[0]).clone())
    else:
        teach.zero_grad(set_to_none=True)
        for number, part in enumerate(parts):
            with team.quiet(teach, last=number == len(parts) - 1):
                loss, split = teach(part)
                torch.autograd.backward(loss * part.share)
            losses.append(split * part.share)
    nn.utils.clip_grad_norm_(teach.parameters(), 1.0)
    for optimizer in moving:
        optimizer.step()
    return torch.stack(losses).sum(0)


def _batches(library: Library, generator: torch.Generator, settings: ExpertSettings) -> list[list[Part]]:
    """The parts of each gradient step of an iteration; lessons of all pools are in every step."""
    drawn = []
    for lessons in library.draw(settings.batch * settings.steps, generator, settings.pieces):
        each = len(lessons.node) // settings.steps
        if each:
            places = torch.arange(each * settings.steps, device=lessons.node.device)
            drawn.append((lessons, places.view(settings.steps, each)))
    if kit_for(generator.device) is not PLAIN:
        whole = _at_once(drawn, settings)
        if whole is not None:
            return [[part] for part in whole]
    steps: list[list[Part]] = [[] for _ in range(settings.steps)]
    for lessons, places in drawn:
        for number, parts in enumerate(in_batches(lessons.states, lessons.reach, places, settings.part)):
            for index, tokens in parts:
                share = len(index) / settings.batch
                steps[number].append(make_part(settings.network.goal, lessons, index, tokens, share))
    return steps


def _at_once(drawn: list[tuple[Lessons, Tensor]], settings: ExpertSettings) -> list[Part] | None:
    """One part for each step, made for all steps together: the host asks the GPU once for sizes.

    None where a step is more than goes through the network at a time, or all steps are more than memory should hold.
    """
    keeps, sizes = [], []
    for lessons, places in drawn:
        keeps.append(relevant(lessons.states, lessons.reach))
        count = keeps[-1].sum(1)[places.flatten()]
        sizes.append(torch.cat((count.amax(0, keepdim=True), count.view_as(places).sum(1))))
    most, *totals = torch.cat((torch.stack(sizes).amax(0)[:1], torch.stack(sizes).sum(0)[1:])).tolist()
    width, states = usual_width(most), sum(places.shape[1] for _, places in drawn)
    cells = states * width**2
    if states > settings.part or cells > MOST_CELLS or settings.steps * cells * BYTES_AT_ONCE > _memory(keeps[0]):
        return None
    parts = []
    for (lessons, places), keep in zip(drawn, keeps, strict=True):
        index = places.flatten()
        tokens = kit_for(keep.device).gather(index, lessons.states, lessons.reach, keep, width, 0)
        parts.append(make_part(settings.network.goal, lessons, index, tokens, len(index) / settings.batch))
    return split_steps(parts, settings.steps, totals)


def _joined(parts: list[Part], most: int) -> list[Part]:
    """The parts joined to one of a usual width, unless that part had more states than `most` or too many cells."""
    states, width = sum(len(part.node) for part in parts), max(part.tokens.node.shape[1] for part in parts)
    usual = usual_width(width)
    if states > most or states * usual**2 > MOST_CELLS or (len(parts) == 1 and width == usual):
        return parts
    return [join_parts(parts, usual)]


def _take_up(network: PolicyNetwork, weights: dict[str, Tensor], path: Path | None) -> None:
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        wish = "give the preset, the settings and the weights to begin with that it was made with"
        raise BadFile(str(path), f"holds a network of another shape; {wish}") from error


def _saved_optimizers(
    saved: dict[str, Any], moving: Sequence[torch.optim.Optimizer], path: Path | None
) -> list[dict[str, Any]]:
    states: list[dict[str, Any]] = saved.get("optimizers", [])
    if [len(one["param_groups"]) for one in states] != [len(one.param_groups) for one in moving]:
        raise BadFile(str(path), "was written by an earlier version, which trained in another way; begin anew")
    return states


def _beginning(settings: ExpertSettings, device: torch.device) -> PolicyNetwork:
    """The network to train, on the device."""
    if not settings.begin:
        return PolicyNetwork(settings.network).to(device)
    model, _ = load_model(settings.begin, device, (settings.method,))
    return cast(PolicyNetwork, model).train()


def _without_folders(settings: ExpertSettings) -> ExpertSettings:
    """The settings as they are kept beside weights: names of files, without folders, which say nothing elsewhere."""
    labels = tuple(Path(path).name for path in settings.labels)
    return replace(settings, labels=labels, begin=Path(settings.begin).name)


def _first_labels(settings: ExpertSettings) -> list[Label]:
    labels = []
    for path in settings.labels:
        found = load_labels(path)
        if not all(is_lesson(settings.recipe.problem, label) for label in found):
            raise BadFile(path, "holds routes that leave nodes out; `orienteer labels --problem tsp` makes tours")
        labels += found
    if not labels:
        raise ValueError(f"there are no labels in {', '.join(map(str, settings.labels))}")
    return labels


def _scorer(settings: ExpertSettings) -> Callable[[Any], Scorer]:
    """The function that makes a score of a network."""
    return lambda network: score_of(network, settings.method)


def _validation(settings: ExpertSettings, count: int, device: torch.device) -> Validation | TourValidation:
    """The validation on all kinds of prizes in the paper's sizes, or on tours of the sizes of the rounds."""
    if settings.recipe.problem == "op":
        return Validation(Recipe(), count, device)
    return TourValidation(settings.recipe.sizes, count, device)


def _memory(where: Tensor) -> int:
    """Bytes of the GPU that holds the tensor `where`; without a GPU, no bound."""
    return torch.cuda.get_device_properties(where.device).total_memory if where.is_cuda else sys.maxsize


def _processes() -> int:
    return max(1, len(os.sched_getaffinity(0)) - 2) if hasattr(os, "sched_getaffinity") else 1
