//! Reads damaged files for as long as one likes: `cargo xtask fuzz --minutes N [READER …]`, or as
//! many as one likes: `--inputs N`. Another `--seed` draws others.
//!
//! Every reader starts from its fixtures and the inputs kept in `tests/corpus`; an input whose
//! answer is new (its message without numbers) joins the pool. A panic, no answer within two
//! seconds of processor time, or more memory than four times the file and 64 MB ends the run with
//! exit 1; the input is then under `target/fuzz`. With `--keep`, small inputs with new answers go
//! to `tests/corpus`.

#[path = "../tests/counting/mod.rs"]
mod counting;
#[path = "../tests/mutation/mod.rs"]
mod mutation;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mutation::{Random, mutate};
use stiefel_formats::{Limits, ReadOptions, Source, read_with};

const SLOWEST: Duration = Duration::from_secs(2);
/// A slow answer is asked for again: on a busy machine the clock runs while nothing does.
const TRIES: usize = 5;
/// An input that never comes back: so much processor time, or so many seconds awake (a process that
/// stands still sees no seconds pass).
const HANGS: (Duration, u32) = (Duration::from_secs(60), 1800);
const FREE: usize = 64 << 20;
const TIMES: usize = 4;
const EXPANDED: u64 = 4 << 20;
const POOL: usize = 400;
const KEPT_BYTES: usize = 4 << 10;
const KEPT_EACH: usize = 8;

/// Readers and their fixtures; a name without ending stands for the files of a BrainVision
/// recording.
const READERS: [(&str, &[&str]); 10] = [
    (
        "edf",
        &[
            "edf/plain.edf",
            "edf/plus.edf",
            "edf/gaps.edf",
            "edf/status.bdf",
            "edf/plus.bdf",
        ],
    ),
    (
        "gdf",
        &[
            "gdf/v120.gdf",
            "gdf/v125.gdf",
            "gdf/v220.gdf",
            "gdf/mixed.gdf",
        ],
    ),
    (
        "brainvision",
        &[
            "brainvision/int16",
            "brainvision/float32",
            "brainvision/vectorized",
        ],
    ),
    (
        "fif",
        &[
            "fif/short_raw.fif",
            "fif/double_raw.fif",
            "fif/skip_raw.fif",
            "fif/single-epo.fif",
            "fif/packed_raw.fif.gz",
        ],
    ),
    (
        "mat5",
        &[
            "matlab/bnci.mat",
            "matlab/bnci_compressed.mat",
            "matlab/bnci_big_endian.mat",
            "eeglab/exported.set",
            "eeglab/fieldtrip.mat",
        ],
    ),
    (
        "mat73",
        &[
            "eeglab/seven_epochs.set",
            "eeglab/chunks.mat",
            "eeglab/latest.mat",
        ],
    ),
    (
        "xdf",
        &["xdf/two_clocks.xdf", "xdf/break.xdf", "xdf/reset.xdf"],
    ),
    ("bci2000", &["bci2000/int16.dat", "bci2000/float32.dat"]),
    (
        "csv",
        &["csv/comma.csv", "csv/semicolon.csv", "csv/openbci.txt"],
    ),
    (
        "numpy",
        &[
            "numpy/epochs.npz",
            "numpy/covariances.npz",
            "numpy/X_fortran.npy",
            "numpy/X_be_i2.npy",
        ],
    ),
];

/// When a reader has had enough.
struct Until {
    time: Duration,
    inputs: u64,
}

/// A file and those that belong to it.
type Files = Vec<(String, Vec<u8>)>;

fn here(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder)
}

fn load(name: &str) -> std::io::Result<Files> {
    let names: Vec<String> = if name.starts_with("brainvision") {
        ["vhdr", "vmrk", "eeg"]
            .map(|e| format!("{name}.{e}"))
            .to_vec()
    } else {
        vec![name.to_owned()]
    };
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let one = |n: &String| Ok((last(n), std::fs::read(here("fixtures").join(n))?));
    names.iter().map(one).collect()
}

/// What came of an input: a signature of the answer, or what went wrong.
fn answer(files: &Files, partial: bool) -> Result<String, String> {
    let mut slow = String::new();
    for _ in 0..TRIES {
        let (time, answer) = once(files, partial)?;
        if time <= SLOWEST {
            return Ok(answer);
        }
        slow = format!("an answer after {time:?}, {TRIES} times");
    }
    Err(slow)
}

/// Seconds and signature of the answer to an input, or what went wrong.
fn once(files: &Files, partial: bool) -> Result<(Duration, String), String> {
    let options = ReadOptions {
        partial,
        limits: Limits {
            max_expanded: EXPANDED,
            ..Limits::default()
        },
        sampling_rate: Some(100.0),
        ..ReadOptions::default()
    };
    let size: usize = files.iter().map(|f| f.1.len()).sum();
    let (clock, worked) = (Instant::now(), processor_time());
    let run = || {
        let mut source = Source::from_bytes(files[0].0.as_str(), &files[0].1);
        for (name, bytes) in &files[1..] {
            source = source.with_sibling(name.as_str(), bytes);
        }
        match read_with(source, &options) {
            Ok(content) => format!("{} read", content.kind()),
            Err(error) => error.to_string(),
        }
    };
    let (result, peak) = counting::peak(|| catch_unwind(AssertUnwindSafe(run)));
    let waited = clock.elapsed();
    // Waiting for a busy machine is not slowness of the reader.
    let time = match (worked, processor_time()) {
        (Some(before), Some(after)) => waited.min(after.saturating_sub(before)),
        _ => waited,
    };
    let limit = TIMES * size + FREE;
    match result {
        Err(_) => Err("a panic".into()),
        Ok(_) if peak > limit => Err(format!("{peak} bytes of memory for {size} of input")),
        Ok(text) => Ok((time, signature(&text))),
    }
}

/// What all threads of this process have computed so far, where the system tells (Linux: hundredths
/// of a second).
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold anything; user and system time are the 14th and 15th field.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

/// An answer without numbers and without what it quotes of the file.
fn signature(text: &str) -> String {
    let plain: String = text.split('"').step_by(2).collect();
    let letters = plain.chars().filter(|c| !c.is_ascii_digit());
    letters.take(120).collect()
}

fn save(folder: &Path, reader: &str, label: &str, files: &Files) -> std::io::Result<PathBuf> {
    let folder = folder.join(reader);
    std::fs::create_dir_all(&folder)?;
    let mut first = PathBuf::new();
    for (name, bytes) in files {
        let path = folder.join(format!("{label}-{name}"));
        std::fs::write(&path, bytes)?;
        if first.as_os_str().is_empty() {
            first = path;
        }
    }
    Ok(first)
}

fn fuzz(
    reader: &str,
    fixtures: &[&str],
    until: &Until,
    keep: bool,
    seed: u64,
) -> Result<String, String> {
    let io = |e: std::io::Error| e.to_string();
    let mut pool: Vec<Files> = Vec::new();
    for name in fixtures {
        pool.push(load(name).map_err(io)?);
    }
    let corpus = here("corpus").join(reader);
    for entry in std::fs::read_dir(&corpus).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        pool.push(vec![(name, std::fs::read(entry.path()).map_err(io)?)]);
    }
    let own = pool.len();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for files in &pool {
        seen.insert(answer(files, false)?);
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz");
    let current: Current = Arc::new(Mutex::new((0, Vec::new())));
    watch(&current, &target, reader);
    let start = Instant::now();
    let (mut inputs, mut read, mut kept) = (0u64, 0u64, 0);
    while start.elapsed() < until.time && inputs < until.inputs {
        // Far apart, so that no two inputs of any two seeds draw the same numbers.
        let mut random = Random(Random(seed).next() ^ Random(inputs).next().rotate_left(17));
        // Half of the inputs start from a whole file: most of what was found is refused early.
        let from = if random.below(2) == 0 {
            own
        } else {
            pool.len()
        };
        let mut files = pool[random.below(from)].clone();
        for _ in 0..=random.below(5) {
            let file = random.below(files.len());
            if random.below(12) == 0 {
                splice(&mut random, &pool, &mut files[file].1);
            } else {
                mutate(&mut random, &mut files[file].1);
            }
        }
        if let Ok(mut shared) = current.lock() {
            *shared = (inputs, files.clone());
        }
        match answer(&files, random.below(2) == 0) {
            Err(trouble) => {
                let path = save(&target, reader, &inputs.to_string(), &files).map_err(io)?;
                return Err(format!("{trouble}, by {}", path.display()));
            }
            Ok(text) => {
                read += u64::from(text.ends_with(" read"));
                if seen.insert(text) && pool.len() < POOL {
                    let small = files.len() == 1 && files[0].1.len() <= KEPT_BYTES;
                    if keep && small && kept < KEPT_EACH {
                        let label = format!("{kept:02}");
                        save(&here("corpus"), reader, &label, &files).map_err(io)?;
                        kept += 1;
                    }
                    pool.push(files);
                }
            }
        }
        inputs += 1;
    }
    if let Ok(mut shared) = current.lock() {
        shared.1.clear();
    }
    Ok(format!(
        "{reader:<12} {inputs:>9} inputs, {read:>8} read, {:>4} answers, pool {own} + {}",
        seen.len(),
        pool.len() - own
    ))
}

/// A stretch of another input in the place of one's own.
fn splice(random: &mut Random, pool: &[Files], bytes: &mut Vec<u8>) {
    let other = &pool[random.below(pool.len())][0].1;
    if other.is_empty() || bytes.is_empty() {
        return;
    }
    let from = random.below(other.len());
    let len = (1 + random.below(64)).min(other.len() - from);
    let at = random.below(bytes.len());
    let end = (at + len).min(bytes.len());
    bytes.splice(at..end, other[from..from + len].iter().copied());
}

/// The number of the input at work, and the input; nothing between inputs.
type Current = Arc<Mutex<(u64, Files)>>;

/// Ends the program where one input never comes back.
fn watch(current: &Current, target: &Path, reader: &str) {
    let (current, target, reader) = (Arc::clone(current), target.to_path_buf(), reader.to_owned());
    std::thread::spawn(move || {
        let (mut number, mut seconds, mut start) = (u64::MAX, 0, processor_time());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let Ok(shared) = current.lock() else { return };
            if shared.1.is_empty() || shared.0 != number {
                (number, seconds, start) = (shared.0, 0, processor_time());
                continue;
            }
            seconds += 1;
            let worked = match (start, processor_time()) {
                (Some(start), Some(now)) => now.saturating_sub(start),
                _ => Duration::ZERO,
            };
            if worked > HANGS.0 || seconds > HANGS.1 {
                let saved = save(&target, &reader, "hang", &shared.1);
                eprintln!(
                    "{reader}: no answer after {worked:?} of processor time and {seconds} s, \
                     input {saved:?}"
                );
                std::process::exit(1);
            }
        }
    });
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str| words.iter().skip_while(|w| *w != flag).nth(1);
    let minutes = after("--minutes").and_then(|w| w.parse::<f64>().ok());
    let inputs = after("--inputs").and_then(|w| w.parse::<u64>().ok());
    // A number of inputs alone takes the time that it takes.
    let minutes = minutes.unwrap_or(if inputs.is_some() { 1e6 } else { 1.0 });
    let until = Until {
        time: Duration::from_secs_f64(60.0 * minutes),
        inputs: inputs.unwrap_or(u64::MAX),
    };
    let seed: u64 = after("--seed").and_then(|w| w.parse().ok()).unwrap_or(0);
    let keep = words.iter().any(|w| w == "--keep");
    let wanted = |name: &str| {
        let named: Vec<_> = words
            .iter()
            .filter(|w| READERS.iter().any(|r| r.0 == **w))
            .collect();
        named.is_empty() || named.iter().any(|w| *w == name)
    };
    let mut failed = false;
    for (reader, fixtures) in READERS.iter().filter(|r| wanted(r.0)) {
        match fuzz(reader, fixtures, &until, keep, seed) {
            Ok(line) => println!("{line}"),
            Err(trouble) => {
                eprintln!("{reader}: {trouble}");
                failed = true;
            }
        }
    }
    ExitCode::from(u8::from(failed))
}
