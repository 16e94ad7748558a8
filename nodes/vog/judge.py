"""Judge: does the evidence say yes or no? (VoG appendix G: questions of PubMedQA and BioASQ)."""

from kgqa.nodes.claim import weighed_facts
from kgqa.nodes.vog.state import VoGState, VoGUpdate, interleaved_observations
from kgqa.prompts.judge_claim import JudgeClaim
from kgqa.runtime.node import NodeRuntime, node


@node("judge")
async def judge(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model weigh the evidence for and against; where the graph is silent the answer is unknown."""
    facts, topics = interleaved_observations(state), tuple(state["topic_entities"])
    if not facts:
        runtime.trace |= {"verdict": "unknown", "reason": "nothing was observed"}
        return {"verdict": "unknown", "decision": "stop"}
    prompt = JudgeClaim(state["question"], facts, topics=topics)
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"verdict": "unknown", "decision": "stop"}
    supporting, against = weighed_facts(prompt, reply, runtime)
    return {
        "verdict": reply.verdict,
        "verdict_reason": reply.rationale,
        "supporting": supporting,
        "against": against,
        "decision": "stop",
    }
