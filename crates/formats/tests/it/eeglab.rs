//! EEGLAB, FieldTrip, MATLAB 7.3 and MATLAB of any layout, as independent programs write them.

use crate::common;
use stiefel_formats::{ChannelKind, Epochs, Recording, Result};
use stiefel_formats::{Content, MarkerRule, ReadOptions, Source, read, read_with};

fn file(name: &str) -> std::path::PathBuf {
    common::path(&format!("eeglab/{name}"))
}

fn by_rule(name: &str, rule: &str) -> Result<Content> {
    let options = ReadOptions {
        mat: Some(rule.parse()?),
        markers: MarkerRule::default(),
        ..ReadOptions::default()
    };
    read_with(Source::open(file(name))?, &options)
}

fn labels(epochs: &Epochs) -> Vec<&str> {
    epochs.trials().iter().map(|t| t.label.as_str()).collect()
}

fn marks(recording: &Recording) -> Vec<(usize, &str)> {
    let events = recording.events().iter();
    events.map(|e| (e.sample, e.label.as_str())).collect()
}

#[test]
fn continuous_sets_are_what_mne_reads() {
    for name in ["exported.set", "fields.set"] {
        let all = read(file(name)).unwrap().into_recordings().unwrap();
        assert_eq!(all.len(), 1);
        let meta = common::json(&format!("eeglab/{name}.json"));
        let names: Vec<_> = all[0].channels().iter().map(|c| c.name.clone()).collect();
        assert_eq!(names, common::strings(&meta["channels"]));
        let want = common::npy(&format!("eeglab/{name}.npy"));
        common::assert_close(all[0].data(), &want, 1e-9);
        let wanted = common::events(&meta["events"]);
        for (got, want) in all[0].events().iter().zip(&wanted) {
            assert_eq!((got.sample, &got.label), (want.sample, &want.label));
            assert!((got.duration - want.duration).abs() < 1e-9);
        }
        assert_eq!(all[0].events().len(), wanted.len());
        assert_eq!(all[0].channels()[3].kind, ChannelKind::Eog);
    }
    let all = read(file("fields.set")).unwrap().into_recordings().unwrap();
    assert!(
        all[0].notes()[0].contains("cut at 1 places"),
        "{:?}",
        all[0].notes()
    );
}

#[test]
fn epochs_have_the_class_of_their_time_zero() {
    let epochs = read(file("exported_epochs.set"))
        .unwrap()
        .into_epochs()
        .unwrap();
    let meta = common::json("eeglab/exported_epochs.set.json");
    assert_eq!(labels(&epochs), common::strings(&meta["labels"]));
    common::assert_close(
        epochs.data(),
        &common::npy("eeglab/exported_epochs.set.npy"),
        1e-9,
    );
    // MATLAB 7.3: a key press before or after the cue does not count.
    let epochs = read(file("seven_epochs.set"))
        .unwrap()
        .into_epochs()
        .unwrap();
    assert_eq!(labels(&epochs), ["left", "right", "left"]);
    common::assert_close(
        epochs.data(),
        &common::npy("eeglab/seven_epochs.npy"),
        1e-12,
    );
    assert_eq!(epochs.channels()[3].kind, ChannelKind::Eog);
    assert_eq!(epochs.sampling_rate(), 64.0);
}

#[test]
fn a_set_without_its_signal_says_where_it_should_be() {
    let bytes = common::bytes("eeglab/fields.set");
    let error = read_with(Source::from_bytes("a.set", &bytes), &ReadOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("\"fields.fdt\", which should lie beside"),
        "{error}"
    );
    // A renamed pair is found by the name of the .set.
    let fdt = common::bytes("eeglab/fields.fdt");
    let source = Source::from_bytes("a.set", &bytes).with_sibling("a.fdt", &fdt);
    assert!(read_with(source, &ReadOptions::default()).is_ok());
    let source = Source::from_bytes("a.set", &bytes).with_sibling("a.fdt", &fdt[1..]);
    let error = read_with(source, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("take 1440 bytes, the file has 1439"),
        "{error}"
    );
    assert!(error.contains("with the option `partial`"), "{error}");
    // The complete samples can be had.
    let partial = ReadOptions {
        partial: true,
        ..ReadOptions::default()
    };
    let whole = read(file("fields.set")).unwrap().into_recordings().unwrap();
    let source = Source::from_bytes("a.set", &bytes).with_sibling("a.fdt", &fdt[..1439]);
    let all = read_with(source, &partial).unwrap().into_recordings();
    let cut = &all.unwrap()[0];
    assert_eq!(cut.samples() + 1, whole[0].samples());
    for c in 0..cut.channels().len() {
        assert_eq!(cut.channel(c), &whole[0].channel(c)[..cut.samples()]);
    }
    assert!(
        cut.notes().iter().any(|n| n.contains("take 1440 bytes")),
        "{:?}",
        cut.notes()
    );
}

#[test]
fn fieldtrip_raw_and_trials() {
    let epochs = read(file("fieldtrip.mat")).unwrap().into_epochs().unwrap();
    assert_eq!(labels(&epochs), ["7", "8", "7"]);
    let want = common::npy("eeglab/seven_epochs.npy");
    // Three channels in volts, one in microvolts.
    for (i, (got, want)) in epochs.data().chunks(16).zip(want.chunks(16)).enumerate() {
        let gain = if i % 4 == 3 { 1.0 } else { 1e6 };
        let want: Vec<f64> = want.iter().map(|v| v * gain).collect();
        common::assert_close(got, &want, 1e-12);
    }
    let all = read(file("fieldtrip_raw.mat"))
        .unwrap()
        .into_recordings()
        .unwrap();
    assert_eq!(
        (all.len(), all[0].samples(), all[0].sampling_rate()),
        (1, 16, 64.0)
    );
}

#[test]
fn any_layout_by_a_rule() {
    let want = common::npy("eeglab/fields.set.npy");
    // Runs in cells: signal, rate, onsets and labels by path.
    let one = by_rule(
        "any.mat",
        "signal=runs{2}.EEG.x,rate=runs{2}.EEG.Fs,onsets=runs{2}.onset,labels=runs{2}.label,\
         axis=time,names=names",
    );
    let one = one.unwrap().into_recordings().unwrap();
    assert_eq!(
        (one.len(), one[0].samples(), one[0].sampling_rate()),
        (1, 50, 64.0)
    );
    assert_eq!(marks(&one[0]), [(4, "left"), (19, "right")]);
    common::assert_close(one[0].channel(2), &want[180..230], 1e-9);
    assert_eq!(one[0].channels()[1].name, "Cz");
    // All runs at once have no common labels.
    let all = by_rule("any.mat", "signal=runs.EEG.x,rate=64,axis=time").unwrap();
    assert_eq!(all.into_recordings().unwrap().len(), 2);
    // Trials; the axes follow from names and labels, or are told.
    let cube = common::npy("eeglab/seven_epochs.npy");
    for rule in [
        "signal=trials,rate=fs,labels=y,axis=time-channels-trials",
        "signal=trials,rate=fs,labels=y,names=names",
    ] {
        let epochs = by_rule("any.mat", rule).unwrap().into_epochs().unwrap();
        assert_eq!(labels(&epochs), ["2", "1", "2"]);
        assert_eq!(epochs.sampling_rate(), 128.0);
        common::assert_close(epochs.data(), &cube, 1e-12);
    }
    // A label per sample is a line of markers; volts.
    let line = by_rule(
        "any.mat",
        "signal=flat,rate=64,labels=line,axis=channels,unit=V",
    )
    .unwrap();
    let line = line.into_recordings().unwrap();
    assert_eq!(marks(&line[0]), [(10, "1"), (25, "2")]);
    common::assert_close(line[0].data(), &want, 1e-6);
    // 7.3.
    let h5 = by_rule("chunks.mat", "signal=signal,rate=fs,names=names").unwrap();
    let h5 = h5.into_recordings().unwrap();
    common::assert_close(h5[0].data(), &common::npy("eeglab/chunks.npy"), 1e-12);
}

#[test]
fn what_is_not_certain_is_refused_with_what_would_read_it() {
    for (name, parts) in [
        (
            "not_weibo.mat",
            [
                "data [64×8×5], label [5×1], fs [1×1]",
                "signal=data,rate=fs,labels=label,axis=time-channels-trials",
            ],
        ),
        (
            "numeric_eeg.mat",
            ["EEG [3×50]", "signal=EEG,rate=fs,axis=channels"],
        ),
        (
            "any.mat",
            [
                "runs {1×2} of struct [1×1] (EEG struct [1×1], onset [1×2], label {1×2})",
                "the option `mat`",
            ],
        ),
    ] {
        let error = read(file(name)).unwrap_err().to_string();
        assert!(parts.iter().all(|p| error.contains(p)), "{error}");
    }
    for (rule, reason) in [
        ("signal=nothing,rate=1", "there is nothing at nothing"),
        (
            "signal=runs.EEG.y,rate=1",
            "there is nothing at runs.EEG.y behind runs.EEG",
        ),
        (
            "signal=trials,rate=fs",
            "not clear which axis of trials [16×4×3]",
        ),
        ("signal=flat,axis=time", "sampling rate is not known"),
        ("signal=flat,rate=64", "axis=time or axis=channels"),
        (
            "signal=flat,rate=64,axis=channels,labels=y",
            "3 labels for 90 samples",
        ),
        (
            "signal=flat,rate=64,axis=time,names=names",
            "90 channels have 4 names",
        ),
        ("signal=names,rate=64,axis=time", "is a cell array"),
        ("rate=64", "which variable is the signal"),
        ("signal=flat,colour=blue", "does not say what"),
        ("signal=flat,axis=time-time", "does not say what"),
    ] {
        let error = by_rule("any.mat", rule).unwrap_err().to_string();
        assert!(error.contains(reason), "{rule}: {error}");
    }
}
