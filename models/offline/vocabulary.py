"""The classes and properties that a query can be made of, and how they are joined."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgqa.kg.drafts.description import DescribedClass, DescribedProperty
from kgqa.kg.terms import local_name
from kgqa.kg.text import in_words

MAX_MEASURED_PROPERTIES = 2  # of a class whose members stand for the one number that they have
NUMBERS = frozenset({"number", "number as text"})


class Owned(NamedTuple):
    """A property of a class, and how well words say it."""

    owner: str
    part: DescribedProperty
    score: float


class Vocabulary:
    """The classes that a query can name, and how they are joined."""

    def __init__(self, classes: Sequence[DescribedClass]) -> None:
        ends = {end for each in classes for part in each.properties for end in part.joins}
        ends |= {"" for each in classes for part in each.properties if part.is_open}
        bare = (DescribedClass(id, "", "", (), in_words(local_name(id))) for id in sorted(ends))
        self.classes = {each.id: each for each in (*bare, *classes)}
        self.joins: dict[str, list[tuple[DescribedProperty, bool, str]]] = defaultdict(list)
        for each in classes:
            for part in each.properties:
                for end in (*part.joins, *[""] * part.is_open):
                    if end in self.classes:
                        self.joins[each.id].append((part, True, end))
                        self.joins[end].append((part, False, each.id))

    def kinds(self, id: str) -> frozenset[str]:
        """Return a class and all below it."""
        return frozenset({id, *(self.classes[id].below if id in self.classes else ())})

    def ends(self, part: DescribedProperty) -> frozenset[str]:
        """Return the classes of what a property leads to."""
        return frozenset({*part.joins, *[""] * part.is_open})

    def owned(self) -> Iterator[tuple[str, DescribedProperty]]:
        """Yield each property of each class."""
        return ((each.id, part) for each in self.classes.values() for part in each.properties)

    def number_of(self, part: DescribedProperty) -> Owned | None:
        """Return the one number that each thing stands for to which a property leads, as a price does."""
        for id in part.joins if not part.kinds else ():
            of = self.classes.get(id)
            numbers = [each for each in of.properties if NUMBERS & {*each.kinds}] if of else []
            alone = of and len(of.properties) <= MAX_MEASURED_PROPERTIES
            if of and alone and len(numbers) == 1 and all(each.kinds for each in of.properties):
                return Owned(id, numbers[0], 1.0)
        return None
