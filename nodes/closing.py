"""What every record is closed with, and the answer from the model's memory; for the nodes that answer."""

from collections.abc import Sequence

from kgqa.kg.terms import Chain, Path
from kgqa.models.errors import MalformedReply, ModelError
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.session.record import VARIABLE, Outcome, PathStep, Ref, StoppedBy, fact, ref
from kgqa.session.state import Closing, State, Update
from kgqa.session.step import BudgetExceeded, Run

EVIDENCE = 50
"""Answers whose facts a record carries at most."""

_GROUNDED: tuple[Outcome, ...] = ("grounded", "grounded_inference")


def closed(update: Update, state: State, run: Run) -> Closing:
    """Complete the record of a question."""
    run.note["outcome"] = update["outcome"]
    cut_by_depth: StoppedBy | None = "depth" if _cut_by_depth(state, update) else None
    return {
        **update,
        "id": state["record_id"],
        "method": run.context.method,
        "topics": [ref(topic) for topic in state["topic_entities"]],
        "stopped_by": state.get("stopped_by") or run.note.get("limit") or cut_by_depth,
        "config": run.context.config(),
        "decision": "stop",
    }


async def unanswered(state: State, run: Run) -> Update:
    """Answer from the model's memory where the search has found nothing and may do so, else with nothing."""
    failed = failure(state)
    update: Update = {"answers": [], "outcome": failed or "none", "paths": [], "evidence": []}
    if run.context.closed_book and not (failed or state["stopped_by"] or _unknown_topic(state)):
        update |= await _from_memory(state, run)
    return update


def failure(state: State) -> Outcome | None:
    """Tell a search that failed, for an outage or a time-out of the graph, from one that found nothing."""
    timed_out = any(entry.get("failure") == "KGTimeout" for entry in state["trace"])
    return state.get("outcome") or ("kg_unavailable" if timed_out else None)


def from_memory(names: list[str]) -> list[Ref]:
    """Give answers that the graph does not show, each once."""
    return [{"id": None, "name": name} for name in dict.fromkeys(map(str.strip, names)) if name]


def drawn(paths: list[Path]) -> list[PathStep]:
    """Draw paths along one chain as one; a node on the way is named where all of them share it."""
    columns = [[path.nodes[at] for path in paths] for at in range(len(paths[0].nodes))]
    nodes = [ref(column[0]) if len(set(column)) == 1 else VARIABLE for column in columns]
    return [
        {"head": nodes[at], "relation": hop.relation, "forward": hop.forward, "tail": nodes[at + 1]}
        for at, (hop, _) in enumerate(paths[0].steps)
    ]


def proved(paths: Sequence[Path]) -> Update:
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
        for part in ([group] if chain in whole else [[path] for path in group[:EVIDENCE]])
    ]
    facts = [fact(triple) for path in paths[:EVIDENCE] for triple in path.triples]
    unique = {(f["head"]["id"], f["relation"], f["tail"]["id"]): f for f in facts}
    return {"paths": [drawn(part) for part in shown], "evidence": list(unique.values())}


async def _from_memory(state: State, run: Run) -> Update:
    try:
        reply = await run.ask(AnswerDirectly(state["question"]))
    except MalformedReply as error:
        run.failed(error)
        return {}
    except BudgetExceeded as error:
        run.note["limit"] = error.limit
        return {}
    except ModelError as error:
        run.failed(error)
        return {"outcome": "model_unavailable"}
    answers = from_memory(reply.answers)
    return {"answers": answers, "outcome": "parametric"} if answers else {}


def _cut_by_depth(state: State, update: Update) -> bool:
    return update["outcome"] not in _GROUNDED and any(
        entry.get("limit") == "depth" for entry in state["trace"]
    )


def _unknown_topic(state: State) -> bool:
    """Tell a run that was given a topic which the graph does not have."""
    return "error" in state["trace"][0]
