//! One person: where the sources lie, how strong they are, and what the electrodes see of them.
//!
//! The lead field `L` (channels × sources) of a session is `V(e_c; r_s, q_s)` less the reference,
//! each column divided by its largest magnitude over all electrodes of the 10–10 system, so an
//! amplitude is in µV at the best electrode and a person is the same seen through any montage.

use super::config::{SyntheticConfig, SyntheticReference};
use super::geometry::{Vec3, dot, rotate, scale, small_rotation, sub, unit};
use super::head::Head;
use super::random::{Purpose, Stream};
use crate::montage::{position, positions};

/// Number of 1/f sources.
pub(super) const BACKGROUND: usize = 40;
/// Areas of the motor cortex, in this order: left hand area, right hand area, feet, left and right
/// tongue.
pub(super) const AREAS: usize = 5;
/// Occipital alpha sources.
pub(super) const ALPHA: usize = 2;
/// Rhythms: mu and beta of each area, then alpha.
pub(super) const RHYTHMS: usize = 2 * AREAS + ALPHA;
/// Sources in all: background, rhythms, one for blinks, four muscles.
pub(super) const MUSCLES: usize = 4;
pub(super) const SOURCES: usize = BACKGROUND + RHYTHMS + 1 + MUSCLES;

/// Degrees of standard deviation at a spread of 1.
const PLACE: f64 = 7.0;
const TURN: f64 = 20.0;
const CAP: f64 = 1.5;
/// Radius of the cortex in units of the head's.
const CORTEX: f64 = 0.80;

#[derive(Debug, Clone, Copy)]
struct Dipole {
    at: Vec3,
    moment: Vec3,
}

/// A rhythm of one subject.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rhythm {
    pub(super) frequency: f64,
    pub(super) bandwidth: f64,
    pub(super) amplitude: f64,
}

/// Everything about a subject that stays from session to session.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    dipoles: Vec<Dipole>,
    pub(super) rhythms: Vec<Rhythm>,
    pub(super) depth: f64,
    pub(super) background: f64,
    pub(super) sensor_noise: f64,
    pub(super) blinks_per_minute: f64,
}

impl Subject {
    pub(super) fn new(config: &SyntheticConfig, subject: usize) -> Self {
        // Numbering from 1 keeps the streams of subjects apart from those of the population.
        let mut anatomy = Stream::new(config.seed, Purpose::Anatomy, subject + 1, 0, 0);
        let dipoles = population(config.seed)
            .into_iter()
            .map(|d| vary(d, &mut anatomy, config.anatomy_spread))
            .collect();
        let mut stream = Stream::new(config.seed, Purpose::Physiology, subject + 1, 0, 0);
        let spread = config.strength_spread;
        let mut factor = |by: f64| (by * spread * stream.normal()).exp();
        let (mu, alpha, depth, background, sensor_noise, blinks) = (
            factor(1.0),
            factor(1.5),
            factor(1.0),
            factor(0.7),
            factor(0.7),
            factor(1.5),
        );
        let (mu_peak, beta_peak) = (
            10.5 + 2.0 * spread * stream.normal(),
            21.0 + 5.0 * spread * stream.normal(),
        );
        let mut rhythms = Vec::with_capacity(RHYTHMS);
        for (peak, (low, high), bandwidth, amplitude) in [
            (mu_peak, (8.0, 13.0), 1.5, config.mu),
            (beta_peak, (16.0, 26.0), 3.0, config.mu / 3.0),
        ] {
            rhythms.extend((0..AREAS).map(|_| Rhythm {
                frequency: (peak + 0.5 * spread * stream.normal()).clamp(low, high),
                bandwidth,
                amplitude: amplitude * mu * (0.5 * spread * stream.normal()).exp(),
            }));
        }
        rhythms.extend((0..ALPHA).map(|_| Rhythm {
            frequency: (mu_peak - 0.4 + 0.5 * spread * stream.normal()).clamp(8.0, 13.0),
            bandwidth: 1.0,
            amplitude: config.alpha * alpha,
        }));
        Self {
            dipoles,
            rhythms,
            depth: config.depth * depth,
            background: config.background * background,
            sensor_noise: config.sensor_noise * sensor_noise,
            blinks_per_minute: config.blinks_per_minute * blinks,
        }
    }

    /// Channels × [`SOURCES`], row-major, for a cap turned by `cap`; the reference is already taken
    /// off.
    pub(super) fn lead_field(&self, config: &SyntheticConfig, cap: Vec3) -> Vec<f64> {
        let head = Head::three_shells();
        let n = config.channels.len();
        // Names were checked with the configuration; the vertex stands in for what cannot happen.
        let place = |name: &str| rotate(position(name).unwrap_or([0.0, 0.0, 1.0]), cap);
        let electrodes: Vec<Vec3> = config.channels.iter().map(|c| place(c)).collect();
        let ears = [place("A1"), place("A2")];
        let mut field = vec![0.0; n * SOURCES];
        for source in 0..SOURCES {
            let gain = |e: Vec3| self.gain(&head, source, e);
            let best = positions()
                .iter()
                .map(|p| gain(p.at).abs())
                .fold(f64::MIN_POSITIVE, f64::max);
            let column: Vec<f64> = electrodes.iter().map(|&e| gain(e) / best).collect();
            let reference = match config.reference {
                SyntheticReference::LinkedEars => {
                    ears.iter().map(|&e| gain(e) / best).sum::<f64>() / 2.0
                }
                SyntheticReference::Average => column.iter().sum::<f64>() / n as f64,
            };
            for (channel, v) in column.iter().enumerate() {
                field[channel * SOURCES + source] = v - reference;
            }
        }
        field
    }

    fn gain(&self, head: &Head, source: usize, e: Vec3) -> f64 {
        if let Some(d) = self.rhythm_dipole(source) {
            return head.potential(e, d.at, d.moment);
        }
        // Muscles lie under the skin: what an electrode sees of them fades within 20 degrees.
        let muscle = source - (SOURCES - MUSCLES);
        let at = position(["FT7", "FT8", "TP7", "TP8"][muscle]).unwrap_or([1.0, 0.0, 0.0]);
        let angle = dot(e, at).clamp(-1.0, 1.0).acos().to_degrees();
        (-0.5 * (angle / 20.0).powi(2)).exp()
    }

    /// Background, then mu and beta of each area from one dipole, then alpha, then the blink.
    fn rhythm_dipole(&self, source: usize) -> Option<Dipole> {
        let beta = BACKGROUND + AREAS;
        let index = if source < beta {
            source
        } else {
            source - AREAS
        };
        self.dipoles
            .get(index)
            .copied()
            .filter(|_| source < SOURCES - MUSCLES)
    }
}

/// The dipoles everyone has in common: background, areas, alpha, eyes.
fn population(seed: u64) -> Vec<Dipole> {
    let mut stream = Stream::new(seed, Purpose::Population, 0, 0, 0);
    let mut random = || unit(std::array::from_fn(|_| stream.normal()));
    let mut dipoles = Vec::with_capacity(SOURCES);
    while dipoles.len() < BACKGROUND {
        let direction = random();
        if direction[2] > -0.3 {
            dipoles.push(Dipole {
                at: scale(direction, CORTEX),
                moment: random(),
            });
        }
    }
    // Direction below the scalp and the part of the moment that runs along the surface, to `lean`.
    let area = |direction: Vec3, radial: f64, lean: Vec3| {
        let up = unit(direction);
        let along = unit(sub(lean, scale(up, dot(lean, up))));
        Dipole {
            at: scale(up, CORTEX),
            moment: unit(std::array::from_fn(|i| radial * up[i] + along[i])),
        }
    };
    let front = [0.0, 1.0, 0.0];
    // Hand areas under C3 and C4 in the anterior bank of the sulcus, feet on the medial wall under
    // Cz, tongue low on the side.
    for (x, y, z, radial, lean) in [
        (-0.59, -0.05, 0.80, 1.2, front),
        (0.59, -0.05, 0.80, 1.2, front),
        (-0.05, -0.05, 1.0, 1.5, front),
        (-0.85, 0.12, 0.50, 1.0, front),
        (0.85, 0.12, 0.50, 1.0, front),
        (-0.25, -0.90, 0.30, 1.5, [0.0, 0.0, 1.0]),
        (0.25, -0.90, 0.30, 1.5, [0.0, 0.0, 1.0]),
    ] {
        dipoles.push(area([x, y, z], radial, lean));
    }
    // Both eyes at once: far to the front and low, the cornea positive.
    dipoles.push(Dipole {
        at: [0.0, 0.80, -0.15],
        moment: unit([0.0, 0.6, 0.8]),
    });
    dipoles
}

fn vary(dipole: Dipole, stream: &mut Stream, spread: f64) -> Dipole {
    let moved = small_rotation(stream, PLACE * spread);
    let turned = small_rotation(stream, TURN * spread);
    let deeper = (1.0 + 0.03 * spread * stream.normal()).clamp(0.9, 1.03);
    Dipole {
        at: scale(rotate(dipole.at, moved), deeper),
        moment: rotate(rotate(dipole.moment, moved), turned),
    }
}

/// What changes from one session of a subject to the next.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) cap: Vec3,
    /// Factors on the background, the rhythms and the noise.
    pub(super) background: f64,
    pub(super) rhythms: Vec<f64>,
    pub(super) sensor_noise: f64,
    /// Change of the logarithm of all source amplitudes from the first to the last run.
    pub(super) drift: f64,
}

impl Session {
    pub(super) fn new(config: &SyntheticConfig, subject: usize, session: usize) -> Self {
        let mut stream = Stream::new(config.seed, Purpose::Session, subject + 1, session + 1, 0);
        let cap = small_rotation(&mut stream, CAP * config.anatomy_spread);
        let spread = config.strength_spread;
        let mut factor = |by: f64| (by * spread * stream.normal()).exp();
        let (background, sensor_noise) = (factor(0.3), factor(0.7));
        let rhythms = (0..RHYTHMS).map(|_| factor(0.4)).collect();
        let drift = 0.5 * spread * stream.normal();
        Self {
            cap,
            background,
            rhythms,
            sensor_noise,
            drift,
        }
    }
}
