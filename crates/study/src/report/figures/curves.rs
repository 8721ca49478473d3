//! Training curves: loss, validation accuracy and routing entropy over the epochs.

use super::super::base::legend::Key;
use super::super::base::svg::Stroke;
use super::super::base::text::count;
use super::super::chart::lines::{Line, Panel, draw};
use super::{Figure, Section, file_name, units_of};
use crate::StudySummary;
use stiefel_model::train::EpochRecord;

/// What is drawn of an epoch.
type Value = fn(&EpochRecord) -> Option<f64>;

fn training_loss(epoch: &EpochRecord) -> Option<f64> {
    let total = epoch.losses.iter().map(|term| term.1).sum();
    (!epoch.losses.is_empty()).then_some(total)
}

/// A thin line per unit, and their mean as long as at least half of the units are in training.
fn lines(histories: &[&[EpochRecord]], value: Value, category: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let longest = histories.iter().map(|h| h.len()).max().unwrap_or(0);
    for history in histories {
        let points: Vec<(f64, f64)> = history
            .iter()
            .filter_map(|e| Some((e.epoch as f64, value(e)?)))
            .collect();
        lines.push(Line {
            points,
            stroke: thin(category),
            dots: false,
        });
    }
    let mean = (0..longest).map_while(|i| {
        let at: Vec<&EpochRecord> = histories.iter().filter_map(|h| h.get(i)).collect();
        let values: Vec<f64> = at
            .iter()
            .filter_map(|e| value(e))
            .filter(|v| v.is_finite())
            .collect();
        let enough = 2 * values.len() >= histories.len() && !values.is_empty();
        enough.then(|| {
            (
                at[0].epoch as f64,
                values.iter().sum::<f64>() / values.len() as f64,
            )
        })
    });
    lines.push(Line {
        points: mean.collect(),
        stroke: thick(category),
        dots: false,
    });
    lines.retain(|line| line.points.iter().any(|p| p.1.is_finite()));
    lines
}

fn thin(category: usize) -> Stroke {
    Stroke {
        category: Some(category),
        width: 0.8,
        opacity: 0.4,
        dash: 0,
    }
}

fn thick(category: usize) -> Stroke {
    Stroke {
        width: 2.2,
        opacity: 1.0,
        ..thin(category)
    }
}

pub(super) fn training(summary: &StudySummary, method: &str) -> Option<Figure> {
    let histories: Vec<&[EpochRecord]> = units_of(summary, method)
        .map(|u| u.outcome.history.as_slice())
        .filter(|h| !h.is_empty())
        .collect();
    let first = histories.first()?;
    let mut loss = lines(&histories, training_loss, 0);
    loss.extend(lines(&histories, |e| Some(e.validation_loss), 1));
    let panels = [
        Panel {
            title: "loss",
            lines: loss,
            legend: vec![
                (Key::Line(thick(0)), "training, all terms".into()),
                (Key::Line(thick(1)), "validation cross-entropy".into()),
            ],
        },
        Panel {
            title: "balanced accuracy on validation",
            lines: lines(&histories, |e| Some(e.validation_accuracy), 2),
            legend: Vec::new(),
        },
        Panel {
            title: "routing entropy H̄ on validation",
            lines: lines(&histories, |e| e.routing_entropy, 3),
            legend: Vec::new(),
        },
    ];
    let terms: Vec<&str> = first[0].losses.iter().map(|t| t.0.as_str()).collect();
    let epochs = histories.iter().map(|h| h.len());
    let (least, most) = (epochs.clone().min()?, epochs.max()?);
    let entropy = if panels[2].lines.is_empty() {
        ""
    } else {
        ", and the routing entropy"
    };
    Some(Figure {
        section: Section::Curves,
        method: Some(method.to_owned()),
        name: file_name("training", method),
        title: format!("Training of {method}"),
        caption: format!(
            "{}; terms of the loss: {}.",
            count(histories.len(), "unit"),
            if terms.is_empty() {
                "not recorded".to_owned()
            } else {
                terms.join(", ")
            }
        ),
        alt: format!(
            "Loss on training and validation and balanced accuracy on validation{entropy} over \
             {least} to {most} epochs."
        ),
        drawing: draw(&panels, "epoch"),
    })
}
