//! Side-by-side timings on one thread, printed as ratios: machines differ and are noisy, ratios in one run are not.

mod clock;
mod decision;
mod eigen;
mod step;
mod timing;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("decision") {
        return decision::run();
    }
    let clock = clock::gigahertz();
    println!(
        "clock while measuring: {clock:.2} GHz (a chain of dependent additions, one per cycle)\n"
    );
    eigen::run(clock);
    step::run();
    decision::run();
}
