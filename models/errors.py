"""What can go wrong between a prompt and a reply.

```
ModelError
├── UnknownModel       no model goes by this name, or its package or key is missing
├── ModelUnavailable   the model cannot be reached, refuses, or keeps failing
└── MalformedReply     the model replied, but not with what was asked, even when told
```
"""

from kgqa.models.interface import Usage


class ModelError(Exception):
    """Base of every failure of a model; its text is one clear line.

    ``usage`` is what was spent before it failed.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class UnknownModel(ModelError):
    """No model goes by this name, or what it needs is missing."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, refuses to serve, or keeps failing."""


class MalformedReply(ModelError):
    """The model replied, but not with what was asked, even after being told."""
