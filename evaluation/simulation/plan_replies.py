"""Replies to prompts of a search that plans in steps: plan, select, verify, revise, judge a claim."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import get_args

from kgqa.evaluation.simulation.chain_replies import leading_offers, say_next
from kgqa.evaluation.simulation.gold_answers import YesNoVerdict
from kgqa.evaluation.simulation.oracle import Case
from kgqa.kg.terms import Chain, Entity, Literal, Path, Term
from kgqa.kg.text import fold
from kgqa.priors.candidate_ranking import hop_words, relation_words
from kgqa.prompts.candidates import aggregate
from kgqa.prompts.chain import Extension, extend
from kgqa.prompts.facts import RelationCandidate, facts_as_statements
from kgqa.prompts.judge_claim import JudgeClaim, Judgement
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.prompts.plans import PlanStep, Statement, StepReply
from kgqa.prompts.revise_plan import (
    ReviseAhead,
    RevisedSteps,
    ReviseGlobally,
    ReviseLocally,
    ReviseMixed,
    RevisePlan,
)
from kgqa.prompts.select_entities import SelectedEntities, SelectEntities
from kgqa.prompts.select_relations import SelectedRelations, SelectRelations
from kgqa.prompts.verify_step import StepVerdict, VerifyStep

UNKNOWN_END = Literal("?")  # what a relation leads to that was not followed yet
UNKNOWN_NODE = Entity("_:unknown")  # the node without a name before it
MAX_RELATIONS_TRIED = 5  # relations of a topic that are followed for a wrong answer at most
MAX_STATEMENTS = 8  # statements that a step predicts at most
MAX_WRONG_ANSWERS = 3  # wrong answers that a plan gives at most
_OPPOSITE_VERDICTS = {"yes": ("no",), "no": ("yes",), "unknown": ("yes",)}
_FALLBACK_ANSWERS = ("somebody else",)


async def plan_steps(prompt: PlanSteps, case: Case) -> StepsReply:
    """Go along the gold paths from all topics at once, one named node a step, to the gold answers.

    What a step predicts is what the graph says. A bad plan predicts other relations and ends
    with other answers.
    """
    steps = (await _gold_steps(case) or [PlanStep("Find the answer.", prompt.question)])[: prompt.depth]
    answers = await _gold_answers(case)
    if not case.happens("plan"):
        steps, answers = await _mislead_steps(steps, case), list(await _draw_wrong_answers(case))
    return StepsReply(
        steps=_step_replies(steps),
        thought=f"The answer is {', '.join(answers[:3])}.",
        answers=answers,
        whether=case.gold.verdict is not None,
    )


def _step_replies(steps: Sequence[PlanStep]) -> list[StepReply]:
    return [
        StepReply(thought=step.thought, search=step.search, observation=list(map(list, step.observation)))
        for step in steps
    ]


async def _gold_steps(case: Case) -> list[PlanStep]:
    """Go along the paths from all topics in turns."""
    groups = await case.oracle.paths()
    longest = max((len(_named_stages(path)) for group in groups for path in group), default=0)
    steps = []
    for place in range(1, longest + 1):
        turns = zip_longest(*(_paths_at_stage(group, place) for group in groups))
        steps.append(_predict_step([path for turn in turns for path in turn if path]))
    return steps


async def _gold_answers(case: Case) -> list[str]:
    """Name the gold answers, as the graph does where it leads to all of them."""
    gold = case.gold
    for topic, hops in await case.oracle.plans():
        ends = await case.cache.ends(Chain(topic, hops))
        if (found := gold.among(ends)) and not gold.mark(ends).missing:
            return list(dict.fromkeys(map(str, found)))
    return [gold.verdict] if gold.verdict else gold.names


async def select_relations(prompt: SelectRelations, case: Case) -> SelectedRelations:
    """Pick every relation that leads on to the answers from any place where it is offered.

    A wrong choice picks as many others; where the model recalls the right ones, they come after.
    """
    right = await _leading_relations(prompt.frontier, prompt.offers, case)
    chosen = right
    if not case.happens("accuracy"):
        drawn = case.draws.shuffled("wrong relations", range(1, len(prompt.offers) + 1))
        wrong = [number for number in drawn if number not in right][: max(1, len(right))]
        chosen = [*wrong, *(right if case.happens("recall") or not wrong else [])]
    offers = [prompt.offers[number - 1] for number in chosen[:1]]
    first = [offer.extend(prompt.frontier[offer.heads[0]]) for offer in offers]
    said = await say_next(first, case, filtering=prompt.filtering) if prompt.outright else ""
    return SelectedRelations(relations=chosen, then=said)


async def _leading_relations(
    frontier: Sequence[Path], offers: Sequence[RelationCandidate], case: Case
) -> list[int]:
    """Number the relations on a gold path to the answers, or those that take the place of one not offered."""
    chains: dict[Chain, dict[int, Extension]] = defaultdict(dict)
    for number, offer in enumerate(offers, 1):
        for head in offer.heads:
            chain = frontier[head].chain
            chains[chain][number] = extend(chain, *offer.hops)
    return sorted({n for chain, own in chains.items() for n in await leading_offers(chain, own, case)})


async def select_entities(prompt: SelectEntities, case: Case) -> SelectedEntities:
    """Go on from all, or from those that lead to a gold answer where others are among them.

    Where not all are shown, all are kept. A wrong choice is of others.
    """
    shown = prompt.offered
    right = range(1, len(shown) + 1) if prompt.total > len(shown) else await _candidates_to_gold(shown, case)
    chosen = case.choose(right, len(shown))
    some = 0 < len(chosen) < len(shown)
    return SelectedEntities(keep="some", chosen=chosen) if some else SelectedEntities(keep="all")


async def _candidates_to_gold(shown: Sequence[Term], case: Case) -> list[int]:
    """Number the candidates from which a gold answer is reached; all, or none, where that is not known."""
    oracle = case.oracle
    for topic, hops in await oracle.plans():
        for depth in range(1, len(hops) + 1):
            chain = Chain(topic, hops[:depth])
            if set(shown) <= {*await oracle.cache.ends(chain)}:
                if depth == len(hops):
                    return oracle.gold.mark(shown).numbers
                if all(oracle.gold.mark(await oracle.cache.ends(Chain(topic, hops))).right):
                    return []
                entities = [(n, term) for n, term in enumerate(shown, 1) if isinstance(term, Entity)]
                return [n for n, term in entities if await oracle.rests(chain.constrained_to([term]))]
    return []


async def verify_step(prompt: VerifyStep, case: Case) -> StepVerdict:
    """Call for a revision where the facts do not bear out all that was predicted.

    So too where they lead to gold answers at last, none of which was predicted. The observation
    is put right by the facts that lead on to the answers. A wrong verdict is the other one.
    """
    failed = not await _is_confirmed(prompt, case) or await _is_unforeseen(prompt, case)
    if case.happens("judge"):
        return StepVerdict(revise=not failed)
    if not failed:
        return StepVerdict(revise=False)
    seen = _predict_step(_paths_at_stage(await _facts_on_gold_chain(prompt.facts, case), -1))
    return StepVerdict(revise=True, observation=list(map(list, seen.observation)))


async def _is_confirmed(prompt: VerifyStep, case: Case) -> bool:
    """Return whether the facts say what was predicted; of a gold relation, whether they know its ends.

    A search keeps one fact of several that lead to the same entity.
    """
    facts = {*_folded_statements(prompt.facts)}
    known = {name for head, _, tail in facts for name in (head, tail)}
    usual = {statement[1] for paths in await case.oracle.paths() for statement in _folded_statements(paths)}
    return all(
        (relation in usual and {head, tail} <= known)
        or any(_matches_fact(fact, (head, relation, tail)) for fact in facts)
        for head, relation, tail in map(_fold_statement, prompt.step.observation)
    )


def _matches_fact(fact: Statement, predicted: Statement) -> bool:
    """Compare in either direction; a name that was left open ("?") is any."""
    head, relation, tail = predicted
    either_way = (fact[::2], fact[::-2])
    return relation == fact[1] and any(head in ("", a) and tail in ("", b) for a, b in either_way)


async def _is_unforeseen(prompt: VerifyStep, case: Case) -> bool:
    """Return whether the last of the facts lead to gold answers and the step names none of them."""
    last = _paths_at_stage(prompt.facts, -1)
    gold = set(map(fold, await _name_found_answers(last, case)))
    predicted = map(_fold_statement, prompt.step.observation)
    named = {name for head, _, tail in predicted if head and tail for name in (head, tail)}
    return not gold.isdisjoint(fold(str(path.end)) for path in last) and named.isdisjoint(gold)


def _folded_statements(paths: Sequence[Path]) -> Iterator[Statement]:
    stages = [stage for path in paths for stage in _named_stages(path)]
    return map(_fold_statement, facts_as_statements(stages))


def _fold_statement(statement: Statement) -> Statement:
    head, relation, tail = map(fold, statement)
    return head, relation, tail


async def revise_plan(
    prompt: ReviseLocally | ReviseAhead | ReviseGlobally | ReviseMixed, case: Case
) -> RevisedSteps:
    """Put right what the facts show: the step at hand, all steps so far if the whole is revised.

    By relations that lead on, the step to come as well; where nothing was observed and nothing
    is seen to lead on, that step is planned in the words of the question. Further steps stay. The
    answers are those to which the facts lead, beside right ones that the plan has; the plan's
    where there are none.
    A bad revision predicts other relations for these steps, and ends with other answers.
    """
    plan = prompt.plan
    first = 1 if prompt.arm == "global" else min(max(1, prompt.done), len(plan.steps) + 1)
    if case.happens("accuracy"):
        steps = await _correct_steps(prompt, case)
        right = [answer for answer in plan.answers if any(case.gold.mark([Literal(answer)]).right)]
        right += await _name_found_answers(prompt.facts, case)
        answers = list(dict.fromkeys(right or plan.answers))
    else:
        last = max(prompt.done, 1)
        wrong = await _mislead_steps(plan.steps[first - 1 : last], case, first - 1)
        steps = [*plan.steps[: first - 1], *wrong, *plan.steps[last:]]
        answers = list(await _draw_wrong_answers(case))
    return RevisedSteps(
        first=first,
        steps=_step_replies(steps[first - 1 : prompt.depth]),
        thought=plan.thought,
        answers=answers,
        whether=plan.whether,
    )


async def _correct_steps(prompt: RevisePlan, case: Case) -> list[PlanStep]:
    steps = list(prompt.plan.steps)
    facts = await _facts_on_gold_chain(prompt.facts, case)
    for number in range(1, prompt.done + 1) if prompt.arm == "global" else (prompt.done,):
        seen = _paths_at_stage(facts, number if prompt.arm == "global" else -1)
        if seen and number:
            steps[number - 1 : number] = [_predict_step(seen)]
    ahead = []
    if isinstance(prompt, ReviseAhead):
        for number in await _leading_relations(prompt.frontier, prompt.offers, case):
            offer = prompt.offers[number - 1]
            ahead += [_go_on(prompt.frontier[head], offer) for head in offer.heads]
    if ahead:
        steps[prompt.done : prompt.done + 1] = [_predict_step(ahead)]
    elif not prompt.facts:
        steps[prompt.done : prompt.done + 1] = [PlanStep("Find what leads on.", prompt.question)]
    return steps


def _go_on(path: Path, offer: RelationCandidate) -> Path:
    return (path.then(offer.hop, UNKNOWN_NODE) if offer.after else path).then(offer.hops[-1], UNKNOWN_END)


async def judge_claim(prompt: JudgeClaim, case: Case) -> Judgement:
    """Return the gold verdict, borne by the facts on a gold path; unknown where there are none.

    Of the facts at the end of a gold path those count that lead to another topic, if any does. A
    wrong verdict is another, borne by the same facts.
    """
    offered = prompt.offered
    facts = await _facts_on_gold_chain(offered, case, at_end=True)
    facts = facts or await _facts_on_gold_chain(offered, case)
    topics = {*prompt.topics, *await case.oracle.topics()}
    telling = {path for path in facts if path.end in topics} or set(facts)
    bearing = [number for number, path in enumerate(offered, 1) if path in telling]
    verdict = case.judge("wrong verdict", get_args(YesNoVerdict), case.gold.verdict or "unknown")
    if not bearing:
        return Judgement(verdict="unknown")
    favour, against = bearing * (verdict == "yes"), bearing * (verdict == "no")
    return Judgement(verdict=verdict, favour=favour, against=against)


def _named_stages(path: Path) -> list[Path]:
    """Return a path up to each of its nodes with a name; one without is crossed in the same step."""
    sizes = (size for size, (_, node) in enumerate(path.steps, 1) if node.name)
    return [Path(path.topic, path.steps[:size]) for size in sizes]


def _paths_at_stage(paths: Iterable[Path], number: int) -> list[Path]:
    """Return where paths are after so many steps of a search, each place once; -1: at the last one."""
    rows = list(filter(None, map(_named_stages, paths)))
    place = max(map(len, rows), default=0) if number < 0 else number
    return list(dict.fromkeys(row[place - 1] for row in rows if len(row) >= place))


def _predict_step(paths: Sequence[Path]) -> PlanStep:
    """Write the step that leads to the ends of paths, in words of their last relations."""
    stated = facts_as_statements(paths)[:MAX_STATEMENTS]
    sought = list(dict.fromkeys(_search_text(path) for path in paths))[:2]
    return PlanStep(f"Find {' and '.join(sought)}.", " and ".join(sought), tuple(stated))


async def _facts_on_gold_chain(facts: Iterable[Path], case: Case, *, at_end: bool = False) -> list[Path]:
    """Leave the facts along a chain that leads to the answers, or at the end of one that has led there."""
    rests = [(path, await case.rests(path.chain)) for path in facts if path.steps]
    return [path for path, left in rests if (() in left if at_end else left)]


async def _name_found_answers(facts: Iterable[Path], case: Case) -> list[str]:
    """Name the gold answers that facts lead to, or that can be computed from what they lead to."""
    gold = case.gold
    ends = list(dict.fromkeys(path.end for path in await _facts_on_gold_chain(facts, case, at_end=True)))
    if right := gold.among(ends):
        return list(dict.fromkeys(map(str, right)))
    if gold.verdict:
        return [gold.verdict] if ends else []
    values = [aggregate(take, ends) for take in gold.takes]
    return next(([str(value)] for value in values if value and gold.mark([value]).exact), [])


def _search_text(path: Path) -> str:
    start = max((place for place, node in enumerate(path.nodes[:-1]) if node.name), default=0)
    words = hop_words(hop for hop, _ in path.steps[start:])
    return f"the {words} of {path.nodes[start]}"


async def _mislead_steps(steps: Sequence[PlanStep], case: Case, begin: int = 0) -> list[PlanStep]:
    """Predict of each step another relation, and names that are no answers.

    ``begin`` is the place of the first of them in its plan.
    """
    names = await _draw_wrong_answers(case)
    topics = await case.oracle.topics()
    graph = case.cache.graph
    right = {hop.relation for plan in await case.oracle.plans() for hop in plan.hops}
    others = [graph.relation_label(relation) for relation in graph.relations if relation not in right]
    drawn = case.draws.shuffled("wrong words", others)
    wrong = []
    for place, step in enumerate(steps, begin):
        words = relation_words(next(drawn, "thing"))
        heads = list(dict.fromkeys(head for head, _, _ in step.observation)) or list(map(str, topics))
        said = tuple((head, words, name) for head in heads[:MAX_WRONG_ANSWERS] for name in names[:1])
        sought = f"the {words} of {' and '.join(heads[:2]) or 'it'}"
        wrong.append(PlanStep(f"Find {sought}{', next' if place else ''}.", sought, said))
    return wrong


async def _draw_wrong_answers(case: Case) -> tuple[str, ...]:
    """Draw names around a topic that are no answers; the opposite of a yes or no."""
    gold = case.gold
    if gold.verdict:
        return _OPPOSITE_VERDICTS[gold.verdict]
    for topic in await case.oracle.topics():
        hops = await case.cache.hops(Chain(topic))
        for hop in islice(case.draws.shuffled("wrong answers", hops), MAX_RELATIONS_TRIED):
            ends = await case.cache.ends(Chain(topic, (hop,)))
            right = gold.among(ends)
            names = dict.fromkeys(end.name for end in ends if end.name and end not in right)
            if names:
                return tuple(filter(None, names))[: min(MAX_WRONG_ANSWERS, max(1, len(gold.names)))]
    return _FALLBACK_ANSWERS
