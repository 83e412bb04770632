// Loads the page's program. The file names are filled in when the site is built.

const note = (role, text, button) => {
  const paragraph = document.createElement("p");
  paragraph.className = "version";
  paragraph.setAttribute("role", role);
  paragraph.append(text);
  if (button) {
    const reload = document.createElement("button");
    reload.textContent = button;
    reload.onclick = () => location.reload();
    paragraph.append(" ", reload);
  }
  document.querySelector(".version")?.remove();
  document.body.append(paragraph);
};

// The name of this build, and of the one that the server has now.
const buildOf = (page) => page.querySelector("meta[name=build]")?.content;
const published = async () => buildOf(new DOMParser().parseFromString(await (await fetch("./", { cache: "no-store" })).text(), "text/html"));

// Offers a newer version, which the reader takes when it suits; true if there is one.
const offerNewer = async () => {
  const newer = await published().catch(() => undefined);
  const isNewer = newer !== undefined && newer !== buildOf(document);
  if (isNewer) note("status", "A newer version of Ridgepoint was published.", "Load it");
  return isNewer;
};
addEventListener("ridgepoint-missing", offerNewer);

// Rarely used functions are in a script of their own, fetched on first use or when the browser is idle; if that fails, the promise is
// rejected with null.
const tools = () => import("./TOOLS").catch(() => {
  offerNewer();
  throw null;
});
for (const name of ["Fetch", "FetchRange", "Save", "SavePicture", "Explore", "Pack", "Unpack", "Link"]) {
  globalThis["ridgepoint" + name] = async (...values) => (await tools())[name](...values);
}

// A message begins a task of its own; a timer would wait, and in a hidden window for a second.
const { port1, port2 } = new MessageChannel();
const waiting = [];
port1.onmessage = () => waiting.shift()();
globalThis.ridgepointNextTask = () => new Promise((resolve) => {
  waiting.push(resolve);
  port2.postMessage(null);
});

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

// A press on a part of the scenario that comes before the program is kept: the program opens that part when it starts.
document.getElementById("first-answer")?.addEventListener("click", ({ target }) => {
  const part = target.closest(".part");
  if (part) document.querySelector("[data-pressed]")?.removeAttribute("data-pressed");
  part?.setAttribute("data-pressed", "");
});

// The text of index.html is painted first; the program would share a slow line with the style sheet. A page that nobody
// sees paints nothing.
await new Promise((resolve) => {
  requestAnimationFrame(() => setTimeout(resolve));
  setTimeout(resolve, 1000);
  if (document.hidden) resolve();
  addEventListener("visibilitychange", resolve);
});

try {
  const program = fetch(new URL("./PROGRAM", import.meta.url), { credentials: "same-origin" });
  const { default: start } = await import("./SCRIPT");
  const found = await program;
  if (!found.ok) throw new Error("its program is missing on the server (" + found.status + ")");
  // A server may send any media type. The worker of the Explore view gets the compiled program, too.
  const streams = found.headers.get("Content-Type") === "application/wasm";
  const compiled = streams ? WebAssembly.compileStreaming(found) : WebAssembly.compile(await found.arrayBuffer());
  globalThis.ridgepointProgram = await compiled;
  await start({ module_or_path: globalThis.ridgepointProgram });
} catch (error) {
  if (!(await offerNewer())) note("alert", "Ridgepoint could not start in this browser: " + error, "Try again");
  throw error;
}

const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
const savesData = navigator.connection?.saveData;
// Not by import(), which a browser does not repeat if it failed.
if (!savesData) whenIdle(() => fetch(new URL("./TOOLS", import.meta.url)).catch(() => {}));

// A service worker keeps the page for visits without a network. A daemon's page on this machine needs none.
const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
if (navigator.serviceWorker && !isHere) {
  const workers = navigator.serviceWorker;
  workers.addEventListener("controllerchange", offerNewer);
  const registered = await workers.register("./service-worker.js", { updateViaCache: "none" }).catch(() => undefined);
  if (registered && !savesData) {
    const { active } = await workers.ready;
    whenIdle(() => active.postMessage("rest"));
  }
}
