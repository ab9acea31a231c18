"""Writes what `--help` says of each command into the page that asks for it."""

from collections.abc import Iterator
from typing import Any

import click

MARK = "<!-- commands -->"
"""What is replaced by the commands, on whichever page it stands."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page's text with the commands in the place of `MARK`."""
    if MARK not in markdown:
        return markdown
    from orienteer.cli.main import cli

    return markdown.replace(MARK, "\n".join(_sections(cli, click.Context(cli, info_name="orienteer"))))


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    """A section for the command and, if it is a group, for each of its commands."""
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _sections(inner, click.Context(inner, parent=context, info_name=name))
