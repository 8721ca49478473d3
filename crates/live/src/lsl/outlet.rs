//! Decisions as a stream of their own.
//!
//! An irregular stream of doubles, one sample per window: the status (0 decided, 1 undecided, 2
//! unfamiliar, 3 rejected), the class that was decided (−1 for none), the probability of every
//! class, and of every class the evidence over time; NaN where there is none.

#![allow(
    unsafe_code,
    reason = "functions of a foreign library are called; every call says why it is sound"
)]

use super::inlet::{refused, text};
use super::library::{Handle, Lsl};
use crate::Result;
use crate::window::{Status, Window};

/// What the library calls doubles.
const DOUBLES: std::ffi::c_int = 2;

/// A stream of decisions.
#[derive(Debug)]
pub struct Outlet {
    lsl: Lsl,
    handle: Handle,
    sample: Vec<f64>,
}

impl Drop for Outlet {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library, is owned by this value alone and is not used
        // afterwards.
        unsafe { (self.lsl.0.destroy_outlet)(self.handle) }
    }
}

impl Outlet {
    /// Opens a stream under a name, of type `Decisions`.
    pub fn new(lsl: &Lsl, name: &str, classes: &[String]) -> Result<Self> {
        let probability = classes.iter().map(|c| format!("p {c}"));
        let evidence = classes.iter().map(|c| format!("evidence {c}"));
        let labels = ["status", "class"].map(str::to_owned).into_iter();
        let labels: Vec<String> = labels.chain(probability).chain(evidence).collect();
        let [name, kind, id] = [
            text(name)?,
            text("Decisions")?,
            text(&format!("stiefel {name}"))?,
        ];
        let f = &lsl.0;
        // SAFETY: the texts are C strings that outlive the calls; the description is owned here
        // until it is destroyed below.
        let outlet = unsafe {
            let info = (f.create_streaminfo)(
                name.as_ptr(),
                kind.as_ptr(),
                labels.len() as _,
                0.0,
                DOUBLES,
                id.as_ptr(),
            );
            let list = text("channels")?;
            let channels = (f.append_child)((f.get_desc)(info), list.as_ptr());
            for label in &labels {
                let (one, key, label) = (text("channel")?, text("label")?, text(label)?);
                let channel = (f.append_child)(channels, one.as_ptr());
                (f.append_child_value)(channel, key.as_ptr(), label.as_ptr());
            }
            let outlet = (f.create_outlet)(info, 0, 60);
            (f.destroy_streaminfo)(info);
            outlet
        };
        if outlet.is_null() {
            return Err(refused("the stream of decisions could not be opened"));
        }
        Ok(Self {
            lsl: lsl.clone(),
            handle: outlet,
            sample: Vec::with_capacity(labels.len()),
        })
    }

    /// Sends what is said of a window, with the time of its last sample where that is known.
    pub fn send(&mut self, window: &Window<'_>) {
        let status = match window.status {
            Status::Decided => 0.0,
            Status::Undecided => 1.0,
            Status::Unfamiliar => 2.0,
            Status::Rejected => 3.0,
        };
        let class = window.class.map_or(-1.0, |c| c as f64);
        self.sample.clear();
        self.sample.extend([status, class]);
        for values in [window.probabilities, window.evidence] {
            match values {
                Some(values) => self.sample.extend(values),
                None => self
                    .sample
                    .extend(std::iter::repeat_n(f64::NAN, window.classes.len())),
            }
        }
        // A time of 0 is the present.
        let stamp = window.stamp.unwrap_or(0.0);
        // SAFETY: the sample has as many values as the stream was opened with.
        unsafe { (self.lsl.0.push_sample_dt)(self.handle, self.sample.as_ptr(), stamp) };
    }
}
