"""Where the files of a folder lie that was built."""

from pathlib import Path


def built(folder: Path, name: str) -> Path:
    """Return the head of a folder, or a file of the only build that it has."""
    (build,) = folder.glob("build-*")
    return (folder if name.endswith(".json") else build) / name
