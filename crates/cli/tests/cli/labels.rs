//! Labels mean the same at every command, run by run; trials of training are named in a replay too.

use serde_json::Value;
use stiefel::eeg::Recording;
use stiefel::eeg::montage::Montage;
use stiefel::eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};

use super::models::json;
use super::recordings::{study, write_edf, write_study, write_xdf};
use super::streaming::lines;
use super::{Home, code};

/// Simulates people whose two classes are `T1` and `T2` in every run.
fn people(rate: f64, count: usize, runs: usize, trials: usize, classes: [Imagery; 2]) -> Synthetic {
    let sessions = vec![1; count];
    let montage = Montage::Bnci2015001;
    let config = SyntheticConfig::of(montage, rate, sessions, runs, trials, &classes);
    Synthetic::new(config).unwrap()
}

/// Labels the events of a recording as EEGMMIDB does.
fn labelled(recording: &Recording, second: Imagery) -> Recording {
    let mut events = recording.events().to_vec();
    for event in &mut events {
        let place = if event.label == second.label() {
            "T2"
        } else {
            "T1"
        };
        event.label = place.into();
    }
    recording.clone().with_events(events)
}

const RULES: &str = "R0[48]:T1=left,R0[48]:T2=right,R[01][60]:T1=hands,R[01][60]:T2=feet";

/// Four classes: left and right in runs 4 and 8, hands and feet in runs 6 and 10, of three people.
fn write_four_classes(home: &Home) {
    let tasks = [
        ([Imagery::LeftHand, Imagery::RightHand], ["R04", "R08"]),
        ([Imagery::Tongue, Imagery::Feet], ["R06", "R10"]),
    ];
    for folder in ["eeg", "new"] {
        std::fs::create_dir(home.0.join(folder)).unwrap();
    }
    for (classes, runs) in tasks {
        let study = people(128.0, 3, 2, 8, classes);
        for item in study.recordings() {
            let item = item.unwrap();
            let folder = if item.subject < 2 { "eeg" } else { "new" };
            let name = format!("{folder}/S{:02}{}.edf", item.subject + 1, runs[item.run]);
            let recording = labelled(&item.recording, classes[1]);
            write_edf(&home.0.join(name), &recording);
        }
    }
}

/// Runs a command and returns what it printed, and what it said beside.
fn said(home: &Home, line: &str) -> (String, String) {
    let output = home.run(line);
    assert!(output.status.success(), "{line}: {output:?}");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

/// Asserts that a command is refused in words that name all of these.
fn refused(home: &Home, line: &str, parts: &[&str]) {
    let (exit, message) = code(&home.run(line));
    assert_eq!(exit, 2, "{line}: {message}");
    for part in parts {
        assert!(message.contains(part), "{line}: {part}: {message}");
    }
}

fn trials(value: &Value, part: &str) -> u64 {
    value[part]["scores"]["trials"].as_u64().unwrap_or(0)
}

/// The summary of a replay at full speed.
fn replayed(home: &Home, model: &str, file: &str, options: &str) -> (Value, String, Vec<Value>) {
    let line = format!("live {model} --from replay:{file} --speed max --unfamiliar off {options}");
    let output = home.run(&line);
    let windows = lines(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    let summary = json(text.lines().last().unwrap());
    (summary, String::from_utf8(output.stderr).unwrap(), windows)
}

#[test]
fn four_classes_go_the_whole_way() {
    let home = Home::new();
    write_four_classes(&home);
    home.text(&format!(
        "prepare eeg -o ds.npz --reject off --classes {RULES}"
    ));
    let (table, _) = said(&home, "study main ds.npz --methods mdm --output s --quiet");
    assert!(table.contains("mdm"), "{table}");
    home.text("train ds.npz -o m.stiefel");

    // The cues of a replay are the trials of a score, in each kind of run.
    let policy = "--adapt causal";
    for (file, classes) in [
        ("new/S03R04.edf", ["left", "right"]),
        ("new/S03R10.edf", ["feet", "hands"]),
    ] {
        let (text, _) = said(
            &home,
            &format!("evaluate m.stiefel {file} --causal --json {policy}"),
        );
        let expected = trials(&json(&text), "new");
        let (summary, _, windows) =
            replayed(&home, "m.stiefel", file, &format!("--domain S03 {policy}"));
        assert_eq!(summary["cued"], expected, "{file}: {summary}");
        assert_eq!((expected, &summary["seen"]), (8, &Value::from(0)));
        assert_eq!(summary["offline"]["decisions"]["all"], expected);
        assert_eq!(windows.len() as u64, expected);
        let mut found: Vec<&str> = windows
            .iter()
            .map(|w| w["cue"]["class"].as_str().unwrap())
            .collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, classes, "{file}");
    }
    // Trials of training are named, and nothing is scored.
    let (text, _) = said(&home, "evaluate m.stiefel eeg/S01R06.edf --json");
    let value = json(&text);
    let (summary, words, windows) = replayed(&home, "m.stiefel", "eeg/S01R06.edf", "--domain S01");
    assert_eq!((trials(&value, "new"), trials(&value, "trained")), (0, 8));
    assert_eq!(
        (&summary["seen"], &summary["decided"]["all"]),
        (&8.into(), &0.into())
    );
    assert!(
        windows.iter().all(|w| w["cue"]["seen"] == "trained"),
        "{windows:?}"
    );
    assert!(
        words.contains("there is no score") && !words.contains("accuracy"),
        "{words}"
    );

    // Labelled trials: as many of each class, from several files.
    let calibrate = "calibrate m.stiefel new/S03R04.edf new/S03R06.edf";
    let (text, _) = said(&home, &format!("{calibrate} --per-class 2 -o c.stiefel"));
    assert!(text.contains("8 labelled trials of 1 domains"), "{text}");
    for class in ["left", "right", "hands", "feet"] {
        assert!(text.contains(&format!("2 {class}")), "{text}");
    }
    let (text, _) = said(&home, "evaluate c.stiefel new/S03R04.edf --json");
    assert_eq!(trials(&json(&text), "trained"), 4);
    let (summary, ..) = replayed(&home, "c.stiefel", "new/S03R04.edf", "--domain S03");
    assert_eq!((&summary["cued"], &summary["seen"]), (&8.into(), &4.into()));
    refused(
        &home,
        &format!("{calibrate} --per-class 5 -o x"),
        &["there are 4 trials of", "S03"],
    );
    refused(
        &home,
        "calibrate m.stiefel new/S03R04.edf new/S03R04.edf -o x",
        &["is the same as trial"],
    );
    let (text, _) = said(&home, "calibrate m.stiefel new/S03R06.edf -o part.stiefel");
    let missing = ["no trial of left, right", "no trial of right, left"];
    assert!(missing.iter().any(|m| text.contains(m)), "{text}");

    // A run that no rule is about has no trial, here and there.
    std::fs::rename(home.0.join("new/S03R08.edf"), home.0.join("new/S03R05.edf")).unwrap();
    for command in [
        format!("evaluate m.stiefel new/S03R05.edf {policy}"),
        format!("live m.stiefel --from replay:new/S03R05.edf --speed max --domain S03 {policy}"),
    ] {
        refused(&home, &command, &["this is run R05", "R0[48]:T1"]);
    }
}

#[test]
fn labels_that_contradict_a_model_are_refused_with_both() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    let prepare = |name: &str, rules: &str| {
        home.text(&format!(
            "prepare eeg -o {name} --reject off --classes {rules}"
        ));
    };
    prepare("ds.npz", "T1=hands,T2=feet");
    prepare("swapped.npz", "T1=feet,T2=hands");
    prepare("rules.npz", "R1:T1=left,R1:T2=right");
    home.text("train ds.npz -o m.stiefel --test 0.25");
    for (data, found) in [
        ("swapped.npz", "T1 = feet"),
        ("rules.npz", "T1 = left in run R1"),
    ] {
        for command in ["evaluate", "predict", "calibrate -o x.stiefel"] {
            let line = format!("{command} m.stiefel {data}");
            refused(&home, &line, &["T1 = hands in runs R1, R2", found]);
        }
    }
    let live = "live m.stiefel --from replay:eeg/S01R1.edf --speed max --domain S09";
    let line = format!("{live} --adapt own-mean --calibration swapped.npz");
    refused(&home, &line, &["T1 = hands in runs R1, R2", "T1 = feet"]);
}

/// Run 4 of EEGMMIDB under the labels of run 6: the catalogue knows that its T1 is the left fist.
#[test]
fn a_label_that_is_known_to_mean_something_else_is_refused() {
    let home = Home::new();
    std::fs::create_dir(home.0.join("eeg")).unwrap();
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Eegmmidb, 160.0, vec![1], 4, 8, &classes);
    let runs = Synthetic::new(config).unwrap();
    for (run, name) in ["R04", "R06", "R10", "R14"].iter().enumerate() {
        let recording = runs.recording(0, 0, run).unwrap();
        write_edf(&home.0.join(format!("eeg/S001{name}.edf")), &recording);
    }
    let prepare = "prepare eeg --reject off --channels C3,Cz,C4 --classes T1=fists,T2=feet";
    home.text(&format!("{prepare} --runs 6,10 -o ds.npz"));
    home.text(&format!("{prepare} --runs 4 -o other.npz"));
    home.text("train ds.npz -o m.stiefel --model ts+lr");
    said(&home, "evaluate m.stiefel eeg/S001R14.edf");
    replayed(&home, "m.stiefel", "eeg/S001R14.edf", "--domain S001");
    let parts = [
        "T1 = fists (both_hands) in runs R06, R10",
        "T1 = fists (left_hand) in run R04",
    ];
    for command in ["evaluate", "predict", "calibrate -o x.stiefel"] {
        for data in ["eeg/S001R04.edf", "other.npz"] {
            refused(&home, &format!("{command} m.stiefel {data}"), &parts);
        }
    }
    let live = "live m.stiefel --from replay:eeg/S001R04.edf --speed max --domain S001";
    refused(&home, live, &parts);
    refused(&home, &format!("{live} --hop 0.5"), &parts);
}

/// Another rate than the model's is resampled in every decision of files, and said in plain words.
#[test]
fn a_recording_that_is_resampled_is_said_to_be() {
    let home = Home::new();
    let classes = [Imagery::RightHand, Imagery::Feet];
    for rate in [128.0, 160.0] {
        let folder = home.0.join(format!("at{rate}"));
        std::fs::create_dir(&folder).unwrap();
        for item in people(rate, 1, 2, 6, classes).recordings() {
            let item = item.unwrap();
            let name = format!("S01R{}.edf", item.run + 1);
            write_edf(&folder.join(name), &item.recording);
        }
    }
    home.text("prepare at128 -o ds.npz --reject off --classes T1=hands,T2=feet");
    home.text("train ds.npz -o m.stiefel --model ts+lr");
    for command in ["evaluate", "predict", "calibrate -o x.stiefel"] {
        let (_, beside) = said(&home, &format!("{command} m.stiefel at160/S01R1.edf"));
        assert!(
            beside.contains("resampled from 160 to 128 Hz"),
            "{command}: {beside}"
        );
        let (_, beside) = code(&home.run(&format!("{command} m.stiefel at128/S01R1.edf")));
        assert!(!beside.contains("resampled"), "{command}: {beside}");
    }
    let live = "live m.stiefel --from replay:at160/S01R1.edf --speed max --domain S01";
    refused(&home, live, &["160 Hz", "128 Hz"]);
}

/// A header that says another rate than the time stamps gives way to them, and that is said.
#[test]
fn the_rate_of_time_stamps_is_taken_and_said() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg --runs R1 -o ds.npz --reject off --classes T1=hands,T2=feet");
    home.text("train ds.npz -o m.stiefel --model ts+lr");
    let recording = study().recording(0, 0, 1).unwrap();
    write_xdf(&home.0.join("S01R2.xdf"), &recording, 160.0);
    let decisions = |file: &str| {
        let (text, beside) = said(&home, &format!("predict m.stiefel {file} --json"));
        let decision = |line: &str| json(line)["decision"].clone();
        (text.lines().map(decision).collect::<Vec<_>>(), beside)
    };
    let ((xdf, beside), (edf, _)) = (decisions("S01R2.xdf"), decisions("eeg/S01R2.edf"));
    assert_eq!((xdf.len(), &xdf), (8, &edf));
    let note = "says 160 Hz and was recorded at 128.0000 Hz, which is taken";
    assert!(beside.contains(note), "{beside}");
    let (summary, ..) = replayed(&home, "m.stiefel", "S01R2.xdf", "--domain S01");
    assert_eq!(summary["cued"], 8);
}
