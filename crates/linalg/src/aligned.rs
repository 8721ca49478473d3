//! Buffers whose first number starts a cache line.
//!
//! A register of 64 bytes that straddles two cache lines is loaded twice; `Vec` promises 16 bytes.

use std::cell::Cell;
use std::thread::LocalKey;

/// Bytes of a cache line, and of the widest register.
const LINE: usize = 64;

/// Room for numbers, aligned to a cache line; grows as asked and is used again.
///
/// ```
/// use stiefel_linalg::Aligned;
///
/// let mut buffer = Aligned::<f32>::default();
/// assert_eq!(buffer.room(3).as_ptr().align_offset(64), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Aligned<T> {
    data: Vec<T>,
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Aligned<T> {
    /// No room yet.
    pub const fn new() -> Self {
        Self { data: Vec::new() }
    }
}

impl<T: Copy + Default> Aligned<T> {
    /// Room for `len` numbers: zeros where there was less room, else whatever was left there.
    pub fn room(&mut self, len: usize) -> &mut [T] {
        let padded = len + LINE / size_of::<T>();
        if self.data.len() < padded {
            // Not grown: what was there need not be copied, and zeros that come from the system
            // need not be written.
            self.data = Vec::new();
            self.data = vec![T::default(); padded];
        }
        self.get_mut(len)
    }
}

impl<T> Aligned<T> {
    /// The first `len` numbers.
    ///
    /// # Panics
    /// If there was never [`room`](Aligned::room) for them.
    pub fn get(&self, len: usize) -> &[T] {
        let at = self.data.as_ptr().align_offset(LINE);
        &self.data[at..at + len]
    }

    /// The same, to be written.
    ///
    /// # Panics
    /// If there was never [`room`](Aligned::room) for them.
    pub fn get_mut(&mut self, len: usize) -> &mut [T] {
        let at = self.data.as_ptr().align_offset(LINE);
        &mut self.data[at..at + len]
    }
}

/// A number that every thread keeps room for: nothing is allocated once that has seen a size.
pub trait Room: Sized + 'static {
    #[doc(hidden)]
    fn room() -> &'static LocalKey<Cell<Aligned<Self>>>;
}

macro_rules! room {
    ($($t:ident)*) => {$(
        impl Room for $t {
            fn room() -> &'static LocalKey<Cell<Aligned<Self>>> {
                thread_local! {
                    static ROOM: Cell<Aligned<$t>> = const { Cell::new(Aligned::new()) };
                }
                &ROOM
            }
        }
    )*};
}

room!(f32 f64);

/// Works with the room of this thread. Work inside other work finds none, and makes its own.
///
/// ```
/// let sum: f64 = stiefel_linalg::with_room(|room| {
///     let values = room.room(3);
///     values.fill(2.0);
///     values.iter().sum()
/// });
/// assert_eq!(sum, 6.0);
/// ```
pub fn with_room<T: Room, R>(work: impl FnOnce(&mut Aligned<T>) -> R) -> R {
    let mut room = T::room().take();
    let done = work(&mut room);
    T::room().set(room);
    done
}
