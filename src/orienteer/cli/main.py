"""The command `orienteer`: the group of its subcommands, and how errors reach the user."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence

import click

from orienteer.cli.batch import batch
from orienteer.cli.convert import convert
from orienteer.cli.example import example
from orienteer.cli.explain import why_not
from orienteer.cli.generate import generate
from orienteer.cli.group import WithPlugins
from orienteer.cli.judge import check
from orienteer.cli.picture import plot
from orienteer.cli.serve import serve
from orienteer.cli.solve import solve
from orienteer.cli.solvers import solvers
from orienteer.cli.warmup import warmup
from orienteer.model.errors import MissingExtra, OrienteerError
from orienteer.version import __version__

DONE, REFUSED, FAILED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
"""Exit statuses: all went well; the plan is wrong, or there is none; an error; Ctrl-C; nobody reads the output."""

EXPECTED = (OrienteerError, ValueError, OSError, OverflowError, MemoryError)
"""Errors of the user's input or machine, which are told in one line. Any other is our mistake, with a traceback."""

ELSEWHERE = {
    "--timetable": "orienteer plot FILE ROUTE --timetable PICTURE",
    "--animate": "orienteer plot FILE --animate FILM",
}
"""How to call the command that has an option which people try with others."""


@click.group(
    cls=WithPlugins,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="Exit status: 0 done, 1 the plan breaks a rule (check) or there is none (solve), 2 error, 130 interrupted.",
)
@click.version_option(__version__, message="orienteer %(version)s")
@click.option("--debug", is_flag=True, help="Show where an error comes from, not only its message.")
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """Routes that collect the most prize within a cost limit, for any cost matrix.

    \b
    orienteer example
    orienteer solve city.csv --plot city.png
    """
    context.obj = debug
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (solve, batch, generate, check, why_not, plot, convert, solvers, example, warmup, serve):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits with its status."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """The exit status of a command line, after it ran with its output on standard output and standard error."""
    with _warnings_on_stderr():
        try:
            status = _invoke(list(arguments))
            if sys.stdout is not None:  # None where standard output was closed before the start
                sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()
            return PIPE_CLOSED
    return status


def _invoke(arguments: list[str]) -> int:
    """The exit status of a command line. click's own `main` would exit, and show wrong usage in several lines."""
    debug = "--debug" in arguments  # click empties the list
    try:
        with cli.make_context("orienteer", arguments) as context:
            status = cli.invoke(context)
            return status if isinstance(status, int) else DONE
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", INTERRUPTED)
    except click.ClickException as error:
        return _complain(_usage(error), FAILED)
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        if debug or error.name != "torch":
            raise
        return _complain(_message(MissingExtra("this command", "gpu")), FAILED)
    except Exception as error:
        if debug or not (isinstance(error, EXPECTED) or _of_torch_memory(error)):
            raise
        return _complain(_message(error), FAILED)


def _usage(error: click.ClickException) -> str:
    """click's message, and where to find help for a wrong command line."""
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    if isinstance(error, click.NoSuchOption) and error.option_name in ELSEWHERE:
        return f"{error.message.rstrip('.')}; it belongs to: {ELSEWHERE[error.option_name]}"
    return error.format_message().rstrip(".") + hint


def _of_torch_memory(error: Exception) -> bool:
    """Whether torch found too little memory: told by name and text, since torch may not even be imported."""
    return type(error).__name__ == "OutOfMemoryError" or (
        type(error) is RuntimeError and "can't allocate memory" in str(error)
    )


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and not isinstance(error, OrienteerError):
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, MemoryError):
        return f"out of memory: {error}".rstrip(": ")
    return str(error) or type(error).__name__


def _complain(message: str, status: int) -> int:
    """Writes the message as one line on standard error; returns `status`."""
    with contextlib.suppress(BrokenPipeError):
        click.echo(f"orienteer: {' '.join(message.split())}", err=True)
    return status


def _forget_output() -> None:
    """Sends standard output nowhere, so that Python's last flush does not fail once more on a closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(nowhere, sys.stdout.fileno())


@contextlib.contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    """A context in which the library's warnings, such as of a long compilation, are plain lines on standard error."""
    logger, handler = logging.getLogger("orienteer"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("orienteer: %(message)s"))
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
