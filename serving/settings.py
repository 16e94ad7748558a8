"""What the operator has set in the environment: keys, caps, names that may be given."""

import json
from collections.abc import Mapping

from pydantic import ValidationError

from kgqa.models.registry import default_spec
from kgqa.serving.bounds import BOUNDS
from kgqa.serving.callers import Callers, Origins
from kgqa.serving.keys import VARIABLE, read_keys
from kgqa.session.context import Budget
from kgqa.session.limits import Limits

ALLOW = ("KGQA_ALLOW_KG", "KGQA_ALLOW_MODEL", "KGQA_ALLOW_PRIORS")
CAPS = {f"KGQA_CAP_{name.upper()}": name for name in Budget.model_fields}


def callers_of(environment: Mapping[str, str]) -> Callers:
    """Read who is let in: without keys, only this machine is.

    The pages that may call are those of ``cors`` in ``langgraph.json``, which LangGraph's
    server has in its environment.

    Raises:
        ValueError: in one line, if a key cannot be taken.
    """
    cors = json.loads(environment.get("LANGGRAPH_HTTP") or "{}").get("cors") or {}
    origins = Origins(frozenset(cors.get("allow_origins", ())), cors.get("allow_origin_regex"))
    return Callers(read_keys(environment.get(VARIABLE, "")), origins)


def limits_of(environment: Mapping[str, str]) -> Limits:
    """Read the limits; where there are keys, what is not set is held to the server's own defaults.

    Raises:
        ValueError: in one line, if a cap is no number.
    """
    kg, model, priors = (_listed(environment, name) for name in ALLOW)
    caps = _caps(environment)
    if not environment.get(VARIABLE):
        anything = kg is None and model is None and priors is None
        return Limits(caps, kg, model, priors if anything else priors or (), BOUNDS)
    own = {name: value for name, value in Budget().model_dump().items() if value is not None}
    return Limits(
        {**own, **caps},
        kg or (environment.get("KGQA_KG") or "sample",),
        model or (default_spec(),),
        priors or (),
        BOUNDS,
    )


def _caps(environment: Mapping[str, str]) -> dict[str, float]:
    """Read the caps as the fields of a budget, which says what each may be."""
    caps: dict[str, float] = {}
    for variable, name in CAPS.items():
        if environment.get(variable):
            try:
                caps[name] = getattr(Budget.model_validate({name: environment[variable]}), name)
            except ValidationError as error:
                raise ValueError(f"{variable}: {error.errors()[0]['msg']}") from None
    return caps


def _listed(environment: Mapping[str, str], variable: str) -> tuple[str, ...] | None:
    names = tuple(filter(None, map(str.strip, environment.get(variable, "").split(","))))
    return names or None
