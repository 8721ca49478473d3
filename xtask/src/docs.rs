//! `cargo xtask docs`: the documentation as a site, `target/docs/html/index.html`.
//!
//! Sphinx builds the pages of `docs/`, runs the gallery, and takes the reference from docstrings
//! and from the program's own help; every warning is an error. rustdoc's pages of the library's
//! crates come beside them, and then every link within the site is followed, rustdoc's too.

use crate::chore::{Step, cargo, step};
use crate::python::{interpreter, package, prepared};

/// Where Sphinx and the package are installed, below the workspace root.
const ENVIRONMENT: &str = "target/docs-venv";
/// Where the site is built.
const SITE: &str = "target/docs/html";

/// The crates that `docs/rust.md` lists; the others are programs and tools.
const CRATES: [&str; 10] = [
    "stiefel",
    "stiefel-data",
    "stiefel-eeg",
    "stiefel-formats",
    "stiefel-model",
    "stiefel-live",
    "stiefel-study",
    "stiefel-autodiff",
    "stiefel-geometry",
    "stiefel-linalg",
];

/// What the pages are made with: an environment and its packages. Takes no part of the workspace.
pub(crate) fn environment() -> Vec<Step> {
    let files = ["docs/requirements.txt", "python/requirements-test.txt"];
    prepared("documentation environment", ENVIRONMENT, &files)
}

/// Package, pages, rustdoc, links.
pub(crate) fn pages() -> Vec<Step> {
    let python = interpreter(ENVIRONMENT);
    let sphinx = ["-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"];
    let places = ["-d", "target/docs/doctrees", "docs", SITE];
    // rustdoc's own pages lead to a first page, which it does not write.
    let first = "<!doctype html><meta http-equiv=\"refresh\" \
                 content=\"0;url=stiefel/index.html\"><title>stiefel</title>";
    let beside = format!(
        "rm -rf {SITE}/rust && cp -r target/doc {SITE}/rust && echo '{first}' > \
         {SITE}/rust/index.html"
    );
    vec![
        package("package for the documentation", ENVIRONMENT, &["--no-deps"]),
        step("pages and gallery", &python, sphinx.iter().chain(&places)),
        step("an empty folder", "sh", ["-ec", &folders()]),
        rustdoc(),
        step("rustdoc beside the pages", "sh", ["-ec", &beside]),
        step("links", &python, ["docs/_tools/check_links.py", SITE]),
    ]
}

/// Folders for rustdoc's pages, without what was documented there for others: `cargo xtask test`
/// documents private items. rustdoc links to a crate whose folder it finds, and cargo documents all
/// of them at once: a folder that came later would be a link that leads nowhere.
fn folders() -> String {
    let names: Vec<String> = CRATES
        .iter()
        .map(|name| format!("target/doc/{}", name.replace('-', "_")))
        .collect();
    format!("rm -rf target/doc && mkdir -p {}", names.join(" "))
}

fn rustdoc() -> Step {
    let crates = CRATES.iter().flat_map(|name| ["-p", name]);
    let words: Vec<&str> = ["doc", "--no-deps", "--lib", "--quiet"]
        .into_iter()
        .chain(crates)
        .collect();
    let mut rustdoc = cargo("rustdoc", &words);
    rustdoc.command.env("RUSTDOCFLAGS", "-D warnings");
    rustdoc
}
