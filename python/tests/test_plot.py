"""Plots: what is drawn is what the summary says."""

import json

import numpy as np
import pytest

import stiefel
from stiefel import plot

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
matplotlib.use("Agg")
DATA = "synthetic:bnci2015001,subjects=3,trials=10"


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    methods = ["baseline", "dasp", "choir", "mdm", "ts+lr"]
    return stiefel.study(
        "main",
        DATA,
        methods=methods,
        epochs=3,
        retrained=False,
        folder=tmp_path_factory.mktemp("main"),
        progress=False,
    )


@pytest.fixture(scope="module")
def summary(results):
    with open(f"{results.attrs['folder']}/summary.json", encoding="utf-8") as file:
        return json.load(file)


def crowd(summary, count):
    """The same study with so many people, whose differences are all different."""
    people = [
        {
            "subject": f"P{i:03}",
            "difference": (37 * i % count) / count - 0.4,
            "interval": [(37 * i % count) / count - 0.5, 0.9],
            "trials": 9,
        }
        for i in range(count)
    ]
    rows = [
        {**row, "per_subject": [[p["subject"], 0.5 + p["difference"] / 3] for p in people]}
        for row in summary["rows"]
    ]
    comparisons = [{**c, "people": people} for c in summary["comparisons"]]
    return {**summary, "rows": rows, "comparisons": comparisons}


def headline(summary):
    pair = summary["headline"]["method"], summary["headline"]["against"]
    return next(c for c in summary["comparisons"] if (c["method"], c["against"]) == pair)


def test_every_door_gives_the_same_picture(results, summary):
    folder = results.attrs["folder"]
    drawn = [
        plot.differences(source).collections[0].get_offsets()
        for source in (results, folder, f"{folder}/summary.json", summary)
    ]
    for other in drawn[1:]:
        np.testing.assert_array_equal(drawn[0], other)


@pytest.mark.parametrize("count", [3, 16, 17, 200])
def test_differences_are_sorted_and_whole(summary, count):
    summary = summary if count == 3 else crowd(summary, count)
    found = headline(summary)
    ax = plot.differences(summary)
    dots, intervals = ax.collections[0].get_offsets(), ax.collections[1].get_segments()
    values, at = (dots[:, 0], dots[:, 1]) if count <= 16 else (dots[:, 1], dots[:, 0])
    people = sorted(found["people"], key=lambda p: -p["difference"])
    np.testing.assert_allclose(values, [p["difference"] for p in people], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(at, np.arange(count))
    axis = 0 if count <= 16 else 1
    np.testing.assert_allclose(np.array(intervals)[:, :, axis], [p["interval"] for p in people])
    if count <= 16:
        assert [label.get_text() for label in ax.get_yticklabels()] == [
            p["subject"] for p in people
        ]
    means = [line.get_xdata() if count <= 16 else line.get_ydata() for line in ax.get_lines()]
    assert list(means[1]) == [found["difference"]] * 2


def test_a_comparison_the_other_way_round_has_the_other_sign(summary):
    found = headline(summary)
    one = (
        plot.differences(summary, found["method"], found["against"])
        .collections[0]
        .get_offsets()[:, 0]
    )
    other = (
        plot.differences(summary, found["against"], found["method"])
        .collections[0]
        .get_offsets()[:, 0]
    )
    np.testing.assert_allclose(one, -other[::-1], rtol=0, atol=1e-15)


def test_folds_are_the_units_of_the_table(summary):
    ax = plot.folds(summary)
    lines = {
        line.get_label(): line.get_xdata()
        for line in ax.get_lines()
        if line.get_label().startswith("fold")
    }
    assert len(lines) == 5
    for row, values in zip(summary["rows"], np.stack(list(lines.values())).T):
        np.testing.assert_array_equal(values, [u["accuracy"] for u in row["units"]])
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        row["method"] for row in summary["rows"]
    ]


def test_subjects_have_a_line_or_a_dot_each(summary):
    lines = {line.get_label(): line.get_xdata() for line in plot.subjects(summary).get_lines()}
    for place, row in enumerate(summary["rows"]):
        assert {name: lines[name][place] for name, _ in row["per_subject"]} == dict(
            map(tuple, row["per_subject"])
        )
    many = crowd(summary, 40)
    ax = plot.subjects(many)
    dots = [c.get_offsets() for c in ax.collections if len(c.get_offsets()) == 40]
    assert len(dots) == len(many["rows"])
    for place, (row, of) in enumerate(zip(many["rows"], dots)):
        np.testing.assert_allclose(
            np.sort(of[:, 0]), sorted(score for _, score in row["per_subject"])
        )
        assert np.abs(of[:, 1] - place).max() < 0.5


def test_confusion_counts_every_test_trial(summary):
    for row in summary["rows"]:
        ax = plot.confusion(summary, row["method"])
        assert [int(text.get_text()) for text in ax.texts] == np.ravel(row["confusion"]).tolist()
        shares = np.array(row["confusion"]) / np.sum(row["confusion"], axis=1, keepdims=True)
        np.testing.assert_allclose(ax.images[0].get_array(), shares)
    assert plot.confusion(summary).get_title() == summary["headline"]["method"]


def test_pictures_of_a_router_are_those_of_the_first_unit(summary):
    unit = next(u for u in summary["units"] if u["method"] == "dasp")
    record = unit["outcome"]["routing"]
    np.testing.assert_allclose(
        plot.weights(summary).images[0].get_array(), record["domain_weights"]
    )
    np.testing.assert_allclose(plot.angles(summary).images[0].get_array(), record["angles"])
    drawn = np.concatenate([c.get_offsets() for c in plot.queries(summary).collections])
    of = np.argsort(unit["outcome"]["domains"], kind="stable")
    np.testing.assert_allclose(drawn, np.array(record["queries"])[of])
    gaps = plot.controls(summary, "dasp").collections[0].get_offsets()[:, 0]
    units = [u for u in summary["units"] if u["method"] == "dasp"]
    np.testing.assert_allclose(
        gaps, [u["outcome"]["routing"]["report"]["proxy_gap"]["value"] for u in units]
    )


def test_training_is_the_history_of_the_units(summary):
    axes = plot.training(summary, "baseline")
    histories = [u["outcome"]["history"] for u in summary["units"] if u["method"] == "baseline"]
    lines = axes[1].get_lines()
    assert len(lines) == len(histories) + 1
    for line, history in zip(lines, histories):
        np.testing.assert_array_equal(line.get_ydata(), [e["validation_accuracy"] for e in history])
    assert not axes[2].get_lines() and axes[2].texts[0].get_text() == "not routed"
    assert len(plot.training(summary, "dasp")[2].get_lines()) == 6


def test_training_of_a_network():
    data = stiefel.load_synthetic("BNCI2015001", subjects=2, trials_per_class=10, random_state=0)
    clf = stiefel.SPDNetClassifier(epochs=3, random_state=0).fit(data)
    axes = plot.training(clf)
    np.testing.assert_array_equal(
        axes[1].get_lines()[0].get_ydata(), [e["validation_accuracy"] for e in clf.history_]
    )
    with pytest.raises(ValueError, match="leave method out"):
        plot.training(clf, "dasp")


@pytest.mark.parametrize("method", ["baseline", "dasp", "choir"])
def test_patterns_are_those_of_the_record(summary, method):
    filters = next(u for u in summary["units"] if u["method"] == method)["outcome"]["patterns"]
    axes = plot.patterns(summary, method)
    assert axes.shape == (len(filters), 2)
    for row, of in zip(axes, filters):
        for ax, pattern in zip(row, of["patterns"]):
            drawn = ax.collections[-1].get_array()
            np.testing.assert_allclose(drawn, np.array(pattern) / np.abs(pattern).max())
            strongest = {
                summary["dataset"]["channels"][c] for c in np.argsort(-np.abs(pattern))[:3]
            }
            assert {text.get_text() for text in ax.texts} == strongest


def test_electrodes_have_their_names(summary):
    ax = plot.electrodes(summary)
    assert [text.get_text() for text in ax.texts] == summary["dataset"]["channels"]
    at = {text.get_text(): text.get_position() for text in ax.texts}
    assert np.hypot(*at["Cz"]) < 1e-12 and at["C3"][0] < 0 < at["C4"][0]


def test_a_calibration_curve_is_that_of_the_rows(tmp_path):
    methods = ["choir", "recentred-ts+lr"]
    results = stiefel.study(
        "calibration",
        "synthetic:bnci2015001,subjects=2,trials=16",
        methods=methods,
        folder=tmp_path,
        progress=False,
    )
    rows = json.loads((tmp_path / "summary.json").read_text())["rows"]
    lines = {line.get_label(): line.get_xydata() for line in plot.calibration(results).get_lines()}
    assert set(lines) == set(methods)
    for name, points in lines.items():
        expected = [
            (r["labels"], r["accuracy"]["mean"])
            for r in rows
            if r["method"].endswith(f": {name}") and r["labels"] is not None
        ]
        np.testing.assert_array_equal(points, sorted(expected))


def test_own_axes_are_drawn_on(summary):
    _, (left, right) = matplotlib.pyplot.subplots(1, 2)
    assert (
        plot.folds(summary, ax=left) is left and plot.confusion(summary, "mdm", ax=right) is right
    )
    _, three = matplotlib.pyplot.subplots(1, 3)
    assert plot.training(summary, axes=three)[2] is three[2]


def test_bad_input_is_told(summary, tmp_path):
    for draw, message in [
        (
            lambda: plot.folds(tmp_path),
            r"summary.json is not there; give the folder of a study that has been run",
        ),
        (lambda: plot.differences(summary, "dasp"), "give both method and against, or neither"),
        (
            lambda: plot.differences(summary, "dasp", "magic"),
            "dasp and magic were not compared. These were compared: dasp and baseline",
        ),
        (
            lambda: plot.confusion(summary, "magic"),
            "'magic' is not a method of this study that has a row in its table; these are: "
            "baseline, dasp",
        ),
        (
            lambda: plot.weights(summary, "mdm"),
            "'mdm' is not a method of this study that has experts; these are: dasp",
        ),
        (lambda: plot.controls(summary, "mdm"), "that routes; these are: dasp, choir"),
        (
            lambda: plot.training(summary, "mdm"),
            "that is trained by epochs; these are: baseline, dasp",
        ),
        (
            lambda: plot.patterns(summary, "mdm"),
            "'mdm' is not a method of this study that has filters whose patterns were recorded",
        ),
        (
            lambda: plot.patterns(summary, "baseline", axes=[]),
            "axes must be 1 × 2, one for each pattern of each filter, got 0",
        ),
        (lambda: plot.training(summary, axes=[1]), "axes must be three, got 1"),
        (
            lambda: plot.calibration(summary),
            r"there is no curve in this study: run stiefel.study\('calibration'",
        ),
        (
            lambda: plot.learning(summary),
            r"there is no curve in this study: run stiefel.study\('scaling'",
        ),
        (
            lambda: plot.electrodes({"dataset": {"places": [None], "channels": ["1"]}}),
            "the places of fewer than three electrodes are known",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            draw()
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(ValueError, match="summary.json"):
        plot.folds(tmp_path)
    with pytest.raises(TypeError, match="a study is what stiefel.study returns"):
        plot.folds(3)
