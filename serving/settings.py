"""What the operator has set in the environment: keys, caps, names that may be given."""

from collections.abc import Mapping

from pydantic import ValidationError

from kgqa.models.registry import default_spec
from kgqa.serving.keys import VARIABLE, Keys, read_keys
from kgqa.session.context import Budget
from kgqa.session.limits import Limits

ALLOW = ("KGQA_ALLOW_KG", "KGQA_ALLOW_MODEL", "KGQA_ALLOW_PRIORS")
CAPS = {f"KGQA_CAP_{name.upper()}": name for name in Budget.model_fields}


def keys_of(environment: Mapping[str, str]) -> Keys:
    """Read the keys of callers; none means that only this machine is served.

    Raises:
        ValueError: in one line, if a key cannot be taken.
    """
    return read_keys(environment.get(VARIABLE, ""))


def limits_of(environment: Mapping[str, str]) -> Limits:
    """Read the limits; where there are keys, what is not set is held to the server's own defaults.

    Raises:
        ValueError: in one line, if a cap is no number.
    """
    kg, model, priors = (_listed(environment, name) for name in ALLOW)
    caps = _caps(environment)
    if not environment.get(VARIABLE):
        anything = kg is None and model is None and priors is None
        return Limits(caps, kg, model, priors if anything else priors or ())
    own = {name: value for name, value in Budget().model_dump().items() if value is not None}
    return Limits(
        {**own, **caps},
        kg or (environment.get("KGQA_KG") or "sample",),
        model or (default_spec(),),
        priors or (),
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
