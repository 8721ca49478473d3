//! Small synthetic recordings as EDF+ files.

use std::path::Path;

use stiefel::eeg::Recording;
use stiefel::eeg::montage::Montage;
use stiefel::eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};

/// 13 channels at 128 Hz, two people, two runs each, eight trials of either class and person.
pub(crate) fn study() -> Synthetic {
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Bnci2015001, 128.0, vec![1, 1], 2, 8, &classes);
    Synthetic::new(config).unwrap()
}

/// `S01R1.edf` … in a folder.
pub(crate) fn write_study(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for item in study().recordings() {
        let item = item.unwrap();
        let name = format!("S{:02}R{}.edf", item.subject + 1, item.run + 1);
        write_edf(&folder.join(name), &item.recording);
    }
}

/// EDF+C: 16 bits over ±1000 µV, records of a second, labels `T1` (right hand) and `T2` (feet).
pub(crate) fn write_edf(path: &Path, r: &Recording) {
    let rate = r.sampling_rate() as usize;
    let (n, records) = (r.channels().len(), r.samples() / rate);
    let annotation = 60; // two-byte values
    let mut bytes = Vec::new();
    let text = |bytes: &mut Vec<u8>, text: &str, width: usize| {
        bytes.extend(format!("{text:<width$.width$}").into_bytes());
    };
    for (field, width) in [
        ("0", 8),
        ("X X X X", 80),
        ("Startdate 01-JAN-2020 X X X", 80),
        ("01.01.20", 8),
        ("00.00.00", 8),
        (&(256 * (n + 2)).to_string(), 8),
        ("EDF+C", 44),
        (&records.to_string(), 8),
        ("1", 8),
        (&(n + 1).to_string(), 4),
    ] {
        text(&mut bytes, field, width);
    }
    let fields = |bytes: &mut Vec<u8>, width, eeg: &dyn Fn(usize) -> String, last: &str| {
        (0..n).for_each(|c| text(bytes, &eeg(c), width));
        text(bytes, last, width);
    };
    fields(
        &mut bytes,
        16,
        &|c| r.channels()[c].name.clone(),
        "EDF Annotations",
    );
    fields(&mut bytes, 80, &|_| String::new(), "");
    fields(&mut bytes, 8, &|_| "uV".into(), "");
    fields(&mut bytes, 8, &|_| "-1000".into(), "-1");
    fields(&mut bytes, 8, &|_| "1000".into(), "1");
    fields(&mut bytes, 8, &|_| "-32768".into(), "-32768");
    fields(&mut bytes, 8, &|_| "32767".into(), "32767");
    fields(&mut bytes, 80, &|_| String::new(), "");
    fields(
        &mut bytes,
        8,
        &|_| rate.to_string(),
        &annotation.to_string(),
    );
    fields(&mut bytes, 32, &|_| String::new(), "");
    for second in 0..records {
        for c in 0..n {
            for x in &r.channel(c)[second * rate..][..rate] {
                let digital = (x + 1000.0) / 2000.0 * 65535.0 - 32768.0;
                bytes.extend((digital.round() as i16).to_le_bytes());
            }
        }
        let mut tal = format!("+{second}\x14\x14\0").into_bytes();
        for event in r.events().iter().filter(|e| e.sample / rate == second) {
            let second = ["feet", "T2"].contains(&event.label.as_str());
            let label = if second { "T2" } else { "T1" };
            tal.extend(format!("+{}\x15{}\x14{label}\x14\0", event.onset, 4).into_bytes());
        }
        tal.resize(2 * annotation, 0);
        bytes.extend(tal);
    }
    std::fs::write(path, bytes).unwrap();
}

/// XDF whose header says a rate; the samples are stamped as they were recorded. Events are `T1` and
/// `T2` as in [`write_edf`], in a stream of markers.
pub(crate) fn write_xdf(path: &Path, r: &Recording, said: f64) {
    let mut bytes = b"XDF:".to_vec();
    let mut chunk = |tag: u16, parts: &[&[u8]]| {
        let content = parts.concat();
        bytes.push(4);
        bytes.extend((content.len() as u32 + 2).to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend(content);
    };
    chunk(1, &[b"<info><version>1.0</version></info>"]);
    let channel = |name: &str| {
        format!("<channel><label>{name}</label><unit>microvolts</unit><type>EEG</type></channel>")
    };
    let channels: String = r.channels().iter().map(|c| channel(&c.name)).collect();
    let header = |name: &str, kind: &str, format: &str, count: usize, rate: f64, more: &str| {
        format!(
            "<info><name>{name}</name><type>{kind}</type><channel_count>{count}</\
             channel_count><nominal_srate>{rate}</nominal_srate><channel_format>{format}</\
             channel_format>{more}</info>"
        )
    };
    let described = format!("<desc><channels>{channels}</channels></desc>");
    let n = r.channels().len();
    let eeg = header("amp", "EEG", "double64", n, said, &described);
    let cues = header("cues", "Markers", "string", 1, 0.0, "");
    let (first, second) = (1_u32.to_le_bytes(), 2_u32.to_le_bytes());
    chunk(2, &[&first, eeg.as_bytes()]);
    chunk(2, &[&second, cues.as_bytes()]);
    let mut samples = Vec::new();
    for t in 0..r.samples() {
        samples.push(8);
        samples.extend((5.0 + t as f64 / r.sampling_rate()).to_le_bytes());
        samples.extend((0..n).flat_map(|c| r.channel(c)[t].to_le_bytes()));
    }
    let count = |count: usize| (count as u32).to_le_bytes();
    chunk(3, &[&first, &[4], &count(r.samples()), &samples]);
    let mut markers = Vec::new();
    for event in r.events() {
        markers.push(8);
        markers.extend((5.0 + event.onset).to_le_bytes());
        let label = if event.label == "feet" { b"T2" } else { b"T1" };
        markers.extend([1, 2, label[0], label[1]]);
    }
    chunk(3, &[&second, &[4], &count(r.events().len()), &markers]);
    std::fs::write(path, bytes).unwrap();
}
