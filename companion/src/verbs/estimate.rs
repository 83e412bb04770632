//! `estimate`: the times, memory and energy of a model on a device.

use clap::Command;

use super::{flags, requests};

pub(super) fn command() -> Command {
    let command = Command::new("estimate").about("A model on a device: time, memory, energy and every operator").after_help(
        "Examples:\n  ridgepoint estimate --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b \\\n    \
         --weights int4_g128 --batch 1 --prompt 512 --context 4096\n  \
         ridgepoint estimate --hardware my_chip.json --model path/to/config.json --batch 8 --prompt 1024 -o json\n  \
         echo '{\"hardware\":\"b10\",\"model\":\"llama-3.1-8b\",\"batch\":1,\"prompt\":512}' | ridgepoint estimate --jsonl",
    );
    requests::with_lines(flags::add(command, flags::ESTIMATE))
}
