// Connection to a daemon: sockets, proofs, and the keys that this browser was given. No key is readable, not even here: the
// stored value is a CryptoKey that cannot be exported, and a code is used up by making one.

const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

const HMAC = { name: "HMAC", hash: "SHA-256" };
const imported = (secret) => crypto.subtle.importKey("raw", secret, HMAC, false, ["sign"]);
const hmac = async (key, text) => crypto.subtle.sign("HMAC", key, bytes(text));

const database = () => new Promise((resolve, reject) => {
  const request = indexedDB.open("ridgepoint", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("keys", { keyPath: "server" });
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const stored = async (mode, use) => {
  const open = await database();
  try {
    return await new Promise((resolve, reject) => {
      const request = use(open.transaction("keys", mode).objectStore("keys"));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  } finally {
    open.close();
  }
};

// In a browser without storage, a key lasts as long as the page.
const here = new Map();
const known = async (server) => here.get(server) ?? (await stored("readonly", (keys) => keys.get(server)).catch(() => undefined));

// Returns the page's host and scheme, whether proofs can be made, and the pairing of the address, which is returned only once.
export const begin = () => {
  const pairing = globalThis.ridgepointPairing ?? "";
  delete globalThis.ridgepointPairing;
  return [location.host, location.protocol, globalThis.crypto?.subtle && top === self ? "yes" : "", pairing];
};

// Returns "yes" if a daemon at this address gave this browser a key.
export const knows = async (address) => {
  const all = await stored("readonly", (keys) => keys.getAll()).catch(() => []);
  return [...all, ...here.values()].some((key) => key.address === address) ? "yes" : "";
};

// Waits for the event of the page's policy about an address. Returns a function that stops waiting, and returns what the policy allows in
// place of the address; empty where it does not forbid it.
const policyAbout = (address) => {
  let allowed = "";
  const hear = ({ blockedURI, effectiveDirective, originalPolicy }) => {
    if (effectiveDirective === "connect-src" && blockedURI.startsWith(new URL(address).origin)) {
      allowed = originalPolicy.match(/connect-src ([^;]*)/)?.[1] ?? "";
    }
  };
  document.addEventListener("securitypolicyviolation", hear);
  return () => {
    document.removeEventListener("securitypolicyviolation", hear);
    return allowed;
  };
};

// Opens a socket and reports its events to `heard`. Returns a function that sends a text, or closes the socket without one.
export const open = (address, protocol, heard) => {
  const allowedInstead = policyAbout(address);
  // A socket that the page's policy forbids has an error event and no close event.
  let ended = false;
  const end = async (code) => {
    if (!ended) {
      ended = true;
      const allowed = allowedInstead();
      heard(allowed ? ["forbidden", allowed] : ["closed", code, await denied()]);
    }
  };
  let socket;
  try {
    socket = new WebSocket(address, protocol);
  } catch {
    setTimeout(() => end(1006), 100);
    return () => {};
  }
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  socket.onopen = () => {
    allowedInstead();
    heard(["opened", nonce, location.origin]);
  };
  socket.onmessage = ({ data }) => typeof data === "string" && heard(["text", data]);
  socket.onerror = () => setTimeout(() => end(1006), 100);
  socket.onclose = ({ code }) => end(code);
  return (text) => {
    if (text === undefined) {
      socket.close();
    } else if (socket.readyState === WebSocket.OPEN) {
      socket.send(text);
    }
  };
};

// Returns "yes" if pages are denied access to this machine. The permission's name varies by version; other browsers lack it.
const denied = async () => {
  for (const name of ["loopback-network", "local-network-access"]) {
    try {
      return (await navigator.permissions.query({ name })).state === "denied" ? "yes" : "";
    } catch {
      // Unknown name; try the next one.
    }
  }
  return "";
};

// Signs with a code, or without one with the key of a daemon. Returns the key's name and the proof; empty without a key.
export const sign = async (server, code, text) => {
  if (code) {
    return ["", hex(await hmac(await imported(new TextEncoder().encode(code)), text))];
  }
  const key = await known(server);
  return key ? [key.name, hex(await hmac(key.secret, text))] : [];
};

// Derives the key of a code and stores it.
export const keep = async (server, name, code, text, address) => {
  const secret = await imported(await hmac(await imported(new TextEncoder().encode(code)), text));
  const key = { server, name, secret, address };
  here.set(server, key);
  await stored("readwrite", (keys) => keys.put(key)).catch(() => undefined);
};

// Deletes the key of a daemon.
export const forget = async (server) => {
  here.delete(server);
  await stored("readwrite", (keys) => keys.delete(server)).catch(() => undefined);
};

export const random = () => hex(crypto.getRandomValues(new Uint8Array(16)));
