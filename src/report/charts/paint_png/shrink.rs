//! A picture that was drawn too large, scaled down.

/// Drawn this many times larger than it is written.
pub(super) const OVERSAMPLE: u32 = 3;

/// Output pixels that are looked at together: where all of them are white nothing is added up.
const STRIPE: usize = 16;

/// The mean of each block of pixels; `wide` is the width afterwards. By hand because the general
/// filters of the image library need seconds for it without optimisation, as in tests; for their
/// sake it also does few things for each pixel, and none for the white of the page.
pub(super) fn shrunk(pixels: &[u8], wide: usize) -> Vec<u8> {
    const N: usize = OVERSAMPLE as usize;
    const WHITE: [u8; STRIPE * 3 * N] = [u8::MAX; STRIPE * 3 * N];
    let row = wide * N * 3;
    let mut small = Vec::with_capacity(pixels.len() / (N * N));
    for band in pixels.chunks_exact(row * N) {
        let (first, rest) = band.split_at(row);
        let (second, third) = rest.split_at(row);
        for from in (0..row).step_by(WHITE.len()) {
            let to = row.min(from + WHITE.len());
            let lines = [&first[from..to], &second[from..to], &third[from..to]];
            let white = &WHITE[..to - from];
            if lines.iter().all(|line| *line == white) {
                small.extend_from_slice(&white[..(to - from) / N]);
                continue;
            }
            for at in (0..to - from).step_by(3 * N) {
                small.extend_from_slice(&mean(lines, at));
            }
        }
    }
    small
}

/// The mean colour of three by three pixels, the first at `at`.
fn mean(lines: [&[u8]; OVERSAMPLE as usize], at: usize) -> [u8; 3] {
    const AREA: u16 = (OVERSAMPLE * OVERSAMPLE) as u16;
    let mut sums = [AREA / 2; 3];
    for line in lines {
        let Some(block) = line[at..].first_chunk::<9>() else {
            continue;
        };
        sums[0] += block[0] as u16 + block[3] as u16 + block[6] as u16;
        sums[1] += block[1] as u16 + block[4] as u16 + block[7] as u16;
        sums[2] += block[2] as u16 + block[5] as u16 + block[8] as u16;
    }
    sums.map(|sum| u8::try_from(sum / AREA).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_scaled_down_to_the_mean_of_its_pixels() {
        let n = OVERSAMPLE as usize;
        for (wide, high) in [(1, 1), (STRIPE, 2), (3 * STRIPE + 5, 4)] {
            let row = wide * n * 3;
            // White, but for a few places that are anything.
            let pixel = |i: usize| match i * 7919 % 1000 {
                0..20 => (i * 31 % 256) as u8,
                _ => u8::MAX,
            };
            let pixels: Vec<u8> = (0..row * high * n).map(pixel).collect();
            let small = shrunk(&pixels, wide);
            assert_eq!(small.len(), wide * high * 3);
            for (at, mean) in small.iter().enumerate() {
                let (y, x, colour) = (at / 3 / wide, at / 3 % wide, at % 3);
                let block = (0..n * n).map(|i| (y * n + i / n, x * n + i % n));
                let all = block.map(|(y, x)| u32::from(pixels[y * row + x * 3 + colour]));
                assert_eq!(u32::from(*mean), (all.sum::<u32>() + 4) / 9);
            }
        }
    }
}
