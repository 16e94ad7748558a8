"""kgqa: question answering over knowledge graphs with language-model agents.

```python
import kgqa

record = kgqa.ask("What is the capital of Mongolia?")
record["answers"]  # [{"id": "https://...", "name": "..."}]
```

`ask` and `aask` give one `Record` per question; ``from kgqa.graphs import cor``
gives the LangGraph graph itself.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgqa.api import aask, ask
    from kgqa.runtime.record import Record

__version__ = "0.1.0"
__all__ = ["Record", "aask", "ask"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: ``import kgqa`` stays quick."""
    if name in {"aask", "ask"}:
        from kgqa import api

        return getattr(api, name)
    if name == "Record":
        from kgqa.runtime.record import Record

        return Record
    raise AttributeError(f"module 'kgqa' has no attribute {name!r}")
