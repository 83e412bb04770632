// Loads the page's program. The file names are filled in when the site is built.
import start from "./SCRIPT";

// Files that the reader opens are read by a program of its own, fetched when the first one is opened.
globalThis.ridgepointReadFile = async (name, text) => {
  const reader = await import("./READER_SCRIPT");
  await reader.default({ module_or_path: new URL("./READER_PROGRAM", import.meta.url) });
  return reader.read_file(name, text);
};

// The only request to somebody else, made when the reader clicks on it: status and text.
globalThis.ridgepointFetch = async (address) => {
  const reply = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer" });
  return [reply.status, reply.ok ? await reply.text() : ""];
};

try {
  await start({ module_or_path: new URL("./PROGRAM", import.meta.url) });
} catch (error) {
  const message = document.createElement("p");
  message.setAttribute("role", "alert");
  message.textContent = "Ridgepoint could not start in this browser: " + error;
  document.body.append(message);
  throw error;
}
