//! Every colour of every picture, by role, for light and for dark pages. The page's style sheet
//! and the PNG painter both read this table.
//!
//! Accepted and rejected differ in shape as well as in colour; no meaning rests on colour alone.

/// A role that a colour plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Main text.
    Text,
    /// Secondary text and axes.
    Muted,
    /// Grid lines.
    Grid,
    /// Every second lane.
    Band,
    /// The page itself.
    Page,
    /// An accepted write.
    Accepted,
    /// A rejected write.
    Rejected,
    /// An unknown outcome.
    Unknown,
    /// The window of a fault, over all lanes.
    FaultWash,
    /// The window of a fault, on its own lane.
    Fault,
    /// Its edge and its name.
    FaultEdge,
    /// Belief beyond entitlement.
    Late,
    /// Its ground.
    LateWash,
    /// Loss told, lease ended.
    Alarm,
    /// Host stall.
    Stall,
    /// Text on a lease bar.
    OnLease,
    /// A lease bar; the number tells grants apart.
    Lease(u8),
}

/// Red, green, blue and opacity in per cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tone(pub u8, pub u8, pub u8, pub u8);

/// How many lease colours there are; grants take them in turn.
pub const LEASES: usize = 6;

impl Ink {
    /// Every role.
    pub const ALL: [Ink; 22] = [
        Ink::Text,
        Ink::Muted,
        Ink::Grid,
        Ink::Band,
        Ink::Page,
        Ink::Accepted,
        Ink::Rejected,
        Ink::Unknown,
        Ink::FaultWash,
        Ink::Fault,
        Ink::FaultEdge,
        Ink::Late,
        Ink::LateWash,
        Ink::Alarm,
        Ink::Stall,
        Ink::OnLease,
        Ink::Lease(0),
        Ink::Lease(1),
        Ink::Lease(2),
        Ink::Lease(3),
        Ink::Lease(4),
        Ink::Lease(5),
    ];

    /// The colour of the n-th grant.
    pub fn lease(n: usize) -> Ink {
        Ink::Lease(u8::try_from(n % LEASES).unwrap_or(0))
    }

    /// Text can be read on it.
    pub const fn is_ground(self) -> bool {
        matches!(
            self,
            Ink::Grid | Ink::Band | Ink::Page | Ink::FaultWash | Ink::Fault | Ink::LateWash
        )
    }

    /// Name in style sheets, without the prefix that says fill or stroke.
    pub const fn class(self) -> &'static str {
        match self {
            Ink::Text => "text",
            Ink::Muted => "muted",
            Ink::Grid => "grid",
            Ink::Band => "band",
            Ink::Page => "page",
            Ink::Accepted => "accepted",
            Ink::Rejected => "rejected",
            Ink::Unknown => "unknown",
            Ink::FaultWash => "faultwash",
            Ink::Fault => "fault",
            Ink::FaultEdge => "faultedge",
            Ink::Late => "late",
            Ink::LateWash => "latewash",
            Ink::Alarm => "alarm",
            Ink::Stall => "stall",
            Ink::OnLease => "onlease",
            Ink::Lease(0) => "lease0",
            Ink::Lease(1) => "lease1",
            Ink::Lease(2) => "lease2",
            Ink::Lease(3) => "lease3",
            Ink::Lease(4) => "lease4",
            Ink::Lease(_) => "lease5",
        }
    }

    /// On a light page.
    pub const fn light(self) -> Tone {
        match self {
            Ink::Text => Tone(28, 36, 48, 100),
            Ink::Muted => Tone(84, 96, 112, 100),
            Ink::Grid => Tone(221, 226, 232, 100),
            Ink::Band => Tone(246, 248, 250, 100),
            Ink::Page => Tone(255, 255, 255, 100),
            Ink::Accepted => Tone(21, 128, 61, 100),
            Ink::Rejected => Tone(200, 30, 30, 100),
            Ink::Unknown => Tone(107, 114, 128, 100),
            Ink::FaultWash => Tone(245, 158, 11, 8),
            Ink::Fault => Tone(251, 191, 36, 30),
            Ink::FaultEdge => Tone(146, 64, 14, 100),
            Ink::Late => Tone(200, 30, 30, 75),
            Ink::LateWash => Tone(254, 226, 226, 100),
            Ink::Alarm => Tone(185, 28, 28, 100),
            Ink::Stall => Tone(107, 114, 128, 45),
            Ink::OnLease => Tone(255, 255, 255, 100),
            Ink::Lease(0) => Tone(37, 99, 235, 100),
            Ink::Lease(1) => Tone(13, 120, 105, 100),
            Ink::Lease(2) => Tone(126, 58, 200, 100),
            Ink::Lease(3) => Tone(170, 84, 10, 100),
            Ink::Lease(4) => Tone(14, 116, 144, 100),
            Ink::Lease(_) => Tone(190, 24, 93, 100),
        }
    }

    /// On a dark page.
    pub const fn dark(self) -> Tone {
        match self {
            Ink::Text => Tone(230, 235, 241, 100),
            Ink::Muted => Tone(159, 171, 186, 100),
            Ink::Grid => Tone(47, 56, 68, 100),
            Ink::Band => Tone(27, 33, 41, 100),
            Ink::Page => Tone(21, 26, 33, 100),
            Ink::Accepted => Tone(74, 222, 128, 100),
            Ink::Rejected => Tone(248, 113, 113, 100),
            Ink::Unknown => Tone(156, 163, 175, 100),
            Ink::FaultWash => Tone(245, 158, 11, 8),
            Ink::Fault => Tone(217, 119, 6, 30),
            Ink::FaultEdge => Tone(251, 191, 36, 100),
            Ink::Late => Tone(248, 113, 113, 85),
            Ink::LateWash => Tone(69, 26, 30, 100),
            Ink::Alarm => Tone(252, 129, 129, 100),
            Ink::Stall => Tone(156, 163, 175, 45),
            Ink::OnLease => Tone(255, 255, 255, 100),
            Ink::Lease(0) => Tone(48, 103, 226, 100),
            Ink::Lease(1) => Tone(15, 122, 107, 100),
            Ink::Lease(2) => Tone(131, 70, 201, 100),
            Ink::Lease(3) => Tone(166, 87, 18, 100),
            Ink::Lease(4) => Tone(18, 114, 140, 100),
            Ink::Lease(_) => Tone(190, 40, 100, 100),
        }
    }
}

/// The style sheet of all pictures: `.f-…` fills, `.s-…` strokes.
pub fn style_sheet() -> String {
    let rules = |tone: fn(Ink) -> Tone| -> String {
        Ink::ALL
            .iter()
            .map(|ink| {
                let Tone(r, g, b, alpha) = tone(*ink);
                let class = ink.class();
                let colour = format!("rgb({r} {g} {b}/{alpha}%)");
                format!(".f-{class}{{fill:{colour}}}.s-{class}{{stroke:{colour}}}")
            })
            .collect()
    };
    format!(
        ".p text{{font-family:'DejaVu Sans',Verdana,system-ui,sans-serif}}.p .b{{font-weight:700}}.p .l{{fill:none}}\
         {}@media (prefers-color-scheme:dark){{{}}}@media print{{{}}}",
        rules(Ink::light),
        rules(Ink::dark),
        rules(Ink::light)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of a tone laid over a ground, as the accessibility guidelines count it.
    fn luminance(Tone(r, g, b, alpha): Tone, Tone(gr, gg, gb, _): Tone) -> f64 {
        let part = f64::from(alpha) / 100.0;
        let channel = |top: u8, ground: u8| {
            let value = (f64::from(top) * part + f64::from(ground) * (1.0 - part)) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(r, gr) + 0.7152 * channel(g, gg) + 0.0722 * channel(b, gb)
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_on_every_ground_it_stands_on() {
        for tone in [Ink::light, Ink::dark] {
            let page = tone(Ink::Page);
            let grounds = [
                Ink::Page,
                Ink::Band,
                Ink::FaultWash,
                Ink::Fault,
                Ink::LateWash,
            ];
            let words = [Ink::Text, Ink::FaultEdge, Ink::Alarm, Ink::Muted];
            for word in words {
                for ground in grounds {
                    let on = luminance(tone(ground), page);
                    let ratio = contrast(luminance(tone(word), page), on);
                    assert!(ratio >= 4.0, "{word:?} on {ground:?}: {ratio:.2}");
                }
            }
            for n in 0..LEASES {
                let bar = luminance(tone(Ink::lease(n)), page);
                let ratio = contrast(luminance(tone(Ink::OnLease), page), bar);
                assert!(ratio >= 4.5, "text on lease bar {n}: {ratio:.2}");
            }
        }
    }
}
