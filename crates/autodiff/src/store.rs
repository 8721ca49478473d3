//! An append-only list that hands out references while it grows: chunk `c` holds `64·2ᶜ` slots and
//! never moves.

use std::cell::{Cell, OnceCell};
use std::ops::Index;

const FIRST: usize = 64;
const CHUNKS: usize = 26;

type Chunk<N> = OnceCell<Box<[OnceCell<N>]>>;

pub(crate) struct Store<N> {
    chunks: [Chunk<N>; CHUNKS],
    len: Cell<usize>,
}

fn locate(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST + 1).ilog2() as usize;
    (chunk, index - FIRST * ((1 << chunk) - 1))
}

impl<N> Store<N> {
    pub(crate) fn new() -> Self {
        Self {
            chunks: std::array::from_fn(|_| OnceCell::new()),
            len: Cell::new(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// Appends and returns the position.
    pub(crate) fn push(&self, node: N) -> usize {
        let index = self.len.get();
        let (chunk, offset) = locate(index);
        let slots = self.chunks[chunk]
            .get_or_init(|| (0..FIRST << chunk).map(|_| OnceCell::new()).collect());
        let pushed = slots[offset].set(node).is_ok();
        debug_assert!(pushed, "slots beyond the length are empty");
        self.len.set(index + 1);
        index
    }

    /// Takes the last entry; its slot stays for the next step.
    pub(crate) fn pop(&mut self) -> Option<N> {
        let index = self.len.get().checked_sub(1)?;
        let (chunk, offset) = locate(index);
        self.len.set(index);
        self.chunks[chunk].get_mut()?[offset].take()
    }

    /// Keeps the first `len` entries; the slots of the others stay for the next step.
    pub(crate) fn truncate(&mut self, len: usize) {
        for index in len..self.len.get() {
            let (chunk, offset) = locate(index);
            if let Some(slots) = self.chunks[chunk].get_mut() {
                slots[offset].take();
            }
        }
        self.len.set(len.min(self.len.get()));
    }
}

impl<N> Index<usize> for Store<N> {
    type Output = N;

    fn index(&self, index: usize) -> &N {
        let (chunk, offset) = locate(index);
        let node = self.chunks[chunk].get().and_then(|s| s[offset].get());
        node.expect("an index returned by push and not truncated since")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_survive_growth_and_positions_are_dense() {
        let mut store = Store::new();
        let first = store.push(0);
        let kept = &store[first];
        for i in 1..1000 {
            assert_eq!(store.push(i), i);
        }
        assert_eq!(*kept, 0);
        assert!((0..1000).all(|i| store[i] == i));
        store.truncate(3);
        assert_eq!((store.len(), store[2]), (3, 2));
        assert_eq!(store.push(7), 3);
        store.truncate(0);
        assert_eq!(store.len(), 0);
        assert_eq!(store.push(7), 0);
        assert_eq!(store[0], 7);
    }
}
