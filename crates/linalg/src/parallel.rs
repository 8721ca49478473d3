//! When to use more than one thread.

/// Cubic work (sums of n³) below which handing it to other threads costs more than it saves: about a millisecond.
const WORTHWHILE: usize = 2_000_000;

/// Whether work of this size should be spread over the current rayon pool.
pub(crate) fn pays(work: usize) -> bool {
    work >= WORTHWHILE && rayon::current_num_threads() > 1
}
