"""How every record is completed, and how answers are proved; for the nodes that answer."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from kgqa.kg.errors import KGError, KGRejected
from kgqa.kg.terms import Chain, Hop, Path, Term, Triple
from kgqa.models.errors import MalformedReply, ModelError
from kgqa.models.interface import Assessment
from kgqa.nodes.alternatives import find_alternatives
from kgqa.prompts.answer_from_memory import AnswerDirectly
from kgqa.prompts.candidates import parse_number
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import (
    BY_SEARCH,
    FROM_GRAPH,
    VARIABLE_REF,
    Fact,
    Outcome,
    PathStep,
    RecordedCondition,
    Ref,
    fact,
    ref,
)
from kgqa.runtime.record_text import as_sentence, has_sentence, list_answers, unique_refs
from kgqa.runtime.state import FinalUpdate, State, Update
from kgqa.tools.drafts import named_ids, say_query, say_rows

YES: Ref = {"id": "true", "name": "yes"}
NO: Ref = {"id": "false", "name": "no"}

MAX_EVIDENCE_ANSWERS = 50  # answers whose facts a record carries at most


async def complete_record(update: Update, state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record of a question, with the model's confidence where it can tell and none is given."""
    if (
        "confidence" not in update
        and update["answers"]
        and update["outcome"] in BY_SEARCH
        and update["answers"][0] not in (YES, NO)
    ):
        update = await _with_confidence(update, state, runtime)
    runtime.trace["outcome"] = update["outcome"]
    if update["paths"] and (inferred := (await runtime.open_resources()).inferred):
        used = dict.fromkeys(step["relation"] for path in update["paths"] for step in path)
        if found := [inferred[relation] for relation in used if relation in inferred]:
            runtime.trace["inferred"] = found
    cut_by_depth = update["outcome"] not in FROM_GRAPH and any(
        entry.get("limit") == "depth" for entry in state["trace"]
    )
    empty: Update = {"table": None, "query": None, "reading": None, "sentence": None, "conditions": []}
    answers = unique_refs(update["answers"])
    said = {**empty, **update, "answers": answers, "question": state["question"], "trace": state["trace"]}
    sentence = update.get("sentence") if has_sentence(said) else None
    return {
        **empty,
        "alternatives": [],
        "confidence": None,
        **update,
        "answers": answers,
        "sentence": sentence,
        "id": state["record_id"],
        "method": runtime.context.method,
        "topics": [ref(topic) for topic in state["topic_entities"]],
        "stopped_by": state.get("stopped_by")
        or runtime.trace.get("limit")
        or ("depth" if cut_by_depth else None),
        "config": runtime.context.config(),
        "decision": "stop",
    }


async def _with_confidence(update: Update, state: State, runtime: NodeRuntime) -> Update:
    """Return what a record says with how likely it is right, and what else the question may mean.

    There are no answers where that is too low.
    """
    try:
        said = await runtime.assess(state["question"], tuple(state["topic_entities"]))
    except (BudgetExceeded, KGError, ModelError) as error:
        runtime.trace["confidence"] = f"left out: {error}"
        return update
    if said is None or said.confidence is None:
        return update
    if said.confidence >= runtime.context.min_confidence:
        update = _as_far_as_sure(update, said, runtime)
    else:
        update = _declined(said, state, runtime)
    if update["outcome"] in FROM_GRAPH or not said.readings:
        return update
    others = await find_alternatives(said.readings, update["answers"], state, runtime)
    return {**update, "alternatives": others}


def _declined(said: Assessment, state: State, runtime: NodeRuntime) -> Update:
    """Return a record's part without answers, as they are too unlikely to be right."""
    least = runtime.context.min_confidence
    unlinked = state["trace"][0].get("reason")
    if is_yes_no_question(state["question"]):
        why = "the graph says neither yes nor no"
    elif unlinked and not said.missing:
        why = unlinked
    else:
        about = f"about {said.missing!r}" if said.missing else "is surely what is asked for"
        why = f"nothing in the graph {about} (confidence {said.confidence:.2f}, below {least:g})"
    runtime.trace["reason"] = why
    return {"answers": [], "outcome": "none", "paths": [], "evidence": [], "confidence": said.confidence}


def _as_far_as_sure(update: Update, said: Assessment, runtime: NodeRuntime) -> Update:
    """Return a record's part, unverified where it is not sure that its query is what was asked."""
    update = {**update, "confidence": said.confidence}
    if update["outcome"] != "grounded" or said.proves:
        return update
    doubts = [RecordedCondition(words=said.doubt, query=None, by=None)] if said.doubt else []
    runtime.trace["reason"] = f"the question may mean something else (confidence {said.confidence:.2f})"
    return {
        **update,
        "outcome": "grounded_unverified",
        "conditions": [*update.get("conditions", ()), *doubts],
    }


async def complete_without_proof(state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete a record where nothing was found: from the model's memory if allowed, else with no answer.

    After a failed search the model is asked only where ``allow_parametric`` is "always", as CoR's paper has
    it (§4.3, A.4): by default an outage is not covered up.
    """
    failed = failure_outcome(state)
    update: Update = {"answers": [], "outcome": failed or "none", "paths": [], "evidence": []}
    unknown_topic = "error" in state["trace"][0]  # one was given that the graph does not have
    searched = not (failed or state["stopped_by"] or unknown_topic)
    always = runtime.context.allow_parametric == "always" and failed != "model_unavailable"
    if always or (runtime.context.allow_parametric and searched):
        try:
            reply = await runtime.prompt(AnswerDirectly(state["question"]))
            if answers := parametric_answers(reply.answers):
                update |= {"answers": answers, "outcome": "parametric"}
        except BudgetExceeded as error:
            runtime.trace["limit"] = error.limit
        except ModelError as error:
            runtime.record_failure(error)
            if not isinstance(error, MalformedReply):
                update["outcome"] = "model_unavailable"
    return await complete_record(update, state, runtime)


def failure_outcome(state: State) -> Outcome | None:
    """Return the outcome of a search that an outage or a time-out ended; None if it only found nothing."""
    timed_out = any(entry.get("failure") == "KGTimeout" for entry in state["trace"])
    return state.get("outcome") or ("kg_unavailable" if timed_out else None)


def parametric_answers(names: Iterable[str]) -> list[Ref]:
    """Return answers that the graph does not show, each once."""
    return [{"id": None, "name": name} for name in dict.fromkeys(map(str.strip, names)) if name]


async def trace_evidence(runtime: NodeRuntime, tool: str, **arguments: Any) -> Any:
    """Return what a tool tells of evidence; None where graph or budget fail, as the trace says."""
    try:
        facts = await runtime.call_tool(tool, **arguments)
    except (BudgetExceeded, KGError) as error:
        runtime.trace["evidence"] = f"left out: {error}"
        if isinstance(error, BudgetExceeded):
            runtime.trace["limit"] = error.limit
        return None
    return facts


async def read_back(
    query: str,
    names: Mapping[str, str | None],
    answers: Sequence[Ref],
    runtime: NodeRuntime,
    *,
    cut: bool = False,
) -> Update:
    """Return a query that was written, in words, and its answers in a sentence; ``cut`` where there are more.

    What has no name in it is asked for one.
    """
    try:
        ids = await asyncio.to_thread(named_ids, query)
    except KGRejected:
        return {"reading": None}
    unnamed = sorted(id for id in ids if not names.get(id))
    found = await trace_evidence(runtime, "name_entities", ids=unnamed) or {} if unnamed else {}
    known = {id: name for id, name in {**names, **found}.items() if name}
    shown = unique_refs(answers)
    listed = list_answers(shown, cut=cut)
    said = await asyncio.to_thread(say_rows, query, known, listed, several=cut or len(shown) > 1)
    return {"reading": await asyncio.to_thread(say_query, query, known), "sentence": as_sentence(said)}


def is_count_of(said: str, ends: Sequence[Term], least: int = 2) -> bool:
    """Return whether an answer counts things, several by default; numbers are not counted."""
    things = all(parse_number(end) is None for end in ends)
    return things and len(ends) >= least and said == str(len(ends))


def answers_update(
    proved: Sequence[Term], others: Iterable[str], proof: Update, runtime: NodeRuntime
) -> Update:
    """Return what is proved, and beside it, where that is allowed, what the model says from memory."""
    memory = parametric_answers(others) if runtime.context.allow_parametric else []
    update: Update = {**proof, "answers": [*map(ref, proved), *memory]}
    if memory:
        none: Update = {"table": None, "query": None, "reading": None, "sentence": None, "conditions": []}
        return {**update, **none, "outcome": "parametric"}
    return update if proved else {**update, "outcome": "none"}


def group_ends(paths: Iterable[Path]) -> dict[Chain, list[Term]]:
    """Return the chains of paths, and what each leads to, once."""
    found: dict[Chain, dict[Term, None]] = {}
    for path in paths:
        found.setdefault(path.chain, {})[path.end] = None
    return {chain: list(ends) for chain, ends in found.items()}


def ends_with_facts(chains: Mapping[Chain, Sequence[Term]], answers: Sequence[Term]) -> list[Term]:
    """Return the ends whose facts a record has: the first answers, or what these are computed of."""
    every = dict.fromkeys(end for ends in chains.values() for end in ends)
    return first_answers([answer for answer in answers if answer in every] or every)


def first_answers(terms: Iterable[Term]) -> list[Term]:
    """Return the answers whose facts a record has: the first, each text once, as the record lists them."""
    found: dict[tuple[str, str | None], Term] = {}
    for term in terms:
        found.setdefault((term.id, term.name), term)
    return [*found.values()][:MAX_EVIDENCE_ANSWERS]


def build_proof(
    chains: Mapping[Chain, Sequence[Term]], paths: Sequence[Path], answers: Sequence[Term] = ()
) -> Update:
    """Return the paths to all answers as a record draws them, and the facts along those to the first.

    A chain, of which it is known to which answers it leads, or to what they are computed of, is drawn as one
    path where these are all, or more than have facts, else as a path to each.
    """
    known: dict[Chain, dict[Term, list[Path]]] = {chain: {} for chain in chains}
    for path in paths:
        known[path.chain].setdefault(path.end, []).append(path)
    every = {end for ends in chains.values() for end in ends}
    drawn: list[list[PathStep]] = []
    for chain, ends in chains.items():
        along = known[chain]
        whole = [path for each in along.values() for path in each] if len(along) == len(ends) else []
        if whole and len(ends) < len(every) and len(ends) <= MAX_EVIDENCE_ANSWERS:
            drawn += [draw_paths(chain, each[:1]) for each in along.values()]
        else:
            drawn.append(draw_paths(chain, whole))
    shown = {*ends_with_facts(chains, answers)}
    proved = [each[0] for along in known.values() for end, each in along.items() if end in shown]
    return {"paths": drawn, "evidence": unique_facts(triple for path in proved for triple in path.triples)}


def draw_paths(chain: Chain, paths: Sequence[Path]) -> list[PathStep]:
    """Draw paths along a chain as one; where there are none, all nodes but the topic are left open."""
    return draw_hops(
        chain.hops,
        [*zip(*(path.nodes for path in paths), strict=True)] or [[chain.topic], *[()] * chain.depth],
    )


def draw_hops(hops: Iterable[Hop], columns: Sequence[Iterable[Term]]) -> list[PathStep]:
    """Draw hops between columns of nodes; a node is named where its column holds one term only."""
    distinct = map(set, columns)
    nodes = [ref(*terms) if len(terms) == 1 else VARIABLE_REF for terms in distinct]
    return [_draw_step(hop, head, tail) for hop, (head, tail) in zip(hops, pairwise(nodes), strict=True)]


def _draw_step(hop: Hop, head: Ref, tail: Ref) -> PathStep:
    step = PathStep(head=head, relation=hop.relation, forward=hop.forward, tail=tail)
    return {**step, "name": hop.name} if hop.name else step


def unique_facts(triples: Iterable[Triple]) -> list[Fact]:
    """Return triples as a record shows them, each once."""
    facts = map(fact, triples)
    return list({(each["head"]["id"], each["relation"], each["tail"]["id"]): each for each in facts}.values())
