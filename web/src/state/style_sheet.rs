//! Tests that the style sheet and the chart's theme have the same colors.

#[cfg(test)]
mod tests {
    use chart::theme::{Color, DARK, Hue, LIGHT, Theme};

    const SHEET: &str = include_str!("../../assets/colors.css");

    fn named(theme: &Theme) -> Vec<(String, String)> {
        let hex = |Color(red, green, blue): Color| format!("#{red:02x}{green:02x}{blue:02x}");
        let mut named = vec![
            ("background".to_owned(), theme.background),
            ("panel".to_owned(), theme.panel),
            ("wash".to_owned(), theme.wash),
            ("ink".to_owned(), theme.ink),
            ("muted".to_owned(), theme.muted),
            ("line".to_owned(), theme.line),
            ("accent".to_owned(), theme.accent),
        ];
        named.extend(Hue::ALL.map(|hue| (format!("hue-{}", hue.key()), theme.tint(hue).mark)));
        named.into_iter().map(|(name, color)| (name, hex(color))).collect()
    }

    #[test]
    fn the_style_sheet_has_the_colors_of_the_theme_once() {
        for ((name, light), (_, dark)) in named(&LIGHT).into_iter().zip(named(&DARK)) {
            let declaration = format!("--{name}: light-dark({light}, {dark});");
            assert!(SHEET.contains(&declaration), "{declaration} is missing in {SHEET}");
            assert_eq!(SHEET.matches(&format!("--{name}:")).count(), 1, "{name}");
        }
    }
}
