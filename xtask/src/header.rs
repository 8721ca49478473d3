//! `cargo xtask header`: the header of the C interface, by cbindgen.
//!
//! Its first line holds a sum (FNV-1a, 64 bits) over the sources of the interface and the rest of
//! the header, which the tests of the crate compute again: they notice a header that was not
//! written anew, and need no cbindgen for it.

use crate::chore::root;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The version that writes it.
const VERSION: &str = "0.29.4";
/// What the header is written from.
const SOURCES: [&str; 2] = ["src/types.rs", "src/interface.rs"];
/// Where it is installed, below the workspace root.
const TOOLS: &str = "target/tools";

/// Writes the header.
pub(crate) fn write() -> ExitCode {
    match written() {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn written() -> Result<PathBuf, String> {
    let tool = root().join(TOOLS).join("bin/cbindgen");
    if !tool.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut install = Command::new(cargo);
        install.current_dir(root());
        install.args(["install", "--debug", "--locked", "--root", TOOLS]);
        install.args(["--version", VERSION, "cbindgen"]);
        let done = install.status().map_err(|e| e.to_string())?;
        if !done.success() {
            return Err(format!("cbindgen {VERSION} could not be installed"));
        }
    }
    let folder = root().join("crates/capi");
    let output = Command::new(tool)
        .current_dir(&folder)
        .args([
            "--quiet",
            "--config",
            "cbindgen.toml",
            "--crate",
            "stiefel-capi",
        ])
        .output()
        .map_err(|error| format!("cbindgen did not start: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let body = String::from_utf8(output.stdout).map_err(|e| e.to_string())?;
    let mut all = String::new();
    for source in SOURCES {
        all += &fs::read_to_string(folder.join(source)).map_err(|e| format!("{source}: {e}"))?;
    }
    all += &body;
    let sum = fnv(&all);
    let header = folder.join("include/stiefel.h");
    let text = format!("/* Written by cargo xtask header; {sum:016x} */\n{body}");
    fs::write(&header, text).map_err(|error| format!("{}: {error}", header.display()))?;
    Ok(header)
}

fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}
