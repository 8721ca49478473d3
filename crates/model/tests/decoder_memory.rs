//! A decision allocates nothing once the decoder is warm.

#[path = "it/models.rs"]
mod models;
#[path = "it/support.rs"]
#[allow(dead_code, reason = "shared with the other tests, which use all of it")]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use stiefel_linalg::{MatBatch, Scalar};
use stiefel_model::ModelConfig;
use stiefel_model::decoder::{Decoder, Domain, UnseenEmbedding};
use stiefel_model::precondition::UnseenPolicy;

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
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn decides_without_allocating<T: Scalar>(config: &ModelConfig) {
    let all = models::trials();
    let training = models::of_domain(&all, 3, false);
    let mut decoder = Decoder::new(models::fit::<T>(&training, config)).unwrap();
    let stand_in = if decoder.model().parameters().get("embedding").is_some() {
        UnseenEmbedding::NearestTangent
    } else {
        UnseenEmbedding::InputOnly
    };
    let own = all.covariances();
    let mut new = decoder
        .adapt_domain(own.view(), UnseenPolicy::OwnMean { kappa: 10.0 }, stand_in)
        .unwrap();
    let x: MatBatch<f64> = own.select(&[0, 4, 8]);
    let mut p = vec![0.0; 6];
    let mut before = 0;
    for round in 0..4 {
        if round == 1 {
            before = COUNT.with(Cell::get);
        }
        decoder.decide(x.matrix(1), Domain::Known(0)).unwrap();
        decoder.decide(x.matrix(2), Domain::Named("s1")).unwrap();
        let unseen = Domain::Unseen(&mut new);
        decoder.decide(x.matrix(0), unseen).unwrap();
        let known = Domain::Known(0);
        decoder.decide_batch(x.view(), known, &mut p, None).unwrap();
    }
    assert_eq!(COUNT.with(Cell::get), before, "{config:?}");
}

#[test]
fn nothing_is_allocated_after_the_first_decision() {
    for config in models::all() {
        decides_without_allocating::<f64>(&config);
        decides_without_allocating::<f32>(&config);
    }
}
