"""By which conditions does the question tell these candidates apart? (CoR §4.2, step 2, by the graph)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import not_
from typing import Literal as Choice

from pydantic import Field

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate, Condition, Operator
from kgqa.kg.terms import Chain
from kgqa.locks import cached_property
from kgqa.prompts.attributes import Extreme, KnownAttributes, draw_applied, draw_told_apart
from kgqa.prompts.base import QuestionPrompt, Reply, Words, check_numbers, numbered
from kgqa.prompts.chain import draw_chain, draw_looked_for, draw_met
from kgqa.prompts.filter_candidates import split_lots
from kgqa.prompts.progress import Progress

MAX_CONDITIONS = 8
MAX_VALUED_CANDIDATES = 100  # up to which their values stand beside them: of more the graph is asked anyway

Fits = Choice["some", "all", "none"]

__all__ = ["ApplyConditions", "Operator", "StatedCondition", "StatedConditions"]


class StatedCondition(Reply):
    """What is true of an attribute of the answers."""

    attribute: str = Field(description="a letter, or what the instructions say for a node or a type")
    operator: Operator = Field(description="how its values are compared")
    value: str = Field(default="", description='what with; "" with exists')
    unknown: bool = Field(
        default=False, exclude_if=not_, description="true to keep those without any value as well"
    )

    def of(self, condition: Condition) -> Condition:
        """Return what it comes to, with those kept of which nothing is known: the model says so."""
        if not (self.unknown and condition.attribute) or "exists" in self.operator:
            return condition
        return replace(condition, words=f"{condition.words}, if known", remembered=True, unknown=True)


class StatedConditions(Reply):
    """The conditions that the graph is to check, or the candidates that no attribute tells."""

    rationale: str = Field(default="", description="one short sentence: why")
    fits: Fits = Field(
        default="some", description="some (those that the rest says), all, or none of the candidates"
    )
    conditions: list[StatedCondition] = Field(
        default=[], description="what is true of the answers, all of it"
    )
    extreme: Extreme = Field(default="none", description="smallest, largest (earliest, latest), else none")
    by: str = Field(default="", description='the letter of the attribute that the extreme compares, else ""')
    count: bool = Field(default=False, description="true when the question asks how many candidates fit")
    chosen: list[int] = Field(
        default=[],
        description="numbers of candidates, best first: where names alone tell, or as a best guess where no "
        "value does",
    )
    words: Words = Field(
        default="", description="for chosen: the words of the question that no attribute says"
    )
    missing: Words = Field(default="", description="what no attribute says and the question turns on")

    @property
    def decides(self) -> bool:
        """Whether the graph is to decide anything."""
        return bool(self.conditions) or self.extreme != "none"


class ApplyConditions(QuestionPrompt[StatedConditions]):
    """State the conditions on the ends of a chain, in lots; those of ``met`` have them as well.

    ``applied`` are conditions that hold of all of them; of the attributes that are not shown, any can be
    looked for, once: what was ``looked_for`` is said.
    """

    chain: Chain
    candidates: tuple[Candidate, ...]
    known: KnownAttributes
    progress: Progress | None = None
    met: tuple[Chain, ...] = ()
    applied: tuple[Condition, ...] = ()
    looked_for: str = ""

    instructions = """\
You finish a search in a knowledge graph. You are given a question, the chain of relations that leads \
to its kind of answer, the candidates at the end of the chain, and what the graph knows of them and of \
the nodes ?1, ?2 ... on the way: attributes with their values, and types. In brackets behind an attribute \
or a type is how many candidates have it; behind a candidate are its own values. All candidates meet what \
this chain says, and any other chain or condition that is named. Say what else the question asks of them. \
The graph checks it, on all candidates, shown or not.

- "fits": "some" of the candidates, those that you say in what follows; "all" if the question asks nothing \
else of them, so that nothing is left to filter; "none" if none can be meant, and the search has to go \
elsewhere.
- "conditions": each is {"attribute": "A", "operator": "=", "value": "..."}; what has no value fails it, \
unless it has "unknown": true. Operators: = != < <= > >=; contains (a part of a text or name); year (of a \
date); exists; not exists (with a value: none that equals it); type (attribute "", one of the types shown). \
All of them must be true of a candidate. A number or a date need not be among the values shown; 1961 equals \
any day of it. A name is compared only with words of the question.
- "extreme": of the candidates that meet the conditions, those with the "smallest" or the "largest" value \
(earliest, latest), or "second largest", "third smallest" ..., of the attribute "by"; else "none".
- "count": true if the question asks how many fit.
- "missing": a few words for what the question turns on and no attribute shown says ("population"). Other \
attributes, where there are any, are then searched for it, and you are asked again. What stays missing is \
left unchecked: all candidates that meet the rest are kept, and the answer is marked as not verified.
- "chosen": numbers of the candidates that fit, and in "words" these words of the question: where names \
alone tell (a kind, a year in them), or as your best guess where no attribute is shown for it, or none of \
them has a value (beside "missing", if that is not found). Never what values say.

Reply with one JSON object: {"rationale": "one short sentence", "fits": "some", "conditions": [conditions], \
"extreme": "none", "by": "", "count": false, "chosen": [numbers], "words": "", "missing": ""}.

Example
Question: "Which of the Brontë sisters died in Scarborough?"
Chain: "Patrick Brontë" <-father- ?1
Attributes:
A. ?1 -place_of_death-> "Scarborough", "Haworth" (4 candidates)
B. ?1 -gender-> "Female", "Male" (4 candidates)
C. ?1 -died-> "1849-05-28", "1848-09-24", "1855-03-31", "1848-12-19" (4 candidates)
Found near the candidates: "Scarborough": A of "Anne Brontë"
Candidates (4):
1. "Anne Brontë" (A "Scarborough"; B "Female"; C "1849-05-28")
2. "Branwell Brontë" (A "Haworth"; B "Male"; C "1848-09-24")
3. "Charlotte Brontë" (A "Haworth"; B "Female"; C "1855-03-31")
4. "Emily Brontë" (A "Haworth"; B "Female"; C "1848-12-19")
Reply: {"rationale": "Where and who: two attributes say it.", "fits": "some", "conditions": [{"attribute": \
"A", "operator": "=", "value": "Scarborough"}, {"attribute": "B", "operator": "=", "value": "Female"}], \
"extreme": "none", "by": "", "count": false, "chosen": [], "words": "", "missing": ""}

Example
Question: "Which of the novels by Emily Brontë was first printed in Edinburgh?"
Chain: "Emily Brontë" <-author- ?1
Attributes:
A. ?1 -place_of_publication-> "London" (1 candidate)
Not found near the candidates: "Edinburgh"
Candidates (1):
1. "Wuthering Heights" (A "London")
Reply: {"rationale": "It was printed in London.", "fits": "none", "conditions": [], "extreme": "none", \
"by": "", "count": false, "chosen": [], "words": "", "missing": ""}

Example
Question: "Which of the novels by Anne Brontë has the most pages?"
Chain: "Anne Brontë" <-author- ?1
Attributes:
A. ?1 -published-> "1847", "1848" (2 candidates)
Candidates (2):
1. "Agnes Grey" (A "1847")
2. "The Tenant of Wildfell Hall" (A "1848")
Reply: {"rationale": "No attribute says how many pages.", "fits": "some", "conditions": [], "extreme": \
"none", "by": "", "count": false, "chosen": [], "words": "", "missing": "number of pages"}
"""

    def _lines(self) -> Iterable[str]:
        progress = (self.progress.draw(),) if self.progress else ()
        chains = f"Chain: {draw_chain(self.chain)}", *draw_met(self.met), *draw_applied(self.applied)
        head = *progress, *chains, *self.known.draw(), *self._draw_looked_for()
        shown, note = self._drawn[: len(self.offered)], str(len(self.candidates))
        note += f", the first {len(shown)} shown" if len(shown) < len(self.candidates) else ""
        return *head, f"Candidates ({note}):", numbered(shown)

    def _draw_looked_for(self) -> Iterable[str]:
        if self.final:
            yield draw_looked_for(self.looked_for, final=True)

    @property
    def final(self) -> bool:
        """Whether nothing more is looked for."""
        return bool(self.looked_for)

    @cached_property
    def _drawn(self) -> list[str]:
        terms = [candidate.term for candidate in self.candidates]
        few = len(terms) <= MAX_VALUED_CANDIDATES
        return list(draw_told_apart(terms, [self.known.draw_values(term) if few else "" for term in terms]))

    @cached_property
    def lots(self) -> list[tuple[Candidate, ...]]:
        """The candidates in lots that one prompt can show each, in their order."""
        return list(split_lots(self.candidates, self._drawn))

    @property
    def offered(self) -> Sequence[Candidate]:
        """The candidates that the prompt shows."""
        return next(iter(self.lots), ())

    def can_look_for(self, reply: StatedConditions) -> bool:
        """Return whether what a reply misses was not looked for."""
        return bool(reply.missing) and not self.final

    def conditions(self, reply: StatedConditions) -> tuple[Condition, ...]:
        """Return the conditions of a reply; raise ValueError for one that cannot be checked."""
        stated = dict.fromkeys(reply.conditions)
        return tuple(
            each.of(self.known.condition(each.attribute, each.operator, each.value, self.question))
            for each in stated
        )

    def aggregate(self, reply: StatedConditions) -> Aggregate | None:
        """Return the extreme of a reply; raise ValueError if it cannot be computed."""
        if reply.extreme == "none":
            return None
        return self.known.extreme(reply.by, reply.extreme)

    def check(self, reply: StatedConditions) -> None:
        """Refuse what was not offered, and what the graph cannot check."""
        check_numbers(reply.chosen, len(self.offered), "candidate")
        if len(self.conditions(reply)) > MAX_CONDITIONS:
            raise ValueError(f"no more than {MAX_CONDITIONS} conditions")
        if self.aggregate(reply) and reply.count:
            raise ValueError('"count" goes without an "extreme"')
        said = reply.decides or reply.chosen or reply.missing
        if reply.fits == "some" and not (said or reply.count):
            raise ValueError('say which: by "conditions", "extreme", "chosen" or "missing"; or "all", "none"')
        if reply.fits != "some" and said:
            raise ValueError(f'with "fits": "{reply.fits}" leave conditions, extreme, chosen, missing empty')
