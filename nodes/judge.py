"""Judge: does the evidence say yes or no? (VoG appendix G: questions of PubMedQA and BioASQ)."""

from kgqa.models.errors import MalformedReply
from kgqa.prompts.judge_claim import JudgeClaim
from kgqa.session.planned import Planned, PlannedUpdate, in_turns
from kgqa.session.step import Run, step


@step("judge")
async def judge(state: Planned, run: Run) -> PlannedUpdate:
    """Let the model weigh the evidence for and against; where the graph is silent the answer is unknown."""
    facts, topics = in_turns(state), tuple(state["topic_entities"])
    if not facts:
        run.note |= {"verdict": "unknown", "reason": "nothing was observed"}
        return {"verdict": "unknown", "decision": "stop"}
    prompt = JudgeClaim(state["question"], facts, topics=topics)
    try:
        reply = await run.ask(prompt)
    except MalformedReply as error:
        run.failed(error)
        return {"verdict": "unknown", "decision": "stop"}
    favour, against = (
        [prompt.offered[number - 1] for number in numbers] for numbers in (reply.favour, reply.against)
    )
    run.note |= {
        "verdict": reply.verdict,
        "for": list(map(str, favour)),
        "against": list(map(str, against)),
        "reason": reply.rationale,
    }
    return {"verdict": reply.verdict, "favour": favour, "against": against, "decision": "stop"}
