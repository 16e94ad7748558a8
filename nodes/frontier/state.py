"""The state of a search over a frontier of chains (PoG, ToG), beside that of any search."""

from collections.abc import Sequence
from typing import Any

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Chain, Entity, one_line
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings, numbered_candidates
from kgqa.prompts.chain import Extension
from kgqa.prompts.check_sufficiency import OWN_KNOWLEDGE
from kgqa.prompts.progress import MAX_SENTENCE_CHARS, MAX_SUBGOALS
from kgqa.runtime.context import Context
from kgqa.runtime.state import State, Update


class FrontierUpdate(Update, total=False):
    """What a node may change."""

    frontier: list[Chain]
    """Where the search stands: the chains that are extended next, beside those of ``offers``."""
    offers: list[Extension]
    """Extensions of its chains: what can follow, then what of it was chosen."""
    found: list[ChainFindings]
    """What the chosen chains have led to."""
    explored: list[ChainFindings]
    """What was led to before, the last first: the subgraph of the search."""
    reached: list[ChainFindings]
    """All that the relations of each entity have led to, the last first, before any was chosen: E_cand."""
    spent: list[Chain]
    """The chains from which nothing more was chosen: there is no use in coming back to them."""
    subgoals: list[str]
    """The plan: what to find, in order."""
    known: list[str]
    """What is known of each subgoal, in their order, or nothing: the memory that the model writes."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class FrontierState(State, FrontierUpdate):
    """The record in the making, the frontier, what was explored, the plan and what is known of it."""


def spent_chains(state: FrontierState) -> list[Chain]:
    """Return the chains that are spent, with the frontier, from which nothing is chosen."""
    here = state.get("frontier", [])
    return [*state["spent"], *(chain for chain in here if chain not in state["spent"])]


def explores_entities(context: Context) -> bool:
    """Return whether the frontier is of entities, one chain held to each, as in PoG's paper."""
    return getattr(context, "explores_entities", False)


def plans_when_needed(context: Context) -> bool:
    """Return whether the plan is written with the first check that goes on."""
    return getattr(context, "plans_when_needed", False)


def steers(context: Context) -> bool:
    """Return whether a check that goes on says from where, so that a reflection is seldom needed."""
    return getattr(context, "steers", False)


def uses_own_knowledge(context: Context) -> bool:
    """Return whether memory, evaluation and inference may go by what the model knows, as published."""
    return bool(getattr(context, "own_knowledge", False) and getattr(context, "allow_parametric", False))


def updated_memory(known: Sequence[str], state: FrontierState) -> list[str]:
    """Return the memory after a reply, which says what is ``known`` now; one that says nothing leaves it."""
    notes = list(map(_shorten_note, known))
    return notes if any(notes) else state["known"]


def _shorten_note(text: str) -> str:
    """Return a note as prompts show it; what marks the model's own knowledge is not cut off."""
    if OWN_KNOWLEDGE not in text:
        return one_line(text, MAX_SENTENCE_CHARS)
    said = one_line(text.replace(OWN_KNOWLEDGE, ""), MAX_SENTENCE_CHARS - len(OWN_KNOWLEDGE) - 1)
    return f"{said} {OWN_KNOWLEDGE}"


def held_chains(groups: Sequence[ChainFindings], going: Sequence[int], keep: Sequence[int]) -> list[Chain]:
    """Return the chains of some groups, held to the candidates that are kept where some of a group are.

    ``going`` and ``keep`` are numbers that a prompt shows; what it could not show is gone on from.
    """
    chains, rows = [], numbered_candidates(groups)
    for number in going:
        whole = groups[number - 1]
        kept = [row.candidate.term for row in rows if row.number in keep and row.group == number]
        ends = [term for term in kept if isinstance(term, Entity)]
        chains.append(whole.chain.constrained_to(ends) if 0 < len(ends) < len(whole.ends) else whole.chain)
    return [*chains, *(each.chain for each in groups[MAX_GROUPS_SHOWN:])]


def continue_from(
    state: FrontierState, chains: Sequence[Chain], recalled: Sequence[Chain] = ()
) -> FrontierUpdate:
    """Return how a search goes on: from some chains, and from earlier ones that it comes back to."""
    points = state["resume_points"]
    return {
        "frontier": list(chains),
        "stack": list(reversed(recalled)),
        "resume_points": [*points, *(chain for chain in chains if chain not in points)],
        "memory": [],
        "candidates": [],
        "decision": "backtrack" if recalled else "forward" if chains else "infer",
    }


def shown_plan(subgoals: Sequence[str]) -> list[str]:
    """Return the subgoals that a model has written as prompts show them."""
    return [text for each in subgoals[:MAX_SUBGOALS] if (text := one_line(each, MAX_SENTENCE_CHARS))]


def open_subgoals(state: FrontierState) -> list[int]:
    """Return the places of the subgoals of which the graph has shown nothing."""
    shown = {at for at, note in enumerate(state["known"]) if note and OWN_KNOWLEDGE not in note}
    return [at for at in range(len(state.get("subgoals", []))) if at not in shown]


def prompt_context(state: FrontierState) -> dict[str, Any]:
    """Return what every prompt of the search shows: the plan, what is known of it, the topics."""
    return {
        "subgoals": tuple(state.get("subgoals", [])),
        "known": tuple(state["known"]),
        "topics": tuple(state["topic_entities"]),
    }
