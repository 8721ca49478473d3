//! Streams that are found by what they say of themselves, and read.

#![allow(
    unsafe_code,
    reason = "functions of a foreign library are called; every call says why it is sound"
)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::str::FromStr;

use stiefel_eeg::{Channel, ChannelKind};

use super::library::{Handle, Lsl};
use crate::{Description, LiveError, Result};

/// What the library calls a channel of strings.
const STRINGS: c_int = 3;
/// Its errors.
const TIMED_OUT: c_int = -1;
const LOST: c_int = -2;

/// Samples that are read at a time.
const CHUNK: usize = 256;

/// How long to wait, in seconds.
pub type Timeout = f64;

/// Which stream is meant: `type=EEG`, `name=Amplifier`, `source_id=a1b2`, several with commas
/// between, or a name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl FromStr for Query {
    type Err = LiveError;

    /// ```
    /// use stiefel_live::lsl::Query;
    /// assert_eq!(
    ///     "type=EEG,name=Amp".parse::<Query>()?.predicate(),
    ///     "type='EEG' and name='Amp'"
    /// );
    /// assert!("colour=red".parse::<Query>().is_err());
    /// # Ok::<(), stiefel_live::LiveError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split(',').map(|part| {
            let (key, value) = part.split_once('=').unwrap_or(("name", part));
            let (key, value) = (key.trim(), value.trim());
            let known = ["name", "type", "source_id", "hostname"].contains(&key);
            if known && !value.is_empty() && !value.contains(['\'', '"', '\0']) {
                return Ok((key.to_owned(), value.to_owned()));
            }
            Err(LiveError::setting(
                format!("\"{part}\" does not describe an LSL stream"),
                "describe it as type=EEG, name=NAME, source_id=ID or hostname=HOST",
            ))
        });
        Ok(Self(parts.collect::<Result<_>>()?))
    }
}

impl Query {
    /// Any stream.
    pub fn any() -> Self {
        Self(Vec::new())
    }

    /// The same as the library takes it.
    pub fn predicate(&self) -> String {
        if self.0.is_empty() {
            return "starts-with(name, '')".into();
        }
        let each: Vec<String> = self.0.iter().map(|(k, v)| format!("{k}='{v}'")).collect();
        each.join(" and ")
    }
}

/// A stream that was found.
#[derive(Debug)]
pub struct LslStream {
    lsl: Lsl,
    info: Handle,
}

impl Drop for LslStream {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library, is owned by this value alone and is not used
        // afterwards.
        unsafe { (self.lsl.0.destroy_streaminfo)(self.info) }
    }
}

impl Lsl {
    /// The streams that match, at least one unless the time is over.
    pub fn resolve(
        &self,
        query: &Query,
        at_least: usize,
        timeout: Timeout,
    ) -> Result<Vec<LslStream>> {
        const MOST: usize = 32;
        let predicate = text(&query.predicate())?;
        let mut found = [ptr::null_mut(); MOST];
        // SAFETY: the buffer has as many places as are told, and the predicate is a C string that
        // outlives the call.
        let count = unsafe {
            (self.0.resolve_bypred)(
                found.as_mut_ptr(),
                MOST as u32,
                predicate.as_ptr(),
                at_least as c_int,
                timeout,
            )
        };
        let found = found.iter().take(usize::try_from(count).unwrap_or(0));
        Ok(found
            .map(|&info| LslStream {
                lsl: self.clone(),
                info,
            })
            .collect())
    }
}

impl LslStream {
    /// Name, type, and where it comes from, for messages.
    pub fn describe(&self) -> String {
        let said = |get| said(get, self.info);
        let f = &self.lsl.0;
        format!(
            "\"{}\" (type {}, source {}, on {})",
            said(f.get_name),
            said(f.get_type),
            said(f.get_source_id),
            said(f.get_hostname)
        )
    }

    /// Opens it for reading.
    pub fn open(&self, timeout: Timeout) -> Result<Inlet> {
        const BUFFER_SECONDS: c_int = 60;
        // SAFETY: the handle is valid. Without recovery by the library: a lost stream is told, and
        // looked for by whoever reads.
        let inlet = unsafe { (self.lsl.0.create_inlet)(self.info, BUFFER_SECONDS, 0, 0) };
        if inlet.is_null() {
            return Err(refused("the stream could not be opened"));
        }
        let mut inlet = Inlet {
            lsl: self.lsl.clone(),
            handle: inlet,
            width: 0,
            strings: false,
            correction: 0.0,
            description: Description {
                name: String::new(),
                rate: None,
                channels: Vec::new(),
            },
            chunk: (Vec::new(), Vec::new()),
        };
        inlet.learn(timeout)?;
        let mut error = 0;
        // SAFETY: the handle is valid, the error is written to a local.
        unsafe { (inlet.lsl.0.open_stream)(inlet.handle, timeout, &raw mut error) };
        check(error, "opening the stream")?;
        inlet.correct(timeout)?;
        Ok(inlet)
    }
}

/// A stream that is read.
#[derive(Debug)]
pub struct Inlet {
    lsl: Lsl,
    handle: Handle,
    width: usize,
    strings: bool,
    correction: f64,
    description: Description,
    /// Buffers of [`pull`](Self::pull): samples and their times.
    chunk: (Vec<f64>, Vec<f64>),
}

impl Drop for Inlet {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library, is owned by this value alone and is not used
        // afterwards.
        unsafe { (self.lsl.0.destroy_inlet)(self.handle) }
    }
}

impl Inlet {
    /// What the stream says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }

    fn learn(&mut self, timeout: Timeout) -> Result<()> {
        let mut error = 0;
        // SAFETY: the handle is valid, the error is written to a local.
        let info = unsafe { (self.lsl.0.get_fullinfo)(self.handle, timeout, &raw mut error) };
        check(error, "asking the stream for its description")?;
        let stream = LslStream {
            lsl: self.lsl.clone(),
            info,
        };
        // SAFETY: the handle is valid until `stream` is dropped.
        let (count, rate, format) = unsafe {
            let f = &self.lsl.0;
            (
                (f.get_channel_count)(info),
                (f.get_nominal_srate)(info),
                (f.get_channel_format)(info),
            )
        };
        self.width = usize::try_from(count).unwrap_or(0);
        self.strings = format == STRINGS;
        let name = said(self.lsl.0.get_name, info);
        self.description = Description {
            name: format!("the stream \"{name}\""),
            rate: (rate > 0.0).then_some(rate),
            channels: channels(&stream, self.width)?,
        };
        Ok(())
    }

    /// Asks for the offset between the sender's clock and this machine's again.
    pub fn correct(&mut self, timeout: Timeout) -> Result<()> {
        let mut error = 0;
        // SAFETY: the handle is valid, the error is written to a local.
        let found = unsafe { (self.lsl.0.time_correction)(self.handle, timeout, &raw mut error) };
        if error == TIMED_OUT {
            return Ok(());
        }
        check(error, "asking for the clock of the stream")?;
        self.correction = found;
        Ok(())
    }

    /// Appends the samples that are there, and their times on this machine's clock; waits for the
    /// first where there is none. How many there were.
    pub fn pull(
        &mut self,
        samples: &mut Vec<f64>,
        times: &mut Vec<f64>,
        timeout: Timeout,
    ) -> Result<usize> {
        let (first, width, mut error) = (times.len(), self.width, 0);
        let start = samples.len();
        samples.resize(start + width, 0.0);
        // SAFETY: the buffer has `width` places from `start` on, the error is written to a local.
        let stamp = unsafe {
            (self.lsl.0.pull_sample_d)(
                self.handle,
                samples[start..].as_mut_ptr(),
                width as c_int,
                timeout,
                &raw mut error,
            )
        };
        if stamp == 0.0 || error != 0 {
            samples.truncate(start);
            return match error {
                0 | TIMED_OUT => Ok(0),
                other => check(other, "reading the stream").map(|()| 0),
            };
        }
        times.push(stamp);
        // Others may be there already. They come into buffers of their own: to clear room for a
        // whole chunk at every sample would take longer than to read it.
        let (chunk, stamps) = (&mut self.chunk.0, &mut self.chunk.1);
        chunk.resize(CHUNK * width, 0.0);
        stamps.resize(CHUNK, 0.0);
        // SAFETY: both buffers have as many places as are told, the error is written to a local.
        let values = unsafe {
            (self.lsl.0.pull_chunk_d)(
                self.handle,
                chunk.as_mut_ptr(),
                stamps.as_mut_ptr(),
                chunk.len() as _,
                stamps.len() as _,
                0.0,
                &raw mut error,
            )
        } as usize;
        let values = if error == 0 { values } else { 0 };
        samples.extend_from_slice(&chunk[..values]);
        times.extend_from_slice(&stamps[..values / width.max(1)]);
        for time in &mut times[first..] {
            *time += self.correction;
        }
        Ok(times.len() - first)
    }

    /// The next marker and its time on this machine's clock, where there is one.
    pub fn pull_marker(&mut self) -> Result<Option<(f64, String)>> {
        let mut error = 0;
        let (stamp, label) = if self.strings {
            let mut texts: Vec<*mut c_char> = vec![ptr::null_mut(); self.width];
            // SAFETY: the buffer has `width` places, the error is written to a local.
            let stamp = unsafe {
                (self.lsl.0.pull_sample_str)(
                    self.handle,
                    texts.as_mut_ptr(),
                    self.width as c_int,
                    0.0,
                    &raw mut error,
                )
            };
            // SAFETY: texts that were filled in are C strings of ours, to be given back to the
            // library; the others are null.
            let label = unsafe { copied(texts.first().copied().unwrap_or(ptr::null_mut())) };
            for text in texts.into_iter().filter(|t| !t.is_null()) {
                // SAFETY: the text came from the library and is not used afterwards.
                unsafe { (self.lsl.0.destroy_string)(text) };
            }
            (stamp, label)
        } else {
            let mut values = vec![0.0; self.width];
            // SAFETY: the buffer has `width` places, the error is written to a local.
            let stamp = unsafe {
                (self.lsl.0.pull_sample_d)(
                    self.handle,
                    values.as_mut_ptr(),
                    self.width as c_int,
                    0.0,
                    &raw mut error,
                )
            };
            (
                stamp,
                values.first().map(f64::to_string).unwrap_or_default(),
            )
        };
        match error {
            0 if stamp != 0.0 => Ok(Some((stamp + self.correction, label))),
            0 | TIMED_OUT => Ok(None),
            other => check(other, "reading the markers").map(|()| None),
        }
    }
}

/// The channels as the stream describes them; numbered where it does not.
fn channels(stream: &LslStream, count: usize) -> Result<Vec<Channel>> {
    let f = &stream.lsl.0;
    let (list, one) = (text("channels")?, text("channel")?);
    let keys = [text("label")?, text("unit")?, text("type")?];
    let mut found = Vec::with_capacity(count);
    // SAFETY: nodes are valid as long as the description is; an empty node stands for one that is
    // missing, and may be asked.
    unsafe {
        let mut node = (f.child)(
            (f.child)((f.get_desc)(stream.info), list.as_ptr()),
            one.as_ptr(),
        );
        while (f.empty)(node) == 0 && found.len() < count {
            let [label, unit, kind] = keys
                .each_ref()
                .map(|key| copied((f.child_value_n)(node, key.as_ptr())));
            found.push(Channel {
                name: label,
                kind: kind_of(&kind),
                unit,
            });
            node = (f.next_sibling_n)(node, one.as_ptr());
        }
    }
    if found.len() < count || found.iter().any(|c| c.name.is_empty()) {
        found = (1..=count)
            .map(|i| Channel {
                name: i.to_string(),
                kind: ChannelKind::Eeg,
                unit: String::new(),
            })
            .collect();
    }
    Ok(found)
}

/// What a description says of itself.
fn said(get: unsafe extern "C" fn(Handle) -> *const c_char, info: Handle) -> String {
    // SAFETY: the handle is valid and the text is valid until the handle is destroyed; it is copied
    // here.
    unsafe { copied(get(info)) }
}

fn kind_of(text: &str) -> ChannelKind {
    match text.to_lowercase().as_str() {
        "eeg" | "" => ChannelKind::Eeg,
        "eog" => ChannelKind::Eog,
        "emg" => ChannelKind::Emg,
        "ecg" => ChannelKind::Ecg,
        "stim" | "trigger" | "marker" | "markers" => ChannelKind::Stim,
        _ => ChannelKind::Misc,
    }
}

pub(super) fn text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| refused("a name with a zero in it"))
}

/// A copy of a C string; empty where there is none.
///
/// # Safety
/// The pointer is null or a C string.
unsafe fn copied(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

fn check(error: c_int, doing: &str) -> Result<()> {
    match error {
        0 => Ok(()),
        LOST => Err(refused(&format!("{doing}: the stream was lost"))),
        TIMED_OUT => Err(refused(&format!("{doing}: no answer in time"))),
        other => Err(refused(&format!(
            "{doing}: the LSL library gave error {other}"
        ))),
    }
}

pub(super) fn refused(what: &str) -> LiveError {
    LiveError::failed(what, "check that the sender is running")
}
