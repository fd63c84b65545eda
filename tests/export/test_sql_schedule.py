"""Stages of a query: columns come after those that they use, and no stage has too many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exports import assert_scored, fitted, started

pytest.importorskip("sqlglot")
from unnaive.export import sql_stages
from unnaive.export.sql_schedule import Join, Limits, Work, needed, selected, stages_of

GIVEN = ["x0", "x1", "x2"]


@st.composite
def some_work(draw):
    """Work of one to three columns, each from earlier ones."""
    work, names = [], list(GIVEN)
    for place in range(draw(st.integers(1, 30))):
        used = set(draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)))
        own = [f"v{place}_{at}" for at in range(draw(st.integers(1, 3)))]
        join = Join("t", f"j{place}", min(used)) if draw(st.booleans()) else None
        work.append(Work(own, used, join))
        names += own
    last = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    return work, last


def naive_columns(work, stage_of, last, stage):
    """Columns that are there after a stage and are used later."""
    later = {name for own in work if stage_of[own.names[0]] > stage for name in own.used}
    return {name for name in later | set(last) if stage_of[name] <= stage}


@given(some_work(), st.integers(1, 40), st.integers(1, 3))
@settings(max_examples=30)
def test_every_column_comes_after_those_that_it_uses(made, columns, joins):
    work, last = made
    work = needed(work, last)
    stage_of = stages_of(work, GIVEN, last, Limits(columns, joins))
    for own in work:
        (stage,) = {stage_of[name] for name in own.names}
        assert stage > max(stage_of[name] for name in own.used)
    end = max(stage_of.values())
    for stage, names in enumerate(selected(work, stage_of, last)):
        assert set(names) == naive_columns(work, stage_of, last, stage)
        joined = [own for own in work if own.join and stage_of[own.names[0]] == stage]
        assert len(joined) <= joins
        assert stage <= end


@given(some_work())
@settings(max_examples=15)
def test_with_room_every_column_is_computed_as_early_as_it_can_be(made):
    work, last = made
    work = needed(work, last)
    stage_of = stages_of(work, GIVEN, last, Limits(10**6, 10**6))
    for own in work:
        assert stage_of[own.names[0]] == 1 + max(stage_of[name] for name in own.used)


@pytest.mark.parametrize(("room", "most"), [(60, 93), (200, 201), (10_000, 2040)])
def test_what_was_begun_is_finished_before_more_is_begun(room, most):
    """Forty sums of fifty terms in two steps; one by one, they need 40 + 50 columns and a few."""
    work = []
    for group in range(40):
        terms = [f"t{group}_{at}" for at in range(50)]
        work += [Work([name], {"x0"}) for name in terms]
        work += [Work([f"top{group}"], set(terms)), Work([f"s{group}"], {*terms, f"top{group}"})]
    last = [f"s{group}" for group in range(40)]
    stage_of = stages_of(work, ["x0"], last, Limits(room, 1))
    widest = max(map(len, selected(work, stage_of, last)))
    assert widest <= most
    assert room < 10_000 or widest == most  # all at once


@pytest.mark.parametrize("name", [pytest.param("DuckDB", marks=pytest.mark.long), "SQLite"])
def test_narrow_stages_give_the_same_answers(monkeypatch, name):
    model, X = fitted("aode", k=2)
    wide = model.to_sql("rows")
    monkeypatch.setattr(sql_stages, "_LIMITS", Limits(columns=15, joins=2))
    narrow = model.to_sql("rows")
    assert narrow.count(" AS (SELECT") > wide.count(" AS (SELECT")
    with started(name) as database:
        assert_scored(database, model, X)
        assert_scored(database, *fitted("tan", k=2))
