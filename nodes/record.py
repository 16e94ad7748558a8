"""What every record is closed with, and the answer from the model's memory; for the nodes that answer."""

from collections.abc import Sequence

from kgqa.kg.terms import Chain, Path
from kgqa.models.errors import MalformedReply, ModelError
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.runtime.node import BudgetExceeded, NodeRuntime
from kgqa.runtime.record import VARIABLE_REF, Outcome, PathStep, Ref, StoppedBy, fact, ref
from kgqa.runtime.state import FinalUpdate, State, Update

MAX_EVIDENCE_ANSWERS = 50
"""Answers whose facts a record carries at most."""

_GROUNDED_OUTCOMES: tuple[Outcome, ...] = ("grounded", "grounded_inference")


def complete_record(update: Update, state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record of a question."""
    runtime.trace["outcome"] = update["outcome"]
    cut_by_depth: StoppedBy | None = "depth" if _is_cut_by_depth(state, update) else None
    return {
        **update,
        "id": state["record_id"],
        "method": runtime.context.method,
        "topics": [ref(topic) for topic in state["topic_entities"]],
        "stopped_by": state.get("stopped_by") or runtime.trace.get("limit") or cut_by_depth,
        "config": runtime.context.config(),
        "decision": "stop",
    }


async def answer_without_proof(state: State, runtime: NodeRuntime) -> Update:
    """Answer from the model's memory where the search has found nothing and may do so, else with nothing."""
    failed = failure_outcome(state)
    update: Update = {"answers": [], "outcome": failed or "none", "paths": [], "evidence": []}
    if runtime.context.allow_parametric and not (failed or state["stopped_by"] or _has_unknown_topic(state)):
        update |= await _ask_model(state, runtime)
    return update


def failure_outcome(state: State) -> Outcome | None:
    """Tell a search that failed, for an outage or a time-out of the graph, from one that found nothing."""
    timed_out = any(entry.get("failure") == "KGTimeout" for entry in state["trace"])
    return state.get("outcome") or ("kg_unavailable" if timed_out else None)


def parametric_answers(names: list[str]) -> list[Ref]:
    """Return answers that the graph does not show, each once."""
    return [{"id": None, "name": name} for name in dict.fromkeys(map(str.strip, names)) if name]


def draw_paths(paths: list[Path]) -> list[PathStep]:
    """Draw paths along one chain as one; a node on the way is named where all of them share it."""
    columns = [[path.nodes[at] for path in paths] for at in range(len(paths[0].nodes))]
    nodes = [ref(column[0]) if len(set(column)) == 1 else VARIABLE_REF for column in columns]
    return [
        {"head": nodes[at], "relation": hop.relation, "forward": hop.forward, "tail": nodes[at + 1]}
        for at, (hop, _) in enumerate(paths[0].steps)
    ]


def build_proof(paths: Sequence[Path]) -> Update:
    """Draw the paths, and give their facts.

    Those along one chain are drawn as one where they lead to all answers.
    """
    groups: dict[Chain, list[Path]] = {}
    for path in paths:
        groups.setdefault(path.chain, []).append(path)
    ends = {path.end for path in paths}
    whole = {chain for chain, group in groups.items() if {path.end for path in group} == ends}
    shown = [
        part
        for chain, group in groups.items()
        for part in ([group] if chain in whole else [[path] for path in group[:MAX_EVIDENCE_ANSWERS]])
    ]
    facts = [fact(triple) for path in paths[:MAX_EVIDENCE_ANSWERS] for triple in path.triples]
    unique = {(f["head"]["id"], f["relation"], f["tail"]["id"]): f for f in facts}
    return {"paths": [draw_paths(part) for part in shown], "evidence": list(unique.values())}


async def _ask_model(state: State, runtime: NodeRuntime) -> Update:
    try:
        reply = await runtime.prompt(AnswerDirectly(state["question"]))
    except MalformedReply as error:
        runtime.record_failure(error)
        return {}
    except BudgetExceeded as error:
        runtime.trace["limit"] = error.limit
        return {}
    except ModelError as error:
        runtime.record_failure(error)
        return {"outcome": "model_unavailable"}
    answers = parametric_answers(reply.answers)
    return {"answers": answers, "outcome": "parametric"} if answers else {}


def _is_cut_by_depth(state: State, update: Update) -> bool:
    return update["outcome"] not in _GROUNDED_OUTCOMES and any(
        entry.get("limit") == "depth" for entry in state["trace"]
    )


def _has_unknown_topic(state: State) -> bool:
    """Tell a run that was given a topic which the graph does not have."""
    return "error" in state["trace"][0]
