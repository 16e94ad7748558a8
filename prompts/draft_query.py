"""Which SPARQL query over the classes of the graph answers the question? (beyond the papers)."""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import Field

from kgqa.kg.drafts.description import DescribedClass, FoundTerm
from kgqa.prompts.base import QuestionPrompt, Reply, Words

MAX_COLUMNS = 20
MAX_UNSAID = 8


_FENCED = re.compile(r"```(?:sparql)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_BEGINS = re.compile(r"^[ \t]*(?:PREFIX|BASE|SELECT|ASK)\b", re.IGNORECASE | re.MULTILINE)
_GOES_ON = re.compile(r"\s*(?:(?:GROUP|ORDER)\s+BY|HAVING|LIMIT|OFFSET)\b(?:(?!<\|)[^\n`])*", re.IGNORECASE)


def written_query(text: str) -> str | None:
    r"""Return the query in SPARQL that a text holds, without what a model writes around it; None for none.

    >>> written_query("Sure!\n```sparql\nASK { ?a ?b 1 }\n```<|im_end|>")
    'ASK { ?a ?b 1 }'
    """
    text = text.rpartition("</think>")[2]
    if fenced := _FENCED.search(text):
        text = fenced[1]
    begins = _BEGINS.search(text)
    end = text.rfind("}") + 1
    if begins is None or end <= begins.start():
        return None
    while more := _GOES_ON.match(text, end):
        end = more.end()
    return text[begins.start() : end].strip()


class DraftedQuery(Reply):
    """A query in SPARQL, and what it says."""

    reading: str = Field(
        default="", description="one sentence in the question's language: what the query computes"
    )
    sparql: str = Field(description='one SELECT or ASK; "" where nothing shown can answer the question')
    columns: list[Words] = Field(
        default=[], description="a heading for each column, in the question's language"
    )
    unsaid: list[Words] = Field(default=[], description="words of the question that the query does not say")
    missing: Words = Field(default="", description="what nothing shown says and the question turns on")

    @property
    def left_out(self) -> list[str]:
        """What the query does not say of the question, as its writer has it."""
        return [*dict.fromkeys([*self.unsaid, *filter(None, [self.missing])])]


class DraftQuery(QuestionPrompt[DraftedQuery]):
    """Draft a query over ``classes``, as lines, with what was ``found`` of the question's words.

    ``prefixes`` are of IRIs as they are written there. ``refused`` is the last draft and ``objections`` are
    why it was not run, or gave nothing. The classes as they were ``described`` and the ``terms`` that were
    found are for a model that reads no lines.
    """

    prefixes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    refused: str = ""
    objections: tuple[str, ...] = ()
    described: tuple[DescribedClass, ...] = ()
    terms: tuple[FoundTerm, ...] = ()

    instructions = """\
You answer a question by one SPARQL query over a knowledge graph. You see its classes, each with the \
properties of its members: "->" leads to members of a class, other properties have values (with their \
datatype, their range, or some of them). A share, as in 90%, is of the members that have the property; \
"several each" says that a member may have more than one value. Under "Found" is what words of the question \
are called in the graph, and how many members have a value: what 1 has is the name of one thing, and no kind \
of thing. The query is checked against what you see before it is run.

- "sparql": one SELECT or ASK in SPARQL 1.1, without SERVICE, FROM and updates. The prefixes shown, rdf, \
rdfs, owl, xsd and skos need no declaration. Use only IRIs that are shown, and values as they are written \
here.
- Say all that the question says, and nothing that it does not. Compare only with values that are found, \
shown, or said by the question: never with what you remember.
- Take what is found by its IRI, not by a part of its name. Where a word may mean several things, take the \
one that the rest of the question asks for.
- Select what is asked for: the things themselves first (their IRIs, with no name beside them unless names \
are asked for), then what else is asked of each, and no other columns. A yes or no is an ASK.
- The same may be both a text and a thing, as a country of an address and one with an IRI: compare with the \
kind that the property has, and select the thing unless its name is asked for.
- "the most", "the largest" asks for all that tie: compare with the MAX of a subquery. "top 5", "6th to \
10th": ORDER BY with LIMIT and OFFSET. Without such words no LIMIT.
- A share is in per cent, from 0 to 100. A difference keeps its sign: the first less the other.
- "per", "for each": GROUP BY. "more than 5 of them": HAVING. A property with several values each repeats \
its member's rows: count with DISTINCT, and sum or average in a subquery where it would.
- "no", "not", "without": FILTER NOT EXISTS. What may be missing and is only shown: OPTIONAL.
- Members of a class whose members are all of its kinds: ?x a/rdfs:subClassOf* CLASS.
- "reading": one sentence, in the question's language: what the query computes, as it computes it.
- "columns": a heading for each column, in the question's language.
- "unsaid": words of the question that the query does not say, because the graph has nothing for them.
- "missing": a few words for what the question turns on and nothing shown says; "sparql" is "" then, unless \
a part of the question can be answered without it.

Reply with one JSON object: {"reading": "one sentence", "sparql": "SELECT ...", "columns": ["heading"], \
"unsaid": [], "missing": ""}.

Example
Question: "Which orchards outside Kent grow over two kinds of apple, and how many trees has each in all?"
Prefixes: o: <http://orchards.example/ns/>
Classes:
o:Orchard, 40 members, named by rdfs:label
  o:county: text such as "Devon", "Kent"
  o:plot -> o:Plot, several each
o:Plot, 212 members
  o:grows -> o:Kind
  o:trees: numbers as text (to compare or add, cast with xsd:decimal) 4 … 310
o:Kind, 31 members, named by rdfs:label
  o:fruit: text one of "apple", "pear", "plum"
Found:
"Kent": o:county "Kent" of 3 o:Orchard
"apple": o:fruit "apple" of 16 o:Kind
Reply: {"reading": "Orchards whose county is not Kent, with the number of trees on all their plots, of which \
more than two kinds grown are apples.", "sparql": "SELECT ?orchard ?trees WHERE { { SELECT ?orchard WHERE { \
?orchard a o:Orchard ; o:county ?county ; o:plot/o:grows ?kind . ?kind o:fruit \\"apple\\" FILTER(?county != \
\\"Kent\\") } GROUP BY ?orchard HAVING(COUNT(DISTINCT ?kind) > 2) } { SELECT ?orchard \
(SUM(xsd:decimal(?n)) AS ?trees) WHERE { ?orchard o:plot ?plot . ?plot o:trees ?n } GROUP BY ?orchard } }", \
"columns": ["orchard", "trees"], "unsaid": [], "missing": ""}
"""

    def _lines(self) -> Iterable[str]:
        if self.prefixes:
            yield f"Prefixes: {' '.join(self.prefixes)}"
        yield from self._part("Classes:", self.classes)
        yield from self._part("Found:", self.found)
        if self.refused:
            yield f"Your last query: {self.refused}"
        yield from self._part("It was not taken:", [f"- {each}" for each in self.objections])

    def _part(self, heading: str, lines: Iterable[str]) -> Iterable[str]:
        listed = [*lines]
        return [heading, *listed] if listed else []

    def read(self, text: str) -> dict[str, Any] | None:
        """Take a bare query, as models reply that are trained to write nothing else."""
        query = written_query(text)
        return {"sparql": query} if query else None

    def check(self, reply: DraftedQuery) -> None:
        """Refuse more words than are read."""
        if len(reply.columns) > MAX_COLUMNS or len(reply.unsaid) > MAX_UNSAID:
            raise ValueError(f"at most {MAX_COLUMNS} columns, and {MAX_UNSAID} unsaid words")
        if not reply.sparql.strip() and not reply.missing:
            raise ValueError(
                '"sparql" is empty: write a query, or say in "missing" what there is no word for'
            )
