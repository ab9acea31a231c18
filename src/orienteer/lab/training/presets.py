"""Named settings of each method: the paper's, what we found to work best, and a small one for trying things out."""

from dataclasses import replace
from typing import Any

from orienteer.lab.networks.attention_network import NetworkConfig
from orienteer.lab.networks.decoders import DecoderKind, RouteConfig
from orienteer.lab.training.a2c import A2cSettings
from orienteer.lab.training.dqn import DqnSettings
from orienteer.lab.training.expert import ExpertSettings
from orienteer.lab.training.instances import Recipe
from orienteer.lab.training.labels import LabelRecipe
from orienteer.lab.training.reinforce import ReinforceSettings
from orienteer.network.config import PolicyConfig

WIDE = NetworkConfig(
    hidden=64, heads=8, graph_heads=2, layers=4, head="dueling", rich=True, edge_bias=True, pre_norm=True
)
"""The tuned network: costs in every layer, value and advantage apart."""
SMALL = replace(WIDE, hidden=32, heads=4, layers=2)
PLAIN = Recipe(favour=1.0, asymmetric=0.0, apart=0.0)
"""The paper's instances."""
HARD = LabelRecipe(sizes=(10, 110), costs=("xasy", "tmat"))
"""For the rounds of expert iteration: the costs with which the neighbourhood search is weakest."""
TINY = Recipe(10, 20, (20,), 0.5, asymmetric=0.0)
"""For trying things out."""


def _decoders(decoder: DecoderKind) -> dict[str, ReinforceSettings]:
    return {
        "paper": ReinforceSettings(model=RouteConfig(decoder, shown=False), recipe=PLAIN),
        "tuned": ReinforceSettings(
            model=RouteConfig(decoder, encoder=WIDE),
            recipe=Recipe(asymmetric=0.05),
            batch=512,
            routes=4,
            part=32768,
            learning_rate=1e-3,
            decaying=True,
            entropy=(0.02, 0.0, 0.7),
            grow=(0.2, 0.5),
            challenge=25,
            follow=0.98,
        ),
        "small": ReinforceSettings(
            model=RouteConfig(decoder, encoder=SMALL),
            recipe=TINY,
            batch=32,
            routes=4,
            learning_rate=2e-3,
            decaying=True,
            entropy=(0.02, 0.0, 0.7),
            challenge=10,
            follow=0.9,
        ),
    }


PRESETS: dict[str, dict[str, Any]] = {
    "dqn": {
        "paper": DqnSettings(recipe=PLAIN),
        "tuned": DqnSettings(
            network=WIDE,
            environments=2048,
            steps=10,
            memory=0,
            trace=0.7,
            batch=1024,
            part=1024,
            decaying=True,
            weight_decay=1e-4,
            explore=(0.5, 0.02, 0.33),
            follow=0.99,
        ),
        "small": DqnSettings(
            network=SMALL,
            recipe=TINY,
            environments=64,
            steps=8,
            memory=0,
            trace=0.7,
            batch=128,
            part=128,
            learning_rate=2e-3,
            decaying=True,
            explore=(0.3, 0.02, 0.3),
            follow=0.97,
        ),
    },
    "a2c": {
        "paper": A2cSettings(recipe=PLAIN),
        "tuned": A2cSettings(
            network=WIDE,
            environments=2048,
            steps=10,
            trace=0.9,
            batch=2048,
            part=1024,
            learning_rate=5e-4,
            decaying=True,
            weight_decay=1e-4,
            entropy=(0.03, 0.0, 0.8),
            clip=0.2,
            follow=0.99,
        ),
        "small": A2cSettings(
            network=SMALL,
            recipe=TINY,
            environments=64,
            steps=8,
            batch=128,
            part=128,
            learning_rate=2e-3,
            decaying=True,
            entropy=(0.03, 0.0, 0.8),
            follow=0.97,
        ),
    },
    "expert": {
        "tuned": ExpertSettings(recipe=HARD, rounds=2, fresh=4096, beam=40, part=8192, steps=16, learning_rate=3e-3),
        "laptop": ExpertSettings(network=PolicyConfig(64, layers=3, widen=2), part=8192, steps=16, learning_rate=3e-3),
        "small": ExpertSettings(
            network=PolicyConfig(hidden=32, heads=2, layers=2),
            batch=128,
            part=128,
            steps=4,
            learning_rate=3e-3,
            follow=0.98,
        ),
    },
    "at": _decoders("attention"),
    "pn": _decoders("pointer"),
}


TOURS = LabelRecipe("tsp", (9, 149), (19, 49, 99, 99), 0.6, ("euclidean",) * 6 + ("tmat", "road"))
"""Tours of 20, 50 and 100 nodes, and of other sizes; some of them asymmetric."""


def for_tours(settings: ExpertSettings) -> ExpertSettings:
    """The settings of a preset for orienteering, changed for tours."""
    return replace(settings, network=replace(settings.network, goal="cost"), recipe=TOURS)


def settings_for(method: str, preset: str) -> Any:
    """The settings of a preset; a ValueError names the known ones."""
    if method not in PRESETS:
        raise ValueError(f"method must be one of {', '.join(PRESETS)}, got {method!r}")
    if preset not in PRESETS[method]:
        raise ValueError(f"preset must be one of {', '.join(PRESETS[method])}, got {preset!r}")
    return PRESETS[method][preset]
