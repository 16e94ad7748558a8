"""Tools for drafted queries: what a graph can be asked, what is wrong with a query, what is behind its rows.

They are for nodes; `check_query` is for those who run a query that was written for a graph.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.tools import BaseTool, ToolException

from kgqa.kg.dialects import dialect_named
from kgqa.kg.drafts.checks import check_draft, implied_classes, unknown_ids
from kgqa.kg.drafts.description import DescribedClass, DescribedProperty, FoundTerm, describe_classes
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.probes import cut_query, facts_query, find_empty, fits_instead, read_facts
from kgqa.kg.drafts.property_checks import Finding, Level
from kgqa.kg.drafts.reading import read_draft, variables_of
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.drafts.verbaliser import say_query, say_rows
from kgqa.kg.errors import KGError, KGRejected
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Table
from kgqa.kg.profile.cards import relation_name
from kgqa.kg.sparql.guard import guard_query
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, Term, Triple
from kgqa.tools.text import graph_tool, listing, show_cell, show_facts

__all__ = [
    "CheckedDraft",
    "DescribedClass",
    "DescribedProperty",
    "DraftSchema",
    "Finding",
    "FoundTerm",
    "draft_tools",
    "named_ids",
    "say_query",
    "say_rows",
]

MAX_UNKNOWN = 12  # ids of a query that are looked up in the graph
MAX_NAMED = 2_000  # entities of a table whose names are looked up
NAMES_PER_QUERY = 500
MAX_FACT_ROWS = 50


@dataclass(frozen=True, slots=True)
class DraftSchema:
    """What a graph can be asked: its prefixes, its classes, and what links they can be written with."""

    prefixes: dict[str, str]
    classes: list[DescribedClass]
    names: Names


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A query with its prefixes declared, and what is wrong with it.

    Attributes:
        text: The query.
        findings: What is wrong, the worst first.
        ids: The IRIs that it names, and the classes that its nodes are of.
        relations: What those of them are called that it follows, by their ids.
        ordered: Whether its rows have an order.
        ordered_by_hidden: Whether they are ordered by what is not shown.
        grouped: Whether rows are grouped.
        limit: How many rows it lets out at most.
        offset: How many rows it leaves out before.
        inner_limits: Those of the SELECTs within it, with offsets, and whether their rows have an order.
        computed: The columns that are computed of what every row has.
        free: The relations to what is neither named, nor compared with a constant, nor computed with.
        beside: The relations to what is shown beside the first column.
        factors: The numbers that it computes with.
    """

    text: str
    findings: list[Finding]
    ids: list[str]
    relations: dict[str, str]
    ordered: bool
    ordered_by_hidden: bool
    grouped: bool
    limit: int | None
    offset: int
    inner_limits: list[tuple[int, int, bool]]
    computed: list[str]
    free: list[str]
    beside: list[str]
    factors: list[Literal]

    def told(self, level: Level) -> list[str]:
        """Return the sentences of the findings of a level."""
        return [each.text for each in self.findings if each.level == level]


def named_ids(query: str) -> frozenset[str]:
    """Return all IRIs of a query; raise KGRejected if it cannot be read."""
    return read_draft(query).ids


class DraftChecker:
    """Checks queries for a graph; what is known of it is looked up once."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph
        self._known: tuple[Schema, Names] | None = None
        self._described: tuple[Schema, list[DescribedClass]] | None = None

    async def schema(self, classes: Sequence[str] = ()) -> tuple[Schema, Names]:
        """Return what is known of the graph, and how its IRIs are written.

        Of a graph that is not counted, some ``classes`` are profiled now.
        """
        if self._known is None:
            profile = await self.graph.profile()
            relations = self.graph.relations
            known = Schema(profile, relations), await asyncio.to_thread(_names, Schema(profile, relations))
            if not profile.classes and classes:
                some = Schema(await self.graph.profile(classes), relations)
                return some, await asyncio.to_thread(_names, some)
            self._known = known
        return self._known

    async def describe(self, classes: Sequence[str] = ()) -> tuple[list[DescribedClass], Names]:
        """Return the classes of the graph as lines, which takes long where there are thousands."""
        schema, names = await self.schema(classes)
        if self._described is None or self._described[0] is not schema:
            label = self.graph.relation_label
            self._described = schema, await asyncio.to_thread(describe_classes, schema, names, label)
        return self._described[1], names

    async def check(
        self, query: str, known: Collection[str] = (), classes: Sequence[str] = ()
    ) -> CheckedDraft:
        """Check a query.

        Raises:
            KGRejected: if it is none that may be run.
            KGError: if the graph cannot be asked.
        """
        schema, names = await self.schema(classes)
        text = await asyncio.to_thread(names.declare, query.strip())
        try:
            await asyncio.to_thread(guard_query, text, 1)
            draft = await asyncio.to_thread(read_draft, text)
            unknown = await asyncio.to_thread(unknown_ids, draft, schema, known)
            missing = await self._missing(unknown)
            findings = await asyncio.to_thread(check_draft, draft, schema, names, known, missing)
            implied = await asyncio.to_thread(implied_classes, draft, schema)
        except KGError:
            raise
        except Exception as error:  # of an unknown form
            raise KGRejected(f"the query cannot be read: {' '.join(str(error).split())[:200]}") from error
        whole = draft.whole
        relations = {str(name) for pattern in draft.patterns for name in pattern.named}
        return CheckedDraft(
            text,
            findings,
            sorted(draft.ids | implied),
            {id: relation_name(schema.profile, id, self.graph.relation_label) for id in sorted(relations)},
            bool(whole.order),
            any(variables_of(of).isdisjoint(whole.columns) for of, _ in whole.order),
            any(each.keys for each in draft.selects),
            whole.limit,
            whole.offset,
            [
                (each.limit, each.offset, bool(each.order))
                for each in draft.selects[1:]
                if each.limit is not None
            ],
            sorted({*draft.computed_columns}),
            sorted({str(each.relation) for each in draft.patterns if draft.is_free(each)}),
            sorted(
                {
                    str(each.relation)
                    for each in draft.patterns
                    if each.named and each.end in whole.columns[1:]
                }
            ),
            draft.factors,
        )

    async def find_wrong(self, query: str) -> list[str]:
        """Return why the graph surely has nothing for a query; nothing where that cannot be told.

        Raises:
            KGError: if the graph cannot be asked.
        """
        try:
            checked = await self.check(query)
        except KGRejected:
            return []  # to run it says why
        return [each.text for each in checked.findings if each.level == "wrong" and each.by_graph]

    async def _missing(self, unknown: dict[str, bool]) -> list[str]:
        """Return those of some IRIs that the graph has no fact of."""
        asked = [*unknown][:MAX_UNKNOWN]
        chains = [Chain(ANY, (Hop(id),)) if unknown[id] else Chain(Entity(id)) for id in asked]
        if not chains:
            return []
        found = await self.graph.visit_chains(chains, hops=False, sample=1)
        return [id for id, visit in zip(asked, found, strict=True) if not len(visit.ends)]


def _names(schema: Schema) -> Names:
    examples = (example.id for each in schema.profile.classes for example in each.examples)
    relations = (part.relation for each in schema.profile.classes for part in each.properties)
    return Names.of([*schema.relations, *relations, *filter(None, schema.classes), *examples])


@graph_tool
async def describe_schema(checker: DraftChecker, classes: list[str]) -> tuple[str, DraftSchema]:
    """Describe the classes of the knowledge graph, their properties and values, as SPARQL writes them.

    Args:
        classes: ids of classes to be described where none is counted.
    """
    found, names = await checker.describe(classes)
    lines = (line for each in found for line in (each.line, *(part.line for part in each.properties)))
    return listing("classes", lines), DraftSchema(dict(names.prefixes), found, names)


@graph_tool
async def list_members(graph: KnowledgeGraph, classes: list[str]) -> tuple[str, dict[str, list[Entity]]]:
    """Give the members of classes that have few, where all have names.

    Args:
        classes: ids of the classes.
    """
    has_type = Hop(dialect_named(graph.dialect).types[0], forward=False)
    chains = [Chain(Entity(each), (has_type,)) for each in classes]
    visits = await graph.visit_chains(chains, hops=False) if chains else []
    ends = {of: [end.term for end in visit.ends] for of, visit in zip(classes, visits, strict=True)}
    members = {
        of: [term for term in terms if isinstance(term, Entity)]
        for of, terms in ends.items()
        if all(term.name for term in terms)
    }
    return listing("members", (str(term) for terms in members.values() for term in terms)), members


@graph_tool
async def schema_size(checker: DraftChecker) -> tuple[str, int]:
    """Count the properties of all classes of the knowledge graph; none where its facts were not read."""
    schema, _ = await checker.schema()
    size = sum(len(each.properties) for each in schema.profile.classes) if schema.is_counted else 0
    return str(size), size


@graph_tool
async def check_query(
    checker: DraftChecker, query: str, known: list[str], classes: list[str]
) -> tuple[str, CheckedDraft]:
    """Check a SPARQL query against the classes and properties of the knowledge graph, without running it.

    Args:
        query: the query; prefixes of the graph need not be declared.
        known: ids that its writer was shown.
        classes: as for describe_schema.
    """
    try:
        checked = await checker.check(query, known, classes)
    except KGRejected as error:
        raise ToolException(str(error)) from error
    return listing("findings", (each.text for each in checked.findings)), checked


@graph_tool
async def run_query(graph: KnowledgeGraph, query: str) -> tuple[str, Table]:
    """Run a query as it is, SELECT or ASK, read-only.

    Args:
        query: the query with full IRIs or its own PREFIX lines.
    """
    try:
        table = await graph.select(query)
    except KGRejected as error:
        raise ToolException(str(error)) from error
    return listing("rows", (" | ".join(map(show_cell, row)) for row in table.rows)), table


async def _ask(graph: KnowledgeGraph, text: str) -> bool:
    return any(cell and cell.id == "true" for row in (await graph.select(text)).rows for cell in row)


@graph_tool
async def has_rows(graph: KnowledgeGraph, query: str, relation: str, instead: str) -> tuple[str, bool]:
    """Say whether a query's patterns have rows with another relation in place of one.

    Args:
        query: the query.
        relation: the relation that it follows.
        instead: the other one.
    """
    found = await fits_instead(query, relation, instead, partial(_ask, graph))
    return ("they have rows" if found else "they have none"), found


@graph_tool
async def explain_empty(checker: DraftChecker, query: str) -> tuple[str, str]:
    """Say which smallest part of a query's patterns nothing in the graph fits; empty if all of them do.

    Args:
        query: a query that gives no rows.
    """
    _, names = await checker.schema()
    found = await find_empty(query, partial(_ask, checker.graph))
    drawn = " . ".join(
        f"{names.node(each.start)} {names.node(each.path)} {names.node(each.end)}" for each in found
    )
    return drawn, drawn


@graph_tool
async def compare_at_limit(graph: KnowledgeGraph, query: str) -> tuple[str, bool]:
    """Say whether the rows that the LIMIT of an ordered query leaves out differ from those before it.

    Args:
        query: a query with ORDER BY and LIMIT.
    """
    cut = await asyncio.to_thread(cut_query, query)
    clear = False
    if cut is not None:
        table = await graph.select(cut.text)
        clear = cut.is_clear(table)
    return ("they differ" if clear else "they may be equal"), clear


@graph_tool
async def name_entities(graph: KnowledgeGraph, ids: list[str]) -> tuple[str, dict[str, str | None]]:
    """Give the names of entities and relations.

    Args:
        ids: their ids; of very many the first are named.
    """
    known = frozenset(graph.relations)
    names: dict[str, str | None] = {id: graph.relation_label(id) for id in ids if id in known}
    ids = [id for id in ids if id not in names]
    for at in range(0, min(len(ids), MAX_NAMED), NAMES_PER_QUERY):
        names |= await graph.names(ids[at : min(at + NAMES_PER_QUERY, MAX_NAMED)])
    return listing("names", map(str, names.values())), names


@graph_tool
async def trace_rows(
    graph: KnowledgeGraph, query: str, rows: list[dict[str, Term | None]]
) -> tuple[str, list[Triple]]:
    """Give the facts behind rows of a query.

    Args:
        query: the query.
        rows: some of its rows.
    """
    text = await asyncio.to_thread(facts_query, query, rows, MAX_FACT_ROWS)
    table = await graph.select(text) if text else Table((), ())
    found = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    facts = await asyncio.to_thread(read_facts, query, found)
    return show_facts(facts), facts


def draft_tools(graph: KnowledgeGraph) -> list[BaseTool]:
    """Make the tools for a graph; those that check queries look up once what is known of it."""
    checker = DraftChecker(graph)
    checking = (describe_schema, schema_size, check_query, explain_empty)
    others = (list_members, run_query, has_rows, compare_at_limit, name_entities, trace_rows)
    return [*(make(checker) for make in checking), *(make(graph) for make in others)]
