//! A setting is described once, by its type, and found at every door that this program has.

use std::fs;
use std::path::Path;

use super::recordings::write_study;
use super::{Home, code};

/// The files that are made, without the toy kind, which no release has.
fn without_toy(text: &str) -> String {
    let blocks = |text: &str, mark: &str, own: &str| {
        let kept: Vec<&str> = text.split(mark).filter(|b| !b.contains(own)).collect();
        kept.join(mark)
    };
    let text = blocks(text, "\n## ", "`toy`: ");
    let text = blocks(&text, "@overload\n", "Literal[\"toy\"]");
    blocks(&text, "\nclass _", "ToySettings(")
}

#[test]
fn files_made_from_settings_are_current() {
    let home = Home::new();
    home.text("generate settings .");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for path in ["docs/settings.md", "python/src/stiefel/_model.pyi"] {
        let made = fs::read_to_string(home.0.join(path)).unwrap();
        let kept = fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(
            without_toy(&made) == kept,
            "{path}: give `cargo xtask generate`"
        );
    }
}

/// The only setting of the toy kind: its doc line, default and range come from its field.
#[test]
fn a_field_of_the_toy_kind_is_a_setting_at_every_door() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    let train = "train ds.npz --model toy --overwrite -o";
    home.text(&format!("{train} m.stiefel --set sharpness=0.5"));
    assert!(home.text("inspect m.stiefel").contains("sharpness   0.5"));

    let help = home.text("help settings toy");
    for part in [
        "  sharpness=1.0",
        "The factor `s` of squared distances in the probabilities.",
        "Values: a number above 0.",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
    home.text("generate settings .");
    let read = |path: &str| fs::read_to_string(home.0.join(path)).unwrap();
    let row = "| `sharpness` | `1.0` | a number above 0 | The factor `s` of squared";
    assert!(read("docs/settings.md").contains(row));
    let stub = read("python/src/stiefel/_model.pyi");
    let field = "class _ToySettings(_Common, total=False):\n    sharpness: float | None\n    \
                 \"\"\"The factor `s` of squared distances in the probabilities. Default: 1.0.";
    assert!(
        stub.contains(field) && stub.contains("Unpack[_ToySettings]"),
        "{stub}"
    );

    fs::write(
        home.0.join("good.toml"),
        "[train]\nmodel = \"toy\"\nsharpness = 0.5\n",
    )
    .unwrap();
    home.text("train ds.npz -o n.stiefel --config good.toml --json");
    assert_eq!(
        fs::read(home.0.join("m.stiefel")).unwrap(),
        fs::read(home.0.join("n.stiefel")).unwrap()
    );
}

/// The sentence behind is that of Python too (`python/tests/test_model_kinds.py`).
#[test]
fn a_wrong_setting_is_refused_as_it_was_written() {
    let home = Home::new();
    write_study(&home.0.join("eeg"));
    home.text("prepare eeg -o ds.npz --classes T1=hands,T2=feet");
    let near = "toy has no such setting; did you mean sharpness? its settings are sharpness";
    for (name, value, sentence) in [
        ("sharpness", "0", "must be a number above 0"),
        ("sharpness", "\"much\"", "must be a number above 0"),
        ("sharpnes", "2", near),
    ] {
        let bare = value.trim_matches('"');
        let ended = home.run(&format!(
            "train ds.npz -o x.stiefel --model toy --set {name}={bare}"
        ));
        let expected = format!("error: --set {name}={bare}: {sentence}\n");
        assert_eq!(code(&ended), (2, expected));
        let file = format!("[train]\nmodel = \"toy\"\n{name} = {value}\n");
        fs::write(home.0.join("bad.toml"), file).unwrap();
        let ended = home.run("train ds.npz -o x.stiefel --config bad.toml");
        let expected = format!("error: {name} = {value} in bad.toml: {sentence}\n");
        assert_eq!(code(&ended), (2, expected));
    }
    let ended = home.run("train ds.npz -o x.stiefel --model dasp --set experts=0");
    let expected = "error: --set experts=0: must be a whole number of at least 1\n";
    assert_eq!(code(&ended), (2, expected.into()));
    let ended = home.run("study main ds.npz --set epochs=0");
    assert_eq!(code(&ended), (2, expected.replace("experts", "epochs")));
}
