"""Do names resolve, and which nodes have none?"""

from collections import Counter
from collections.abc import Sequence

from kgqa.kg import sparql
from kgqa.kg.checking.finding import Finding, good, note, warning
from kgqa.kg.checking.subject import Subject
from kgqa.kg.dialect import PROP
from kgqa.kg.executor import Row
from kgqa.kg.opening import ROWS
from kgqa.kg.terms import Entity, Literal, local_name

NODES = 60
"""Nodes whose names are asked for."""

LOOKED_UP = 3
"""Names that are looked up."""

FEW = 0.1
"""Share of named nodes below which something is missing."""

MANY = 8
"""Names of a node above which they crowd nodes out of answers."""


async def check_names(subject: Subject) -> list[Finding]:
    """Ask for the names of some nodes, and for the nodes of some names."""
    naming, dialect = subject.naming, subject.dialect
    ids = subject.entities()[:NODES]
    if not naming.labels:
        listed = " or ".join(dialect.labels)
        says, advice = f"nothing has a name: no triple of {listed}", "load the names as well"
        if dialect.name == "plain":
            says, advice = (
                f"names are made of IRIs: no triple of {listed}",
                "where there are names, load them as rdfs:label",
            )
        return [warning("names", says, advice)]
    if not ids:
        return []
    rows = (await subject.endpoint.query(sparql.names(ids, naming.labels))).rows
    names = {
        term.id: term.name
        for term in naming.apply((a, b, c) for a, b, c in rows).values()
        if isinstance(term, Entity)
    }
    return [
        _share(subject, names, rows),
        *_languages(subject, rows),
        *await _found_again(subject, names),
        *_unnamed(subject, names),
    ]


def _share(subject: Subject, names: dict[str, str | None], rows: Sequence[Row]) -> Finding:
    named = sum(name is not None for name in names.values())
    labels = ", ".join(map(local_name, subject.naming.labels))
    says = f"{named} of {len(names)} nodes have a name ({labels})"
    if named < FEW * len(names):
        return warning(
            "names",
            says,
            "load the names as well: the others look like mediators",
            named=named,
            nodes=len(names),
        )
    return good("names", says, named=named, nodes=len(names))


def _languages(subject: Subject, rows: Sequence[Row]) -> list[Finding]:
    tags = Counter(label.language for _, label, _ in rows if isinstance(label, Literal))
    if not tags:
        return []
    wanted, dialect = subject.dialect.languages, subject.dialect
    shown = ", ".join(
        f"{tag or 'none'} ({n})" for tag, n in sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:6]
    )
    found = []
    if not any(dialect.language_rank(tag)[0] < 2 * len(wanted) for tag in tags):
        asked = ", ".join(tag or "none" for tag in wanted)
        found.append(
            warning(
                "languages",
                f"names are in {shown}; kgqa looks for {asked}",
                "load names in these languages too",
            )
        )
    else:
        found.append(good("languages", shown, languages=len(tags)))
    each = sum(tags.values()) / len({row[0] for row in rows if row[1] is not None})
    if each > MANY:
        left = int((ROWS + 1) / each)
        says = f"a node has {each:.0f} names: an answer of {ROWS + 1:,} rows holds {left:,} nodes with theirs"
        found.append(
            warning(
                "languages", says, "load names in the languages you ask in alone: kgqa kg filter", each=each
            )
        )
    return found


async def _found_again(subject: Subject, names: dict[str, str | None]) -> list[Finding]:
    tried = [(id, name) for id, name in names.items() if name][:LOOKED_UP]
    for id, name in tried:
        matches = await subject.graph.find_entities(name, limit=50)
        if any(match.entity.id == id for match in matches):
            return [good("look-up", f"{name!r} is found by its name")]
    if not tried:
        return []
    id, name = tried[0]
    says = f"{name!r} is the name of {id}, but is not found by it"
    return [warning("look-up", says, "give topics by their ids: --topic ID")]


def _unnamed(subject: Subject, names: dict[str, str | None]) -> list[Finding]:
    unnamed = [id for id, name in names.items() if name is None]
    blank = [id for id in unnamed if id.startswith("_:")]
    if blank and not subject.is_virtuoso:
        says = f"{len(blank)} of {len(names)} nodes are blank, and this server cannot be asked about those"
        return [warning("mediators", says, "give blank nodes IRIs before you load them: kgqa kg filter")]
    if not unnamed:
        return [_without(subject)]
    says = f"{len(unnamed)} of {len(names)} nodes have no name and serve as mediators, such as {unnamed[0]}"
    return [good("mediators", says, unnamed=len(unnamed))]


def _without(subject: Subject) -> Finding:
    if subject.dialect.name == "wikidata" and not any(
        step.relation.startswith(f"{PROP}statement/") for step in subject.sample
    ):
        says = "no statement nodes were seen: qualifiers such as dates of office cannot be asked for"
        return note("mediators", says, "load the full dump where questions ask for them, not the truthy one")
    return good("mediators", "none were seen: every node of the sample has a name")
