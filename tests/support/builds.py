"""Where the files of a folder lie that was built, and what is read of one."""

from pathlib import Path

from kgqa.priors.encoder import EncodeTexts
from kgqa.priors.exemplars import EXEMPLAR_STORE, ExemplarLibrary, read_exemplars, read_solution_index
from kgqa.priors.solutions import SolutionIndex


def built(folder: Path, name: str) -> Path:
    """Return the head of a folder, or a file of the only build that it has."""
    (build,) = folder.glob("build-*")
    return (folder if name.endswith(".json") else build) / name


def open_exemplars(folder: Path, encode: EncodeTexts, encoder_name: str) -> ExemplarLibrary:
    """Open exemplars with the encoder that they were built with."""
    return read_exemplars(EXEMPLAR_STORE.open(folder, encoder_name), encode)


def open_solution_index(folder: Path, encode: EncodeTexts, encoder_name: str) -> SolutionIndex:
    """Open the index of a folder of exemplars."""
    return read_solution_index(EXEMPLAR_STORE.open(folder, encoder_name), encode)
