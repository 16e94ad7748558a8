"""Fits the weights of the signals by which the offline model tells how likely an answer is right.

Goes by training parts alone: exemplars are built from one part of them, and the others asked. A question is
asked as it is; once more with the relation that answers it hidden, so that the graph cannot answer it; and
WebQSP's and MetaQA's of people and films are asked of the sample graph, which knows none: in their own words,
and about its topics. Judged on graphs that were left out in fitting. Needs the question sets of the data
folder (KGQA_DATA). Takes about ten minutes; its columns are those of `SIGNALS` in
``retrieval/confidence.py``.
"""

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from _offline_weights import SAMPLE_FOLDS, Array, Record, records
from rich.console import Console

from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import score_answers
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.pages import ChainResult, Page
from kgqa.kg.terms import Chain, Entity, local_name
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.priors.encoder import CachedEncoder, open_encoder
from kgqa.priors.exemplars import EXEMPLAR_STORE, build_exemplars, read_exemplars
from kgqa.priors.masking import TOPIC_MASK, mask_topic
from kgqa.priors.training_questions import read_training_questions
from kgqa.retrieval.candidate_chains import InverseRelations, find_inverse_relations
from kgqa.retrieval.confidence import SIGNALS
from kgqa.tests.support.perfect import DATA

ABOUT = frozenset({"people", "film", "music", "sports", "book", "tv", "government", "award", "education"})
"""What foreign questions are about, by the beginning of their relations: the sample says nothing of it."""

AGAINST = {"other", "kind", "unsaid", "doubt"}
"""Signals that speak against an answer."""

SLICE = ("freebase/freebase_slice.nt.gz", "freebase/freebase_slice_gnnrag.nt.gz")


@dataclass(frozen=True)
class Part:
    """Questions asked of a graph, what is learned from before, and whether their relations are hidden."""

    name: str
    kg: tuple[str, ...]
    learned: list[Record]
    asked: list[Record]
    exemplars: str = ""


@dataclass
class HidingGraph:
    """A graph without some relations, by their local names."""

    graph: KnowledgeGraph
    inverses: InverseRelations
    hidden: frozenset[str] = field(default_factory=frozenset)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    async def visit_chains(self, chains: Sequence[Chain], **how: Any) -> list[ChainResult]:
        """Visit chains, and leave out what is hidden of the hops that lead on, and whatever says the same."""
        return [
            replace(
                each,
                hops=Page(tuple(hop for hop in each.hops if not self._is_hidden(hop)), each.hops.truncated),
            )
            for each in await self.graph.visit_chains(chains, **how)
        ]

    def _is_hidden(self, hop: Any) -> bool:
        names = {local_name(hop.relation), self.inverses.slot(hop).relation}
        return not self.hidden.isdisjoint(names)


@dataclass(frozen=True)
class Case:
    """The signals of an answer, and whether it is right; a family of graphs is left out as one."""

    part: str
    family: str
    trained: bool
    row: Array
    right: bool
    answerable: bool


def parts(asked: int) -> Iterator[Part]:
    """Return the parts, with so many questions of each set to fit on."""
    web = records("train/webqsp_train.jsonl.gz")
    yield Part("webqsp", SLICE, web, records("freebase/webqsp_slice_union.jsonl.gz", split="train")[:asked])
    sets = [records(f"metaqa/metaqa-{hops}hop-train.jsonl.gz") for hops in (1, 2, 3)]
    few = asked // 3
    rest = [line for lines in sets for line in lines[few : few + 1_000]]
    yield Part("metaqa", ("metaqa/metaqa.nt.gz",), rest, [line for lines in sets for line in lines[:few]])
    for hops in (2, 3):
        lines = records(f"pathquestion/pq-{hops}h.jsonl.gz", split="train", split_group="train")
        lines.sort(key=lambda line: sum(map(ord, "".join(line["gold_chain"]))) % 97)
        half = asked // 2
        yield Part(f"pathquestion-{hops}", (f"pathquestion/pq-{hops}h.nt.gz",), lines[half:], lines[:half])
    cups = [records(f"worldcup/wc-{kind}.jsonl.gz", split="train") for kind in ("p1", "p2", "c")]
    rest = [line for lines in cups for line in lines[few:]]
    asked_of = [line for lines in cups for line in lines[:few]]
    yield Part("worldcup", ("worldcup/wc2014.nt.gz",), rest, asked_of)
    qald = records("wikidata/qald10_en_grasp_slice.jsonl.gz", split="train")
    yield Part("wikidata", ("wikidata/wikidata_slice.nt.gz",), [], qald[:asked])
    sample = records(SAMPLE_QUESTIONS, split="train")
    for fold in range(SAMPLE_FOLDS):
        kept = [line for at, line in enumerate(sample) if at % SAMPLE_FOLDS != fold]
        yield Part("sample", (str(SAMPLE_GRAPH),), kept, sample[fold::SAMPLE_FOLDS], f"-{fold}")
    foreign = [line for line in web if _is_foreign(line)]
    own = [{**line, "topic_entities": [], "answers": []} for line in [*foreign[:asked], *sets[0][-few:]]]
    yield Part("foreign", (str(SAMPLE_GRAPH),), sample, own)
    topics = [topic for line in sample for topic in line["topic_entities"]]
    moved = [_moved(line, random.Random(at).choice(topics)) for at, line in enumerate(foreign[-asked:])]
    yield Part("moved", (str(SAMPLE_GRAPH),), sample, [line for line in moved if line])


def _is_foreign(line: Record) -> bool:
    return {relation.split(".")[0] for relation in line["relations"]} <= ABOUT and bool(
        line["topic_entities"]
    )


def _moved(line: Record, topic: Record) -> Record | None:
    """Return a question about another topic; None where it does not say its own."""
    masked = mask_topic(line["question"], line["topic_entities"][0]["name"], [])
    asked = {"question": masked.replace(TOPIC_MASK, topic["name"]), "topic_entities": [topic], "answers": []}
    return {**line, **asked} if TOPIC_MASK in masked else None


async def cases(part: Part, folder: Path) -> list[Case]:
    """Ask the questions of a part with and without exemplars, and once more with their relations hidden.

    Without exemplars and with nothing hidden they are also asked without their topics.
    """
    graph, memo = open_graph([DATA / name for name in part.kg]), CachedEncoder(open_encoder)
    name = "sample" if part.name in {"foreign", "moved"} else part.name
    out = folder / f"{name}{part.exemplars}"
    if part.learned and not out.exists():
        build_exemplars(read_training_questions(part.learned), out, memo.encode, memo.name)
    libraries = [None]
    if part.learned:
        libraries.append(read_exemplars(EXEMPLAR_STORE.open(out, memo.name), memo.encode))
    hiding = HidingGraph(graph, await find_inverse_relations(graph) or InverseRelations({}))
    found = []
    for library in libraries:
        for hidden in (False, True) if part.name == name else (False,):
            interpreter = QuestionInterpreter(hiding, memo.encode, library, frozenset())
            answerable = part.name == name and not hidden
            alone = [{**line, "topic_entities": []} for line in part.asked if answerable and library is None]
            for line in [*part.asked, *alone]:
                relations = _relations(line) if hidden else frozenset()
                if hidden <= bool(relations):
                    hiding.hidden = relations
                    found += await _ask(line, interpreter, part.name, answerable=answerable)
    return found


def _relations(line: Record) -> frozenset[str]:
    """Return the local names of the relations of the gold paths; "P31" of "wdt:P31"."""
    paths = line.get("gold_paths") or [line.get("gold_path") or ()]
    several = paths.values() if isinstance(paths, dict) else paths
    given = (path["path"] if isinstance(path, dict) else path for path in several)
    return frozenset(relation.removeprefix("^").rpartition(":")[2] for path in given for relation in path)


async def _ask(line: Record, interpreter: QuestionInterpreter, part: str, *, answerable: bool) -> list[Case]:
    topics = tuple(Entity(each["id"], each["name"]) for each in line["topic_entities"])
    if not topics:
        mentions = await interpreter.graph.link(line["question"])
        topics = tuple(mention.matches[0].entity for mention in mentions)
    known = await interpreter.interpret(line["question"], topics) if topics else None
    if known is None or known.reading is None:
        return []
    answers, counted = known.answer_terms(), known.intent.kind == "count"
    given = [EntityRef(str(len(answers)), str(len(answers)))] * counted
    given = given or [EntityRef(term.id, term.name) for term in answers]
    gold = tuple(EntityRef(each["id"], each["name"]) for each in line["answers"])
    score = score_answers(given, Question("", "", readings=(gold,)))
    right = score is not None and score.hit_at_1 > 0
    row = np.array([known.reading.signals[name] for name in SIGNALS], np.float64)
    family = "sample" if part in {"foreign", "moved"} else part.partition("-")[0]
    return [Case(part, family, known.reading.trained, row, right, answerable)]


def fitted(found: Sequence[Case], columns: Array) -> Array:
    """Fit weights to the logarithm of the likelihood.

    Questions that the graph can answer weigh twice as much as the others; all sets of a kind weigh the same.
    What speaks against an answer never counts for it, nor the other way round.
    """
    from scipy.optimize import minimize

    table, right = np.array([case.row for case in found]), np.array([float(case.right) for case in found])
    sizes = Counter((case.answerable, case.part) for case in found)
    sets = Counter(answerable for answerable, _ in sizes)
    weights = np.array(
        [
            len(found) * (1 + case.answerable) / 3 / sets[case.answerable] / sizes[case.answerable, case.part]
            for case in found
        ]
    )
    scale = np.where(columns > 0, table.std(0) + 1e-9, 1.0)
    scale[0] = 1.0
    scaled, held = table / scale * columns, np.arange(len(columns)) > 0  # the constant is not held back

    def loss(values: Array) -> tuple[float, Array]:
        logits = scaled @ values
        total = weights @ (np.logaddexp(0, logits) - right * logits) + 0.5 * (values * held) @ values
        return float(total), scaled.T @ (weights * (1 / (1 + np.exp(-logits)) - right)) + values * held

    signs = [(None, None), *((None, 0) if name in AGAINST else (0, None) for name in [*SIGNALS][1:])]
    found_ = minimize(loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B", bounds=signs).x
    return np.asarray(found_ * columns / scale)


def crossed(found: Sequence[Case], columns: Array) -> Array:
    """Return the confidence in each case by weights that were fitted without its family of graphs."""
    values = np.zeros(len(found))
    for family in {case.family for case in found}:
        weights = fitted([case for case in found if case.family != family], columns)
        for at, case in enumerate(found):
            if case.family == family:
                values[at] = 1 / (1 + np.exp(-case.row @ weights))
    return values


def calibration_error(values: Array, right: Array) -> float:
    """Return the expected calibration error over ten bins."""
    bins = np.minimum((values * 10).astype(int), 9)
    return float(
        sum(abs(values[bins == at].sum() - right[bins == at].sum()) for at in range(10)) / len(right)
    )


def show(found: Sequence[Case], values: Array, console: Console) -> None:
    """Print how well right and wrong are told apart in each family, and what thresholds decline and lose."""
    right = np.array([case.right for case in found])
    known = np.array([case.answerable for case in found])
    away = np.array([case.part in {"foreign", "moved"} for case in found])
    hidden = ~known & ~right & ~away
    for name in dict.fromkeys(case.family for case in found):
        own = np.array([case.family == name for case in found])
        good, bad = values[own & right], values[own & ~right]
        above = (good[:, None] > bad).mean() + (good[:, None] == bad).mean() / 2
        error = calibration_error(values[own], right[own])
        console.print(
            f"  {name}: {own.sum()}, right {right[own].mean():.3f}, said {values[own].mean():.3f}, "
            f"area {above:.3f}, expected calibration error {error:.3f}"
        )
    for least in np.arange(0.05, 0.55, 0.05):
        lost, *declined = ((values[of] < least).mean() for of in (right & known, hidden, away))
        console.print(
            f"  below {least:.2f}: right answers lost {lost:.3f}, declined with the relation hidden "
            f"{declined[0]:.3f}, about something else {declined[1]:.3f}"
        )


def main() -> None:
    """Fit both sets of weights and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asked", type=int, default=150, help="questions of each set to fit on")
    parser.add_argument("--folder", type=Path, help="where exemplars are built, and reused from")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    console = Console(soft_wrap=True)
    every = [case for part in parts(given.asked) for case in asyncio.run(cases(part, folder))]
    for trained in (True, False):
        found = random.Random(1).sample(
            [case for case in every if case.trained is trained],
            k=sum(case.trained is trained for case in every),
        )
        columns = np.ones(len(SIGNALS))
        console.print(f"trained: {trained}")
        console.print(
            {
                name: round(float(value), 2)
                for name, value in zip(SIGNALS, fitted(found, columns), strict=True)
            }
        )
        show(found, crossed(found, columns), console)


if __name__ == "__main__":
    main()
