"""What several commands share: options, checks of files to be written, a solver made of the options."""

import contextlib
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from orienteer.model.errors import BadFile
from orienteer.model.instance import Instance
from orienteer.model.result import Result
from orienteer.model.show import printable
from orienteer.search.registry import REGISTRY, make_solver, solver_class
from orienteer.search.settings import field_types, read_settings
from orienteer.search.solver import AnySolver
from orienteer.search.stop import Stop, at_most

if TYPE_CHECKING:
    from orienteer.data.fields import Fields

Command = TypeVar("Command", bound=Callable[..., Any])

DEVICE = click.Choice(("auto", "cpu", "cuda"))
SCORE = click.Choice(("parent", "child"))
SEED = PLACE = click.IntRange(min=0)


def known_solver(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """The name of a solver, or, before anything slow happens, an error that lists the known names."""
    if ":" in name:
        look_here()
        solver_class(name)
    elif name not in REGISTRY:
        raise ValueError(f"--solver must be one of {', '.join(REGISTRY)}, or MODULE:CLASS, got {name!r}")
    return name


def look_here() -> None:
    """Lets modules of the current folder be imported, as `python -m` does but an installed command does not."""
    here = os.getcwd()
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)


SEARCH = (
    click.option(
        "--solver",
        default="auto",
        metavar="NAME|MODULE:CLASS",
        callback=known_solver,
        help="Method, or the class of your own.  [default: auto]",
    ),
    click.option("--seconds", type=float, metavar="S", help="Time limit for an instance."),
    click.option("--steps", type=int, metavar="N", help="Step limit: same seed, same result."),
    click.option("--seed", type=SEED, default=0, metavar="N", help="For the random choices.  [default: 0]"),
    click.option("--device", type=DEVICE, default="auto", help="For solvers that can use a GPU.  [default: auto]"),
    click.option("--beam", type=int, metavar="K", help="Beam width (the cs- and -beam solvers)."),
    click.option("--tau", type=float, metavar="F", help="Width of a cost level (cs-p, cs-l)."),
    click.option("--weights", metavar="NAME|FILE", help="Weights of a learned solver, instead of its own."),
    click.option("--score", type=SCORE, help="Whose look ranks a path (cs-p, cs-l).  [default: parent]"),
    click.option(
        "--set", "more", multiple=True, metavar="KEY=VALUE", help="Any setting of the solver; may be repeated."
    ),
)
"""The options of a search: the solver, when to stop, seed, device, settings of the solver."""


def routes_of(context: click.Context, parameter: click.Parameter, text: str | None) -> int | str | None:
    """The number of routes that a text spells, or the text, which then is the path of a table."""
    return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text, re.ASCII) else text


def limit_of(context: click.Context, parameter: click.Parameter, text: str | None) -> float | str | None:
    """The number that a text spells, or the text if it may be hours and minutes, whose unit only the file knows."""
    try:
        return None if text is None else float(text)
    except ValueError:
        if text is None or ":" not in text:
            raise ValueError(f"--limit must be a number or hours and minutes such as 4:00, got {text!r}") from None
        return text


def budgets_of(context: click.Context, parameter: click.Parameter, words: Sequence[str]) -> dict[str, float] | None:
    """The limits of budgets by name."""
    found = {}
    for word in words:
        name, _, most = word.rpartition("=")
        try:
            found[name.strip()] = float(most)
        except ValueError:
            raise ValueError(f"--budget must be NAME=MOST with a number, got {word!r}") from None
    return found or None


READING = (
    click.option(
        "--format",
        metavar="KIND",
        help="json, npz, oplib, chao, csv, geojson, gpx, excel, top, toptw or mctopmtw, if no suffix tells.",
    ),
    click.option(
        "--limit", metavar="T", callback=limit_of, help="Cost limit, above what the file says: a number, or 4:00 hours."
    ),
    click.option("--start", metavar="NODE", help="Start, by number from 0 or by name."),
    click.option("--end", metavar="NODE", help="End, by number from 0 or by name."),
    click.option("--free-end", is_flag=True, help="Let routes stop anywhere."),
    click.option(
        "--routes", metavar="M|CSV", callback=routes_of, help="How many routes, such as people or days; or their table."
    ),
    click.option("--require", multiple=True, metavar="NODE", help="A place that must be in; may be repeated."),
    click.option("--avoid", multiple=True, metavar="NODE", help="A place that must not be in; may be repeated."),
    click.option(
        "--budget", "budgets", multiple=True, metavar="NAME=MOST", callback=budgets_of, help="The limit of a budget."
    ),
    click.option("--index", type=PLACE, metavar="I", help="Which instance of an NPZ set, from 0."),
    click.option(
        "--matrix",
        type=click.Path(),
        metavar="FILE",
        help="Cost matrix of points: a CSV, or the JSON of OSRM or Valhalla.",
    ),
    click.option("--metric", metavar="KIND", help="euclidean, manhattan or great_circle, for points."),
    click.option("--speed", type=float, metavar="F", help="How far one gets at a cost of 1, for points."),
    click.option("--unit", metavar="UNIT", help="Costs are minutes, seconds or hours, for times of day."),
)
"""The options that say how to read a problem."""


FIELDS = ("format", "index", "matrix", "metric", "speed", "unit", "budgets", "routes")
"""The options of `READING` that `orienteer.data.files.read_fields` takes."""


PLACES = ("start", "end", "require", "avoid")
"""The options of `READING` that name places."""


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """A decorator that adds options to a command, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def other_files(how: dict[str, Any]) -> list[str]:
    """The files besides that of the problem that the options `READING` name."""
    return [path for path in (how["matrix"], how["routes"]) if isinstance(path, str)]


def read_problem(file: str, how: dict[str, Any], solver: str = "auto") -> Instance:
    """The problem that a file holds for a solver; `how` has the values of the options `READING`."""
    given = {key: value for key, value in how.items() if value is not None and value is not False and value != ()}
    with _naming_options(how):
        return solver_class(solver).read(file, **given)


def read_problem_of(file: str, tourfile: str, how: dict[str, Any]) -> Instance:
    """The problem in `file`, by which the plan in `tourfile` is judged; `how` has the values of the options `READING`.

    A result in `tourfile` holds its limit, start, end and number of routes: these override those of `file`, unless the
    file lists its routes, and options override both. Where the two files differ, a line on standard error says so.
    """
    return problem_and_avoided(file, tourfile, how)[0]


def problem_and_avoided(file: str, tourfile: str, how: dict[str, Any]) -> tuple[Instance, set[int]]:
    """As `read_problem_of`, and the nodes that file and options avoid: in the problem these only have no ways."""
    with _naming_options(how):
        instance, fields = _read_problem_of(file, tourfile, how)
        return instance, {fields.number(file, "avoid", node) for node in fields.avoided}


def _read_problem_of(file: str, tourfile: str, how: dict[str, Any]) -> tuple[Instance, "Fields"]:
    from orienteer.data.files import read_fields

    reading = {key: how[key] for key in FIELDS}
    wishes = file, how["free_end"], how["require"], how["avoid"]
    fields = read_fields(file, **reading).wishing(*wishes)
    values = {key: how[key] for key in ("limit", "start", "end")}
    result = result_in(tourfile)
    if result is not None and isinstance(fields.routes, list):
        _say_other_routes(tourfile, [route.name for route in fields.routes])
    if result is None or result.plan is None or result.limit is None or isinstance(fields.routes, list):
        return fields.build(file, **values), fields
    free, count = _free_end(tourfile), len(result.routes)
    known: dict[str, Any] = {"limit": result.limit}
    if values["start"] is None and values["end"] is None:
        known |= {"start": result.start} if free or fields.free_end else {"start": result.start, "end": result.end}
    for key in (key for key in known if values[key] is None):
        values[key], in_file = known[key], getattr(fields, key)
        number = fields.number(file, key, in_file) if isinstance(in_file, str) else in_file
        if number not in (None, known[key]):
            other = in_file if isinstance(in_file, str) else f"{in_file:g}"
            _say_judged(f"the {key} {known[key]:g}", tourfile, other, file)
    if how["routes"] is None and count != (fields.routes or 1):
        _say_judged(f"the {count} routes", tourfile, str(fields.routes or 1), file)
        fields = read_fields(file, **(reading | {"routes": count})).wishing(*wishes)
    return fields.wishing(file, free_end=free and values["end"] is None).build(file, **values), fields


def _say_other_routes(tourfile: str, own: Sequence[str]) -> None:
    """Says so where the routes of a result have other names than those of the problem, by which they are judged."""
    names = [route.get("name", "") for route in _routes_json(tourfile)]
    if any(names) and any(own) and names != list(own):
        told = ", ".join(map(printable, names))
        which = f"the routes {', '.join(map(printable, own))}"
        wish = f"those of {tourfile} are called {told}; --routes takes another table"
        click.echo(f"orienteer: judged by {which}; {wish}", err=True)


@contextlib.contextmanager
def _naming_options(how: dict[str, Any]) -> Iterator[None]:
    """A context in which a message about the value of an option begins with the option, such as ``--require``."""
    try:
        yield
    except BadFile as error:
        if error.field not in (*PLACES, "limit") or not how.get(error.field):
            raise
        raise BadFile(error.path, f"--{error.message}", error.line, error.field) from error


def _say_judged(what: str, tourfile: str, other: str, file: str) -> None:
    click.echo(f"orienteer: judged by {what} of {tourfile}, not by {other} of {file}", err=True)


def _free_end(tourfile: str) -> bool:
    """Whether the routes of a result may stop anywhere."""
    routes = _routes_json(tourfile)
    return bool(routes) and routes[0].get("free_end") is True


def _routes_json(tourfile: str) -> list[dict[str, Any]]:
    """The routes of a result as they stand in its file; none where they are plain lists of nodes."""
    from orienteer.data.json_file import parse_json

    routes = parse_json(tourfile).get("routes") or []
    return [route for route in routes if isinstance(route, dict)]


def result_in(tourfile: str) -> Result | None:
    """The result in a file; None where the file holds a route alone."""
    from orienteer.data.files import read_result

    try:
        return read_result(tourfile)
    except BadFile:
        return None


def configured(name: str, device: str, named: dict[str, Any], more: Sequence[str]) -> tuple[AnySolver, dict[str, Any]]:
    """The solver with the settings that the options name, and these settings.

    `device` counts where the solver has such a setting. `named` are the settings with an option of their own, None
    where the user did not use it; `more` are the words KEY=VALUE of --set.
    """
    chosen = solver_class(name)
    known = field_types(chosen.config_class)
    settings: dict[str, Any] = {key: value for key, value in named.items() if value is not None}
    if device == "cuda" and "device" not in known:
        click.echo(f"orienteer: {name} runs on the CPU", err=True)
    if "device" in known:
        settings["device"] = device
    settings |= read_settings(chosen.name, known, more)
    return make_solver(name, **settings), settings


def stop_of(seconds: float | None, steps: int | None) -> Stop | None:
    """The stop criterion of the options --seconds and --steps; None where the user set neither."""
    return None if seconds is None and steps is None else at_most(seconds, steps)


def positive_numbers(option: str, text: str) -> list[float]:
    """The numbers in a text, with commas between them; a ValueError, which names the option, if one is not above 0."""
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers with commas between them, got {text!r}") from None
    if not all(0 < number < math.inf for number in found):
        raise ValueError(f"{option} must be above 0, got {text!r}")
    return found


def check_writable(path: str | Path, *sources: str | Path | None) -> None:
    """Raises `BadFile` if the file cannot be written or is one of the `sources`; leaves no file behind."""
    target = Path(os.path.realpath(path))
    for source in sources:
        if source is not None and target == Path(os.path.realpath(source)):
            raise BadFile(path, "cannot be written: it is also read or written by this command")
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise BadFile(path, "cannot be written: it is a directory")
        return  # a pipe or a device, which opening as a test would disturb
    probe = target.with_name(f".{target.name}.{os.getpid()}.probe")
    try:
        if target.exists():
            target.open("r+b").close()
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadFile(path, f"cannot be written: {error.strerror or error}") from error


def names_folder(path: str) -> bool:
    """Whether a path to be written is that of a folder: it is there, has no suffix, or ends with a slash."""
    return path.endswith(("/", os.sep)) or Path(path).is_dir() or not Path(path).suffix


def check_npz(path: str) -> None:
    """Raises `BadFile` if the name of a file that will hold NPZ does not end in .npz."""
    if Path(path).suffix.lower() != ".npz":
        raise BadFile(path, "will be NPZ, so its name must end in .npz")
