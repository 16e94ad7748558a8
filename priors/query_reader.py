"""A process that reads queries: JSON lines in, what was read of each out."""

import json
import sys

from kgqa.priors.training_questions import branches_to_json, read_branches


def main() -> None:
    """Read until nobody gives it queries any more."""
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(branches_to_json(read_branches(json.loads(line))))}\n")


if __name__ == "__main__":
    main()
