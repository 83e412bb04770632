// Questions for every tool: right ones with what the answer must say, and wrong ones with the sentence of the command line.

/** An interval with its origin, as in `7.96 ms (7.23–9.03 ms; fitted)`. */
export const INTERVAL = /\([\d.,\s\u202f]+[^;()]*(–| to )[^;()]*; (fitted|assumed|mixed|measured|derived)\)/;
const DERIVED = /\((derived|read|reported)[^)]*\)/;

export const right = [
  ['resolve_model', { name: 'meta-llama/Llama-3.1-8B-Instruct' }, /8\u202f030\u202f261\u202f248 parameters \(derived/],
  ['list_devices', { filter: 'orin nano' }, /of \d+ devices have `orin nano`/, DERIVED],
  ['list_devices', { filter: 'dgx spark' }, /One of \d+ devices/, DERIVED],
  ['estimate', { hardware: 'h100', model: 'llama-3.1-8b', weights: 'fp8', prompt: '4k', new_tokens: 256 }, INTERVAL, /Fits with/, /token\/s expected \(/],
  ['estimate', { hardware: 'rtx_4090', model: 'llama-3.1-70b' }, /Does not fit: .* short of/, /needs 140\u202fGB \(derived\)/, INTERVAL],
  ['recommend', { hardware: 'gb10', model: 'qwen3-30b-a3b', new_tokens: 128 }, INTERVAL, /: use /],
  ['recommend', { hardware: 'any', model: 'qwen3-8b', max_tpot_ms: 50 }, INTERVAL, /the smallest is/],
  ['check', { hardware: 'h100', model: 'llama-3.1-8b', weights: 'bf16', tokens_per_s: 500 }, /Not possible/, INTERVAL],
  ['check', { hardware: 'jetson_orin_nano_8gb_super', m: 1, n: 4096, k: 4096, weights: 'int4_g128', time_us: 300 }, /Possible/, INTERVAL],
  ['compare', { model: 'llama-3.1-8b', weights: 'q4_k_m', scenarios: [{ hardware: 'rtx_4090' }, { hardware: 'gb10' }] }, INTERVAL, /has the highest rate/],
  ['fit_plan', { hardware: 'jetson_orin_nano_8gb_super', model: 'llama-3.1-8b', context: '8k' }, /schemes? fits?; the first is/, INTERVAL],
  ['fit_plan', { hardware: 'rtx_4090', model: 'llama-3.1-8b', prompt: 8192, batch: 200 }, /No scheme fits/, /With batch \d+/, INTERVAL],
  ['fit_plan', { hardware: 'epyc_9654', model: 'llama-3.1-8b' }, /the installed memory is unknown/, /schemes may fit; the first is/, INTERVAL],
  ['estimate', { hardware: 'h100', model: 'llama-3.1-8b', prompt: 200000 }, /The model does not serve this: 200000 tokens exceed/, INTERVAL],
  ['explain', { hardware: 'h100', m: 1, n: 4096, k: 4096, weights: 'fp8_e4m3' }, /F = 2 × M × N × K = 2 × 1 × 4\u202f096 × 4\u202f096/, INTERVAL],
  ['explain', { hardware: 'h100', model: 'mixtral-8x7b', tensor_parallel: 2 }, /Weights: .*\(derived/, /Each token, expected: .*\(mixed: from/, INTERVAL],
];

export const wrong = [
  ['resolve_model', {}, 'name is missing'],
  ['resolve_model', { name: 'lama-3.1-8b' }, 'did you mean llama-3.1-8b'],
  ['resolve_model', { name: 'nobody/nothing-7b' }, '`nobody/nothing-7b` is not in the catalog; give its config.json'],
  ['list_devices', { filter: 'h10000' }, 'no key or name contains `h10000`'],
  ['list_devices', { limt: 3 }, 'unknown field `limt`'],
  ['estimate', { devce: 'h100', hardware: 'h100', model: 'llama-3.1-8b' }, 'unknown field `devce`'],
  ['estimate', { hardware: 'h10', model: 'llama-3.1-8b' }, 'unknown hardware `h10`; did you mean h100_'],
  ['estimate', { hardware: 'h100', model: 'llama-3.1-8b', batch: 0 }, 'batch must be from 1 to'],
  ['estimate', { hardware: 'h100', model: 'llama-3.1-8b', weights: 7 }, 'weights must be a name in quotes; got 7'],
  ['recommend', { hardware: 'h100', model: 'llama-3.1-8b', objective: 'speed' }, 'objective must be one of latency'],
  ['recommend', { hardware: 'h100', model: 'llama-3.1-8b', limit: 0 }, 'limit must be from 1 to'],
  ['check', { hardware: 'h100', model: 'llama-3.1-8b' }, 'tokens_per_s, time_us or seconds is missing'],
  ['compare', { model: 'llama-3.1-8b', scenarios: [{ hardware: 'h100' }] }, 'scenarios must be a list of 2 to 4'],
  ['compare', { scenarios: [{ hardware: 'h100', model: 'llama-3.1-8b' }, { hardware: 'h100' }] }, 'scenario 2: model is missing'],
  ['fit_plan', { hardware: 'any', model: 'llama-3.1-8b' }, 'hardware any'],
  ['explain', { hardware: 'h100', op: 'norm', tokens: 1, hidden: 1, heads: 2 }, 'unknown field `heads` of norm'],
];
