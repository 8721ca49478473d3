//! The toy kind of model is in what tests build, and in nothing that is built for others.

use crate::chore::root;
use std::process::Command;

/// Tells whether a package has the toy kind under these features.
fn has_toy(package: &str, features: &str) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let edges = [
        "tree",
        "--edges",
        "features,no-dev",
        "--invert",
        "stiefel-model",
    ];
    let chosen = ["--package", package, "--features", features];
    let found = Command::new(cargo)
        .current_dir(root())
        .args(edges.into_iter().chain(chosen))
        .output()
        .unwrap();
    assert!(found.status.success(), "{package}: {found:?}");
    String::from_utf8_lossy(&found.stdout).contains("feature \"test-kind\"")
}

#[test]
fn no_release_has_the_toy_kind() {
    for (package, features) in [
        ("stiefel", "default"),
        ("stiefel-cli", ""),
        ("stiefel-cli", "download"),
        ("stiefel-capi", ""),
        ("stiefel-python", ""),
    ] {
        assert!(!has_toy(package, features), "{package} with \"{features}\"");
    }
    assert!(has_toy("stiefel-python", "as-in-workspace"));
}
