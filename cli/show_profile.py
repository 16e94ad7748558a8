"""Draws what is in a graph: its size, its classes, and what their members have."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.cli import output
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.kg.pages import GraphInfo
    from kgqa.kg.profile.cards import ClassCard, PropertyCard
    from kgqa.kg.profile.profile import ProfileSummary

MAX_CLASSES = 12  # that are drawn, those with most members
MAX_PROPERTIES = 12  # of a class, the most common ones
MAX_RELATIONS = 20  # that are listed of a graph without a profile
MAX_LISTED = 6  # names in a line
NAME_COLUMNS = 28  # of the terminal, for the name of a property

ALL_IN_JSON = "(--json gives all)"


def show_profile(
    info: "GraphInfo",
    summary: "ProfileSummary",
    cards: Sequence["ClassCard"],
    label: Callable[[str], str],
) -> None:
    """Print a graph's size, then each class with its properties; without classes, its relations."""
    console = Console(highlight=False)
    console.print(Text(one_line(f"{info.source} ({info.dialect})"), style="bold"))
    for said in (_sizes(info), *_about(info, summary, cards, label)):
        console.print(Text(said))
    for link in info.inferred:
        console.print(Text(one_line(f"inferred: {link}", output.MAX_LINE_CHARS), style="yellow"))
    drawn = [card for card in cards if card.is_named] or list(cards)
    for card in drawn[:MAX_CLASSES]:
        console.print()
        for line in (_headline(card), *_properties(card)):
            console.print(line, no_wrap=True, overflow="ellipsis")
    if len(drawn) > MAX_CLASSES:
        console.print(f"\n... and {len(drawn) - MAX_CLASSES} more classes {ALL_IN_JSON}")
    if not drawn:
        console.print(_relations(info))


def _sizes(info: "GraphInfo") -> str:
    triples, entities, named, relations = (
        "not counted" if number is None else f"{number:,}"
        for number in (info.triples, info.entities, info.named, info.relations or None)
    )
    return f"{triples} triples, {entities} entities ({named} named), {relations} relations"


def _about(
    info: "GraphInfo",
    summary: "ProfileSummary",
    cards: Sequence["ClassCard"],
    label: Callable[[str], str],
) -> list[str]:
    """Return lines on the languages of names, on nodes without a name, and on what only describes."""
    lines = []
    by_share = sorted(summary.languages.items(), key=lambda item: (-item[1], item[0]))
    if by_share:
        shares = (f"{tag or 'no language'} {share:.0%}" for tag, share in by_share)
        lines.append(f"names by language: {_listed(shares)}")
    unnamed = (info.entities or 0) - (info.named or 0)
    if info.named and unnamed > 0:
        classes = [f"{card.name} {card.members:,}" for card in cards if not card.is_named]
        lines.append(f"{unnamed:,} nodes have no name" + (f": {_listed(classes)}" if classes else ""))
    if summary.terminology:
        described = (one_line(label(relation)) for relation in summary.terminology)
        lines.append(f"terminology, which no question walks through: {_listed(described)}")
    return lines


def _headline(card: "ClassCard") -> Text:
    parts = [f"{card.members:,} member{'s' * (card.members != 1)}"]
    for what, names in (
        ("named by", card.naming),
        ("told apart by", card.identifiers),
        ("a kind of", card.superclasses),
    ):
        if names:
            parts.append(f"{what} {_listed(names)}")
    return Text(card.name, style="bold").append(f" · {' · '.join(parts)}", style="not bold")


def _properties(card: "ClassCard") -> Iterator[Text]:
    """Yield a line for each property: joins as arrows, how many members have it, and what it leads to."""
    for each in card.properties[:MAX_PROPERTIES]:
        joins = bool(each.leads_to or each.inner)
        line = Text(f"  -{each.name}->" if joins else f"  {each.name}", style="cyan" if joins else "")
        line.truncate(NAME_COLUMNS, overflow="ellipsis", pad=True)
        yield line.append(f"{each.share:5.0%}  {_leads_to(each)}".rstrip(), style="default")
    if (more := len(card.properties) - MAX_PROPERTIES) > 0:
        yield Text(f"  ... and {more} more {ALL_IN_JSON}")


def _leads_to(each: "PropertyCard") -> str:
    """Say what a property leads to: classes, what nodes without a name have, or values."""
    inner = (
        f"-{part.name}-> {_listed(part.leads_to)}" if part.leads_to else part.name for part in each.inner
    )
    values = f"{each.kind}: {each.values}" if each.values else each.kind
    return ", ".join(filter(None, [_listed(each.leads_to), _listed(inner), values]))


def _listed(names: Iterable[str]) -> str:
    """Return names on a line, and how many more there are."""
    listed = list(names)
    more = len(listed) - MAX_LISTED
    return ", ".join([*islice(listed, MAX_LISTED), *([f"{more} more"] if more > 0 else [])])


def _relations(info: "GraphInfo") -> Table:
    table = Table("relation", "triples", box=None)
    table.columns[1].justify = "right"
    for relation, count in info.relation_counts[:MAX_RELATIONS]:
        table.add_row(Text(one_line(relation)), f"{count:,}")
    if info.relations > MAX_RELATIONS:
        table.add_row(f"... and {info.relations - MAX_RELATIONS} more {ALL_IN_JSON}", "")
    return table
