"""Errors of encoders and of what is learned from training questions, each one clear line."""


class EncoderError(RuntimeError):
    """No encoder goes by this name, its files are missing or broken, or a setting is; one clear line."""


class PriorError(ValueError):
    """What was learned from training questions cannot be built or opened; one line that says what to do."""


class BlueprintError(PriorError):
    """A library that cannot be built or opened; one clear line that says what to do."""


class ExemplarError(PriorError):
    """Exemplars that cannot be built or opened; one clear line that says what to do."""
