"""What can go wrong with exemplars."""

from kgqa.priors.errors import PriorError


class ExemplarError(PriorError):
    """Exemplars that cannot be built or opened; one clear line that says what to do."""
