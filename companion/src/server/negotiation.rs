//! Choice of the content coding that a client prefers (RFC 9110, 12.5.3).

use axum::http::{HeaderMap, header};

use super::coding::Coding;

/// A quality value in thousandths.
type Weight = u16;

/// Weight of a coding that is named without one.
const FULL: Weight = 1000;

/// The codings that the client can read, the preferred one first. `Identity` is always among them: a client that refuses every
/// coding gets the file as it is, because that serves it better than an error.
pub(super) fn preferred(headers: &HeaderMap) -> Vec<Coding> {
    let named = named(headers);
    let weight = |coding: Coding| {
        let of = |token: &str| named.iter().find(|(name, _)| is(name, token));
        of(coding.token()).or_else(|| of("*")).map_or(0, |(_, weight)| *weight)
    };
    let mut codings = Coding::ALL.map(|coding| (coding, weight(coding))).to_vec();
    codings.retain(|(coding, weight)| *weight > 0 || *coding == Coding::Identity);
    // The sort is stable, so equal weights stay in the server's order.
    codings.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    codings.into_iter().map(|(coding, _)| coding).collect()
}

/// The names and weights of `Accept-Encoding`, without those that have no valid weight.
fn named(headers: &HeaderMap) -> Vec<(&str, Weight)> {
    let fields = headers.get_all(header::ACCEPT_ENCODING).iter();
    let texts = fields.filter_map(|field| field.to_str().ok());
    texts.flat_map(|text| text.split(',')).filter_map(element).collect()
}

/// A name with its weight, such as `gzip;q=0.5`.
fn element(text: &str) -> Option<(&str, Weight)> {
    let mut parts = text.split(';').map(str::trim_ascii);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim_ascii().eq_ignore_ascii_case("q").then_some(value.trim_ascii())
    });
    Some((name, weight.map_or(Some(FULL), thousandths)?))
}

/// A quality value: 0 to 1 with up to three decimals.
fn thousandths(text: &str) -> Option<Weight> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let decimals: Weight = format!("{decimals:0<3}").parse().ok()?;
    match (whole, decimals) {
        ("0", decimals) => Some(decimals),
        ("1", 0) => Some(FULL),
        _ => None,
    }
}

/// True if a name stands for a coding; `x-gzip` is the old name of gzip.
fn is(name: &str, token: &str) -> bool {
    let name = if name.eq_ignore_ascii_case("x-gzip") { "gzip" } else { name };
    name.eq_ignore_ascii_case(token)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn tokens(fields: &[&[u8]]) -> String {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(header::ACCEPT_ENCODING, HeaderValue::from_bytes(field).unwrap());
        }
        preferred(&headers).into_iter().map(Coding::token).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_highest_weight_wins() {
        for (field, expected) in [
            ("", "identity"),
            ("gzip, deflate, br, zstd", "br gzip identity"),
            ("gzip", "gzip identity"),
            ("X-GZIP , BR;Q=0.3", "gzip br identity"),
            ("br;q=0, gzip", "gzip identity"),
            ("br;q=0.000, gzip;q=0.001", "gzip identity"),
            ("gzip;q=1.0, br;q=0.9", "gzip br identity"),
            ("gzip;q=0.5, br;q=0.5", "br gzip identity"),
            ("*", "br gzip identity"),
            ("*;q=0", "identity"),
            ("br, *;q=0", "br identity"),
            ("gzip;q=0, *", "br identity"),
            ("identity, gzip;q=0.5", "identity gzip"),
            ("identity;q=0.5, gzip;q=0.5", "gzip identity"),
            ("identity;q=0", "identity"),
            ("identity;q=0, br;q=0", "identity"),
            ("gzip; q = 0.2 ;x=1, br ;q=0.1", "gzip br identity"),
            ("br;q=0, br", "identity"),
        ] {
            assert_eq!(tokens(&[field.as_bytes()]), expected, "{field:?}");
        }
        assert_eq!(tokens(&[]), "identity");
        assert_eq!(tokens(&[b"gzip;q=0.1", b"br;q=0.2"]), "br gzip identity");
    }

    #[test]
    fn a_name_without_a_valid_weight_is_ignored() {
        for weight in [
            "", "2", "1.001", "-1", "+1", "0.0001", "1e0", "NaN", ".5", "0,5", "0x1", "0.5.5",
            "0.+1", "01",
        ] {
            let field = format!("br;q={weight}, gzip");
            assert_eq!(tokens(&[field.as_bytes()]), "gzip identity", "{field:?}");
        }
        for field in [&b"br\xff, gzip"[..], b",,;;,=,q=1", b"\"br\"", b"br q=1", b"brr", b"b,r"] {
            assert_eq!(tokens(&[field]), "identity", "{field:?}");
        }
        assert_eq!(tokens(&[b"\xff", b"gzip"]), "gzip identity");
    }
}
