// Worker that runs the program comparing devices, so that the page stays responsive. File names are filled in by the build.
import start, { answer } from "./SCRIPT";

const started = start({ module_or_path: new URL("./PROGRAM", import.meta.url) });

// A message is a function's name and its text; the answer, or the error, is returned through the message's own port.
addEventListener("message", async ({ data: [name, text], ports: [port] }) => {
  try {
    await started;
  } catch {
    port.postMessage({ missing: true });
    return;
  }
  try {
    port.postMessage({ answer: answer(name, text, performance.now()) });
  } catch (error) {
    port.postMessage({ error: String(error) });
  }
});
