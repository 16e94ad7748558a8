"""Plan: what has to be found, in which order? (CoG §3.2.1, task decomposition)."""

from kgqa.kg.terms import one_line
from kgqa.models.errors import MalformedReply
from kgqa.nodes.recall_exemplars import shown_to
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.progress import SENTENCE_LIMIT
from kgqa.session.guided import Guided, GuidedUpdate
from kgqa.session.step import Run, step


@step("plan")
async def plan(state: Guided, run: Run) -> GuidedUpdate:
    """Let the model break the question down into subgoals.

    Solved questions like it are shown with it, where there are any (EGP §4.2). A malformed reply
    leaves the question itself as the only subgoal.
    """
    try:
        reply = await run.ask(Decompose(state["question"], shown_to(state, run, "guide_decomposition")))
        subgoals = [one_line(subgoal, SENTENCE_LIMIT) for subgoal in reply.subgoals]
    except MalformedReply as error:
        run.failed(error)
        subgoals = [state["question"]]
    run.note["subgoals"] = subgoals
    return {"subgoals": subgoals}
