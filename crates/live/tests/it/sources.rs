//! Samples on the standard input: formats are recognised, bad samples go on as bad samples.

use stiefel_live::lsl::Lsl;
use stiefel_live::source::{Flow, Format, Samples, SamplesOptions, Source};
use stiefel_live::{At, Block};

fn options(own: &[&str]) -> SamplesOptions {
    SamplesOptions {
        own: own.iter().map(|&s| s.to_owned()).collect(),
        block: 2,
        ..SamplesOptions::default()
    }
}

fn all(bytes: &[u8], options: &SamplesOptions) -> Result<Vec<Block>, String> {
    let mut samples = Samples::new(bytes, options).map_err(|e| e.to_string())?;
    let mut blocks = Vec::new();
    loop {
        let mut block = Block::default();
        if samples.next(&mut block).map_err(|e| e.to_string())? == Flow::End {
            return Ok(blocks);
        }
        blocks.push(block);
    }
}

#[test]
fn text_in_blocks() {
    let text = b"C3,C4\n1,2\r\n\n3, 4\n5,6";
    let blocks = all(text, &options(&[])).unwrap();
    assert_eq!(blocks[0].samples, [1., 2., 3., 4.]);
    assert_eq!(blocks[1].samples, [5., 6.]);
    for text in ["1 2\n3 4\n", "1;2\n3;4\n", "1\t2\n3\t4\n", "1,2,\n3,4,\n"] {
        let blocks = all(text.as_bytes(), &options(&["a", "b"])).unwrap();
        assert_eq!(blocks[0].samples, [1., 2., 3., 4.], "{text:?}");
        assert!(blocks[0].short.is_empty());
    }
    assert!(all(b"", &options(&["a"])).unwrap().is_empty());
    assert!(all(b"", &options(&[])).unwrap_err().contains("no channels"));
}

#[test]
fn lines_that_are_no_samples_are_bad_samples() {
    let text = b"1,2\n3\n1,x\nnan,1\n\xff\xfe,2\n4,5,6\n7,8\n";
    let blocks = all(
        text,
        &SamplesOptions {
            block: 100,
            ..options(&["a", "b"])
        },
    )
    .unwrap();
    let block = &blocks[0];
    assert_eq!(block.samples.len(), 14);
    assert_eq!(block.short, [1, 5]);
    for (t, good) in [true, false, false, false, false, true, true]
        .into_iter()
        .enumerate()
    {
        let finite = block.samples[2 * t..][..2].iter().all(|x| x.is_finite());
        assert_eq!(finite, good, "sample {t}");
    }
    let long = vec![b'1'; 2 << 20];
    assert!(
        all(&long, &options(&["a"]))
            .unwrap_err()
            .contains("longer than")
    );
}

/// Without names, a stream with another number of values than the model takes could only be
/// rejected, window after window.
#[test]
fn the_first_line_tells_how_many_values_there_are() {
    let message = all(b"1,2,3\n4,5,6\n", &options(&["a", "b"])).unwrap_err();
    for part in ["3 values", "2 channels", "name the channels"] {
        assert!(message.contains(part), "{message}");
    }
    let named = SamplesOptions {
        names: Some(["a", "b", "c"].map(String::from).to_vec()),
        ..options(&["a", "b"])
    };
    assert_eq!(all(b"1,2,3\n4,5,6\n", &named).unwrap().len(), 1);
}

#[test]
fn a_column_holds_markers() {
    let text = b"C3,event,C4\n1,,2\n1,T1,2\n1,T1,2\n1,0,2\n1,T2,2\n";
    let with = |column: &str| SamplesOptions {
        markers: Some(column.into()),
        block: 10,
        ..options(&[])
    };
    let blocks = all(text, &with("event")).unwrap();
    assert_eq!(blocks[0].samples.len(), 10);
    let found: Vec<(At, &str)> = blocks[0]
        .markers
        .iter()
        .map(|m| (m.at, m.label.as_str()))
        .collect();
    assert_eq!(found, [(At::Sample(1), "T1"), (At::Sample(4), "T2")]);
    assert!(
        all(text, &with("cue"))
            .unwrap_err()
            .contains("does not name a column \"cue\"")
    );
}

fn signal() -> Vec<f64> {
    (0..600)
        .map(|i| 40.0 * (f64::from(i) * 0.7).sin() + 3.0 * (f64::from(i) * 0.013).cos() - 0.2)
        .collect()
}

#[test]
fn formats_are_recognised_and_mistakes_refused() {
    let double: Vec<u8> = signal().iter().flat_map(|x| x.to_le_bytes()).collect();
    let single: Vec<u8> = signal()
        .iter()
        .flat_map(|x| (*x as f32).to_le_bytes())
        .collect();
    let rows: Vec<String> = (signal().chunks(2))
        .map(|c| format!("{},{}\n", c[0], c[1]))
        .collect();
    let text = rows.concat().into_bytes();
    for (bytes, format) in [
        (&double, Format::F64),
        (&single, Format::F32),
        (&text, Format::Csv),
    ] {
        assert_eq!(Format::of(bytes, None).unwrap(), format);
        let first = all(bytes, &options(&["a", "b"])).unwrap();
        assert!((first[0].samples[1] - signal()[1]).abs() < 1e-5);
        for given in Format::ALL {
            let found = all(
                bytes,
                &SamplesOptions {
                    format: Some(given),
                    ..options(&["a", "b"])
                },
            );
            if given == format {
                assert_eq!(found.unwrap().len(), first.len());
            } else {
                let message = found.unwrap_err();
                assert!(
                    message.contains(given.name()) && message.contains(format.name()),
                    "{message}"
                );
            }
        }
    }
    // Whole numbers, as converters give them: the lower half of every double is 0.
    let whole: Vec<f64> = signal().iter().map(|x| x.round()).collect();
    let double: Vec<u8> = whole.iter().flat_map(|x| x.to_le_bytes()).collect();
    let single: Vec<u8> = (whole.iter())
        .flat_map(|x| (*x as f32).to_le_bytes())
        .collect();
    assert_eq!(Format::of(&double, None).unwrap(), Format::F64);
    assert_eq!(Format::of(&single, None).unwrap(), Format::F32);
    let random: Vec<u8> = (0..4000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    assert!(
        Format::of(&random, None)
            .unwrap_err()
            .to_string()
            .contains("neither text")
    );
}

#[test]
fn a_cut_sample_at_the_end_is_short() {
    let bytes: Vec<u8> = signal().iter().flat_map(|x| x.to_le_bytes()).collect();
    let blocks = all(
        &bytes[..bytes.len() - 3],
        &SamplesOptions {
            block: 1000,
            ..options(&["a", "b"])
        },
    )
    .unwrap();
    assert_eq!(
        (blocks[0].samples.len(), &blocks[0].short[..]),
        (600, &[299][..])
    );
    assert!(blocks[0].samples[598].is_nan());
}

/// The system's own words say why a library cannot be loaded.
#[test]
fn a_library_that_is_not_there_is_told_with_the_reason() {
    let path = std::path::Path::new("/nowhere/liblsl.so");
    let message = Lsl::load(Some(path)).unwrap_err().to_string();
    assert!(message.contains("/nowhere/liblsl.so"), "{message}");
    #[cfg(target_os = "linux")]
    assert!(message.contains("No such file"), "{message}");
}
