//! The examples run, and end where they say.

#[path = "../examples/new_loss.rs"]
mod new_loss;
#[path = "../examples/own_covariances.rs"]
mod own_covariances;
#[cfg(feature = "study")]
#[expect(dead_code, reason = "its words come from the test")]
#[path = "../examples/recordings.rs"]
mod recordings;

#[test]
fn own_covariances_become_a_model() {
    own_covariances::main().unwrap();
}

#[test]
#[cfg(feature = "study")]
fn recordings_become_a_report() {
    let page = recordings::report_on(&[]).unwrap();
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("choir") && text.contains("ts+lr"));
    std::fs::remove_dir_all(std::path::Path::new(&page).parent().unwrap()).unwrap();
    assert!(recordings::report_on(&["nowhere".into(), "T1=hands".into()]).is_err());
}

#[test]
fn a_new_loss_is_a_forward_expression() {
    new_loss::main().unwrap();
}
