"""Trials of MNE's recordings and epochs: what ``info`` says is heeded, compared and carried."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import stiefel
from stiefel import ChoirClassifier, DaspClassifier, TangentSpaceLR, Views

mne = pytest.importorskip("mne")

NAMES, RATE = ["Fz", "C3", "Cz", "C4", "Pz"], 128.0
RECIPE = {"views": "choir", "classes": ["T1=hands", "T2=feet"], "reject": "off"}


def recording(seed=0, trials=24, names=NAMES, rate=RATE):
    """A recording of MNE with annotations: the rhythm of C3 or of C4 falls."""
    rng = np.random.default_rng(seed)
    onsets, labels = (
        3.0 + 5.0 * np.arange(trials),
        np.where(rng.permutation(trials) % 2, "T1", "T2"),
    )
    x = rng.standard_normal((len(names), int((6 + 5 * trials) * rate)))
    t = np.arange(x.shape[1]) / rate
    rhythm = 4 * np.sin(2 * np.pi * 12 * t + rng.uniform(0, 6, (2, 1)))
    for onset, label in zip(onsets, labels):
        at = slice(int(onset * rate), int((onset + 4) * rate))
        rhythm[0 if label == "T1" else 1, at] *= 0.3
    x[names.index("C3")] += rhythm[0]
    x[names.index("C4")] += rhythm[1]
    raw = mne.io.RawArray(1e-5 * x, mne.create_info(names, rate, "eeg"), verbose="error")
    return raw.set_annotations(mne.Annotations(onsets, 4.0, labels))


def cut(raw, tmin=-1.0, tmax=4.5, **options):
    """Epochs of a recording."""
    events, codes = mne.events_from_annotations(raw, verbose="error")
    options = {"baseline": None, "verbose": "error", **options}
    return mne.Epochs(raw, events, codes, tmin, tmax, **options)


@pytest.fixture(scope="module")
def raw():
    return recording()


@pytest.fixture(scope="module")
def fitted(raw):
    return ChoirClassifier(random_state=0).fit(stiefel.from_raw(raw, RECIPE))


# Recordings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["as-recorded", "average", "Fz"])
def test_views_of_a_recording_are_those_of_the_program(tmp_path, raw, reference):
    file, made = tmp_path / "S01_raw.fif", tmp_path / "made.npz"
    raw.save(file, verbose="error")
    options = ["--views", "choir", "--classes", "T1=hands,T2=feet", "--reference", reference]
    program = [sys.executable, "-m", "stiefel", "prepare", file, "-o", made, *options]
    done = subprocess.run(list(map(str, program)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    theirs = stiefel.load_dataset(made)
    recipe = {key: value for key, value in RECIPE.items() if key != "reject"}
    again = mne.io.read_raw_fif(file, preload=False, verbose="error")
    ours = stiefel.from_raw(again, {**recipe, "reference": reference}, domain="S01")
    assert ours.X.shape == theirs.X.shape == (24, 6, 5, 5) and ours.channels == theirs.channels
    assert ours.y.tolist() == theirs.y.tolist()
    scale = np.abs(theirs.X).max(axis=(2, 3), keepdims=True)
    assert (np.abs(ours.X - theirs.X) / scale).max() < 1e-12
    said, own = dict(theirs.preparation), dict(ours.preparation)
    assert own["recipe"] == said["recipe"] and own["unit"] == said["unit"] == "µV"
    # A model of the one takes the other.
    clf = ChoirClassifier(random_state=0).fit(theirs)
    np.testing.assert_allclose(clf.predict_proba(ours), clf.predict_proba(theirs), atol=1e-9)


def test_events_of_an_array_are_those_of_annotations(raw):
    events, codes = mne.events_from_annotations(raw, verbose="error")
    found = stiefel.from_raw(raw, {"views": "broad", "reject": "off"}, events, codes)
    same = stiefel.from_raw(raw, {"views": "broad", "reject": "off", "classes": ["T1", "T2"]})
    np.testing.assert_array_equal(found.X, same.X)
    assert found.y.tolist() == same.y.tolist()
    # A recording that was cropped counts its samples from elsewhere.
    later = raw.copy().crop(20.0)
    events, codes = mne.events_from_annotations(later, verbose="error")
    recipe = {"views": "broad", "reject": "off"}
    part = stiefel.from_raw(later, recipe, events, codes)
    assert part.y.tolist() == same.y[-len(part) :].tolist()
    np.testing.assert_allclose(part.X[4:-1], same.X[-len(part) :][4:-1], rtol=1e-6)
    with pytest.raises(ValueError, match="the recording has T1, T2. Name labels and classes"):
        stiefel.from_raw(raw, "choir")


def test_bad_segments_leave_events_out(raw):
    bad = raw.copy()
    bad.set_annotations(raw.annotations + mne.Annotations([13.5], [1.0], ["BAD_movement"]))
    with pytest.warns(UserWarning, match="1 events reach into a segment"):
        found = stiefel.from_raw(bad, RECIPE)
    assert len(found) == 23
    short = raw.copy().crop(0, 120.0)
    with pytest.warns(UserWarning, match="1 events are too near to an end"):
        stiefel.from_raw(short, RECIPE)


def test_several_recordings_in_a_pipeline(raw):
    people = [raw, recording(1), recording(2)]
    views = Views(RECIPE, domain=["anna", "bob", "eve"])
    pipeline = make_pipeline(views, ChoirClassifier(handle_unknown="new", random_state=0))
    pipeline.fit(people)
    assert pipeline[-1].domains_.tolist() == ["anna", "bob", "eve"]
    assert pipeline[-1].channels_ == NAMES and pipeline[-1].n_views_ == 6
    new = recording(3)
    alone = clone(pipeline[0]).set_params(domain="zoe")
    assert pipeline[-1].score(alone.transform(new)) > 0.8
    with pytest.raises(ValueError, match="2 names for 1 recordings"):
        Views(RECIPE, domain=["anna", "bob"]).transform([raw])


# What info says ----------------------------------------------------------------------------------


def test_a_bad_channel_is_left_out(raw):
    bad = raw.copy()
    bad.info["bads"] = ["Fz"]
    found = Views(RECIPE).fit_transform(bad)
    assert found.channels == NAMES[1:]
    whole = Views(RECIPE).fit_transform(raw)
    np.testing.assert_allclose(found.X, whole.X[..., 1:, 1:], rtol=1e-12)
    for recipe in ({**RECIPE, "channels": ["C3", "Fz"]}, {**RECIPE, "reference": "Fz"}):
        with pytest.raises(ValueError, match="Fz, which info.* marks as bad"):
            Views(recipe).transform(bad)
    epochs = cut(bad)
    assert Views(RECIPE).transform(epochs).channels == NAMES[1:]
    assert stiefel.from_epochs(epochs, band=(8, 32)).channels == NAMES[1:]
    # A channel that is no EEG is none, whatever the recipe calls it.
    eye = raw.copy().set_channel_types({"Pz": "eog"}, verbose="error")
    assert Views(RECIPE).transform(eye).channels == NAMES[:-1]
    with pytest.raises(ValueError, match="takes channel Pz for EEG, but info says that it is eog"):
        Views({**RECIPE, "channels": ["C3", "Pz"]}).transform(eye)


def test_a_pending_projection_is_applied(raw, fitted):
    pending = raw.copy().set_eeg_reference(projection=True, verbose="error")
    average = {**RECIPE, "reference": "average"}
    found, same = Views(average).transform(pending), Views(average).transform(raw)
    np.testing.assert_allclose(found.X, same.X, rtol=1e-9, atol=1e-9)
    epochs = cut(pending, proj=False)
    x = cut(raw).get_data(copy=True) * 1e6
    expected = np.stack([np.cov(t) for t in x - x.mean(axis=1, keepdims=True)])
    trials = stiefel.from_epochs(epochs, covariance="sample")
    np.testing.assert_allclose(trials.X, expected, rtol=1e-9, atol=1e-9)
    assert trials.preparation["reference"] == "average"
    # It changes the reference, which a recipe of the signal as recorded does not know.
    for signal in (pending, epochs):
        with pytest.raises(ValueError, match="is as-recorded, but info says .* average"):
            Views(RECIPE).transform(signal)


def test_epochs_on_the_disk_are_read(tmp_path, raw):
    cut(raw).save(tmp_path / "some-epo.fif", verbose="error")
    lazy = mne.read_epochs(tmp_path / "some-epo.fif", preload=False, verbose="error")
    assert not lazy.preload
    found = Views(RECIPE).transform(lazy)
    assert not lazy.preload, "what the user holds stays as it is"
    np.testing.assert_allclose(found.X, Views(RECIPE).transform(cut(raw)).X, rtol=1e-4)


def test_filters_of_the_recording_are_compared(raw):
    narrow = raw.copy().filter(10, 40, verbose="error")
    with pytest.raises(ValueError, match="begin at 8 Hz, but info.* filtered at 10 Hz"):
        Views(RECIPE).transform(narrow)
    low = raw.copy().filter(1, 20, verbose="error")
    with pytest.raises(ValueError, match="end at 32 Hz, but info.* filtered at 20 Hz"):
        Views(RECIPE).transform(cut(low))
    wide = raw.copy().filter(1, 45, verbose="error")
    assert Views(RECIPE).transform(wide).shape == (24, 6, 5, 5)


def test_references_are_compared(raw):
    average = raw.copy().set_eeg_reference("average", verbose="error")
    other = raw.copy().set_eeg_reference(["Fz"], verbose="error")
    for signal, name in [(average, "average"), (other, "custom"), (cut(average), "average")]:
        with pytest.raises(ValueError, match=f"is as-recorded, but info says .*: {name}"):
            Views(RECIPE).transform(signal)
    # A recipe that refers everything to the average itself has no need to know what was before.
    recipe = {**RECIPE, "reference": "average"}
    same = Views(recipe).transform(average)
    np.testing.assert_allclose(same.X, Views(recipe).transform(raw).X, rtol=1e-9, atol=1e-9)


def test_a_window_outside_of_the_epochs_is_refused(raw):
    late = cut(raw, 0.5, 3.5)
    with pytest.raises(
        ValueError, match="0.25–2.25 s reaches beyond the trials, which last from 0.5"
    ):
        Views(RECIPE).transform(late)
    assert Views({**RECIPE, "views": "broad"}).transform(late).shape == (24, 5, 5)
    # A baseline is a constant: no covariance depends on it.
    based = Views(RECIPE).transform(cut(raw, baseline=(None, 0)))
    np.testing.assert_allclose(based.X, Views(RECIPE).transform(cut(raw)).X, rtol=1e-6)


# What models make of it --------------------------------------------------------------------------


def test_views_keep_their_names_and_are_put_in_order(raw, fitted):
    known = Views(RECIPE).transform(raw)
    order = [5, 3, 0, 1, 4, 2]
    said = fitted.preparation_["recipe"]["views"]
    turned = Views({**RECIPE, "views": [said[i] for i in order]}).transform(raw)
    np.testing.assert_allclose(turned.X, known.X[:, order], rtol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(turned), fitted.predict_proba(known))
    other = Views({**RECIPE, "views": [*said[:5], "4-32@0.25-2.25"]}).transform(raw)
    with pytest.raises(
        ValueError, match="bands and windows: .*8–32 Hz, 0.25–2.25 s, but .*4–32 Hz"
    ):
        fitted.predict(other)


def test_the_recipe_of_a_model_prepares_for_it(raw, fitted):
    views = Views(fitted.preparation_)
    assert views.recipe_["rate"] == RATE and views.recipe_["channels"] == NAMES
    faster = recording(4, names=["Oz", *NAMES[::-1]], rate=256.0)
    trials = views.transform(faster)
    assert trials.channels == NAMES and "resampled from 256 to 128 Hz" in str(trials.preparation)
    assert fitted.set_params(handle_unknown="new").score(trials) > 0.8


@pytest.mark.parametrize(
    "base",
    [ChoirClassifier(random_state=0), DaspClassifier(epochs=2, random_state=0), TangentSpaceLR()],
    ids=lambda base: type(base).__name__,
)
def test_models_refuse_epochs_of_another_kind(raw, base):
    """Another band, window, rate or reference; epochs with the option ``covariance`` too."""
    filtered = raw.copy().filter(8, 32, verbose="error")
    epochs = cut(filtered, 0.5, 3.5)
    covariances = clone(base).fit(stiefel.from_epochs(epochs, covariance="sample"))
    within = clone(base).set_params(covariance="sample").fit(epochs)
    slow = raw.copy().filter(1, 4, verbose="error")
    average = filtered.copy().set_eeg_reference("average", verbose="error")
    for words, other in [
        ("bands and windows: .*8–32 Hz, 0.5–3.5 s, but .*1–4 Hz", cut(slow, 0.5, 3.5)),
        ("bands and windows: .*0.5–3.5 s, but .*3.6", cut(filtered, 3.6, 4.0)),
        ("sampling rate: .*128 Hz, but .*64 Hz", cut(filtered, 0.5, 3.5).load_data().resample(64)),
        ("reference: .*as-recorded, but .*average", cut(average, 0.5, 3.5)),
    ]:
        with pytest.raises(ValueError, match=words):
            within.predict(other)
        with pytest.raises(ValueError, match=words):
            covariances.predict(stiefel.from_epochs(other, covariance="sample"))
    with pytest.raises(ValueError, match="estimator: .*sample, but .*oas"):
        covariances.predict(stiefel.from_epochs(epochs, covariance="oas"))
    same = cut(filtered, 0.5, 3.5)
    np.testing.assert_array_equal(
        covariances.predict(stiefel.from_epochs(same, covariance="sample")), within.predict(same)
    )


def test_the_band_of_arrays_is_told(raw):
    """``info`` of arrays knows of no filter; what the user says does not contradict what it
    knows."""
    epochs = cut(raw, 0.5, 3.5)
    plain = stiefel.from_epochs(epochs)
    assert plain.preparation["view"] == "0-64@0.5-3.5" and "filter not known" in str(
        plain.preparation
    )
    told = stiefel.from_epochs(epochs, band=(8, 30))
    assert told.preparation["view"] == "8-30@0.5-3.5"
    filtered = cut(raw.copy().filter(8, 32, verbose="error"), 0.5, 3.5)
    with pytest.raises(ValueError, match="band says 10 Hz, but info.'highpass'. says 8 Hz"):
        stiefel.from_epochs(filtered, band=(10, 32))


# Arrays ------------------------------------------------------------------------------------------


def test_views_of_arrays():
    rng = np.random.default_rng(0)
    t = np.arange(800) / 160
    epochs = rng.normal(size=(5, 3, 800))
    epochs[:, 0] += 20 * np.sin(2 * np.pi * 12 * t)
    found = Views(sfreq=160).fit_transform(epochs)
    assert found.shape == (5, 6, 3, 3) and (found.y, found.domains, found.channels) == (None,) * 3
    assert str(found).startswith("5 trials of 3 channels, 6 views; 160 Hz")
    # A tone of 12 Hz on the first channel is in the views of 10–14 Hz, and not in those of 20–28
    # Hz.
    assert (found.X[:, 1, 0, 0] > 100 * found.X[:, 2, 0, 0]).all()
    one = Views("20-28@0.25-2.25", sfreq=160).transform(epochs)
    np.testing.assert_array_equal(one.X, found.X[:, 4])
    for recipe, words in [
        ("60-90@0.5-3.5", "80"),
        ("8-32@0.5-9", "reaches beyond the trials, which last from 0 to 5 s"),
        ("wide", "is not a view"),
        ({"band": (30.0, 8.0)}, "a low and a higher frequency"),
        ({"band": 8.0}, "two numbers"),
        ({"views": "8-32@0.5-3.5", "window": (1, 2)}, "leave band and window out"),
        ({"wide": 1}, "unknown field `wide`"),
        (3, "a recipe is a name, a dictionary or a Preparation"),
    ]:
        with pytest.raises(ValueError, match=words):
            Views(recipe, sfreq=160).fit(epochs).transform(epochs)
    with pytest.raises(ValueError, match="sfreq is needed"):
        Views().transform(epochs)
    moved = Views("8-32@0.5-3.5", sfreq=160, tmin=-1.0).transform(epochs)
    same = Views("8-32@1.5-4.5", sfreq=160).transform(epochs)
    np.testing.assert_array_equal(moved.X, same.X)


def test_arrays_in_a_pipeline_of_scikit_learn(raw):
    epochs = cut(raw)
    x, y = epochs.get_data(copy=True) * 1e6, stiefel.from_epochs(epochs).y
    pipeline = make_pipeline(Views(sfreq=RATE, tmin=-1.0), ChoirClassifier(random_state=0))
    assert cross_val_score(pipeline, x, y, cv=3, error_score="raise").mean() > 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(pipeline).fit(x, y).predict(x[:3]).shape == (3,)
    grid = pipeline.set_params(views__recipe="broad").fit(x, y)
    assert grid[-1].n_views_ == 1


def test_trials_print_what_they_are(study):
    assert str(study).startswith("70 trials of 13 channels, 2 classes, 3 domains; 512 Hz")
    views = stiefel.Trials(np.stack([study.X] * 6, axis=1), study.y, study.domains)
    assert str(views) == "70 trials of 13 channels, 6 views, 2 classes, 3 domains"
    assert str(views[:1]) == "1 trials of 13 channels, 6 views, 1 class, 1 domain"
