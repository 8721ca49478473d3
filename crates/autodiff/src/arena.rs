//! Buffers that are used again: one list of idle vectors per length.
//!
//! Buffers start at a cache line, as vector instructions like it. A [`Buffer`] returns to its
//! [`Arena`] when it is dropped, so that from the second training step on the same sizes are served
//! without allocating. A thread is given the buffer that it used last, where there is one: that is
//! in its cache, and the cache of another core may be far. The contents of a buffer are whatever
//! was there before; debug builds fill it with NaN, so that an operation which forgets to write an
//! entry is found by its first test.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stiefel_linalg::{Aligned, EigenWorkspace, Scalar};

/// A thread of the current pool, or none of it.
type Home = Option<usize>;

fn home() -> Home {
    rayon::current_thread_index()
}

/// Buffers of one length, each with the thread that used it last.
type Idle<T> = Vec<(Home, Aligned<T>)>;

#[derive(Default)]
struct Pool<T> {
    /// By length, the shortest first: a few dozen lengths are found faster than their hashes are
    /// computed.
    idle: Vec<(usize, Idle<T>)>,
    fresh: usize,
    in_use: usize,
    eigen: Vec<EigenWorkspace<T>>,
}

impl<T> Pool<T> {
    /// The idle buffers of a length.
    fn idle_of(&mut self, len: usize) -> &mut Idle<T> {
        let found = self.idle.binary_search_by_key(&len, |&(len, _)| len);
        let at = found.unwrap_or_else(|at| {
            self.idle.insert(at, (len, Vec::new()));
            at
        });
        &mut self.idle[at].1
    }

    /// An idle buffer of a length: one of this thread, or else of any.
    fn take(&mut self, len: usize) -> Option<Aligned<T>> {
        let (home, idle) = (home(), self.idle_of(len));
        let own = idle.iter().rposition(|&(of, _)| of == home);
        let at = own.or_else(|| idle.len().checked_sub(1))?;
        Some(idle.swap_remove(at).1)
    }
}

/// A handle to the pool of idle buffers; clones share the pool.
///
/// ```
/// use stiefel_autodiff::Arena;
///
/// let arena = Arena::<f64>::new();
/// drop(arena.take(100));
/// drop(arena.take(100));
/// assert_eq!(arena.fresh_allocations(), 1);
/// ```
#[derive(Clone)]
pub struct Arena<T> {
    pool: Arc<Mutex<Pool<T>>>,
}

/// A vector that belongs to an [`Arena`] and returns there when dropped.
pub struct Buffer<T> {
    data: Aligned<T>,
    len: usize,
    pool: Arc<Mutex<Pool<T>>>,
}

/// A panic elsewhere leaves the pool consistent: every change to it is a single push or pop.
fn lock<T>(pool: &Mutex<Pool<T>>) -> MutexGuard<'_, Pool<T>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Scalar> Arena<T> {
    /// An empty arena.
    pub fn new() -> Self {
        Self {
            pool: Arc::new(Mutex::new(Pool {
                idle: Vec::new(),
                fresh: 0,
                in_use: 0,
                eigen: Vec::new(),
            })),
        }
    }

    /// A buffer of `len` values, of unspecified contents.
    pub fn take(&self, len: usize) -> Buffer<T> {
        let mut pool = lock(&self.pool);
        pool.in_use += 1;
        let idle = pool.take(len);
        #[cfg_attr(not(debug_assertions), allow(unused_mut))]
        let mut data = idle.unwrap_or_else(|| {
            pool.fresh += 1;
            let mut fresh = Aligned::default();
            fresh.room(len);
            fresh
        });
        drop(pool);
        #[cfg(debug_assertions)]
        data.room(len).fill(T::from_f64(f64::NAN));
        Buffer {
            data,
            len,
            pool: Arc::clone(&self.pool),
        }
    }

    /// A buffer of zeros.
    pub fn zeros(&self, len: usize) -> Buffer<T> {
        let mut buffer = self.take(len);
        buffer.fill(T::ZERO);
        buffer
    }

    /// A buffer with a copy of `values`.
    pub fn copy_of(&self, values: &[T]) -> Buffer<T> {
        let mut buffer = self.take(values.len());
        buffer.copy_from_slice(values);
        buffer
    }

    /// Runs a decomposition in the workspace of the one before.
    pub(crate) fn with_eigen<R>(&self, f: impl FnOnce(&mut EigenWorkspace<T>) -> R) -> R {
        let mut workspace = lock(&self.pool).eigen.pop().unwrap_or_default();
        let done = f(&mut workspace);
        lock(&self.pool).eigen.push(workspace);
        done
    }

    /// How many buffers were ever allocated; constant once every size has been seen.
    pub fn fresh_allocations(&self) -> usize {
        lock(&self.pool).fresh
    }

    /// How many buffers are out.
    pub fn in_use(&self) -> usize {
        lock(&self.pool).in_use
    }

    /// How many bytes wait idle.
    pub fn idle_bytes(&self) -> usize {
        let values: usize = lock(&self.pool).idle.iter().map(|(n, v)| n * v.len()).sum();
        values * size_of::<T>()
    }

    /// Frees the idle buffers, for instance after the batch size has changed for good.
    pub fn trim(&self) {
        lock(&self.pool).idle.clear();
    }
}

impl<T: Scalar> Default for Arena<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let data = std::mem::take(&mut self.data);
        let mut pool = lock(&self.pool);
        pool.in_use -= 1;
        pool.idle_of(self.len).push((home(), data));
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.data.get(self.len)
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.data.get_mut(self.len)
    }
}

impl<T> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} values)", self.len)
    }
}

impl<T> std::fmt::Debug for Arena<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pool = lock(&self.pool);
        write!(f, "Arena({} allocated, {} out)", pool.fresh, pool.in_use)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_given_its_own_buffers_first_and_those_of_others_before_new_ones() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let pool = pool.expect("threads");
        let arena = Arena::<f32>::new();
        let both = std::sync::Barrier::new(2);
        // Both threads have a buffer at once; they may be returned in either order.
        let once = || {
            pool.broadcast(|_| {
                let buffer = arena.take(8);
                both.wait();
                buffer.as_ptr() as usize
            })
        };
        let places = once();
        assert!((0..20).all(|_| once() == places));
        drop((arena.take(8), arena.take(8)));
        let taken = [arena.take(8), arena.take(8)];
        assert_eq!((arena.fresh_allocations(), taken.len()), (2, 2));
    }

    #[test]
    fn a_size_is_allocated_once() {
        let arena = Arena::<f32>::new();
        let (a, b) = (arena.take(8), arena.zeros(8));
        assert_eq!((arena.fresh_allocations(), arena.in_use()), (2, 2));
        drop((a, b));
        assert_eq!((arena.in_use(), arena.idle_bytes()), (0, 64));
        assert_eq!(&*arena.copy_of(&[1.0; 8]), [1.0; 8]);
        assert_eq!(arena.fresh_allocations(), 2);
        arena.trim();
        assert_eq!(arena.idle_bytes(), 0);
    }
}
