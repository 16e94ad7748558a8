"""Plan: what has to be found, in which order? (CoG §3.2.1, task decomposition)."""

from kgqa.kg.terms import one_line
from kgqa.nodes.cog.state import CoGState, CoGUpdate
from kgqa.nodes.recall_exemplars import shown_exemplars
from kgqa.prompts.decompose import Decompose, DecomposeAlong
from kgqa.prompts.progress import MAX_SENTENCE_CHARS
from kgqa.runtime.node import NodeRuntime, node


@node("plan", option="plans_first")
async def plan(state: CoGState, runtime: NodeRuntime) -> CoGUpdate:
    """Let the model break the question down into subgoals.

    Along the relations of solved questions like it, where there are any (EGP §4.2). A malformed reply
    leaves the question itself as the only subgoal.
    """
    exemplars = shown_exemplars(state, runtime, "guide_decomposition")
    prompt = DecomposeAlong if exemplars else Decompose
    reply = await runtime.ask(prompt(state["question"], exemplars))
    subgoals = (
        [one_line(each, MAX_SENTENCE_CHARS) for each in reply.subgoals] if reply else [state["question"]]
    )
    runtime.trace["subgoals"] = subgoals
    return {"subgoals": subgoals}
