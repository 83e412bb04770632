// Browser functions that a click needs. File names are filled in when the site is built.

// The only request to another host, sent when the user clicks its button. Returns status and text.
export const Fetch = async (address) => {
  const reply = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
  return [reply.status, reply.ok ? await reply.text() : ""];
};

// Bytes of a file on that host, on the same click. Its storage may send the whole file instead: reading stops after the last byte.
export const FetchRange = async (address, from, to) => {
  const stop = new AbortController();
  const headers = { Range: `bytes=${from}-${to - 1}` };
  const reply = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", signal: stop.signal, headers });
  if (!reply.ok) return [reply.status, null];
  const bytes = new Uint8Array(to - from);
  let at = reply.status === 206 ? from : 0;
  let end = from;
  const reader = reply.body.getReader();
  for (let part = await reader.read(); !part.done && at < to; part = at < to ? await reader.read() : part) {
    const kept = part.value.subarray(Math.max(from - at, 0), to - at);
    bytes.set(kept, Math.max(at, from) - from);
    at += part.value.length;
    end = Math.max(end, Math.min(at, to));
  }
  stop.abort();
  return [reply.status, bytes.subarray(0, end - from)];
};

export const Save = async (name, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

// Compares devices in a worker, which gets the program that the browser has compiled for the page. Rejects with a message, or
// with null if a fetch fails.
let worker;
export const Explore = (name, text) => new Promise((resolve, reject) => {
  const giveUp = () => {
    dispatchEvent(new CustomEvent("ridgepoint-missing"));
    worker?.terminate();
    worker = undefined;
    reject(null);
  };
  worker ??= new Worker(new URL("./WORKER", import.meta.url), { type: "module" });
  worker.onerror = giveUp;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => (data.missing ? giveUp() : data.error ? reject(data.error) : resolve(data.answer));
  worker.postMessage([name, text, globalThis.ridgepointProgram], [port2]);
});

export const SavePicture = async (name, canvas) => {
  await Save(name, await new Promise((resolve) => canvas.toBlob(resolve)));
};

// The user's own devices and models are stored in the address, compressed. zlib's checksum detects changed bytes.
const LONGEST_CODE = 30000;
const LONGEST_TEXT = 100000;

export const Pack = async (text) => {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

export const Unpack = async (code) => {
  if (code.length > LONGEST_CODE) return null;
  try {
    const bytes = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    const chunks = [];
    for (let size = 0, part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > LONGEST_TEXT) return null;
      chunks.push(part.value);
    }
    return await new Blob(chunks).text();
  } catch {
    return null;
  }
};

// Connection to a daemon, which the Measure view uses.
export const Link = async (name, ...values) => (await import("./LINK"))[name](...values);
