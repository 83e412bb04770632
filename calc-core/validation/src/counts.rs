//! Number of published measurements by device and engine.

use calc_core::calibration::Engine;

use crate::row::PublishedRow;

/// Number of rows by catalog key of the device and by engine, in the order of the catalog of engines.
pub fn counts<'a>(
    rows: impl Iterator<Item = &'a PublishedRow>,
) -> Vec<((String, Option<Engine>), usize)> {
    let mut found: Vec<((String, Option<Engine>), usize)> = Vec::new();
    for row in rows {
        let key = (row.device.key.to_string(), row.engine);
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1,
            None => found.push((key, 1)),
        }
    }
    let place =
        |engine: Option<Engine>| Engine::ALL.iter().position(|(_, one)| Some(*one) == engine);
    found.sort_by(|((a, e), _), ((b, f), _)| (a, place(*e)).cmp(&(b, place(*f))));
    found
}

#[cfg(test)]
mod tests {
    use calc_core::calibration::fitted::MEASURED;
    use calc_core::catalog;
    use calc_core::device::MemoryKind;

    use super::*;
    use crate::published;

    #[test]
    fn the_written_counts_are_those_of_the_published_rows() {
        let file = published().expect("the published rows");
        let written: Vec<_> = MEASURED
            .iter()
            .map(|rows| ((rows.device.to_owned(), rows.engine), rows.count))
            .collect();
        assert_eq!(written, counts(file.rows.iter()));
        for rows in &MEASURED {
            let device = catalog::device(rows.device).expect("catalog key");
            assert!(device.name.starts_with(rows.name), "{}", rows.name);
            assert_eq!(rows.kind, MemoryKind::of(device), "{}", rows.device);
        }
    }
}
