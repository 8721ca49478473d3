//! Small pictures of indexed colours as `data:` addresses: PNG (W3C, third edition) with an
//! uncompressed zlib stream (RFC 1950, 1951), then base64 (RFC 4648).

use super::colour::Rgb;

/// A square picture of `side × side` palette indices, rows from the top; index 0 is transparent,
/// index `i` has colour `palette[i − 1]`. At most 255 colours and a side of at most 255.
pub(in crate::report) fn data_url(side: usize, indices: &[u8], palette: &[Rgb]) -> String {
    format!(
        "data:image/png;base64,{}",
        base64(&png(side, indices, palette))
    )
}

fn png(side: usize, indices: &[u8], palette: &[Rgb]) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend((side as u32).to_be_bytes());
    header.extend((side as u32).to_be_bytes());
    // Eight bits, indexed colour, the only compression, the only filter set, no interlacing.
    header.extend([8, 3, 0, 0, 0]);
    let mut colours = vec![255; 3];
    colours.extend(palette.iter().flat_map(|c| [c.0, c.1, c.2]));
    let mut rows = Vec::with_capacity(indices.len() + side);
    for row in indices.chunks(side.max(1)) {
        rows.push(0);
        rows.extend(row);
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut out, *b"IHDR", &header);
    chunk(&mut out, *b"PLTE", &colours);
    chunk(&mut out, *b"tRNS", &[0]);
    chunk(&mut out, *b"IDAT", &stored(&rows));
    chunk(&mut out, *b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend(data);
    let crc = crc32(&out[start..]);
    out.extend(crc.to_be_bytes());
}

/// A zlib stream of stored blocks.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = data.len().div_ceil(0xffff).max(1);
    for i in 0..blocks {
        let block = &data[i * 0xffff..data.len().min((i + 1) * 0xffff)];
        out.push(u8::from(i + 1 == blocks));
        out.extend((block.len() as u16).to_le_bytes());
        out.extend((!(block.len() as u16)).to_le_bytes());
        out.extend(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in data {
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    out.extend(((b << 16) | a).to_be_bytes());
    out
}

fn crc32(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in data {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                0xedb8_8320 ^ (crc >> 1)
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

fn base64(data: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(data.len().div_ceil(3) * 4);
    for group in data.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| {
            (bits << 8) | u32::from(*group.get(i).unwrap_or(&0))
        });
        for i in 0..4 {
            let c = ALPHABET[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i > group.len() { '=' } else { c as char });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(stored(b"Wikipedia")[14 + 2..], 0x11e6_0398u32.to_be_bytes());
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
