"""Fits the weights by which the offline model ranks ways; prints them, and what each brings.

Goes by training parts alone: exemplars are built from one part of them, the weights fitted
on another. Needs the question sets of the data folder (KGQA_DATA). Takes about ten minutes;
its columns are those of `FEATURES` in ``retrieval/chain_ranking.py``.
"""

import argparse
import asyncio
import gzip
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from rich.console import Console

from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.scoring.matching import answer_keys, merge_duplicates
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Entity
from kgqa.priors.encoder import CachedEncoder, open_encoder
from kgqa.priors.exemplars import EXEMPLAR_STORE, build_exemplars, read_exemplars
from kgqa.priors.masking import mask_topic
from kgqa.priors.training_questions import read_training_questions
from kgqa.retrieval.candidate_chains import (
    CandidateChain,
    InverseRelations,
    TrainingAdvice,
    find_inverse_relations,
)
from kgqa.retrieval.chain_ranking import FEATURES, chain_features
from kgqa.retrieval.chain_search import HopPolicy, search_chains as search
from kgqa.retrieval.lookups import Lookups
from kgqa.retrieval.retriever import NEAREST_QUESTIONS
from kgqa.retrieval.wording import QuestionWording, relation_texts
from kgqa.tests.support.perfect import DATA

SOFT = 0.02
"""What is added to the expected F1 before its logarithm is taken."""

FOLDS = 5
SAMPLE_FOLDS = 3
"""The sample has few questions: exemplars are built from two thirds of them, in turn."""

WITHOUT = {
    "with_hop_model": frozenset({"votes"}),
    "with_nearest": frozenset({"learned", "sure", "whole", "named"}),
    "untrained": frozenset({"learned", "sure", "votes", "alone", "named"}),
}
"""The features that a set of weights goes without: those that say nothing there, or spoil another set."""

Array = npt.NDArray[np.float64]
Record = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """Questions of one kind: the graph, what is learned from, and what the weights are fitted on."""

    name: str
    kg: tuple[str, ...]
    learned: list[Record]
    asked: list[Record]
    fold: int = 0


@dataclass(frozen=True)
class Case:
    """A question: its ways, a row of features and an F1 for each, and whether any answer is right."""

    table: Array
    f1: Array
    hit: Array


def records(name: str | Path, **wanted: str) -> list[Record]:
    """Read the records of a file that have these values, shuffled."""
    with gzip.open(DATA / name) as file:
        lines = [orjson.loads(line) for line in file]
    kept = [line for line in lines if all(line[key] == value for key, value in wanted.items())]
    return random.Random(1).sample(kept, len(kept))


def parts(asked: int) -> Iterator[Part]:
    """Return the parts, with so many questions of each set to fit on; more of WebQSP."""
    slice_ = ("freebase/freebase_slice.nt.gz", "freebase/freebase_slice_gnnrag.nt.gz")
    questions = records("freebase/webqsp_slice_union.jsonl.gz", split="train")
    yield Part("webqsp", slice_, records("train/webqsp_train.jsonl.gz"), questions)
    for hops in (2, 3):
        kept = records(f"pathquestion/pq-{hops}h.jsonl.gz", split="train", split_group="train")
        kept.sort(key=lambda line: sum(map(ord, "".join(line["gold_chain"]))) % 97)
        yield Part(f"pq-{hops}h", (f"pathquestion/pq-{hops}h.nt.gz",), kept[asked:], kept[:asked])
    sets = [records(f"metaqa/metaqa-{hops}hop-train.jsonl.gz") for hops in (1, 2, 3)]
    few = asked // 2
    rest = [line for lines in sets for line in lines[few:]]
    sample = records(SAMPLE_QUESTIONS, split="train")
    for fold in range(SAMPLE_FOLDS):
        kept = [line for at, line in enumerate(sample) if at % SAMPLE_FOLDS != fold]
        yield Part("sample", (str(SAMPLE_GRAPH),), kept, sample[fold::SAMPLE_FOLDS], fold)
    yield Part("metaqa", ("metaqa/metaqa.nt.gz",), rest, [line for lines in sets for line in lines[:few]])


async def cases(part: Part, folder: Path, weights: str) -> list[Case]:
    """Search ways for the questions of a part with the advice that the weights are for.

    Questions without a way are left out.
    """
    graph, memo = open_graph([DATA / name for name in part.kg]), CachedEncoder(open_encoder)
    memo.preload([text for each in graph.relations for text in relation_texts(graph.relation_label(each))])
    out = folder / f"{part.name}-{part.fold}"
    if not out.exists():
        build_exemplars(read_training_questions(part.learned), out, memo.encode, memo.name)
    exemplars = read_exemplars(EXEMPLAR_STORE.open(out, memo.name), memo.encode)
    mirrors = await find_inverse_relations(graph)

    def advice(view: str) -> TrainingAdvice:
        if weights == "untrained":
            return TrainingAdvice((), ())
        return TrainingAdvice(
            exemplars.nearest(view, NEAREST_QUESTIONS),
            exemplars.hops(view) if weights == "with_hop_model" else (),
        )

    found = [await _case(line, graph, memo, advice, mirrors) for line in part.asked]
    return [case for case in found if case is not None]


async def _case(
    line: Record,
    graph: KnowledgeGraph,
    memo: CachedEncoder,
    ask: Callable[[str], TrainingAdvice],
    mirrors: InverseRelations,
) -> Case | None:
    topic = line["topic_entities"][-1]
    others = [each["name"] for each in line["topic_entities"][:-1] if each["name"]]
    view = mask_topic(line["question"], topic["name"], others)
    told = ask(view)
    advice = mirrors.normalise_advice(told)
    wording = QuestionWording(view, memo.encode)
    policy = HopPolicy(advice, wording, mirrors.slot)
    start, lookups = Entity(topic["id"], topic["name"]), Lookups(graph)
    found = (await search({start: policy}, lookups))[start]
    ways = [
        replace(way, moves=tuple(lookups.moves(way.chain))) for way in mirrors.merge_chains(found, told.hops)
    ]
    if not ways:
        return None
    said = wording.chains([way.chain.hops for way in ways])
    scored = [_f1(way, line["answers"]) for way in ways]
    table = chain_features(view, ways, advice, said, memo.encode, mirrors)
    return Case(table, np.array(scored), np.array([score > 0 for score in scored]))


def _f1(way: CandidateChain, answers: Sequence[Record]) -> float:
    gold = [answer_keys(EntityRef(each["id"], each["name"])) for each in answers]
    fresh = [end for end in way.ends if not end.returning] or way.ends
    given = merge_duplicates(answer_keys(EntityRef(end.term.id, end.term.name)) for end in fresh)
    right = sum(any(one.matches(other) for other in gold) for one in given)
    return 2 * min(right, len(gold)) / (len(given) + len(gold))


def fitted(cases: Sequence[Case], weights: Sequence[float], columns: Array) -> Array:
    """Fit weights to the logarithm of the expected F1; ``columns`` that are 0 stay out."""
    from scipy.optimize import minimize

    scale = np.concatenate([case.table for case in cases]).std(0) + 1e-9

    def loss(values: Array) -> tuple[float, Array]:
        total, slope = 0.5 * float(values @ values), values.copy()
        for case, weight in zip(cases, weights, strict=True):
            table = case.table / scale * columns
            logits = table @ values
            shares = np.exp(logits - logits.max())
            shares /= shares.sum()
            expected = float(shares @ case.f1)
            total -= weight * np.log(expected + SOFT)
            slope -= weight * ((shares * (case.f1 - expected)) @ table) / (expected + SOFT)
        return total, slope

    found = minimize(loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B").x
    return np.asarray(found * columns / scale)


def crossed(sets: dict[str, list[Case]], columns: Array) -> str:
    """Cross-validate: hit-any and F1 of the chosen way in each set."""
    sums = {name: np.zeros(2) for name in sets}
    for fold in range(FOLDS):
        kept = {name: [c for at, c in enumerate(cs) if at % FOLDS != fold] for name, cs in sets.items()}
        values = fitted(*_balanced(kept), columns)
        for name, each in sets.items():
            for case in each[fold::FOLDS]:
                best = int(np.argmax(case.table @ values))
                sums[name] += case.hit[best], case.f1[best]
    return "  ".join(
        f"{name} {hit / len(sets[name]):.3f} {f1 / len(sets[name]):.3f}" for name, (hit, f1) in sums.items()
    )


def _balanced(sets: dict[str, list[Case]]) -> tuple[list[Case], list[float]]:
    """Let the sets weigh the same, whatever their size, and leave out what cannot be answered."""
    useful = {name: [case for case in cases if case.f1.max() > 0] for name, cases in sets.items()}
    mean = sum(map(len, useful.values())) / len(useful)
    pairs = [(case, mean / len(cases)) for cases in useful.values() for case in cases]
    return [case for case, _ in pairs], [weight for _, weight in pairs]


def main() -> None:
    """Fit each set of weights and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asked", type=int, default=200, help="questions of each set to fit on")
    parser.add_argument("--folder", type=Path, help="where exemplars are built, and reused from")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    console = Console(soft_wrap=True)
    for weights, left_out in WITHOUT.items():
        sets: dict[str, list[Case]] = {}
        for part in parts(given.asked):
            sets.setdefault(part.name, []).extend(asyncio.run(cases(part, folder, weights)))
        values = fitted(*_balanced(sets), _columns(left_out))
        named = {name: round(float(value), 2) for name, value in zip(FEATURES, values, strict=True)}
        console.print(f"{weights} = {named}")
        console.print(f"  hit-any and F1, cross-validated: {crossed(sets, _columns(left_out))}")
        for name in FEATURES.keys() - left_out:
            console.print(f"  without {name}: {crossed(sets, _columns(left_out | {name}))}")


def _columns(left_out: frozenset[str]) -> Array:
    return np.array([float(name not in left_out) for name in FEATURES])


if __name__ == "__main__":
    main()
