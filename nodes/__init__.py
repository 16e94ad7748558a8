"""The nodes of the methods: shared ones here, what one method alone has in its folder."""

from kgqa.models.errors import MalformedReply
from kgqa.prompts.base import Prompt, R
from kgqa.runtime.node import NodeRuntime


async def ask_model(prompt: Prompt[R], runtime: NodeRuntime) -> R | None:
    """Put a prompt to the model; return None for a malformed reply, which the trace records.

    Raises:
        BudgetExceeded: before the call, if nothing is left for it.
        ModelUnavailable: if the model cannot be reached.
    """
    try:
        return await runtime.prompt(prompt)
    except MalformedReply as error:
        runtime.record_failure(error)
        return None
