//! A source, a session and sinks, from the first sample to the last.

use std::time::{Duration, Instant};

use crate::calibrate::Calibration;
use crate::line::Lines;
use crate::source::{Flow, Source};
use crate::summary::Summary;
use crate::window::Event;
use crate::{Block, Result, Session};

/// Who waited that long for a block has the time to [rehearse](Session::rehearse) before the next.
const PAUSE: Duration = Duration::from_millis(1);

/// Who hears what a session says.
pub trait Sink {
    /// An event, and its line.
    fn event(&mut self, event: &Event<'_>, line: &str) -> Result<()>;

    /// The stream was lost or found; the line says which.
    fn stream(&mut self, line: &str) -> Result<()> {
        let _ = line;
        Ok(())
    }

    /// The summary at the end.
    fn finish(&mut self, summary: &Summary) -> Result<()> {
        let _ = summary;
        Ok(())
    }
}

/// Runs until the source ends or somebody asks to stop. With a calibration every labelled cue
/// teaches the model, after it was decided.
pub fn run(
    session: &mut Session,
    source: &mut dyn Source,
    sinks: &mut [&mut dyn Sink],
    mut calibration: Option<&mut Calibration>,
    stop: &dyn Fn() -> bool,
) -> Result<Summary> {
    let mut lines = Lines::default();
    let mut block = Block::default();
    let classes = session.model().classes().len();
    let mut summary = Summary::new(classes, session.timing().rate).every(session.hop());
    while !stop() {
        block.clear();
        let asked = Instant::now();
        let flow = source.next(&mut block)?;
        let (state, message) = match flow {
            Flow::End => break,
            Flow::Idle => continue,
            Flow::Lost(message) => ("lost", message),
            Flow::Found(message) => ("found", message),
            Flow::Block => {
                let arrived = Instant::now();
                let mut outcome = Ok(());
                session.push(&block, &mut |event| {
                    let line = lines.event(&event, arrived.elapsed());
                    for sink in sinks.iter_mut() {
                        if outcome.is_ok() {
                            outcome = sink.event(&event, line);
                        }
                    }
                    summary.take(&event, arrived.elapsed());
                    if let (Some(calibration), Event::Window(window)) = (&mut calibration, &event) {
                        calibration.take(window);
                    }
                })?;
                outcome?;
                if let Some(calibration) = &mut calibration {
                    calibration.teach(session)?;
                }
                if arrived - asked > PAUSE {
                    session.rehearse();
                }
                continue;
            }
        };
        if state == "lost" {
            summary.lost();
            session.interrupt();
        }
        let line = lines.stream(state, &message);
        for sink in sinks.iter_mut() {
            sink.stream(line)?;
        }
    }
    let rate = session
        .clock()
        .map_or(session.timing().rate, crate::Clock::rate);
    summary.finish(session.samples(), rate);
    Ok(summary)
}
