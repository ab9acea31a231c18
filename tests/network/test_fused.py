"""The fused kernels against plain tensors: on a GPU, or in Triton's interpreter."""

from dataclasses import fields
from importlib.util import find_spec
from typing import cast

import numpy as np
import pytest
import torch

from gpu import DEVICE, HALF, NATIVE, needs_triton
from network_examples import beginning, moved, seen, shaken, some_instance, wandering
from orienteer.beam.backend.cuda.problems import CostTable
from orienteer.beam.states import States
from orienteer.construct.enumerate import Enumerate
from orienteer.data.generate import COSTS
from orienteer.lab.networks.attention_network import AttentionNetwork, NetworkConfig
from orienteer.lab.training.labels import FIRST_SEED, Label, LabelRecipe, draw_source
from orienteer.lab.training.lessons import Library
from orienteer.network.columns import EDGE_WEIGHTS, FAR
from orienteer.network.config import PolicyConfig
from orienteer.network.edge_attention import Padded
from orienteer.network.features import _gathered, edge_functions, reachable, relevant, take
from orienteer.network.plain import PLAIN
from orienteer.network.policy_network import PolicyLayer, PolicyNetwork

if find_spec("triton") is not None:
    from orienteer.network.cuda.kit import FUSED
    from orienteer.network.cuda.look import TensorLook
    from orienteer.network.cuda.packed import Packed, packed_size

pytestmark = needs_triton
TOLERANCE = {"rtol": 2e-2, "atol": 2e-2} if NATIVE else {"rtol": 5e-3, "atol": 5e-3}  # edges are float16
ROUNDED = {"rtol": 0.05, "atol": 0.1}
TYPES = [torch.float32, HALF]


@pytest.mark.parametrize("dtype", TYPES)
def test_packed_attention_equals_padded_attention_and_so_do_gradients(dtype: torch.dtype) -> None:
    from orienteer.network.cuda.fused_attention import SMALL

    instances = [some_instance(20, 1), some_instance(5, 2), some_instance(40, 3, symmetric=False, end=4)]
    instances += [some_instance(150, 4), some_instance(115, 5, symmetric=False)]
    given = seen(beginning(*instances), dtype=torch.float32)
    sizes = given.present.sum(1)
    assert set((sizes > SMALL).tolist()) == {True, False}  # large ones have a kernel of their own
    assert {bool(alike) for alike, size in zip(given.symmetric, sizes, strict=True) if size > SMALL} == {True, False}
    tolerance = TOLERANCE if dtype == torch.float32 else ROUNDED
    torch.manual_seed(0)
    states, width = given.node.shape
    parts = torch.randn(states, width, 3, 2, 16, requires_grad=True)
    bias = (torch.randn(2, EDGE_WEIGHTS) / 3).requires_grad_()
    packed, padded = Packed(moved(given, DEVICE), dtype), Padded(given, torch.float32)
    one = packed.attend(packed.pack(parts.to(DEVICE)).to(dtype), bias.to(DEVICE)).cpu().float()
    assert (one[given.total :] == 0).all()
    two = packed.pack(padded.attend(parts, bias).flatten(2).to(DEVICE)).cpu().unflatten(1, (2, 16))
    torch.testing.assert_close(one[: given.total], two[: given.total], **tolerance)
    seed = torch.randn_like(one[: given.total])
    for left, right in zip(
        torch.autograd.grad((one[: given.total] * seed).sum(), (parts, bias)),
        torch.autograd.grad((two[: given.total] * seed).sum(), (parts, bias)),
        strict=True,
    ):
        scale = float(right.abs().max())  # sums over many pairs of tokens are large
        torch.testing.assert_close(left / scale, right / scale, **tolerance)


@pytest.mark.parametrize(("tokens", "size", "programs"), [(50, 64, 1000), (70, 128, 2), (7, 48, 1000)])
def test_adding_and_normalising(tokens: int, size: int, programs: int) -> None:
    from orienteer.network.cuda.fused_norm import fused_add_norm

    torch.manual_seed(0)
    stream, more = (torch.randn(tokens, size, device=DEVICE, requires_grad=True) for _ in range(2))
    norm = torch.nn.LayerNorm(size, device=DEVICE)
    torch.nn.init.normal_(norm.weight)
    total, normed = fused_add_norm(stream, more, norm.weight, norm.bias, norm.eps, torch.float32, programs)
    torch.testing.assert_close(total, stream + more)
    torch.testing.assert_close(normed, norm(stream + more), rtol=1e-4, atol=1e-4)
    seeds = torch.randn(2, tokens, size, device=DEVICE)
    asked = (stream, more, norm.weight, norm.bias)
    own = torch.autograd.grad((total * seeds[0] + normed * seeds[1]).sum(), asked)
    plain = torch.autograd.grad(((stream + more) * seeds[0] + norm(stream + more) * seeds[1]).sum(), asked)
    for left, right in zip(own, plain, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("hidden", [64, 128])
def test_layers_at_once_equal_layers_step_by_step(hidden: int, dtype: torch.dtype) -> None:
    instances = [some_instance(16, seed, symmetric=seed > 3, end=seed // 2) for seed in range(6)]
    given = moved(seen(beginning(*instances), dtype=torch.float32), DEVICE)
    network = cast(PolicyNetwork, shaken(PolicyNetwork(PolicyConfig(hidden, 2, 2))).float().to(DEVICE))
    where = Packed(given, dtype)
    assert given.total > 64  # more than one program has
    assert where.fuses(hidden, 4 * hidden)
    network.train()  # weights may change
    torch.manual_seed(0)
    stream = torch.randn(given.total + 3, hidden, device=DEVICE)
    tolerance = TOLERANCE if dtype == torch.float32 else ROUNDED
    for _ in range(2):  # the second time with other weights, changed in a way that torch does not count
        with torch.autocast(DEVICE, dtype, enabled=dtype != torch.float32):
            plain = network._through_layers(stream, where)
            with torch.no_grad():
                fused = network._through_layers(stream, where)
        torch.testing.assert_close(fused[: given.total], plain[: given.total], **tolerance)
        for layer in network.layers:
            cast(PolicyLayer, layer).narrow.weight.data.mul_(-2.0)


def test_rounded_weights_are_kept_only_while_they_stay() -> None:
    from orienteer.network.cuda.fused_layer import _rounded

    weights = torch.nn.Parameter(torch.randn(4, 4, device=DEVICE))
    kept = _rounded(weights, torch.bfloat16, True)
    assert _rounded(weights, torch.bfloat16, True) is kept
    with torch.no_grad():
        weights.mul_(2.0)
    assert torch.equal(_rounded(weights, torch.bfloat16, True), weights.to(torch.bfloat16))
    weights.data.mul_(2.0)  # torch does not count this one
    assert torch.equal(_rounded(weights, torch.bfloat16, False), weights.to(torch.bfloat16))


def test_edges_are_read_scaled_and_cut_off() -> None:
    from orienteer.network.cuda.fused_edges import fused_edges

    generator = torch.Generator().manual_seed(0)
    costs = torch.rand(3, 30, 30, generator=generator)
    matrix, back = torch.tensor([2, 0, 2, 1]), torch.tensor([False, True, True, False])
    count, factor = torch.tensor([30, 7, 19, 2]), torch.tensor([0.5, 20.0, 3.0, 1.0])
    node = torch.stack([torch.randperm(30, generator=generator) for _ in range(4)])
    width = 32
    node = torch.nn.functional.pad(node, (0, width - 30))
    present = torch.arange(width) < count[:, None]
    there = present[:, :, None] & present[:, None, :] & ~torch.eye(width, dtype=torch.bool)
    table = CostTable(costs, matrix, back, torch.ones(4))
    truth = (_gathered(table, node) * factor[:, None, None]).clamp_max(FAR) * there
    near = torch.where(there, truth, FAR).amin(2).clamp_max(1.0) * present
    given = (one.to(DEVICE) for one in (costs, matrix, back, factor, node, count))
    edges, nearest = fused_edges(*given, FAR)
    torch.testing.assert_close(edges.float().cpu(), truth, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(nearest.cpu(), near)


def some_paths() -> States:
    """Paths of three problems, of different lengths."""
    instances = [some_instance(12, 1), some_instance(5, 2), some_instance(17, 3, symmetric=False, end=4)]
    return wandering(*instances, device=DEVICE)


def test_tokens_are_gathered_as_step_by_step() -> None:
    states = some_paths()
    _assert_same_tokens(states, reachable(states, states.problems.cheapest_ways))


def test_tokens_of_lessons_are_gathered_as_step_by_step() -> None:
    recipe = LabelRecipe(sizes=(4, 7), favoured=(), costs=COSTS, apart=0.4)
    sources = [draw_source(recipe, FIRST_SEED + seed, np.random.default_rng(seed)) for seed in range(20)]
    labels = [Label(one, Enumerate().solve(one.instance()).tour.nodes, 1) for one in sources]
    for lessons in Library.build(labels, torch.device(DEVICE)).draw(40, torch.Generator(DEVICE).manual_seed(0), 0.3):
        _assert_same_tokens(lessons.states, lessons.reach)


def _assert_same_tokens(states: States, reach: torch.Tensor) -> None:
    keep = relevant(states, reach)
    index = torch.arange(len(keep), device=DEVICE).flip(0)[: len(keep) // 2 + 1]
    width, total = int(keep.sum(1).max()) + 3, int(keep[index].sum())
    plain, fused = (kit.gather(index, states, reach, keep, width, total) for kit in (PLAIN, FUSED))
    assert fused.total == plain.total
    for field in fields(plain):
        one, other = getattr(plain, field.name), getattr(fused, field.name)
        if field.name == "edges":  # float16
            torch.testing.assert_close(other.float(), one.float(), rtol=1e-3, atol=1e-3)
        elif isinstance(one, torch.Tensor):
            torch.testing.assert_close(other, one)


@pytest.mark.parametrize(
    "config", [PolicyConfig(32, 2, 2), PolicyConfig(48, 3, 1), PolicyConfig(32, 2, 1, goal="cost")]
)
def test_forward_passes_by_kernels_are_those_by_plain_tensors(config: PolicyConfig) -> None:
    """Where attention has a kernel for the sizes of its heads, and where it has none; with different parts."""
    paths = some_paths()
    states = take(paths, torch.arange(0, len(paths), 3, device=DEVICE))
    network = cast(PolicyNetwork, shaken(PolicyNetwork(config)).float().to(DEVICE))
    plain, fused = TensorLook(network, PLAIN, part=7), TensorLook(network, FUSED, part=30)
    for one, other in zip(plain(states), fused(states), strict=True):
        assert torch.equal(one.isinf(), other.isinf())
        torch.testing.assert_close(other, one, **TOLERANCE)
    assert plain.passes == fused.passes == len(states)
    assert torch.equal(plain.reachable(states), fused.reachable(states))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("tokens", "size", "inner"), [(200, 32, 128), (77, 64, 80)])
def test_the_feed_forward_part_and_its_gradients(tokens: int, size: int, inner: int, dtype: torch.dtype) -> None:
    """With small whole numbers, which float32 does not round: near 0 a rounded product may fall on the other side.

    bfloat16 rounds sums on the way out, so that the whole is compared, not every number.
    """
    from orienteer.network.cuda.fused_feed import fused_feed

    generator = torch.Generator().manual_seed(0)
    shapes = ((tokens, size), (inner, size), (size, inner), (tokens, size))
    given, widen, narrow, seed = (
        torch.randint(-2, 3, shape, generator=generator).float().to(DEVICE).requires_grad_() for shape in shapes
    )
    fused, plain = fused_feed(given.to(dtype), widen, narrow).float(), torch.relu(given @ widen.T) @ narrow.T
    asked = (given, widen, narrow)
    own = (fused, *torch.autograd.grad((fused * seed).sum(), asked))
    truth = (plain, *torch.autograd.grad((plain * seed).sum(), asked))
    for left, right in zip(own, truth, strict=True):
        if dtype == torch.float32:
            torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-3)
        assert float((left - right).detach().norm() / right.detach().norm()) < 0.02


def test_numbers_of_packed_tokens_are_round() -> None:
    sizes = {total: packed_size(total) for total in (1, 64, 65, 512, 513, 1024, 1025, 2048, 5000)}
    assert list(sizes.values()) == [64, 64, 128, 512, 1024, 1024, 2048, 2048, 5120]


def test_rows_behind_the_last_state_are_zeros() -> None:
    from orienteer.network.cuda.fused_attention import fused_attention

    given = moved(seen(beginning(some_instance(20, 1), some_instance(90, 2)), dtype=torch.float32), DEVICE)
    where = Packed(given, torch.float32)
    torch.manual_seed(0)
    parts = torch.randn(given.total + 70, 3, 2, 16, device=DEVICE, requires_grad=True)
    bias = torch.randn(2, EDGE_WEIGHTS, device=DEVICE)
    out = fused_attention(parts, where.edges, where.hops, where.alike, where.first, where.few, bias)
    (grad,) = torch.autograd.grad(out.sum(), parts)
    for table in (out, grad):
        assert not table[given.total :].any()
        assert table[: given.total].flatten(1).any(1).all()


def test_what_heads_read_and_its_gradients() -> None:
    given = seen(beginning(some_instance(20, 1), some_instance(1, 2), some_instance(40, 3)), dtype=torch.float32)
    here, there = Padded(given, torch.float32), Packed(moved(given, DEVICE), torch.float32)
    generator = torch.Generator().manual_seed(0)
    states, width = given.node.shape
    hidden = torch.randn(states, width, 32, generator=generator, requires_grad=True)
    query = torch.randn(states, 32, generator=generator, requires_grad=True)
    seeds = (
        torch.randn(states, width, generator=generator) * given.present,
        torch.randn(states, 32, generator=generator),
    )
    found = []
    for where, device in ((here, "cpu"), (there, DEVICE)):
        pointer, mean = where.read(where.pack(hidden.to(device)), query.to(device))
        pointer = where.unpack(pointer) * given.present.to(device)
        total = (pointer * seeds[0].to(device)).sum() + (mean * seeds[1].to(device)).sum()
        found.append((pointer.cpu(), mean.cpu(), *torch.autograd.grad(total, (hidden, query))))
    for left, right in zip(*found, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-4)


def test_the_papers_layers_packed_and_padded() -> None:
    """Heads of eight values are narrower than a kernel's blocks."""
    config = NetworkConfig(64, 8, 2, 2, "dueling", rich=True, edge_bias=True, pre_norm=True)
    encoder = cast(AttentionNetwork, shaken(AttentionNetwork(config)).float()).encoder
    instances = [some_instance(20, 1), some_instance(1, 2), some_instance(40, 3, symmetric=False, end=4)]
    given = seen(beginning(*instances), dtype=torch.float32)
    there = given.present[:, :, None]
    torch.manual_seed(0)
    hidden = torch.randn(*given.node.shape, config.hidden)
    with torch.no_grad():
        padded, functions = hidden, edge_functions(given, torch.float32)
        for layer in encoder.layers:
            padded = layer(padded, functions)
        padded = encoder.final(padded)
        where = Packed(moved(given, DEVICE), torch.float32)
        packed = encoder.to(DEVICE)._through_packed(hidden.to(DEVICE), where).cpu()
    torch.testing.assert_close(packed * there, padded * there, **TOLERANCE)
