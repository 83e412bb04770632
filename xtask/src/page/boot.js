// Loads the page's program. The file names are filled in when the site is built.
import start from "./SCRIPT";

// Rarely used functions are in a script of their own, fetched on first use. The error is null when it cannot be.
for (const name of ["Fetch", "Save", "SavePicture", "Explore", "Pack", "Unpack", "Link"]) {
  globalThis["ridgepoint" + name] = async (...values) => (await import("./TOOLS").catch(() => { throw null; }))[name](...values);
}

// Not there: a browser may forget the click while a script is fetched.
globalThis.ridgepointCopy = (text) => navigator.clipboard.writeText(text);

// A link of a daemon carries a secret, which leaves the address before anything else happens.
if (/[#&]pair=/.test(location.hash)) {
  globalThis.ridgepointPairing = location.hash.slice(1);
  history.replaceState(null, "", "?view=measure");
}
addEventListener("hashchange", () => /[#&]pair=/.test(location.hash) && location.reload());

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
