"""Chat: a conversation over the graph, in which a follow-up is made whole and a method answers it.

Each reply has its answer and proof beside its words; by them the conversation is remembered.
"""

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Self

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import Field, JsonValue, model_validator

from kgqa.graphs import METHODS, context_of, graph_of
from kgqa.nodes.chat.reply import reply
from kgqa.nodes.chat.rewrite import asks, rewrite
from kgqa.nodes.chat.state import ChatInput, ChatState, check_state
from kgqa.runtime.budget import Budget
from kgqa.runtime.context import Context, run_context
from kgqa.runtime.graph_builder import EitherWay
from kgqa.runtime.record import Record, Spend, add_spend


class Chat(Context):
    """The options of a conversation; graph, model and budget are those of the method that answers, too."""

    method: ClassVar[str] = "chat"

    answer_by: str = Field(
        default=METHODS[0],
        description="the method that answers",
        json_schema_extra={"enum": [*METHODS]},
    )
    answer_options: dict[str, JsonValue] = Field(
        default={}, description="options of that method alone, such as depth"
    )
    rewrite: bool = Field(default=True, description="make a follow-up whole; else each message stands alone")

    @model_validator(mode="after")
    def _answers(self) -> Self:
        if both := sorted(self.answer_options.keys() & Context.model_fields.keys()):
            raise ValueError(f"answer_options: {both[0]} is an option of chat itself; give it there")
        context_of(self.answer_by)(**self.answer_options)
        return self

    def answering(self, spent: Spend) -> Context:
        """Return the context of the method that answers, of whose budget some is spent."""
        shared = {name: getattr(self, name) for name in Context.model_fields}
        given = {"kg": self.given.graph, "model": self.given.model}
        opened = {name: thing for name, thing in given.items() if thing is not None}
        options = {**shared, "budget": _rest(self.budget, spent), **self.answer_options, **opened}
        return context_of(self.answer_by)(**options)


async def answer_question(state: ChatState, context: Chat) -> dict[str, Any]:
    """Have a method answer the question; its cost has that of the rewriting.

    Its steps are no checkpoints of the conversation, which may be one that waits.
    """
    spent = state["spend"]
    asked: dict[str, Any] = {"question": state["question"]}
    if topics := state.get("topics"):
        asked["topics"] = topics
    answering = context.answering(spent)
    method = graph_of(context.answer_by).copy({"checkpointer": False})
    record: Record = await method.ainvoke(asked, context=answering)  # type: ignore[assignment]
    return {"record": {**record, "usage": add_spend(record["usage"], spent)}}


def _rest(budget: Budget, spent: Spend) -> Budget:
    used = {**spent, "tokens": spent["input_tokens"] + spent["output_tokens"]}
    rest = {
        name: None if limit is None else max(limit - used[name], 0)
        for name, limit in budget.model_dump().items()
    }
    if rest["seconds"] is not None:
        rest["seconds"] = max(rest["seconds"], 0.001)
    return Budget.model_validate(rest)


def _bind(node: Callable[[ChatState, Chat], Awaitable[dict[str, Any]]]) -> EitherWay:
    async def run(state: ChatState, runtime: Runtime[Any]) -> dict[str, Any]:
        check_state(ChatState(messages=state["messages"]) if node is rewrite else state)  # it begins anew
        return await node(state, run_context(runtime.context, Chat))

    return EitherWay(run)


def _build() -> CompiledStateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(ChatState, Chat, input_schema=ChatInput)
    for name, node in (("rewrite", rewrite), ("answer_question", answer_question), ("reply", reply)):
        builder.add_node(name, _bind(node))
    builder.add_edge(START, "rewrite")
    builder.add_conditional_edges("rewrite", asks, {"ask": "answer_question", "say": "reply"})
    builder.add_edge("answer_question", "reply")
    builder.add_edge("reply", END)
    return builder.compile(name="chat")


graph = _build()
