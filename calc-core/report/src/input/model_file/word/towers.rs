//! A tower as rows of numbers in the word of a geometry: its own numbers, its rule for images, then layers and ends.

use calc_core::image::{ImageRule, ImageTile};
use calc_core::model_arch::{Tower, TowerEnd, TowerKind, TowerLayers};
use calc_core::units::Bytes;

use super::numbers::{MLPS, Row, nth};

const KINDS: [TowerKind; 2] = [TowerKind::Vision, TowerKind::Audio];

/// The rows of a tower.
pub(super) fn rows(tower: &Tower) -> Vec<Vec<u64>> {
    let (layers, ends) = (tower.layers.len() as u64, tower.ends.len() as u64);
    // Stored bytes are whole; 0 stands for none, 1 more than the bytes for any.
    let stored = tower.stored.map_or(0, |bytes| 1 + whole(bytes));
    let mut rows = vec![vec![tower.kind as u64, tower.vectors, layers, ends, stored]];
    rows.push(rule(&tower.images));
    rows.extend(tower.layers.iter().map(layer));
    rows.extend(tower.ends.iter().map(|end| vec![end.rows, end.cols, end.merge]));
    rows
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of a file are whole and below 2^53"
)]
const fn whole(bytes: Bytes) -> u64 {
    bytes.get() as u64
}

fn layer(l: &TowerLayers) -> Vec<u64> {
    let window = l.window.unwrap_or(0);
    let sizes = [l.layers, l.hidden_size, l.n_heads, l.head_dim, l.width, l.mlp as u64];
    // Without the last number there are as many heads of keys as of queries.
    let kv_heads = Some(l.n_kv_heads).filter(|heads| *heads != l.n_heads);
    sizes.into_iter().chain([l.vectors, window, l.other_matrices]).chain(kv_heads).collect()
}

fn rule(rule: &ImageRule) -> Vec<u64> {
    match *rule {
        ImageRule::Unknown { merge } => vec![0, merge],
        ImageRule::Fixed { tile, separators } => vec![1, tile.positions, tile.tokens, separators],
        ImageRule::Area { patch, merge, least, most } => vec![2, patch, merge, least, most],
        ImageRule::Rows { patch, merge, longest } => vec![3, patch, merge, longest],
        ImageRule::Canvas { side, tile, most } => vec![4, side, tile.positions, tile.tokens, most],
        ImageRule::Tiles { side, tile, most } => vec![5, side, tile.positions, tile.tokens, most],
        ImageRule::Grid { side, tile, longest } => {
            vec![6, side, tile.positions, tile.tokens, longest]
        }
        ImageRule::Budget { patch, merge, most } => vec![7, patch, merge, most],
        ImageRule::Padded { patch, merge, most } => vec![8, patch, merge, most],
        ImageRule::Unpadded { side, patch } => vec![9, side, patch],
        ImageRule::Crops { side, patch, most } => vec![10, side, patch, most],
        ImageRule::Split { patch, merge, tokens: (fewest, tokens), side, most } => {
            vec![11, patch, merge, fewest, tokens, side, most]
        }
        ImageRule::View { side, window, patch, merge } => vec![12, side, window, patch, merge],
    }
}

/// Parses [`rows`]; `None` for any other numbers.
pub(super) fn read(rows: &[Vec<u64>]) -> Option<Tower> {
    let [own, images, rest @ ..] = rows else { return None };
    let mut own = Row(own.iter());
    let kind = nth(&KINDS, own.next())?;
    let [vectors, layers, ends, stored] = core::array::from_fn(|_| own.next());
    let layers = usize::try_from(layers).ok()?;
    if !own.is_read() || rest.len().checked_sub(layers)? as u64 != ends {
        return None;
    }
    let (layers, ends) = rest.split_at(layers);
    Some(Tower {
        kind,
        layers: each(layers, read_layer)?.into(),
        ends: each(ends, |row| {
            Some(TowerEnd { rows: row.next(), cols: row.next(), merge: row.next() })
        })?
        .into(),
        vectors,
        images: each(core::slice::from_ref(images), read_rule)?.pop()?,
        stored: stored.checked_sub(1).map(|bytes| Bytes::new(bytes as f64)),
    })
}

fn each<T>(rows: &[Vec<u64>], read: impl Fn(&mut Row<'_>) -> Option<T>) -> Option<Vec<T>> {
    let one = |row: &Vec<u64>| {
        let mut row = Row(row.iter());
        read(&mut row).filter(|_| row.is_read())
    };
    rows.iter().map(one).collect()
}

fn read_layer(row: &mut Row<'_>) -> Option<TowerLayers> {
    let [layers, hidden_size, n_heads, head_dim, width, mlp, vectors, window, other_matrices] =
        core::array::from_fn(|_| row.next());
    let kv_heads = row.next();
    Some(TowerLayers {
        layers,
        hidden_size,
        n_heads,
        n_kv_heads: if kv_heads == 0 { n_heads } else { kv_heads },
        head_dim,
        width,
        mlp: nth(&MLPS, mlp)?,
        window: Some(window).filter(|&window| window > 0),
        other_matrices,
        vectors,
    })
}

fn read_rule(row: &mut Row<'_>) -> Option<ImageRule> {
    let [kind, first, second, third] = core::array::from_fn(|_| row.next());
    let tile = ImageTile { positions: second, tokens: third };
    Some(match (kind, second, third) {
        (0, 0, 0) => ImageRule::Unknown { merge: first },
        (1, tokens, separators) => {
            ImageRule::Fixed { tile: ImageTile { positions: first, tokens }, separators }
        }
        (2, merge, least) => ImageRule::Area { patch: first, merge, least, most: row.next() },
        (3, merge, longest) => ImageRule::Rows { patch: first, merge, longest },
        (4, ..) => ImageRule::Canvas { side: first, tile, most: row.next() },
        (5, ..) => ImageRule::Tiles { side: first, tile, most: row.next() },
        (6, ..) => ImageRule::Grid { side: first, tile, longest: row.next() },
        (7, merge, most) => ImageRule::Budget { patch: first, merge, most },
        (8, merge, most) => ImageRule::Padded { patch: first, merge, most },
        (9, patch, 0) => ImageRule::Unpadded { side: first, patch },
        (10, patch, most) => ImageRule::Crops { side: first, patch, most },
        (11, merge, fewest) => {
            let tokens = (fewest, row.next());
            ImageRule::Split { patch: first, merge, tokens, side: row.next(), most: row.next() }
        }
        (12, window, patch) => ImageRule::View { side: first, window, patch, merge: row.next() },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::model_arch::MlpKind;

    #[test]
    fn a_tower_is_read_as_it_was_written() {
        let tile = ImageTile { positions: 577, tokens: 144 };
        let layers = TowerLayers {
            layers: 3,
            hidden_size: 64,
            n_heads: 8,
            n_kv_heads: 2,
            head_dim: 8,
            width: 256,
            mlp: MlpKind::Gated,
            window: Some(49),
            other_matrices: 0,
            vectors: 7,
        };
        for images in [
            ImageRule::Canvas { side: 336, tile, most: 16 },
            ImageRule::Unpadded { side: 336, patch: 14 },
            ImageRule::Crops { side: 448, patch: 14, most: 36 },
            ImageRule::Split { patch: 16, merge: 2, tokens: (64, 256), side: 512, most: 10 },
            ImageRule::View { side: 728, window: 504, patch: 14, merge: 4 },
        ] {
            let without_attention = TowerLayers { n_heads: 0, n_kv_heads: 0, ..layers };
            let tower = Tower {
                kind: TowerKind::Vision,
                layers: vec![layers, without_attention, TowerLayers { n_kv_heads: 8, ..layers }]
                    .into(),
                ends: vec![TowerEnd { rows: 64, cols: 588, merge: 1 }].into(),
                vectors: 5,
                images,
                stored: None,
            };
            assert_eq!(read(&rows(&tower)), Some(tower));
        }
    }
}
