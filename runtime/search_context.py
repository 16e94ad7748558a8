"""The options of methods that search the graph: what all have, and what those have that do the same."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic_core import CoreSchema

from kgqa.runtime.context import ClaimContext, GroundedContext

Presets = Mapping[str, Mapping[str, Any]]  # options of a method by the name of the preset that sets them


class SearchContext(GroundedContext):
    """The options of every method that searches the graph.

    A method has its ``PRESETS`` beside its options: what a paper sets, by the name of the preset.
    """

    PRESETS: ClassVar[Presets] = {}

    preset: str | None = Field(
        default=None,
        description="sets options as the paper does, for a dataset or in general; what is given besides wins",
    )
    retry_search: bool = Field(
        default=False,
        description="where the search runs dry, ask again from where it was, what was tried left out",
    )

    @property
    def translates(self) -> bool:
        """Whether a question is translated: not where a preset has the steps of a paper."""
        return self.preset is None

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        name = given.get("preset") if isinstance(given, Mapping) else None
        return {**cls.PRESETS.get(name, {}), **given} if isinstance(name, str) else given

    @field_validator("preset")
    @classmethod
    def _is_preset(cls, name: str | None) -> str | None:
        if name is not None and name not in cls.PRESETS:
            known = f"no preset {name!r}; it has: {', '.join(cls.PRESETS)}" if cls.PRESETS else "no presets"
            raise ValueError(f"{cls.method} has {known}")
        return name

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Name the presets, so that Studio offers them."""
        schema = handler(core)
        handler.resolve_ref_schema(schema)["properties"]["preset"]["enum"] = [*cls.PRESETS, None]
        return schema


ONE_HOP_A_TIME: Mapping[str, Any] = {
    **dict.fromkeys(("cross_mediators", "pair_inverses", "hide_noise"), False),
    "always_ask": True,
    "claims": False,
    "min_confidence": 0.0,
}
"""How papers offer relations: whatever leads on by one hop, and the model is asked about a single one too.

Their answers are all given.
"""

ONE_STEP_A_TIME: Mapping[str, Any] = {
    **ONE_HOP_A_TIME,
    "outright_answers": False,
    "missing_relations": False,
}
"""How papers choose among them: what comes next, and whether anything is missing, is for other prompts."""


class OfferContext(SearchContext):
    """The options of every method that offers relations to choose from."""

    cross_mediators: bool = Field(
        default=True,
        description="offer a relation to nodes without a name together with the relations out of them, and "
        "no way that only leads back",
    )
    pair_inverses: bool = Field(
        default=True,
        description="of a relation and its inverse, of which one states all facts of the other, offer that "
        "one alone (with cross_mediators)",
    )
    hide_noise: bool = Field(
        default=True, description="offer no relations that describe the database, as its dialect lists them"
    )


class ChoiceContext(OfferContext, ClaimContext):
    """The options of every method that has relations chosen which extend a chain."""

    always_ask: bool = Field(
        default=False,
        description="leave all to the model: also where there is one relation only; of CoR also where no end "
        "has a name, or an end is the topic again (paper)",
    )


class OutrightContext(SearchContext):
    """The options of a method whose choice of relations may say more than which."""

    outright_answers: bool = Field(
        default=True,
        description="let the choice of relations say what comes next where they tell: the answer, a "
        "condition on it, another relation; then no verdict is asked for",
    )


class FilterContext(SearchContext):
    """The options of a method that filters the ends of a chain."""

    attributes: bool = Field(
        default=True,
        description="show what the graph knows of candidates: types, values, what the question names beside "
        "them; conditions on these are checked by the graph, for all candidates (papers: names alone)",
    )


class TopicContext(SearchContext):
    """The options of a method that makes a topic a condition of what another one leads to."""

    topic_conditions: bool = Field(
        default=True,
        description="make a further topic that is a neighbour of a node of the chain a condition of that "
        "node, checked by the graph, and search no chain from it",
    )


class ChainContext(ChoiceContext, OutrightContext, TopicContext, FilterContext):
    """The options of a method that verifies relation chains."""

    missing_relations: bool = Field(
        default=True,
        description="let the choice of relations say which is missing: what was not shown is looked through "
        "once",
    )
    unite: bool = Field(
        default=True,
        description="show what relations chosen together lead to side by side, so that those that say the "
        "same are united",
    )


class PlannedContext(ChainContext):
    """The options of a method that breaks a question down into subgoals."""

    planning: Literal["needed", "first"] = Field(
        default="needed",
        description="write the subgoals where something uses them, by a call that does more than that; or, "
        "as in the paper, by a call of its own before the search",
    )

    @property
    def plans_first(self) -> bool:
        """Whether the question is broken down before the search."""
        return self.planning == "first"

    @property
    def plans_when_needed(self) -> bool:
        """Whether it is broken down once something uses the subgoals."""
        return not self.plans_first


class ExemplarContext(SearchContext):
    """The options of a method that recalls solved questions like the one asked (EGP).

    A method declares what it does with them: any of the options `USES`.
    """

    USES: ClassVar[tuple[str, ...]] = (
        *("looks_ahead", "looks_ahead_by_path"),
        *("guide_decomposition", "guide_exploration"),
    )

    exemplars_shown: int = Field(default=3, ge=1, le=8, description="solved questions that are recalled")
    exemplar_pool: int = Field(
        default=20,
        ge=1,
        le=1000,
        description="most similar solved questions that those recalled are chosen from",
    )
    similarity: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="how alike solved questions are at least to be recalled; null: the encoder's",
    )
    random_exemplars: bool = Field(
        default=False, description="draw solved questions by chance instead (Table 2 of EGP)"
    )

    @property
    def looks_ahead(self) -> bool:
        """Whether chains of solved questions are tried before the search."""
        return getattr(self, "lookahead", False)

    @property
    def recalls(self) -> bool:
        """Whether solved questions are used for anything."""
        return any(getattr(self, name, False) for name in self.USES)
