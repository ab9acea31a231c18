"""Groups of commands: in their order, and with those that other packages bring."""

import logging
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points

import click

GROUP = "orienteer.commands"
"""Entry points of this group name a click command."""


class InOrder(click.Group):
    """A group that lists its commands as they were added, the most used first."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


class WithPlugins(InOrder):
    """A group that goes on with the commands of installed packages; ours come first and win."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self.commands, *(name for name in self._found if name not in self.commands)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in self.commands or name not in self._found:
            return super().get_command(context, name)
        try:
            command: click.Command = self._found[name].load()
        except Exception as error:  # a broken package costs nobody the other commands
            value = self._found[name].value
            logging.getLogger("orienteer").warning(f"{name} ({value}) is left out: {type(error).__name__}: {error}")
            return None
        return command

    @cached_property
    def _found(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=GROUP)}
