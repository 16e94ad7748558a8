"""``kgqa methods``: what there is to answer questions with."""

import typer


def methods() -> None:
    """List the methods and their options."""
    from rich.console import Console
    from rich.table import Table

    from kgqa.graphs import METHODS, context_of, headline_of

    console = Console(highlight=False)
    for name in METHODS:
        console.print(f"[bold]{name}[/bold]  {headline_of(name)}")
        table = Table("option", "default", "", box=None, padding=(0, 2))
        for key, field in context_of(name).model_fields.items():
            default = field.get_default(call_default_factory=True)
            shown = default.model_dump() if hasattr(default, "model_dump") else default
            table.add_row(key, str(shown), field.description or "")
        console.print(table)
    typer.echo("Set an option with: kgqa ask QUESTION --option key=value (budget.llm_calls=9 for a group)")
