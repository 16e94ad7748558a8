"""Assess: what is known now, and is it enough? (PoG: memory update and evaluation; EGP §4.4)."""

from dataclasses import dataclass
from typing import cast

from kgqa.kg.terms import one_line
from kgqa.models.errors import MalformedReply
from kgqa.nodes.meeting import groups_of
from kgqa.nodes.verified import branch_of
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.candidates import Take
from kgqa.prompts.found import Found, shown
from kgqa.prompts.progress import SENTENCE_LIMIT
from kgqa.session.frontier import Frontier, FrontierUpdate, shown_of
from kgqa.session.state import Branch, Update
from kgqa.session.step import Run, step


@step("verify")
async def assess(state: Frontier, run: Run) -> FrontierUpdate:
    """Let the model write down what is known, and say whether one of the groups is the answer.

    Groups are the named ends of each chain that was just followed, and what of them chains
    from other topics lead to as well, followed now or before. After a malformed reply the
    search goes on.
    """
    groups = groups_of(state["found"], state["explored"], state["topic_entities"])
    try:
        reply = await run.ask(AssessFound(state["question"], tuple(groups), **shown_of(state)))
    except MalformedReply as error:
        run.failed(error)
        return {"decision": "forward"}
    known = [one_line(text, SENTENCE_LIMIT) for text in reply.known] or state["known"]
    run.note |= {"groups": len(groups), "known": known, "reason": reply.rationale}
    if reply.decision == "forward":
        return {"known": known, "candidates": [], "decision": "forward"}
    return cast(FrontierUpdate, {**accepted(groups, reply, run), "known": known})


def accepted(groups: list[Found], reply: Assessment, run: Run) -> Update:
    """Put the group that a reply takes into working memory, after the chains that it meets."""
    group = groups[reply.group - 1]
    numbers = [each.number for each in shown(groups) if each.group == reply.group]
    verdict = _Verdict(reply.decision, reply.take, [numbers.index(number) + 1 for number in reply.chosen])
    branch = branch_of(group.chain, verdict, group.named, truncated=group.truncated)
    met = [Branch(chain, branch.ends, "stop") for chain in group.met]
    run.note["chain"] = str(group.chain)
    return {"memory": [*met, branch], "decision": branch.verdict}


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A reply about one group, its candidates numbered from 1."""

    decision: str
    take: Take
    chosen: list[int]
