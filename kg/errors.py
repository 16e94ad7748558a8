"""What can go wrong between a question and a knowledge graph.

```
KGError
├── KGTimeout        the deadline passed; the query may still be running
├── KGUnavailable    the graph cannot be opened or reached
│   └── KGSilent     it gave no answer in time, and did not say that it is the query's fault
├── KGRejected       the query was refused before or by the graph
└── KGMalformed      the graph's file or answer cannot be read
```

A failure is always one of these, never an empty result, and is never cached.
"""


class KGError(Exception):
    """Base of every failure of a knowledge graph; its text is one clear line."""


class KGTimeout(KGError):
    """The deadline passed before the graph had answered."""


class KGUnavailable(KGError):
    """The graph cannot be opened or reached."""


class KGSilent(KGUnavailable):
    """The graph gave no answer in time and did not say why: the query may be too much, or the way to it."""


class KGRejected(KGError):
    """The query was refused: not read-only, not understood, or not allowed."""


class KGMalformed(KGError):
    """The graph's file or its answer cannot be read."""
