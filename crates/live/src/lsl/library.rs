//! `liblsl`, loaded where it is found: its functions by name, with the types of `lsl_c.h`.

#![allow(
    unsafe_code,
    reason = "a foreign library is loaded and its functions are looked up by name"
)]

use std::error::Error;
use std::ffi::{OsString, c_char, c_double, c_int, c_ulong, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use libloading::Library;

use crate::{LiveError, Result};

/// A stream's description, an inlet, an outlet, or a node of XML.
pub(super) type Handle = *mut c_void;

/// Names under which systems know the library.
const NAMES: [&str; 6] = [
    "liblsl.so",
    "liblsl.so.2",
    "liblsl64.so",
    "liblsl.dylib",
    "lsl.dll",
    "liblsl64.dll",
];

/// Python packages that bring it along.
const PACKAGES: &str = "\
import importlib.util, os
for name in ('pylsl', 'mne_lsl'):
    spec = importlib.util.find_spec(name)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for place, _, files in os.walk(folder):
            for file in sorted(files):
                if 'lsl' in file and ('.so' in file or file.endswith(('.dylib', '.dll'))) and \
                        'lib' in os.path.basename(place):
                    print(os.path.join(place, file))
";

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library that are used here. They stay valid as long as the library is loaded, which this keeps it.
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> std::result::Result<Self, libloading::Error> {
                $(
                    // SAFETY: the type is that of the function of this name in lsl_c.h, which has not changed since version 1.10.
                    let $name = *unsafe { library.get::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(concat!("lsl_", stringify!($name), "\0").as_bytes())? };
                )*
                Ok(Self { $($name,)* _library: library })
            }
        }
    };
}

functions! {
    library_version: fn() -> c_int;
    local_clock: fn() -> c_double;
    resolve_bypred: fn(*mut Handle, u32, *const c_char, c_int, c_double) -> c_int;
    destroy_streaminfo: fn(Handle);
    get_name: fn(Handle) -> *const c_char;
    get_type: fn(Handle) -> *const c_char;
    get_source_id: fn(Handle) -> *const c_char;
    get_hostname: fn(Handle) -> *const c_char;
    get_channel_count: fn(Handle) -> c_int;
    get_nominal_srate: fn(Handle) -> c_double;
    get_channel_format: fn(Handle) -> c_int;
    get_desc: fn(Handle) -> Handle;
    child: fn(Handle, *const c_char) -> Handle;
    next_sibling_n: fn(Handle, *const c_char) -> Handle;
    empty: fn(Handle) -> c_int;
    child_value_n: fn(Handle, *const c_char) -> *const c_char;
    append_child: fn(Handle, *const c_char) -> Handle;
    append_child_value: fn(Handle, *const c_char, *const c_char) -> Handle;
    create_inlet: fn(Handle, c_int, c_int, c_int) -> Handle;
    destroy_inlet: fn(Handle);
    open_stream: fn(Handle, c_double, *mut c_int);
    get_fullinfo: fn(Handle, c_double, *mut c_int) -> Handle;
    time_correction: fn(Handle, c_double, *mut c_int) -> c_double;
    pull_sample_d: fn(Handle, *mut c_double, c_int, c_double, *mut c_int) -> c_double;
    pull_chunk_d: fn(Handle, *mut c_double, *mut c_double, c_ulong, c_ulong, c_double, *mut c_int) -> c_ulong;
    pull_sample_str: fn(Handle, *mut *mut c_char, c_int, c_double, *mut c_int) -> c_double;
    destroy_string: fn(*mut c_char);
    create_streaminfo: fn(*const c_char, *const c_char, c_int, c_double, c_int, *const c_char) -> Handle;
    create_outlet: fn(Handle, c_int, c_int) -> Handle;
    destroy_outlet: fn(Handle);
    push_sample_dt: fn(Handle, *const c_double, c_double) -> c_int;
}

/// The library, loaded.
#[derive(Clone)]
pub struct Lsl(pub(super) Arc<Functions>);

impl std::fmt::Debug for Lsl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lsl({})", self.version())
    }
}

impl Lsl {
    /// Loads the library: from a path that is given, from the variable `STIEFEL_LIBLSL`, by the
    /// names systems know it under, or from the packages `pylsl` and `mne-lsl` of the Python at
    /// hand.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        let variable = std::env::var_os("STIEFEL_LIBLSL").filter(|v| !v.is_empty());
        let named = match (path, variable) {
            (Some(path), _) => Some(path.as_os_str().to_owned()),
            (None, variable) => variable,
        };
        if let Some(name) = named {
            return open(&name).map_err(|error| {
                // The system's own words are behind the error.
                let why = error
                    .source()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                LiveError::failed(
                    format!(
                        "{} is not an LSL library that can be loaded: {why}",
                        name.to_string_lossy()
                    ),
                    "give the file of liblsl, or leave the option out: then the program looks for \
                     the library",
                )
            });
        }
        let system = NAMES
            .iter()
            .map(OsString::from)
            .find_map(|name| open(&name).ok());
        let packaged = || {
            packages()
                .into_iter()
                .find_map(|path| open(path.as_os_str()).ok())
        };
        system.or_else(packaged).ok_or_else(|| {
            LiveError::failed(
                format!(
                    "the LSL library was not found (as {} or in a Python package)",
                    NAMES.join(", ")
                ),
                "`pip install pylsl` installs it; or name its file",
            )
        })
    }

    /// The version, as `116` for 1.16.
    pub fn version(&self) -> i32 {
        // SAFETY: takes nothing, gives a number.
        unsafe { (self.0.library_version)() }
    }

    /// The clock that stamps are compared with, in seconds.
    pub fn clock(&self) -> f64 {
        // SAFETY: takes nothing, gives a number.
        unsafe { (self.0.local_clock)() }
    }
}

fn open(name: &std::ffi::OsStr) -> std::result::Result<Lsl, libloading::Error> {
    // SAFETY: loading runs the initialisers of a library that the user named or that is called
    // liblsl; they set up its own state only.
    let library = unsafe { Library::new(name)? };
    Ok(Lsl(Arc::new(Functions::of(library)?)))
}

/// Files of the library that Python packages brought along.
fn packages() -> Vec<PathBuf> {
    let found = ["python3", "python"].into_iter().find_map(|python| {
        let output = Command::new(python).args(["-c", PACKAGES]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (!text.trim().is_empty()).then_some(text)
    });
    found
        .iter()
        .flat_map(|text| text.lines())
        .map(PathBuf::from)
        .collect()
}
