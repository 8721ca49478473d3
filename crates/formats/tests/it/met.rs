//! What is met in the wild: formats that are named or read, limits, lists in messages.

use crate::common;
use std::fmt::Write as _;
use std::io::Write as _;

use stiefel_formats::ChannelKind::{Eeg, Misc};
use stiefel_formats::{Channel, ChannelKind, FormatError, Recording, Result};
use stiefel_formats::{Limits, ReadOptions, Source, read, read_from, read_with};

fn one(name: &str, bytes: &[u8]) -> Result<Recording> {
    let found = read_from(Source::from_bytes(name, bytes))?;
    Ok(found.into_recordings()?.remove(0))
}

#[test]
fn recorders_that_are_not_read_are_named() {
    for (name, start) in [
        ("a.eeg", &b"EEG-1100A V01.00"[..]),
        ("a.pnt", b"EEG-1200A V01.00"),
        ("a.log", b"QI-403A   V02.00"),
        ("a.EEG", b"DAE-2100D V01.30"),
    ] {
        let error = one(name, start).unwrap_err();
        assert!(
            matches!(error, FormatError::Unsupported { .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains("Nihon Kohden") && text.contains("MNE-BIDS"),
            "{text}"
        );
    }
    // HDF5 without MATLAB's text, and with the group of SNIRF.
    let mut bytes = common::bytes("eeglab/chunks.mat")[512..].to_vec();
    let at = bytes.windows(6).position(|w| w == b"names\0").unwrap();
    bytes[at..at + 6].copy_from_slice(b"nirs\0\0");
    let text = one("a.snirf", &bytes).unwrap_err().to_string();
    assert!(
        text.contains("SNIRF") && text.contains("read_raw_snirf"),
        "{text}"
    );
}

#[test]
fn an_empty_file_is_called_empty() {
    for name in ["a.edf", "a.mat", "a.eeg", "a.csv", "a.vhdr"] {
        let error = one(name, b"").unwrap_err();
        assert_eq!(error.short(), "the file is empty", "{name}: {error}");
    }
}

#[test]
fn the_header_of_a_vamp_leads_to_its_samples() {
    let header = String::from_utf8(common::bytes("brainvision/int16.vhdr")).unwrap();
    let header = header.replace(
        "Brain Vision Data Exchange Header",
        "Brain Vision V-Amp Data Header",
    );
    // Every frame ends in a number more than there are channels.
    let frames = common::bytes("brainvision/int16.eeg");
    let frames: Vec<u8> = (frames.chunks_exact(8))
        .flat_map(|frame| [frame, &[77, 0]].concat())
        .collect();
    let vmrk = common::bytes("brainvision/int16.vmrk");
    let source = Source::from_bytes("a.ahdr", header.as_bytes())
        .with_sibling("int16.eeg", &frames)
        .with_sibling("int16.vmrk", &vmrk);
    let found = read_from(source).unwrap().into_recordings().unwrap();
    let whole = read(common::path("brainvision/int16.vhdr")).unwrap();
    let whole = whole.into_recording().unwrap();
    assert_eq!(found[0].data(), whole.data());
    assert_eq!(found[0].events(), whole.events());
}

/// A file of OpenBCI's GUI without names of columns.
fn openbci(comments: &str, channels: usize, end: &str) -> String {
    let mut text = format!("%OpenBCI Raw EEG Data\n{comments}%Sample Rate = 250.0 Hz\n");
    for row in 0..50 {
        let _ = write!(text, "{row}");
        for channel in 0..channels {
            let _ = write!(text, ", {}.5", 100 * channel + row);
        }
        let _ = writeln!(text, ", 0.01, 0.02, 0.98{end}");
    }
    text
}

#[test]
fn openbci_files_without_names_are_read() {
    let told = "%Number of channels = 5\n%First Column = SampleIndex\n";
    for (comments, channels, end) in [
        ("%\n", 8, ""),
        ("%\n", 4, ", 18:51:16.059"),
        ("%\n", 16, ", 18:51:16.059, 1489500855123"),
        (told, 5, ", 13:14:15.123, 1489500855123"),
    ] {
        let text = openbci(comments, channels, end);
        let read = one("OpenBCI-RAW-1.txt", text.as_bytes()).unwrap();
        assert_eq!(
            (read.sampling_rate(), read.samples()),
            (250.0, 50),
            "{text}"
        );
        let kinds: Vec<ChannelKind> = read.channels().iter().map(|c| c.kind).collect();
        assert_eq!(kinds, [vec![Eeg; channels], vec![Misc; 3]].concat());
        assert_eq!(read.channel(1)[..2], [100.5, 101.5]);
        assert_eq!(read.channel(channels + 2)[0], 0.98);
    }
    let unclear = openbci("%\n", 5, ", 18:51:16.059");
    let text = one("a.txt", unclear.as_bytes()).unwrap_err().to_string();
    assert!(text.contains("fit no board of OpenBCI"), "{text}");
}

#[test]
fn the_last_tag_of_a_fif_file_may_point_anywhere() {
    let mut bytes = common::bytes("fif/double_raw.fif");
    let whole = one("a_raw.fif", &bytes).unwrap();
    let word = |bytes: &[u8], at: usize| i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut first) = (0, None);
    while at + 16 + word(&bytes, at + 8) as usize != bytes.len() {
        let next = word(&bytes, at + 12);
        first.get_or_insert(at);
        at = match next {
            0 => at + 16 + word(&bytes, at + 8) as usize,
            next => usize::try_from(next).unwrap(),
        };
    }
    for back in [0x24_i32, -7] {
        bytes[at + 12..at + 16].copy_from_slice(&back.to_be_bytes());
        assert_eq!(one("a_raw.fif", &bytes).unwrap(), whole, "{back}");
    }
    // One in the middle leads in a circle.
    let second = 16 + word(&bytes, 8) as usize;
    bytes[second + 12..second + 16].copy_from_slice(&4_i32.to_be_bytes());
    let text = one("a_raw.fif", &bytes).unwrap_err().to_string();
    assert!(
        text.contains("FIF") && text.contains("save it again"),
        "{text}"
    );
}

#[test]
fn what_packed_files_expand_to_has_a_limit_that_is_told() {
    assert_eq!(ReadOptions::default().limits.max_expanded, 2 << 30);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&vec![b' '; 3 << 20]).unwrap();
    let packed = packed.finish().unwrap();
    let limits = Limits {
        max_expanded: 2 << 20,
        ..Limits::default()
    };
    let options = ReadOptions {
        limits,
        ..ReadOptions::default()
    };
    let found = read_with(Source::from_bytes("a.edf.gz", &packed), &options);
    let text = found.unwrap_err().to_string();
    assert!(text.contains("2 MiB; raise this limit"), "{text}");
    assert!(
        !text.contains("max_expanded") && !text.contains("--"),
        "{text}"
    );
}

#[test]
fn lists_of_names_stay_short() {
    let channel = |i: usize| Channel {
        name: format!("{i}{}", "x".repeat(300_000)),
        kind: Eeg,
        unit: "µV".into(),
    };
    let channels: Vec<Channel> = (0..64).map(channel).collect();
    let recording = Recording::new(channels, 100.0, vec![0.0; 64], Vec::new()).unwrap();
    let long = "y".repeat(300_000);
    for wanted in [vec!["Cz"; 40], vec![long.as_str(); 2]] {
        let text = recording.pick(&wanted).unwrap_err().to_string();
        assert!(text.len() < 2000, "{} bytes", text.len());
        assert!(text.contains("and 52 more"), "{text}");
    }
}
