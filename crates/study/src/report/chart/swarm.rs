//! Many people in a row per method: a dot each, pushed aside where others have the same score, with
//! the quartiles below.

use super::super::base::axis::{Scale, extent};
use super::super::base::legend::mean;
use super::super::base::svg::{Anchor, Drawing, Svg, TEXT, Tone, WIDTH};
use super::super::base::text::{figure, shorten, width};

/// One method: its name and the people's names and scores.
#[derive(Debug)]
pub(in crate::report) struct Group {
    pub name: String,
    pub people: Vec<(String, f64)>,
}

/// The chart.
#[derive(Debug)]
pub(in crate::report) struct Swarm {
    pub groups: Vec<Group>,
    pub axis: &'static str,
    pub reference: Option<(f64, String)>,
}

const NAMES: f64 = 170.0;

impl Swarm {
    pub(in crate::report) fn draw(&self) -> Drawing {
        let mut svg = Svg::new(WIDTH);
        let names = self.groups.iter().map(|g| shorten(&g.name, NAMES, TEXT));
        let names: Vec<String> = names.collect();
        let widest = names.iter().map(|l| width(l, TEXT)).fold(20.0, f64::max);
        let (left, right) = (widest + 14.0, WIDTH - 48.0);
        let most = self.groups.iter().map(|g| g.people.len()).max();
        let (row, radius) = match most.unwrap_or(0) {
            ..=30 => (38.0, 2.8),
            31..=80 => (44.0, 2.2),
            _ => (52.0, 1.7),
        };
        let top = if self.reference.is_some() { 23.0 } else { 8.0 };
        let bottom = top + row * self.groups.len().max(1) as f64;
        let values = self
            .groups
            .iter()
            .flat_map(|g| g.people.iter().map(|p| p.1));
        let reference = self.reference.iter().map(|r| r.0);
        let scale = Scale::new(extent(values.chain(reference)), (left + 4.0, right - 4.0));
        super::rows::grid(&mut svg, &scale, (top, bottom));
        if let Some((value, label)) = &self.reference {
            let x = scale.at(*value);
            svg.rule("axis", [x, top - 6.0, x, bottom], true);
            svg.text_within(x, 11.0, Tone::Muted, label);
        }
        for (g, (group, name)) in self.groups.iter().zip(&names).enumerate() {
            let middle = top + row * (g as f64 + 0.5);
            svg.text(left - 8.0, middle + 4.0, Anchor::End, Tone::Ink, name);
            let room = row / 2.0 - 9.0;
            let mut people: Vec<&(String, f64)> = group.people.iter().collect();
            people.retain(|p| p.1.is_finite());
            people.sort_by(|a, b| a.1.total_cmp(&b.1));
            let across: Vec<f64> = people.iter().map(|p| scale.at(p.1)).collect();
            let aside = aside(&across, 2.0 * radius, room);
            for ((person, x), dy) in people.iter().zip(&across).zip(aside) {
                let hover = format!("{}, {}: {}", group.name, person.0, figure(person.1, 3));
                svg.marker(Some(0), *x, middle - 4.0 + dy, radius, &hover);
            }
            if let Some([low, half, high]) = quartiles(&people) {
                let places = (scale.at(low), scale.at(half), scale.at(high));
                mean(&mut svg, places, middle + row / 2.0 - 7.0);
                let shown = figure(half, 3);
                svg.text(WIDTH - 4.0, middle + 4.0, Anchor::End, Tone::Bold, &shown);
            }
        }
        svg.text_within(
            f64::midpoint(left, right),
            bottom + 34.0,
            Tone::Muted,
            self.axis,
        );
        svg.finish(bottom + 42.0)
    }
}

/// First quartile, median and third quartile of sorted people, interpolated between neighbours.
fn quartiles(people: &[&(String, f64)]) -> Option<[f64; 3]> {
    let last = people.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|q| {
        let place = q * last as f64;
        let (below, share) = (place.floor() as usize, place.fract());
        let above = (below + 1).min(last);
        people[below].1 * (1.0 - share) + people[above].1 * share
    }))
}

/// How far each of the sorted places is pushed aside so that dots of that size do not cover each
/// other, as far as there is room.
fn aside(sorted: &[f64], size: f64, room: f64) -> Vec<f64> {
    let mut placed: Vec<(f64, f64)> = Vec::with_capacity(sorted.len());
    for &x in sorted {
        let near: Vec<(f64, f64)> = placed
            .iter()
            .rev()
            .take_while(|p| x - p.0 < size)
            .copied()
            .collect();
        let free = |dy: f64| {
            let apart = |p: &(f64, f64)| (x - p.0).hypot(dy - p.1) >= 0.95 * size;
            near.iter().all(apart)
        };
        let steps = (2.0 * room / size).floor() as i32;
        let offsets = (0..=2 * steps).map(|i| {
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            sign * f64::from((i + 1) / 2) * size / 2.0
        });
        let mut offsets = offsets.filter(|dy| dy.abs() <= room);
        placed.push((x, offsets.find(|&dy| free(dy)).unwrap_or(0.0)));
    }
    placed.into_iter().map(|p| p.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_do_not_cover_each_other_while_there_is_room() {
        let places = [5.0; 7];
        let mut found = aside(&places, 4.0, 12.5);
        found.sort_by(f64::total_cmp);
        assert!(found.windows(2).all(|w| w[1] - w[0] >= 3.8), "{found:?}");
        // Without room they lie over each other, inside.
        assert!(aside(&[5.0; 50], 4.0, 6.0).iter().all(|dy| dy.abs() <= 6.0));
        // Alone nobody is pushed.
        assert_eq!(aside(&[1.0, 9.0, 20.0], 4.0, 8.0), [0.0; 3]);
    }

    #[test]
    fn quartiles_are_those_of_the_sorted_scores() {
        let people: Vec<(String, f64)> = (0..5).map(|i| (String::new(), f64::from(i))).collect();
        let people: Vec<&(String, f64)> = people.iter().collect();
        assert_eq!(quartiles(&people), Some([1.0, 2.0, 3.0]));
        assert_eq!(quartiles(&people[..2]), Some([0.25, 0.5, 0.75]));
        assert_eq!(quartiles(&people[..1]), Some([0.0; 3]));
        assert_eq!(quartiles(&[]), None);
    }
}
