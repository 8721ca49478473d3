"""Files, synthetic studies, MNE's objects, the routing report."""

import gzip
import re

import numpy as np
import pytest

import stiefel

mne = pytest.importorskip("mne")


def test_synthetic_studies(study):
    assert study.X.shape[1:] == (13, 13)
    assert len(study) == len(study.X) == len(study.domains)
    assert set(study.y) == {"right_hand", "feet"}
    again = stiefel.load_synthetic("BNCI2015001", subjects=3, trials_per_class=12, random_state=1)
    np.testing.assert_array_equal(again.X, study.X)
    assert set(study.subjects) == {"S01", "S02", "S03"} and study.channels[6] == "Cz"
    assert "8–32 Hz" in str(study.preparation) and study.preparation["recipe"]["rate"] == 512.0
    assert str(study).startswith(
        f"{len(study)} trials of 13 channels, 2 classes, 3 domains; 512 Hz, 8–32 Hz"
    )
    with pytest.raises(ValueError, match="no synthetic geometry"):
        stiefel.load_synthetic("BNCI")


def write_brainvision(folder, data, sfreq):
    """A minimal BrainVision recording, as any amplifier writes it."""
    n, samples = data.shape
    (folder / "a.eeg").write_bytes(data.T.astype("<f4").tobytes())
    channels = "\n".join(f"Ch{i + 1}=E{i},,1,µV" for i in range(n))
    (folder / "a.vhdr").write_text(
        "Brain Vision Data Exchange Header File Version 1.0\n[Common "
        "Infos]\nCodepage=UTF-8\nDataFile=a.eeg\nMarkerFile=a.vmrk\n"
        "DataFormat=BINARY\nDataOrientation=MULTIPLEXED\n"
        f"NumberOfChannels={n}\nSamplingInterval={1e6 / sfreq:g}\n[Binary "
        "Infos]\nBinaryFormat=IEEE_FLOAT_32\n"
        f"[Channel Infos]\n{channels}\n",
        encoding="utf-8",
    )
    (folder / "a.vmrk").write_text(
        "Brain Vision Data Exchange Marker File, Version 1.0\n[Common "
        "Infos]\nCodepage=UTF-8\nDataFile=a.eeg\n[Marker Infos]\n"
        "Mk1=Stimulus,S  1,51,1,0\nMk2=Stimulus,S  2,101,1,0\n",
        encoding="utf-8",
    )
    return folder / "a.vhdr"


def test_read_raw(tmp_path):
    data = np.random.default_rng(0).standard_normal((3, 250)).astype("<f4").astype(float)
    path = write_brainvision(tmp_path, data, 250.0)
    found = stiefel.read_raw(path)
    np.testing.assert_allclose(found.data, data, atol=1e-6)
    assert (found.sfreq, found.ch_names) == (250.0, ["E0", "E1", "E2"])
    assert [e[0] for e in found.events] == [50, 100]
    ours, theirs = found.to_mne(), mne.io.read_raw_brainvision(path, verbose="error")
    np.testing.assert_allclose(ours.get_data(), theirs.get_data(), atol=1e-12)
    assert len(ours.annotations) == len(found.events)
    with pytest.raises(ValueError, match="no number 4"):
        stiefel.read_raw(path, index=4)
    with pytest.raises(FileNotFoundError, match="missing"):
        stiefel.read_raw(tmp_path / "missing.edf")


def test_read_raw_limits_what_packed_files_expand_to(tmp_path):
    packed = tmp_path / "a.edf.gz"
    packed.write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(Exception, match="512 KiB; raise this limit"):
        stiefel.read_raw(packed, max_expanded=1 << 19)


def test_read_raw_of_mne_files(tmp_path):
    """FIF as MNE writes it, with a stim channel, annotations and a date; back to MNE without
    loss."""
    rng = np.random.default_rng(1)
    data = rng.standard_normal((3, 300)) * 1e-5
    data[2] = 0
    data[2, 50:53], data[2, 200] = 5, 7
    info = mne.create_info(["C3", "C4", "STI 014"], 100.0, ["eeg", "eeg", "stim"])
    raw = mne.io.RawArray(data, info, verbose="error")
    raw.set_meas_date(1_600_000_000.5)
    raw.set_annotations(mne.Annotations([1.0], [0.5], ["cue"]))
    raw.save(tmp_path / "a_raw.fif", fmt="double", verbose="error")
    found = stiefel.read_raw(tmp_path / "a_raw.fif")
    np.testing.assert_allclose(found.data[:2], data[:2] * 1e6, rtol=1e-12)
    assert [(e[0], e[3]) for e in found.events] == [(50, "5"), (100, "cue"), (200, "7")]
    assert found.started == 1_600_000_000.5
    again = found.to_mne()
    # Codes stay codes: MNE finds them, and the date is there.
    assert mne.find_events(again, shortest_event=1, verbose="error")[:, [0, 2]].tolist() == [
        [50, 5],
        [200, 7],
    ]
    assert again.info["meas_date"] == raw.info["meas_date"]
    np.testing.assert_allclose(again.get_data(), raw.get_data(), rtol=1e-12, atol=1e-18)
    quiet = stiefel.read_raw(tmp_path / "a_raw.fif", markers="off", channels=["C4"])
    assert quiet.ch_names == ["C4"] and [e[3] for e in quiet.events] == ["cue"]
    np.testing.assert_allclose(quiet.data[0], data[1] * 1e6, rtol=1e-12)
    with pytest.raises(ValueError, match="there is no channel Oz"):
        stiefel.read_raw(tmp_path / "a_raw.fif", channels=["Oz"])
    with pytest.raises(ValueError, match="polarity=up"):
        stiefel.read_raw(tmp_path / "a_raw.fif", markers="polarity=up")
    cut = tmp_path / "cut_raw.fif"
    cut.write_bytes((tmp_path / "a_raw.fif").read_bytes()[:-2000])
    with pytest.raises(ValueError, match="partial"):
        stiefel.read_raw(cut)
    assert stiefel.read_raw(cut, partial=True).notes


def test_samples_are_handed_over_without_a_copy(tmp_path):
    """The array owns what the reader decoded: reading twice the data takes twice the memory, not
    four times."""
    resource = pytest.importorskip("resource")
    n, samples = 32, 400_000
    path = write_brainvision(tmp_path, np.zeros((n, samples)), 250.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = stiefel.read_raw(path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert found.data.flags.writeable and found.data.shape == (n, samples)
    assert grown < 1.5 * found.data.nbytes, f"{grown} bytes for {found.data.nbytes}"


def test_matlab_of_any_layout(tmp_path):
    io = pytest.importorskip("scipy.io")
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((6, 4, 50)), np.array([1, 2, 1, 2, 1, 2])
    io.savemat(tmp_path / "mine.mat", {"X": X, "y": y, "Fs": 250.0})
    with pytest.raises(ValueError, match=r"X \[6×4×50\].*say what its variables mean"):
        stiefel.load_dataset(tmp_path / "mine.mat")
    found = stiefel.load_dataset(
        tmp_path / "mine.mat", mat="signal=X,rate=Fs,labels=y,axis=trials-channels-time"
    )
    assert found.y.tolist() == ["1", "2", "1", "2", "1", "2"] and found.X.shape == (6, 4, 4)
    centred = X[3] - X[3].mean(1, keepdims=True)
    np.testing.assert_allclose(found.X[3], centred @ centred.T / 49, rtol=1e-9)


def test_more_than_the_memory_is_a_memory_error(tmp_path):
    """Decided before anything is reserved: a sparse file of two terabytes."""
    path = write_brainvision(tmp_path, np.zeros((2, 10)), 250.0)
    with open(tmp_path / "a.eeg", "r+b") as file:
        try:
            file.truncate(2 << 40)
        except OSError:
            pytest.skip("the file system has no sparse files of this size")
    with pytest.raises(MemoryError, match="MB of memory"):
        stiefel.read_raw(path)
    # Few numbers of many channels: their covariances would take 1.3 terabytes.
    np.savez(
        tmp_path / "wide.npz", X=np.zeros((1, 400_000, 2), np.int8), y=np.array(["a"]), sfreq=100.0
    )
    with pytest.raises(
        MemoryError, match="the covariances: its content needs 1280000 MB of memory"
    ):
        stiefel.load_dataset(tmp_path / "wide.npz")


def test_the_conversion_that_a_refusal_names_works(tmp_path, monkeypatch):
    """MATLAB 4 is not read; the line that the message gives makes a file that is."""
    io = pytest.importorskip("scipy.io")
    signal = np.random.default_rng(3).standard_normal((2, 60))
    io.savemat(tmp_path / "old.mat", {"signal": signal, "fs": 250.0}, format="4")
    with pytest.raises(ValueError, match="MATLAB 4") as refused:
        stiefel.read_raw(tmp_path / "old.mat")
    line = re.search(r"scipy\.io\.savemat\(.*\)", str(refused.value))[0]
    monkeypatch.chdir(tmp_path)
    exec(line, {"scipy": __import__("scipy.io")})
    found = stiefel.read_raw("converted.mat", mat="signal=signal,rate=fs,axis=channels")
    np.testing.assert_array_equal(found.data, signal)
    assert found.sfreq == 250.0


def test_datasets_in_files(tmp_path):
    x = np.stack([np.eye(2) * (i + 1) for i in range(4)])
    file = tmp_path / "trials.npz"
    np.savez(file, X=x, y=np.array(["a", "b", "a", "b"]), domain=np.array(["s1", "s1", "s2", "s2"]))
    found = stiefel.load_dataset(file)
    np.testing.assert_array_equal(found.X, x)
    assert found.domains.tolist() == ["s1", "s1", "s2", "s2"]
    with pytest.raises(ValueError, match="loaded whole"):
        stiefel.load_dataset(file, subjects=[1])
    with pytest.raises(ValueError, match="weibo2014"):
        stiefel.load_dataset("weibo2015")


def test_public_datasets_that_are_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("STIEFEL_DATA", str(tmp_path))
    monkeypatch.setenv("MNE_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="A01T.mat|fetch"):
        stiefel.load_dataset("BNCI2014001", subjects=[1])


def test_epochs_there_and_back():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((6, 3, 100)), np.array(["left", "right"] * 3)
    epochs = stiefel.to_epochs(x, ["C3", "Cz", "C4"], 100.0, y)
    found = stiefel.from_epochs(epochs, domain="anna", covariance="sample")
    assert found.y.tolist() == y.tolist()
    assert found.channels == ["C3", "Cz", "C4"]
    assert set(found.domains) == {"anna"}
    np.testing.assert_allclose(found.X, np.stack([np.cov(t) for t in x]), rtol=1e-9)
    with pytest.raises(ValueError, match="6 trials, 2 domains"):
        stiefel.from_epochs(epochs, domains=["a", "b"])


def test_whose_epochs_they_are():
    pandas = pytest.importorskip("pandas")
    x, y = np.random.default_rng(0).standard_normal((6, 3, 100)), np.array(["left", "right"] * 3)
    epochs = stiefel.to_epochs(x, ["C3", "Cz", "C4"], 100.0, y)
    assert set(stiefel.from_epochs(epochs).domains) == {"all"}
    with pytest.raises(
        ValueError,
        match="'anna' is not a column .* these epochs do not have. One name .* is domain='anna'",
    ):
        stiefel.from_epochs(epochs, domains="anna")
    epochs.metadata = pandas.DataFrame({"subject": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0], "run": [1] * 6})
    assert stiefel.from_epochs(epochs, domains="subject").domains.tolist() == [
        "1",
        "1",
        "2",
        "2",
        "3",
        "3",
    ]
    assert stiefel.from_epochs(epochs, domains=[1, 1, 2, 2, 3, 3]).domains.tolist() == [
        "1",
        "1",
        "2",
        "2",
        "3",
        "3",
    ]
    with pytest.raises(
        ValueError,
        match="domains='subjct' is not a column of epochs.metadata, whose columns are subject, run",
    ):
        stiefel.from_epochs(epochs, domains="subjct")
    with pytest.raises(ValueError, match="either domains, .* or domain"):
        stiefel.from_epochs(epochs, domains="subject", domain="anna")
    epochs.metadata.loc[4, "subject"] = np.nan
    with pytest.raises(ValueError, match=r"domains\[4\] is missing"):
        stiefel.from_epochs(epochs, domains="subject")


def test_routing_report(study):
    import matplotlib

    matplotlib.use("Agg")
    clf = stiefel.DaspClassifier(epochs=3, random_state=0).fit(
        study.X, study.y, subjects=study.domains
    )
    report = stiefel.routing_report(clf, study.X, study.y, study.domains)
    assert "balanced accuracy" in str(report) and report.verdict in str(report)
    assert report.seen in str(report) and "none of them is new to the model" in report.seen
    assert str(stiefel.routing_report(clf, study)) == str(report)
    assert report["proxy_gap"]["value"] == pytest.approx(
        report["scores"]["balanced_accuracy"]["value"] - report["proxy_accuracy"]["value"]
    )
    weights = clf.routing_weights(study.X, subjects=study.domains)
    np.testing.assert_array_equal(report.routing, weights)
    assert report.plot_routing().images
    assert len(report.plot_controls().patches) == 5
    info = mne.create_info(study.channels, 128.0, "eeg").set_montage("biosemi64")
    assert report.plot_topomap(info).get_title() == "expert 0, pattern 0"
    with pytest.raises(ValueError, match=r"y\[1\] is 'tongue'"):
        stiefel.routing_report(clf, study.X[:2], ["feet", "tongue"], study.domains[:2])
    with pytest.raises(
        ValueError,
        match="trial 1 belongs to domain 'zoe', .*; the report is about training domains",
    ):
        stiefel.routing_report(clf, study.X[:2], study.y[:2], [study.domains[0], "zoe"])
    plain = stiefel.SPDNetClassifier(epochs=1, random_state=0).fit(
        study.X, study.y, subjects=study.domains
    )
    unrouted = stiefel.routing_report(plain, study.X, study.y, study.domains)
    with pytest.raises(ValueError, match="does not route"):
        unrouted.plot_routing()
    with pytest.raises(ValueError, match="does not route"):
        unrouted.plot_controls()
    # Its one filter has patterns all the same.
    assert unrouted.plot_topomap(info, component=1).get_title() == "pattern 1"


def test_routing_report_of_choir(study):
    import matplotlib

    matplotlib.use("Agg")
    clf = stiefel.ChoirClassifier(random_state=0).fit(study.X, study.y, subjects=study.domains)
    report = stiefel.routing_report(clf, study.X, study.y, study.domains)
    assert report["scores"]["balanced_accuracy"]["value"] == pytest.approx(
        clf.score(study.X, study.y, subjects=study.domains)
    )
    assert report["controls"]["domain_mean"] == report["scores"]["balanced_accuracy"]["value"]
    assert len(report.plot_controls().patches) == 5
    assert report.patterns.shape == (1, 13, 13)
    with pytest.raises(ValueError, match="does not route"):
        report.plot_routing()


@pytest.mark.parametrize("options", [{}, {"method": "pca"}, {"precondition": False}], ids=str)
def test_patterns_are_those_of_the_filters_on_the_sensors(options, study):
    """The formula step by step: filters on the sensors, their patterns, the directions in which the
    classes differ."""
    x, y, d = study.X, study.y, study.domains
    whole = {
        "validation_fraction": 0,
        "training": stiefel.Training(precision="f64"),
        "epochs": 2,
        "random_state": 0,
    }
    own = options if "precondition" in options else {"whitening": stiefel.Whitening(**options)}
    clf = stiefel.DaspClassifier(**whole, **own).fit(x, y, subjects=d)
    report = stiefel.routing_report(clf, x, y, d)
    k, n = clf.experts_.shape[2], clf.n_features_in_
    assert report.patterns.shape == (len(clf.experts_), k, n)
    mean = np.mean([x[d == name].mean(axis=0) for name in clf.domains_], axis=0)
    if "precondition" in options:
        whitened, z = x, np.eye(n)
    else:
        whitened = stiefel.DomainWhitening(**options).fit_transform(x, sample_domain=d)
        values, vectors = np.linalg.eigh(mean)
        vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(n)])
        z = stiefel.spd.invsqrtm(mean) if not options else (vectors / np.sqrt(values)).T[::-1]
    spread = [whitened[y == c].mean(axis=0) - whitened.mean(axis=0) for c in clf.classes_]
    for w, found in zip(clf.experts_, report.patterns):
        on_sensors = z.T @ w
        patterns = mean @ on_sensors @ np.linalg.inv(on_sensors.T @ mean @ on_sensors)
        _, v = np.linalg.eigh(sum((w.T @ s @ w) @ (w.T @ s @ w) for s in spread))
        expected = (patterns @ v[:, ::-1]).T
        expected *= np.sign(expected[np.arange(k), np.abs(expected).argmax(axis=1)])[:, None]
        # Directions that the classes hardly differ in are not told apart.
        np.testing.assert_allclose(
            found[:2], expected[:2], rtol=0, atol=1e-5 * np.abs(expected).max()
        )
