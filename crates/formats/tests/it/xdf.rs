//! XDF as pyxdf reads it.

use crate::common;
use stiefel_formats::{ChannelKind, Recording};
use stiefel_formats::{ReadOptions, Source, read, read_from, read_with};

fn recordings(name: &str) -> Vec<Recording> {
    let path = common::path(&format!("xdf/{name}"));
    read(path).unwrap().into_recordings().unwrap()
}

#[test]
fn signal_and_markers_are_what_pyxdf_reads() {
    for name in ["two_clocks.xdf", "break.xdf", "reset.xdf"] {
        let all = recordings(name);
        let meta = common::json(&format!("xdf/{name}.json"));
        let stretches = meta["stretches"].as_array().unwrap();
        assert_eq!(all.len(), stretches.len(), "{name}");
        let want = common::npy(&format!("xdf/{name}.npy"));
        let total = want.len() / all[0].channels().len();
        let mut events = Vec::new();
        for (recording, stretch) in all.iter().zip(stretches) {
            let from = stretch[0].as_u64().unwrap() as usize;
            assert_eq!(recording.samples() as u64, stretch[1].as_u64().unwrap());
            assert_eq!(recording.sampling_rate(), meta["rate"].as_f64().unwrap());
            for c in 0..recording.channels().len() {
                let row = &want[c * total + from..][..recording.samples()];
                common::assert_close(recording.channel(c), row, 1e-9);
            }
            events.extend(
                recording
                    .events()
                    .iter()
                    .map(|e| (e.sample + from, e.label.clone())),
            );
        }
        let wanted: Vec<_> = (meta["events"].as_array().unwrap().iter())
            .map(|e| {
                (
                    e["sample"].as_u64().unwrap() as usize,
                    e["label"].as_str().unwrap().to_string(),
                )
            })
            .collect();
        assert_eq!(events, wanted, "{name}");
    }
}

#[test]
fn channels_have_names_kinds_and_units() {
    let all = recordings("two_clocks.xdf");
    let names: Vec<_> = all[0].channels().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["C3", "C4", "EOG"]);
    assert_eq!(all[0].channels()[2].kind, ChannelKind::Eog);
    assert!(all[0].channels().iter().all(|c| c.unit == "µV"));
    let note = all[0].notes().join("\n");
    assert!(
        note.contains("says 100 Hz and was recorded at 99.8999 Hz"),
        "{note}"
    );
}

#[test]
fn the_stream_can_be_chosen() {
    let open = |name: &str, stream: Option<&str>| {
        let options = ReadOptions {
            stream: stream.map(str::to_owned),
            ..ReadOptions::default()
        };
        read_with(
            Source::open(common::path(&format!("xdf/{name}"))).unwrap(),
            &options,
        )
    };
    let error = open("several.xdf", None).unwrap_err().to_string();
    assert!(
        error.contains("the option `stream`")
            && error.contains("1 Left (EEG, 1 channel at 50 Hz, 4 samples)"),
        "{error}"
    );
    for chosen in ["right", "2"] {
        let all = open("several.xdf", Some(chosen))
            .unwrap()
            .into_recordings()
            .unwrap();
        assert_eq!(all[0].data(), [2.0; 4]);
    }
    let pad = open("two_clocks.xdf", Some("Accelerometer"))
        .unwrap()
        .into_recordings()
        .unwrap();
    assert_eq!((pad[0].channels().len(), pad[0].sampling_rate()), (2, 50.0));
    for (name, stream, reason) in [
        ("several.xdf", Some("EEG"), "2 streams are called EEG"),
        ("several.xdf", Some("up"), "there is no stream up"),
        (
            "two_clocks.xdf",
            Some("Cues"),
            "does not hold a regular signal",
        ),
        ("none.xdf", None, "no stream holds a regular signal"),
    ] {
        let error = open(name, stream).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(name), "{error}");
    }
}

#[test]
fn a_cut_file_is_refused_or_read_as_far_as_it_goes() {
    let bytes = common::bytes("xdf/two_clocks.xdf");
    let cut = &bytes[..bytes.len() * 2 / 3];
    let options = |partial| ReadOptions {
        partial,
        ..ReadOptions::default()
    };
    assert!(read_with(Source::from_bytes("cut.xdf", cut), &options(false)).is_err());
    let all = read_with(Source::from_bytes("cut.xdf", cut), &options(true));
    let all = all.unwrap().into_recordings().unwrap();
    assert!(all[0].samples() >= 100 && all[0].notes()[0].contains("read up to byte"));
}

/// A stream whose header tells another rate than its time stamps do.
fn telling(rate: f64) -> Recording {
    let header = format!(
        "<info><name>amp</name><type>EEG</type><channel_count>1</\
         channel_count><nominal_srate>{rate}</nominal_srate><channel_format>float32</\
         channel_format></info>"
    );
    let mut bytes = b"XDF:".to_vec();
    let mut chunk = |tag: u16, content: &[u8]| {
        bytes.push(4);
        bytes.extend((content.len() as u32 + 2).to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend(content);
    };
    chunk(1, b"<info><version>1.0</version></info>");
    let id = 1_u32.to_le_bytes();
    chunk(2, &[&id[..], header.as_bytes()].concat());
    let mut samples = [&id[..], &[4], &600_u32.to_le_bytes()].concat();
    for k in 0..600 {
        samples.push(8);
        samples.extend((5.0 + f64::from(k) / 96.3).to_le_bytes());
        samples.extend((k as f32).to_le_bytes());
    }
    chunk(3, &samples);
    let found = read_from(Source::from_bytes("a.xdf", &bytes)).unwrap();
    found.into_recordings().unwrap().remove(0)
}

#[test]
fn a_rate_that_is_wrong_gives_way_to_the_one_that_was_recorded() {
    let right = telling(96.0);
    assert_eq!(right.sampling_rate(), 96.0);
    assert!(
        right.notes()[0].ends_with("was recorded at 96.3000 Hz"),
        "{:?}",
        right.notes()
    );
    let wrong = telling(125.0);
    assert_eq!((wrong.sampling_rate(), wrong.samples()), (96.3, 600));
    let note = "says 125 Hz and was recorded at 96.3000 Hz, which is taken";
    assert!(wrong.notes()[0].contains(note), "{:?}", wrong.notes());
}
