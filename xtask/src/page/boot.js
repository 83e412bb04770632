// Loads the page's program. The file names are filled in when the site is built.
import start from "./SCRIPT";

// The only request to somebody else, made when the reader clicks on it: status and text.
globalThis.ridgepointFetch = async (address) => {
  const reply = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
  return [reply.status, reply.ok ? await reply.text() : ""];
};

globalThis.ridgepointSave = async (name, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

// Compares devices in a worker, which is fetched for the first question. The error is a sentence, or null when it cannot be fetched.
let worker;
globalThis.ridgepointExplore = (name, text) => new Promise((resolve, reject) => {
  const giveUp = () => {
    worker?.terminate();
    worker = undefined;
    reject(null);
  };
  worker ??= new Worker(new URL("./WORKER", import.meta.url), { type: "module" });
  worker.onerror = giveUp;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => (data.missing ? giveUp() : data.error ? reject(data.error) : resolve(data.answer));
  worker.postMessage([name, text], [port2]);
});

globalThis.ridgepointCopy = (text) => navigator.clipboard.writeText(text);

globalThis.ridgepointSavePicture = async (name) => {
  const canvas = document.querySelector("canvas");
  await globalThis.ridgepointSave(name, await new Promise((resolve) => canvas.toBlob(resolve)));
};

// What no catalog has travels in the address, compressed. zlib's checksum finds what was changed on the way.
const LONGEST_CODE = 30000;
const LONGEST_TEXT = 100000;

globalThis.ridgepointPack = async (text) => {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

globalThis.ridgepointUnpack = async (code) => {
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

if (location.hash.startsWith("#s=")) {
  globalThis.ridgepointUnpacked = await globalThis.ridgepointUnpack(location.hash.slice(3));
}

try {
  await start({ module_or_path: new URL("./PROGRAM", import.meta.url) });
} catch (error) {
  const message = document.createElement("p");
  message.setAttribute("role", "alert");
  message.textContent = "Ridgepoint could not start in this browser: " + error;
  document.body.append(message);
  throw error;
}
