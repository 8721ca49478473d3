//! Side-by-side timings on one thread, printed as ratios: machines differ and are noisy, ratios in one run are not.

mod clock;
mod eigen;
mod step;
mod timing;

fn main() {
    let clock = clock::gigahertz();
    println!(
        "clock while measuring: {clock:.2} GHz (a chain of dependent additions, one per cycle)\n"
    );
    eigen::run(clock);
    step::run();
}
