"""Reads the whole corpus for every prompt, in a process whose every act is watched; prints what came of it.

A hook of audits cannot be taken off again, hence a process of its own.
"""

import json
import sys
import time
from typing import Any

from kgqa.models.parsing import BadReply, parse_reply
from kgqa.prompts.base import Prompt
from kgqa.tests.hostile.model.replies import huge, static
from kgqa.tests.hostile.model.spoiling import spoilt
from kgqa.tests.unit.prompts.samples import WORKED

WATCHED = (
    "exec",
    "compile",
    "import",
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "pickle.",
    "ctypes.",
    "marshal.",
)
"""What reading a reply has no business with."""


def good(worked: Prompt[Any]) -> str:
    """The reply of a worked example."""
    return worked.instructions.partition(f"{worked.case()} ")[2].partition("\n")[0]


def cases() -> list[tuple[Prompt[Any], str]]:
    """Each kind of prompt with each reply, each worked example with its reply spoilt."""
    fixed = [text for _, text in [*static(), *huge()]]
    kinds = list({type(worked): worked for worked in WORKED}.values())
    return [
        *((worked, text) for worked in kinds for text in fixed),
        *((worked, text) for worked in WORKED for _, text in spoilt(good(worked))),
    ]


def judged(prompt: Prompt[Any], text: str) -> str:
    """Tell what is wrong with how a text is read; nothing if it is a valid reply or one line about it."""
    try:
        reply = parse_reply(text, prompt)
    except BadReply as error:
        line = str(error)
        return "" if line and "\n" not in line and len(line.encode()) <= 1_000 else f"says {line!r}"
    except BaseException as error:
        return f"raises {error!r}"
    prompt.check(reply)
    return "" if type(reply).model_validate_json(reply.model_dump_json()) == reply else f"gives {reply!r}"


def main() -> None:
    """Watch, read, tell."""
    acts: list[str] = []
    watching = False

    def hook(event: str, _: tuple[Any, ...]) -> None:
        if watching and event.startswith(WATCHED):
            acts.append(event)

    tried, wrong, slowest = cases(), [], 0.0
    judged(WORKED[0], "{'relations': [1,]")  # imports what repairs JSON
    sys.addaudithook(hook)
    for prompt, text in tried:
        started = time.process_time()
        watching = True
        told = judged(prompt, text)
        watching = False
        slowest = max(slowest, time.process_time() - started)
        wrong += [f"{prompt.name}: {text[:60]!r} {told}"] if told else []
    watching = True
    eval("1")
    told = {"tried": len(tried), "wrong": wrong, "slowest": slowest, "acts": acts}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
