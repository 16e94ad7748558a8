"""What outcomes are worth: how often answers of each are right, offline, with no topics given.

Prints a table by outcome; and, family of graphs by family, the confidence from which 95 % of the answers to
the questions of the other families have something right, and what is above it in the family itself; and this
level for all families, by which `SURE_CONFIDENCE` goes. Then, of all questions, how many have something right
in the answer, and in it or the first two other readings (`alternatives`). Needs the question sets of the data
folder (KGQA_DATA); of these it asks training parts, where there are any.

    python -m kgqa.benchmarks.outcomes 40       # questions of each set
"""

import asyncio
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import kgqa
from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import score_answers
from kgqa.retrieval.confidence import SURE_CONFIDENCE
from kgqa.runtime.record import Record, Ref
from kgqa.tests.support.perfect import DATA

SLICE = ("freebase/freebase_slice.nt.gz", "freebase/freebase_slice_gnnrag.nt.gz")
GRASP, METAQA = ("freebase/freebase_grasp_slice.nt.gz",), ("metaqa/metaqa.nt.gz",)
WORLDCUP, WIKIDATA = ("worldcup/wc2014.nt.gz",), ("wikidata/wikidata_slice.nt.gz",)

SETS = (
    ("Freebase", SLICE, "freebase/webqsp_slice_union.jsonl.gz", "train"),
    ("Freebase", SLICE, "freebase/cwq_slice_union.jsonl.gz", "train"),
    ("Freebase", SLICE, "freebase/grailqa_slice.jsonl.gz", "train"),
    ("Freebase", GRASP, "freebase/webqsp_grasp_slice.jsonl.gz", "train"),
    ("MetaQA", METAQA, "metaqa/metaqa-1hop-train.jsonl.gz", "all"),
    ("MetaQA", METAQA, "metaqa/metaqa-2hop-train.jsonl.gz", "all"),
    ("WorldCup", WORLDCUP, "worldcup/wc-p2.jsonl.gz", "train"),
    ("WorldCup", WORLDCUP, "worldcup/wc-c.jsonl.gz", "train"),
    ("Wikidata", WIKIDATA, "wikidata/qald10_en_grasp_slice.jsonl.gz", "train"),
    ("PathQuestion", ("pathquestion/pq-2h.nt.gz",), "pathquestion/pq-2h.jsonl.gz", "train"),
    ("PathQuestion", ("pathquestion/pq-3h.nt.gz",), "pathquestion/pq-3h.jsonl.gz", "train"),
    ("sample", (str(SAMPLE_GRAPH),), str(SAMPLE_QUESTIONS), "train"),
)
"""The family of each set, its graph, its questions and their part."""

WANTED = 0.95

READINGS = 3
"""Of which one is to be right: the answer and what it may mean else."""


class Case(NamedTuple):
    """An answer: its outcome and confidence, whether confidence alone decides, and how good it is."""

    family: str
    outcome: str
    confidence: float
    open: bool
    f1: float


class Asked(NamedTuple):
    """A question: its answer, if there is one, and how good each of its readings is, that first."""

    family: str
    case: Case | None
    f1: Sequence[float]


def asked_of(family: str, record: Record, question: Question) -> Asked:
    """Return what came of a question."""
    readings = [record["answers"], *(each["answers"] for each in record["alternatives"])]
    f1 = [_f1_of(answers, question) for answers in readings]
    return Asked(family, case_of(family, record, f1[0]) if record["answers"] else None, f1)


def _f1_of(answers: Iterable[Ref], question: Question) -> float:
    score = score_answers([EntityRef(each["id"], each["name"]) for each in answers], question)
    return score.f1 if score else 0.0


def case_of(family: str, record: Record, f1: float) -> Case:
    """Return a record as a case."""
    by_graph = all(each["by"] == "graph" for each in record["conditions"])
    is_open = by_graph and record["outcome"] in {"grounded", "grounded_unverified"}
    confidence = record["confidence"]
    return Case(family, record["outcome"], confidence or 0.0, is_open and confidence is not None, f1)


def ask_sets(asked: int) -> Iterator[Asked]:
    """Ask so many questions of each set, drawn by chance."""
    for family, kg, file, split in SETS:
        every = [each for each in load(DATA / file).select(split) if each.scored]
        chosen = random.Random(7).sample(every, min(asked, len(every)))
        graph = [str(DATA / name) for name in kg]
        records = asyncio.run(kgqa.abatch([each.text for each in chosen], kg=graph, model="offline"))
        for pair in zip(records, chosen, strict=True):
            yield asked_of(family, *pair)


def sure_level(found: Iterable[Case]) -> float:
    """Return the lowest confidence from which enough of the answers that hang on it have something right."""
    level, right = 1.0, 0
    for count, each in enumerate(sorted(found, key=lambda each: -each.confidence), 1):
        right += each.f1 > 0
        if right >= WANTED * count:
            level = each.confidence
    return level


def shares(found: Sequence[Case], right: int) -> list[str]:
    """Return how many, how many have nothing right and are exact, and their share of all right answers."""
    n = max(1, len(found))
    nothing, exact = (sum(each.f1 == f1 for each in found) for f1 in (0, 1))
    of_all = (len(found) - nothing) / max(1, right)
    return [str(len(found)), f"{nothing / n:.1%}", f"{exact / n:.1%}", f"{of_all:.1%}"]


def draw_readings(asked: Sequence[Asked]) -> Table:
    """Draw how many questions have something right among the first readings, by family and in all."""
    numbers = (1, 2, READINGS)
    table = Table("family", "questions", *(f"right among the first {number}" for number in numbers))
    for family in (*dict.fromkeys(each.family for each in asked), "all"):
        own = [each.f1 for each in asked if family in (each.family, "all")]
        right = [sum(any(f1[:number]) for f1 in own) / len(own) for number in numbers]
        table.add_row(family, str(len(own)), *(f"{share:.1%}" for share in right))
    return table


def main() -> None:
    """Ask and print the tables."""
    asked = list(ask_sets(int(sys.argv[1]) if len(sys.argv) > 1 else 40))
    found = [each.case for each in asked if each.case]
    head = ("answers", "nothing right", "exact", "of all right answers")
    by_outcome, by_family = Table("outcome", *head), Table("family", "level of the others", *head)
    right = sum(each.f1 > 0 for each in found)
    for outcome in dict.fromkeys(each.outcome for each in found):
        by_outcome.add_row(outcome, *shares([each for each in found if each.outcome == outcome], right))
    for family in dict.fromkeys(each.family for each in found):
        level = sure_level(each for each in found if each.open and each.family != family)
        own = [each for each in found if each.family == family]
        sure = [each for each in own if each.open and each.confidence >= level]
        by_family.add_row(family, f"{level:.2f}", *shares(sure, sum(each.f1 > 0 for each in own)))
    console = Console()
    console.print(by_outcome, by_family, draw_readings(asked))
    console.print(f"level of all {sure_level(filter(lambda case: case.open, found)):.2f}")
    console.print(f"SURE_CONFIDENCE is {SURE_CONFIDENCE:g}")


if __name__ == "__main__":
    main()
