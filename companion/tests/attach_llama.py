"""Run by hand: `ridgepoint attach` against a real llama.cpp server on a small GGUF file with random weights.

    python3 -m venv venv && venv/bin/pip install xllamacpp==2026.10.11549 gguf numpy
    venv/bin/python companion/tests/attach_llama.py target/debug/ridgepoint --hardware epyc_9334

xllamacpp carries the server of llama.cpp as a library. The rate that attach shows is compared with the tokens that arrive at the
clients in the same interval, which is a count of its own. The exit code is 1 if a check fails. Nothing here belongs to `cargo test`.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

# Two requests with a few hundred tokens last longer than all readings on a laptop; a faster machine takes more tokens.
TOKENS = 1900
# Counts of client and server differ by the tokens on their way and by the time of an HTTP answer.
TOLERANCE = 0.1


def write_model(path):
    """A Llama of 144 M parameters in Q8_0, with a vocabulary of bytes and made-up words."""
    import gguf
    import numpy

    hidden, layers, width, heads, kv_heads, words = 1024, 12, 2816, 16, 4, 4096
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    types = [2, 3, 3] + [6] * 256
    made_up = [f"\u2581w{index}" for index in range(words - len(tokens))]
    scores = [0.0] * len(tokens) + [-float(index) for index in range(len(made_up))]
    tokens, types = tokens + made_up, types + [1] * len(made_up)
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("random")
    out.add_context_length(4096)
    out.add_embedding_length(hidden)
    out.add_block_count(layers)
    out.add_feed_forward_length(width)
    out.add_head_count(heads)
    out.add_head_count_kv(kv_heads)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(hidden // heads)
    out.add_vocab_size(words)
    out.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_scores(scores)
    out.add_token_types(types)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    random = numpy.random.default_rng(7)
    q8 = gguf.GGMLQuantizationType.Q8_0

    def matrix(name, rows, columns):
        values = (random.standard_normal((rows, columns)) * 0.02).astype(numpy.float32)
        out.add_tensor(name, gguf.quants.quantize(values, q8), raw_dtype=q8)

    def norm(name):
        out.add_tensor(name, numpy.ones(hidden, numpy.float32))

    matrix("token_embd.weight", words, hidden)
    norm("output_norm.weight")
    matrix("output.weight", words, hidden)
    kv = hidden // heads * kv_heads
    for layer in range(layers):
        part = f"blk.{layer}."
        norm(part + "attn_norm.weight")
        norm(part + "ffn_norm.weight")
        matrix(part + "attn_q.weight", hidden, hidden)
        matrix(part + "attn_k.weight", kv, hidden)
        matrix(part + "attn_v.weight", kv, hidden)
        matrix(part + "attn_output.weight", hidden, hidden)
        matrix(part + "ffn_gate.weight", width, hidden)
        matrix(part + "ffn_up.weight", width, hidden)
        matrix(part + "ffn_down.weight", hidden, width)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def serve(path, has_metrics):
    """The server, in a process of its own; its address is the first line of stdout."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel, params.port, params.warmup = 4096, 2, 0, False
    params.hostnames = ["127.0.0.1"]
    # Threads of llama.cpp wait in loops: two of them crawl where another program has one of the two cores.
    params.cpuparams.n_threads = 1
    params.endpoint_metrics, params.endpoint_slots = has_metrics, True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


class Served:
    """A server that ends with the block."""

    def __init__(self, path, has_metrics):
        self.words = [sys.executable, __file__, "serve", path, "metrics" if has_metrics else "plain"]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return self.process.stdout.readline().strip()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def stream(address, arrivals):
    """One request; notes when each token arrives."""
    body = json.dumps({"prompt": "random words", "n_predict": TOKENS, "ignore_eos": True, "stream": True})
    request = urllib.request.Request(f"{address}/completion", body.encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        for line in answer:
            if line.startswith(b"data: ") and not json.loads(line[6:]).get("stop"):
                arrivals.append(time.time())


def checked(name, holds, found):
    print(f"{'ok  ' if holds else 'FAIL'}  {name}: {found}")
    return holds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("ridgepoint")
    arguments.add_argument("--hardware", required=True)
    arguments.add_argument("--calibration")
    given = arguments.parse_args()
    flags = ["--hardware", given.hardware]
    flags += ["--calibration", given.calibration] if given.calibration else []
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder) / "random.gguf")
        write_model(model)

        def attach(address, *more):
            return subprocess.run([given.ridgepoint, "attach", address, *flags, *more], capture_output=True, text=True, check=True).stdout

        good = True
        with Served(model, True) as address:
            idle = json.loads(attach(address, "-o", "json"))
            good &= checked("an idle server is not compared", idle["compared"] is None, idle["live"]["token_per_s"])
            arrivals = []
            clients = [threading.Thread(target=stream, args=(address, arrivals), daemon=True) for _ in range(2)]
            for client in clients:
                client.start()
            time.sleep(2)
            for _ in range(3):
                value = json.loads(attach(address, "--interval", "4s", "-o", "json"))
                live, compared = value["live"], value["compared"]
                end, seconds = value["at_ms"] / 1e3, live["interval_s"]
                own = sum(end - seconds < at <= end for at in arrivals) / seconds
                off = live["token_per_s"] / own - 1
                good &= checked("rate against the clients' count", abs(off) < TOLERANCE, f"{live['token_per_s']:.1f} and {own:.1f} token/s")
                good &= checked("batch", compared is not None and compared["batch"] == 2, live["running"])
            good &= checked("the file of the server is the model", model in json.dumps(value["notes"]), value["model"]["parameters"])
            print(attach(address).replace(folder + "/", ""))
        with Served(model, False) as address:
            notes = json.loads(attach(address, "-o", "json"))["notes"]
            good &= checked("without counters the flag is named", any("--metrics" in note for note in notes), notes[0])
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], sys.argv[3] == "metrics")
    else:
        sys.exit(main())
