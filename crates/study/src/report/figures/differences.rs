//! The picture of the first sentence: the difference of two methods, person by person.

use super::super::base::text::{count, signed};
use super::super::chart::forest::{Difference, Forest};
use super::{Figure, Section};
use crate::stats::CONFIDENCE;
use crate::{Comparison, StudySummary};

/// The comparison of the first sentence.
pub(super) fn headline(summary: &StudySummary) -> Option<Figure> {
    let headline = summary.headline.as_ref()?;
    let about = |c: &&Comparison| c.method == headline.method && c.against == headline.against;
    let comparison = summary.comparisons.iter().find(about)?;
    let mut people: Vec<Difference> = (comparison.people.iter())
        .filter(|p| p.difference.is_finite())
        .map(|p| Difference {
            name: p.subject.clone(),
            value: p.difference,
            interval: p.interval.filter(|i| i.0.is_finite() && i.1.is_finite()),
        })
        .collect();
    if people.is_empty() {
        return None;
    }
    people.sort_by(|a, b| b.value.total_cmp(&a.value));
    let gain = people.iter().filter(|p| p.value > 0.0).count();
    let percent = 100.0 * CONFIDENCE;
    let told: Vec<String> = (people.iter().take(20))
        .map(|p| format!("{} {}", p.name, signed(p.value, 3)))
        .collect();
    let more = if people.len() > told.len() {
        ", …"
    } else {
        ""
    };
    let (method, against) = (&comparison.method, &comparison.against);
    let alt = format!(
        "{} of {} gain; mean difference {}. {}{more}.",
        gain,
        count(people.len(), "subject"),
        signed(comparison.difference, 3),
        told.join(", ")
    );
    let chart = Forest {
        people,
        mean: comparison.difference,
        interval: comparison.interval,
        axis: format!("balanced accuracy: {method} minus {against}"),
    };
    Some(Figure {
        section: Section::Headline,
        method: None,
        name: "differences".into(),
        title: format!("{method} minus {against}, person by person"),
        caption: format!(
            "Circles gain, squares lose. Thin lines: {percent:.0} % intervals, each from the \
             person's own test trials. The thick mark and the grey band: the mean over people and \
             its {percent:.0} % interval."
        ),
        alt,
        drawing: chart.draw(),
    })
}
