"""Asks from Python and prints the answers and the path that proves them."""

from pathlib import Path

from rich.console import Console

import kgqa

GRAPH = Path(__file__).with_name("obama.ttl")

record = kgqa.ask("Who inspired Obama?", kg=str(GRAPH), topics=["Barack Obama"])
console = Console(markup=False, highlight=False, soft_wrap=True)
for answer in record["answers"]:
    console.print(answer["name"])
for path in record["paths"]:
    drawn = path[0]["head"]["name"] or "?"
    for step in path:
        relation = step["relation"].rpartition("/")[2]
        arrow = f"-{relation}->" if step["forward"] else f"<-{relation}-"
        drawn += f" {arrow} {step['tail']['name'] or '?'}"
    console.print(f"  {drawn}")
