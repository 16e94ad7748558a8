"""OpenAI's protocol by LangChain, on a shorter way through OpenAI's package.

That package fits what goes out and what comes back to its types, field by field, in
Python. LangChain needs neither: it makes the body, and reads a reply, as plain JSON.
Half of the processor time of a call goes into it, which is what bounds a server.
"""

from typing import Any

import langchain_openai
from aiohttp import ClientError
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from openai import APIConnectionError, DefaultAioHttpClient

MAX_RESPONSE_BYTES = 1 << 23
"""Bytes of an answer at most, as they are after unpacking; a reply has some thousands."""


class ResponseTooLarge(Exception):
    """An answer that is larger than any reply."""


class BoundedClient(DefaultAioHttpClient):
    """OpenAI's client over aiohttp, which stops reading where an answer is larger than `MAX_RESPONSE_BYTES`.

    aiohttp takes half as long as httpx's own transport, whatever the connections that are kept.
    """

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send a request; see httpx; raise ResponseTooLarge if the answer is."""
        try:
            response = await super().send(request, stream=True, **options)
            return response if stream else await _read_bounded(response)
        except Exception as error:
            cause = error.__cause__ or error  # OpenAI's package calls any connection that fails a time-out
            if isinstance(cause, ClientError) and not isinstance(cause, TimeoutError):
                raise APIConnectionError(request=request) from cause
            raise


async def _read_bounded(response: Any) -> Any:
    """Read an answer to its end, and return it as one that holds all of its body, unpacked."""
    blocks, size = [], 0
    try:
        async for block in response.aiter_bytes():
            size += len(block)
            if size > MAX_RESPONSE_BYTES:
                raise ResponseTooLarge(f"an answer of more than {MAX_RESPONSE_BYTES >> 20} MB")
            blocks.append(block)
    finally:
        await response.aclose()
    headers = [(name, value) for name, value in response.headers.items() if name != "content-encoding"]
    return type(response)(
        response.status_code,
        headers=headers,
        content=b"".join(blocks),
        request=response.request,
        extensions=response.extensions,
    )


class ChatOpenAI(langchain_openai.ChatOpenAI):
    """LangChain's class, under its own name: by it, replies in a cache are found again."""

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        if "input" in payload:  # made for the responses API
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        try:
            reply = await self.root_async_client.post("/chat/completions", cast_to=object, body=payload)
        except APIConnectionError as error:
            raise (error.__cause__ if isinstance(error.__cause__, ResponseTooLarge) else error) from None
        return self._create_chat_result(reply)
