"""Nodes of CoR alone: prune, verify and backtrack (CoR §4.1, steps 2 to 4, relation-level backtracking)."""

from kgqa.kg.pages import Candidate
from kgqa.nodes.look_again import may_look_again, remaining_points
from kgqa.nodes.retrieve_relations import choose_extensions, reached_names
from kgqa.nodes.topic_conditions import awaited_topics
from kgqa.nodes.verdicts import SAID_BEFORE, accept_chain, fresh_take, said_to_unite
from kgqa.prompts.check_sufficiency import Verdict, VerifyChain
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import State, Update, next_topic


@node("prune")
async def prune(state: State, runtime: NodeRuntime) -> Update:
    """Let the model rank the relations and push the chains they make, best on top.

    The best chain is taken up at once; a relation that is the only one is followed without a
    call, unless ``always_ask`` is set, as what it leads to is judged in any case. Without backtracking no
    other is kept. The model may say what comes after the best. A malformed reply counts as no choice.
    """
    chain, chosen = state["chain"], state["extensions"]
    runtime.trace["chain"] = str(chain)
    outright = None
    if len(chosen) != 1 or runtime.context.always_ask:
        prompt = PruneRelations(
            question=state["question"],
            chain=chain,
            offers=tuple(chosen),
            width=runtime.context.width,
            outright=runtime.context.outright_answers,
            filtering=runtime.context.filtering,
            unites=runtime.context.unite,
            reached=reached_names(chain, state) if runtime.context.outright_answers else (),
            topics=tuple(state["topic_entities"]),
        )
        choice = await choose_extensions(prompt, state["withheld"], runtime)
        if choice is None:
            return {"decision": "backtrack"}
        chosen, outright = choice
    runtime.trace |= {"chosen": list(map(str, chosen)), "set_aside": len(state["extensions"]) - len(chosen)}
    if not chosen:
        return {"resume_points": remaining_points(state), "decision": "backtrack"}
    best, *others = [each.chain for each in chosen]
    kept = others[::-1] if runtime.context.backtracking else []
    return {
        "chain": best,
        "stack": [*state["stack"], *kept],
        "tried": [*state["tried"], best, *kept],
        "outright": outright,
        "decision": "forward",
    }


@node("verify")
async def verify(state: State, runtime: NodeRuntime) -> Update:
    """Let the model judge the chain by its candidates and decide what is next.

    A chain whose ends have no names cannot be judged, nor one whose ends do not meet the other topics'
    chains: it is extended without a call. What the model has said when it
    chose the chain is done without asking again.
    With ``always_ask`` the model judges the former as well, and what comes back to the topic or has no name
    is a candidate like any other.
    A malformed reply turns back.
    """
    always_ask, chain = runtime.context.always_ask, state["chain"]
    found = state["candidates"]
    shown = [Candidate(c.term) for c in found] if always_ask else [c for c in found if c.term.name]
    runtime.trace["chain"] = str(chain)
    if not shown and not always_ask:
        runtime.trace["reason"] = "no named candidate to judge by"
        return _extend_or_backtrack(state, runtime)
    awaited = awaited_topics(state, runtime)
    if (said := state["outright"]) and said.chain == chain:
        runtime.trace["reason"] = SAID_BEFORE
        if said.decision == "forward":
            return _extend_or_backtrack(state, runtime)
        take, united = fresh_take(shown), said_to_unite(state)
        return accept_chain(state, Verdict(decision=said.decision, take=take, united=united), shown, awaited)
    prompt = VerifyChain(
        question=state["question"],
        chain=chain,
        candidates=tuple(shown),
        met=tuple(branch.chain for branch in state["memory"]),
        truncated=state["truncated"],
        awaited=awaited,
        siblings=tuple(state["siblings"]),
        filtering=runtime.context.filtering,
        attributes=runtime.context.attributes,
        topics=tuple(state["topic_entities"]),
    )
    verdict = await runtime.ask(prompt)
    if verdict is None:
        return {"candidates": [], "decision": "backtrack"}
    runtime.trace["reason"] = verdict.rationale
    if verdict.decision == "forward":
        return _extend_or_backtrack(state, runtime)
    if verdict.decision == "backtrack":
        return {"candidates": [], "decision": "backtrack"}
    return accept_chain(state, verdict, shown, awaited)


def _extend_or_backtrack(state: State, runtime: NodeRuntime) -> Update:
    if state["chain"].depth < runtime.context.depth:
        points = [*state["resume_points"], state["chain"]]
        return {"candidates": [], "resume_points": points, "decision": "forward"}
    runtime.trace["limit"] = "depth"
    return {"candidates": [], "decision": "backtrack"}


@node("backtrack")
async def backtrack(state: State, runtime: NodeRuntime) -> Update:
    """Take the next chain of the current topic from the stack.

    Where it has none left, the next topic is taken up. After the last, what is in working memory stands: it
    goes on to be filtered, or is the answer. With nothing in memory, an alternative of an earlier topic is
    next. Where none is left, the method may look again from where it was.
    """
    stack, memory = state["stack"], state["memory"]
    here = bool(stack) and stack[-1].topic == state["chain"].topic
    if not here and next_topic(state):
        runtime.trace["reason"] = f"no other chain from {state['chain'].topic}"
        return {"candidates": [], "decision": "refine"}
    if not here and memory:
        runtime.trace["reason"] = "no other chain meets what is verified"
        return {"decision": memory[-1].decision}
    if not stack:
        runtime.trace["reason"] = "the stack is empty"
        return {"decision": "backtrack" if may_look_again(state, runtime) else "stop"}
    runtime.trace["chain"] = str(stack[-1])
    return {"chain": stack[-1], "stack": stack[:-1], "candidates": [], "decision": "forward"}
