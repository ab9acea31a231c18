"""All that others may rely on, a line each: names of Python with their signatures, commands, settings, HTTP.

    python tests/public_api.py

writes tests/api.txt anew; `tests/test_api.py` compares. Signatures are read from the sources, as they stand there.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import griffe

STORED = Path(__file__).with_name("api.txt")
SOURCE = Path(__file__).parents[1] / "src"

PUBLIC: dict[str, Iterable[str]] = {
    "orienteer": (),
    "orienteer.plot": (),
    "orienteer.client": ("Service", "ServiceError"),
    "orienteer.data.files": ("read", "read_set", "read_tour", "write", "write_set", "write_tour"),
    "orienteer.data.generate": ("generate",),
    "orienteer.data.stored_set": ("open_set",),
    "orienteer.search.warmup": ("get_ready",),
    "orienteer.search.registry": ("make_solver",),
    "orienteer.search.solver": ("Solver",),
    "orienteer.search.run": ("Run",),
    "orienteer.search.stop": ("When",),
    "orienteer.beam.score": ("Children",),
    "orienteer.beam.solvers": ("CostLevelSolver",),
}
"""The public names of each module; without any, those of its `__all__`."""

MEMBERS = {
    "Solver": {"name", "config_class", "config", "handles", "settings", "default_stop", "search", "solve"},
    "Run": {"instance", "best", "prize", "seconds", "now", "offer", "offer_plan", "step", "share", "tighten", "result"},
    "CostLevelSolver": {"scorer"},
}
"""The public members of classes that have others for our own searches; see also `OURS`."""

OURS = {"unchecked", "plan_view", "reach", "turned", "ends", "slack"}
"""Members of `Instance` that are there for our own searches."""


def lines() -> list[str]:
    """The public interface, with a heading over each part."""
    parts = {
        "Python": _names(),
        "Solvers and their settings": _solvers(),
        "Command line": _commands(),
        "HTTP": _paths(),
    }
    return [line for title, part in parts.items() for line in ("", f"# {title}", *part)][1:]


def _names() -> Iterator[str]:
    package = griffe.load("orienteer", search_paths=[str(SOURCE)], resolve_aliases=True)
    for path, names in PUBLIC.items():
        module: Any = package[path.removeprefix("orienteer").lstrip(".")] if "." in path else package
        for name in sorted(names or (str(one).strip("'") for one in module.exports)):
            found = module[name]
            yield from _described(f"{path}.{name}", found.final_target if found.is_alias else found)


def _described(path: str, found: Any) -> Iterator[str]:
    if found.is_function:
        yield path + found.signature().removeprefix(found.name)
    elif not found.is_class:
        yield _attribute(path, found)
    else:
        bases = ", ".join(map(str, found.bases))
        yield f"class {path}{_parameters(found)}" + (f": {bases}" if bases else "")
        allowed = MEMBERS.get(found.name)
        for name, member in sorted(found.all_members.items()):
            known = name in allowed if allowed else not (found.name == "Instance" and name in OURS)
            if known and not name.startswith("_"):
                yield from _described(f"{path}.{name}", member.final_target if member.is_alias else member)


def _parameters(found: Any) -> str:
    """What a class is called with, as `(a: int, b: str = '')`."""
    made = griffe.Function("", parameters=griffe.Parameters(*(one for one in found.parameters if one.name != "self")))
    return made.signature()


def _attribute(path: str, found: Any) -> str:
    return f"{path}: {found.annotation}" if found.annotation is not None else path


def _solvers() -> Iterator[str]:
    from orienteer.search.registry import REGISTRY
    from orienteer.search.settings import field_types

    for name, entry in REGISTRY.items():
        if entry.target.startswith("orienteer.") and not entry.target.startswith("orienteer.lab."):
            yield " ".join([name, *sorted(field_types(_config(name)))])


def _config(name: str) -> type[Any]:
    from orienteer.search.registry import solver_class

    return solver_class(name).config_class


def _commands() -> Iterator[str]:
    from orienteer.cli.main import cli

    yield from _options("orienteer", cli)
    for name, command in cli.commands.items():
        yield from _options(f"orienteer {name}", command)


def _options(path: str, command: click.Command) -> Iterator[str]:
    """A command, then its arguments and options, each with its choices or the kind of its value, and its default."""
    yield path
    for one in command.params:
        names = "/".join([*one.opts, *one.secondary_opts])
        kind = "|".join(map(str, one.type.choices)) if isinstance(one.type, click.Choice) else one.type.name
        if isinstance(one, click.Argument):
            yield f"{path} {names.upper()}{'' if one.required else ' (optional)'}{' ...' if one.nargs != 1 else ''}"
            continue
        flag = isinstance(one, click.Option) and one.is_flag
        told = isinstance(one.default, str | int | float) and not flag and one.default != ""
        yield f"{path} {names}{'' if flag else f' {kind}'}{f' = {one.default}' if told else ''}"


def _paths() -> Iterator[str]:
    from orienteer.service.app import create_app
    from orienteer.service.settings import Settings

    described = create_app(Settings()).openapi()
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            call = f"{method.upper()} {path}"
            for one in told.get("parameters", []):
                yield f"{call} takes {one['in']} {one['name']}"
            for kind, content in told.get("requestBody", {}).get("content", {}).items():
                yield f"{call} takes {kind}: {_fields(_resolved(content['schema'], described))}".rstrip(": ")
            yield f"{call} answers {' '.join(sorted(told['responses']))}"
    for name, schema in sorted(described["components"]["schemas"].items()):
        yield f"schema {name}: {_fields(schema)}"


def _resolved(schema: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """The schema, or that to which it refers."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return described["components"]["schemas"][name] if name else schema


def _fields(schema: dict[str, Any]) -> str:
    """The fields of an object; those that must be there with a star."""
    required = schema.get("required", [])
    return ", ".join(f"{name}{'*' if name in required else ''}" for name in sorted(schema.get("properties", {})))


if __name__ == "__main__":
    STORED.write_text("\n".join(lines()) + "\n")
