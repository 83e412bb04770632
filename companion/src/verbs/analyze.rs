//! `analyze`: one operator on one device.

use clap::Command;

use super::{flags, requests};

pub(super) fn command() -> Command {
    let command = Command::new("analyze").about("One operator on one device: work, traffic, roofs and time").after_help(
        "Examples:\n  ridgepoint analyze --hardware h100 -m 1 -n 4096 -k 4096 --weights int4_g128\n  \
         ridgepoint analyze --hardware gb10 --op attention --heads 32 --kv-heads 8 --head-dim 128 --cached 8192\n  \
         ridgepoint analyze --hardware t4 --op ffn --tokens 1 --hidden 4096 --width 14336 --weights int4_g128\n  \
         echo '{\"hardware\":\"t4\",\"m\":1,\"n\":4096,\"k\":4096,\"weights\":\"fp16\"}' | ridgepoint analyze --jsonl",
    );
    requests::with_lines(flags::add(command, flags::ANALYZE))
}
