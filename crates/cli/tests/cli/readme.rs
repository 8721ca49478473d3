//! Every command of the README and of the page "Install" runs, in its order, on synthetic
//! recordings under the names that they use.

use stiefel::eeg::montage::Montage;
use stiefel::eeg::synthetic::{Imagery, Synthetic, SyntheticConfig};

use super::Home;
use super::recordings::write_edf;

const PAGES: [&str; 2] = [
    include_str!("../../../../README.md"),
    include_str!("../../../../docs/install.md"),
];

/// Commands that are run elsewhere: by `cargo xtask test`, whose last steps install the package and
/// whose tests run the demonstration; and, the one that compiles everything once more, before a
/// release (`.github/workflows/release.yml`).
const ELSEWHERE: [&str; 4] = [
    "pip install ./python",
    "cargo install --path crates/cli --features download",
    "cargo run --release -- demo",
    "cargo xtask test",
];

/// What installs the program from its sources.
const RELEASE: &str = include_str!("../../../../.github/workflows/release.yml");

/// The lines after a prompt in the blocks of commands, without their comments, each once.
fn commands() -> Vec<&'static str> {
    let blocks = PAGES
        .iter()
        .flat_map(|page| page.split("```console\n").skip(1));
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    let mut found = Vec::new();
    for line in lines.filter_map(|line| line.strip_prefix("$ ")) {
        let command = line.split(" # ").next().unwrap().trim();
        if !found.contains(&command) {
            found.push(command);
        }
    }
    found
}

/// Four people with runs 6, 10 and 14, and a fifth whose first run is `newcomer.edf`.
fn write_recordings(home: &Home) {
    let classes = [Imagery::RightHand, Imagery::Feet];
    let config = SyntheticConfig::of(Montage::Bnci2015001, 128.0, vec![1; 5], 3, 15, &classes);
    let folder = home.0.join("recordings");
    std::fs::create_dir_all(&folder).unwrap();
    for item in Synthetic::new(config).unwrap().recordings() {
        let item = item.unwrap();
        let run = [6, 10, 14][item.run];
        let path = match (item.subject, item.run) {
            (4, 0) => home.0.join("newcomer.edf"),
            (4, _) => continue,
            (subject, _) => folder.join(format!("S{:03}R{run:02}.edf", subject + 1)),
        };
        write_edf(&path, &item.recording);
    }
}

#[test]
fn every_command_runs() {
    let home = Home::new();
    write_recordings(&home);
    let mut run = 0;
    for command in commands() {
        let Some(arguments) = command.strip_prefix("stiefel ") else {
            assert!(ELSEWHERE.contains(&command), "who runs `{command}`?");
            continue;
        };
        let done = home.run(arguments);
        assert!(done.status.success(), "{command}\n{done:?}");
        run += 1;
    }
    assert!(run >= 7, "{run} commands");
    assert!(RELEASE.contains(ELSEWHERE[1]));
    for made in ["dataset.npz", "model.stiefel", "met.stiefel"] {
        assert!(home.0.join(made).exists(), "{made}");
    }
}
