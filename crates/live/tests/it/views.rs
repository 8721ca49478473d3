//! Views that a running signal cannot give.

use stiefel_live::{Options, Session, Timing};

use crate::study::{STUDY, description};

#[test]
fn views_that_cannot_be_computed_are_refused_with_numbers() {
    let two = |band, window| {
        let mut made = STUDY.made.clone();
        made.recipe.views.push(stiefel_data::View { band, window });
        made
    };
    // As many as the model takes.
    let decider = STUDY.model.session("S01", None, &[]).unwrap();
    let two_views = two([10.0, 14.0], [0.5, 3.5]);
    let made = Session::new(
        &STUDY.model,
        decider,
        &two_views,
        &description(),
        Options::default(),
    );
    let said = made.err().unwrap().to_string();
    assert!(
        said.contains("2 views of 13 channels were described, but the model takes 1 of 13"),
        "{said}"
    );
    // A band above half the rate, and a window without a sample among good ones.
    let timing = |made: &stiefel_data::Provenance| Timing::new(made);
    let high = two([60.0, 70.0], [0.5, 3.5]);
    let chain = timing(&high).unwrap().chain(&high.recipe, false);
    let said = chain.unwrap_err().to_string();
    assert!(said.contains("70") && said.contains("64"), "{said}");
    for window in [[2.0, 2.0], [2.0, 1.0]] {
        let said = timing(&two([8.0, 32.0], window)).unwrap_err().to_string();
        assert!(said.contains("has no sample at 128 Hz"), "{said}");
    }
}
