//! Signals and matrices that are no EEG, at every command.

use std::io::Cursor;
use std::path::Path;

use stiefel::eeg::Recording;
use stiefel::eeg::io::{read, write_epochs};
use stiefel::eeg::signal::{Window, epochs};
use stiefel::formats::numpy::NpzWriter;

use super::models::json;
use super::recordings::{study, write_edf, write_study};
use super::{Home, code};

const CLASSES: &str = "--classes T1=hands,T2=feet";

/// Recordings, a dataset of them and a model.
fn home() -> Home {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text(&format!("prepare eeg -o ds.npz {CLASSES}"));
    home.text("train ds.npz -o m.stiefel --model mdm --test 0.25");
    home
}

/// The first recording, changed channel by channel.
fn changed(mut change: impl FnMut(usize, &mut [f64])) -> Recording {
    let mut recording = study().recordings().next().unwrap().unwrap().recording;
    let samples = recording.samples();
    let rows = recording.data_mut().chunks_exact_mut(samples);
    rows.enumerate().for_each(|(c, row)| change(c, row));
    recording
}

/// An EDF file with another unit in its header.
fn in_unit(path: &Path, unit: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let signals = 14;
    let at = 256 + signals * (16 + 80);
    for field in bytes[at..][..8 * (signals - 1)].chunks_exact_mut(8) {
        field.copy_from_slice(format!("{unit:<8}").as_bytes());
    }
    std::fs::write(path, bytes).unwrap();
}

/// A dataset file of bare covariances, twenty trials of two people.
fn bare(path: &Path, n: usize, entry: impl Fn(usize, usize, usize) -> f64) {
    let mut bytes = Cursor::new(Vec::new());
    let mut file = NpzWriter::new(&mut bytes);
    let rows: Vec<Vec<f64>> = (0..20 * n)
        .map(|row| (0..n).map(|c| entry(row / n, row % n, c)).collect())
        .collect();
    file.numbers("X", &[20, n, n], rows.iter().map(Vec::as_slice))
        .unwrap();
    let labels = |of: &dyn Fn(usize) -> &'static str| (0..20).map(of).collect::<Vec<_>>();
    file.strings("y", &labels(&|i| ["hands", "feet"][i % 2]))
        .unwrap();
    file.strings("subject", &labels(&|i| ["S1", "S2"][i / 10]))
        .unwrap();
    file.finish().unwrap();
    std::fs::write(path, bytes.into_inner()).unwrap();
}

/// A sound matrix, different from trial to trial.
fn sound(i: usize, r: usize, c: usize) -> f64 {
    if r == c {
        2.0 + ((i * 5 + r * 3) % 7) as f64 + 0.01 * (i * (r + 1)) as f64
    } else {
        0.3
    }
}

#[test]
fn a_wrong_unit_is_refused_with_the_person() {
    let home = home();
    for unit in ["V", "nV"] {
        let other = changed(|_, row| row.reverse());
        write_edf(&home.0.join("S09R1.edf"), &other);
        in_unit(&home.0.join("S09R1.edf"), unit);
        for command in [
            format!("prepare S09R1.edf -o x.npz {CLASSES}"),
            format!("prepare eeg S09R1.edf --domain file -o x.npz {CLASSES}"),
            "evaluate m.stiefel S09R1.edf --adapt pooled".into(),
            "predict m.stiefel S09R1.edf --adapt pooled".into(),
        ] {
            let (exit, message) = code(&home.run(&command));
            let told = message.contains("S09") && message.contains("correct the unit");
            assert!(exit == 2 && told, "{unit} {command}: {exit} {message}");
        }
    }
}

#[test]
fn a_flat_electrode_is_told_at_every_command() {
    let home = home();
    let flat = changed(|c, row| {
        if c == 5 {
            row.fill(1.0);
        }
    });
    let name = flat.channels()[5].name.clone();
    write_edf(&home.0.join("S01R9.edf"), &flat);
    let told = |output: &std::process::Output| {
        let text = [&output.stdout[..], &output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("S01 {name}: no signal")), "{text}");
    };
    told(&home.run(&format!(
        "prepare S01R9.edf eeg/S02R1.edf -o flat.npz {CLASSES}"
    )));
    for command in [
        "evaluate m.stiefel flat.npz",
        "evaluate m.stiefel S01R9.edf",
        "predict m.stiefel S01R9.edf",
        "study main flat.npz --methods mdm --output s",
    ] {
        told(&home.run(command));
    }
    let page = std::fs::read_to_string(home.0.join("s/report.html")).unwrap();
    assert!(
        page.contains(&format!("S01 {name}: no signal")),
        "no findings in the report"
    );
    let text = home.text("inspect flat.npz");
    assert!(
        text.contains("amplitude: range in µV") && text.contains("flat"),
        "{text}"
    );
    let text = home.text("inspect S01R9.edf");
    let row = text
        .lines()
        .find(|line| line.starts_with(&format!("{name} ")))
        .unwrap();
    assert!(row.ends_with("flat"), "{row}");
    let value = json(&home.text("inspect flat.npz --json"));
    let finding = &value["quality"]["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["domain"]),
        (&"flat".into(), &"S01".into())
    );
    assert_eq!(finding["electrodes"][0], name.as_str());
    // What was chosen around it is silent.
    let chosen = "--channels C3,Cz,C4,FC3,FC4";
    let recipe = format!("prepare S01R9.edf -o five.npz {CLASSES} {chosen} --json");
    assert_ne!(name, "Cz");
    let value = json(&home.text(&recipe));
    let flat = value["quality"]["findings"].as_array().unwrap();
    assert!(
        flat.iter().all(|f| f["electrodes"][0] != name.as_str()),
        "{flat:?}"
    );
}

#[test]
fn channels_over_many_orders_of_magnitude_are_refused() {
    let home = home();
    let scale = |c: usize| 10.0_f64.powf(c as f64 * 18.0 / 7.0 - 9.0);
    let names = ["C3", "Cz", "C4", "FC3", "FCz", "FC4", "CP3", "CP4"].map(String::from);
    let mut recording = study().recordings().next().unwrap().unwrap().recording;
    recording = recording.pick(&names).unwrap();
    let samples = recording.samples();
    for (c, row) in recording.data_mut().chunks_exact_mut(samples).enumerate() {
        for x in row.iter_mut() {
            *x *= scale(c);
        }
    }
    let window = Window::new(0.0, 4.0, &["right_hand", "feet"]);
    let cut = epochs(&recording, &window, "S01", Some("1"))
        .unwrap()
        .epochs;
    write_epochs(home.0.join("signals.npz"), &cut).unwrap();
    bare(&home.0.join("bare.npz"), 8, |i, r, c| {
        sound(i, r, c) * scale(r) * scale(c)
    });
    bare(&home.0.join("sound.npz"), 8, sound);
    home.text("train sound.npz -o n.stiefel --model mdm --test 0.25");
    for command in [
        "prepare signals.npz -o x.npz --window 0.5,3.5",
        "study main bare.npz --methods mdm",
        "train bare.npz -o x.stiefel --model mdm",
        "evaluate n.stiefel bare.npz",
        "predict n.stiefel bare.npz",
    ] {
        let (exit, message) = code(&home.run(command));
        assert!(
            exit == 2 && message.contains("orders of magnitude"),
            "{command}: {exit} {message}"
        );
    }
    // They are shown, not refused, by the command that shows them.
    assert!(home.text("inspect bare.npz").contains("spread"));
}

#[test]
fn impossible_matrices_are_refused_by_their_number_at_every_command() {
    /// A name, a matrix by its entries, and what is wrong with it.
    type Bad = (&'static str, fn(usize, usize) -> f64, &'static str);
    let home = home();
    bare(&home.0.join("sound.npz"), 6, sound);
    home.text("train sound.npz -o n.stiefel --model mdm --test 0.25");
    let kinds: [Bad; 3] = [
        ("zero", |_, _| 0.0, "is zero"),
        (
            "indefinite",
            |r, c| if r == c { r as f64 - 1.5 } else { 0.0 },
            "positive definite",
        ),
        ("one", |r, c| ((r + 1) * (c + 1)) as f64, "has rank 1 of 6"),
    ];
    for (name, matrix, why) in kinds {
        let path = home.0.join(format!("{name}.npz"));
        bare(&path, 6, |i, r, c| {
            if i == 17 {
                matrix(r, c)
            } else {
                sound(i, r, c)
            }
        });
        for command in [
            format!("study main {name}.npz --methods mdm,ts+lr"),
            format!("train {name}.npz -o x.stiefel --model choir"),
            format!("evaluate n.stiefel {name}.npz"),
            format!("predict n.stiefel {name}.npz"),
            format!("inspect {name}.npz"),
        ] {
            let (exit, message) = code(&home.run(&command));
            let told = message.contains("trial 17") && message.contains(why);
            assert!(exit != 0 && told, "{command}: {exit} {message}");
        }
    }
}

#[test]
fn windows_with_fewer_samples_than_channels_are_shrunk_and_told() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let text = home.text(&format!(
        "prepare eeg -o ds.npz {CLASSES} --window 0.5,0.55"
    ));
    assert!(
        text.contains("without more samples than the 13 channels"),
        "{text}"
    );
    assert!(text.contains("oas covariance"), "{text}");
    let trials = read(home.0.join("ds.npz")).unwrap().into_trials().unwrap();
    assert!(trials.ranks().unwrap().iter().all(|rank| *rank == 13));
}

#[test]
fn offline_decisions_are_unfamiliar_where_live_ones_are() {
    let home = home();
    let loud = changed(|c, row| {
        if c < 8 {
            for x in row.iter_mut() {
                *x *= 8.0;
            }
        }
    });
    write_edf(&home.0.join("S01R8.edf"), &loud);
    let live = home.run("live m.stiefel --from replay:S01R8.edf --speed max --domain S01");
    let lines = super::streaming::lines(&live);
    let strange = lines
        .iter()
        .filter(|line| line["status"] == "unfamiliar")
        .count();
    assert!(strange > 0 && strange == lines.len(), "{lines:?}");
    let csv = home.run("predict m.stiefel S01R8.edf --causal");
    let csv = String::from_utf8(csv.stdout).unwrap();
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = rows
        .next()
        .unwrap()
        .iter()
        .position(|c| *c == "status")
        .unwrap();
    let statuses: Vec<&str> = rows.map(|row| row[at]).collect();
    assert_eq!(statuses, vec!["unfamiliar"; lines.len()]);
    let text = String::from_utf8(home.run("evaluate m.stiefel S01R8.edf").stdout).unwrap();
    assert!(text.contains("lie far from those of training"), "{text}");
    let value = home.run("evaluate m.stiefel S01R8.edf --json").stdout;
    let value = json(&String::from_utf8(value).unwrap());
    assert_eq!(value["unfamiliar"].as_array().unwrap().len(), lines.len());
    // Those of the same signal as it was are not.
    let value = json(&home.text("evaluate m.stiefel eeg/S01R1.edf --json"));
    assert_eq!(value["unfamiliar"].as_array().unwrap().len(), 0);
}
