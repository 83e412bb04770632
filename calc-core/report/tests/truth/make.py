"""Makes table.csv: parameters and cache sizes of the models in configs/, as the package transformers builds them.

Each config.json is read by the package's own configuration class, the model is built on the meta device (shapes without
data), its parameters are counted, and a forward pass on the meta device fills its cache. Nothing is downloaded.

    python make.py            write table.csv and versions.json
    python make.py --check    fail if they differ from what would be written
    python make.py NAME ...   print the rows of these files, or check only them with --check
"""

import argparse
import csv
import importlib.metadata
import io
import json
import math
import os
import re
import sys
import types
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import torch
import torch.fx.experimental._config
import transformers
from transformers import DynamicCache, masking_utils
from transformers.modeling_layers import MtpModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

HERE = Path(__file__).resolve().parent
CONFIGS = HERE / "configs"
LISTS = HERE / "lists"
TABLE = HERE / "table.csv"
VERSIONS = HERE / "versions.json"
TOKENS = (512, 8192)

# Model types that only their own files define: the class of the package with the same tensors, other names of fields,
# and fields that are the same in all files of this type.
BUILT_AS = {
    "bailing_moe": (
        "glm4_moe", {"num_experts": "n_routed_experts", "num_shared_experts": "n_shared_experts"},
        {"attention_bias": False, "sliding_window": None},
    ),
    "baichuan": ("llama", {}, {}),
    "chatglm": (
        "qwen2",
        {"num_layers": "num_hidden_layers", "ffn_hidden_size": "intermediate_size", "padded_vocab_size": "vocab_size",
         "multi_query_group_num": "num_key_value_heads", "layernorm_epsilon": "rms_norm_eps",
         "seq_length": "max_position_embeddings"},
        {},
    ),
    "deepseek": ("glm4_moe", {}, {}),
    "exaone": ("llama", {"num_layers": "num_hidden_layers"}, {}),
    "internlm2": ("llama", {}, {}),
    "kimi_k2": ("deepseek_v3", {}, {}),
    "mimo": ("qwen2", {}, {}),
    "minicpm": ("llama", {}, {}),
    "minimax_text_01": ("minimax", {}, {}),
    "nemotron-nas": ("llama", {}, {}),
    "orion": ("stablelm", {}, {}),
    "qwen": ("qwen2", {}, {}),
    "step3p5": ("step3p7", {}, {}),
}

# Recurrent mixers, whose plain form walks over tokens or chunks in a Python loop: they see the first tokens only, because
# the shape of their state does not depend on the length.
STEPWISE = re.compile(
    r"(GatedDeltaNet|DeltaAttention|LightningAttention|TextLinearAttention|MambaMixer|Mamba2Mixer|BambaMixer|FalconH1Mixer|"
    r"GraniteMoeHybridMambaLayer|xLSTMBlock|RwkvSelfAttention|RecurrentGemmaRecurrentBlock)$"
)
STEPWISE_TOKENS = 8

# What speaks, and the encoder of sound that has no name of its own.
SPEECH = re.compile(r"^(talker|token2wav|code2wav|model\.encoder)\.")
AUDIO = re.compile(r"(^|\.)(audio_tower|audio_encoder|audio_model|audio_embed|audio|sound_encoder|speech_encoder|speech_embeddings)(\.|$)")
VISION = re.compile(
    r"(^|\.)(visual|vision_tower|vision_model|vision_encoder|vision|vision_embed_tokens|image_embed|vqmodel|vit|sam_model|"
    r"high_res_vision_model|image_encoder|vision_backbone|patch_embedder)(\.|$)"
)
PROJECTOR = re.compile(
    r"(^|\.)(multi_modal_projector|mm_projector|projector|connector|merger|merger_list|deepstack_merger_list|aligner|embed_vision|"
    r"embed_audio|image_newline|vision_projection|perceiver|resampler|resampler_model|adapter|vision_adapter|qformer|"
    r"language_projection|audio_projection|audio_bottleneck|view_seperator|img_projection\w*|image_projector|vlm_connector|"
    r"audio_projector|deepstack_visual_merger|view_separator|input_projector|vit_merger|vision_resampler|mlp_AR|"
    r"multi_modal_projector_\w+|visual_embeddings_table|up_projection_for_speech|down_projection_for_speech)(\.|$)"
)

# Kinds of what a layer of the cache holds, by the name of the attribute; an empty kind is no memory of the tokens.
STATE_KINDS = (
    ("kv", r"keys$|values$"),
    ("indexer", r"indexer_keys$|idx_keys$|compressed_kv\.indexer$"),
    ("compressed", r"compressed_kv\.compressor$"),
    ("other_state", r"buffer_kv|buffer_gate|overlap_kv|overlap_gate"),
    ("recurrent", r"recurrent_states"),
    ("convolution", r"conv_states"),
    ("", r"_sliding_window_tensor$|indexer_position_ids$|cumulative_length$"),
)
CACHE_KINDS = ("kv", "kv_engine", "sliding", "sliding_engine", "compressed", "indexer", "recurrent", "convolution", "other_state")

COLUMNS = [
    "name", "model_type", "class", "built_as", "parameters", "language", "vision", "audio", "projector", "mtp", "active",
    "checkpoint_buffers", "tied", "layers",
    *(f"{kind}_{tokens}" for tokens in TOKENS for kind in CACHE_KINDS),
    "cache_by",
]

transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
# The search for packed sequences reads values, and a meta tensor has none; there is one sequence here.
masking_utils.find_packed_sequence_indices = lambda position_ids: None
# Searches for chosen tokens have a length that depends on values; the option takes the longest.
torch.fx.experimental._config.meta_nonzero_assume_all_nonzero = True
# A cache without any attention layer has no length to tell; all caches are new here.
transformers.cache_utils.Cache.get_seq_length = lambda self, layer_idx=0: 0
transformers.cache_utils.Cache.get_mask_sizes = lambda self, query_length, layer_idx: (query_length, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the files on disk differ")
    parser.add_argument("names", nargs="*", help="only these files")
    arguments = parser.parse_args()
    paths = [CONFIGS / f"{name}.json" for name in arguments.names] or sorted(CONFIGS.glob("*.json"))
    rows = [row_of(path) for path in paths]
    if arguments.names and not arguments.check:
        print(table_of(rows), end="")
        return 0
    if arguments.names:
        return check_rows(rows)
    table, versions = table_of(rows), versions_text()
    if arguments.check:
        differing = [path.name for path, text in ((TABLE, table), (VERSIONS, versions))
                     if not path.exists() or path.read_text() != text]
        if differing:
            print(f"{', '.join(differing)} differ from what make.py writes.", file=sys.stderr)
        return 1 if differing else 0
    TABLE.write_text(table)
    VERSIONS.write_text(versions)
    return 0


def check_rows(rows):
    """Whether the table on disk has these rows and came from these versions."""
    lines = set(TABLE.read_text().splitlines())
    differing = [row["name"] for row in rows if table_of([row]).splitlines()[1] not in lines]
    if VERSIONS.read_text() != versions_text():
        differing.append(VERSIONS.name)
    if differing:
        print(f"{', '.join(differing)}: the table differs from what make.py writes.", file=sys.stderr)
    return 1 if differing else 0


def table_of(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def versions_text():
    """Versions of the packages that decide a number, without the build tag of torch."""
    versions = {"python": f"{sys.version_info.major}.{sys.version_info.minor}", "transformers": transformers.__version__,
                "torch": torch.__version__.split("+")[0], "timm": importlib.metadata.version("timm")}
    return json.dumps(versions, indent=2) + "\n"


def row_of(path):
    raw = json.loads(path.read_text())
    row = {"name": path.stem, "model_type": raw.get("model_type", "")}
    listed = LISTS / path.name
    if listed.exists():
        return row | row_of_list(json.loads(listed.read_text()))
    try:
        config, built_as = config_of(raw)
        model = model_of(raw, config)
    except Exception as error:  # Any failure of the package is a result: the row says that there is no number.
        return row | {"cache_by": f"not built: {one_line(error)}"}
    row |= {"class": type(model).__name__, "built_as": built_as} | parameters_of(model) | {"mtp": mtp_of(model)}
    return row | cache_columns(model)


def row_of_list(listed):
    """A model that no package builds: sums of its published tensors, and the state that follows from their shapes."""
    counts, buffers, routed = dict.fromkeys(("language", "vision", "audio", "projector"), 0), 0, 0
    for name, shape, times in listed["tensors"]:
        size = math.prod(shape) * times
        if name.endswith("correction_bias"):
            buffers += size
            continue
        counts[part_of(name)] += size
        routed += size if ".experts." in name else 0
    experts, chosen = listed["experts"]
    active = counts["language"] - routed + routed * chosen // experts
    row = {"parameters": sum(counts.values())} | counts | {
        "mtp": listed.get("mtp", ""), "active": active, "checkpoint_buffers": buffers, "tied": str(listed["tied"]).lower(),
        "layers": listed["layers"], "cache_by": "list of tensors",
    }
    for tokens in TOKENS:
        row |= {f"{kind}_{tokens}": 0 for kind in CACHE_KINDS}
        row |= {f"{kind}_{tokens}": size * tokens for kind, size in listed["per_token"].items()}
        row |= {f"{kind}_{tokens}": size for kind, size in listed["fixed"].items()}
    return row


def one_line(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


def config_of(raw):
    model_type = raw["model_type"]
    fields = {key: value for key, value in json.loads(json.dumps(raw)).items() if key != "quantization_config"}
    if model_type not in BUILT_AS:
        return CONFIG_MAPPING[model_type].from_dict(fields), ""
    built_as, names, same = BUILT_AS[model_type]
    fields = {names.get(key, key): value for key, value in fields.items() if value is not None} | same | {"model_type": built_as}
    if "attn_type_list" in fields:
        fields["layer_types"] = ["full_attention" if full else "linear_attention" for full in fields.pop("attn_type_list")]
    if model_type == "qwen":  # Gate and up projection share the stated width.
        fields["intermediate_size"] //= 2
    if built_as == "step3p7":  # The language model of a class with an image tower.
        fields = {"model_type": built_as, "text_config": fields | {"model_type": model_type}}
    return CONFIG_MAPPING[built_as].from_dict(fields), built_as


def model_of(raw, config):
    model = class_of(raw, config)
    if raw["model_type"] == "step3p5":
        keep_language(model)
    if raw["model_type"] == "nemotron-nas":
        take_blocks(model, raw["block_configs"])
    return model


def class_of(raw, config):
    named = getattr(transformers, (raw.get("architectures") or [""])[0], None)
    with torch.device("meta"):
        if named is not None:
            return named._from_config(config)
        for names in (modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES, modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
                      modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
            if config.model_type in names:
                return getattr(transformers, names[config.model_type])._from_config(config)
    raise ValueError(f"no class for {config.model_type}")


def keep_language(model):
    for name, _ in list(model.model.named_children()):
        if name != "language_model":
            setattr(model.model, name, torch.nn.Identity())


def take_blocks(model, blocks):
    """Gives each layer the parts and widths of its block; a part that is off has no norm either."""
    for layer, block in zip(model.model.layers, blocks, strict=True):
        attention, mlp = block["attention"], block["ffn"]
        if attention["replace_with_linear"] or mlp["replace_with_linear"]:
            raise ValueError("a linear layer in place of attention or MLP is not built")
        if attention["no_op"]:
            layer.self_attn = layer.input_layernorm = None
        else:
            heads = layer.self_attn.config.num_attention_heads // attention["n_heads_in_group"]
            layer.self_attn.num_key_value_groups = attention["n_heads_in_group"]
            for name in ("k_proj", "v_proj"):
                setattr(layer.self_attn, name, linear(layer.hidden_size, heads * layer.self_attn.head_dim))
        if mlp["no_op"]:
            layer.mlp = layer.post_attention_layernorm = None
        else:
            width = -(-int(2 * mlp["ffn_mult"] * layer.hidden_size / 3) // 256) * 256
            layer.mlp.gate_proj, layer.mlp.up_proj = linear(layer.hidden_size, width), linear(layer.hidden_size, width)
            layer.mlp.down_proj = linear(width, layer.hidden_size)
        layer.forward = types.MethodType(block_forward, layer)


def linear(inputs, outputs):
    return torch.nn.Linear(inputs, outputs, bias=False, device="meta")


def block_forward(self, hidden_states, **kwargs):
    if self.self_attn is not None:
        hidden_states = hidden_states + self.self_attn(self.input_layernorm(hidden_states), **kwargs)[0]
    if self.mlp is not None:
        hidden_states = hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))
    return hidden_states


def part_of(name):
    """Which part of the model a tensor belongs to, by its name."""
    if SPEECH.search(name):
        return "audio"
    if PROJECTOR.search(name):
        return "projector"
    if AUDIO.search(name):
        return "audio"
    if VISION.search(name):
        return "vision"
    return "language"


def parameters_of(model):
    counts = dict.fromkeys(("language", "vision", "audio", "projector"), 0)
    for name, parameter in model.named_parameters():  # Tied parameters are one object, and come once.
        counts[part_of(name)] += parameter.numel()
    named = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    buffers = sum(tensor.numel() for name, tensor in model.state_dict().items() if name not in named)
    head = model.get_output_embeddings()
    tied = head is not None and head.weight is model.get_input_embeddings().weight
    return {"parameters": sum(counts.values())} | counts | {
        "active": active_of(model, counts["language"]), "checkpoint_buffers": buffers, "tied": str(tied).lower(),
        "layers": getattr(model.config.get_text_config(decoder=True), "num_hidden_layers", ""),
    }


def active_of(model, language):
    """Parameters of the language model that one token uses, embeddings included: of the routed experts the chosen ones."""
    idle = 0
    for name, module in model.named_modules():
        if part_of(name) != "language" or not type(module).__name__.endswith("Experts"):
            continue
        experts = getattr(module, "num_experts", None)
        config = model.config.get_text_config(decoder=True)
        chosen = next((value for key in ("num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts", "num_experts_per_token")
                       if isinstance(value := getattr(config, key, None), int)), None)
        stacked = all(parameter.shape[0] == experts for parameter in module.parameters())
        if not chosen or not experts or not stacked:
            return ""
        size = sum(parameter.numel() for parameter in module.parameters())
        idle += size - size * chosen // experts
    return language - idle


def mtp_of(model):
    """Parameters of the multi-token-prediction layers, where the package can build them; embeddings and head are shared."""
    layers = getattr(model.config.get_text_config(decoder=True), "num_mtp_layers", None)
    if not layers:
        return ""
    shared = {id(parameter) for parameter in model.parameters()}
    try:
        with torch.device("meta"):
            extra = MtpModel(model, layers)
    except ValueError:  # The package does not know the kinds of these layers.
        return ""
    return sum(parameter.numel() for parameter in extra.parameters() if id(parameter) not in shared)


def cache_columns(model):
    columns, how = {}, ""
    for tokens in TOKENS:
        try:
            sizes, how = cache_of(model, tokens)
        except Exception as error:
            return {"cache_by": f"no forward: {one_line(error)}"}
        columns |= {f"{kind}_{tokens}": size for kind, size in sizes.items()}
    return columns | {"cache_by": how}


def cache_of(model, tokens):
    """Elements by kind after a prompt of `tokens` for one sequence."""
    walked = simplify(model)
    cache = cache_object(model, tokens)
    sizes = dict.fromkeys(CACHE_KINDS, 0)
    for layer in getattr(cache, "layers", []):
        for kind, size in layer_sizes(layer, tokens).items():
            sizes[kind] += size
    # Three classes keep their states in lists or dictionaries of their own.
    own = cache if isinstance(cache, list) else getattr(cache, "rnn_state", getattr(cache, "linear_cache", []))
    sizes["recurrent"] += sum(state.numel() for _, state in tensors_in(own))
    for module in model.modules():  # One class keeps its states in the modules.
        for kind, attribute in (("recurrent", "recurrent_states"), ("convolution", "conv1d_state")):
            state = vars(module).get(attribute)
            sizes[kind] += state.numel() if isinstance(state, torch.Tensor) else 0
    for index, width in engine_widths(model).items():
        layer = cache.layers[index]
        windowed = getattr(layer, "is_sliding", False)
        kind, kept = ("sliding_engine", min(tokens, layer.sliding_window)) if windowed else ("kv_engine", tokens)
        sizes[kind] += width * kept - layer_sizes(layer, tokens)[kind]
    return sizes, "forward" + (f"; the recurrent layers saw {STEPWISE_TOKENS} tokens" if walked else "")


def cache_object(model, tokens):
    """The package's own cache after a forward pass over `tokens` tokens without data."""
    runner = getattr(model, "thinker", model)  # Models that speak think with this part.
    ids = torch.zeros((1, tokens), dtype=torch.long, device="meta")
    with torch.no_grad():
        output = runner(input_ids=ids, use_cache=True)
        for key in ("past_key_values", "cache_params", "state"):
            if output.get(key) is not None:
                return output[key]
        cache = DynamicCache(config=runner.config.get_text_config(decoder=True))  # A class that returns no cache fills one.
        runner(input_ids=ids, use_cache=True, past_key_values=cache)
    return cache


def layer_sizes(layer, tokens):
    """Elements by kind of one layer of the cache; a tensor that has no kind is an error."""
    sizes, seen = {}, {}
    for path, tensor in tensors_in(vars(layer)):
        if id(tensor) in seen:  # Layers whose keys are their values keep one tensor.
            continue
        seen[id(tensor)] = tensor
        kind = next((kind for kind, pattern in STATE_KINDS if re.match(pattern, path)), None)
        if kind is None:
            raise ValueError(f"{type(layer).__name__}.{path} has no kind")
        if kind == "kv" and getattr(layer, "is_sliding", False):
            kind = "sliding"
        sizes[kind] = sizes.get(kind, 0) + tensor.numel()
    if "sliding" in sizes:
        kept = min(tokens, layer.sliding_window - 1)
        sizes["sliding_engine"] = sizes["sliding"] // kept * min(tokens, layer.sliding_window)
    if "kv" in sizes:
        sizes["kv_engine"] = sizes["kv"]
    sizes.pop("", None)
    return sizes


def tensors_in(values, prefix=""):
    """Paths and tensors of nested dictionaries and lists."""
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in pairs:
        path = f"{prefix}{key}"
        if isinstance(value, torch.Tensor):
            yield path, value
        elif isinstance(value, (dict, list, tuple)):
            yield from tensors_in(value, f"{path}.")


def engine_widths(model):
    """Elements per token and layer that engines keep, for the attention that transformers may keep in a wider form.

    Latent attention: the output of its down projection. Falcon's new decoder: keys and values before they are repeated.
    """
    widths = {}
    for name, module in model.named_modules():
        if part_of(name) != "language" or getattr(module, "layer_idx", None) is None:
            continue
        if hasattr(module, "kv_a_proj_with_mqa"):
            widths[module.layer_idx] = module.kv_a_proj_with_mqa.out_features
        elif type(module).__name__ == "FalconAttention" and module.new_decoder_architecture:
            widths[module.layer_idx] = 2 * module.num_kv_heads * module.head_dim
    return widths


def simplify(model):
    """Replaces what does not touch the cache and cannot run on the meta device; true if a recurrent layer is shortened."""
    walked = False
    for name, module in model.named_modules():
        kind = type(module).__name__
        if kind.endswith("Experts"):
            module.forward = types.MethodType(lambda self, hidden, *args, **kwargs: hidden, module)
        elif STEPWISE.search(kind):
            walked = True
            if not hasattr(module, "whole_forward"):
                module.whole_forward = module.forward
                module.forward = types.MethodType(first_tokens, module)
    return walked


def first_tokens(self, *args, **kwargs):
    """Runs a recurrent mixer on the first tokens of all its inputs, and gives its output the whole length."""
    hidden = args[0] if args else kwargs["hidden_states"]
    length = hidden.shape[1]

    def cut(value):
        whole = isinstance(value, torch.Tensor) and value.dim() > 1 and value.shape[1] == length
        return value[:, :STEPWISE_TOKENS] if whole else value

    output = self.whole_forward(*map(cut, args), **{key: cut(value) for key, value in kwargs.items()})
    first = output[0] if isinstance(output, tuple) else output
    padded = first.new_empty((*hidden.shape[:-1], first.shape[-1]))
    return (padded, *output[1:]) if isinstance(output, tuple) else padded


if __name__ == "__main__":
    sys.exit(main())
