"""``kgqa new``: begin something of your own."""

import re
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from kgqa.builds import new_folder
from kgqa.cli.output import fail, print_line

TEMPLATES = Path(__file__).with_name("templates")

app = typer.Typer(help="Begin a method of your own.", no_args_is_help=True)


@app.callback()
def begin() -> None:
    """Begin a method of your own."""


@app.command()
def method(
    name: Annotated[str, typer.Argument(help="Of the method, and of the folder that is made for it.")],
) -> None:
    """Write a method that runs at once, with its prompt, its test and its package, into a new folder.

    It goes into the folder of its name here; kgqa takes it as NAME/NAME.py:graph, once installed as NAME.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or iskeyword(name):
        fail(f"{name!r} cannot be the name of a method: give small letters, digits and _, such as my_walk")
    if find_spec(name) or find_spec(f"kgqa.graphs.{name}"):
        fail(f"there is a module or a method called {name} already; give yours another name")
    folder = Path(name)
    if folder.exists():
        fail(f"{folder} is there already; give another name, or go to another folder")
    words = {"name": name, "Options": f"{name.title().replace('_', '')}Options"}
    with new_folder(folder) as made:
        for template in sorted((TEMPLATES / "method").glob("*.txt")):
            text = Template(template.read_text(encoding="utf-8")).substitute(words)
            (made / template.stem.replace("method", name)).write_text(text, encoding="utf-8")
    print_line(
        f'{folder}: ask with: kgqa ask "..." --method {name}/{name}.py:graph; {folder}/README.md says more'
    )
