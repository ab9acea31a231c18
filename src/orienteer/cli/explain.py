"""`orienteer explain`: why a place is not in a plan, and what the plan would be worth with it."""

import json
import re
from collections.abc import Sequence
from typing import Any

import click

from orienteer.cli.options import READING, SEED, problem_and_avoided, stop_of, with_options
from orienteer.cli.table import layout
from orienteer.model.contradictions import called
from orienteer.model.explain import Explanation, closest, explain
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan, check_plan
from orienteer.model.show import place_name, printable, route_name
from orienteer.search.explain import Worth, worth_with

MOST = 10
"""How many places are listed."""


@click.command("explain")
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("tourfile", type=click.Path(), metavar="ROUTE")
@click.argument("places", nargs=-1, metavar="[PLACE]...")
@with_options(*READING)
@click.option("--seconds", type=float, metavar="S", help="Time limit for the search with a place.")
@click.option("--steps", type=int, metavar="N", help="Step limit for the search with a place.  [default: 20000]")
@click.option("--seed", type=SEED, default=0, metavar="N", help="For the random choices.  [default: 0]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list and nothing else.")
def why_not(
    file: str,
    tourfile: str,
    places: Sequence[str],
    seconds: float | None,
    steps: int | None,
    seed: int,
    as_json: bool,
    **how: Any,
) -> None:
    """Why is a place not in a plan?

    For each PLACE, by number from 0 or by name: where it comes closest to fitting into the plan in ROUTE, what stops
    it there and by how much, and what a short search finds with the place required. Without places, the ten that came
    closest; those that are avoided do not count. Other stops stay where they are, and the plan must keep the rules of
    the problem in FILE: options of `solve` that changed the problem, such as --routes and --avoid, are given again.
    """
    from orienteer.data.files import read_plan

    instance, avoided = problem_and_avoided(file, tourfile, how)
    plan = check_plan(instance, read_plan(tourfile, instance, how["index"] or 0))
    if not places:
        found = [one for one in closest(instance, plan, MOST + len(avoided)) if one.node not in avoided][:MOST]
        click.echo(json.dumps([one.to_dict() for one in found]) if as_json else _table(instance, found))
        return
    stop = stop_of(seconds, steps)
    nodes = [instance.find("PLACE", _node(place)) for place in places]
    for node in nodes:
        if node in avoided:
            raise ValueError(f"{called(instance, node)} is not in the plan since it is avoided, by the file or --avoid")
    reasons = [explain(instance, plan, node) for node in nodes]  # all, before any search
    answers = [(one, worth_with(instance, plan, one.node, stop, seed)) for one in reasons]
    if as_json:
        click.echo(json.dumps([one.to_dict() | {"required": worth.to_dict()} for one, worth in answers]))
    else:
        click.echo("\n\n".join(_words(instance, plan, one, worth) for one, worth in answers))


def _node(text: str) -> int | str:
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else text


def _words(instance: Instance, plan: Plan, one: Explanation, worth: Worth) -> str:
    """Some lines on a place: where it comes closest to fitting, what stops it, and what the plan is worth with it."""
    lines = [
        f"{place_name(instance, one.node)}, prize {one.prize:.6g}",
        f"  closest {_where(instance, one)}: detour {one.detour:.6g}, slack {one.slack:.6g}",
        *(f"  stopped: {broken.words}" for broken in one.broken),
    ]
    if one.fits:
        lines.append("  nothing stops it: the plan with the place keeps all rules")
    return "\n".join([*lines, f"  required: {_worth(plan, worth)}"])


def _worth(plan: Plan, worth: Worth) -> str:
    if worth.plan is None:
        return f"no plan ({worth.why})"
    found = f"the best plan found collects {worth.plan.prize:.6g}"
    if not worth.change:
        return f"{found}, as much as this plan"
    return f"{found}, {abs(worth.change):.6g} {'more' if worth.change > 0 else 'less'} than this plan"


def _table(instance: Instance, found: Sequence[Explanation]) -> str:
    """A line for each place, the closest first."""
    if not found:
        return "every place with a prize is in the plan"
    heads = ("place", "prize", "detour", "slack", "stopped by", "too much", "closest")
    rows = [
        (
            place_name(instance, one.node),
            f"{one.prize:.6g}",
            f"{one.detour:.4g}",
            f"{one.slack:.4g}",
            _stopper(instance, one),
            _too_much(instance, one),
            _where(instance, one),
        )
        for one in found
    ]
    return layout(heads, rows, left=(0, 4, 6))


def _stopper(instance: Instance, one: Explanation) -> str:
    """What stops a place, in some words: of a window also whose, where that is another place; of a budget its name."""
    if one.stopper is None:
        return one.reason
    if one.stopper.budget is not None:
        return f"budget {printable(one.stopper.budget)}"
    closed = one.stopper.node
    return one.reason if closed in (None, one.node) else f"window of {place_name(instance, closed)}"


def _too_much(instance: Instance, one: Explanation) -> str:
    """By how much the rule that stops a place is exceeded, times with their unit; empty where nothing is counted."""
    if one.reason in ("nothing", "way", "group"):
        return ""
    unit = instance.clock if one.reason in ("limit", "window") else None
    return f"{one.excess:.4g} {unit}" if unit else f"{one.excess:.4g}"


def _where(instance: Instance, one: Explanation) -> str:
    before = place_name(instance, one.before)
    stops = f"after {before}" if one.after is None else f"between {before} and {place_name(instance, one.after)}"
    return f"{stops} on {route_name(instance, one.route)}" if len(instance.each_route) > 1 else stops
