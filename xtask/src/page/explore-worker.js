// Runs the program that compares devices, so that the page stays free. The file names are filled in when the site is built.
import start, { answer } from "./SCRIPT";

const started = start({ module_or_path: new URL("./PROGRAM", import.meta.url) });

// A question is a function and its text; the answer or the reason why there is none goes back through the question's own port.
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
