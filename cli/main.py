"""The ``kgqa`` command."""

import os
import sys
from pathlib import Path

import typer

from kgqa.cli import ask, blueprints, calibrate, eval, exemplars, kg, methods, report, score
from kgqa.cli.exits import Exit, fail

app = typer.Typer(
    name="kgqa",
    help="Question answering over knowledge graphs with language-model agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("ask")(ask.ask)
app.command("eval")(eval.evaluate)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("calibrate")(calibrate.calibrate)
app.command("methods")(methods.methods)
app.add_typer(kg.app, name="kg")
app.add_typer(blueprints.app, name="blueprints")
app.add_typer(exemplars.app, name="exemplars")


def main() -> None:
    """Run the command line; what goes wrong is one line on stderr, never a traceback."""
    _load_env()
    try:
        app()
    except KeyboardInterrupt:
        fail("stopped", Exit.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("KGQA_DEBUG"):
            raise
        fail(
            f"internal error, please report it ({type(error).__name__}: {error}); KGQA_DEBUG=1 shows more",
            Exit.BUG,
        )


def _load_env() -> None:
    """Read ``.env`` of this folder; what is set already stays."""
    if Path(".env").is_file():
        from dotenv import load_dotenv

        load_dotenv(".env")


if __name__ == "__main__":
    main()
