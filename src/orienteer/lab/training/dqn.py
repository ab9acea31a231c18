"""Double Q-learning for the attention network, from the first random route to the weights file.

Two ways to learn from what the environments show. The paper's: transitions go into a replay memory, and batches drawn
from it move q(s, v) towards r + q'(s', argmax q(s', .)), where q' is a copy of the network that follows now and then.
The tuned one: no memory; every roll-out is learned from once, towards lambda returns whose bootstraps are the same
double estimate, where q' is a running average of the weights.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.beam.states import States
from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.networks.models import Model
from orienteer.lab.networks.scorers import score_of
from orienteer.lab.training.distributed import Team, compiled
from orienteer.lab.training.environment import Environment
from orienteer.lab.training.instances import Recipe
from orienteer.lab.training.replay import Replay
from orienteer.lab.training.schedule import cosine, linear
from orienteer.lab.training.session import Options, Session
from orienteer.lab.training.validation import Validation
from orienteer.network.batching import evaluate, in_batches, join, precision
from orienteer.network.features import reachable, take


@dataclass(frozen=True)
class DqnSettings:
    """What is trained and how; the defaults are the paper's, and ours where it is silent."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    recipe: Recipe = field(default_factory=Recipe)
    environments: int = 32
    """Routes under construction at a time, in each process."""
    steps: int = 4
    """Steps of every environment in an iteration."""
    memory: int = 1024
    """Transitions in the replay memory; 0 to learn once from every roll-out by lambda returns."""
    trace: float = 0.0
    """Lambda: the weight of what really followed against what the network expected."""
    batch: int = 128
    """Transitions in a gradient step."""
    part: int = 128
    """States that go through the network at a time."""
    learning_rate: float = 1e-3
    decaying: bool = False
    """Whether the learning rate falls to zero along a cosine."""
    weight_decay: float = 0.0
    explore: tuple[float, float, float] = (1.0, 0.05, 0.5)
    """Chance of a random node at first and later, and the share of the run after which it is later."""
    follow: float = 0.0
    """How much of the target network stays at each gradient step; 0 to copy it now and then."""
    copy_every: int = 100
    """Iterations between copies of the network to its target."""
    iterations: int = 20_000

    def __post_init__(self) -> None:
        for name in ("environments", "steps", "batch", "part", "copy_every", "iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"DqnSettings.{name} must be at least 1, got {getattr(self, name)}")
        if not self.memory and self.environments * self.steps < self.batch:
            raise ValueError(
                f"DqnSettings.batch must be at most environments * steps = {self.environments * self.steps}, "
                f"got {self.batch}"
            )


def train(settings: DqnSettings, options: Options, preset: str = "own") -> Session:
    """Trains, leaves weights, checkpoint and log in `options.out`, and returns the finished session."""
    team = Team(options.device)
    device = team.device
    torch.manual_seed(options.seed)
    network = AttentionNetwork(settings.network).to(device)
    target = copy.deepcopy(network).requires_grad_(False)
    if options.compiled:
        compiled(network.encoder, target.encoder)
    shared = team.wrap(network)
    optimizer = torch.optim.AdamW(
        network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay, fused=device.type == "cuda"
    )
    generator = torch.Generator(device).manual_seed(options.seed + 1 + team.rank)
    world = Environment(settings.recipe, settings.environments, generator)
    memory = Replay(settings.memory) if settings.memory else None
    validation = Validation(settings.recipe, options.validation, device)
    session = Session("dqn", preset, options, settings, team, validation, lambda model: score_of(model, "dqn"))
    best: Model = target if settings.follow else network  # the average is the better policy

    def content() -> dict[str, Any]:
        saved = {
            "network": network.state_dict(),
            "target": target.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
        }
        if device.type == "cpu":  # where a resumed run is to equal an unbroken one
            saved |= {"world": world.state_dict(), "memory": memory.state_dict() if memory else None}
        return saved

    with session:
        saved = session.resume()
        if saved is not None:
            network.load_state_dict(saved["network"])
            target.load_state_dict(saved["target"])
            optimizer.load_state_dict(saved["optimizer"])
            if "world" in saved:
                world.load_state_dict(saved["world"])
                generator.set_state(saved["generator"].cpu())
                if memory is not None:
                    memory.load_state_dict(saved["memory"])

        passed = session.fraction()
        while passed < 1:
            epsilon = linear(passed, *settings.explore)
            rate = settings.learning_rate * (cosine(passed) if settings.decaying else 1.0)
            for group in optimizer.param_groups:
                group["lr"] = rate
            if memory is not None:
                _remember(world, network, memory, epsilon, settings)
                loss = _replay(shared, target, memory, optimizer, generator, settings, team)
                if not settings.follow and session.iteration % settings.copy_every == 0:
                    target.load_state_dict(network.state_dict())
            else:
                roll_out = _roll_out(world, network, target, epsilon, settings)
                loss = _learn_once(shared, network, target, world, roll_out, optimizer, settings, team)
            world.refresh()
            passed = session.tick(settings.environments * settings.steps, {"loss": loss}, best, content)
    team.part()
    return session


def double_target(reward: Tensor, done: Tensor, online: Tensor, target: Tensor) -> Tensor:
    """r + q'(s', argmax_v q(s', v)), and r alone at the end; (state, node) values of s' are -inf where v may not be."""
    choice = online.argmax(1, keepdim=True)
    future = target.gather(1, choice)[:, 0]
    return reward + torch.where(done | future.isinf(), 0.0, future)


def lambda_returns(reward: Tensor, done: Tensor, expected: Tensor, trace: float) -> Tensor:
    """(step, state) G_t = r_t + (1 - lambda) e(s_t+1) + lambda G_t+1, where e and G are 0 beyond a route's end.

    `reward` and `done` are (step, state); `expected` is (step + 1, state), the estimate of every state and of the last.
    """
    returns = torch.empty_like(reward)
    following = expected[-1]
    for step in range(len(reward) - 1, -1, -1):
        mixed = (1 - trace) * expected[step + 1] + trace * following
        following = returns[step] = reward[step] + torch.where(done[step], 0.0, mixed)
    return returns


def choose(action: Tensor, epsilon: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The best node of each row of (state, node) action values, sometimes a random one, and which rows have none."""
    feasible = ~action.isinf()
    shape = action.shape
    noise = torch.rand(shape, generator=generator, device=action.device)
    wild = torch.rand(shape[0], generator=generator, device=action.device) < epsilon
    node = torch.where(wild[:, None] & feasible, noise, torch.where(wild[:, None], -torch.inf, action)).argmax(1)
    return node, ~feasible.any(1)


@torch.no_grad()
def follow(target: nn.Module, network: nn.Module, keep: float) -> None:
    """Moves the target's weights a little towards the network's."""
    torch._foreach_lerp_(list(target.parameters()), list(network.parameters()), 1 - keep)


@dataclass(frozen=True)
class RollOut:
    """The result of a roll-out: several steps of all environments."""

    states: States  # (step * environment,)
    node: Tensor  # (step * environment,)
    returns: Tensor  # (step * environment,)
    weight: Tensor  # (step * environment,) 0 where there was nothing to choose


def _roll_out(
    world: Environment, network: nn.Module, target: nn.Module, epsilon: float, settings: DqnSettings
) -> RollOut:
    """Acts for several steps and computes the return of every choice."""
    states, nodes, rewards, ends, stucks, expected = [], [], [], [], [], []
    for step in range(settings.steps + 1):
        (action, _), (other, _) = evaluate([network, target], world.states, world.ways, settings.part)
        zero = torch.zeros(len(action), device=action.device)
        expected.append(double_target(zero, zero.bool(), action, other))
        if step == settings.steps:
            break
        node, stuck = choose(action, epsilon, world.generator)
        states.append(world.states)
        reward, done, _ = world.step(node, stuck)
        nodes.append(node)
        rewards.append(reward)
        ends.append(done)
        stucks.append(stuck)
    returns = lambda_returns(torch.stack(rewards), torch.stack(ends), torch.stack(expected), settings.trace)
    return RollOut(join(states), torch.cat(nodes), returns.flatten(), (~torch.cat(stucks)).float())


def _learn_once(
    shared: nn.Module,
    network: nn.Module,
    target: nn.Module,
    world: Environment,
    seen: RollOut,
    optimizer: torch.optim.Optimizer,
    settings: DqnSettings,
    team: Team,
) -> Tensor:
    """One pass over a roll-out in shuffled batches; the mean loss."""
    total = len(seen.node)
    order = torch.randperm(total, generator=world.generator, device=seen.node.device)
    batches = order[: total // settings.batch * settings.batch].view(-1, settings.batch)
    losses = []
    reach = reachable(seen.states, world.ways)
    for places, parts in zip(batches, in_batches(seen.states, reach, batches, settings.part), strict=True):
        weights = seen.weight[places].sum().clamp_min(1)
        losses.append(_step(shared, list(parts), seen.node, seen.returns, seen.weight / weights, optimizer, team))
        if settings.follow:
            follow(target, network, settings.follow)
    return torch.stack(losses).mean()


def _remember(world: Environment, network: nn.Module, memory: Replay, epsilon: float, settings: DqnSettings) -> None:
    """Acts for several steps and stores the transitions."""
    for _ in range(settings.steps):
        before = world.states
        action = evaluate([network], before, world.ways, settings.part)[0][0]
        node, stuck = choose(action, epsilon, world.generator)
        reward, done, after = world.step(node, stuck)
        real = (~stuck).nonzero()[:, 0]
        memory.push(take(before, real), node[real], reward[real], done[real], take(after, real), world.ways)


def _replay(
    shared: nn.Module,
    target: nn.Module,
    memory: Replay,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
    settings: DqnSettings,
    team: Team,
) -> Tensor:
    """A gradient step on a batch drawn from memory; its loss."""
    before, node, reward, done, after, ways = memory.sample(settings.batch, generator)
    network = shared.module if isinstance(shared, nn.parallel.DistributedDataParallel) else shared
    (online, _), (other, _) = evaluate([network, target], after, ways, settings.part)
    goal = double_target(reward, done, online, other)
    places = torch.arange(settings.batch, device=node.device)[None]
    weight = torch.full_like(reward, 1 / settings.batch)
    parts = list(next(in_batches(before, reachable(before, ways), places, settings.part)))
    return _step(shared, parts, node, goal, weight, optimizer, team)


def _step(
    shared: nn.Module,
    parts: list[Any],
    node: Tensor,
    goal: Tensor,
    weight: Tensor,
    optimizer: torch.optim.Optimizer,
    team: Team,
) -> Tensor:
    """One gradient step on a batch that comes in parts; the loss is measured in mean prizes."""
    optimizer.zero_grad(set_to_none=True)
    losses = []
    for number, (index, given) in enumerate(parts):
        with team.quiet(shared, last=number == len(parts) - 1):
            with precision(node.device):
                action = shared(given).action
            taken = given.choice & (given.node == node[index][:, None])
            guess = (action * taken).sum(1) / given.unit
            errors = functional.smooth_l1_loss(guess, goal[index] / given.unit, reduction="none")
            loss = (errors * weight[index]).sum()
            torch.autograd.backward(loss)
        losses.append(loss.detach())
    nn.utils.clip_grad_norm_(shared.parameters(), 1.0)
    optimizer.step()
    return torch.stack(losses).sum()
