"""OpenAI's protocol by LangChain, on a shorter way through OpenAI's package.

That package fits what goes out and what comes back to its types, field by field, in
Python. LangChain needs neither: it makes the body, and reads a reply, as plain JSON.
Half of the processor time of a call goes into it, which is what bounds a server.
"""

from typing import Any

import langchain_openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult


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
        if self._use_responses_api(payload):
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        reply = await self.root_async_client.post("/chat/completions", cast_to=object, body=payload)
        return self._create_chat_result(reply)
