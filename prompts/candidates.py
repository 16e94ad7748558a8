"""How prompts show candidates, of one chain or of several, and how a reply takes answers from them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal as Choice

from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Chain, Entity, Literal, Term
from kgqa.prompts.base import check_numbers, numbered, quoted
from kgqa.prompts.chain import OTHERS, draw_arrow, draw_chain, draw_head, draw_hop, draw_reached, few

MAX_CANDIDATES_SHOWN = 100
MAX_GROUPS_SHOWN = 20
MAX_EARLIER_NAMES = 3
MAX_DEAD_ENDS_SHOWN = 4
MAX_TRIPLE_LINES = 100
MAX_TRIPLE_NAMES = 500
MAX_NUMBER_DIGITS = 400  # digits that a number of the graph may have on either side of its point

Take = Choice["all", "others", "some", "count", "smallest", "largest"]

VERDICT_RULES = """\
- "stop": the chain, read with the direction of its arrows, says all that the question asks;
- "filter": the candidates are of the kind that is asked for, and only a condition (a date, a number, a \
name, a kind, the largest) is left, which the graph decides where it can;
- "forward": they are of another kind, and the chain has to go on from here;
- "backtrack": it leads astray, or all candidates are shown and none can be meant.

Judge the kind of the candidates, not the few that are shown. What the data says is right, but it may lack \
facts. With several topic entities each is checked by itself: stop where this chain says its own part, with \
the "take" that the question ends in, and filter only for a condition that names none of the others.

"A -relation-> B" reads "A has the relation to B"; "A <-relation- B" reads "B has the relation \
to A". ?1, ?2 ... stand for all nodes reached at that step, named or not.

With "stop", "take" is "all" candidates; "others", without those marked with *, reached only by way of the \
start; "some", numbers in "chosen", best first, only for what no graph says; or, unless there are "more \
than" so many, what is computed: the "count", and of numbers or dates the "smallest" or the "largest" \
(earliest, latest). "unsure": true if it is a guess.
"""
"""How a chain is to be judged by its candidates, and what a verdict takes of them, as `check_take` has it."""

LEFT_TO_THE_GRAPH = (
    'Leave a condition that a graph may know of to "filter", also where all candidates are shown: there you '
    'see what it knows of them. "some" is for what no graph can tell, and for a kind that only names tell; '
    'if each plainly fits, "all".'
)
"""What a verdict leaves to a filter that sees attributes."""

SIBLINGS = 'Chosen beside it; unless you go "forward", "united" are those that say the same:'

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_DATE = re.compile(
    r"(-[0-9]{1,9}|[0-9]{4,9})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})[^ ]{0,20})?"
)
XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


@dataclass(frozen=True, slots=True)
class ChainFindings:
    """The ends of a chain, or some if ``truncated``; ``met`` are chains of other topics with these ends.

    ``chosen`` are values that the search has chosen among what is there: a chain is held to entities only.
    ``twins`` are values of the same text as one of the ends, which no prompt shows.
    """

    chain: Chain
    ends: tuple[Candidate, ...]
    truncated: bool = False
    met: tuple[Chain, ...] = ()
    chosen: bool = False
    twins: tuple[Candidate, ...] = ()

    @property
    def named(self) -> tuple[Candidate, ...]:
        """The ends that have a name."""
        return tuple(end for end in self.ends if end.term.name)


@dataclass(frozen=True, slots=True)
class NumberedCandidate:
    """A candidate as it is shown: its number, through all groups from 1, and that of its group."""

    number: int
    group: int
    candidate: Candidate


def without_twins(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates without values of the same text as one before, in another language or type."""
    first: dict[Entity | str, Candidate] = {}
    for each in candidates:
        first.setdefault(each.term if isinstance(each.term, Entity) else each.term.value, each)
    return tuple(first.values())


def draw_candidates(
    candidates: Sequence[Candidate], truncated: bool = False, shown: int = MAX_CANDIDATES_SHOWN
) -> str:
    """Number the first candidates; those marked ``*`` are reached only by way of the topic."""
    note = f"more than {len(candidates)}" if truncated else str(len(candidates))
    if len(candidates) > shown:
        note += f", the first {shown} shown"
    return f"Candidates ({note}):\n{numbered(map(draw_candidate, candidates[:shown]))}"


def draw_candidate(candidate: Candidate) -> str:
    """Quote a candidate and mark it if it is reached only by way of the topic."""
    return quoted(str(candidate.term)) + (" *" if candidate.returning else "")


def numbered_candidates(found: Sequence[ChainFindings]) -> list[NumberedCandidate]:
    """Return the candidates that are shown: of each group its share, in its order."""
    return [each for group in _numbered_groups(found) for each in group]


def draw_chain_findings(found: Sequence[ChainFindings]) -> list[str]:
    """Draw each chain as a group, and the named ends of it as numbered candidates."""
    lines: list[str] = []
    for number, (each, group) in enumerate(zip(found, _numbered_groups(found), strict=False), 1):
        lines.append(f"Group {number}: {draw_chain(each.chain)} ({_describe_ends(each, len(group))})")
        lines += [f"  these are also the ends of: {draw_chain(chain)}" for chain in each.met]
        lines += [f"{row.number}. {draw_candidate(row.candidate)}" for row in group]
    return lines


def draw_earlier_chains(history: Sequence[ChainFindings]) -> list[str]:
    """Draw chains that were reached before, with the first names at their ends, numbered for themselves.

    >>> from kgqa.kg.terms import Entity, Hop
    >>> ulm, ada = Entity("http://x/u", "Ulm"), Candidate(Entity("http://x/a", "Ada"))
    >>> mayor = ChainFindings(Chain(ulm, (Hop("http://x/mayor"),)), (ada,))
    >>> draw_earlier_chains([ChainFindings(Chain(ulm), ()), mayor])
    ['Reached earlier:', 'Chain 1: "Ulm"', 'Chain 2: "Ulm" -mayor-> ?1 (1): "Ada"']
    """
    lines = []
    for number, each in enumerate(history, 1):
        names = ", ".join(quoted(str(end.term)) for end in each.named[:MAX_EARLIER_NAMES])
        ends = f" ({_describe_ends(each)}){names and f': {names}'}" if each.chain.hops else ""
        lines.append(f"Chain {number}: {draw_chain(each.chain)}{ends}")
    return ["Reached earlier:", *lines] if lines else []


def draw_dead_ends(found: Sequence[ChainFindings]) -> list[str]:
    """Draw what some chains have led to that no group shows.

    >>> from kgqa.kg.terms import Entity, Hop
    >>> malta, port = Entity("http://x/m", "Malta"), Candidate(Entity("http://x/v", "Valletta"))
    >>> chains = Chain(malta, (Hop("http://x/capital"),)), Chain(malta)
    >>> draw_dead_ends([ChainFindings(chains[0], (port,)), ChainFindings(chains[1], ())])
    ['"Malta" -capital-> ?1 led only to "Valletta"', '"Malta" led to nothing further']
    """
    lines = []
    for each in found[:MAX_DEAD_ENDS_SHOWN]:
        names = draw_reached([str(end.term) for end in each.named])
        only = "" if each.truncated or names.endswith(OTHERS) else "only "
        where = f"{only}to {names}" if names else "to nothing further"
        lines.append(f"{draw_chain(each.chain)} led {where}")
    return lines


def draw_siblings(found: Sequence[ChainFindings]) -> list[str]:
    r"""Draw the last hop of chains that were chosen beside another one, with the first names at their ends.

    >>> from kgqa.kg.terms import Entity, Hop
    >>> maltese = Candidate(Entity("http://x/l", "Maltese"))
    >>> chain = Chain(Entity("http://x/m", "Malta"), (Hop("http://x/official_language"),))
    >>> print(*draw_siblings([ChainFindings(chain, (maltese,))]), sep="\n")
    Chosen beside it; unless you go "forward", "united" are those that say the same:
    Chain 1: -official_language-> ?1 (1): "Maltese"
    """
    lines = []
    for number, each in enumerate(found, 1):
        names = ", ".join(quoted(str(end.term)) for end in few(each.named))
        lines.append(f"Chain {number}: {draw_hop(each.chain)} ({_describe_ends(each)}): {names}")
    return [SIBLINGS, *lines] if lines else []


def draw_triples(found: Sequence[ChainFindings]) -> list[str]:
    """Draw what each chain has led to, by name, from the entity that it is held to before its last hop.

    >>> from kgqa.kg.terms import Entity, Hop
    >>> ulm, ada = Entity("http://x/u", "Ulm"), Entity("http://x/a", "Ada")
    >>> born = Chain(ulm, (Hop("http://x/born_in", False),)).constrained_to([ada])
    >>> draw_triples([ChainFindings(born.then(Hop("http://x/wrote")), (Candidate(Literal("Poems")),))])
    ['Found:', '- "Ada" -wrote-> "Poems"']
    """
    lines, share = [], max(1, MAX_TRIPLE_NAMES // max(1, len(found)))
    for each in found[:MAX_TRIPLE_LINES]:
        names = ", ".join(quoted(str(end.term)) for end in each.named[:share])
        arrow = draw_arrow(each.chain.hops[-1], names or "nodes without a name")
        lines.append(f"- {draw_head(each.chain)} {arrow}")
    return ["Found:", *lines] if lines else []


def _numbered_groups(found: Sequence[ChainFindings]) -> Iterator[list[NumberedCandidate]]:
    groups, number = found[:MAX_GROUPS_SHOWN], 0
    share = MAX_CANDIDATES_SHOWN // max(1, len(groups))
    for place, each in enumerate(groups, 1):
        shown = each.named[:share]
        yield [NumberedCandidate(at, place, end) for at, end in enumerate(shown, number + 1)]
        number += len(shown)


def _describe_ends(found: ChainFindings, listed: int | None = None) -> str:
    """Say how many ends there are, how many have no name, and how many are listed where not all are."""
    count, named = len(found.ends), len(found.named)
    notes = [f"more than {count}" if found.truncated else str(count)]
    notes += [f"{count - named} without a name"] if named < count else []
    if listed is not None and (listed < named or (listed and found.truncated)):
        notes.append(f"the first {listed} shown")
    return ", ".join(notes)


def check_take(
    take: Take, chosen: Sequence[int], candidates: Sequence[Candidate], truncated: bool = False
) -> None:
    """Raise ValueError if a reply takes nothing, more than is there, or numbers where there are none."""
    if chosen and take != "some":
        raise ValueError(f'"chosen" goes with take "some", not with "{take}"')
    if truncated and take in {"count", "smallest", "largest"}:
        raise ValueError(f'there are too many candidates to compute the "{take}" from')
    if take == "some" and not chosen:
        raise ValueError('with take "some", name at least one candidate number in "chosen"')
    if take == "others" and all(c.returning for c in candidates):
        raise ValueError("every candidate is marked with *; there are no others")
    if take in {"smallest", "largest"} and not _comparable_values([c.term for c in candidates]):
        raise ValueError(f'"{take}" needs candidates that are all numbers, or all dates')


def can_unite(found: Sequence[ChainFindings]) -> bool:
    """Return whether groups can be taken as one: each is all that a chain leads to, or all are the same."""
    whole = not any(each.met or each.chain.constraints for each in found)
    same = len({frozenset(end.term for end in each.named) for each in found}) == 1
    return len(found) < 2 or whole or (same and not any(each.truncated for each in found))


def check_kept(groups: Sequence[int], keep: Sequence[int], found: Sequence[ChainFindings]) -> None:
    """Raise ValueError for candidates to go on from that are of none of the groups, or not all shown."""
    offered = numbered_candidates(found)
    check_numbers(keep, len(offered), "candidate")
    for number in keep:
        group = offered[number - 1].group
        if group not in groups:
            raise ValueError(f"candidate {number} is of group {group}, which is not gone on from")
        whole = found[group - 1]
        if whole.truncated or len(whole.named) > sum(row.group == group for row in offered):
            raise ValueError(f"not all of group {group} are shown; name no candidates of it")


def taken_terms(take: Take, chosen: Sequence[int], candidates: Sequence[Candidate]) -> tuple[Term, ...]:
    """Return what a reply takes or computes from; what only comes back to the topic is not counted."""
    if take == "some":
        return tuple(candidates[number - 1].term for number in chosen)
    fresh = tuple(c.term for c in candidates if not c.returning)
    return fresh if take == "others" or (take == "count" and fresh) else tuple(c.term for c in candidates)


def aggregate(take: Take, terms: Sequence[Term]) -> Literal | None:
    """Compute the value asked for from terms of the graph, None where none is.

    There is no sum: candidates are distinct, and so two equal values are one.

    >>> str(aggregate("count", [Literal("7"), Literal("9")]))
    '2'
    """
    if take == "count":
        return Literal(str(len(terms)), XSD_INTEGER)
    values = _comparable_values(terms)
    if take not in {"smallest", "largest"} or not values:
        return None
    best = (min if take == "smallest" else max)(values, key=values.__getitem__)
    return best if isinstance(best, Literal) else None


def computed_by(take: Take, terms: Sequence[Term]) -> Aggregate | None:
    """Return what a reply has computed of terms; None where it takes them as they are."""
    if take == "count":
        return Aggregate("count")
    if take not in {"smallest", "largest"}:
        return None
    numbers = all(parse_number(term) is not None for term in terms)
    return Aggregate("min" if take == "smallest" else "max", by="number" if numbers else "date")


def parse_number(term: Term) -> Decimal | None:
    """Read a literal as a finite number, None where it is not one or has too many digits."""
    text = term.value if isinstance(term, Literal) else ""
    if len(text) > MAX_NUMBER_DIGITS or not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    return value if abs(value.adjusted()) <= MAX_NUMBER_DIGITS else None


def _parse_date(term: Term) -> tuple[int, ...] | None:
    """Read a literal as a date or a time of the proleptic calendar, None where it is not one."""
    found = _DATE.fullmatch(term.value) if isinstance(term, Literal) else None
    return tuple(int(part or 0) for part in found.groups()) if found else None


def _comparable_values(terms: Sequence[Term]) -> dict[Term, Decimal] | dict[Term, tuple[int, ...]]:
    """Return the value of each term if all are numbers, or all are dates, else nothing."""
    numbers = {term: number for term in terms if (number := parse_number(term)) is not None}
    if len(numbers) == len(terms):
        return numbers
    dates = {term: date for term in terms if (date := _parse_date(term)) is not None}
    return dates if len(dates) == len(terms) else {}
