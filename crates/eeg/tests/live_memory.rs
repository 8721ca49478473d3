//! The live chain allocates nothing once it is warm.

#[path = "it/numbers/mod.rs"]
mod numbers;

use numbers::noise;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use stiefel_eeg::covariance::Estimator;
use stiefel_eeg::live::{Live, LiveConfig, WindowSpec};
use stiefel_eeg::signal::{Band, Sos};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

#[allow(
    unsafe_code,
    reason = "counting allocations needs an allocator, whose trait is unsafe; it only forwards"
)]
// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_after_the_first_windows() {
    for (n, estimator) in [
        (22, Estimator::Sample),
        (64, Estimator::Sample),
        (22, Estimator::Oas),
        (64, Estimator::LedoitWolf),
        (22, Estimator::SchaeferStrimmer),
    ] {
        let filter = Some(Sos::butterworth(4, Band::BandPass(8.0, 32.0), 160.0).unwrap());
        let view = |samples| WindowSpec { band: 0, samples };
        let mut chain = Live::new(LiveConfig {
            channels: n,
            bands: vec![filter],
            views: vec![view(320), view(160)],
            memory: 400,
            estimator,
        })
        .unwrap();
        let stream = noise(1, n * 1000);
        let mut covariance = vec![0.0; n * n];
        let mut take = |block: &[f64]| {
            chain.push(block).unwrap();
            for (view, samples) in [320, 160].into_iter().enumerate() {
                let start = chain.samples() - samples;
                chain.covariance(view, start, &mut covariance).unwrap();
            }
        };
        take(&stream[..n * 400]);
        let before = COUNT.with(Cell::get);
        for block in stream[n * 400..].chunks(n * 25) {
            take(block);
        }
        assert_eq!(COUNT.with(Cell::get) - before, 0, "{estimator:?}");
    }
}
