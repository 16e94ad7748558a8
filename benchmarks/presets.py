"""Each method as its paper has it beside its default, by a simulated model, for docs/methods.md.

Encoders and a detector of contradictions that a paper names are replaced by those that come with kgqa:
the question is what the search loses or costs, not what another encoder ranks. Needs the question sets
of the data folder (KGQA_DATA).
"""

import re
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from rich.console import Console

from kgqa.benchmarks._runs import DOCS, Ask, Ran, asked, drawn, put, side_by_side
from kgqa.benchmarks.beams import lost
from kgqa.benchmarks.methods import SETTINGS, Setting, learn, options, shown, spent
from kgqa.evaluation.scoring.statistics import bootstrap_interval
from kgqa.graphs import context_of
from kgqa.tests.support.perfect import DATA

QUESTIONS = 100
"""Of a set at most."""

MODELS = {"presets": "simulated:accuracy=1", "presets erring": "simulated:accuracy=0.8"}
"""Who is asked, by the mark in the page."""

METHODS = ("cor", "cog", "vog", "pog", "pog_egp", "tog")

METAQA = Setting("metaqa", "metaqa/metaqa-3hop-test-sample.jsonl.gz", "metaqa/metaqa.nt.gz", learned=None)

TITLES = {"webqsp": "WebQSP", "cwq": "CWQ", "metaqa": "MetaQA, 3 hops"}

BUNDLED = {"encoder": "null", "entity_encoder": "null", "nli": "null", "threshold": "null"}
"""What comes with kgqa, in place of what a paper names."""

HEAD = ("questions", "method", "F1 %", "default less this", "calls", "by default", "tokens", "by default")


def preset(setting: Setting, method: str) -> dict[str, str]:
    """Return the options that make a method its paper's on a dataset."""
    context = context_of(method)
    of_dataset = f"paper-{setting.name}"
    name = of_dataset if of_dataset in getattr(context, "PRESETS", {}) else "paper"
    return {"preset": name, **{key: value for key, value in BUNDLED.items() if key in context.model_fields}}


def rows(model: str, folder: Path) -> Iterator[list[str]]:
    """Ask all of a model, and give the rows of its table."""
    settings = [setting for setting in (*SETTINGS, METAQA) if setting.name in TITLES and setting.there]
    side_by_side(lambda each: learn(*each), list(product(settings, ("exemplars", "blueprints"))))

    def one(order: tuple[Setting, str, bool]) -> Ran:
        setting, method, published = order
        given = options(setting, method, model) | (preset(setting, method) if published else {})
        files = setting.file(setting.dataset), (setting.file(setting.kg),)
        ask = Ask(*files, method, model, limit=QUESTIONS, options=given)
        return asked(ask, folder / re.sub(r"\W+", "-", f"{setting.name}-{method}-{published}"))

    orders = list(product(settings, METHODS, (True, False)))
    runs = dict(zip(orders, side_by_side(one, orders), strict=True))
    for setting, method in product(settings, METHODS):
        paper, default = runs[setting, method, True], runs[setting, method, False]
        yield [
            TITLES[setting.name],
            f"[{method}]({method}.md)",
            f"{100 * paper.metrics['f1']['value']:.1f}",
            lost(paper, default, setting.file(setting.dataset)),
            *(shown(bootstrap_interval(spent(ran, "llm_calls")), 1) for ran in (paper, default)),
            *(
                shown(bootstrap_interval(spent(ran, "input_tokens", "output_tokens")), 0)
                for ran in (paper, default)
            ),
        ]


def main() -> None:
    """Measure in one run, print, and write the table."""
    console = Console(width=200, highlight=False)
    if not (DATA / "metaqa").is_dir():
        console.print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    blocks = {}
    for name, model in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            blocks[name] = drawn(HEAD, rows(model, Path(folder)))
        console.print(f"{name}\n{blocks[name]}", markup=False)
    put(DOCS / "methods.md", blocks)


if __name__ == "__main__":
    main()
