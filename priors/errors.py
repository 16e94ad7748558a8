"""What can go wrong with an encoder."""


class EncoderError(RuntimeError):
    """No encoder goes by this name, its files are missing or broken, or a setting is; one clear line."""


class PriorError(ValueError):
    """What was learned from training questions cannot be built or opened; one line that says what to do."""
