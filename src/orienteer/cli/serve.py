"""`orienteer serve`: the HTTP service and the page for planners."""

import dataclasses
from typing import Any

import click
from click.core import ParameterSource

from orienteer.cli.options import with_options
from orienteer.model.errors import MissingExtra
from orienteer.service.settings import PREFIX, Settings, option, read_jobs, read_token

OPTIONS = [
    click.option(
        option(one.name),
        one.name,
        type=type(one.default),
        default=one.default,
        envvar=f"{PREFIX}{one.name.upper()}",
        metavar={int: "N", float: "F"}.get(type(one.default), "TEXT"),
        help=f"{one.metadata['text']}" + (f"  [default: {one.default}]" if one.default != "" else ""),
    )
    for one in dataclasses.fields(Settings)
    if "text" in one.metadata
]


@click.command()
@with_options(*OPTIONS)
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Serve the HTTP interface under /v1, and a page for planners at /.

    Every option may also be given as a variable such as ORIENTEER_PORT. Needs the extra `service`.
    """
    typed = context.get_parameter_source("jobs") is ParameterSource.COMMANDLINE
    given["jobs"] = read_jobs(given["jobs_file"], given["jobs"], typed)
    settings = Settings(**given, token=read_token(given["token_file"]))
    try:
        from orienteer.service.server import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtra("orienteer serve", "service") from error
    run(settings)
