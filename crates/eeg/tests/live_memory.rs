//! The live chain allocates nothing once it is warm.

#[path = "it/numbers/mod.rs"]
mod numbers;

use numbers::noise;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use stiefel_eeg::covariance::Estimator;
use stiefel_eeg::live::{Live, LiveConfig};
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
        let mut chain = Live::new(LiveConfig {
            channels: n,
            filter,
            window: 320,
            hop: 16,
            estimator,
        })
        .unwrap();
        let stream = noise(1, n * 1000);
        chain.push(&stream[..n * 400], |_| ()).unwrap();
        let before = COUNT.with(Cell::get);
        let mut windows = 0;
        for block in stream[n * 400..].chunks(n * 25) {
            windows += chain.push(block, |_| ()).unwrap();
        }
        assert!(windows > 30);
        assert_eq!(COUNT.with(Cell::get) - before, 0, "{estimator:?}");
    }
}
