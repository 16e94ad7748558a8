"""Where the files of a folder lie that was built."""

from pathlib import Path


def built(folder: Path, name: str) -> Path:
    """Return a file of the only build that a folder has; a head lies in the folder itself."""
    if (folder / name).exists():
        return folder / name
    (found,) = folder.glob("build-*")
    return found / name
