"""Replies that guide a search: subgoals, an adapted blueprint, the decision to blame for a failure."""

from collections.abc import Iterable

from kgqa.evaluation.simulation.oracle import Case
from kgqa.kg.terms import Chain, local_name
from kgqa.priors.candidate_ranking import relation_words
from kgqa.prompts.adapt_blueprint import (
    AdaptBlueprint,
    AdaptedBlueprint,
    AdaptFreely,
    Decompose,
    DecomposeAlong,
    LinearBlueprint,
    OutlineSearch,
    SearchOutline,
    Subgoals,
)
from kgqa.prompts.diagnose import MAX_BRANCHES_SHOWN, MAX_DECISIONS_SHOWN, Diagnose, Diagnosis
from kgqa.prompts.progress import MAX_BRANCH_HOPS, MAX_SUBGOALS
from kgqa.prompts.rewrite_question import TranslatedQuestion, TranslateQuestion


async def decompose(prompt: Decompose | DecomposeAlong, case: Case) -> Subgoals:
    """Return one subgoal for each named node on the gold paths, in words of the relations to it.

    A bad plan is the question itself, as is that of a question without a gold path.
    """
    goals: list[str] = []
    for topic, hops in await case.oracle.plans():
        begin = 0
        for end in range(1, len(hops) + 1):
            part = Chain(topic, hops[:end])
            if end == len(hops) or any(term.name for term in await case.cache.ends(part)):
                words = (relation_words(hop.words) for hop in reversed(hops[begin:end]))
                goals.append(f"find the {' of the '.join(words)}")
                begin = end
    planned = case.happens("accuracy") and goals
    return Subgoals(subgoals=goals[:MAX_SUBGOALS] if planned else [prompt.question])


async def adapt_blueprint(prompt: AdaptBlueprint, case: Case) -> AdaptedBlueprint:
    """Name the relations on the gold path from each topic; a topic without one gets the first of the others.

    A bad adaptation is the nearest exemplar unchanged, as is that of a question without a gold path.
    """
    plans = await case.oracle.plans()
    branches: list[list[str]] = []
    for topic in prompt.topics:
        plan = next((plan for plan in plans if plan.topic == topic), None)
        if plan:
            plans.remove(plan)
        hops = plan.hops[:MAX_BRANCH_HOPS] if plan else ()
        branches.append([hop.words if hop.forward else f"^{hop.words}" for hop in hops])
    first = next(filter(None, branches), None)
    branches = [branch or first for branch in branches] if first else []
    if not (case.happens("accuracy") and branches):
        nearest = prompt.exemplars[0].branches if prompt.exemplars else (prompt.relations[:1],)
        branches = [list(branch[:MAX_BRANCH_HOPS]) for branch in nearest[: max(1, len(prompt.topics))]]
    return AdaptedBlueprint(branches=branches)


async def translate_question(prompt: TranslateQuestion, case: Case) -> TranslatedQuestion:
    """Leave a question as it is: gold says nothing of its words."""
    return TranslatedQuestion(question=None)


async def outline_search(prompt: OutlineSearch, case: Case) -> SearchOutline:
    """Say what `decompose` and `adapt_blueprint` say; either errs by itself."""
    shown = AdaptBlueprint(prompt.question, prompt.topics, prompt.exemplars, prompt.relations)
    plan, adapted = await decompose(Decompose(prompt.question), case), await adapt_blueprint(shown, case)
    return SearchOutline(subgoals=plan.subgoals, branches=adapted.branches)


async def adapt_freely(prompt: AdaptFreely, case: Case) -> LinearBlueprint:
    """Name the relations of what `adapt_blueprint` writes, one branch after the other."""
    shown = AdaptBlueprint(prompt.question, prompt.topics, prompt.exemplars, ())
    return LinearBlueprint.of(await adapt_blueprint(shown, case))


async def diagnose(prompt: Diagnose, case: Case) -> Diagnosis:
    """Blame the first decision that left the gold path, and recall what goes on along it.

    A wrong verdict blames another decision; the choice among what that one has pruned errs as
    often as a choice of relations does.
    """
    shown = range(max(1, len(prompt.trajectory) - MAX_DECISIONS_SHOWN + 1), len(prompt.trajectory) + 1)
    step = await _first_wrong_step(prompt, shown, case)
    if case.happens("judge"):
        others = [number for number in (0, *shown) if number != step]
        step = next(case.draws.shuffled("wrong step", others), step)
    recall, misleads = await _recall_pruned(prompt, step, case), await _is_misleading(prompt.blueprint, case)
    return Diagnosis(step=step, recall=recall, blueprint="drop" if misleads else "keep")


async def _first_wrong_step(prompt: Diagnose, shown: Iterable[int], case: Case) -> int:
    """Number the first decision that left all gold paths; 0 if there is none."""
    for number in shown:
        decided = prompt.trajectory[number - 1]
        goes_on = any(await case.rests(decided.before))
        if goes_on and not (decided.after and await case.rests(decided.after)):
            return number
    return 0


async def _recall_pruned(prompt: Diagnose, step: int, case: Case) -> list[int]:
    """Choose among what a decision has pruned; where the model recalls the right ones, they come last."""
    shown = list(enumerate(prompt.pruned[:MAX_BRANCHES_SHOWN], 1))
    offered = [number for number, branch in shown if branch.step == step]
    right = [number for number in offered if await case.rests(prompt.pruned[number - 1].chain)]
    wrong = case.draw_wrongly("wrong branches", right, offered)
    return wrong + right if not wrong or case.happens("recall") else wrong


async def _is_misleading(blueprint: str, case: Case) -> bool:
    """Return whether a blueprint has no relation in common with the gold paths."""
    plain = f" {blueprint.replace('^', '')} "
    hops = [hop for plan in await case.oracle.plans() for hop in plan.hops]
    shared = any(f" {name} " in plain for hop in hops for name in (hop.words, local_name(hop.relation)))
    return bool(blueprint and hops) and not shared
