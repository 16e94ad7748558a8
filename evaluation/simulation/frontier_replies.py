"""Replies to prompts about a whole frontier: pick or score relations and entities, judge, come back."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from kgqa.evaluation.simulation.chain_replies import leading_offers, name_missing, say_next
from kgqa.evaluation.simulation.gold_answers import AnswerMarks
from kgqa.evaluation.simulation.graph_cache import GoldRelations
from kgqa.evaluation.simulation.oracle import LEAST_SCORE, Case, wrong_choice
from kgqa.evaluation.simulation.verdict_replies import find_computed_take, find_exact_take
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.terms import Chain, Entity
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.assess_found import AssessFound, Assessment, EvaluateFound, Evaluation
from kgqa.prompts.base import Score
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings, NumberedCandidate, numbered_candidates
from kgqa.prompts.chain import Extension
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.pick_relations import PickedRelations, PickRelations
from kgqa.prompts.progress import MAX_SUBGOALS
from kgqa.prompts.reflect import Reflect
from kgqa.prompts.score_entities import BEST_SCORE
from kgqa.prompts.score_relations import ScoredRelations, ScoreRelations
from kgqa.prompts.update_memory import Memory, UpdateMemory


async def pick_relations(prompt: PickRelations, case: Case) -> PickedRelations:
    """Pick, from each chain of the frontier, what leads on to the answers, and nothing where nothing does.

    The choice from each chain is right or wrong by itself. A wrong one picks as many others; where
    the model recalls the right ones, they come after.
    """
    chosen = await _choose_offers(prompt.offers, len(prompt.offers), case)
    numbers = [number for wrong, right in chosen for number in (*wrong, *right)]
    starts = list(dict.fromkeys(offer.start for offer in prompt.offers))
    picked = [prompt.offers[number - 1].chain for number in numbers]
    return PickedRelations(
        relations=numbers,
        then=await say_next(picked, case, together=True) if prompt.outright else "",
        missing=await name_missing(starts, case) if prompt.missing and not numbers else "",
    )


async def _choose_offers(
    offers: Sequence[Extension], most: int, case: Case
) -> list[tuple[list[int], list[int]]]:
    """Choose, for each chain that is extended, at most so many wrong offers, and those that are right.

    Right are the offers on a gold path, or those in place of one. A chain at its end needs none.
    """
    groups: dict[Chain, dict[int, Extension]] = defaultdict(dict)
    for number, offer in enumerate(offers, 1):
        groups[offer.start][number] = offer
    chosen = []
    for chain, own in groups.items():
        right = [] if await case.is_end(chain) else await leading_offers(chain, own, case)
        wrong: list[int] = []
        errs, drawn = not case.happens("accuracy", str(chain)), f"wrong relations {chain}"
        for number in case.draws.shuffled(drawn, list(own)) if errs else ():
            if len(wrong) == max(1, min(len(right), most)):
                break
            if not await case.rests(own[number].chain):
                wrong.append(number)
        recalled = not wrong or case.happens("recall", str(chain))
        chosen.append((wrong, right if recalled else []))
    return chosen


async def score_relations(prompt: ScoreRelations, case: Case) -> ScoredRelations:
    """Give the best score to every relation that leads on to the answers, and none to the others.

    The choice for each chain of the beam is right or wrong by itself. A wrong one gives the best
    score to as many others; where the model recalls the right ones, they have the least.
    """
    scores: list[Score] = []
    for wrong, right in await _choose_offers(prompt.offers, prompt.width, case):
        scores += [Score(number=number, score=BEST_SCORE) for number in wrong]
        left = right[: prompt.width - len(wrong)]
        scores += [Score(number=number, score=LEAST_SCORE if wrong else BEST_SCORE) for number in left]
    return ScoredRelations(scores=scores)


class _ShownGroup(NamedTuple):
    """What a prompt shows as one group, held against the gold."""

    number: int
    found: ChainFindings
    rows: Sequence[NumberedCandidate]  # its candidates that are shown
    marks: AnswerMarks  # its candidates, shown or not, held against the gold answers
    rests: Sequence[GoldRelations]  # what is left to go after its chain
    complete: bool  # whether its chain, and each that it meets, is at the end of a gold path
    attributes: bool  # whether a filter may state conditions

    @property
    def topics(self) -> set[Entity]:
        return {self.found.chain.topic, *(chain.topic for chain in self.found.met)}

    @property
    def right(self) -> list[int]:
        """The numbers of the gold answers that are shown."""
        return [row.number for row, right in zip(self.rows, self.marks.right, strict=False) if right]


async def assess_found(prompt: AssessFound, case: Case) -> Assessment:
    """Stop at a group that is the answer, else go on while anything leads on that narrows it down.

    A wrong verdict is another decision, on the same group where there was one; a wrong choice of
    entities takes others. What is on a gold path is known from then on.
    """
    groups = await _read_groups(prompt.found, case, attributes=prompt.attributes)
    said = await _assess(groups, case)
    plan = (await Decompose(prompt.question).answer(case)).subgoals if not prompt.subgoals else []
    noted = replace(prompt, subgoals=prompt.subgoals or tuple(plan))
    update: dict[str, Any] = {"known": _note_known(noted, groups), "subgoals": plan}
    if said.decision == "forward":
        onwards = await Reflect(prompt.question, prompt.found, ()).answer(case)
        update |= {"groups": said.groups or onwards.go_on, "chosen": onwards.keep}
    return said.model_copy(update=update)


async def evaluate_found(prompt: EvaluateFound, case: Case) -> Evaluation:
    """Judge as `assess_found` does; what is not found is not answered from memory.

    Where no group is the answer, it may be a node on the way to one, which a wrong verdict does not see.
    """
    said = await _assess(await _read_groups(prompt.found, case, attributes=prompt.attributes), case)
    if prompt.inner and said.decision == "forward" and not case.happens("judge"):
        for number, group in enumerate(prompt.found[:MAX_GROUPS_SHOWN], 1):
            for node in range(1, group.chain.depth):
                if decision := await _judge_node(group.chain, node, case):
                    return Evaluation(decision=decision, groups=[number], node=node)
    groups = said.groups if said.decision != "forward" else []
    return Evaluation(decision=said.decision, groups=groups, take=said.take, chosen=said.chosen)


async def _judge_node(chain: Chain, node: int, case: Case) -> Literal["stop", "filter"] | None:
    """Say whether the nodes on the way along a chain are the gold answers, or these are among them."""
    if not await case.is_end(chain.upto(node)):
        return None
    branch = Branch(Chain(chain.topic, chain.hops), tuple(range(1, chain.depth + 1)))
    marks = case.gold.mark(await case.cache.answers(AnswerQuery((branch,), node)))
    return "stop" if marks.exact else "filter" if any(marks.right) else None


async def update_memory(prompt: UpdateMemory, case: Case) -> Memory:
    """Write down each group that is on a gold path, beside what was known."""
    return Memory(known=_note_known(prompt, await _read_groups(prompt.found, case)))


def _note_known(prompt: AssessFound | UpdateMemory, groups: Sequence[_ShownGroup]) -> list[str]:
    """Note relations on a gold path: of the subgoal that names one, else of the first that is open."""
    reached = dict.fromkeys(each.found.chain.hops[-1].words for each in groups if each.rests)
    if not prompt.subgoals:
        return list(dict.fromkeys([*prompt.known, *map("reached {}".format, reached)]))[-MAX_SUBGOALS:]
    notes = [*prompt.known, *[""] * len(prompt.subgoals)][: len(prompt.subgoals)]
    for words in reached:
        left = [at for at, note in enumerate(notes) if not note]
        named = [at for at in left if relation_words(words) in prompt.subgoals[at]]
        if named or f"reached {words}" not in notes:
            notes[[*named, *left, -1][0]] = f"reached {words}"
    return notes


async def _read_groups(
    found: Sequence[ChainFindings], case: Case, *, attributes: bool = False
) -> list[_ShownGroup]:
    rows = numbered_candidates(found)
    groups = []
    for number, each in enumerate(found[:MAX_GROUPS_SHOWN], 1):
        rests = await case.rests(each.chain)
        complete = all(() in left for left in [rests, *[await case.rests(chain) for chain in each.met]])
        marks = case.gold.mark([end.term for end in each.named])
        own = [row for row in rows if row.group == number]
        groups.append(_ShownGroup(number, each, own, marks, rests, complete, attributes))
    return groups


async def _assess(groups: Sequence[_ShownGroup], case: Case) -> Assessment:
    return _misjudge_groups(await _judge_groups(groups, case), groups, case)


async def _judge_groups(groups: Sequence[_ShownGroup], case: Case) -> Assessment:
    """Say which group is the answer: as it is, computed from it, or among it, in this order.

    Of groups that the answers are among, the one with most of them counts, then the one where
    most topics meet, then the smallest.
    """
    ended = sorted(groups, key=lambda group: not group.complete)
    for group in ended:
        sound = group.complete or not case.oracle.asks_more
        if sound and (take := find_exact_take(group.found.named, group.marks, case.gold)):
            return Assessment(decision="stop", groups=[group.number], take=take)
    complete = [group for group in groups if group.complete]
    topics = {plan.topic for plan in await case.oracle.plans()}
    for group in complete:
        whole = topics <= group.topics and not group.found.truncated
        if whole and (take := find_computed_take(group.found.named, case.gold)):
            return Assessment(decision="stop", groups=[group.number], take=take)
    among = [group for group in complete if any(group.marks.right)]
    among.sort(key=lambda group: (group.marks.missing, -len(group.topics), len(group.marks.right)))
    if among:
        return _judge_group(among[0], groups)
    counted = [
        each for each in complete if topics <= each.topics and case.oracle.is_discriminative(each.found.chain)
    ]
    return next(
        (Assessment(decision="filter", groups=[each.number]) for each in counted),
        Assessment(decision="forward"),
    )


def _judge_group(group: _ShownGroup, groups: Sequence[_ShownGroup]) -> Assessment:
    """Name the gold answers of a group, unless what is found elsewhere will narrow it down or add to it."""
    leading_on = [other for other in groups if any(other.rests) and not other.complete]
    if any(group.marks.missing or not other.topics <= group.topics for other in leading_on):
        return Assessment(decision="forward")
    if all(group.marks.right):
        return Assessment(decision="stop", groups=[group.number])
    pairs = zip(group.found.named, group.marks.right, strict=True)
    wanted = any(end.returning and right for end, right in pairs)
    shown = not group.found.truncated and len(group.rows) == len(group.marks.right)
    named = shown and not group.attributes
    if group.right and (named or wanted):  # filtering would leave out what returns to the topic
        return Assessment(decision="stop", groups=[group.number], take="some", chosen=group.right)
    return Assessment(decision="filter", groups=[group.number])


def _misjudge_groups(right: Assessment, groups: Sequence[_ShownGroup], case: Case) -> Assessment:
    """Err where a draw says so."""
    judged = [group for group in groups if group.rows]
    if case.happens("judge") and judged:
        decision = case.draw_other("wrong verdict", ("stop", "filter", "forward"), right.decision)
        drawn = right.groups[0] if right.groups else next(case.draws.shuffled("wrong group", judged)).number
        return Assessment(decision=decision, groups=[drawn])
    if right.decision == "stop" and case.happens("entity"):
        group = groups[right.groups[0] - 1]
        places = [place for place, row in enumerate(group.rows, 1) if row.number in group.right]
        chosen = [group.rows[n - 1].number for n in wrong_choice(places, len(group.rows), case.draws)]
        if chosen:
            return Assessment(decision="stop", groups=[group.number], take="some", chosen=chosen)
    return right
