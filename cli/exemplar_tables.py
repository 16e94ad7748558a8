"""Shows exemplars to people."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from kgqa.cli.tables import draw_slots, make_table, one_line_cell, open_console, print_left_out
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.blueprints import TOPIC_MASK, Slot
from kgqa.priors.exemplars import ExemplarHeader, ExemplarLibrary, HopScores, RecalledSolution


def show_built(built: ExemplarHeader, folder: Path, seconds: float) -> None:
    """Print what was read, what came of it, and why some questions gave no exemplar."""
    out, left_out = open_console(), sum(built.without.values())
    out.print(f"{built.questions:,} questions, {built.questions - left_out:,} with a chain")
    print_left_out(out, built.without)
    made = f"{built.exemplars:,} exemplars and {built.templates:,} templates in {folder}, {seconds:.1f} s"
    out.print(one_line_cell(made))


def show_all(exemplars: ExemplarLibrary, top: int) -> None:
    """Print how many there are, what is asked, and the chains that most questions have."""
    out, header = open_console(), exemplars.header
    out.print(
        f"{header.questions:,} questions, {sum(header.without.values()):,} of them without a chain, "
        f"{header.exemplars:,} exemplars: a masked question and its chain, once for each topic entity; "
        f"{header.templates:,} templates: a question with categories for its topics, and all its chains"
    )
    out.print(one_line_cell(f"encoder {exemplars.encoder}"))
    asked, chains, lengths = Counter[QuestionIntent](), Counter[tuple[Slot, ...]](), Counter[int]()
    for each in exemplars.exemplars:
        asked[each.asked] += each.weight
        chains[each.chain] += each.weight
        lengths[len(each.chain)] += each.weight
    shown = make_table("hops", "chains")
    for length, questions in sorted(lengths.items()):
        shown.add_row(str(length), f"{questions:,}")
    out.print(shown)
    shown = make_table("chains", "asked of their ends")
    for kind, questions in asked.most_common(top):
        shown.add_row(f"{questions:,}", one_line_cell(_describe_intent(kind)))
    out.print(shown)
    shown = make_table("times", "chain")
    for chain, questions in chains.most_common(top):
        shown.add_row(f"{questions:,}", draw_slots(chain))
    out.print(shown)


def show_advice(exemplars: ExemplarLibrary, masked: str, top: int) -> None:
    """Print the nearest exemplars of a masked question, the likeliest hops, and what is asked."""
    out = open_console()
    out.print(one_line_cell(masked))
    if TOPIC_MASK not in masked:
        out.print("no topic entity is masked; name it, as the question does, with --topic")
    shown = make_table("similarity", "questions", "exemplar", "chain")
    for near, similarity in exemplars.nearest(masked, top):
        shown.add_row(
            f"{similarity:.3f}", f"{near.weight:,}", one_line_cell(near.question), draw_slots(near.chain)
        )
    out.print(shown)
    out.print(_hop_table(exemplars.hops(masked), top))
    asked, share = max(exemplars.asked(masked).items(), key=lambda pair: pair[1])
    out.print(one_line_cell(f"asked: {_describe_intent(asked)} ({share:.1%})"))


def show_recalled(template: str, recalled: Sequence[RecalledSolution]) -> None:
    """Print the solved questions that a method is shown for a question."""
    out = open_console()
    out.print(one_line_cell(f"as a template: {template}"))
    shown = make_table("similarity", "questions", "solved question", "chains")
    for solution, similarity in recalled:
        chains = Text(" & ").join(map(draw_slots, solution.branches))
        shown.add_row(
            f"{similarity or 0:.3f}", f"{solution.questions:,}", one_line_cell(solution.template), chains
        )
    out.print(shown)


def _hop_table(scores: HopScores, top: int) -> Table:
    shown = make_table("hop", "probability", "relation")
    for number, likely in enumerate(scores[:-1], 1):
        for slot, score in sorted(likely.items(), key=lambda pair: -pair[1])[:top]:
            name = "no further hop" if slot is None else str(slot)
            shown.add_row(str(number), f"{math.exp(score):.1%}", one_line_cell(name))
    return shown


def _describe_intent(asked: QuestionIntent) -> str:
    """Say what is asked of the ends of the chains."""
    ends = "the ends of all chains together" if asked.union else "the ends"
    if asked.kind in {"all", "count"}:
        return f"{'all' if asked.kind == 'all' else 'the number of'} {ends}"
    return f"the {asked.kind} of {ends}{f' by {asked.by}' if asked.by else ''}"
