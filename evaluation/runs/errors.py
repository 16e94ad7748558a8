"""What can be wrong with a run before or while it goes on."""


class RunError(ValueError):
    """A run that cannot begin or go on; the message is one line that says what to do."""
