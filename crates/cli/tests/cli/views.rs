//! Several views of a trial: `prepare --views`, CHOIR on all of them, `calibrate`.

use stiefel::data::Trials;
use stiefel::eeg::io::read;
use stiefel::model::FittedModel;

use super::models::{DATA, home, json};
use super::recordings::write_study;
use super::{Home, code};

/// A home with recordings of two people.
fn recorded() -> Home {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home
}

const PREPARE: &str = "prepare eeg --classes T1=hands,T2=feet --reject off";

#[test]
fn views_are_prepared_trained_on_and_asked_for_again() {
    let home = recorded();
    let text = home.text(&format!("{PREPARE} -o six.npz --views choir"));
    assert!(text.contains("6 views"), "{text}");
    let six = read(home.0.join("six.npz")).unwrap().into_trials().unwrap();
    let views = &six.preparation().recipe().unwrap().views;
    assert_eq!((six.views(), views.len()), (6, 6));
    assert_eq!(
        (views[5].band, views[5].window),
        ([8.0, 32.0], [0.25, 2.25])
    );
    let text = home.text("inspect six.npz");
    assert!(text.contains("20–28 Hz, 0.25–2.25 s"), "{text}");
    // The broad view is what it is alone; a view is what it is in another list.
    home.text(&format!("{PREPARE} -o one.npz --views broad"));
    home.text(&format!(
        "{PREPARE} -o two.npz --views 10-14@0.25-2.25,8-32@0.5-3.5"
    ));
    let one = read(home.0.join("one.npz")).unwrap().into_trials().unwrap();
    let two = read(home.0.join("two.npz")).unwrap().into_trials().unwrap();
    assert_eq!(six.covariances(), one.covariances());
    let places = |trials: &Trials| {
        trials.recordings().map(|(_, spans)| {
            spans
                .iter()
                .map(|s| (s.recording, s.onset))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(places(&six), places(&one));
    // The windows of all views count.
    assert_eq!(six.recordings().unwrap().1[0].window, [32, 448]);
    assert_eq!(one.recordings().unwrap().1[0].window, [64, 448]);
    assert_eq!((two.view(0), two.view(1)), (six.view(3), six.view(0)));
    // Recordings are prepared as the model wants them; what lacks its views is refused.
    home.text("train six.npz -o m.stiefel --test 0.25");
    let text = home.text("inspect m.stiefel");
    assert!(
        text.contains("13, 12, 12, 12, 12, 12 directions by view"),
        "{text}"
    );
    home.text("evaluate m.stiefel eeg");
    home.text("evaluate m.stiefel six.npz");
    home.text("evaluate m.stiefel six.npz --controls");
    let (exit, message) = code(&home.run("evaluate m.stiefel one.npz"));
    assert_eq!(exit, 2);
    assert!(message.contains("bands and windows"), "{message}");
    // A model of one view finds it among several.
    home.text("train one.npz -o one.stiefel --model ts+lr --test 0.25");
    home.text("evaluate one.stiefel six.npz");
    let (exit, message) = code(&home.run("train six.npz -o x.stiefel --model dasp"));
    assert_eq!(exit, 2);
    assert!(
        message.contains("six.npz has 6 views of every trial, but --model"),
        "{message}"
    );
}

#[test]
fn views_that_cannot_be_are_refused_with_numbers() {
    let home = recorded();
    for (views, reason) in [
        ("brod", "\"brod\" is not a view"),
        ("8-32", "for example 8-32@0.5-3.5"),
        ("32-8@0.5-3.5", "the smaller number first"),
        ("8-32@0.5-3.5,8-32@0.5-3.5", "given twice"),
        // 128 samples a second.
        ("8-32@0.5-3.5,60-70@0.5-3.5", "64"),
        ("8-32@0.5-3.5,8-32@0.5-5000", "does not fit a recording"),
        (
            "choir --band 8,30 --window 0.5,900",
            "does not fit a recording",
        ),
        ("8-32@0.5-3.5 --band 8,30", "leave out --band and --window"),
    ] {
        let (exit, message) = code(&home.run(&format!("{PREPARE} -o x.npz --views {views}")));
        assert_ne!(exit, 0, "{views}: {message}");
        assert!(message.contains(reason), "{views}: {message}");
    }
    assert!(!home.0.join("x.npz").exists());
}

#[test]
fn a_few_labelled_trials_make_a_person_known() {
    let home = home();
    home.text(&format!(
        "train {DATA} -o m.stiefel --subjects 1-2 --test 0.2"
    ));
    let third = format!("{DATA} --subjects 3");
    let (exit, message) = code(&home.run(&format!("evaluate m.stiefel {third}")));
    assert_eq!(
        (exit, message.contains("had no training trials")),
        (2, true)
    );
    let text = home.text(&format!(
        "calibrate m.stiefel {third} --per-class 2 -o c.stiefel"
    ));
    assert!(text.contains("labelled trials of 2 domains"), "{text}");
    let value = json(&home.text(&format!("evaluate c.stiefel {third} --json")));
    let counts = |part: &str| value[part]["scores"]["trials"].as_u64().unwrap();
    assert_eq!((counts("new"), counts("trained")), (24, 8));
    home.text(&format!("evaluate c.stiefel {third} --adapt own-mean"));
    assert!(home.text("inspect c.stiefel").contains("calibrated"));
    // Those it knew before are decided as before, to the bit.
    let predict = |model: &str| {
        let output = home.run(&format!("predict {model} {DATA} --subjects 1-2 --json"));
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    assert_eq!(predict("m.stiefel"), predict("c.stiefel"));
    // All at once, or one after the other.
    home.text(&format!(
        "calibrate m.stiefel {third} --per-class 4 -o eight.stiefel"
    ));
    let eight = FittedModel::load(home.0.join("eight.stiefel")).unwrap();
    assert_eq!(eight.known_domains().len(), 6);
    for (line, reason) in [
        (
            format!("calibrate c.stiefel {third} --per-class 2 -o x.stiefel"),
            "among those the model was made with",
        ),
        (
            format!("calibrate m.stiefel {third} --per-class 0 -o x.stiefel"),
            "--per-class",
        ),
        (
            format!("calibrate m.stiefel {third} -o m.stiefel"),
            "it exists already",
        ),
    ] {
        let (exit, message) = code(&home.run(&line));
        assert_eq!(exit, 2, "{line}: {message}");
        assert!(message.contains(reason), "{line}: {message}");
    }
    home.text(&format!(
        "train {DATA} -o one.stiefel --subjects 1-2 --model mdm"
    ));
    let (exit, message) = code(&home.run(&format!("calibrate one.stiefel {third} -o x.stiefel")));
    assert_eq!(
        (
            exit,
            message.contains("train a model that can be calibrated, such as choir")
        ),
        (2, true),
        "{message}"
    );
}
