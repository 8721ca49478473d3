//! The event table behind the records.
//!
//! ```text
//! before 1.94: mode u8, rate u24, count u32          since: mode u8, count u24, rate f32
//! then:        positions u32 × count, types u16 × count
//! mode 3:      channels u16 × count, durations u32 × count
//! ```

use super::header::GdfHeader;
use crate::Result;
use crate::events::Marker;
use crate::source::Source;

/// A value of a sparse channel, not an event.
const SPARSE: u16 = 0x7fff;

/// Reads the table at `offset`; a file that ends there has no events.
pub(super) fn read(
    source: &mut Source<'_>,
    header: &GdfHeader,
    offset: u64,
    rate: f64,
) -> Result<Vec<Marker>> {
    if offset >= source.len() {
        return Ok(Vec::new());
    }
    source.seek_to(offset, "the event table")?;
    let head = source.read_vec(8, "the event table")?;
    let mode = head[0];
    let three = u32::from_le_bytes([head[1], head[2], head[3], 0]);
    let four = [head[4], head[5], head[6], head[7]];
    let (count, stored_rate) = if header.version < 1.94 {
        (u32::from_le_bytes(four), f64::from(three))
    } else {
        (three, f64::from(f32::from_le_bytes(four)))
    };
    if count > 0 && !matches!(mode, 1 | 3) {
        return Err(source.malformed(
            offset,
            format!("the event table has mode {mode}; only the modes 1 and 3 can be read"),
        ));
    }
    let rate = if stored_rate.is_finite() && stored_rate > 0.0 {
        stored_rate
    } else {
        rate
    };
    let count = u64::from(count);
    let positions = source.read_vec(4 * count, "the positions of events")?;
    let types = source.read_vec(2 * count, "the types of events")?;
    let mut durations = Vec::new();
    if mode == 3 {
        let skipped = source.position() + 2 * count;
        source.seek_to(skipped, "the durations of events")?;
        durations = source.read_vec(4 * count, "the durations of events")?;
    }
    let seconds = |samples: f64| samples / rate;
    let mut markers = Vec::with_capacity(count as usize);
    let pairs = positions
        .as_chunks::<4>()
        .0
        .iter()
        .zip(types.as_chunks::<2>().0);
    for (i, (position, kind)) in pairs.enumerate() {
        let kind = u16::from_le_bytes(*kind);
        if kind == SPARSE {
            continue;
        }
        let duration = durations
            .as_chunks::<4>()
            .0
            .get(i)
            .map_or(0, |d| u32::from_le_bytes(*d));
        markers.push(Marker {
            onset: seconds(f64::from(u32::from_le_bytes(*position)) - 1.0),
            duration: seconds(f64::from(duration)),
            label: kind.to_string(),
        });
    }
    Ok(markers)
}
