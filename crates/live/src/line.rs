//! What a session says, as lines of JSON. Every line is one object with a `type`; `docs/live.md`
//! has the schema.
//!
//! Lines are written into one buffer, without a tree of values between: nothing is allocated for a
//! decision.

use std::fmt::Write;
use std::time::Duration;

use stiefel_data::Role;

use crate::window::{Event, Gap, Window};

/// Writes lines.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    text: String,
}

impl Lines {
    /// The line of an event that was decided so long after its last sample arrived.
    pub fn event(&mut self, event: &Event<'_>, took: Duration) -> &str {
        self.text.clear();
        match event {
            Event::Window(window) => self.window(window, took),
            Event::Gap(gap) => self.gap(gap),
        }
        self.text.push('}');
        &self.text
    }

    /// The line of a stream that was lost or found.
    pub fn stream(&mut self, state: &str, message: &str) -> &str {
        self.text.clear();
        self.text.push_str("{\"type\":\"stream\"");
        self.string("state", state);
        self.string("message", message);
        self.text.push('}');
        &self.text
    }

    fn window(&mut self, w: &Window<'_>, took: Duration) {
        self.text.push_str("{\"type\":\"window\"");
        self.number("time", Some(w.time));
        self.whole("sample", w.end);
        self.whole("start", w.start);
        if w.stamp.is_some() {
            self.number("stamp", w.stamp);
        }
        self.string("status", w.status.name());
        if let Some(fault) = &w.fault {
            self.string("reason", fault.reason.name());
            if let Some(channel) = fault.channel {
                self.string("channel", channel);
            }
            if let Some(detail) = &fault.detail {
                self.string("detail", detail);
            }
        }
        self.class("class", w, w.class);
        self.by_class("probabilities", w, w.probabilities);
        if w.cue.is_none() {
            self.by_class("evidence", w, w.evidence);
            self.class("stable", w, w.stable());
        }
        self.number("familiarity", w.familiarity.map(|f| f.quantile));
        self.number("distance", w.familiarity.map(|f| f.distance));
        if let Some(routing) = w.routing {
            self.key("routing");
            self.list(routing);
        }
        if let Some(contributions) = w.contributions {
            self.key("views");
            self.list(contributions);
        }
        if let Some(cue) = &w.cue {
            self.key("cue");
            self.text.push('{');
            self.string("label", cue.label);
            self.class("class", w, cue.class);
            self.whole("sample", cue.sample);
            self.seen(cue.seen);
            self.text.push('}');
        }
        if let Some(within) = &w.within {
            self.key("trial");
            self.text.push('{');
            self.class("class", w, Some(within.class));
            self.number("seconds", Some(within.seconds));
            self.seen(within.seen);
            self.text.push('}');
        }
        self.number("milliseconds", Some(took.as_nanos() as f64 / 1e6));
    }

    /// Says what the trial did for the model, where it did something.
    fn seen(&mut self, role: Role) {
        if let Some(name) = role.name() {
            self.string("seen", name);
        }
    }

    fn gap(&mut self, gap: &Gap) {
        self.text.push_str("{\"type\":\"gap\"");
        self.number("time", Some(gap.time));
        self.whole("sample", gap.sample);
        self.whole("samples", gap.samples as i64);
        self.whole("windows", gap.windows as i64);
    }

    fn key(&mut self, key: &str) {
        if !self.text.ends_with('{') {
            self.text.push(',');
        }
        self.quoted(key);
        self.text.push(':');
    }

    fn number(&mut self, key: &str, value: Option<f64>) {
        self.key(key);
        self.value(value);
    }

    fn value(&mut self, value: Option<f64>) {
        match value.filter(|x| x.is_finite()) {
            // Writing into a string cannot fail.
            Some(x) => drop(write!(self.text, "{x}")),
            None => self.text.push_str("null"),
        }
    }

    fn whole(&mut self, key: &str, value: i64) {
        self.key(key);
        let _ = write!(self.text, "{value}");
    }

    fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        self.quoted(value);
    }

    fn class(&mut self, key: &str, w: &Window<'_>, class: Option<usize>) {
        self.key(key);
        match class {
            Some(class) => self.quoted(&w.classes[class]),
            None => self.text.push_str("null"),
        }
    }

    fn by_class(&mut self, key: &str, w: &Window<'_>, values: Option<&[f64]>) {
        self.key(key);
        let Some(values) = values else {
            self.text.push_str("null");
            return;
        };
        self.text.push('{');
        for (class, &p) in w.classes.iter().zip(values) {
            self.number(class, Some(p));
        }
        self.text.push('}');
    }

    fn list(&mut self, values: &[f64]) {
        self.text.push('[');
        for (i, &x) in values.iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            self.value(Some(x));
        }
        self.text.push(']');
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                c if (c as u32) < 0x20 => drop(write!(self.text, "\\u{:04x}", c as u32)),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
}
