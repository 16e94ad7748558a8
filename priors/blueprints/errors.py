"""What can go wrong with a library of blueprints."""


class BlueprintError(ValueError):
    """A library that cannot be built, opened or added to; one clear line that says what to do."""
