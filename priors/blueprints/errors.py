"""What can go wrong with blueprints."""

from kgqa.priors.errors import PriorError


class BlueprintError(PriorError):
    """A library that cannot be built or opened; one clear line that says what to do."""
