//! `cargo xtask docs`: the documentation as a site, `target/docs/html/index.html`.
//!
//! Sphinx builds the pages of `docs/`, runs the gallery, and takes the reference from docstrings and from the program's own help; every warning is an
//! error. rustdoc's pages come beside them, and then every link within the site is followed.

use crate::chore::{Step, cargo, step};
use crate::python::{interpreter, package, prepared};

/// Where Sphinx and the package are installed, below the workspace root.
const ENVIRONMENT: &str = "target/docs-venv";
/// Where the site is built.
const SITE: &str = "target/docs/html";

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
    let rustdoc = ["doc", "--workspace", "--no-deps", "--quiet"];
    let beside = format!("rm -rf {SITE}/rust && cp -r target/doc {SITE}/rust");
    vec![
        package("package for the documentation", ENVIRONMENT, &["--no-deps"]),
        step("pages and gallery", &python, sphinx.iter().chain(&places)),
        cargo("rustdoc", &rustdoc),
        step("rustdoc beside the pages", "sh", ["-ec", &beside]),
        step("links", &python, ["docs/_tools/check_links.py", SITE]),
    ]
}
