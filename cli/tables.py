"""What tables of learned things are made of."""

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.kg.terms import one_line
from kgqa.priors.blueprints import Slot

MAX_CELL_CHARS = 1000
"""Characters of a question or a template that are shown at most."""


def open_console() -> Console:
    """Open the terminal for tables and plain lines."""
    return Console(highlight=False, soft_wrap=True)


def make_table(*columns: str) -> Table:
    """Make a table without lines."""
    made = Table(box=None)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def one_line_cell(text: str) -> Text:
    """Show text of a file as one line."""
    return Text(one_line(text, MAX_CELL_CHARS))


def draw_slots(slots: Iterable[Slot]) -> Text:
    """Draw slots as arrows to the answer."""
    drawn = Text()
    for slot in slots:
        name = one_line(slot.relation)
        drawn.append(f"-{name}-> " if slot.forward else f"<-{name}- ", style="cyan")
    return drawn.append("answer", style="bold")


def print_left_out(out: Console, without: Mapping[str, int]) -> None:
    """Print why questions were left out, the most frequent reason first."""
    for reason, questions in sorted(without.items(), key=lambda pair: (-pair[1], pair[0])):
        out.print(Text(f"  {questions:,} without: {one_line(reason)}", style="yellow"))
