"""Answer: which of its rows does a chain name in its answer?"""

import re
from collections.abc import Sequence

from kgqa.kg.terms import Entity, Term, local_name, one_line
from kgqa.nodes.claim import claimed_answer
from kgqa.nodes.mentioned import is_term_said
from kgqa.nodes.modifiers import (
    unasked_function,
    unmet_kind,
    unmet_topics_of_sparql,
    unused_modifiers_of_sparql,
)
from kgqa.nodes.record import (
    complete_record,
    complete_without_proof,
    failure_outcome,
    parametric_answers,
    read_back,
)
from kgqa.nodes.sparql_qa.state import SparqlQAState
from kgqa.prompts.base import MAX_LABEL_CHARS
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import Outcome, RecordedCondition, ref
from kgqa.runtime.state import FinalUpdate, Update, node_has_run
from kgqa.tools.select import QueryConstants

MAX_TEXT_ANSWER_CHARS = 300  # characters of an answer that is nothing but text


@node("answer")
async def answer(state: SparqlQAState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record: the names of the rows that the text holds are the answers.

    What the query itself has brought into its rows is from the model's memory, and so is a text
    that names nothing of them; where there are no rows, a text is no answer. What it names of more rows it
    has picked. Where the budget
    left no turn to write one, what the graph has of the rows is the answer.
    """
    if (claimed := claimed_answer(state)) is not None:
        return await complete_record(claimed, state, runtime)
    if state.get("outcome") or not node_has_run(state, "write_sparql"):
        return await complete_without_proof(state, runtime)
    if not (state["said"] or (state["rows"] and state["stopped_by"])):
        return await complete_without_proof(state, runtime)
    update = _extract_answers(state, runtime)
    if query := update["query"]:
        names = {each.id: each.name for each in state["topic_entities"]}
        update = {**update, **await read_back(query, names, update["answers"], runtime)}
    return await complete_record(update, state, runtime)


def _extract_answers(state: SparqlQAState, runtime: NodeRuntime) -> Update:
    topics, known, said = state["topic_entities"], set(state["proved"]), state["said"]
    terms = [term for term in state["rows"] if term not in topics]
    named = terms if said is None else _named_terms(terms, said)
    proved = [term for term in named if term in known]
    runtime.trace["extracted"] = len(named)
    unseen: list[str] = []
    if said and runtime.context.allow_parametric:
        seen = {_fold(_shown_name(term)) for term in proved}
        unseen = [name for name in map(_shown_name, named) if _fold(name) not in seen]
        if state["rows"] and not named:
            unseen = [one_line(said, MAX_TEXT_ANSWER_CHARS)]
    memory = parametric_answers(unseen)
    question = state["question"]
    query = state["query"] if {*proved} == {*state["rows"]} and not memory else None
    read = state["constants"] if query else None
    unmet = [*unmet_topics_of_sparql(read, topics), *unmet_kind(proved, question)]
    unmet += unused_modifiers_of_sparql(query, proved, question, topics) if query else []
    unmet += ["not all rows"] if read and read.is_cut else []
    conditions = _written_conditions(read, state) if read else []
    unasked = unasked_function("count", question) if read and read.counts else None
    conditions += [RecordedCondition(words=unasked, query=None, by="model")] if unasked else []
    by_graph = all(each["by"] == "graph" for each in conditions)
    grounded: Outcome = "grounded" if query and by_graph and not unmet else "grounded_inference"
    if said is None or (query and unmet):
        grounded = "grounded_unverified"
    return {
        "answers": [*map(ref, proved), *memory],
        "outcome": "parametric" if memory else grounded if proved else failure_outcome(state) or "none",
        "paths": [],
        "evidence": [],
        "query": query,
        "conditions": [*conditions, *(RecordedCondition(words=each, query=None, by=None) for each in unmet)],
    }


def _written_conditions(read: QueryConstants, state: SparqlQAState) -> list[RecordedCondition]:
    """Return what the query itself names beside topics: the model's, if not said or an answer."""
    topics, rows = {*state["topic_entities"]}, {*state["rows"]}
    return [
        RecordedCondition(
            words=str(each),
            query=f"<{each.id}>" if isinstance(each, Entity) else each.id,
            by="graph" if each not in rows and is_term_said(each, state["question"]) else "model",
        )
        for each in read.written
        if each not in topics
    ]


def _named_terms(terms: Sequence[Term], text: str) -> list[Term]:
    """Return the terms that a text names by whole words, in its order; of names at one place the longest."""
    groups: dict[str, list[Term]] = {}
    for term in terms:
        groups.setdefault(_fold(_shown_name(term)), []).append(term)
    names = sorted(filter(None, groups), key=lambda name: (-len(name), name))
    if not names:
        return []
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
    met = dict.fromkeys(re.findall(pattern, _fold(text)))
    return [term for name in met for term in groups[name]]


def _shown_name(term: Term) -> str:
    """Return the name as the model was shown it."""
    return one_line(term.name or (local_name(term.id) if isinstance(term, Entity) else ""), MAX_LABEL_CHARS)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
