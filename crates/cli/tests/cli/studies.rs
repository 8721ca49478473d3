//! Studies from the command line: planned, killed, resumed, replayed, reported.

use super::{Home, finish, output};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SMALL: &str =
    "study ablation synthetic:bnci2015001,subjects=2,trials=8 --set epochs=3 --seeds 0,1";

fn command(home: &Home, arguments: &str) -> Command {
    let mut command = home.command(arguments);
    command.current_dir(&home.0);
    command
}

fn table(home: &Home, arguments: &str) -> String {
    let ended = output(&mut command(home, arguments));
    assert!(ended.status.success(), "{ended:?}");
    String::from_utf8(ended.stdout).unwrap()
}

/// Without the line that names the report's folder.
fn figures(text: &str) -> String {
    text.lines()
        .filter(|l| !l.starts_with("report:"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_study_killed_at_ten_moments_ends_in_the_same_table() {
    let home = Home::new();
    let clock = Instant::now();
    let undisturbed = table(&home, &format!("{SMALL} --output whole"));
    let whole = clock.elapsed();
    for kill in 0..10_u32 {
        let mut child = command(&home, &format!("{SMALL} --output killed"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Moments spread over a run, by the golden ratio: early, late and in between.
        let share = (f64::from(kill) * 0.618_034).fract();
        std::thread::sleep(Duration::from_secs_f64(share * 0.9 * whole.as_secs_f64()));
        // On Unix this is SIGKILL.
        let _ = child.kill();
        finish(child);
    }
    let resumed = table(&home, &format!("{SMALL} --output killed"));
    assert_eq!(figures(&undisturbed), figures(&resumed));
    for file in [
        "killed/report.html",
        "killed/summary.json",
        "killed/study.json",
    ] {
        assert!(home.0.join(file).exists(), "{file}");
    }
    let left: Vec<_> = std::fs::read_dir(home.0.join("killed/units"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .filter(|name| {
            std::path::Path::new(name)
                .extension()
                .is_some_and(|e| e == "json")
                && !name.starts_with('.')
        })
        .collect();
    assert_eq!(left.len(), 8 * 5 * 2);
}

#[test]
fn units_run_singly_are_those_of_the_study() {
    let home = Home::new();
    let study = "study main synthetic:bnci2015001,subjects=2,trials=8 --set epochs=1 --methods \
                 baseline,mdm";
    let plan = table(&home, &format!("{study} --output one --plan --json"));
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let units = plan["units"].as_array().unwrap();
    assert_eq!(units.len(), 10);
    let id = units[9]["id"].as_str().unwrap();
    for unit in ["0", id] {
        let said = table(&home, &format!("study run-unit one {unit}"));
        assert!(said.contains("done"), "{said}");
    }
    let again = table(&home, "study run-unit one 0");
    assert!(again.contains("there already"), "{again}");
    let with = table(&home, &format!("{study} --output one"));
    let without = table(&home, &format!("{study} --output other"));
    assert_eq!(figures(&with), figures(&without));
    let replayed = table(&home, "study main --config one/study.json --output third");
    assert_eq!(figures(&with), figures(&replayed));
    std::fs::remove_file(home.0.join("one/report.html")).unwrap();
    table(&home, "study report one");
    let page = std::fs::read_to_string(home.0.join("one/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>"));
}

#[test]
fn wrong_settings_of_a_study_are_misuse() {
    let home = Home::new();
    for (arguments, expected) in [
        ("study main", "no dataset"),
        ("study main synthetic:weibo2014 --methods magic", "ts+lr"),
        ("study main synthetic:weibo2013", "weibo2014"),
        (
            "study main synthetic:bnci2015001,subjects=2,trials=4 --split fold",
            "--split fold: must be one of trial, block",
        ),
        (
            "study session synthetic:weibo2014,subjects=2,trials=8",
            "another day",
        ),
        ("study run-unit nowhere 0", "--plan"),
    ] {
        let ended = output(&mut command(&home, arguments));
        let error = String::from_utf8(ended.stderr).unwrap();
        assert!(
            !ended.status.success() && error.contains(expected),
            "{arguments}: {error}"
        );
        assert!(error.starts_with("error: "), "{error}");
    }
}

/// An option that a command would not look at is refused, never ignored.
#[test]
fn options_that_do_not_apply_are_refused() {
    let home = super::models::home();
    for (arguments, expected) in [
        (
            "study scaling d.npz --methods nonsense",
            "its methods are baseline, plain, align, dsp, dsp+align",
        ),
        ("study main d.npz --adapt pooled", "leave adapt out"),
        ("study online d.npz --adapt pooled", "leave adapt out"),
        ("study loso d.npz --split block", "leave split out"),
        ("study session d.npz --split trial", "leave split out"),
        (
            "train d.npz -o x --model spdnet --set experts=8",
            "--set experts=8: ",
        ),
        (
            "train d.npz -o x --model spdnet --set domain_embedding=false",
            "--set domain_embedding=false: ",
        ),
        ("train d.npz -o x --split block", "--fold"),
        ("train d.npz -o x --fold 0 --test 0.2", "--test"),
    ] {
        let (exit, error) = super::code(&home.run(arguments));
        assert_eq!(exit, 2, "{arguments}: {error}");
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    assert!(!home.0.join("x").exists() && !home.0.join("stiefel-results").exists());
    // A study that has the method is narrowed to it.
    for (study, methods) in [
        ("scaling", "dsp"),
        ("ablation", "dasp-full"),
        ("loso", "zero"),
    ] {
        let plan = table(
            &home,
            &format!("study {study} d.npz --methods {methods} --plan --json --output {study}"),
        );
        let plan: Value = serde_json::from_str(&plan).unwrap();
        let units = plan["units"].as_array().unwrap();
        let named = |u: &Value| {
            let name = u["method"].as_str().unwrap();
            name == methods || name.ends_with(&format!(": {methods}"))
        };
        assert!(!units.is_empty() && units.iter().all(named), "{plan}");
    }
}

#[test]
fn a_plan_is_not_replaced_unasked_and_digits_are_a_number() {
    let home = super::models::home();
    let study = "study main d.npz --methods mdm,recentred-mdm";
    table(&home, &format!("{study} --plan --output s"));
    let planned = std::fs::read(home.0.join("s/study.json")).unwrap();
    let (exit, error) = super::code(&home.run("study main d.npz --methods mdm --plan --output s"));
    assert_eq!(exit, 2);
    assert!(
        error.contains("a study of the same data with other settings"),
        "{error}"
    );
    assert_eq!(std::fs::read(home.0.join("s/study.json")).unwrap(), planned);
    // The same plan again is the same plan.
    let plan = table(&home, &format!("{study} --plan --json --output s"));
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let units = plan["units"].as_array().unwrap();
    for (index, unit) in units.iter().enumerate() {
        let id = unit["id"].as_str().unwrap();
        let said = table(&home, &format!("study run-unit s {index}"));
        assert_eq!(said.trim(), format!("{id} done"));
    }
    // A unit finds the data wherever it is started.
    std::fs::remove_dir_all(home.0.join("s/units")).unwrap();
    let elsewhere = Home::new();
    let folder = home.0.join("s");
    let said = table(
        &elsewhere,
        &format!("study run-unit {} 0", folder.display()),
    );
    assert!(said.contains("done"), "{said}");
    let (exit, error) = super::code(&home.run("study run-unit s 99"));
    assert_eq!(exit, 2);
    assert!(error.contains("a number below 10"), "{error}");
}

#[test]
fn a_folder_of_results_is_not_replaced_unasked() {
    let home = super::models::home();
    table(&home, "study main d.npz --methods mdm --quiet");
    table(&home, "study main d.npz --methods mdm --subjects 1 --quiet");
    table(
        &home,
        "study main d.npz --methods mdm --split block --quiet",
    );
    // Two data sets or splits never share a default folder; the same study resumes.
    let folders = || {
        let found = std::fs::read_dir(home.0.join("stiefel-results")).unwrap();
        found.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    assert_eq!(folders().len(), 3, "{:?}", folders());
    let again = table(&home, "study main d.npz --methods mdm --quiet");
    assert!(again.contains("mdm"));
    assert_eq!(folders().len(), 3);
    let folder = folders()[0].clone();
    let summary = std::fs::read(folder.join("summary.json")).unwrap();
    let other = format!(
        "study main d.npz --methods ts+lr --subjects 2 -o {}",
        folder.display()
    );
    let (exit, error) = super::code(&home.run(&other));
    assert_eq!(exit, 2);
    assert!(
        error.contains("a study of other data") && error.contains("--overwrite"),
        "{error}"
    );
    assert_eq!(std::fs::read(folder.join("summary.json")).unwrap(), summary);
    table(&home, &format!("{other} --overwrite"));
    assert_ne!(std::fs::read(folder.join("summary.json")).unwrap(), summary);
}
