// Duration from an input event to the end of drawing, on the heaviest models: everything is derived, drawn and
// laid out again. Advice, curves and parts outside the window follow a frame later, so both ends of the page are measured. The
// durations are printed; the limit on the median is wide, because the machine that runs the tests may be busy.
import assert from 'node:assert/strict';
import { openSite, pageTest } from './harness.mjs';

const ROUNDS = 120;
const LIMIT_MS = 60;

const tables = 'tables of operators';
for (const [model, seen] of [['deepseek-v3', 'h1'], ['deepseek-v3', tables], ['llama-3.1-405b', 'h1'], ['llama-3.1-405b', tables]]) {
  pageTest(`a change of the batch of ${model} is drawn within a frame, scrolled to the ${seen}`, {}, async (page) => {
    await openSite(page, `?view=model&d=h100_sxm&model=${model}&tp=8`);
    const rows = page.locator('.operators tbody').last();
    if (seen === tables) {
      await page.locator('.operators').last().evaluate((table) => table.scrollIntoView({ block: 'end' }));
    }
    const before = await rows.textContent(); // a part that is far out of sight has no innerText
    const times = await page.evaluate(async (rounds) => {
      const field = document.getElementById('batch');
      const times = [];
      for (let round = 0; round < rounds; round += 1) {
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        const start = performance.now();
        field.value = String(1 + (round * 7) % 200);
        field.dispatchEvent(new Event('input', { bubbles: true }));
        for (let turn = 0; turn < 200; turn += 1) await Promise.resolve(); // effects are microtasks
        void document.body.offsetHeight; // layout is part of the duration
        times.push(performance.now() - start);
        const drawn = document.querySelector('.answer').textContent;
        await new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = resolve; port2.postMessage(0); });
        if (document.querySelector('.answer').textContent !== drawn) throw new Error('something was drawn after the measured time');
      }
      return times.slice(20).sort((a, b) => a - b);
    }, ROUNDS);
    const at = (share) => times[Math.floor((times.length - 1) * share)];
    await page.waitForFunction(([rows, before]) => [...document.querySelectorAll(rows)].at(-1).textContent !== before, ['.operators tbody', before]);
    console.log(`${model}, ${seen}: median ${at(0.5).toFixed(1)} ms, p95 ${at(0.95).toFixed(1)} ms, most ${at(1).toFixed(1)} ms`);
    assert.ok(at(0.5) < LIMIT_MS, `median ${at(0.5)} ms`);
  });
}
