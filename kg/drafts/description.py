r"""A profile as the writer of a draft reads it: a line for each class, and one for each of its properties.

>>> from kgqa.kg.dialects import XSD
>>> from kgqa.kg.profile.profile import Profile
>>> weight = PropertyProfile("http://x/weight", 9, 9, datatypes={f"{XSD}integer": 9}, distinct=9,
...     least=Literal("2", f"{XSD}integer"), most=Literal("31", f"{XSD}integer"))
>>> made = PropertyProfile("http://x/madeBy", 10, 12, ends={"http://x/Maker": 12})
>>> saw = ClassProfile("http://x/Saw", 10, 10, properties=(made, weight))
>>> [described] = describe_classes(Schema(Profile((saw,))), Names({"x": "http://x/"}), local_name)
>>> print(described.line, *(each.line for each in described.properties), sep="\n")
x:Saw, 10 members
  x:madeBy -> x:Maker, several each
  x:weight 90%: integer 2 … 31
>>> profile = Profile((saw,), types=("http://x/is",))
>>> describe_classes(Schema(profile), Names({"x": "http://x/"}), local_name)[0].line
'x:Saw, 10 members (?x x:is x:Saw)'
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgqa.kg.dialects import RDF
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.schema import Schema, Use, ValueKind
from kgqa.kg.profile.cards import class_name, relation_name
from kgqa.kg.profile.profile import UNTYPED, ClassProfile, PropertyProfile
from kgqa.kg.terms import Entity, Hop, Literal, local_name, one_line

MAX_VALUES_SHOWN = 12  # of an enumeration
MAX_EXAMPLES_SHOWN = 2  # of other values
MAX_VALUE_CHARS = 40
MAX_ENDS_SHOWN = 3
MAX_INNER = 6
MAX_COMMENT_CHARS = 100


@dataclass(frozen=True, slots=True)
class DescribedProperty:
    """A property of a class in a line.

    Attributes:
        words: Its name.
        joins: The classes that it leads to.
        values: The texts of an enumeration.
        kinds: What its values are compared as.
        is_single: Whether no member has more than one value.
        share: The share of the members that have it.
        is_open: Whether it leads to nodes without a class.
    """

    relation: str
    words: str
    line: str
    joins: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    kinds: tuple[ValueKind, ...] = ()
    is_single: bool = True
    share: float = 1.0
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class DescribedClass:
    """A class in a line, its name and what is said of it, and its properties, most common first.

    ``below`` are the other classes that its members may be of; ``members`` is how many it has itself.
    """

    id: str
    words: str
    line: str
    properties: tuple[DescribedProperty, ...]
    name: str = ""
    below: tuple[str, ...] = ()
    members: int = 0


@dataclass(frozen=True, slots=True)
class FoundTerm:
    """What words of a question are called in the graph: an entity or a value.

    ``hops`` lead on from it, and ``classes`` are its own.
    """

    text: str
    term: Entity | Literal
    classes: tuple[str, ...] = ()
    hops: tuple[Hop, ...] = ()


def describe_classes(schema: Schema, names: Names, label: Callable[[str], str]) -> list[DescribedClass]:
    """Return the classes of a profile, and what has no class; ``label`` says how relations are shown."""
    writer = _Writer(schema, names, label)
    return [
        writer.describe(each)
        for each in schema.profile.classes
        if each.properties or each.superclasses or schema.has_below(each.id)
    ]


@dataclass(frozen=True)
class _Writer:
    schema: Schema
    names: Names
    label: Callable[[str], str]

    def describe(self, of: ClassProfile) -> DescribedClass:
        name = class_name(of)
        parts = [self._called(of.id, name) if of.id else "(nodes without a class)"]
        below = [each for each in self.schema.kinds_below(of.id) if each.id != of.id] if of.id else []
        if of.members or not below:
            is_a = next(iter(self.schema.profile.types), f"{RDF}type") if of.id else f"{RDF}type"
            how = f" (?x {self.names.write(is_a)} {self.names.write(of.id)})"
            parts.append(f"{of.members} members{how if is_a != f'{RDF}type' else ''}")
        if below:
            kinds = ", ".join(self.names.write(each.id) for each in below[:MAX_ENDS_SHOWN])
            of_all = "" if of.members else ", all of them of its kinds"
            parts.append(f"kinds: {kinds}{of_all} (?x a/rdfs:subClassOf* {self.names.write(of.id)})")
        parts += [f"named by {', '.join(map(self.names.write, of.naming))}"] if of.naming else []
        parts += [f"e.g. {self._id(of.examples[0].id)}"] if of.examples and not of.naming and of.id else []
        comment = one_line(of.wording.comment, MAX_COMMENT_CHARS)
        return DescribedClass(
            of.id,
            " ".join(filter(None, [name, comment])),
            ", ".join(parts),
            tuple(self._property(of, each) for each in of.properties),
            name,
            tuple(each.id for each in below),
            of.members if of.id else 0,
        )

    def _called(self, id: str, name: str) -> str:
        """Write an IRI, with its name where that says more."""
        plain = "".join(filter(str.isalnum, name)).casefold()
        said = "".join(filter(str.isalnum, local_name(id))).casefold()
        return self.names.write(id) + (f' "{one_line(name, MAX_VALUE_CHARS)}"' if plain not in said else "")

    def _id(self, id: str) -> str:
        return self.names.write(id) if not id.startswith("_:") else "[]"

    def _property(self, owner: ClassProfile, of: PropertyProfile) -> DescribedProperty:
        name = relation_name(self.schema.profile, of.relation, self.label)
        share = owner.share(of)
        had = "" if share >= 0.995 else f" {max(0.01, share):.0%}"
        ends = sorted(of.ends, key=lambda id: (id == UNTYPED, -of.ends[id], id))
        parts = [f"-> {', '.join(self._ends(of, ends))}"] if of.ends else []
        parts += [" ".join(self._values(Use(owner, of)))] if of.datatypes else []
        several = "" if of.is_single else ", several each"
        colon = "" if parts and parts[0].startswith("->") else ":"
        return DescribedProperty(
            of.relation,
            name,
            f"  {self._called(of.relation, name)}{had}{colon} {' or '.join(parts)}{several}",
            tuple(id for id in ends if id),
            tuple(each.value for each in of.values if of.is_enumeration and of.least is None),
            tuple(sorted(Use(owner, of).kinds)),
            of.is_single,
            share,
            UNTYPED in of.ends,
        )

    def _ends(self, of: PropertyProfile, ends: list[str]) -> Iterator[str]:
        for id in ends[:MAX_ENDS_SHOWN]:
            if id:
                yield self.names.write(id)
        if UNTYPED in ends:
            inner = ", ".join(self.names.write(each.relation) for each in of.inner[:MAX_INNER])
            yield f"[{inner}]" if inner else "nodes without a class"

    def _values(self, use: Use) -> Iterator[str]:
        """Yield the kind of values and which there are: all of an enumeration, a range, or examples."""
        of = use.profile
        kinds = sorted({local_name(each) for each in of.datatypes})
        if use.kinds == {"number as text"}:
            yield "numbers as text (to compare or add, cast with xsd:decimal)"
        else:
            yield " or ".join(kinds).replace("string", "text").replace("langString", "text")
        texts = [each for each in of.values if one_line(each.value, MAX_VALUE_CHARS) == each.value]
        if of.least is not None and of.most is not None:
            yield " … ".join(dict.fromkeys([of.least.value, of.most.value]))
        elif of.is_enumeration and len(texts) == len(of.values) <= MAX_VALUES_SHOWN:
            yield f"one of {', '.join(map(_quote, texts))}"
        elif texts:
            yield f"such as {', '.join(map(_quote, texts[:MAX_EXAMPLES_SHOWN]))}"


def _quote(value: Literal) -> str:
    escaped = value.value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' + (f"@{value.language}" if value.language else "")
