// Loads the page's program. The file names are filled in when the site is built.
import start from "./SCRIPT";

// Rarely used functions are in a script of their own, fetched on first use; if that fails, the promise is rejected with null.
for (const name of ["Fetch", "Save", "SavePicture", "Explore", "Pack", "Unpack", "Link"]) {
  globalThis["ridgepoint" + name] = async (...values) => (await import("./TOOLS").catch(() => { throw null; }))[name](...values);
}

// Copying is not in that script: a browser may no longer count the click as recent once a script is fetched.
globalThis.ridgepointCopy = (text) => navigator.clipboard.writeText(text);

// A daemon's link carries a secret, which is removed from the address before anything else.
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
