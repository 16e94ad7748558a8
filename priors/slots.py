"""Slots and blueprints: the relations that lead from topic entities to an answer, and no entity.

>>> branch = (Slot("film.actor.film"), Slot("film.performance.film"))
>>> str(Blueprint((branch, (Slot.parse("^film.film_genre.films_in_this_genre"),))))
'film.actor.film film.performance.film & ^film.film_genre.films_in_this_genre'
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import GetPydanticSchema
from pydantic_core import core_schema

INVERSE_MARK = "^"  # stands before a relation that is followed against its arrow
ARROW = " -> "  # stands between the relations of a template (CoG §3.1)


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A place for one hop: the local name of its relation, which is not blank, and its direction."""

    relation: str
    forward: bool = True

    def __post_init__(self) -> None:
        if not self.relation.strip() or self.relation.startswith(INVERSE_MARK):
            raise ValueError(f"not the name of a relation: {self.relation[:80]!r}")

    @staticmethod
    def parse(text: str) -> "Slot":
        """Read ``film.director.film`` or ``^film.director.film``; a ValueError where no relation is named."""
        return Slot(text.removeprefix(INVERSE_MARK), not text.startswith(INVERSE_MARK))

    def __str__(self) -> str:
        """Write the slot as `parse` reads it."""
        return self.relation if self.forward else f"{INVERSE_MARK}{self.relation}"


@dataclass(frozen=True, slots=True)
class Blueprint:
    """A small tree: each branch leads from a topic entity, or another constant, to the answer.

    The first branch of each topic entity comes first, in their order; no branch is empty.
    """

    branches: tuple[tuple[Slot, ...], ...]

    def __post_init__(self) -> None:
        if not self.branches or not all(self.branches):
            raise ValueError("a blueprint has at least one branch, and a branch at least one slot")

    @staticmethod
    def parse(branches: list[list[str]]) -> "Blueprint":
        """Read branches of slots as `Slot.parse` reads them."""
        return Blueprint(tuple(tuple(map(Slot.parse, branch)) for branch in branches))

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The linear reading, S of CoG equation 1: the first branch, then what each further one adds.

        A slot that an earlier branch has is not repeated. A branch that takes one relation
        twice ("the parents of the parents") keeps both.

        >>> a, b, c = Slot("a"), Slot("b"), Slot("c")
        >>> [str(slot) for slot in Blueprint(((a, a, b), (c, b))).slots]
        ['a', 'a', 'b', 'c']
        """
        read: list[Slot] = []
        for branch in self.branches:
            read += [slot for slot in branch if slot not in read]
        return tuple(read)

    @property
    def template(self) -> str:
        """The names of the relations of the linear reading: what blueprints are deduplicated by.

        >>> Blueprint(((Slot("a.b.c"), Slot("d.e.f", forward=False)),)).template
        'a.b.c -> d.e.f'
        """
        return ARROW.join(slot.relation for slot in self.slots)

    def branch(self, at: int) -> tuple[Slot, ...]:
        """Return the branch of topic entity number ``at`` (from 0), or the linear reading if it has none."""
        return self.branches[at] if 0 <= at < len(self.branches) else self.slots

    def __iter__(self) -> Iterator[tuple[Slot, ...]]:
        """Iterate over the branches."""
        return iter(self.branches)

    def __str__(self) -> str:
        """Draw the branches, each as its slots."""
        return " & ".join(" ".join(map(str, branch)) for branch in self.branches)


def _written_as(kind: Any, read: Callable[[Any], object], write: Callable[[Any], object]) -> Any:
    """Let pydantic write a type as JSON of another kind, and read it from there."""
    writer = core_schema.plain_serializer_function_ser_schema(write)
    validated = core_schema.no_info_after_validator_function
    return GetPydanticSchema(lambda _, schema_of: validated(read, schema_of(kind), serialization=writer))


SlotText: TypeAlias = Annotated[Slot, _written_as(str, Slot.parse, str)]  # a slot that is text in JSON
BlueprintLists: TypeAlias = Annotated[  # a blueprint whose branches are lists of text in JSON
    Blueprint,
    _written_as(list[list[str]], Blueprint.parse, lambda tree: [[*map(str, each)] for each in tree]),
]
