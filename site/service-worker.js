// Keeps the site for visits without a network. The build's name and its files are filled in when the site is built.
// A file that is named by its content comes from memory; a document comes from the network, so that no version is kept for ever.
const FIRST = [/* FIRST */];
const REST = [/* REST */];
const OURS = "ridgepoint " + registration.scope + " ";
const BUILD = OURS + "/* BUILD */";
const PATIENCE_MS = 4000;

const isNamedByContent = ({ pathname }) => /-[0-9a-f]{8}\.(?!html$)\w+$/.test(pathname);

addEventListener("install", (event) => event.waitUntil((async () => {
  const cache = await caches.open(BUILD);
  await cache.addAll(FIRST.map((name) => new Request(name, { cache: isNamedByContent(new URL(name, registration.scope)) ? "default" : "no-cache" })));
  await skipWaiting();
})()));

// A page of the build before may still be open and fetch its chunks, so that build stays until the next one.
addEventListener("activate", (event) => event.waitUntil((async () => {
  const older = (await caches.keys()).filter((name) => name.startsWith(OURS) && name !== BUILD);
  await Promise.all(older.slice(0, -1).map((name) => caches.delete(name)));
  await clients.claim();
})()));

// The page asks for the rest when it has nothing to do. Where storage is full, what does not fit is fetched when it is needed.
const keepRest = async () => {
  const cache = await caches.open(BUILD);
  for (const name of REST) {
    if (!(await cache.match(name))) await cache.add(name).catch(() => undefined);
  }
};

addEventListener("message", (event) => event.data === "rest" && event.waitUntil(keepRest()));

const fromAnyBuild = async (request) => (await caches.match(request)) ?? fetch(request);

const fromNetwork = async (request, { origin, pathname }) => {
  const kept = await (await caches.open(BUILD)).match(origin + pathname);
  const answer = fetch(request);
  if (!kept) return answer;
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, kept));
  const sound = answer.then((found) => (found.status < 500 ? found : kept), () => kept);
  return Promise.race([sound, late]);
};

addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || !url.href.startsWith(registration.scope)) return;
  event.respondWith(isNamedByContent(url) ? fromAnyBuild(event.request) : fromNetwork(event.request, url));
});
