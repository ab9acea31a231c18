"""`orienteer plot`: a picture of a problem or a plan, a timetable, or a film of a search."""

from collections.abc import Sequence
from typing import Any

import click

from orienteer.cli.options import (
    READING,
    SEARCH,
    check_writable,
    configured,
    other_files,
    read_problem,
    read_problem_of,
    stop_of,
    with_options,
)
from orienteer.cli.progress import Bar
from orienteer.model.errors import OrienteerError
from orienteer.model.instance import Instance
from orienteer.model.levels import Reading
from orienteer.search import front
from orienteer.search.solver import AnySolver, ShowsLevels
from orienteer.search.stop import MaxSteps, Progress, Stop

STEPS = 20_000
"""Steps of an animated search, unless the user sets an end: the same film on every machine."""


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("tourfile", type=click.Path(), required=False, metavar="[TOURFILE]")
@with_options(*READING)
@click.option("--out", type=click.Path(), metavar="PNG|SVG", help="The map, with the route if there is one (also PDF).")
@click.option("--timetable", type=click.Path(), metavar="PNG|SVG", help="The timetable of the plan in TOURFILE.")
@click.option("--animate", type=click.Path(), metavar="GIF|MP4", help="A film: how a search improves its route.")
@click.option("--levels", is_flag=True, help="With --animate: how cost levels fill, of cs-p or cs-l.  [default: cs-p]")
@click.option("--title", metavar="TEXT", help="A line above prize and cost.")
@with_options(*SEARCH)
def plot(
    file: str,
    tourfile: str | None,
    out: str | None,
    timetable: str | None,
    animate: str | None,
    levels: bool,
    title: str | None,
    solver: str,
    seconds: float | None,
    steps: int | None,
    seed: int,
    device: str,
    beam: int | None,
    tau: float | None,
    weights: str | None,
    score: str | None,
    more: Sequence[str],
    **how: Any,
) -> None:
    """Draw a problem, and a route if there is one; its timetable; or a film of a search.

    The JSON of `solve` knows its limit, start and end; they need not be given again. The options of a search are for
    --animate, which searches anew: for 20,000 steps unless --seconds or --steps say otherwise.
    """
    _check_wishes(file, tourfile, out, timetable, animate, levels, how)
    if animate is not None:
        if levels:
            solver, device = "cs-p" if solver == "auto" else solver, "cpu"
        named = {"beam": beam, "tau": tau, "weights": weights, "score": score}
        made, _ = configured(solver, device, named, more)
        problem = read_problem(file, how, solver)
        stop = stop_of(seconds, steps) or MaxSteps(STEPS)
        (_film_levels if levels else _film_routes)(problem, made, stop, seed, animate, title)
        return
    from orienteer.data.files import read_plan
    from orienteer.plot import save_picture, save_timetable

    if tourfile is None:
        save_picture(read_problem(file, how), str(out), title=title)
        return
    instance = read_problem_of(file, tourfile, how)
    plan = read_plan(tourfile, instance, how["index"] or 0)
    if out is not None:
        save_picture(instance, out, plan, title)
    if timetable is not None:
        save_timetable(instance, timetable, plan, title)


def _check_wishes(
    file: str,
    tourfile: str | None,
    out: str | None,
    timetable: str | None,
    animate: str | None,
    levels: bool,
    how: dict[str, Any],
) -> None:
    """Nothing, or an error before anything slow: options that do not go together, files that cannot be written."""
    from orienteer.plot import check_animation, check_picture

    if out is None and timetable is None and animate is None:
        raise ValueError("--out, --timetable or --animate must say where the picture goes")
    if timetable is not None and tourfile is None:
        raise ValueError("--timetable needs a TOURFILE, the plan that it shows")
    if animate is not None and (out, timetable, tourfile) != (None, None, None):
        raise ValueError("--animate searches anew: it goes with no TOURFILE, no --out and no --timetable")
    if levels and animate is None:
        raise ValueError("--levels goes with --animate")
    pictures = [path for path in (out, timetable) if path is not None]
    for place, path in enumerate(pictures):
        check_writable(path, file, tourfile, *other_files(how), *pictures[:place])
        check_picture(path)
    if animate is not None:
        check_writable(animate, file, *other_files(how))
        check_animation(animate)


def _film_routes(problem: Instance, solver: AnySolver, stop: Stop, seed: int, path: str, title: str | None) -> None:
    """How the plan of a search improves."""
    from orienteer.plot import animate

    better: list[Progress] = []
    with Bar() as bar:

        def listen(now: Progress) -> None:
            if now.plan is not None and (not better or now.plan != better[-1].plan):
                better.append(now)
            bar.search(now)

        result = front.solve(problem, solver, stop, seed, on_progress=listen)
    if result.plan is None:
        raise OrienteerError(f"there is nothing to show: {result.status}")
    listen(Progress(result.seconds, result.steps, 0, result.prize, plan=result.plan))
    animate(problem, better, path, title)


def _film_levels(problem: Instance, solver: AnySolver, stop: Stop, seed: int, path: str, title: str | None) -> None:
    """How the queues of a cost-level search fill."""
    from orienteer.plot import animate_levels

    if not isinstance(solver, ShowsLevels):
        raise ValueError(f"--levels shows the cost levels of cs-p or cs-l; {solver.name} has none")
    readings: list[Reading] = []
    solver.on_reading = readings.append
    with Bar() as bar:
        result = front.solve(problem, solver, stop, seed, on_progress=bar.search)
    animate_levels(problem, readings, path, result.found, title)
