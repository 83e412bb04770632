//! The kernels of a layer beside its products, from sizes by name and a format: one home for command line, admission and worker.

use std::collections::BTreeMap;

use calc_core::catalog;
use kernels::backend::{AttentionSizes, EmbeddingSizes, Kernel, RopeSizes, RowSizes, StoredFloat};
use protocol::bench::BenchKind;
use protocol::sizes::{self, fault, sizes};

// The page cannot see the kernels, so the limits of both stand in the protocol.
const _: () = assert!(sizes::MAX_HEAD_DIM == AttentionSizes::MAX_HEAD_DIM);
const _: () = assert!(sizes::MAX_VOCAB == EmbeddingSizes::MAX_VOCAB);

/// The formats that a kernel is measured in, widest first; none for kernels of another kind.
pub(crate) const fn formats(kind: BenchKind) -> &'static [StoredFloat] {
    match kind {
        BenchKind::Attention | BenchKind::Embedding => &StoredFloat::ALL,
        BenchKind::Norm | BenchKind::Rope | BenchKind::Gate => &StoredFloat::CARRIERS,
        BenchKind::Gemv
        | BenchKind::Gemm
        | BenchKind::Bandwidth
        | BenchKind::Flops
        | BenchKind::Roofs => &[],
    }
}

/// The format with a key, if the kernel has it.
///
/// # Errors
/// A sentence with the formats that it has.
pub(crate) fn format(kind: BenchKind, key: &str) -> Result<StoredFloat, String> {
    let known = catalog::format(key).map_or(key, |format| format.key);
    let found = formats(kind).iter().copied().find(|float| float.key() == known);
    found.ok_or_else(|| {
        let all: Vec<&str> = formats(kind).iter().map(|float| float.key()).collect();
        format!("{} runs in {} here; got `{key}`", kind.key(), all.join(", "))
    })
}

/// The kernels of sizes in every format; in all that it has if the list is empty.
///
/// # Errors
/// A sentence about the size or format that is not possible.
pub(crate) fn kernels(
    kind: BenchKind,
    given: &BTreeMap<String, u64>,
    keys: &[String],
) -> Result<Vec<Kernel>, String> {
    let of = |float| kernel(kind, given, float);
    if keys.is_empty() {
        return formats(kind).iter().copied().map(of).collect();
    }
    keys.iter().map(|key| of(format(kind, key)?)).collect()
}

/// The kernel of these sizes in a format.
///
/// # Errors
/// A sentence about a size that is missing, unknown or not possible.
pub(crate) fn kernel(
    kind: BenchKind,
    given: &BTreeMap<String, u64>,
    float: StoredFloat,
) -> Result<Kernel, String> {
    let known = sizes(kind);
    let names = || known.iter().map(|size| size.name).collect::<Vec<_>>().join(", ");
    if let Some(name) = given.keys().find(|name| known.iter().all(|size| size.name != **name)) {
        return Err(format!("{} has no size `{name}`; it has {}", kind.key(), names()));
    }
    let of = |name: &str| {
        given
            .get(name)
            .copied()
            .ok_or_else(|| format!("{} needs the size `{name}`; it has {}", kind.key(), names()))
    };
    if let Some(fault) = fault(kind, &|name| given.get(name).copied()) {
        return Err(fault.sentence(|size| size.name, |value| value.to_string()));
    }
    match kind {
        BenchKind::Attention => {
            let (heads, kv_heads) = (of("heads")?, of("kv_heads")?);
            let (new, context) = (of("new")?, of("context")?);
            let (cache, batch, head_dim) = (float, of("batch")?, of("head_dim")?);
            let it = AttentionSizes { cache, batch, heads, kv_heads, head_dim, new, context };
            Ok(Kernel::Attention(it))
        }
        BenchKind::Norm | BenchKind::Gate => {
            let it = RowSizes { carrier: float, tokens: of("tokens")?, width: of("width")? };
            Ok(if kind == BenchKind::Norm { Kernel::Norm(it) } else { Kernel::Gate(it) })
        }
        BenchKind::Rope => {
            let (tokens, heads, head_dim) = (of("tokens")?, of("heads")?, of("head_dim")?);
            Ok(Kernel::Rope(RopeSizes { carrier: float, tokens, heads, head_dim }))
        }
        BenchKind::Embedding => {
            let (tokens, width, vocab) = (of("tokens")?, of("width")?, of("vocab")?);
            Ok(Kernel::Embedding(EmbeddingSizes { table: float, tokens, width, vocab }))
        }
        BenchKind::Gemv
        | BenchKind::Gemm
        | BenchKind::Bandwidth
        | BenchKind::Flops
        | BenchKind::Roofs => Err(format!("{} has no sizes by name", kind.key())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(kind: BenchKind) -> BTreeMap<String, u64> {
        sizes(kind).iter().map(|size| (size.name.to_owned(), size.usual)).collect()
    }

    #[test]
    fn the_usual_sizes_are_a_kernel_in_every_format_that_the_device_has() {
        let support = kernels::devices::all(None)[0].support();
        for kind in BenchKind::ALL.into_iter().filter(|kind| kind.has_sizes()) {
            let all = kernels(kind, &usual(kind), &[]).unwrap();
            let told = support.formats(kind.key()).expect("the processor has it");
            assert_eq!(all.len(), told.len(), "{kind:?}");
            for (kernel, format) in all.iter().zip(told) {
                assert_eq!(kernel.key(), kind.key());
                assert_eq!(kernel.stored_format(), Some(format.weights));
                let named: BTreeMap<String, u64> =
                    kernel.sizes().into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
                assert_eq!(named, usual(kind));
            }
        }
        assert!(kernels(BenchKind::Gemv, &BTreeMap::new(), &["fp16".into()]).is_err());
    }

    #[test]
    fn what_is_not_possible_is_named() {
        for (kind, name, value, expected) in [
            (BenchKind::Attention, "heads", 0, "heads must be a whole number from 1"),
            (BenchKind::Attention, "kv_heads", 5, "multiple of kv_heads; got 32 and 5"),
            (BenchKind::Attention, "new", 4097, "at most context; got 4097 and 4096"),
            (BenchKind::Attention, "head_dim", 1025, "from 1 to 1024; got 1025"),
            (BenchKind::Attention, "width", 1, "no size `width`; it has batch, heads"),
            (BenchKind::Rope, "head_dim", 65, "even"),
            (BenchKind::Embedding, "vocab", u64::MAX, "from 1 to 4294967295"),
            (BenchKind::Embedding, "tokens", 32_001, "at most vocab"),
            (BenchKind::Norm, "width", sizes::MOST + 1, "from 1 to 1000000000"),
        ] {
            let mut sizes = usual(kind);
            sizes.insert(name.to_owned(), value);
            let why = kernels(kind, &sizes, &[]).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
        let mut few = usual(BenchKind::Gate);
        few.remove("width");
        assert!(
            kernels(BenchKind::Gate, &few, &[]).unwrap_err().contains("needs the size `width`")
        );
        let why = kernels(BenchKind::Gate, &usual(BenchKind::Gate), &["nf4".into()]).unwrap_err();
        assert_eq!(why, "gate runs in fp32, fp16 here; got `nf4`");
        assert!(format(BenchKind::Attention, "FP8_E4M3").is_ok());
    }
}
