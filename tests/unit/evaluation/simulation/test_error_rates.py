"""Specs of simulated models: what they say, and what is refused."""

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.evaluation.simulation import ErrorRates, parse_error_rates


def test_a_spec_says_how_often_each_error_happens() -> None:
    spec = "simulated:accuracy=0.8,seed=1,recall=0.25,entity=.1,judge=0.2,format=1,memory=0.5"
    spec += ",plan=0,latency=1e-2"
    assert parse_error_rates(spec) == ErrorRates(
        accuracy=0.8, recall=0.25, entity=0.1, judge=0.2, format=1, memory=0.5, plan=0.0, latency=0.01, seed=1
    )


def test_what_a_spec_leaves_out_is_as_by_default() -> None:
    assert parse_error_rates("simulated") == parse_error_rates(" simulated: ") == ErrorRates()
    assert ErrorRates() == ErrorRates(1.0, 0.5, 0.0, 0.0, 0.0, 0.0, None, 0.0, 0)


def test_the_seed_of_the_run_holds_where_the_spec_has_none() -> None:
    assert parse_error_rates("simulated:accuracy=0.8", seed=7).seed == 7
    assert parse_error_rates("simulated:accuracy=0.8,seed=0", seed=7).seed == 0


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("simulated:seed=1,accuracy=0.80", "simulated:accuracy=0.8,seed=1"),
        ("simulated: accuracy = 1.0 , recall = 0.50", "simulated"),
        ("simulated:latency=2.0,judge=1e-1", "simulated:judge=0.1,latency=2"),
        ("simulated:seed=-3", "simulated:seed=-3"),
        ("simulated:plan=1,judge=0", "simulated:plan=1"),
    ],
)
def test_equal_settings_have_an_equal_name(spec: str, name: str) -> None:
    assert str(parse_error_rates(spec)) == name
    assert parse_error_rates(name) == parse_error_rates(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "simulated:exactness=0.8",
            "has no 'exactness'; it has accuracy, recall, entity, judge, format, memory",
        ),
        ("simulated:accuracy=0.8,accuracy=0.9", "accuracy of a simulated model is given twice"),
        ("simulated:accuracy=1.2", "accuracy of a simulated model must be a number from 0 to 1, not 1.2"),
        ("simulated:accuracy=-0.1", "from 0 to 1, not -0.1"),
        ("simulated:judge=nan", "judge of a simulated model must be a number, not 'nan'"),
        ("simulated:judge=", "must be a number, not ''"),
        ("simulated:judge", "must be a number, not ''"),
        ("simulated:judge=1/2", "must be a number, not '1/2'"),
        ("simulated:judge=٣", "must be a number"),
        ("simulated:latency=-1", "latency of a simulated model must be a number of seconds, not -1"),
        ("simulated:latency=1e999", "latency of a simulated model must be a number of seconds, not inf"),
        ("simulated:seed=1.5", "seed of a simulated model must be a whole number of at most 18 digits"),
        ("simulated:seed=" + "9" * 5000, "seed of a simulated model must be a whole number"),
        ("simulated:,", "has no ''"),
        ("openai:gpt", "'openai:gpt' names no simulated model; write simulated:accuracy=0.8,seed=1"),
    ],
)
def test_what_is_no_spec_is_refused_in_one_line(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_error_rates(spec)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_errors_made_in_python_are_checked_too() -> None:
    with pytest.raises(ValueError, match="entity of a simulated model must be a number from 0 to 1, not nan"):
        ErrorRates(entity=float("nan"))


_RATES = st.floats(0, 1)


@given(
    st.builds(
        ErrorRates,
        *[_RATES] * 6,
        st.none() | _RATES,
        st.floats(0, 60),
        st.integers(-9, 9),
        st.none() | _RATES,
    )
)
def test_the_name_of_any_settings_reads_back(errors: ErrorRates) -> None:
    assert parse_error_rates(str(errors)) == errors


@settings(max_examples=200)
@given(st.text(alphabet="simulated:acury=,.0159e-+ nan\n", max_size=40))
def test_any_text_is_a_spec_or_refused_in_one_line(text: str) -> None:
    for spec in (text, f"simulated:{text}", f"simulated:accuracy={text}"):
        try:
            assert 0 <= parse_error_rates(spec).accuracy <= 1
        except ValueError as error:
            assert "\n" not in str(error)
