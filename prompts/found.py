"""How prompts show what several chains of a search have led to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.candidates import SHOWN, draw_candidate
from kgqa.prompts.chain import draw

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


def _groups(found: Sequence[Found]) -> Iterator[list[Shown]]:
    groups = found[:GROUPS]
    share = SHOWN // max(1, len(groups))
    number = 0
    for place, each in enumerate(groups, 1):
        rows = [Shown(number + at, place, end) for at, end in enumerate(each.named[:share], 1)]
        number += len(rows)
        yield rows


def _total(found: Found, listed: int) -> str:
    count = len(found.named)
    total = f"more than {count}" if found.truncated else str(count)
    return f"{total}, the first {listed} shown" if listed < count or found.truncated else total
