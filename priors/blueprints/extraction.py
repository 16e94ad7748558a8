"""Extracts blueprints: of a question with its query or gold paths only relations are left (CoG §3.1).

The branches of a query are those that `kgqa.kg.algebra` reads: they end at the answer, and
casts, classes, names and what only filters or sorts have no part in them.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from kgqa.kg.dialect import DIALECTS, FB, is_ignored
from kgqa.kg.lenient import PREFIXES
from kgqa.kg.terms import is_iri, local_name
from kgqa.priors.blueprints.examples import Example, GoldPath
from kgqa.priors.blueprints.masking import mask
from kgqa.priors.blueprints.queries import Branch, Read, read_all
from kgqa.priors.blueprints.slots import INVERSE, Blueprint, Slot

NOTHING = "no SPARQL and no gold path"
NO_RELATION = "no relation is left of the gold paths"
UNKNOWN = "a relation that is not among those given"
OFF_SCHEMA = "a relation outside of the schema, such as a user's own"


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question, as it is and masked, and its blueprint, or in a few words why it has none."""

    question: str
    masked: str
    blueprint: Blueprint | str


def lessons(examples: Iterable[Example], relations: Collection[str] | None = None) -> Iterator[Lesson]:
    """Extract the blueprint of each example, in their order.

    Args:
        examples: the questions.
        relations: local names; a blueprint with any other relation is left out.

    Raises:
        BlueprintError: if queries cannot be read at all.
    """
    given = list(examples)
    read = read_all(example.sparql for example in given if example.sparql)
    for example in given:
        question = example.question.encode("utf-8", "replace").decode()  # half of a pair is no character
        found = extract(example, read.get(example.sparql or "", NOTHING))
        if isinstance(found, Blueprint):
            found = _refused(found, relations) or found
        yield Lesson(question, mask(question, example.names), found)


def extract(example: Example, read: Read) -> Blueprint | str:
    """Give the blueprint of a question, from its query as ``read``, else from its gold paths.

    The shortest branch of each topic entity comes first, in the order of the file, then
    their other branches, then those of other constants.
    """
    branches = (paths_of(example) or NO_RELATION) if isinstance(read, str) and example.paths else read
    if isinstance(branches, str):
        return branches
    return Blueprint(tuple(branch.slots for branch in _ordered(branches, example)))


def paths_of(example: Example) -> tuple[Branch, ...]:
    """Give the gold paths of a question as branches, without those that no search follows."""
    return tuple(filter(None, map(_branch, example.paths)))


def _refused(blueprint: Blueprint, relations: Collection[str] | None) -> str | None:
    """Say why a blueprint is of no use elsewhere, None if it is."""
    if is_off_schema(blueprint.slots):
        return OFF_SCHEMA
    known = relations is None or all(slot.relation in relations for slot in blueprint.slots)
    return None if known else UNKNOWN


def is_off_schema(slots: Iterable[Slot]) -> bool:
    """Tell whether any relation is outside of the schema of its graph, such as a user's own."""
    names = [slot.relation for slot in slots]
    freebase = [f"{FB}{name}" for name in names if name.count(".") > 1]  # domain, type and property
    return any(dialect.is_off_schema(name) for dialect in DIALECTS.values() for name in freebase)


def _branch(path: GoldPath) -> Branch | None:
    """Read a gold path; None where it takes a relation that no search follows."""
    slots = []
    for text in path.relations:
        relation = text.removeprefix(INVERSE).strip()
        if not relation or _is_ignored(relation):
            return None
        slots.append(Slot(_local(relation), not text.startswith(INVERSE)))
    return Branch(path.start or "", tuple(slots)) if slots else None


def _local(relation: str) -> str:
    """Give the local name of an IRI, or of a name with a prefix (``wdt:P22``)."""
    prefix, colon, rest = relation.partition(":")
    return rest if colon and rest and prefix in PREFIXES else local_name(relation)


def _is_ignored(relation: str) -> bool:
    return is_ignored(relation if is_iri(relation) else f"{FB}{relation}")


def _ordered(branches: Iterable[Branch], example: Example) -> list[Branch]:
    topics = [local_name(topic.id) for topic in example.topics if topic.id]
    seen: set[str] = set()
    keyed: list[tuple[int, int, Branch]] = []
    for branch in branches:
        start = local_name(branch.start) if branch.start else ""
        place = topics.index(start) if start in topics else len(topics)
        rank = 2 if start not in topics else int(start in seen)
        seen.add(start)
        keyed.append((rank, place, branch))
    return [branch for _, _, branch in sorted(keyed, key=lambda each: each[:2])]
