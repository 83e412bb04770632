"""`ridgepoint attach` against a real llama.cpp server on a small GGUF file with random weights; a stage of `cargo xtask test`.

By hand, with the packages of companion/tests/llama_cpp.txt on PYTHONPATH:

    python3 companion/tests/attach_llama.py target/debug/ridgepoint --hardware epyc_9334

xllamacpp carries the server of llama.cpp as a library. The rate that attach shows is compared with the tokens that arrive at the
clients in the same interval, and its prompt tokens with those that the server reports to the client of each request. The exit code
is 1 if a check fails.
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

import gguf
import numpy as np
from gguf import TokenType

# Two requests with a few hundred tokens last longer than all readings on a laptop; a faster machine takes more tokens.
TOKENS = 1900
# Counts of client and server differ by the tokens on their way and by the time of an HTTP answer.
TOLERANCE = 0.1
# Name of the file with the weights.
MODEL = "random.gguf"


def write_model(path):
    """A Llama of 144 M parameters in Q8_0, with a vocabulary of bytes and made-up words."""
    hidden, layers, width, heads, kv_heads, words = 1024, 12, 2816, 16, 4, 4096
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    types = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL] + [TokenType.BYTE] * 256
    made_up = [f"\u2581w{index}" for index in range(words - len(tokens))]
    scores = [0.0] * len(tokens) + [-float(index) for index in range(len(made_up))]
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("random")
    out.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    out.add_context_length(4096)
    out.add_embedding_length(hidden)
    out.add_block_count(layers)
    out.add_feed_forward_length(width)
    out.add_head_count(heads)
    out.add_head_count_kv(kv_heads)
    out.add_rope_dimension_count(hidden // heads)
    out.add_vocab_size(words)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens + made_up)
    out.add_token_scores(scores)
    out.add_token_types(types + [TokenType.NORMAL] * len(made_up))
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    random = np.random.default_rng(7)

    def matrix(name, rows, columns):
        weights = random.normal(0, 0.02, (rows, columns)).astype(np.float32)
        blocks = gguf.quants.quantize(weights, gguf.GGMLQuantizationType.Q8_0)
        out.add_tensor(name, blocks, raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    def norm(name):
        out.add_tensor(name, np.ones(hidden, np.float32))

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


def request(address, prompt, tokens, stream):
    body = {"prompt": prompt, "n_predict": tokens, "ignore_eos": True, "stream": stream, "cache_prompt": False}
    return urllib.request.Request(f"{address}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"})


def stream(address, arrivals):
    """One request; notes when each token arrives."""
    with urllib.request.urlopen(request(address, "random words", TOKENS, True)) as answer:
        for line in answer:
            if line.startswith(b"data: ") and not json.loads(line[6:]).get("stop"):
                arrivals.append(time.time())


def read_prompt(address):
    """One request that is nearly all prompt; the number of prompt tokens that the server computed for it."""
    with urllib.request.urlopen(request(address, "w1 w2 w3 w4 " * 4, 1, False)) as answer:
        return json.loads(answer.read())["timings"]["prompt_n"]


def checked(name, holds, found):
    print(f"{'ok  ' if holds else 'FAIL'}  {name}: {found}")
    return holds


class Attach:
    """`ridgepoint attach` on a device; the flags are the same for all calls."""

    def __init__(self, program, flags):
        self.words, self.flags = [program, "attach"], flags

    def start(self, address, *more):
        return subprocess.Popen([*self.words, address, *self.flags, "-o", "json", *more], stdout=subprocess.PIPE, text=True)

    def read(self, address, *more):
        with self.start(address, *more) as process:
            return json.loads(process.communicate()[0])


def prompts_are_no_answers(attach, address):
    """While prompts are computed and one token each is generated, both are told, each in its own row."""
    for _ in range(3):
        process = attach.start(address, "--interval", "4s")
        time.sleep(1)
        computed = [read_prompt(address) for _ in range(3)]
        in_time = process.poll() is None
        live = json.loads(process.communicate()[0])["live"]
        # On a busy machine the prompts last longer than the interval.
        if in_time:
            break
    prompts, generated = (live[key] * live["interval_s"] for key in ("prompt_token_per_s", "token_per_s"))
    good = checked("prompt tokens", abs(prompts - sum(computed)) < 0.5, f"{prompts:.1f} of {sum(computed)}")
    return good & checked("generated tokens beside them", abs(generated - len(computed)) < 0.5, f"{generated:.1f} of {len(computed)}")


def shares_are_ratios(rate, compared):
    """The expected rate is below the ideal one, and each share is the live rate over that rate."""
    expected, ideal = compared["expected_token_per_s"], compared["ideal_token_per_s"]
    good = checked("expected rate below the ideal one", 0 < expected < ideal, f"{expected:.1f} and {ideal:.1f} token/s")
    for key, of in (("of_expected", expected), ("of_ideal", ideal)):
        good &= checked(key, abs(compared[key] * of / rate - 1) < 1e-6, f"{compared[key]:.3f}")
    return good


def rates_are_those_of_clients(attach, address):
    arrivals, good = [], True
    clients = [threading.Thread(target=stream, args=(address, arrivals), daemon=True) for _ in range(2)]
    for client in clients:
        client.start()
    time.sleep(2)
    for _ in range(2):
        value = attach.read(address, "--interval", "3s")
        live, compared = value["live"], value["compared"]
        end, seconds = value["at_ms"] / 1e3, live["interval_s"]
        own = sum(end - seconds < at <= end for at in arrivals) / seconds
        off = live["token_per_s"] / own - 1
        good &= checked("rate against the clients' count", abs(off) < TOLERANCE, f"{live['token_per_s']:.1f} and {own:.1f} token/s")
        good &= checked("batch", compared is not None and compared["batch"] == 2, live["running"])
        good &= compared is not None and shares_are_ratios(live["token_per_s"], compared)
    return good & checked("the file of the server is the model", MODEL in json.dumps(value["notes"]), value["model"]["parameters"])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("ridgepoint")
    arguments.add_argument("--hardware", required=True)
    arguments.add_argument("--calibration")
    given = arguments.parse_args()
    flags = ["--hardware", given.hardware]
    flags += ["--calibration", given.calibration] if given.calibration else []
    attach = Attach(given.ridgepoint, flags)
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder) / MODEL)
        write_model(model)
        with Served(model, True) as address:
            idle = attach.read(address, "--interval", "1s")
            good = checked("an idle server is not compared", idle["compared"] is None, idle["live"]["token_per_s"])
            good &= prompts_are_no_answers(attach, address)
            good &= rates_are_those_of_clients(attach, address)
        with Served(model, False) as address:
            notes = attach.read(address, "--interval", "1s")["notes"]
            good &= checked("without counters the flag is named", any("--metrics" in note for note in notes), notes[0])
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], sys.argv[3] == "metrics")
    else:
        sys.exit(main())
