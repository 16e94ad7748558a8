"""Replies about one chain at a time: which hop to follow, where to stop, which ends are answers."""

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain as joined
from typing import Any

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, one_line
from kgqa.models.decisive import candidates_to_filter, decisive_replies
from kgqa.models.offline.interpreter import Interpretation, QuestionInterpreter
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptedBlueprint, AdaptFreely, LinearBlueprint
from kgqa.prompts.answer_from_memory import AnswerDirectly, DirectAnswer
from kgqa.prompts.apply_conditions import ApplyConditions, StatedConditions
from kgqa.prompts.base import Prompt, Reply
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, ChainFindings, Take, parse_number
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.connect_topic import Connection, ConnectTopic
from kgqa.prompts.decompose import Decompose, DecomposeAlong, Subgoals
from kgqa.prompts.diagnose import MAX_BRANCHES_SHOWN, Diagnose, Diagnosis
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred
from kgqa.prompts.outline_search import OutlineSearch, SearchOutline
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations
from kgqa.prompts.solved_questions import MAX_BRANCH_HOPS
from kgqa.prompts.verify_chain import Verdict, VerifyChain
from kgqa.retrieval.wording import relation_phrase

Replies = dict[type[Prompt[Any]], Callable[[Any, QuestionInterpreter], Awaitable[Reply]]]

NO_FACTS = "the offline model knows no facts"
"""Why it does not answer from memory."""

_MAX_NAMED_CANDIDATES = 3  # that a finding names


def judge_chain(
    known: Interpretation,
    chain: Chain,
    candidates: Sequence[Candidate],
    truncated: bool,
    *,
    filtering: bool = True,
    shown: int = MAX_CANDIDATES_SHOWN,
    attributes: bool = False,
    siblings: Sequence[ChainFindings] = (),
) -> Verdict:
    """Judge a chain by what is left to go after it, and by those of its ends that are answers.

    Only the first ``shown`` candidates can be chosen; where others are answers, they are filtered for.
    Without ``filtering`` candidates are not told apart: all are answers, if any is. With ``attributes`` a
    filter may tell them apart by a condition. ``siblings`` that say the same as a chain of which all ends are
    answers are united with it.
    """
    rest = known.remaining_hops(chain)
    right = known.answer_numbers(chain, candidates)
    if rest:
        return Verdict(rationale=known.reason, decision="forward")
    if rest is None or not right:
        return Verdict(rationale=known.reason, decision="backtrack")
    counted = asks_for_count(known, candidates)
    if len(right) == len(candidates) or not filtering:
        # what comes back to the topic is left out, where there is anything else
        take: Take = "all" if all(each.returning for each in candidates) else "others"
        take = "count" if counted and not truncated else take
        united = [
            number
            for number, each in enumerate(siblings, 1)
            if known.answers is None and known.says_the_same(chain) and known.says_the_same(each.chain)
        ]
        return Verdict(rationale=known.reason, decision="stop", take=take, united=united)
    if right[-1] > shown or counted or attributes:
        return Verdict(rationale=known.reason, decision="filter")
    return Verdict(rationale=known.reason, decision="stop", take="some", chosen=right)


def asks_for_count(known: Interpretation, candidates: Sequence[Candidate]) -> bool:
    """Return whether the question asks how many there are; a number is itself what "how many" asks for."""
    return known.intent.kind == "count" and any(parse_number(each.term) is None for each in candidates)


def describe_finding(chain: Chain, candidates: Sequence[Candidate]) -> str:
    """Say a chain and some of its ends: ``mouth of river of Ulm: Black Sea``."""
    said = [relation_phrase(hop.words) for hop in reversed(chain.hops)]
    names = [one_line(str(candidate.term), 40) for candidate in candidates[:_MAX_NAMED_CANDIDATES]]
    if len(candidates) > _MAX_NAMED_CANDIDATES:
        names.append(f"{len(candidates) - _MAX_NAMED_CANDIDATES} more")
    return one_line(f"{' of '.join([*said, str(chain.topic)])}: {', '.join(names)}")


async def verify_chain(prompt: VerifyChain, interpreter: QuestionInterpreter) -> Verdict:
    """Stop at the end of a known chain, the chosen one first; go on before it, turn back beside all."""
    known = await interpreter.interpret(prompt.question, prompt.topics, [prompt.chain])
    filtering, attributes = prompt.filtering, prompt.attributes
    seen = prompt.chain, prompt.candidates, prompt.truncated
    siblings = prompt.siblings
    return judge_chain(known, *seen, filtering=filtering, attributes=attributes, siblings=siblings)


async def check_sufficiency(prompt: CheckSufficiency, interpreter: QuestionInterpreter) -> Sufficiency:
    """Judge as `verify_chain` does, and say what the chain leads to."""
    known = await interpreter.interpret(prompt.question, prompt.topics, [prompt.chain])
    seen = prompt.chain, prompt.candidates, prompt.truncated
    judged = judge_chain(known, *seen, attributes=prompt.attributes, siblings=prompt.siblings)
    finding = "" if judged.decision == "backtrack" else describe_finding(prompt.chain, prompt.candidates)
    return Sufficiency(finding=finding, **vars(judged))


async def filter_candidates(prompt: FilterCandidates, interpreter: QuestionInterpreter) -> FilteredCandidates:
    """Choose the candidates that are answers by the interpretation."""
    known = await interpreter.interpret(prompt.question, prompt.topics, [prompt.chain])
    chosen = known.answer_numbers(prompt.chain, prompt.offered)
    counting = asks_for_count(known, prompt.candidates)
    return FilteredCandidates(rationale=known.reason, chosen=chosen, count=counting)


async def connect_topic(prompt: ConnectTopic, interpreter: QuestionInterpreter) -> Connection:
    """Choose the relation that the topic's own chain begins with, if it goes on as the other one does."""
    known = await interpreter.interpret(prompt.question, prompt.topics, [prompt.chain])
    ways = [Chain(prompt.topic, (hop.inverse, *prompt.chain.hops[place:])) for place, hop in prompt.offers]
    right = (number for number, way in enumerate(ways, 1) if known.remaining_hops(way) == ())
    return Connection(rationale=known.reason, relation=next(right, 0))


async def apply_conditions(prompt: ApplyConditions, interpreter: QuestionInterpreter) -> StatedConditions:
    """State what leaves the answers by the interpretation: values and types in the question, an extreme.

    Where there is no such condition, the answers are chosen.
    """
    known = await interpreter.interpret(prompt.question, prompt.topics, [prompt.chain])
    chosen = known.answer_numbers(prompt.chain, prompt.offered)
    counting, whole = asks_for_count(known, prompt.candidates), len(prompt.offered) == len(prompt.candidates)
    if whole and 0 < len(chosen) < len(prompt.offered):
        wanted = [prompt.offered[number - 1].term for number in chosen]
        for reply, basis in decisive_replies(candidates_to_filter(prompt), wanted):
            if basis == "named" or (basis == "extreme" and reply.extreme == known.intent.kind):
                count = counting and reply.extreme == "none"
                return reply.model_copy(update={"rationale": known.reason, "count": count})
    if not chosen or (whole and len(chosen) == len(prompt.offered)):
        return StatedConditions(rationale=known.reason, fits="all" if chosen else "none", count=counting)
    return StatedConditions(rationale=known.reason, chosen=chosen, count=counting, words=prompt.question)


async def infer_answers(prompt: InferFromEvidence, interpreter: QuestionInterpreter) -> Inferred:
    """Choose the ends of complete chains that are answers by the interpretation."""
    chains = [segment.chain for segment in prompt.segments for _ in segment.ends]
    known = await interpreter.interpret(prompt.question, prompt.topics, chains)
    chosen = [
        number
        for number, (chain, end) in enumerate(zip(chains, prompt.offered, strict=False), 1)
        if known.is_chosen(chain) and known.answer_numbers(chain, (end,))
    ]
    return Inferred(rationale=known.reason, chosen=chosen)


async def prune_relations(prompt: PruneRelations, interpreter: QuestionInterpreter) -> PrunedRelations:
    """Choose the relation that the chosen chain goes on by, then those of others; none beside all chains.

    Where it is not offered, an inverse of it may be.
    """
    known = await interpreter.interpret(prompt.question, prompt.topics, [prompt.chain])
    rests = [rest for rest in known.rests(prompt.chain) if rest]
    if not rests:
        return PrunedRelations(rationale=known.reason, relations=[])
    chosen, *others = rests
    offers = {number: offer.hops for number, offer in enumerate(prompt.offers, 1)}
    exact = [
        [number for number, hops in offers.items() if rest[: len(hops)] == hops] for rest in (chosen, *others)
    ]
    topic, gone = prompt.chain.topic, prompt.chain.hops
    whole = Chain(topic, (*gone, *chosen))
    first = exact[0] or [
        number for number, hops in offers.items() if known.goes_along(whole, Chain(topic, (*gone, *hops)))
    ]
    relations = [*dict.fromkeys([*first, *joined.from_iterable(exact)])] if first else []
    return PrunedRelations(rationale=known.reason, relations=relations[: prompt.width])


async def diagnose_branch(prompt: Diagnose, interpreter: QuestionInterpreter) -> Diagnosis:
    """Recall the last branch on the chosen chain; without one, what was chosen last and not tried."""
    shown = list(enumerate(prompt.pruned[:MAX_BRANCHES_SHOWN], 1))
    if not shown:
        return Diagnosis(rationale="no branch is left", step=0)
    chains = [branch.chain for _, branch in shown]
    known = await interpreter.interpret(prompt.question, prompt.topics, chains)
    right = [(number, branch) for number, branch in shown if known.starts_with(branch.chain)]
    number, branch = max(
        right or shown, key=lambda each: (each[1].step, each[1].waiting, each[1].relevance or 0.0, -each[0])
    )
    why = known.reason if right else "the last decision with a branch left"
    return Diagnosis(rationale=why, step=branch.step, recall=[number])


async def decompose(prompt: Decompose, _: QuestionInterpreter) -> Subgoals:
    """Take the question as the only subgoal: words alone do not tell what is found first."""
    return Subgoals(rationale="the question is its own subgoal", subgoals=[prompt.question.strip() or "?"])


async def adapt_blueprint(prompt: AdaptBlueprint, interpreter: QuestionInterpreter) -> AdaptedBlueprint:
    """Return the chosen chains; where there are none, the nearest exemplar as it is, or a relation."""
    known = await interpreter.interpret(prompt.question, prompt.topics)
    chains = [known.chains.get(topic, Chain(topic)) for topic in prompt.topics]
    paths = [[("" if hop.forward else "^") + hop.words for hop in chain.hops] for chain in chains]
    if first := next(filter(None, paths), None):
        branches = [path or first for path in paths]
    else:
        nearest = prompt.exemplars[0].branches if prompt.exemplars else (prompt.relations[:1],)
        branches = [list(branch[:MAX_BRANCH_HOPS]) for branch in nearest[: max(1, len(prompt.topics))]]
    return AdaptedBlueprint(rationale=known.reason, branches=branches)


async def outline_search(prompt: OutlineSearch, interpreter: QuestionInterpreter) -> SearchOutline:
    """Say what `decompose` and `adapt_blueprint` say."""
    shown = AdaptBlueprint(prompt.question, prompt.topics, prompt.exemplars, prompt.relations)
    adapted = await adapt_blueprint(shown, interpreter)
    subgoals = [prompt.question.strip() or "?"]
    return SearchOutline(rationale=adapted.rationale, subgoals=subgoals, branches=adapted.branches)


async def adapt_freely(prompt: AdaptFreely, interpreter: QuestionInterpreter) -> LinearBlueprint:
    """Name the relations of what `adapt_blueprint` writes, one branch after the other."""
    shown = AdaptBlueprint(prompt.question, prompt.topics, prompt.exemplars, ())
    return LinearBlueprint.of(await adapt_blueprint(shown, interpreter))


async def abstain(prompt: AnswerDirectly, _: QuestionInterpreter) -> DirectAnswer:
    """Answer nothing: the search before has found nothing."""
    return DirectAnswer(rationale=NO_FACTS, answers=[])


CHAIN_REPLIES: Replies = {
    AdaptBlueprint: adapt_blueprint,
    AdaptFreely: adapt_freely,
    AnswerDirectly: abstain,
    ApplyConditions: apply_conditions,
    CheckSufficiency: check_sufficiency,
    ConnectTopic: connect_topic,
    Decompose: decompose,
    DecomposeAlong: decompose,
    Diagnose: diagnose_branch,
    FilterCandidates: filter_candidates,
    InferFromEvidence: infer_answers,
    OutlineSearch: outline_search,
    PruneRelations: prune_relations,
    VerifyChain: verify_chain,
}
