// Loads the page's program. The file names are filled in when the site is built.
import start from "./SCRIPT";

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
