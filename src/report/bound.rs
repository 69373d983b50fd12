//! The exact (Clopper–Pearson) interval for a rate seen k times in n runs.
//!
//! Closed form at k = 0 and k = n, bisection on the binomial tail between. The interval speaks
//! of the schedule that was run and of nothing else.

/// An interval for a rate; both ends in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Probability left outside on each side: 2.5 %, so that the interval covers 95 %.
const TAIL: f64 = 0.025;

/// The exact 95 % interval for a rate of which `k` of `n` were seen; `0..=1` if `n` is 0.
pub fn exact_95(k: u64, n: u64) -> Interval {
    let k = k.min(n);
    if n == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let root = 1.0 / n as f64;
    let low = match k {
        0 => 0.0,
        _ if k == n => TAIL.powf(root),
        _ => bisect(|p| 1.0 - at_most(k - 1, n, p) > TAIL),
    };
    let high = match k {
        0 => 1.0 - TAIL.powf(root),
        _ if k == n => 1.0,
        _ => bisect(|p| at_most(k, n, p) < TAIL),
    };
    Interval { low, high }
}

/// The p at which `above` turns from false to true; `above` must be monotone.
fn bisect(above: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// P(X ≤ k) for X binomial(n, p), 0 < p < 1; summed in logarithms so that large n does not
/// underflow.
fn at_most(k: u64, n: u64, p: f64) -> f64 {
    let odds = (p / (1.0 - p)).ln();
    let mut log_term = n as f64 * (1.0 - p).ln();
    let mut sum = log_term.exp();
    for i in 1..=k {
        log_term += ((n - i + 1) as f64 / i as f64).ln() + odds;
        sum += log_term.exp();
    }
    sum.min(1.0)
}

/// A rate as a per cent with one decimal where it matters: `97.5 %`, `0 %`.
pub fn per_cent(rate: f64) -> String {
    let text = format!("{:.1}", rate * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: Interval, low: f64, high: f64) {
        assert!((got.low - low).abs() < 5e-4, "{got:?} low {low}");
        assert!((got.high - high).abs() < 5e-4, "{got:?} high {high}");
    }

    /// Values of R's `binom.test(k, n)$conf.int`.
    #[test]
    fn agrees_with_published_values() {
        near(exact_95(0, 1), 0.0, 0.975);
        near(exact_95(1, 1), 0.025, 1.0);
        near(exact_95(0, 10), 0.0, 0.3085);
        near(exact_95(1, 10), 0.0025, 0.4450);
        near(exact_95(5, 10), 0.1871, 0.8129);
        near(exact_95(0, 50), 0.0, 0.0711);
        near(exact_95(3, 500), 0.0012, 0.0174);
    }

    #[test]
    fn odd_counts_stay_in_range() {
        assert_eq!(
            exact_95(0, 0),
            Interval {
                low: 0.0,
                high: 1.0
            }
        );
        assert_eq!(exact_95(9, 3).high, 1.0);
        let wide = exact_95(5000, 100_000);
        assert!(wide.low > 0.048 && wide.high < 0.052, "{wide:?}");
    }

    #[test]
    fn per_cents_read_well() {
        assert_eq!(per_cent(0.975), "97.5 %");
        assert_eq!(per_cent(0.0), "0 %");
        assert_eq!(per_cent(1.0), "100 %");
    }
}
