// Writes headers of GGUF and safetensors for tests, with zeros as data.
const GGUF_TYPES = { F32: [0, 1, 4], Q4_K: [12, 256, 144], Q6_K: [14, 256, 210], Q8_0: [8, 32, 34] };

class Out {
  parts = [];

  u32(number) {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(number);
    this.parts.push(part);
  }

  u64(number) {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(number));
    this.parts.push(part);
  }

  text(text) {
    this.u64(Buffer.byteLength(text));
    this.parts.push(Buffer.from(text));
  }
}

/** The header of a GGUF file, and the size of the file. A tensor is [name, sizes from the outermost in, type]. */
export function gguf(keys, tensors) {
  const out = new Out();
  out.parts.push(Buffer.from('GGUF'));
  out.u32(3);
  out.u64(tensors.length);
  out.u64(keys.length);
  for (const [key, value] of keys) {
    out.text(key);
    out.u32(typeof value === 'string' ? 8 : 4);
    if (typeof value === 'string') out.text(value);
    else out.u32(value);
  }
  let data = 0;
  for (const [name, sizes, type] of tensors) {
    const [number, block, bytes] = GGUF_TYPES[type];
    out.text(name);
    out.u32(sizes.length);
    for (const size of sizes.toReversed()) out.u64(size);
    out.u32(number);
    out.u64(data);
    data = Math.ceil((data + sizes.reduce((all, size) => all * size) / block * bytes) / 32) * 32;
  }
  const header = Buffer.concat(out.parts);
  const start = Buffer.concat([header, Buffer.alloc((32 - header.length % 32) % 32)]);
  return { start, bytes: start.length + data };
}

const [HIDDEN, WIDTH, TOKENS] = [1024, 2816, 32000];

/** Metadata of a small Llama of `layers` layers. */
export const llamaKeys = (layers) => [
  ['general.architecture', 'llama'], ['general.file_type', 15], ['llama.block_count', layers], ['llama.embedding_length', HIDDEN],
  ['llama.feed_forward_length', WIDTH], ['llama.attention.head_count', 16], ['llama.attention.head_count_kv', 4],
  ['llama.context_length', 8192], ['llama.vocab_size', TOKENS],
];

/** Tensors of that Llama: Q4_K and Q6_K mixed. */
export function llamaTensors(layers) {
  const tensors = [['token_embd.weight', [TOKENS, HIDDEN], 'Q4_K'], ['output.weight', [TOKENS, HIDDEN], 'Q6_K'], ['output_norm.weight', [HIDDEN], 'F32']];
  for (let layer = 0; layer < layers; layer += 1) {
    const own = [
      ['attn_norm', [HIDDEN], 'F32'], ['ffn_norm', [HIDDEN], 'F32'], ['attn_q', [HIDDEN, HIDDEN], 'Q4_K'], ['attn_k', [256, HIDDEN], 'Q4_K'],
      ['attn_v', [256, HIDDEN], layer % 2 ? 'Q6_K' : 'Q4_K'], ['attn_output', [HIDDEN, HIDDEN], 'Q4_K'], ['ffn_gate', [WIDTH, HIDDEN], 'Q4_K'],
      ['ffn_up', [WIDTH, HIDDEN], 'Q4_K'], ['ffn_down', [HIDDEN, WIDTH], layer % 2 ? 'Q6_K' : 'Q4_K'],
    ];
    tensors.push(...own.map(([name, sizes, type]) => [`blk.${layer}.${name}.weight`, sizes, type]));
  }
  return tensors;
}

/** The header of a file of safetensors, and the size of the file. A tensor is [name, sizes] in F16. */
export function safetensors(tensors) {
  let data = 0;
  const entries = tensors.map(([name, shape]) => {
    const from = data;
    data += shape.reduce((all, size) => all * size) * 2;
    return [name, { dtype: 'F16', shape, data_offsets: [from, data] }];
  });
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const start = Buffer.concat([length, json]);
  return { start, bytes: start.length + data };
}

/** Two shards of a small Llama with its index and config, by name. */
export function shards() {
  const layer = (place) => [
    ['self_attn.q_proj', [HIDDEN, HIDDEN]], ['self_attn.k_proj', [256, HIDDEN]], ['self_attn.v_proj', [256, HIDDEN]], ['self_attn.o_proj', [HIDDEN, HIDDEN]],
    ['mlp.gate_proj', [WIDTH, HIDDEN]], ['mlp.up_proj', [WIDTH, HIDDEN]], ['mlp.down_proj', [HIDDEN, WIDTH]],
    ['input_layernorm', [HIDDEN]], ['post_attention_layernorm', [HIDDEN]],
  ].map(([name, shape]) => [`model.layers.${place}.${name}.weight`, shape]);
  const parts = [[['model.embed_tokens.weight', [TOKENS, HIDDEN]], ...layer(0)], [...layer(1), ['model.norm.weight', [HIDDEN]], ['lm_head.weight', [TOKENS, HIDDEN]]]];
  const name = (place) => `model-0000${place + 1}-of-00002.safetensors`;
  const map = parts.flatMap((tensors, place) => tensors.map(([tensor]) => [tensor, name(place)]));
  const text = (value) => {
    const start = Buffer.from(JSON.stringify(value));
    return { start, bytes: start.length };
  };
  return {
    'config.json': text({
      model_type: 'llama', hidden_size: HIDDEN, num_hidden_layers: 2, num_attention_heads: 16, num_key_value_heads: 4, intermediate_size: WIDTH,
      vocab_size: TOKENS, tie_word_embeddings: false, torch_dtype: 'float16',
    }),
    'model.safetensors.index.json': text({ weight_map: Object.fromEntries(map) }),
    [name(0)]: safetensors(parts[0]),
    [name(1)]: safetensors(parts[1]),
  };
}
