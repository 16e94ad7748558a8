"""The ``kgqa`` command."""

import atexit
import errno
import gc
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from kgqa import __version__
from kgqa.cli import (
    ask,
    blueprints,
    calibrate,
    chat,
    data,
    eval,
    exemplars,
    kg,
    mcp,
    methods,
    new,
    prompts,
    report,
    score,
    serve,
)
from kgqa.cli.output import MAX_LINE_CHARS, ExitCode, escape_unencodable_output, fail
from kgqa.kg.terms import one_line

DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What is wrong where nothing more can be written."""

BAD_PATH_ERRNOS = frozenset(
    {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS}
)
"""What is wrong with a name that cannot be opened."""

GC_THRESHOLD = 500_000  # objects from which on cycles are looked for; Python's 700 costs a start 0.2 s
STACK_SIZE = 40_000  # values of a frame: Python takes the memory of those above it once, not again and again

app = typer.Typer(
    name="kgqa",
    help="Question answering over knowledge graphs with language-model agents. On a terminal, without a "
    "command, it asks for question after question.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("ask")(ask.ask)
app.command("chat")(chat.chat)
app.command("eval")(eval.evaluate)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("serve")(serve.serve)
app.command("calibrate")(calibrate.calibrate)
app.command("mcp")(mcp.mcp)
app.command("methods")(methods.methods)
app.add_typer(kg.app, name="kg")
app.add_typer(data.app, name="data")
app.add_typer(blueprints.app, name="blueprints")
app.add_typer(exemplars.app, name="exemplars")
app.add_typer(prompts.app, name="prompts")
app.add_typer(new.app, name="new")


@app.callback(invoke_without_command=True)
def begin(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.")] = False,
) -> None:
    """Print the version where it is asked for; without a command, ask for questions, or print the help."""
    if version:
        typer.echo(f"kgqa {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            typer.echo(context.get_help())
            raise typer.Exit(int(ExitCode.USAGE))
        chat.converse(chat.Session())


def main() -> None:
    """Run the command line; what goes wrong is one line on stderr, never a traceback."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # another one spins while it waits for work
    gc.set_threshold(GC_THRESHOLD)
    atexit.register(gc.freeze)  # the system takes all memory back at once; object by object it takes 0.2 s
    escape_unencodable_output()
    if logging.lastResort:  # where nobody else has said how, it writes the warnings
        logging.lastResort.setFormatter(_OneLineFormatter())
    try:
        _load_env()
        app()
    except KeyboardInterrupt:
        fail("stopped", ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _discard_stdout()
    except OSError as error:
        if error.errno in BAD_PATH_ERRNOS and error.filename:
            fail(f"{os.fsdecode(error.filename)[:200]}: {error.strerror}; name another")
        if error.errno not in DISK_FULL_ERRNOS:
            _report_bug(error)
        _discard_stdout()
        where = error.filename or "what it has to say"
        fail(f"cannot write {where}: {error.strerror}; make room and repeat the command")
    except MemoryError:
        fail("not enough memory; ask for less at a time, or allow more (ulimit -v)")
    except Exception as error:
        _report_bug(error)


main.__code__ = main.__code__.replace(co_stacksize=STACK_SIZE)


class _OneLineFormatter(logging.Formatter):
    """Writes a message as one line, whatever names are in it."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record), MAX_LINE_CHARS)


def _report_bug(error: Exception) -> NoReturn:
    if os.environ.get("KGQA_DEBUG"):
        raise error
    fail(
        f"internal error, please report it ({type(error).__name__}: {error}); KGQA_DEBUG=1 shows more",
        ExitCode.BUG,
    )


def _discard_stdout() -> None:
    """Let Python end without another try to write what it still holds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _load_env() -> None:
    """Read ``.env`` of this folder; what is set already stays."""
    if Path(".env").is_file():
        from dotenv import load_dotenv

        try:
            load_dotenv(".env")
        except (OSError, ValueError) as error:
            fail(f"cannot read .env: {error}; write it as UTF-8, one NAME=value a line")


if __name__ == "__main__":
    main()
