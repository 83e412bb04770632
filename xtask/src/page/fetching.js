// Fetches chunks for the loader: many small ones are in one of two files, and a server may send any media type.
const fetched = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) {
    dispatchEvent(new CustomEvent("ridgepoint-missing", { detail: answer.status }));
    throw new Error(name + ": " + answer.status);
  }
  return answer;
};

const file = async (name) => {
  const answer = await fetched(name);
  return answer.headers.get("Content-Type") === "application/wasm" ? answer : answer.arrayBuffer();
};

const names = [PACKS];
const packs = [];
const part = async ([pack, start, end]) => {
  packs[pack] ??= fetched(names[pack]).then((answer) => answer.arrayBuffer());
  try {
    return (await packs[pack]).slice(start, end);
  } catch (error) {
    packs[pack] = undefined;
    throw error;
  }
};

const instantiated = async (source, imports) => {
  const content = await source;
  return content instanceof Response ? WebAssembly.instantiateStreaming(content, imports) : WebAssembly.instantiate(content, imports);
};

// A chunk: its file or its place in a file of many, and the chunks that it needs.
const chunk = (source, needs) => makeLoad(() => {
  const content = typeof source === "string" ? file(source) : part(source);
  content.catch(() => {}); // whoever waits for the chunk hears of it
  return (imports) => instantiated(content, imports);
}, needs);
