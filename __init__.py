"""kgqa: question answering over knowledge graphs with language-model agents.

```python
import kgqa

record = kgqa.ask("What is the capital of Mongolia?")
record["answers"]  # [{"id": "https://...", "name": "..."}]
```

`ask` returns one `Record` per question, by any of `METHODS`; `stream` yields its steps, `batch` asks
many. `as_tool` makes a tool of a method for an agent, `as_node` a node for the graph of an app. `open_graph`
opens a graph and `make_tools` makes tools of it. ``from kgqa.graphs import cor`` gives the LangGraph graph
itself. An ``a`` before the name (`aask`, `astream`, `abatch`) is for asynchronous code.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgqa.api import aask, as_node, as_tool, ask, astream, stream
    from kgqa.evaluation.runs.batch import abatch, batch
    from kgqa.graphs import METHODS
    from kgqa.kg.opening import open_graph
    from kgqa.runtime.context import OptionError
    from kgqa.runtime.record import Record
    from kgqa.tools import make_tools

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "OptionError",
    "Record",
    "aask",
    "abatch",
    "as_node",
    "as_tool",
    "ask",
    "astream",
    "batch",
    "make_tools",
    "open_graph",
    "stream",
]

_HOMES = {
    "METHODS": "kgqa.graphs",
    "OptionError": "kgqa.runtime.context",
    "Record": "kgqa.runtime.record",
    **dict.fromkeys(("aask", "as_node", "as_tool", "ask", "astream", "stream"), "kgqa.api"),
    **dict.fromkeys(("abatch", "batch"), "kgqa.evaluation.runs.batch"),
    "make_tools": "kgqa.tools",
    "open_graph": "kgqa.kg.opening",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: ``import kgqa`` stays quick."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kgqa' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, which notebooks and an interactive Python complete."""
    return sorted({*__all__, *filter(lambda name: name.startswith("__"), globals())})
