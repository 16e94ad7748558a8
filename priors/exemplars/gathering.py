"""Makes exemplars of questions, one for each topic that a chain leads from, and solutions of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from kgqa.kg.asked import Asked, read_asked
from kgqa.kg.terms import local_name
from kgqa.priors.blueprints.examples import Example, Topic
from kgqa.priors.blueprints.extraction import NOTHING, OFF_SCHEMA, is_off_schema, paths_of
from kgqa.priors.blueprints.queries import Branch, Read, read_all
from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.exemplars.exemplar import Exemplar
from kgqa.priors.exemplars.masking import masked
from kgqa.priors.exemplars.solution import Solution, merged, printable, solved

NO_TOPIC = "no chain from a topic entity"

_Chains: TypeAlias = dict[int, tuple[Slot, ...]]
"""The chains of a question by the places of their topics."""


class Gathered(NamedTuple):
    """What came of questions.

    Attributes:
        exemplars: Each once, in their order.
        solutions: Each once, in their order.
        questions: How many questions were read.
        without: How many of them gave no exemplar, by reason.
    """

    exemplars: tuple[Exemplar, ...]
    solutions: tuple[Solution, ...]
    questions: int
    without: Counter[str]


def gather(examples: Iterable[Example], categories: Mapping[Topic, str] | None = None) -> Gathered:
    """Make the exemplars and the solutions of questions; equal ones are one of more weight.

    Args:
        examples: the questions.
        categories: what kind of thing their topics are, as far as that is known.

    Raises:
        BlueprintError: if queries cannot be read at all.
    """
    given = list(examples)
    read = read_all(example.sparql for example in given if example.sparql)
    counted: Counter[Exemplar] = Counter()
    without: Counter[str] = Counter()
    solutions: list[Solution] = []
    for example in given:
        chains = _chains(example, read.get(example.sparql or "", NOTHING))
        if isinstance(chains, str):
            without[chains] += 1
        else:
            counted.update(_exemplars(example, chains))
            solutions.append(solved(example, chains, categories or {}))
    weighed = (replace(exemplar, weight=weight) for exemplar, weight in counted.items())
    return Gathered(tuple(sorted(weighed)), merged(solutions), len(given), without)


def _chains(example: Example, read: Read) -> _Chains | str:
    """Give the chain of each topic that has one, or in a few words why none has."""
    queried, paths = () if isinstance(read, str) else read, paths_of(example)
    found: _Chains = {}
    for place, topic in enumerate(example.topics):
        # of a query that unites alternatives, only the first was read
        own = _own(queried, topic) or _own(paths, topic, alone=len(example.topics) == 1)
        if own:
            found[place] = min((branch.slots for branch in own), key=len)
    if any(map(is_off_schema, found.values())):
        return OFF_SCHEMA
    return found or (read if isinstance(read, str) and not paths else NO_TOPIC)


def _own(branches: Iterable[Branch], topic: Topic, alone: bool = False) -> list[Branch]:
    """Give the branches from a topic; those from nowhere too where it is the only one."""
    name = local_name(topic.id) if topic.id else ""
    return [
        branch
        for branch in branches
        if (local_name(branch.start) == name if branch.start and name else alone and not branch.start)
    ]


def _exemplars(example: Example, chains: _Chains) -> Iterator[Exemplar]:
    asked = read_asked(example.sparql) if example.sparql else Asked()
    question = printable(example.question)
    for place, chain in chains.items():
        others = [topic.name for at, topic in enumerate(example.topics) if at != place and topic.name]
        yield Exemplar(masked(question, example.topics[place].name, others), chain, asked)
