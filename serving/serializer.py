"""Writes and reads the steps of runs: plain values, and nothing that is made by calling something."""

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

READABLE_TYPES = frozenset({"null", "bytes", "bytearray", "msgpack"})
"""How LangGraph writes steps today; of the others, ``json`` may name classes of LangChain to be made."""


NEW_THREAD_ADVICE = "begin a new thread"
"""What to do where a step cannot be read."""


class PlainSerializer(JsonPlusSerializer):
    """LangGraph's serializer, held to the types it takes for safe: dates, messages, its own."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read a value.

        Raises:
            ValueError: in one line, if it is damaged or was not written by `dumps_typed`.
        """
        try:
            if data[0] in READABLE_TYPES:
                return super().loads_typed(data)
        except Exception as error:  # whatever msgpack and the constructors of safe types raise
            raise ValueError(
                f"a step that is kept cannot be read ({type(error).__name__}); {NEW_THREAD_ADVICE}"
            ) from None
        raise ValueError(f"a step that is kept was not written by kgqa; {NEW_THREAD_ADVICE}")
