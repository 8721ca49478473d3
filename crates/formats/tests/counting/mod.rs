//! A global allocator that counts the bytes of the current thread, so that tests may run side by
//! side.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The counting allocator.
struct Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn count(added: usize, removed: usize) {
    // The counters are gone while a thread ends; what it frees then is of no interest.
    let _ = LIVE.try_with(|live| {
        let now = (live.get() + added).saturating_sub(removed);
        live.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

#[allow(
    unsafe_code,
    reason = "a global allocator cannot be written otherwise; every call goes to the system's"
)]
// SAFETY: each method passes its arguments unchanged to `System`, whose contract is the same.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may exist at the same time.
        count(size, 0);
        count(0, layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `f`; returns the most bytes it had reserved at one time.
pub(crate) fn peak<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let start = LIVE.get();
    PEAK.set(start);
    let result = f();
    (result, PEAK.get() - start)
}
