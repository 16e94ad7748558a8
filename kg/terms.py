"""The typed, immutable terms that everything else is made of.

Terms carry ids, never SPARQL text; an id that could break out of a query is
refused when the term is made.

>>> chain = Chain(Entity("http://x/Ulm", "Ulm"), (Hop("http://x/born_in", forward=False),))
>>> str(chain)
'Ulm <-born_in-'
>>> str(chain.constrained_to([Entity("http://x/Ada", "Ada"), Entity("_:b")]).then(Hop("http://x/wrote")))
'Ulm <-born_in- (only _:b, Ada) -wrote->'
>>> Entity("http://x/a> ?p ?o")
Traceback (most recent call last):
...
ValueError: not an IRI or blank node: 'http://x/a> ?p ?o'
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias
from urllib.parse import quote, unquote

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*")
_ODD_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_ID = re.compile(rf"{_IRI.pattern}|_:[A-Za-z0-9_][A-Za-z0-9_.-]*")
_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")

_MAX_SHOWN_ENTITIES = 3  # of the entities that a chain is held to, how many its text names

_UNPRINTABLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_INVISIBLE_MARKS = re.compile("[\u034f\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
"""Marks that change how the character before them looks, if at all: words can be hidden in them."""
_BLANK_CHARACTERS = re.compile("[\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
"""Letters and signs that look like a space."""

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"

VALUE_NAMESPACE = "urn:kgqa:value:"
"""Ids of values that a chain sets out from; queries write them as the literals that they stand for."""
KINDS_NAMESPACE = "urn:kgqa:kinds:"
"""Ids of classes and concepts that stand for all below them, where these are entities themselves."""
TERM_NAMESPACE = "urn:kgqa:term:"
"""Ids of classes and relations that stand for themselves, where a question is about the schema."""
_VALUE_ID = re.compile(rf"{VALUE_NAMESPACE}([^@:]*)(?:@([^@:]+)|:([^@:]+))?")


def is_iri(text: str) -> bool:
    """Return whether ``text`` is an absolute IRI that is safe inside ``<`` and ``>``."""
    return _IRI.fullmatch(text) is not None


def escape_iri(text: str) -> str:
    """Return an IRI with the characters escaped that none may have.

    >>> escape_iri("http://x.test/ac me"), escape_iri("http://x.test/Köln")
    ('http://x.test/ac%20me', 'http://x.test/Köln')
    """
    return _ODD_IN_IRI.sub(lambda odd: f"%{ord(odd[0]):02X}", text)


def is_id(text: str) -> bool:
    """Return whether ``text`` can be the id of an entity: an IRI or a blank node."""
    return _ID.fullmatch(text) is not None


@lru_cache(maxsize=1 << 16)
def local_name(iri: str) -> str:
    """Return the part of an IRI after its last ``#`` or ``/``, or all of it.

    >>> local_name("http://rdf.freebase.com/ns/people.person.parents")
    'people.person.parents'
    """
    return re.split(r"[#/]", iri.rstrip("#/"))[-1] or iri


def replace_surrogates(text: str) -> str:
    """Put a question mark where half of a character stands, which no file, request or tokenizer takes."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: str, limit: int = 200) -> str:
    r"""Write a name on one line of at most ``limit`` characters that cannot pass for anything else.

    Control and formatting characters (line breaks, escapes, right-to-left marks) and
    whatever else is not seen become spaces or are left out, and what is longer is cut.

    >>> one_line("Ulm\x1b[31m  and\nmore", limit=12)
    'Ulm [31m an…'
    """
    plain = text[: 4 * limit]
    if not plain.isascii():
        plain = _BLANK_CHARACTERS.sub(" ", _INVISIBLE_MARKS.sub("", plain))
    if not plain.isprintable():
        plain = "".join(" " if unicodedata.category(c) in _UNPRINTABLE else c for c in plain)
    words = " ".join(plain.split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _require(ok: bool, what: str, text: str) -> None:
    if not ok:
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise ValueError(f"not {what}: {shown!r}")


@dataclass(frozen=True, slots=True, order=True)
class Entity:
    """A node: ``id`` is an IRI (or ``_:label`` for a blank node).

    ``name`` is None for an unnamed node such as a Freebase mediator. Two
    entities are equal when their ids are.

    Raises:
        ValueError: if ``id`` is neither an IRI nor a blank node.
    """

    id: str
    name: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _require(_ID.fullmatch(self.id) is not None, "an IRI or blank node", self.id)

    def __str__(self) -> str:
        """Return the name, or the id where there is none."""
        return self.name or self.id


@dataclass(frozen=True, slots=True, order=True)
class Literal:
    """A value: its lexical form, its datatype IRI and its language tag.

    Raises:
        ValueError: if the datatype is no IRI or the language no tag.
    """

    value: str
    datatype: str = XSD_STRING
    language: str = ""

    def __post_init__(self) -> None:
        if self.datatype != XSD_STRING:
            _require(is_iri(self.datatype), "an IRI", self.datatype)
        if self.language:
            _require(_LANGUAGE.fullmatch(self.language) is not None, "a language tag", self.language)

    @property
    def id(self) -> str:
        """The lexical form: what a record gives as the id of a literal answer."""
        return self.value

    @property
    def name(self) -> str:
        """The lexical form: a literal is its own name."""
        return self.value

    def __str__(self) -> str:
        """Return the lexical form."""
        return self.value


Term: TypeAlias = Entity | Literal


def value_node(value: Literal) -> Entity:
    """Return what stands for a value where a chain sets out from it.

    >>> value_node(Literal("a: b", language="en")).id, value_node(Literal("Ulm")).name
    ('urn:kgqa:value:a%3A%20b@en', 'Ulm')
    """
    kind = f"@{value.language}" if value.language else ""
    if not kind and value.datatype != XSD_STRING:
        kind = f":{quote(value.datatype, safe='')}"
    return Entity(f"{VALUE_NAMESPACE}{quote(value.value, safe='')}{kind}", value.value)


def is_value_id(id: str) -> bool:
    """Return whether an id stands for a value."""
    return id.startswith(VALUE_NAMESPACE) and _read_value(id) is not None


def plain_term(term: "Term") -> "Term":
    """Return the value or class that an entity stands for, and any other term as it is.

    >>> [str(plain_term(each)) for each in (value_node(Literal("5", "http://x/kg")), Entity("http://x/a"))]
    ['5', 'http://x/a']
    >>> {plain_term(Entity(stands("http://x/a"))).id for stands in (kinds_of, term_of)}
    {'http://x/a'}
    """
    if isinstance(term, Entity) and (id := plain_id(term.id)) != term.id:
        return Entity(id, term.name)
    is_value = isinstance(term, Entity) and term.id.startswith(VALUE_NAMESPACE)
    return (is_value and _read_value(term.id)) or term


def kinds_of(id: str) -> str:
    """Return the id of a class or concept as that of all below it."""
    return KINDS_NAMESPACE + id


def term_of(id: str) -> str:
    """Return the id of a class or relation as that of itself, apart from its members or facts."""
    return TERM_NAMESPACE + id


def plain_id(id: str) -> str:
    """Return the id that a graph has for a class, concept or relation; any other as it is."""
    return id.removeprefix(KINDS_NAMESPACE).removeprefix(TERM_NAMESPACE)


@lru_cache(maxsize=1 << 12)
def _read_value(id: str) -> "Literal | None":
    """Read the id of a value; None for what `value_node` gives to none."""
    found = _VALUE_ID.fullmatch(id)
    text, language, datatype = (unquote(part or "") for part in found.groups()) if found else ("", "", "")
    try:
        value = Literal(text, datatype or XSD_STRING, language)
    except ValueError:
        return None
    return value if value_node(value).id == id else None


def node_id(term: "Term") -> str:
    """Return the id of an entity, or of what stands for a value."""
    return term.id if isinstance(term, Entity) else value_node(term).id


def is_blank(term: Term) -> bool:
    """Return whether a term is a node without an id of its own, so that nobody else can name it."""
    return isinstance(term, Entity) and term.id.startswith(("_:", "nodeID:"))


ANY = Entity("urn:kgqa:any", "anything")
"""The topic of a chain that sets out from no topic: it stands for any node that has the first relation."""


@dataclass(frozen=True, slots=True, order=True)
class Hop:
    """One step: a relation, with the arrow (``forward``) or against it.

    ``name`` is what the graph calls the relation, where that is not in its IRI.
    """

    relation: str
    forward: bool = True
    name: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _require(is_iri(self.relation), "an IRI", self.relation)

    @property
    def inverse(self) -> "Hop":
        """The same relation, the other way."""
        return Hop(self.relation, not self.forward, self.name)

    @property
    def words(self) -> str:
        """What the relation is shown by: its name, or the local part of its IRI."""
        return self.name or local_name(self.relation)

    def __str__(self) -> str:
        """Draw the hop as an arrow."""
        return f"-{self.words}->" if self.forward else f"<-{self.words}-"


@dataclass(frozen=True, slots=True, order=True)
class NodeConstraint:
    """A restriction of a chain: the node after ``depth`` hops is one of ``entities``.

    Raises:
        ValueError: unless ``depth`` is at least 1 and there are entities, sorted by id, each once.
    """

    depth: int
    entities: tuple[Entity, ...]

    def __post_init__(self) -> None:
        _require(self.depth >= 1, "a depth to hold a chain at, which is 1 or more", str(self.depth))
        ids = [entity.id for entity in self.entities]
        rising = bool(ids) and all(a < b for a, b in pairwise(ids))
        _require(rising, "one entity or more, sorted by id, each once", ", ".join(ids[:5]))


MAX_HOPS = 64  # hops of a chain at most: the stack of a store runs over in a query of a thousand


@dataclass(frozen=True, slots=True, order=True)
class Chain:
    """A relation chain (CoR §3): hops from a topic entity.

    The nodes between the topic and the end stay variables, apart from ``constraints``:
    sorted by depth, at most one for each. A chain without hops stands for the topic itself. From `ANY` it
    leads to what its hops lead to from anywhere.

    Raises:
        ValueError: if there are more hops than `MAX_HOPS`, or ``constraints`` are not sorted, name a
            depth twice, or one beyond the end.
    """

    topic: Entity
    hops: tuple[Hop, ...] = ()
    constraints: tuple[NodeConstraint, ...] = ()

    def __post_init__(self) -> None:
        _require(self.depth <= MAX_HOPS, f"a chain of at most {MAX_HOPS} hops", f"{self.depth} hops")
        if self.constraints:
            depths = [each.depth for each in self.constraints]
            rising = all(a < b for a, b in pairwise(depths)) and depths[-1] <= self.depth
            _require(rising, f"rising depths of at most {self.depth}", str(depths))

    @property
    def depth(self) -> int:
        """The number of hops."""
        return len(self.hops)

    @property
    def turns_back(self) -> bool:
        """Whether a hop goes back on the one before it, so that the end may be where it came from."""
        return any(one == two.inverse for one, two in pairwise(self.hops))

    @property
    def steps(self) -> tuple[tuple[Hop, tuple[Entity, ...]], ...]:
        """Each hop with the entities that may follow it, none where all may."""
        entities = {each.depth: each.entities for each in self.constraints}
        return tuple((hop, entities.get(depth, ())) for depth, hop in enumerate(self.hops, 1))

    def then(self, hop: Hop) -> "Chain":
        """Return this chain with one hop more, constrained as it is."""
        return Chain(self.topic, (*self.hops, hop), self.constraints)

    @property
    def nodes(self) -> tuple["Chain", ...]:
        """The chains that lead to its nodes after the topic, the first node's first."""
        return tuple(self.upto(depth) for depth in range(1, self.depth + 1))

    def upto(self, depth: int) -> "Chain":
        """Return the first ``depth`` hops, constrained as they are; all of it where it has no more."""
        kept = tuple(each for each in self.constraints if each.depth <= depth)
        return Chain(self.topic, self.hops[: max(depth, 0)], kept)

    def constrained_to(self, entities: Iterable[Entity]) -> "Chain":
        """Return this chain with its end constrained to ``entities`` and to nothing else.

        Raises:
            ValueError: if there are no entities or the chain has no hops.
        """
        unique = {entity.id: entity for entity in entities}
        end = NodeConstraint(self.depth, tuple(sorted(unique.values())))
        return Chain(self.topic, self.hops, (*self.upto(self.depth - 1).constraints, end))

    def __str__(self) -> str:
        """Draw the chain as arrows from the topic's name, and what constrains it."""
        arrows = (f"{hop} {_constraint_text(held)}" if held else str(hop) for hop, held in self.steps)
        return " ".join([str(self.topic), *arrows])


def _constraint_text(entities: tuple[Entity, ...]) -> str:
    names, more = ", ".join(map(str, entities[:_MAX_SHOWN_ENTITIES])), len(entities) - _MAX_SHOWN_ENTITIES
    others = f" and {more} other{'s' * (more > 1)}" if more > 0 else ""
    return f"(only {names}{others})"


@dataclass(frozen=True, slots=True, order=True)
class Triple:
    """A fact of the graph."""

    head: Entity
    relation: str
    tail: Term

    def __post_init__(self) -> None:
        _require(is_iri(self.relation), "an IRI", self.relation)


@dataclass(frozen=True, slots=True, order=True)
class Path:
    """A reasoning path: a relation chain with the node that each of its hops leads to.

    Every node but the last is an entity. A path without steps stands for its topic.

    >>> born = Path(Entity("http://x/Ulm", "Ulm")).then(Hop("http://x/born_in", False), Entity("http://x/Ada"))
    >>> str(born.then(Hop("http://x/year"), Literal("1815")))
    'Ulm <-born_in- http://x/Ada -year-> 1815'

    Raises:
        ValueError: if it goes on from a literal.
    """

    topic: Entity
    steps: tuple[tuple[Hop, Term], ...] = ()

    def __post_init__(self) -> None:
        for _, node in self.steps[:-1]:
            _require(isinstance(node, Entity), "an entity to go on from", str(node))

    @classmethod
    def of(cls, chain: Chain, facts: Sequence[Triple]) -> "Path":
        """Return the path that facts along a chain make, one for each hop."""
        pairs = [
            (fact.head, fact.tail) if hop.forward else (fact.tail, fact.head)
            for hop, fact in zip(chain.hops, facts, strict=True)
        ]
        named = [start for start, _ in pairs[:1] if start == chain.topic and isinstance(start, Entity)]
        ends = (end for _, end in pairs)
        return cls(named[0] if named else chain.topic, tuple(zip(chain.hops, ends, strict=True)))

    @property
    def end(self) -> Term:
        """The last node."""
        return self.steps[-1][1] if self.steps else self.topic

    @property
    def nodes(self) -> tuple[Term, ...]:
        """The topic and the node after each hop."""
        return (self.topic, *(node for _, node in self.steps))

    @property
    def chain(self) -> Chain:
        """The relation chain, its nodes left as variables."""
        return Chain(self.topic, tuple(hop for hop, _ in self.steps))

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The fact behind each hop.

        Raises:
            ValueError: if it follows a relation back from a literal.
        """
        return tuple(
            _make_triple(head, hop, tail) for head, (hop, tail) in zip(self.nodes, self.steps, strict=False)
        )

    def then(self, hop: Hop, node: Term) -> "Path":
        """Return this path with one step more."""
        return Path(self.topic, (*self.steps, (hop, node)))

    def __str__(self) -> str:
        """Draw the path as arrows between its nodes."""
        return " ".join([str(self.topic), *(f"{hop} {node}" for hop, node in self.steps)])


def _make_triple(head: Term, hop: Hop, tail: Term) -> Triple:
    subject, object_ = (head, tail) if hop.forward else (tail, head)
    _require(isinstance(subject, Entity), "an entity to be the head of a fact", str(subject))
    return Triple(subject, hop.relation, object_)  # type: ignore[arg-type]
