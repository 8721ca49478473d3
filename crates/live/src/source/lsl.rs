//! An LSL stream, with another of markers beside it. A stream that is lost is looked for again, for
//! as long as it takes.

use std::time::{Duration, Instant};

use super::{Flow, Source};
use crate::lsl::{Inlet, Lsl, LslStream, Query};
use crate::{At, Block, Description, LiveError, Marker, Result};

/// How long to wait for samples before coming back.
const WAIT: f64 = 0.1;
/// Seconds without a sample after which a stream counts as lost, though nobody closed it.
const SILENT: Duration = Duration::from_secs(2);
/// How often the sender's clock is compared with this machine's.
const CORRECT: Duration = Duration::from_secs(5);
/// How long a stream may take to answer.
const ANSWER: f64 = 5.0;

/// Which streams, and how long to look for them.
#[derive(Debug, Clone)]
pub struct LslOptions {
    /// The samples.
    pub samples: Query,
    /// The markers.
    pub markers: Option<Query>,
    /// Seconds to look for them at the start.
    pub timeout: f64,
}

/// A source of samples from the local network.
#[derive(Debug)]
pub struct LslSource {
    lsl: Lsl,
    options: LslOptions,
    description: Description,
    inlet: Option<Inlet>,
    markers: Option<Inlet>,
    heard: Instant,
    silent: bool,
    corrected: Instant,
}

impl LslSource {
    /// Finds the streams and opens them.
    pub fn new(lsl: &Lsl, options: LslOptions) -> Result<Self> {
        let inlet = found(lsl, &options.samples, options.timeout)?;
        let markers = match &options.markers {
            Some(query) => Some(found(lsl, query, options.timeout)?),
            None => None,
        };
        Ok(Self {
            lsl: lsl.clone(),
            description: inlet.description().clone(),
            inlet: Some(inlet),
            markers,
            options,
            heard: Instant::now(),
            silent: false,
            corrected: Instant::now(),
        })
    }

    /// Looks for a lost stream once more.
    fn look(&mut self) -> Result<Flow> {
        let again = self.lsl.resolve(&self.options.samples, 1, 0.5)?;
        let inlet = again.first().and_then(|stream| stream.open(ANSWER).ok());
        let Some(inlet) = inlet else {
            return Ok(Flow::Idle);
        };
        if *inlet.description() != self.description {
            return Err(LiveError::mismatch(
                format!(
                    "{} came back with other channels, units or another rate",
                    self.description.name
                ),
                "start again with the stream as it is now",
            ));
        }
        self.inlet = Some(inlet);
        self.heard = Instant::now();
        self.silent = false;
        Ok(Flow::Found(format!("{} is back", self.description.name)))
    }

    /// Markers that have arrived. A marker stream that was lost is looked for quietly: nothing is
    /// decided by its absence.
    fn hear(&mut self, block: &mut Block) -> Result<()> {
        let Some(query) = &self.options.markers else {
            return Ok(());
        };
        let Some(inlet) = &mut self.markers else {
            if self.corrected.elapsed() > CORRECT {
                let again = self.lsl.resolve(query, 1, 0.0)?;
                self.markers = again.first().and_then(|stream| stream.open(0.5).ok());
            }
            return Ok(());
        };
        loop {
            match inlet.pull_marker() {
                Ok(Some((time, label))) => {
                    block.markers.push(Marker::new(At::Time(time), label));
                }
                Ok(None) => return Ok(()),
                Err(_) => {
                    self.markers = None;
                    return Ok(());
                }
            }
        }
    }

    fn correct(&mut self) {
        if self.corrected.elapsed() < CORRECT {
            return;
        }
        self.corrected = Instant::now();
        for inlet in self.inlet.iter_mut().chain(&mut self.markers) {
            // A clock that cannot be asked now is asked the next time.
            let _ = inlet.correct(0.0);
        }
    }
}

impl Source for LslSource {
    fn description(&self) -> &Description {
        &self.description
    }

    fn next(&mut self, block: &mut Block) -> Result<Flow> {
        self.correct();
        let Some(inlet) = &mut self.inlet else {
            return self.look();
        };
        match inlet.pull(&mut block.samples, &mut block.times, WAIT) {
            Ok(0) => {}
            Ok(_) => {
                self.heard = Instant::now();
                self.hear(block)?;
                self.silent = false;
                return Ok(Flow::Block);
            }
            Err(error) => {
                self.inlet = None;
                return Ok(Flow::Lost(error.to_string()));
            }
        }
        self.hear(block)?;
        if !block.markers.is_empty() {
            return Ok(Flow::Block);
        }
        if self.heard.elapsed() > SILENT && !self.silent {
            self.silent = true;
            return Ok(Flow::Lost(format!(
                "{}: no sample for {} s",
                self.description.name,
                SILENT.as_secs()
            )));
        }
        Ok(Flow::Idle)
    }
}

/// The one stream that matches.
fn found(lsl: &Lsl, query: &Query, timeout: f64) -> Result<Inlet> {
    let first = lsl.resolve(query, 1, timeout)?;
    let all = match first.len() {
        0 => {
            let others = lsl.resolve(&Query::any(), 1, 0.5)?;
            let others: Vec<String> = others.iter().map(LslStream::describe).collect();
            let there = match others.len() {
                0 => "there is no other stream either".into(),
                _ => format!("there is {}", others.join("; ")),
            };
            return Err(LiveError::failed(
                format!(
                    "no LSL stream with {} was found within {timeout} s; {there}",
                    query.predicate()
                ),
                "start the sender, or describe the stream another way",
            ));
        }
        // Others may answer a little later.
        _ => lsl.resolve(query, 2, 0.5)?,
    };
    let all = if all.is_empty() { first } else { all };
    if let [one] = &all[..] {
        return one.open(ANSWER);
    }
    let names: Vec<String> = all.iter().map(LslStream::describe).collect();
    Err(LiveError::setting(
        format!(
            "{} LSL streams have {}: {}",
            all.len(),
            query.predicate(),
            names.join("; ")
        ),
        "describe the stream more closely, with its name or source_id",
    ))
}
