//! The functions that C calls. Everything that is `unsafe` is here.
//!
//! Every function checks what can be checked, does its work where a panic is caught, and keeps what
//! to say of a failure for its thread.

#![allow(
    unsafe_code,
    reason = "pointers come from C and are read here, after they were checked for null; every \
              place says what the caller promised"
)]

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use stiefel_live::{Options, Reason, StreamSpec};

use crate::session::{Refusal, StiefelSession};
use crate::types::{StiefelAdapt, StiefelCode, StiefelDecision, StiefelOptions, StiefelStream};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps what to say, and gives the code.
fn set_last_error((code, text): Refusal) -> StiefelCode {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    LAST.set(text);
    code
}

fn null(what: &str) -> Refusal {
    (StiefelCode::Null, format!("{what} is null"))
}

/// Does the work where a panic is caught.
fn guarded(work: impl FnOnce() -> Result<StiefelCode, Refusal>) -> StiefelCode {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(code)) => code,
        Ok(Err(refusal)) => set_last_error(refusal),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or(panic.downcast_ref::<&str>().copied());
            set_last_error((
                StiefelCode::Defect,
                format!(
                    "a defect of the library: {}; close the session",
                    said.unwrap_or("a panic without a text")
                ),
            ))
        }
    }
}

/// The same with a session, which is of no use after a panic.
///
/// # Safety
/// `session` is null, or came from `stiefel_open` and was not closed; no other thread uses it
/// during the call.
unsafe fn with(
    session: *mut StiefelSession,
    work: impl FnOnce(&mut StiefelSession) -> Result<StiefelCode, Refusal>,
) -> StiefelCode {
    // SAFETY: by this function's contract it is null, or points at a session that nobody else uses
    // now.
    let Some(session) = (unsafe { session.as_mut() }) else {
        return set_last_error(null("the session"));
    };
    if session.broken {
        return set_last_error((
            StiefelCode::Defect,
            "the session was left half way by a defect; close it".into(),
        ));
    }
    let code = guarded(|| work(session));
    session.broken = code == StiefelCode::Defect;
    code
}

/// A text of C.
///
/// # Safety
/// `text` is null, or points at a text that ends with a zero and stays as it is during the call.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Refusal> {
    if text.is_null() {
        return Err(null(what));
    }
    // SAFETY: it is not null, and by this function's contract it ends with a zero and stays.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| (StiefelCode::Text, format!("{what} is not UTF-8")))
}

/// Numbers of C.
///
/// # Safety
/// `values` is null, or points at `count` numbers that stay as they are during the call.
unsafe fn numbers<'a>(values: *const f64, count: usize, what: &str) -> Result<&'a [f64], Refusal> {
    match (values.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(null(what)),
        // SAFETY: it is not null, by this function's contract there are so many numbers, and
        // `checked_count` keeps their bytes below `isize::MAX`.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(values, count) }),
    }
}

/// `samples · channels`, where that many numbers can be in memory at all.
fn checked_count(samples: usize, channels: usize) -> Result<usize, Refusal> {
    let count = samples.checked_mul(channels);
    count
        .filter(|n| *n <= isize::MAX as usize / size_of::<f64>())
        .ok_or_else(|| {
            (
                StiefelCode::Size,
                format!("{samples} samples of {channels} channels are more than memory can hold"),
            )
        })
}

/// Reads the description of a stream.
///
/// # Safety
/// `stream` is null, or points at a structure whose pointers are null or valid: `channel_count`
/// texts, and one.
unsafe fn stream_spec(stream: *const StiefelStream) -> Result<StreamSpec, Refusal> {
    // SAFETY: null, or valid by this function's contract.
    let Some(stream) = (unsafe { stream.as_ref() }) else {
        return Ok(StreamSpec::default());
    };
    let mut spec = StreamSpec {
        rate: (stream.rate != 0.0).then_some(stream.rate),
        ..StreamSpec::default()
    };
    if !stream.unit.is_null() {
        // SAFETY: not null, and a text by this function's contract.
        spec.unit = Some(unsafe { text(stream.unit, "the unit") }?.to_owned());
    }
    if stream.channels.is_null() != (stream.channel_count == 0) {
        return Err((
            StiefelCode::Size,
            format!(
                "the names of the channels are {}, and there are {} of them",
                if stream.channels.is_null() {
                    "null"
                } else {
                    "given"
                },
                stream.channel_count
            ),
        ));
    }
    if !stream.channels.is_null() {
        let mut names = Vec::new();
        for i in 0..stream.channel_count {
            // SAFETY: by this function's contract there are so many texts.
            let name = unsafe { text(*stream.channels.add(i), "the name of a channel") }?;
            names.push(name.to_owned());
        }
        spec.channels = Some(names);
    }
    Ok(spec)
}

/// The default options.
#[unsafe(no_mangle)]
pub extern "C" fn stiefel_options_default() -> StiefelOptions {
    let options = Options::default();
    StiefelOptions {
        hop: options.hop.unwrap_or(0.0),
        threshold: options.threshold.unwrap_or(0.0),
        time_constant: options.time_constant,
        unfamiliar: options.unfamiliar.unwrap_or(0.0),
        adapt: StiefelAdapt::Refused as c_int,
        freeze: options.freeze,
    }
}

/// Opens a model file for the signal of a domain and writes the session to `session`, which
/// stiefel_close frees. `stream` may be null if the samples are as the model's training signals
/// were. `options` may be null for the defaults.
///
/// # Safety
/// `path` and `domain` are texts that end with a zero. `stream` and `options` are null or valid,
/// `session` points at a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_open(
    path: *const c_char,
    domain: *const c_char,
    stream: *const StiefelStream,
    options: *const StiefelOptions,
    session: *mut *mut StiefelSession,
) -> StiefelCode {
    guarded(|| {
        if session.is_null() {
            return Err(null("the place for the session"));
        }
        // SAFETY: not null, and by the contract a place for a pointer. A failure leaves a null
        // behind, which every function refuses.
        unsafe { session.write(std::ptr::null_mut()) };
        // SAFETY: texts by the contract.
        let (path, domain) = unsafe { (text(path, "the path")?, text(domain, "the domain")?) };
        // SAFETY: null or valid by the contract; copied.
        let (spec, options) = unsafe { (stream_spec(stream)?, options.as_ref().copied()) };
        let options = options.unwrap_or_else(|| stiefel_options_default());
        let opened = Box::new(StiefelSession::open(path, domain, &spec, &options)?);
        // SAFETY: as above.
        unsafe { session.write(Box::into_raw(opened)) };
        Ok(StiefelCode::Ok)
    })
}

/// Frees a session. If it is null, nothing is done.
///
/// # Safety
/// `session` is null, or came from stiefel_open and was not closed; it must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_close(session: *mut StiefelSession) {
    guarded(|| {
        if !session.is_null() {
            // SAFETY: by the contract it came from `Box::into_raw` and is given back once.
            drop(unsafe { Box::from_raw(session) });
        }
        Ok(StiefelCode::Ok)
    });
}

/// How many values a sample has; 0 if `session` is null.
///
/// # Safety
/// `session` is null, or came from stiefel_open and was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_channels(session: *const StiefelSession) -> usize {
    // SAFETY: null or valid by the contract.
    unsafe { session.as_ref() }.map_or(0, StiefelSession::width)
}

/// How many classes there are; 0 if `session` is null.
///
/// # Safety
/// `session` is null, or came from stiefel_open and was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_classes(session: *const StiefelSession) -> usize {
    // SAFETY: null or valid by the contract.
    unsafe { session.as_ref() }.map_or(0, |s| s.classes().len())
}

/// The name of a class, or null if there is no such class. It lives as long as the session.
///
/// # Safety
/// `session` is null, or came from stiefel_open and was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_class_name(
    session: *const StiefelSession,
    index: usize,
) -> *const c_char {
    // SAFETY: null or valid by the contract.
    let name = unsafe { session.as_ref() }.and_then(|s| s.classes().get(index));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// What had to be assumed of the stream, one sentence per line, or null if `session` is null. It
/// lives as long as the session.
///
/// # Safety
/// `session` is null, or came from stiefel_open and was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_notes(session: *const StiefelSession) -> *const c_char {
    // SAFETY: null or valid by the contract.
    let notes = unsafe { session.as_ref() }.map(StiefelSession::notes);
    notes.map_or(std::ptr::null(), |notes| notes.as_ptr())
}

/// Takes in samples: all channels of the first, then of the second, and so on. `times` has a stamp
/// in seconds for each sample, or is null if none is missing.
///
/// # Safety
/// `session` came from stiefel_open, was not closed and is used by no other thread. `samples`
/// points at `sample_count * channel_count` numbers, `times` is null or points at `sample_count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_push(
    session: *mut StiefelSession,
    samples: *const f64,
    sample_count: usize,
    channel_count: usize,
    times: *const f64,
) -> StiefelCode {
    // SAFETY: by this function's contract.
    unsafe {
        with(session, |session| {
            let width = session.width();
            if channel_count != width {
                return Err((
                    StiefelCode::Size,
                    format!(
                        "samples of {channel_count} channels were pushed, and the stream has \
                         {width}"
                    ),
                ));
            }
            let count = checked_count(sample_count, channel_count)?;
            let samples = numbers(samples, count, "the array of samples")?;
            let times = (!times.is_null())
                .then(|| numbers(times, sample_count, "the array of times"))
                .transpose()?;
            session.push(samples, times)?;
            Ok(StiefelCode::Ok)
        })
    }
}

/// Sets a cue at a sample, counted from the first one that was pushed. The next push takes it in.
/// Labels are those of the training events, or names of classes.
///
/// # Safety
/// `session` came from stiefel_open, was not closed and is used by no other thread. `label` is a
/// text that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_mark(
    session: *mut StiefelSession,
    sample: i64,
    label: *const c_char,
) -> StiefelCode {
    // SAFETY: by this function's contract.
    unsafe {
        with(session, |session| {
            session.mark(sample, text(label, "the label")?)?;
            Ok(StiefelCode::Ok)
        })
    }
}

/// Says that the stream was lost: at least one sample is missing before the next one.
///
/// # Safety
/// `session` came from stiefel_open, was not closed and is used by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_interrupt(session: *mut StiefelSession) -> StiefelCode {
    // SAFETY: by this function's contract.
    unsafe {
        with(session, |session| {
            session.interrupt();
            Ok(StiefelCode::Ok)
        })
    }
}

/// Sets whether what is learnt from unlabelled windows stays as it is from now on.
///
/// # Safety
/// `session` came from stiefel_open, was not closed and is used by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_freeze(session: *mut StiefelSession, frozen: bool) -> StiefelCode {
    // SAFETY: by this function's contract.
    unsafe {
        with(session, |session| {
            session.freeze(frozen);
            Ok(StiefelCode::Ok)
        })
    }
}

/// Takes the oldest decision that waits; STIEFEL_CODE_NONE if none waits. `probabilities` and
/// `evidence` may be null; otherwise they have `class_count` places.
///
/// # Safety
/// `session` came from stiefel_open, was not closed and is used by no other thread. `decision`
/// points at a structure, the arrays are null or have `class_count` places each, and none overlaps
/// another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiefel_take(
    session: *mut StiefelSession,
    decision: *mut StiefelDecision,
    probabilities: *mut f64,
    evidence: *mut f64,
    class_count: usize,
) -> StiefelCode {
    // SAFETY: by this function's contract.
    unsafe {
        with(session, |session| {
            if decision.is_null() {
                return Err(null("the place for the decision"));
            }
            let classes = session.classes().len();
            let any = !probabilities.is_null() || !evidence.is_null();
            if any && class_count != classes {
                return Err((
                    StiefelCode::Size,
                    format!(
                        "arrays for {class_count} classes were given, and the model has {classes}"
                    ),
                ));
            }
            // SAFETY: null, or as many places as there are classes by the contract, which was
            // checked against the model.
            let array = |values: *mut f64| {
                (!values.is_null()).then(|| std::slice::from_raw_parts_mut(values, classes))
            };
            let Some(taken) = session.take(array(probabilities), array(evidence)) else {
                return Ok(StiefelCode::None);
            };
            decision.write(taken);
            Ok(StiefelCode::Ok)
        })
    }
}

/// The name of a reason why a window was rejected, or null if the number stands for no reason. It
/// lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn stiefel_reason_name(reason: i32) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> = LazyLock::new(|| {
        let names = Reason::ALL.iter().map(|r| CString::new(r.name()));
        names.map(Result::unwrap_or_default).collect()
    });
    let place = usize::try_from(reason).ok().and_then(|r| r.checked_sub(1));
    let name = place.and_then(|place| NAMES.get(place));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// What was wrong with the last call of this thread that failed; empty if none has failed. It lives
/// until the next failure of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn stiefel_last_error() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code_and_a_text() {
        let code = guarded(|| panic!("index {} of 3", 7));
        assert_eq!(code, StiefelCode::Defect);
        let last = stiefel_last_error();
        // SAFETY: it is a text of this thread, and nothing has failed since.
        let said = unsafe { CStr::from_ptr(last) };
        assert!(said.to_str().unwrap().contains("index 7 of 3"));
    }

    #[test]
    fn sizes_that_no_memory_holds_are_refused() {
        assert_eq!(
            checked_count(usize::MAX / 2, 64).unwrap_err().0,
            StiefelCode::Size
        );
        assert_eq!(
            checked_count(isize::MAX as usize / 4, 1).unwrap_err().0,
            StiefelCode::Size
        );
        assert_eq!(checked_count(100, 64).unwrap(), 6400);
    }
}
