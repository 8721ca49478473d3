//! Hours of signal: constant memory, nothing allocated per decision once warm, no window missed or
//! doubled.
//!
//! A network, and CHOIR on one view and on several. The suite plays ten minutes;
//! `cargo xtask bench` plays six hours, and for a new person too.

#[path = "it/study.rs"]
#[allow(dead_code, reason = "shared with the other tests")]
mod study;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stiefel_data::Provenance;
use stiefel_live::source::{Flow, Replay, Source, Speed};
use stiefel_live::{Block, Event, Lines, Options, Session, Status, Summary};
use stiefel_model::net::DaspConfig;
use stiefel_model::precondition::Adaptation;
use stiefel_model::train::{Silent, TrainConfig};
use stiefel_model::{
    AdaptPolicy, Architecture, FittedModel, ModelConfig, ModelSpec, Preconditioning,
};
use study::{RATE, STUDY, description, played, several_views};

/// Counts what this thread allocates, and the bytes that are held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// What this thread has allocated; the harness, which says now and then that a test takes long, has
/// a thread of its own.
fn allocations() -> usize {
    ALLOCATIONS.get()
}

#[allow(
    unsafe_code,
    reason = "counting allocations needs an allocator, whose trait is unsafe; it only forwards"
)]
// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no count any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A network: its decoder is the one that promises to allocate nothing.
fn network() -> FittedModel {
    let training = TrainConfig {
        epochs: 1,
        ..TrainConfig::default()
    };
    let dasp = DaspConfig {
        filters: 4,
        experts: 3,
        embedding: 4,
        domain_embedding: false,
        ..DaspConfig::default()
    };
    let config = ModelSpec::from(ModelConfig {
        preconditioning: Preconditioning::default(),
        encoder: None,
        architecture: Architecture::Dasp(dasp),
        training,
        frechet_means: false,
    });
    FittedModel::fit(&STUDY.trials, &STUDY.trials, &config, &mut Silent).unwrap()
}

/// Plays so many seconds; what is allocated counts from `warm_after` seconds on.
fn soak(model: &FittedModel, made: &Provenance, domain: &str, seconds: f64, warm_after: f64) {
    let causal = AdaptPolicy::from(Adaptation::Causal { kappa: 10.0 });
    let unseen = (!model.knows(domain)).then_some(&causal);
    let decider = model.session(domain, unseen, &[]).unwrap();
    let options = Options::default();
    let mut session = Session::new(model, decider, made, &description(), options).unwrap();
    let length = STUDY.recording.samples() as f64 / RATE + 10.0;
    let times = (seconds / length).ceil() as u64;
    let mut source = Replay::new("run", vec![played()], Speed::Max)
        .unwrap()
        .repeated(times);
    let (mut block, mut lines) = (Block::default(), Lines::default());
    let mut summary = Summary::new(2, RATE);
    let (mut ends, mut silent, mut first, mut last) = (0_u64, 0_u64, None, 0);
    let (mut warm, mut per_decision, mut decided) = (None, 0, 0_u64);
    loop {
        block.clear();
        if source.next(&mut block).unwrap() == Flow::End {
            break;
        }
        // Labels of cues are text that the source made; without them nothing is left to allocate.
        block.markers.clear();
        let before = allocations();
        let (mut gap, mut rejected) = (false, false);
        session
            .push(&block, &mut |event: Event<'_>| {
                let line = lines.event(&event, Duration::ZERO);
                assert!(line.ends_with('}'));
                summary.take(&event, Duration::ZERO);
                match &event {
                    Event::Gap(g) => (silent, gap) = (silent + g.windows, true),
                    Event::Window(w) => {
                        assert!(last == 0 || w.end > last && (w.end - last) % 32 == 0);
                        (ends, last) = (ends + 1, w.end);
                        first.get_or_insert(w.end);
                        rejected |= w.status == Status::Rejected;
                        decided += u64::from(w.status == Status::Decided);
                    }
                }
            })
            .unwrap();
        // At least two rounds: the first gap has been met.
        if session.samples() as f64 >= RATE * warm_after.max(2.0 * length) {
            let held = HELD.load(Ordering::Relaxed);
            warm.get_or_insert(held);
            if !gap && !rejected {
                per_decision += allocations() - before;
            }
        }
    }
    // Every multiple of the hop between the first and the last has its line, or ended in a gap
    // between two rounds.
    assert_eq!((last - first.unwrap()) / 32 + 1, (ends + silent) as i64);
    assert!(decided as f64 > 0.8 * ends as f64, "{decided} of {ends}");
    assert_eq!(per_decision, 0);
    let grown = HELD.load(Ordering::Relaxed) as i64 - warm.unwrap() as i64;
    assert!(
        grown.abs() < 4096,
        "{grown} bytes more after {ends} windows"
    );
    assert!(session.samples() as f64 >= seconds * RATE);
    println!(
        "{} of {} views, {domain}: {:.2} h of signal, {ends} windows, {decided} decided, {silent} \
         in gaps; {} KiB held, {grown:+} bytes since the start",
        model.name(),
        model.view_count(),
        session.samples() as f64 / RATE / 3600.0,
        HELD.load(Ordering::Relaxed) / 1024,
    );
}

fn all(seconds: f64) {
    let (views, made) = several_views();
    soak(&network(), &STUDY.made, "S01", seconds, 0.0);
    soak(&STUDY.model, &STUDY.made, "S01", seconds, 0.0);
    soak(&views, &made, "S01", seconds, 0.0);
}

#[test]
fn ten_minutes() {
    all(600.0);
}

/// Somebody new is learnt from for 500 windows that do not overlap, which is less than an hour;
/// from then on nothing is allocated for them either.
#[test]
#[ignore = "six hours of signal"]
fn six_hours() {
    let seconds = 6.0 * 3600.0;
    all(seconds);
    let (views, made) = several_views();
    soak(&views, &made, "new", seconds, 3600.0);
}
