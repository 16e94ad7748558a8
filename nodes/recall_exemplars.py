"""Exemplars: which questions like this one were solved, and how? (EGP §4.1)."""

import asyncio
from collections.abc import Mapping, Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Term
from kgqa.nodes.schema import relations_by_name
from kgqa.priors.exemplars import Index, Recalled, Solution, templated
from kgqa.priors.exemplars.categories import categories
from kgqa.prompts.solved import Solved
from kgqa.session.frontier import Scored
from kgqa.session.state import State, Update
from kgqa.session.step import Run, step
from kgqa.tools.arguments import relation_arguments


@step("exemplars", option="recalls")
async def recall_exemplars(state: State, run: Run) -> Update:
    """Recall solved questions that are like this one, or by chance (``random_exemplars``).

    The question is made a template as they were: its topic entities give way to the category
    labels that the graph has for them. Without an index the search goes on without.
    """
    index = await run.index()
    if index is None:
        run.note["reason"] = "no folder of exemplars is named"
        return {"exemplars": []}
    recalled = await _recalled(state, index, run)
    page: Page[Hop] = await run.use("list_schema")
    names = {name: hop.words for name, hop in relations_by_name(page).items()}
    solved = [_spoken(each.solution, names) for each in recalled]
    run.note["solved"] = len(solved)
    run.note["similarities"] = [
        None if each.similarity is None else round(each.similarity, 4) for each in recalled
    ]
    run.note["questions"] = [each.question for each in solved]
    return {"exemplars": solved}


async def _recalled(state: State, index: Index, run: Run) -> list[Recalled]:
    question, context = state["question"], run.context
    if context.random_exemplars:
        return index.draw(question, pool=context.pool, shown=context.exemplars_shown)
    labels = await _labels(state, run)
    topics = {topic.name: labels.get(topic) for topic in state["topic_entities"] if topic.name}
    template = templated(question, topics)
    run.note["template"] = template
    recalling = asyncio.to_thread(
        index.recall,
        question,
        template,
        pool=context.pool,
        shown=context.exemplars_shown,
        similarity=context.similarity,
    )
    return await run.in_time(recalling)


async def _labels(state: State, run: Run) -> dict[Entity, str]:
    """Give the category labels of the topics; none where the graph fails."""

    async def follow(entities: Sequence[Entity], hop: Hop) -> list[Page[Term]]:
        pages: list[Page[Term]] = await run.use("follow_relation", **relation_arguments(entities, hop))
        return pages

    leads = {lead.chain.topic: lead.hops for lead in state["leads"] if not lead.chain.hops}
    try:
        return await categories({topic: leads.get(topic, ()) for topic in state["topic_entities"]}, follow)
    except (KGTimeout, KGRejected) as error:
        run.failed(error)
        return {}


def _spoken(solution: Solution, names: Mapping[str, str]) -> Solved:
    """Write a solution in the graph's own words; a relation that it does not have stays as it is."""
    return Solved(
        solution.template,
        tuple(
            tuple(("" if slot.forward else "^") + names.get(slot.relation, slot.relation) for slot in branch)
            for branch in solution.branches
        ),
    )


def shown_to(state: State, run: Run, option: str) -> tuple[Solved, ...]:
    """Give the exemplars that a prompt shows; none where the option is off, or the method has none."""
    return tuple(state["exemplars"]) if getattr(run.context, option, False) else ()


def guided(offers: Sequence[Scored], exemplars: Sequence[Solved]) -> list[Scored]:
    """Give what of the offers the exemplars speak for: R_cand ∩ R_guide (EGP §4.3).

    Their last hop is a relation of any place in a chain of an exemplar, in the same direction.
    """
    guide = {text for each in exemplars for branch in each.branches for text in branch}
    return [each for each in offers if written(each.chain.hops[-1]) in guide]


def written(hop: Hop) -> str:
    """Write a hop as exemplars do."""
    return hop.words if hop.forward else f"^{hop.words}"
