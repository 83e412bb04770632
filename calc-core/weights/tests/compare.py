#!/usr/bin/env python3
"""Compares `ridgepoint inspect` with the Python packages gguf and safetensors, on files that these write.

    pip install gguf==0.19.0 safetensors==0.8.0 numpy
    python3 calc-core/weights/tests/compare.py target/debug/ridgepoint

The files are written into a temporary folder: every type of GGUF, both byte orders, a split, several architectures with the names
that llama.cpp's converter writes; every type of safetensors, an index with shards. Names, shapes, types, bytes and places of all
tensors must be equal, and so must the number of parameters and the geometry's.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from importlib.metadata import version

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFEndian
from safetensors import safe_open
from safetensors.numpy import save_file

BINARY = sys.argv[1]


def inspect(path):
    """The answer of the binary under test."""
    command = [BINARY, "inspect", str(path), "--tensors", "-o", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def write(path, architecture, tensors, endian=GGUFEndian.LITTLE, split=0, keys=()):
    """Writes a GGUF file of (name, shape from the outermost in, type)."""
    writer = gguf.GGUFWriter(path, architecture, endianess=endian, split_max_tensors=split)
    for method, value in keys:
        getattr(writer, method)(value)
    for name, shape, kind in tensors:
        block, size = GGML_QUANT_SIZES[kind]
        stored = (*shape[:-1], shape[-1] // block * size)
        writer.add_tensor(name, np.zeros(stored, dtype=np.uint8), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare_gguf(paths, named):
    """Compares one answer with what the package reads from all files of the model."""
    answer = inspect(named)
    read = {}
    for path in paths:
        for tensor in gguf.GGUFReader(path).tensors:
            shape = [int(size) for size in reversed(tensor.shape)]
            place = int(tensor.data_offset)
            read[tensor.name] = (shape, tensor.tensor_type.name, int(tensor.n_bytes), place, int(tensor.n_elements))
    for tensor in answer["tensor_list"]:
        expected = read.pop(tensor["name"])
        found = (tensor["shape"], tensor["type"], tensor["bytes"], tensor["offset"])
        assert found == expected[:4], (tensor, expected)
    assert not read, f"not listed: {list(read)}"
    return answer


def every_type(folder):
    """One matrix of each type that the package knows."""
    for endian in GGUFEndian:
        path = folder / f"types-{endian.name}.gguf"
        tensors = [(f"blk.0.{kind.name.lower()}.weight", (3, 512), kind) for kind in GGMLQuantizationType]
        write(path, "llama", tensors, endian)
        answer = compare_gguf([path], path)
        assert answer["format"].endswith(f"{endian.name.lower()}-endian"), answer["format"]
        assert answer["parameters"] == 3 * 512 * len(tensors)
        print(f"{path.name}: {len(tensors)} types")


ARCHITECTURES = {
    # Architecture: keys by the writer's methods, heads, key and value heads, head size, width of MLP, experts.
    "llama": dict(heads=8, kv=2, head=32, width=512),
    "mixtral": dict(heads=8, kv=2, head=32, width=512, experts=4),
    "qwen2": dict(heads=8, kv=2, head=32, width=512, bias=True),
    "qwen3": dict(heads=8, kv=2, head=32, width=512, norms=True),
    "qwen3moe": dict(heads=8, kv=2, head=32, width=512, norms=True, experts=4, expert_width=256),
    "qwen2moe": dict(heads=8, kv=2, head=32, width=512, bias=True, experts=4, expert_width=256, shared=256, gate=True),
    "gemma2": dict(heads=8, kv=2, head=32, width=512, post=True, tied=True, window=128),
    "gemma3": dict(heads=8, kv=2, head=32, width=512, norms=True, post=True, tied=True, window=128),
    "phi3": dict(heads=8, kv=2, head=32, width=512, fused=True, window=128),
    "gpt-oss": dict(heads=8, kv=2, head=32, width=256, experts=4, bias=True, biased_experts=True, window=128, sinks=True),
    "deepseek2": dict(heads=8, kv=8, head=48, width=512, experts=4, expert_width=256, shared=256, dense=1, latent=True),
    "deepseek3": dict(heads=8, kv=1, head=48, width=512, experts=4, expert_width=256, shared=256, dense=1, latent=True, absorbed=True, correction=True),
    "glm4moe": dict(heads=8, kv=2, head=32, width=512, experts=4, expert_width=256, shared=256, dense=1, norms=True, correction=True, extra=1),
}
# Names of architectures that differ from the keys above.
NAMES = {"mixtral": "llama", "deepseek3": "deepseek2"}
F32, Q4, Q8 = GGMLQuantizationType.F32, GGMLQuantizationType.Q4_K, GGMLQuantizationType.Q8_0


def layer(number, a):
    """The tensors of a layer with hidden size 256, with the names that the converter writes."""
    hidden, heads, kv, head = 256, a["heads"], a["kv"], a["head"]
    start = f"blk.{number}."

    def matrix(part, *shape, kind=Q4):
        return (start + part + ".weight", shape, kind)

    def vector(part, size, leaf="weight"):
        return (f"{start}{part}.{leaf}", (size,), F32)

    out = [vector("attn_norm", hidden), vector("ffn_norm", hidden)]
    if a.get("latent"):
        rank, rotated, value = 256, 16, 32
        out += [matrix("attn_kv_a_mqa", rank + rotated, hidden), vector("attn_kv_a_norm", rank)]
        if a.get("absorbed"):
            out += [matrix("attn_q_a", rank, hidden), vector("attn_q_a_norm", rank), matrix("attn_q_b", heads * head, rank)]
            out += [matrix("attn_k_b", heads, rank, head - rotated, kind=Q8), matrix("attn_v_b", heads, value, rank)]
        else:
            out += [matrix("attn_q", heads * head, hidden), matrix("attn_kv_b", heads * (head - rotated + value), rank)]
        out += [matrix("attn_output", hidden, heads * value)]
    elif a.get("fused"):
        out += [matrix("attn_qkv", (heads + 2 * kv) * head, hidden), matrix("attn_output", hidden, heads * head)]
    else:
        for part, rows in (("attn_q", heads * head), ("attn_k", kv * head), ("attn_v", kv * head)):
            out.append(matrix(part, rows, hidden))
            if a.get("bias"):
                out.append(vector(part, rows, "bias"))
        out.append(matrix("attn_output", hidden, heads * head))
        if a.get("biased_experts"):
            out.append(vector("attn_output", hidden, "bias"))
    if a.get("norms"):
        out += [vector("attn_q_norm", head), vector("attn_k_norm", head)]
    if a.get("post"):
        out += [vector("post_attention_norm", hidden), vector("post_ffw_norm", hidden)]
    if a.get("sinks"):
        out.append(vector("attn_sinks", heads))
    experts = a.get("experts") if number >= a.get("dense", 0) else None
    if not experts:
        if a.get("fused"):
            return out + [matrix("ffn_up", 2 * a["width"], hidden), matrix("ffn_down", hidden, a["width"])]
        sizes = (("ffn_gate", a["width"], hidden), ("ffn_up", a["width"], hidden), ("ffn_down", hidden, a["width"]))
        return out + [matrix(*size) for size in sizes]
    width = a.get("expert_width", a["width"])
    out.append(matrix("ffn_gate_inp", experts, hidden, kind=F32))
    if a.get("biased_experts"):
        out.append(vector("ffn_gate_inp", experts, "bias"))
    for part, rows, columns in (("ffn_gate", width, hidden), ("ffn_up", width, hidden), ("ffn_down", hidden, width)):
        out.append(matrix(part + "_exps", experts, rows, columns))
        if a.get("biased_experts"):
            out.append((f"{start}{part}_exps.bias", (experts, rows), F32))
        if a.get("shared"):
            shared = (a["shared"], columns) if part != "ffn_down" else (rows, a["shared"])
            out.append(matrix(part + "_shexp", *shared))
    if a.get("gate"):
        out.append(vector("ffn_gate_inp_shexp", hidden))
    if a.get("correction"):
        out.append(vector("exp_probs_b", experts, "bias"))
    return out


def keys_of(a, layers):
    """The metadata of an architecture, by the writer's methods."""
    keys = [
        ("add_block_count", layers + a.get("extra", 0)),
        ("add_context_length", 8192),
        ("add_embedding_length", 256),
        ("add_feed_forward_length", a["width"]),
        ("add_head_count", a["heads"]),
        ("add_head_count_kv", a["kv"]),
        ("add_key_length", 256 + 16 if a.get("absorbed") else a["head"]),
        ("add_value_length", 256 if a.get("absorbed") else 32 if a.get("latent") else a["head"]),
        ("add_rope_dimension_count", 16 if a.get("latent") else a["head"]),
        ("add_rope_freq_base", 10000.0),
        ("add_layer_norm_rms_eps", 1e-6),
        ("add_file_type", 15),
        ("add_token_list", [f"token {i}" for i in range(1000)]),
    ]
    for name, method in (
        ("experts", "add_expert_count"),
        ("expert_width", "add_expert_feed_forward_length"),
        ("dense", "add_leading_dense_block_count"),
        ("window", "add_sliding_window"),
        ("extra", "add_nextn_predict_layers"),
    ):
        if name in a:
            keys.append((method, a[name]))
    if "experts" in a:
        keys.append(("add_expert_used_count", 2))
    if "shared" in a:
        keys.append(("add_expert_shared_feed_forward_length", a["shared"]) if a.get("gate") else ("add_expert_shared_count", 1))
    if a.get("latent"):
        keys.append(("add_kv_lora_rank", 256))
    if a.get("absorbed"):
        keys += [("add_q_lora_rank", 256), ("add_key_length_mla", a["head"]), ("add_value_length_mla", 32)]
    return keys


def every_architecture(folder):
    """A model of two layers of each architecture: the tensors, and as many parameters by the geometry."""
    for name, a in ARCHITECTURES.items():
        path = folder / f"{name}.gguf"
        tensors = [("token_embd.weight", (1000, 256), Q8), ("output_norm.weight", (256,), F32)]
        if not a.get("tied"):
            tensors.append(("output.weight", (1000, 256), GGMLQuantizationType.Q6_K))
        for number in range(2 + a.get("extra", 0)):
            tensors += layer(number, a)
        write(path, NAMES.get(name, name), tensors, keys=keys_of(a, 2))
        answer = compare_gguf([path], path)
        stored = sum(role["parameters"] for role in answer["roles"] if role["role"] not in ("towers", "draft_layers"))
        geometry = answer["geometry_parameters"]
        print(f"{path.name}: {stored} parameters in the file, {geometry} by the geometry; notes: {answer['notes']}")
        assert geometry is None or abs(stored / geometry - 1) < 0.001, name
        parts = sorted(folder.glob(f"{name}-split-*.gguf"))
        if name == "llama":
            write(folder / "split.gguf", name, tensors, split=7, keys=keys_of(a, 2))
            parts = sorted(folder.glob("split-*.gguf"))
            assert len(parts) > 2, parts
            whole = compare_gguf(parts, parts[1])
            assert whole["roles"] == answer["roles"] and len(whole["files"]) == len(parts)
            print(f"split: {len(parts)} files")


def safetensors_files(folder):
    """Types that numpy has, and an index with two shards."""
    types = [np.bool_, np.uint8, np.int8, np.int16, np.uint16, np.float16, np.int32, np.uint32, np.float32, np.float64, np.int64, np.uint64]
    path = folder / "types.safetensors"
    save_file({f"t.{np.dtype(kind).name}": np.zeros((3, 5), dtype=kind) for kind in types}, path)
    compare_safetensors(path, inspect(path))
    shards = folder / "shards"
    shards.mkdir()
    places = {}
    for number in (1, 2):
        name = f"model-0000{number}-of-00002.safetensors"
        tensor = f"model.layers.{number - 1}.self_attn.q_proj.weight"
        save_file({tensor: np.zeros((16, 8), dtype=np.float16)}, shards / name)
        places[tensor] = name
    (shards / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    answer = inspect(shards)
    assert (answer["tensors"], answer["bytes"], len(answer["files"])) == (2, 512, 2), answer
    print("shards: 2 files")


def compare_safetensors(path, answer):
    """Compares one file with what the package reads."""
    with safe_open(path, "numpy") as file:
        names = set(file.keys())
        for tensor in answer["tensor_list"]:
            slice_ = file.get_slice(tensor["name"])
            assert tensor["shape"] == slice_.get_shape() and tensor["type"] == slice_.get_dtype(), tensor
            assert tensor["bytes"] == file.get_tensor(tensor["name"]).nbytes, tensor
            names.remove(tensor["name"])
    assert not names, names
    print(f"{path.name}: {answer['tensors']} types")


def main():
    """Writes all files and compares them."""
    print(f"gguf {version('gguf')}, safetensors {version('safetensors')}")
    with tempfile.TemporaryDirectory() as folder:
        every_type(pathlib.Path(folder))
        every_architecture(pathlib.Path(folder))
        safetensors_files(pathlib.Path(folder))


main()
