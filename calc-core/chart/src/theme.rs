//! Colors, light and dark, as data. The page's style sheet repeats them, and a test there compares the two.

/// A color without transparency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

/// A family of formats has one hue; members of a family differ by shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hue {
    /// FP64, FP32, TF32.
    Gray,
    /// FP16, BF16.
    Orange,
    Green,
    /// FP4 and FP6.
    Purple,
    Cyan,
    /// INT4 and fewer bits.
    Blue,
    /// Code books: NF4, IQ4.
    Rose,
    /// GGUF with linear steps.
    Brown,
    Olive,
}

impl Hue {
    /// Every hue, in the order of the tints of a theme.
    pub const ALL: [Self; 9] = [
        Self::Gray,
        Self::Orange,
        Self::Green,
        Self::Purple,
        Self::Cyan,
        Self::Blue,
        Self::Rose,
        Self::Brown,
        Self::Olive,
    ];

    /// The name in the style sheet.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Gray => "gray",
            Self::Orange => "orange",
            Self::Green => "green",
            Self::Purple => "purple",
            Self::Cyan => "cyan",
            Self::Blue => "blue",
            Self::Rose => "rose",
            Self::Brown => "brown",
            Self::Olive => "olive",
        }
    }
}

/// A hue as a mark or line, and as text, which needs more contrast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tint {
    /// Marks and lines: 3 to 1.
    pub mark: Color,
    /// Text: 4.5 to 1.
    pub text: Color,
}

/// The role of a color; the theme has its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The color of text and of the bandwidth roof.
    Main,
    /// Secondary text.
    Muted,
    /// Hairlines.
    Line,
    /// The color of a family of formats.
    Hue(Hue),
}

/// All colors of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Background of the page.
    pub background: Color,
    /// Background of input fields.
    pub panel: Color,
    /// Region under the roof.
    pub wash: Color,
    /// Text, and the bandwidth roof.
    pub ink: Color,
    /// Secondary text.
    pub muted: Color,
    /// Hairlines.
    pub line: Color,
    /// Selected and recommended rows.
    pub accent: Color,
    /// Tints in the order of [`Hue::ALL`].
    pub tints: [Tint; 9],
}

/// A tint that is dark or light enough to be text too.
const fn one(color: Color) -> Tint {
    Tint { mark: color, text: color }
}

/// Colors for paper.
pub const PAPER: Theme = {
    let white = Color(0xff, 0xff, 0xff);
    Theme { background: white, panel: white, ..LIGHT }
};

/// Colors for a light background.
pub const LIGHT: Theme = Theme {
    background: Color(0xfb, 0xfb, 0xfa),
    panel: Color(0xff, 0xff, 0xff),
    wash: Color(0xf1, 0xf5, 0xf2),
    ink: Color(0x1c, 0x1d, 0x1f),
    muted: Color(0x67, 0x6b, 0x73),
    line: Color(0xe4, 0xe4, 0xe1),
    accent: Color(0x2f, 0x6f, 0x4f),
    tints: [
        Tint { mark: Color(0x7d, 0x82, 0x8b), text: Color(0x66, 0x6b, 0x74) },
        Tint { mark: Color(0xcf, 0x6a, 0x08), text: Color(0xad, 0x57, 0x00) },
        Tint { mark: Color(0x2f, 0x8f, 0x46), text: Color(0x27, 0x7a, 0x3b) },
        one(Color(0x7a, 0x4f, 0xc4)),
        Tint { mark: Color(0x0b, 0x8f, 0xa6), text: Color(0x08, 0x75, 0x8a) },
        one(Color(0x25, 0x63, 0xc9)),
        Tint { mark: Color(0xc2, 0x40, 0x7f), text: Color(0xb0, 0x35, 0x73) },
        Tint { mark: Color(0x9a, 0x6b, 0x3f), text: Color(0x85, 0x59, 0x2f) },
        Tint { mark: Color(0x7a, 0x7a, 0x1f), text: Color(0x6a, 0x6a, 0x18) },
    ],
};

/// Colors for a dark background.
pub const DARK: Theme = Theme {
    background: Color(0x14, 0x15, 0x17),
    panel: Color(0x1b, 0x1d, 0x20),
    wash: Color(0x1d, 0x24, 0x21),
    ink: Color(0xec, 0xed, 0xed),
    muted: Color(0x9a, 0xa0, 0xa9),
    line: Color(0x2d, 0x30, 0x35),
    accent: Color(0x6f, 0xc7, 0x9a),
    tints: [
        one(Color(0x9a, 0xa0, 0xa9)),
        one(Color(0xf3, 0x9a, 0x4a)),
        one(Color(0x62, 0xc6, 0x7a)),
        one(Color(0xb0, 0x95, 0xf0)),
        one(Color(0x4c, 0xc6, 0xdc)),
        one(Color(0x78, 0xa6, 0xff)),
        one(Color(0xf0, 0x8a, 0xb8)),
        one(Color(0xcf, 0xa1, 0x76)),
        one(Color(0xc2, 0xc2, 0x5a)),
    ],
};

impl Theme {
    /// Two colors that the reader chose for everything: marks differ by shape, and hairlines are nearer to the background.
    pub const fn of_two(background: Color, ink: Color) -> Self {
        const fn near(background: u8, ink: u8) -> u8 {
            background.midpoint(background.midpoint(ink))
        }
        let line =
            Color(near(background.0, ink.0), near(background.1, ink.1), near(background.2, ink.2));
        Self {
            background,
            panel: background,
            wash: background,
            ink,
            muted: ink,
            line,
            accent: ink,
            tints: [one(ink); 9],
        }
    }

    /// The tint of a hue.
    pub const fn tint(&self, hue: Hue) -> Tint {
        self.tints[hue as usize]
    }

    /// The color of a mark or line.
    pub const fn mark(&self, ink: Ink) -> Color {
        match ink {
            Ink::Main => self.ink,
            Ink::Muted => self.muted,
            Ink::Line => self.line,
            Ink::Hue(hue) => self.tint(hue).mark,
        }
    }

    /// The color of text.
    pub const fn text(&self, ink: Ink) -> Color {
        match ink {
            Ink::Main => self.ink,
            Ink::Muted => self.muted,
            Ink::Line => self.line,
            Ink::Hue(hue) => self.tint(hue).text,
        }
    }
}

/// Contrast of two colors as WCAG 2 defines it: 1 for equal ones, 21 for black on white.
pub fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    let (light, dark) = if a > b { (a, b) } else { (b, a) };
    (light + 0.05) / (dark + 0.05)
}

fn luminance(Color(red, green, blue): Color) -> f64 {
    let linear = |channel: u8| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            calc_core::math::pow((value + 0.055) / 1.055, 2.4)
        }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_standard() {
        let (black, white) = (Color(0, 0, 0), Color(255, 255, 255));
        assert!((contrast(black, white) - 21.0).abs() < 1e-9);
        assert!((contrast(Color(0x77, 0x77, 0x77), white) - 4.478).abs() < 1e-3);
    }

    #[test]
    fn two_colors_leave_every_mark_and_text_as_they_were_chosen() {
        let (black, yellow) = (Color(0, 0, 0), Color(255, 255, 0));
        let theme = Theme::of_two(black, yellow);
        assert!(Hue::ALL.iter().all(|hue| theme.tint(*hue) == one(yellow)));
        assert_eq!((theme.background, theme.muted), (black, yellow));
        assert_eq!(theme.line, Color(63, 63, 0));
    }

    #[test]
    fn text_and_marks_stand_out_wherever_they_may_lie() {
        for (name, theme) in [("light", LIGHT), ("dark", DARK), ("paper", PAPER)] {
            for ground in [theme.background, theme.panel, theme.wash] {
                for text in [theme.ink, theme.muted, theme.accent] {
                    assert!(contrast(text, ground) >= 4.5, "{name}: {text:?} on {ground:?}");
                }
                for hue in Hue::ALL {
                    let Tint { mark, text } = theme.tint(hue);
                    assert!(contrast(mark, ground) >= 3.0, "{name}: {hue:?} mark on {ground:?}");
                    assert!(contrast(text, ground) >= 4.5, "{name}: {hue:?} text on {ground:?}");
                }
            }
        }
    }
}
