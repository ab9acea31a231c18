"""Advantage actor-critic on the attention network (AN-a2c): one body, logits of the next node and the value to go.

Every roll-out is learned from once: the actor along its generalised advantages (Schulman et al. 2016), the critic
towards the lambda returns, an entropy bonus against settling too early. Where a roll-out feeds several gradient steps,
`clip` keeps the actor near the policy that acted (Schulman et al. 2017); without it such training collapses.
"""

import copy
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.beam.states import States
from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.networks.models import Model
from orienteer.lab.networks.scorers import score_of
from orienteer.lab.training.distributed import Team, compiled
from orienteer.lab.training.dqn import follow, lambda_returns
from orienteer.lab.training.environment import Environment
from orienteer.lab.training.instances import Recipe
from orienteer.lab.training.schedule import cosine, linear
from orienteer.lab.training.session import Options, Session
from orienteer.lab.training.validation import Validation
from orienteer.network.batching import evaluate, in_batches, join, precision
from orienteer.network.features import reachable


@dataclass(frozen=True)
class A2cSettings:
    """What is trained and how."""

    network: NetworkConfig = field(default_factory=lambda: NetworkConfig(head="actor-critic"))
    recipe: Recipe = field(default_factory=Recipe)
    environments: int = 64
    """Routes under construction at a time, in each process."""
    steps: int = 5
    """Steps of every environment in an iteration."""
    trace: float = 0.9
    """Lambda of the returns and of the advantages."""
    batch: int = 320
    """States in a gradient step."""
    part: int = 320
    """States that go through the network at a time."""
    learning_rate: float = 1e-3
    decaying: bool = False
    """Whether the learning rate falls to zero along a cosine."""
    weight_decay: float = 0.0
    entropy: tuple[float, float, float] = (0.02, 0.0, 1.0)
    """Weight of the entropy at first and later, and the share of the run after which it is later."""
    critic: float = 0.5
    """Weight of the critic's loss."""
    clip: float = 0.0
    """How far the chance of a choice may move, as a share of the old chance, before it stops to count; 0: no bound."""
    follow: float = 0.0
    """Share of the running average of the weights that stays at each step; 0 for no average."""
    iterations: int = 20_000

    def __post_init__(self) -> None:
        if self.network.head != "actor-critic":
            object.__setattr__(self, "network", replace(self.network, head="actor-critic"))
        for name in ("environments", "steps", "batch", "part", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"A2cSettings.{name} must be at least 1, got {getattr(self, name)}")
        if self.environments * self.steps < self.batch:
            raise ValueError(
                f"A2cSettings.batch must be at most environments * steps = {self.environments * self.steps}, "
                f"got {self.batch}"
            )


def train(settings: A2cSettings, options: Options, preset: str = "own") -> Session:
    """Trains, leaves weights, checkpoint and log in `options.out`, and returns the finished session."""
    team = Team(options.device)
    device = team.device
    torch.manual_seed(options.seed)
    network = AttentionNetwork(settings.network).to(device)
    average = copy.deepcopy(network).requires_grad_(False)
    if options.compiled:
        compiled(network.encoder)
    shared = team.wrap(network)
    optimizer = torch.optim.AdamW(
        network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay, fused=device.type == "cuda"
    )
    generator = torch.Generator(device).manual_seed(options.seed + 1 + team.rank)
    world = Environment(settings.recipe, settings.environments, generator)
    validation = Validation(settings.recipe, options.validation, device)
    session = Session("a2c", preset, options, settings, team, validation, lambda model: score_of(model, "a2c"))
    best: Model = average if settings.follow else network

    def content() -> dict[str, Any]:
        saved = {
            "network": network.state_dict(),
            "average": average.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
        }
        if device.type == "cpu":  # where a resumed run is to equal an unbroken one
            saved["world"] = world.state_dict()
        return saved

    with session:
        saved = session.resume()
        if saved is not None:
            network.load_state_dict(saved["network"])
            average.load_state_dict(saved["average"])
            optimizer.load_state_dict(saved["optimizer"])
            if "world" in saved:
                world.load_state_dict(saved["world"])
                generator.set_state(saved["generator"].cpu())

        passed = session.fraction()
        while passed < 1:
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * (cosine(passed) if settings.decaying else 1.0)
            entropy = linear(passed, *settings.entropy)
            seen = _roll_out(world, network, settings)
            total = len(seen.node)
            order = torch.randperm(total, generator=generator, device=device)
            batches = order[: total // settings.batch * settings.batch].view(-1, settings.batch)
            losses = []
            reach = reachable(seen.states, world.ways)
            for places, parts in zip(batches, in_batches(seen.states, reach, batches, settings.part), strict=True):
                weight = seen.weight / seen.weight[places].sum().clamp_min(1)
                losses.append(_step(shared, list(parts), seen, weight, entropy, optimizer, settings, team))
                if settings.follow:
                    follow(average, network, settings.follow)
            actor, critic = torch.stack(losses).mean(0)
            world.refresh()
            counted = settings.environments * settings.steps
            passed = session.tick(counted, {"actor": actor, "critic": critic}, best, content)
    team.part()
    return session


@dataclass(frozen=True)
class RollOut:
    """The result of a roll-out: several steps of all environments."""

    states: States  # (step * environment,)
    node: Tensor  # (step * environment,)
    advantage: Tensor  # (step * environment,) in prize
    returns: Tensor  # (step * environment,) in prize
    log_chance: Tensor  # (step * environment,) of the choice under the policy that made it
    weight: Tensor  # (step * environment,) 0 where there was nothing to choose


def _roll_out(world: Environment, network: nn.Module, settings: A2cSettings) -> RollOut:
    """Acts by the actor for several steps and computes the advantage of each choice over the critic's value."""
    states, nodes, rewards, ends, stucks, values, chances = [], [], [], [], [], [], []
    for step in range(settings.steps + 1):
        logits, value = evaluate([network], world.states, world.ways, settings.part)[0]
        stuck = logits.isinf().all(1)
        values.append(torch.where(stuck, 0.0, value))
        if step == settings.steps:
            break
        node = draw_node(logits, world.generator)
        chances.append(torch.log_softmax(logits, dim=1).gather(1, node[:, None])[:, 0])
        states.append(world.states)
        reward, done, _ = world.step(node, stuck)
        nodes.append(node)
        rewards.append(reward)
        ends.append(done)
        stucks.append(stuck)
    expected = torch.stack(values)
    returns = lambda_returns(torch.stack(rewards), torch.stack(ends), expected, settings.trace)
    advantage = returns - expected[:-1]
    weight = (~torch.cat(stucks)).float()
    log_chance = torch.cat(chances).nan_to_num(0.0)  # nothing to choose, nothing to weigh
    return RollOut(join(states), torch.cat(nodes), advantage.flatten(), returns.flatten(), log_chance, weight)


def draw_node(logits: Tensor, generator: torch.Generator) -> Tensor:
    """(state,) a node drawn from the softmax of (state, node) logits (by the Gumbel trick)."""
    noise = torch.empty_like(logits).exponential_(generator=generator).clamp_min_(1e-30)
    return (logits - noise.log()).argmax(1)


def actor_gain(now: Tensor, then: Tensor, advantage: Tensor, clip: float) -> Tensor:
    """(state,) what the actor is to raise: advantage * log pi, or the clipped ratio of chances now and then."""
    if not clip:
        return advantage * now
    ratio = (now - then).clamp(-20, 20).exp()
    return torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


def _step(
    shared: nn.Module,
    parts: list[Any],
    seen: RollOut,
    weight: Tensor,
    entropy: float,
    optimizer: torch.optim.Optimizer,
    settings: A2cSettings,
    team: Team,
) -> Tensor:
    """One gradient step on a batch that comes in parts; the actor's and the critic's losses."""
    optimizer.zero_grad(set_to_none=True)
    losses = []
    for number, (index, given) in enumerate(parts):
        with team.quiet(shared, last=number == len(parts) - 1):
            with precision(seen.node.device):
                estimate = shared(given)
            log_chance = torch.log_softmax(estimate.action.masked_fill(~given.choice, -1e9), dim=1)
            taken = given.choice & (given.node == seen.node[index][:, None])
            spread = -(log_chance.exp() * log_chance * given.choice).sum(1)
            advantage = (seen.advantage[index] / given.unit).clamp(-5, 5)
            gain = actor_gain((log_chance * taken).sum(1), seen.log_chance[index], advantage, settings.clip)
            errors = functional.smooth_l1_loss(
                estimate.value / given.unit, seen.returns[index] / given.unit, reduction="none"
            )
            share = weight[index]
            actor = -(share * (gain + entropy * spread)).sum()
            critic = (share * errors).sum()
            torch.autograd.backward(actor + settings.critic * critic)
        losses.append(torch.stack((actor.detach(), critic.detach())))
    nn.utils.clip_grad_norm_(shared.parameters(), 1.0)
    optimizer.step()
    return torch.stack(losses).sum(0)
