//! Room for very many numbers.
//!
//! Memory that is new to a process is handed over page by page, and each page interrupts the
//! program that touches it first: of 4 KB there are 100,000 in the samples of a recording of 400
//! MB, which takes longer than decoding them. Where the system has larger pages (2 MB on Linux) it
//! is asked for them, as `NumPy` does for its arrays.

/// From so many bytes on large pages are asked for.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 22;

/// Returns `len` zeros, on large pages where they are many and the system has such.
pub(crate) fn zeros(len: usize) -> Vec<f64> {
    // Zeroed pages come from the system untouched, so that nothing is written twice.
    let numbers = vec![0.0; len];
    #[cfg(target_os = "linux")]
    ask_for_large_pages(&numbers);
    numbers
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages(numbers: &[f64]) {
    use std::ffi::{c_int, c_void};
    const PAGE: usize = 4096;
    const MADV_HUGEPAGE: c_int = 14;
    #[allow(unsafe_code, reason = "the C library's own function")]
    // SAFETY: the signature is that of madvise(2).
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    let bytes = size_of_val(numbers);
    if bytes < LARGE {
        return;
    }
    let start = numbers.as_ptr().cast::<u8>();
    let before = start.align_offset(PAGE);
    let whole = bytes.saturating_sub(before) / PAGE * PAGE;
    #[allow(unsafe_code, reason = "the system is asked for something about memory")]
    // SAFETY: `before + whole ≤ bytes`, so the pages lie inside the allocation of `numbers`. The
    // advice is about how they are backed and changes none of their bytes; where it is refused
    // everything is as it was, so that the answer is of no interest.
    unsafe {
        let _ = madvise(start.add(before).cast_mut().cast(), whole, MADV_HUGEPAGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_zeros_and_can_be_written() {
        // None, few, and more than need large pages; lengths that end inside a page.
        for len in [0, 1, 513, 1 << 19, (5 << 19) + 777] {
            let mut numbers = zeros(len);
            assert_eq!(numbers.len(), len);
            assert!(numbers.iter().all(|&x| x == 0.0));
            for (i, x) in numbers.iter_mut().enumerate() {
                *x = i as f64;
            }
            assert!(numbers.iter().enumerate().all(|(i, &x)| x == i as f64));
        }
    }
}
