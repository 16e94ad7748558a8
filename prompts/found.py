"""How prompts show what several chains of a search have led to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.base import quoted
from kgqa.prompts.candidates import SHOWN, draw_candidate
from kgqa.prompts.chain import draw

NAMES = 3
"""Names of ends that a chain reached earlier is shown with at most."""

GROUPS = 20
"""Groups that one prompt shows at most."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is at the end of a relation chain.

    ``truncated`` says that there is more. ``met`` are chains from other topic entities that lead
    to these ends as well.
    """

    chain: Chain
    ends: tuple[Candidate, ...]
    truncated: bool = False
    met: tuple[Chain, ...] = ()

    @property
    def named(self) -> tuple[Candidate, ...]:
        """The ends that have a name."""
        return tuple(end for end in self.ends if end.term.name)


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate as it is shown: its number, through all groups from 1, and that of its group."""

    number: int
    group: int
    candidate: Candidate


def shown(found: Sequence[Found]) -> list[Shown]:
    """Give the candidates that are shown: of each group its share of `SHOWN`, in its order."""
    return [each for group in _groups(found) for each in group]


def draw_found(found: Sequence[Found]) -> list[str]:
    """Draw each chain as a group, and the named ends of it as numbered candidates."""
    lines: list[str] = []
    for number, (each, group) in enumerate(zip(found, _groups(found), strict=False), 1):
        lines.append(f"Group {number}: {draw(each.chain)} ({_total(each, len(group))})")
        lines += [f"  these are also the ends of: {draw(chain)}" for chain in each.met]
        lines += [f"{row.number}. {draw_candidate(row.candidate)}" for row in group]
    return lines


def draw_earlier(history: Sequence[Found]) -> list[str]:
    """Draw chains that were reached before, with the first names at their ends, numbered for themselves.

    >>> from kgqa.kg.terms import Entity, Hop
    >>> ulm, ada = Entity("http://x/u", "Ulm"), Candidate(Entity("http://x/a", "Ada"))
    >>> draw_earlier([Found(Chain(ulm), ()), Found(Chain(ulm, (Hop("http://x/mayor"),)), (ada,))])
    ['Reached earlier:', 'Chain 1: "Ulm"', 'Chain 2: "Ulm" -mayor-> ?1 (1): "Ada"']
    """
    lines = []
    for number, each in enumerate(history, 1):
        names = ", ".join(quoted(str(end.term)) for end in each.named[:NAMES])
        ends = f" ({_total(each)}){names and f': {names}'}" if each.chain.hops else ""
        lines.append(f"Chain {number}: {draw(each.chain)}{ends}")
    return ["Reached earlier:", *lines] if lines else []


def _groups(found: Sequence[Found]) -> Iterator[list[Shown]]:
    groups = found[:GROUPS]
    share = SHOWN // max(1, len(groups))
    number = 0
    for place, each in enumerate(groups, 1):
        rows = [Shown(number + at, place, end) for at, end in enumerate(each.named[:share], 1)]
        number += len(rows)
        yield rows


def _total(found: Found, listed: int | None = None) -> str:
    """Say how many ends there are, how many have no name, and how many are listed where not all are."""
    count, named = len(found.ends), len(found.named)
    notes = [f"more than {count}" if found.truncated else str(count)]
    notes += [f"{count - named} without a name"] if named < count else []
    if listed is not None and (listed < named or (listed and found.truncated)):
        notes.append(f"the first {listed} shown")
    return ", ".join(notes)
