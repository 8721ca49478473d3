//! The rule's numbers, its words, and the presets.

use stiefel_model::scaling::{Preset, Recommendation, Regime, ScalingRule};

fn auto(n: usize, d: usize) -> Recommendation {
    ScalingRule::default().recommend(n, d).unwrap()
}

#[test]
fn experts_by_number_of_domains() {
    let expected = [
        (1, 1),
        (2, 1),
        (3, 2),
        (9, 8),
        (10, 9),
        (11, 9),
        (14, 9),
        (15, 10),
        (19, 10),
        (20, 10),
        (21, 11),
        (28, 14),
        (53, 27),
    ];
    for (d, k) in expected {
        assert_eq!(auto(22, d).experts.value, k, "D = {d}");
    }
    let all: Vec<usize> = (1..200).map(|d| auto(22, d).experts.value).collect();
    assert!(all.is_sorted());
}

#[test]
fn filters_by_number_of_channels() {
    for (n, k) in [
        (1, 1),
        (2, 1),
        (3, 2),
        (13, 12),
        (16, 15),
        (17, 15),
        (22, 20),
        (39, 35),
        (40, 20),
        (60, 30),
        (61, 30),
        (64, 32),
    ] {
        assert_eq!(auto(n, 9).filters.value, k, "n = {n}");
    }
}

#[test]
fn the_threshold_is_strict() {
    // n = 24: 300 tangent dimensions; D = 6 gives exactly 50.
    let at = auto(24, 6);
    assert_eq!((at.rho, at.regime), (50.0, Regime::LowRho));
    assert_eq!(
        (
            at.dsp_rank.value,
            at.lambda_align.value,
            at.decouple_keys.value
        ),
        (None, 0.0, false)
    );
    let above = auto(24, 5);
    assert_eq!((above.rho, above.regime), (60.0, Regime::HighRho));
    assert_eq!(
        (
            above.dsp_rank.value,
            above.lambda_align.value,
            above.decouple_keys.value
        ),
        (Some(40), 0.05, true)
    );
    // The study's sizes at 64 channels.
    assert_eq!(auto(64, 40).rho, 52.0);
    assert_eq!(auto(64, 53).regime, Regime::LowRho);
}

#[test]
fn one_domain_turns_routing_off() {
    let one = auto(64, 1);
    assert!(!one.routing.value && one.routing.reason.contains("nothing to route"));
    assert_eq!(
        (
            one.experts.value,
            one.dsp_rank.value,
            one.lambda_align.value
        ),
        (1, None, 0.0)
    );
    assert!(!one.decouple_keys.value);
    assert!(auto(64, 2).routing.value);
}

#[test]
fn presets_are_the_papers() {
    let values = |p: Preset| {
        let r = p.recommendation();
        (
            r.channels,
            r.domains,
            r.filters.value,
            r.experts.value,
            r.embedding.value,
            r.dsp_rank.value,
            r.lambda_align.value,
            r.decouple_keys.value,
        )
    };
    assert_eq!(
        values(Preset::Weibo2014),
        (60, 9, 30, 8, 20, Some(40), 0.05, true)
    );
    assert_eq!(
        values(Preset::Bnci2015001),
        (13, 28, 12, 16, 20, None, 0.0, false)
    );
    assert_eq!(
        values(Preset::Bnci2014001),
        (22, 9, 20, 8, 20, None, 0.0, false)
    );
    // The paper's ρ: 203, 3.3, 28.
    let rhos = Preset::ALL.map(|p| (p.recommendation().rho * 10.0).round() / 10.0);
    assert_eq!(rhos, [203.3, 3.3, 28.1]);
    // Everything but K of the largest set follows from the rule.
    for preset in Preset::ALL {
        let (paper, rule) = (
            preset.recommendation(),
            auto(
                preset.recommendation().channels,
                preset.recommendation().domains,
            ),
        );
        assert_eq!(paper.regime, rule.regime);
        assert_eq!(paper.filters.value, rule.filters.value);
        assert_eq!(paper.dsp_rank.value, rule.dsp_rank.value);
        assert_eq!(
            paper.experts.value == rule.experts.value,
            preset != Preset::Bnci2015001
        );
        assert_eq!(
            preset.name().to_lowercase().parse::<Preset>().unwrap(),
            preset
        );
    }
    let error = "Weibo".parse::<Preset>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "preset \"Weibo\" is not known; one of: Weibo2014, BNCI2015001, BNCI2014001"
    );
}

#[test]
fn nothing_is_not_recommended_for() {
    assert!(ScalingRule::default().recommend(0, 3).is_err());
    assert!(ScalingRule::default().recommend(3, 0).is_err());
    // Sizes beyond any recording do not overflow.
    assert!(ScalingRule::default().recommend(usize::MAX, 1).unwrap().rho > 1e30);
}

#[test]
fn the_explanation_reads() {
    assert_eq!(
        auto(64, 40).to_string(),
        "\
64 channels and 40 training domain(s), by the scaling rule
ρ = n(n+1)/(2D) = 52.0, above the threshold 50
  routing        on         40 training domains
  experts K      20         D ≥ 20: half of the domains, because more capacity helps less and less
  filters k      32         n ≥ 40: half of the channels
  embedding m    20         the same for every dataset
  DSP columns r  40         ρ > 50: domain identity is spread over 2080 tangent dimensions, the \
         encoder finds it (fewer columns where the data span fewer)
  λ_align        0.05       ρ > 50: keys are drawn to the queries
  keys           decoupled  the alignment loss alone moves the keys, towards stable domain \
         attractors"
    );
    assert_eq!(
        auto(13, 15).to_string(),
        "\
13 channels and 15 training domain(s), by the scaling rule
ρ = n(n+1)/(2D) = 6.1, not above the threshold 50
  routing        on         15 training domains
  experts K      10         10 < D < 20: between 9 and 10, so that K never falls as D grows
  filters k      12         n < 40: compact already, about one channel in eleven is dropped
  embedding m    20         the same for every dataset
  DSP columns r  off        ρ ≤ 50: the query network finds the domains unaided
  λ_align        0          ρ ≤ 50: not needed
  keys           coupled    without alignment loss the keys learn from the classification"
    );
    assert_eq!(
        Preset::Bnci2015001
            .recommendation()
            .to_string()
            .lines()
            .next()
            .unwrap(),
        "13 channels and 28 training domain(s), by the paper's preset BNCI2015001"
    );
}
