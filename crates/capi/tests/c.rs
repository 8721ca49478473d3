//! A C program, compiled and run: it says what a session in Rust says, linked with either library;
//! and the header is the one that the sources give.

#![cfg(unix)]

#[path = "../../live/tests/it/study.rs"]
#[allow(dead_code, reason = "shared with the tests of live sessions")]
mod study;

use std::path::{Path, PathBuf};
use std::process::Command;

use stiefel_live::{At, Block, Event, Marker, Options, Session, Status};
use stiefel_model::kind::DataSizes;
use stiefel_model::train::Silent;
use stiefel_model::{FittedModel, ModelSpec};
use study::{N, STUDY, description, frames};

// Links the library, so that it is built before these tests are run.
use stiefel_capi as _;

/// The C compiler, where there is one.
fn compiler() -> Option<String> {
    let wished = std::env::var("CC").ok();
    let known = ["cc", "gcc", "clang"].map(str::to_owned);
    wished
        .into_iter()
        .chain(known)
        .find(|cc| Command::new(cc).arg("--version").output().is_ok())
}

/// Where cargo puts the libraries: beside this test.
fn libraries() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().unwrap().to_owned()
}

fn compiled(cc: &str, name: &str, link: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = Command::new(cc)
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I",
        ])
        .arg(here.join("include"))
        .arg(here.join("tests/decide.c"))
        .arg("-o")
        .arg(&program)
        .args(link)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    program
}

/// A model of a kind, fitted on the recording of one person.
fn fitted(name: &str) -> FittedModel {
    let sizes = DataSizes {
        channels: N,
        domains: 1,
    };
    let spec = ModelSpec::named(name, &().into(), sizes).unwrap();
    FittedModel::fit(&STUDY.trials, &STUDY.trials, &spec, &mut Silent).unwrap()
}

/// What a session in Rust says, as the C program prints it.
fn expected(model: &FittedModel, samples: &[f64], cue: &Marker) -> Vec<String> {
    let decider = model.session("S01", None, &[]).unwrap();
    let options = Options::default();
    let session = Session::new(model, decider, &STUDY.made, &description(), options);
    let mut session = session.unwrap();
    let mut said = Vec::new();
    let mut first = true;
    for piece in samples.chunks(37 * N) {
        let block = Block {
            samples: piece.to_vec(),
            markers: if std::mem::take(&mut first) {
                vec![cue.clone()]
            } else {
                Vec::new()
            },
            ..Block::default()
        };
        let mut say = |event: Event<'_>| {
            let Event::Window(w) = event else { return };
            let at = |values: Option<&[f64]>| values.map_or(f64::NAN, |v| v[v.len() - 1]);
            said.push((
                format!(
                    "{} {} {} {} {} {}",
                    w.start,
                    w.end,
                    Status::ALL.iter().position(|s| *s == w.status).unwrap(),
                    w.fault.as_ref().map_or("-", |f| f.reason.name()),
                    w.class.map_or("-", |c| w.classes[c].as_str()),
                    w.truth().map_or(-1, |t| t as i32),
                ),
                [
                    at(w.probabilities),
                    at(w.evidence),
                    w.familiarity.map_or(f64::NAN, |f| f.quantile),
                ],
            ));
        };
        session.push(&block, &mut say).unwrap();
    }
    // Numbers as text of another library differ; their bits do not.
    said.into_iter()
        .map(|(words, numbers)| format!("{words} {}", numbers.map(bits).join(" ")))
        .collect()
}

fn bits(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else {
        format!("{:x}", x.to_bits())
    }
}

/// A printed line, its last three numbers as bits.
fn read(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for word in words.iter_mut().skip(6) {
        *word = bits(word.trim_start_matches('-').parse().unwrap());
    }
    words.join(" ")
}

#[test]
fn a_c_program_decides_what_a_session_decides() {
    let Some(cc) = compiler() else {
        eprintln!("skipped: there is no C compiler");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("capi.f64");
    let mut samples = frames(&STUDY.recording);
    samples[3000 * N + 2] = f64::NAN;
    let bytes: Vec<u8> = samples.iter().flat_map(|x| x.to_ne_bytes()).collect();
    std::fs::write(&file, bytes).unwrap();
    let cue = Marker::new(At::Sample(1000), "feet");
    let saved = |(name, model): (&str, &FittedModel)| {
        let path = folder.join(format!("capi-{name}.stiefel"));
        model.save(&path, true).unwrap();
        let wanted = expected(model, &samples, &cue);
        assert!(wanted.len() > 100 && wanted.iter().any(|line| line.contains("non-finite")));
        (path, wanted)
    };
    let peer = fitted("recentred-ts+lr");
    let models = [("choir", &STUDY.model), ("peer", &peer)].map(saved);

    let folder = libraries();
    let (search, archive) = (
        format!("-L{}", folder.display()),
        folder.join("libstiefel_capi.a"),
    );
    let found = format!("-Wl,-rpath,{}", folder.display());
    let shared = [search.as_str(), "-lstiefel_capi", found.as_str(), "-lm"];
    let fixed = [archive.to_str().unwrap(), "-lpthread", "-ldl", "-lm"];
    for (name, link) in [
        ("decide-shared", &shared[..]),
        ("decide-static", &fixed[..]),
    ] {
        let program = compiled(&cc, name, link);
        for (model, wanted) in &models {
            let run = Command::new(&program)
                .args([model, &file])
                .args(["1000", "feet"])
                .output()
                .unwrap();
            assert!(
                run.status.success(),
                "{name}: {:?} {}",
                run.status,
                String::from_utf8_lossy(&run.stderr)
            );
            let said = String::from_utf8(run.stdout).unwrap();
            let said: Vec<String> = said.lines().map(read).collect();
            assert_eq!(said, *wanted, "{name}, {}", model.display());
        }
    }
}

#[test]
fn the_header_is_the_one_of_these_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(here.join(path)).unwrap();
    let header = read("include/stiefel.h");
    let (first, body) = header.split_once('\n').unwrap();
    let all = read("src/types.rs") + &read("src/interface.rs") + body;
    // FNV-1a, as `cargo xtask header` computes it.
    let sum = all.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    assert_eq!(
        first,
        format!("/* Written by cargo xtask header; {sum:016x} */"),
        "the header and the sources do not belong together: run `cargo xtask header`"
    );
}
