"""Verify: what is known now, and is it enough? (PoG: memory update and evaluation; EGP §4.4)."""

from dataclasses import dataclass
from typing import cast

from kgqa.kg.terms import one_line
from kgqa.models.errors import MalformedReply
from kgqa.nodes.frontier.state import FrontierState, FrontierUpdate, prompt_context
from kgqa.nodes.verdict import group_findings, verified_chain
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.candidates import ChainFindings, Take, numbered_candidates
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Update, VerifiedChain


@node("verify")
async def verify(state: FrontierState, runtime: NodeRuntime) -> FrontierUpdate:
    """Let the model write down what is known, and say whether one of the groups is the answer.

    Groups are the named ends of each chain that was just followed, and what of them chains
    from other topics lead to as well, followed now or before. After a malformed reply the
    search goes on.
    """
    groups = group_findings(state["found"], state["explored"], state["topic_entities"])
    try:
        reply = await runtime.prompt(AssessFound(state["question"], tuple(groups), **prompt_context(state)))
    except MalformedReply as error:
        runtime.record_failure(error)
        return {"decision": "forward"}
    known = [one_line(text, MAX_SENTENCE_CHARS) for text in reply.known] or state["known"]
    runtime.trace |= {"groups": len(groups), "known": known, "reason": reply.rationale}
    if reply.decision == "forward":
        return {"known": known, "candidates": [], "decision": "forward"}
    return cast(FrontierUpdate, {**accept_group(groups, reply, runtime), "known": known})


def accept_group(groups: list[ChainFindings], reply: Assessment, runtime: NodeRuntime) -> Update:
    """Put the group that a reply takes into working memory, after the chains that it meets."""
    group = groups[reply.group - 1]
    numbers = [each.number for each in numbered_candidates(groups) if each.group == reply.group]
    verdict = _GroupVerdict(
        reply.decision, reply.take, [numbers.index(number) + 1 for number in reply.chosen]
    )
    branch = verified_chain(group.chain, verdict, group.named, truncated=group.truncated)
    met = [VerifiedChain(chain, branch.ends, "stop") for chain in group.met]
    runtime.trace["chain"] = str(group.chain)
    return {"memory": [*met, branch], "decision": branch.verdict}


@dataclass(frozen=True, slots=True)
class _GroupVerdict:
    """A reply about one group, its candidates numbered from 1."""

    decision: str
    take: Take
    chosen: list[int]
