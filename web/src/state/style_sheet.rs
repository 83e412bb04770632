//! Tests that the style sheet and the chart's theme have the same colors.

#[cfg(test)]
mod tests {
    use chart::theme::{Color, DARK, Hue, LIGHT, Theme};

    const SHEET: &str = include_str!("../../assets/colors.css");

    fn check(block: &str, theme: &Theme) {
        let hex = |Color(red, green, blue): Color| format!("#{red:02x}{green:02x}{blue:02x}");
        let mut expected = vec![
            ("background".to_owned(), theme.background),
            ("panel".to_owned(), theme.panel),
            ("wash".to_owned(), theme.wash),
            ("ink".to_owned(), theme.ink),
            ("muted".to_owned(), theme.muted),
            ("line".to_owned(), theme.line),
            ("accent".to_owned(), theme.accent),
        ];
        expected.extend(Hue::ALL.map(|hue| (format!("hue-{}", hue.key()), theme.tint(hue).mark)));
        for (name, color) in expected {
            let declaration = format!("--{name}: {};", hex(color));
            assert!(block.contains(&declaration), "{declaration} is missing in {block}");
        }
    }

    #[test]
    fn the_style_sheet_has_the_colors_of_the_theme() {
        let blocks: Vec<&str> = SHEET.split("--background:").skip(1).collect();
        assert_eq!(blocks.len(), 3, "light, dark by preference, dark by choice");
        let block = |index: usize| {
            let body = blocks[index].split('}').next().unwrap_or_default();
            format!("--background:{body}")
        };
        check(&block(0), &LIGHT);
        check(&block(1), &DARK);
        check(&block(2), &DARK);
    }
}
