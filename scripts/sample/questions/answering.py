"""From drafts to questions: SPARQL run on the graph, gold paths checked, sides taken."""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain

from typing_extensions import TypedDict

from kgqa.scripts.sample.graph import BASE
from kgqa.scripts.sample.questions import chains, comparisons, counts, intersections, superlatives
from kgqa.scripts.sample.questions.draft import Draft, Kind, Topic, sparql
from kgqa.scripts.sample.questions.lookup import Lookup, QuestionError, Term

_FAMILIES = (chains, intersections, counts, superlatives, comparisons)
_MOST_ANSWERS = 40


class Named(TypedDict):
    """A node or literal with its name; of a literal both are the lexical form."""

    id: str
    name: str


class GoldPath(TypedDict):
    """A topic and the hops from it."""

    topic: str
    path: list[str]


class Question(TypedDict, total=False):
    """One line of the question file; it has one `gold_path`, or `gold_paths` for two topics."""

    id: str
    question: str
    topic_entities: list[Named]
    answers: list[Named]
    gold_path: list[str]
    gold_paths: list[GoldPath]
    sparql: str
    hops: int
    kind: str
    split: str


def build_questions(triples: Iterable[str]) -> list[Question]:
    """Answer every draft on the graph.

    Args:
        triples: The graph, as lines of N-Triples.

    Raises:
        QuestionError: A topic is missing or ambiguous, or the answers are none, too many,
            unnamed, tied, or not what the gold paths lead to.
    """
    graph = Lookup(triples)
    drafts = list(chain.from_iterable(family.drafts() for family in _FAMILIES))
    sides = _sides(drafts)
    return [
        _question(graph, draft, f"{kind.value}-{number:03d}", sides[draft.meaning])
        for kind in Kind
        for number, draft in enumerate((draft for draft in drafts if draft.kind is kind), 1)
    ]


def _sides(drafts: Sequence[Draft]) -> dict[str, str]:
    """Train or test by meaning, in turns within each kind, in an order that means nothing."""
    sides: dict[str, str] = {}
    for kind in Kind:
        meanings = {draft.meaning for draft in drafts if draft.kind is kind}
        shuffled = sorted(meanings, key=lambda text: hashlib.sha256(text.encode()).hexdigest())
        sides.update({meaning: ("train", "test")[turn % 2] for turn, meaning in enumerate(shuffled)})
    return sides


def _question(graph: Lookup, draft: Draft, identifier: str, side: str) -> Question:
    def local(topic: Topic) -> str:
        return graph.find(topic).value.removeprefix(f"{BASE}e/")

    query = sparql(draft, local)
    answers = graph.select(query)
    _check(graph, draft, answers)
    question = Question(
        id=identifier,
        question=draft.text,
        topic_entities=[_named(graph, graph.find(branch.topic)) for branch in draft.branches],
        answers=sorted((_named(graph, answer) for answer in answers), key=lambda named: named["id"]),
    )
    question.update(_gold(graph, draft))
    hops = max(map(len, draft.gold_paths))
    question.update(Question(sparql=query, hops=hops, kind=draft.kind.value, split=side))
    return question


def _named(graph: Lookup, term: Term) -> Named:
    return Named(id=term.value, name=graph.name(term))


def _gold(graph: Lookup, draft: Draft) -> Question:
    if len(draft.branches) == 1:
        return Question(gold_path=list(draft.gold_paths[0]))
    topics = [graph.find(branch.topic).value for branch in draft.branches]
    pairs = zip(topics, draft.gold_paths, strict=True)
    return Question(gold_paths=[GoldPath(topic=topic, path=list(path)) for topic, path in pairs])


def _check(graph: Lookup, draft: Draft, answers: list[Term]) -> None:
    if not 1 <= len(answers) <= _MOST_ANSWERS:
        raise QuestionError(f"{draft.text} has {len(answers)} answers")
    pairs = zip(draft.branches, draft.gold_paths, strict=True)
    ends = [graph.walk(graph.find(branch.topic), path) for branch, path in pairs]
    match draft.kind:
        case Kind.CHAIN | Kind.INTERSECTION:
            sound = set.intersection(*ends) == set(answers)
        case Kind.SUPERLATIVE | Kind.COMPARISON:
            sound = len(answers) == 1 and answers[0] in set.union(*ends)
        case Kind.COUNT:
            sound = answers[0].value == str(len(ends[0]))
    if not sound:
        raise QuestionError(f"the gold paths of {draft.text} lead elsewhere, or the best are tied")
