"""What each part of the search and its prompts that is beyond the papers brings, for docs/methods.md.

Each option that the presets of papers set off is set off by itself: F1 and calls of a simulated model that
errs, question by question, and the share of questions whose conditions the graph has decided. Needs the
question sets of the data folder (KGQA_DATA).

    python -m kgqa.benchmarks.ablations
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from rich.console import Console

from kgqa.benchmarks._runs import DOCS, Ask, Ran, asked, drawn, put, side_by_side
from kgqa.benchmarks.beams import lost
from kgqa.benchmarks.methods import SETTINGS, Setting, learn, options, shown, spent
from kgqa.evaluation.scoring.statistics import bootstrap_interval
from kgqa.graphs import context_of
from kgqa.tests.support.perfect import DATA

QUESTIONS = 50
"""Of a set at most."""

MODEL = "simulated:accuracy=0.8"

METHODS = ("compose", "cor", "cog", "vog", "pog")

OFF = {
    "cross_mediators": "false",
    "pair_inverses": "false",
    "hide_noise": "false",
    "always_ask": "true",
    "outright_answers": "false",
    "missing_relations": "false",
    "attributes": "false",
    "unite": "false",
    "topic_conditions": "false",
    "planning": "first",
    "conclude": "false",
    "exact_match": "false",
    "repeat_revisions": "true",
    "solved_questions": "false",
    "values": "false",
    "types": "false",
    "refines": "0",
    "explore": "false",
}
"""What sets a part off, by its option."""

CONDITIONS = Path(__file__).parents[1] / "tests" / "unit" / "data" / "worldcup_conditions.jsonl"

SETS = {
    **{setting.name: setting for setting in SETTINGS if setting.name != "sample"},
    "conditions sample": Setting("conditions", "conditions", "sample"),
    "conditions worldcup": Setting("worldcup", str(CONDITIONS), "worldcup/wc2014.nt.gz"),
}
"""The question sets, by the mark of their table in the page."""

HEAD = ("method", "without", "F1 %", "default less this", "calls", "default less this", "by the graph %")

Order = tuple[str, str, str | None]  # a question set, a method, and the option that is set off, if any


def one(order: Order, folder: Path) -> Ran:
    """Make one run."""
    name, method, off = order
    setting = SETS[name]
    given = options(setting, method, MODEL) | ({off: OFF[off]} if off else {})
    files = setting.file(setting.dataset), (setting.file(setting.kg),)
    ask = Ask(*files, method, MODEL, limit=QUESTIONS, options=given)
    return asked(ask, folder / re.sub(r"\W+", "-", f"{name}-{method}-{off}"))


def parts(method: str) -> list[str | None]:
    """Return the options of a method that are set off, after None for none."""
    return [None, *(option for option in OFF if option in context_of(method).model_fields)]


def row(method: str, off: str | None, ran: Ran, default: Ran, questions: str) -> Sequence[str]:
    """Return the row of a run beside that of the default."""
    by_graph = ran.metrics["conditions_by_graph"]
    calls = spent(ran, "llm_calls")
    more = [mine - yours for mine, yours in zip(spent(default, "llm_calls"), calls, strict=True)]
    return [
        f"[{method}]({method}.md)",
        f"`{off}={OFF[off]}`" if off else "",
        f"{100 * ran.metrics['f1']['value']:.1f}",
        lost(ran, default, questions) if off else "",
        f"{sum(calls) / len(calls):.2f}",
        shown(bootstrap_interval(more), 2) if off else "",
        f"{100 * by_graph['value']:.1f}" if by_graph else "",
    ]


def tables(folder: Path) -> Iterator[tuple[str, str]]:
    """Ask all, and give the table of each question set."""
    taught = [setting for setting in SETTINGS if setting.name in SETS]
    side_by_side(lambda each: learn(*each), list(product(taught, ("exemplars", "blueprints"))))
    orders = [(name, method, off) for name, method in product(SETS, METHODS) for off in parts(method)]
    runs = dict(zip(orders, side_by_side(lambda order: one(order, folder), orders), strict=True))
    for name, setting in SETS.items():
        rows = [
            row(method, off, runs[name, method, off], runs[name, method, None], setting.file(setting.dataset))
            for method in METHODS
            for off in parts(method)
        ]
        yield f"without {name}", drawn(HEAD, rows)


def main() -> None:
    """Measure in one run, print, and write the tables."""
    console = Console(width=200, highlight=False)
    if not all(setting.there for setting in SETS.values()):
        console.print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    with tempfile.TemporaryDirectory() as folder:
        blocks = dict(tables(Path(folder)))
    for name, block in blocks.items():
        console.print(f"{name}\n{block}", markup=False)
    put(DOCS / "methods.md", blocks)


if __name__ == "__main__":
    main()
