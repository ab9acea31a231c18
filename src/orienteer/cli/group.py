"""Groups of commands: listed in the order in which they were added, and with commands of other packages."""

import logging
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

import click

GROUP = "orienteer.commands"
"""The group of entry points that name a click command."""


class InOrder(click.Group):
    """A group that lists its commands in the order in which they were added: the most used come first."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


class WithPlugins(InOrder):
    """A group with the commands of installed packages after its own; where names clash, its own command counts."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self.commands, *(name for name in self._found if name not in self.commands)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in self.commands or name not in self._found:
            return super().get_command(context, name)
        try:
            command: click.Command = self._found[name].load()
        except Exception as error:  # the other commands must work although a package is broken
            value = self._found[name].value
            logging.getLogger("orienteer").warning(f"{name} ({value}) is left out: {type(error).__name__}: {error}")
            return None
        return command

    @cached_property
    def _found(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=GROUP)}
