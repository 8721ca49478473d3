//! Threads: whether work pays for them, and how they wait for each other.

use rayon::Yield;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Cubic work (sums of n³) below which handing it to other threads costs more than it saves: about
/// a millisecond.
const WORTHWHILE: usize = 2_000_000;

thread_local! {
    static SINGLE_THREADED: Cell<bool> = const { Cell::new(false) };
}

/// Whether work of this size (`count·n³`) is ever handed to other threads: below it, a kernel stays
/// on the thread that calls it.
pub fn worth_threads(work: usize) -> bool {
    work >= WORTHWHILE
}

/// The number of threads to spread work of this size over: those of the current rayon pool where it
/// pays, else the calling one.
pub fn threads_for(work: usize) -> usize {
    if worth_threads(work) && !SINGLE_THREADED.get() {
        rayon::current_num_threads()
    } else {
        1
    }
}

/// Runs a function whose kernels stay on the calling thread, whatever their size. A pool of one
/// thread would run it on another one, which has to be woken and has none of the data in its
/// caches.
///
/// ```
/// use stiefel_linalg::{on_this_thread, threads_for};
///
/// assert_eq!(on_this_thread(|| threads_for(usize::MAX)), 1);
/// ```
pub fn on_this_thread<R>(f: impl FnOnce() -> R) -> R {
    /// Restores the flag, also where the function panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            SINGLE_THREADED.set(self.0);
        }
    }
    let _before = Before(SINGLE_THREADED.replace(true));
    f()
}

/// The time a thread spins before it sleeps: two functions of one pool that wait for each other's
/// threads go on then.
const SPIN_TIMEOUT: Duration = Duration::from_millis(2);

/// Runs a function of this much work while the other threads of the current pool spin for work, so
/// that its parts are taken at once. A sleeping thread has to be woken for every part of a training
/// step.
///
/// ```
/// assert_eq!(
///     stiefel_linalg::with_threads_spinning(usize::MAX, || 1 + 1),
///     2
/// );
/// ```
pub fn with_threads_spinning<R>(work: usize, f: impl FnOnce() -> R) -> R {
    /// Marks the end of the function, also where it panics.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let threads = threads_for(work);
    if threads == 1 {
        return f();
    }
    let (ended, owner) = (AtomicBool::new(false), rayon::current_thread_index());
    rayon::in_place_scope(|scope| {
        let _ends = Ends(&ended);
        for _ in 1..threads {
            scope.spawn(|_| spin_for_work(&ended, owner));
        }
        f()
    })
}

/// Takes work of the pool until the function of the thread `owner` has ended.
fn spin_for_work(ended: &AtomicBool, owner: Option<usize>) {
    // The owner would wait for itself.
    if rayon::current_thread_index() == owner {
        return;
    }
    let mut last = Instant::now();
    while !ended.load(Ordering::Relaxed) && last.elapsed() < SPIN_TIMEOUT {
        if rayon::yield_now() == Some(Yield::Executed) {
            last = Instant::now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// `f` of every task, in their order, over the threads of the current pool. A finished thread spins
/// for up to 2 ms before it sleeps: the parts of a training step are so short that it would be
/// woken too late.
///
/// ```
/// assert_eq!(
///     stiefel_linalg::on_threads(vec![1, 2, 3], |x| 10 * x),
///     [10, 20, 30]
/// );
/// ```
pub fn on_threads<X: Send, R: Send>(tasks: Vec<X>, f: impl Fn(X) -> R + Sync) -> Vec<R> {
    halves(tasks, &f)
}

fn halves<X: Send, R: Send>(mut tasks: Vec<X>, f: &(impl Fn(X) -> R + Sync)) -> Vec<R> {
    if tasks.len() < 2 {
        return tasks.into_iter().map(f).collect();
    }
    let rest = tasks.split_off(tasks.len().div_ceil(2));
    let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let first = || {
        let results = halves(tasks, f);
        // Rayon gives a task that no thread has begun to this one.
        if begun.load(Ordering::Acquire) {
            spin_until(&ended);
        }
        results
    };
    let second = || {
        begun.store(true, Ordering::Release);
        let results = halves(rest, f);
        ended.store(true, Ordering::Release);
        results
    };
    let (mut results, rest) = rayon::join(first, second);
    results.extend(rest);
    results
}

fn spin_until(ended: &AtomicBool) {
    let begin = Instant::now();
    while !ended.load(Ordering::Acquire) && begin.elapsed() < SPIN_TIMEOUT {
        for _ in 0..16 {
            std::hint::spin_loop();
        }
    }
}

/// Whether work of this size should be spread over the current rayon pool.
pub(crate) fn pays(work: usize) -> bool {
    threads_for(work) > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Sums of a parallel part, a few times over, like the parts of a training step.
    fn parts() -> Vec<u64> {
        with_threads_spinning(usize::MAX, || {
            (0..20)
                .map(|i| (0..100_u64).into_par_iter().map(|x| x * i).sum())
                .collect()
        })
    }

    #[test]
    fn spinning_threads_do_the_work_and_let_go() {
        let expected: Vec<u64> = (0..20).map(|i| 4950 * i).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let pool = pool.expect("threads");
        assert_eq!(pool.install(parts), expected);
        // From outside of a pool, too.
        assert_eq!(parts(), expected);
    }

    #[test]
    fn results_have_the_order_of_the_tasks_on_any_number_of_threads_also_inside_each_other() {
        for threads in 1..4 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            for count in [0_u64, 1, 2, 3, 7, 64] {
                let inner = |i: u64| on_threads((0..i).collect(), |j| j * i);
                let found = pool.install(|| {
                    with_threads_spinning(usize::MAX, || on_threads((0..count).collect(), inner))
                });
                let expected = (0..count).map(|i| (0..i).map(|j| j * i).collect::<Vec<_>>());
                assert_eq!(found, expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    #[should_panic(expected = "the last task")]
    fn a_panic_on_another_thread_arrives() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let task = |x: i32| assert!(x < 3, "the last task");
        let parts = || on_threads(vec![1, 2, 3], task);
        pool.expect("threads").install(parts);
    }

    #[test]
    fn two_functions_of_one_pool_do_not_wait_for_each_other_for_ever() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let pool = pool.expect("threads");
        let both = pool.install(|| rayon::join(parts, parts));
        assert_eq!(both.0, both.1);
    }
}
