"""Files for the page: what people drop becomes a problem of places, and plans become files."""

import json
import logging
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orienteer.data.files import SUFFIXES, read_fields
from orienteer.data.places_json import places_of
from orienteer.data.timetable import plan_csv
from orienteer.model.errors import BadFile, InvalidInstance, MissingExtra
from orienteer.model.instance import Instance
from orienteer.model.plan import Plan
from orienteer.model.result import plan_dict
from orienteer.service.asked import read_plan
from orienteer.service.errors import Refused
from orienteer.service.hostile import decode
from orienteer.service.settings import Settings

FILE = "application/octet-stream"
"""The media type in which files arrive."""
READ = tuple(suffix for suffix in SUFFIXES if suffix != ".npz")
"""The suffixes of files that are read; sets of problems are not."""
LONGEST_NAME = 200


def may_expand(name: str) -> bool:
    """Whether a file of this name may hold more than it seems: a worker reads it, whose memory has a limit."""
    return Path(name).suffix.lower() == ".xlsx"


def read_file(body: bytes, name: str, settings: Settings) -> bytes:
    """The problem in a file as JSON with `places`, beside the warnings about the file; or `Refused`."""
    suffix = Path(name).suffix.lower()
    if suffix not in READ:
        raise Refused(400, "bad-file", f"{name}: files end in {', '.join(READ)}", "name")
    if suffix in (".json", ".geojson"):
        decode(body, settings)  # refuses what would cost memory
    with tempfile.TemporaryDirectory() as folder, _warnings() as warnings:  # alone there: no other file can be meant
        path = Path(folder) / f"file{suffix}"
        path.write_bytes(body)
        try:
            fields = read_fields(path)
            if len(fields.prizes) > settings.places:
                wish = f"{name} has {len(fields.prizes)} places, at most {settings.places} are searched here"
                raise Refused(422, "beyond-limits", wish)
            problem = places_of(path, fields)
        except (BadFile, InvalidInstance, MissingExtra) as error:
            raise Refused(400, "bad-file", str(error).replace(str(path), name).replace(f"{folder}/", "")) from error
    texts = [text.replace(str(path), name) for text in warnings]
    return json.dumps({"problem": problem, "warnings": texts}).encode()


def write_file(body: bytes, settings: Settings) -> tuple[bytes, str]:
    """A plan as a file of the format that the body asks for, and the file's media type; or `Refused`."""
    ask, instance, plan = read_plan(body, settings)
    if ask.format == "csv":
        return "\n".join([*plan_csv(instance, plan), ""]).encode(), "text/csv"
    if ask.format == "json":
        return json.dumps(plan_dict(plan, instance)).encode(), "application/json"
    try:
        return _as_map(ask.format, instance, plan)
    except BadFile as error:
        raise Refused(422, "unsolvable", error.message, "format") from error


def _as_map(format: str, instance: Instance, plan: Plan) -> tuple[bytes, str]:
    if format == "gpx":
        from orienteer.data.gpx import plan_gpx

        return plan_gpx(instance, plan).encode(), "application/gpx+xml"
    from orienteer.data.geojson import plan_geojson

    return json.dumps(plan_geojson(instance, plan)).encode(), "application/geo+json"


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What this thread logs meanwhile, such as columns that are not read."""
    found: list[str] = []
    handler = logging.Handler(logging.WARNING)
    here = threading.get_ident()
    handler.addFilter(lambda record: record.thread == here)
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("orienteer")
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
