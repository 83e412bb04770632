// Worker that compares devices with the page's own program, so that the page stays responsive. File names are filled in by the build.
import start, { explore } from "./SCRIPT";

let started;

// A message is a function's name, its text and the compiled program; the answer, or the error, is returned through the
// message's own port. An error without a text means that the worker cannot start
// or that a file is missing.
addEventListener("message", async ({ data: [name, text, program], ports: [port] }) => {
  try {
    started ??= start({ module_or_path: program }).catch(() => {
      throw null;
    });
    await started;
    port.postMessage({ answer: await explore(name, text, performance.now()) });
  } catch (error) {
    port.postMessage(error === null ? { missing: true } : { error: String(error) });
  }
});
