//! `cargo xtask dist`: what a release consists of, below `target/dist`.
//!
//! ```text
//! stiefel-VERSION-cp310-abi3-manylinux….whl     the Python package with the program inside
//! stiefel-VERSION.tar.gz                        its sources
//! stiefel-VERSION-TARGET.tar.gz                 the program alone, with licences, completions and manual pages
//! SHA256SUMS
//! ```
//!
//! On Linux wheel and program are linked against an old C library (zig brings one), so that they
//! run on systems older than this one, and the platform tag is checked by maturin, which refuses
//! symbols that the tag does not allow, and by auditwheel.

use crate::chore::{Step, cargo, host, root, step};
use crate::python::{interpreter, prepared};
use std::env;
use std::path::{Path, PathBuf};

/// Where the tools are installed, below the workspace root.
const ENVIRONMENT: &str = "target/dist-venv";
/// Where the wheel is tried.
const TRIAL: &str = "target/dist-trial";
/// Where everything is put.
const FOLDER: &str = "target/dist";
/// What the wheel's platform tag promises: glibc 2.17 or later.
const MANYLINUX: &str = "manylinux2014";

/// The C library that [`MANYLINUX`] stands for.
const GLIBC: &str = "2.17";
/// What is built as the program: downloads and all.
const PROGRAM: [&str; 6] = [
    "--release",
    "--locked",
    "-p",
    "stiefel-cli",
    "--features",
    "download",
];
/// What builds wheels; on Linux also what links for an old C library, and what looks at the result.
const TOOLS: [&str; 4] = [
    "maturin>=1.9.4,<2",
    "ziglang>=0.13,<0.16",
    "cargo-zigbuild>=0.20,<0.30",
    "auditwheel>=6,<7",
];

/// The steps, or why there are none.
pub(crate) fn dist() -> Result<Vec<Step>, String> {
    let system = env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let linux = cfg!(target_os = "linux");
    let tools = if linux { &TOOLS[..] } else { &TOOLS[..1] };
    let (host, version) = (host()?, env!("CARGO_PKG_VERSION"));
    let name = format!("stiefel-{version}-{host}");
    let pip = ["-m", "pip", "install", "--quiet"];
    let mut steps = vec![
        step("an empty folder", "rm", ["-rf", FOLDER]),
        step("environment", system, ["-m", "venv", ENVIRONMENT]),
        step("tools", tool("python"), pip.iter().chain(tools)),
    ];
    let built = if linux {
        let old = format!("{host}.{GLIBC}");
        let wheel = ["build", "--release", "--locked", "--zig"];
        let tag = ["--compatibility", MANYLINUX];
        let program = ["zigbuild"].into_iter().chain(PROGRAM);
        let program = program.chain(["--target", &old]);
        steps.extend([
            maturin("wheel", wheel.into_iter().chain(tag)),
            step("platform tag", "sh", ["-ec", &tag_is_kept()]),
            with_tools(step("program", tool("cargo-zigbuild"), program)),
        ]);
        format!("target/{host}/release/stiefel")
    } else {
        let program: Vec<_> = ["build"].into_iter().chain(PROGRAM).collect();
        steps.extend([
            maturin("wheel", ["build", "--release", "--locked"].into_iter()),
            cargo("program", &program),
        ]);
        "target/release/stiefel".into()
    };
    let sums = format!(
        "cd {FOLDER} && (sha256sum *.whl *.tar.gz || shasum -a 256 *.whl *.tar.gz) > SHA256SUMS \
         && cat SHA256SUMS"
    );
    steps.extend([
        maturin("sources of the package", ["sdist"].into_iter()),
        step(
            "archive of the program",
            "sh",
            ["-ec", &archive(&name, &built)],
        ),
        step("sums", "sh", ["-ec", &sums]),
    ]);
    Ok(steps)
}

/// auditwheel finds that the wheel needs no newer C library than its tag promises.
fn tag_is_kept() -> String {
    format!(
        "{ENVIRONMENT}/bin/auditwheel show {FOLDER}/*.whl | tee {FOLDER}/tag.txt
         grep -q 'manylinux_2_17\\|manylinux_2_5\\|manylinux_2_12' {FOLDER}/tag.txt
         rm {FOLDER}/tag.txt"
    )
}

/// Tries the wheel as somebody without Rust would: a new environment, nothing of Rust within reach.
pub(crate) fn check() -> Result<Vec<Step>, String> {
    let (python, version) = (interpreter(TRIAL), env!("CARGO_PKG_VERSION"));
    let mut steps = vec![step("an empty folder", "rm", ["-rf", TRIAL])];
    // The gallery runs beside MNE, MOABB and pyRiemann.
    steps.extend(prepared(
        "new environment",
        TRIAL,
        &["python/requirements-test.txt"],
    ));
    let wheel =
        format!("{TRIAL}/bin/python -m pip install --quiet --no-index --no-deps {FOLDER}/*.whl");
    let versions = format!(
        "{TRIAL}/bin/stiefel --version
         {TRIAL}/bin/stiefel --version | grep -q '^stiefel {version}'
         test \"$({TRIAL}/bin/python -c 'import stiefel; print(stiefel.__version__)')\" = {version}"
    );
    let demo = format!("{TRIAL}/bin/stiefel demo --output {TRIAL}/demo");
    let gallery = [
        "-m",
        "pytest",
        "-q",
        "python/tests/test_docs.py",
        "-k",
        "test_gallery",
    ];
    steps.extend([
        step("wheel", "sh", ["-ec", &wheel]),
        step("versions", "sh", ["-ec", &versions]),
        step("demonstration", "sh", ["-ec", &demo]),
        step("gallery", python, gallery),
    ]);
    let bare = env::join_paths([
        root().join(TRIAL).join("bin"),
        "/usr/bin".into(),
        "/bin".into(),
    ]);
    let bare =
        bare.map_err(|error| format!("the folder of the project cannot stand in PATH: {error}"))?;
    for step in steps.iter_mut().skip(3) {
        step.command.env("PATH", &bare);
    }
    Ok(steps)
}

/// The program with what belongs beside it.
fn archive(name: &str, built: &str) -> String {
    format!(
        "to={FOLDER}/{name}
         mkdir -p $to/completions
         cp {built} README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE $to
         strip $to/stiefel
         for shell in bash zsh fish; do $to/stiefel generate completions $shell > \
         $to/completions/stiefel.$shell; done
         $to/stiefel generate manual $to/man
         tar -C {FOLDER} -czf $to.tar.gz {name}
         rm -r $to"
    )
}

fn maturin<'a>(name: &'static str, words: impl Iterator<Item = &'a str>) -> Step {
    let folder = ["--manifest-path", "python/Cargo.toml", "--out", FOLDER];
    with_tools(step(name, tool("maturin"), words.chain(folder)))
}

/// zig and its friends are found where the environment put them.
fn with_tools(mut step: Step) -> Step {
    let found = env::var_os("PATH").unwrap_or_default();
    let own = root().join(ENVIRONMENT).join("bin");
    if let Ok(path) = env::join_paths([own].into_iter().chain(env::split_paths(&found))) {
        step.command.env("PATH", path);
    }
    step
}

fn tool(name: &str) -> PathBuf {
    Path::new(ENVIRONMENT).join("bin").join(name)
}
