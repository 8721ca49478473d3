//! When to use more than one thread.

use std::cell::Cell;

/// Cubic work (sums of n³) below which handing it to other threads costs more than it saves: about a millisecond.
const WORTHWHILE: usize = 2_000_000;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Whether work of this size (`count·n³`) is ever handed to other threads: below it, a kernel stays on the thread that calls it.
pub fn worth_threads(work: usize) -> bool {
    work >= WORTHWHILE
}

/// How many threads work of this size should be spread over: those of the current rayon pool where it pays, else the calling one.
pub fn threads_for(work: usize) -> usize {
    if worth_threads(work) && !ALONE.get() {
        rayon::current_num_threads()
    } else {
        1
    }
}

/// Runs a function whose kernels stay on the calling thread, whatever their size. A pool of one thread would do the same on another one, which has to be woken, and whose caches have nothing of the data.
///
/// ```
/// use stiefel_linalg::{on_this_thread, threads_for};
///
/// assert_eq!(on_this_thread(|| threads_for(usize::MAX)), 1);
/// ```
pub fn on_this_thread<R>(f: impl FnOnce() -> R) -> R {
    /// Puts things back, also where the function panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(true));
    f()
}

/// Whether work of this size should be spread over the current rayon pool.
pub(crate) fn pays(work: usize) -> bool {
    threads_for(work) > 1
}
