"""A group of commands that keeps their order."""

import click


class InOrder(click.Group):
    """A group that lists its commands as they were added, the most used first."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)
