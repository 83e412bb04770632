//! Refusals as one line with the value and the allowed range.

use core::fmt;

use calc_core::error::Error;

use crate::number_text::typed;

/// "did you mean a, b?", or an empty text.
pub fn nearest_text(nearest: &[String]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", nearest.join(", "))
    }
}

/// Place where the reader finds all keys of a catalog, on the page and on the terminal.
fn list_of(catalog: &str) -> &'static str {
    match catalog {
        "hardware" => "the list of hardware (`ridgepoint hardware`)",
        "model" => "the list of models (`ridgepoint models`)",
        _ => "the list of formats (`ridgepoint formats`)",
    }
}

/// The sentence for a refusal of `calc-core`.
#[must_use]
pub fn core_error(error: &Error) -> String {
    match error {
        Error::OutOfRange { what, value, min, max } => {
            format!("{what} must be from {} to {}; got {}", typed(*min), typed(*max), typed(*value))
        }
        Error::UnknownKey { catalog: "power mode", key, nearest } if nearest.is_empty() => {
            format!("unknown power mode `{key}`; this device has none, leave it out")
        }
        Error::UnknownKey { catalog: "power mode", key, nearest } => {
            format!("unknown power mode `{key}`; this device has {}", nearest.join(", "))
        }
        Error::UnknownKey { catalog: "hardware", key, nearest } if nearest.is_empty() => {
            format!(
                "unknown hardware `{key}`; a device file describes one that is not in the catalog, and {} names all keys",
                list_of("hardware")
            )
        }
        Error::UnknownKey { catalog: "format", key, .. } if dynamic(key).is_some() => {
            unsloth(key, dynamic(key).unwrap_or_default())
        }
        Error::UnknownKey { catalog, key, nearest } if nearest.is_empty() => {
            format!("unknown {catalog} `{key}`; {} names all keys", list_of(catalog))
        }
        Error::UnknownKey { catalog, key, nearest } => {
            format!("unknown {catalog} `{key}`{}", nearest_text(nearest))
        }
        Error::NoComputePath { class, device } => {
            format!(
                "{device} has no {} peak and none to fall back to; choose other activations",
                class.key()
            )
        }
        Error::StorageOnly { format } => format!(
            "nothing computes in {format}: it stores weights, KV cache or embeddings only; choose other activations, \
             for example fp16"
        ),
        Error::UnknownModeClock { device, mode } => format!(
            "GPU clock, active SMs or bandwidth of {device} in mode {mode} are unknown; leave the power mode out to use \
             the device's own peaks"
        ),
        Error::UnevenSplit { parallel, ways, what, count } => {
            format!("{parallel} {ways} does not divide {what} ({count})")
        }
        Error::Inapplicable { input, part } => {
            format!("{input} does not apply to {part}")
        }
        Error::Conflict { first, second, needs: true } => format!("{first} needs {second}"),
        Error::Conflict { first, second, needs: false } => {
            format!("{first} and {second} exclude each other")
        }
        Error::UnknownFact { device, fact } => format!("the {fact} of {device} is unknown"),
        _ => "this request is not supported".to_owned(),
    }
}

/// Escapes control characters of hostile keys and files, so that a message stays on one line and is safe on a terminal.
pub(crate) struct OneLine<'a, 'b>(pub(crate) &'a mut fmt::Formatter<'b>);

impl fmt::Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| {
            if c.is_control() {
                write!(self.0, "{}", c.escape_default())
            } else {
                self.0.write_char(c)
            }
        })
    }
}

/// The bits in the name of a dynamic quantization of Unsloth, `4` in `UD-Q4_K_XL`; `None` for other names.
fn dynamic(name: &str) -> Option<char> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let inner = name.strip_prefix("gguf_").unwrap_or(&name);
    let of_unsloth = inner.starts_with("ud_") || inner.ends_with("_k_xl");
    let is_file = inner.contains('q');
    inner.chars().find(char::is_ascii_digit).filter(|_| of_unsloth && is_file)
}

/// Refusal of a dynamic quantization, with the file name of the same bits whose size follows from a rule.
fn unsloth(name: &str, bits: char) -> String {
    let like = match bits {
        '3' => "q3_k_m",
        '4' => "q4_k_m",
        '5' => "q5_k_m",
        '6' => "q6_k",
        '8' => "q8_0",
        _ => "q2_k",
    };
    format!(
        "`{name}` has no size of its own: Unsloth chooses the type of each tensor model by model; give the file as the model \
         (--model FILE.gguf), or its size (--weights {like} --weight-gb SIZE)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog;

    #[test]
    fn refusals_name_the_value_and_the_allowed_range() {
        let unknown = core_error(&catalog::device("h10").expect_err("no such key"));
        assert_eq!(
            unknown,
            "unknown hardware `h10`; did you mean h100_sxm, h100_nvl, h100_pcie, h100_sxm_64gb, h100_sxm_96gb?"
        );
        for (unknown, list) in [
            (core_error(&catalog::device("foo").expect_err("no such key")), "hardware"),
            (core_error(&catalog::model("foo").expect_err("no such key")), "models"),
            (core_error(&catalog::format("foo").expect_err("no such key")), "formats"),
        ] {
            let ending = format!("the list of {list} (`ridgepoint {list}`) names all keys");
            assert!(unknown.contains("`foo`; ") && unknown.ends_with(&ending), "{unknown}");
        }
        for (name, like) in [("UD-Q4_K_XL", "q4_k_m"), ("q8_k_xl", "q8_0"), ("UD-IQ2_M", "q2_k")] {
            let text = core_error(&catalog::format(name).expect_err("no rule"));
            assert!(text.contains("--model FILE.gguf") && text.contains(like), "{text}");
        }
        assert!(
            catalog::format("ud_foo").is_err_and(|why| core_error(&why).starts_with("unknown"))
        );
        let range = Error::OutOfRange { what: "m".into(), value: 1e30, min: 1.0, max: 1e9 };
        assert_eq!(core_error(&range), "m must be from 1 to 1000000000; got 1e30");
        let orin = catalog::device("jetson_orin_nano_8gb").expect("catalog key");
        let mode = core_error(&orin.power_mode("25W").expect_err("no such mode"));
        assert!(mode.contains("15W") && mode.contains("7W"), "{mode}");
        let none = core_error(
            &catalog::device("h100").expect("alias").power_mode("15W").expect_err("no modes"),
        );
        assert!(none.contains("has none"), "{none}");
    }
}
