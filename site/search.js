// Search over the headings and the text of the documents of a folder. The index is fetched when the field gets the focus for the first time.
// Rows of the index: [address, title of the page, [[anchor, heading, text], …]].
(() => {
  const box = document.querySelector(".search");
  const [input, status, list] = ["input", "[role=status]", ".results"].map((name) => box.querySelector(name));
  const most = 12;
  let sections;
  box.hidden = false;

  const load = () => {
    sections ??= fetch(box.dataset.index)
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.status))))
      .then((pages) => pages.flatMap(([address, title, parts]) => parts.map(([anchor, heading, text]) => (
        { address: address + (anchor && "#" + anchor), title, heading, text, low: [title, heading, text].map((part) => part.toLowerCase()) }
      ))))
      .catch((error) => { sections = undefined; throw error; });
    return sections;
  };

  // Every word must occur. It counts more in a title or a heading, more where a word begins with it, and more the oftener it occurs.
  const score = ({ low }, words) => words.reduce((sum, word) => {
    const points = low.map((part, place) => {
      const times = Math.min(part.split(word).length - 1, 6);
      const begins = part.startsWith(word) || part.includes(" " + word);
      return [12, 16, 1][place] * times * (begins ? 2 : 1);
    });
    const best = points.reduce((a, b) => a + b);
    return sum === 0 || best === 0 ? 0 : sum + best;
  }, 1);

  const excerpt = ({ text, low }, words) => {
    const at = Math.max(0, Math.min(...words.map((word) => low[2].indexOf(word)).filter((at) => at >= 0), text.length));
    const start = at < 60 || at === text.length ? 0 : text.indexOf(" ", at - 50) + 1;
    const end = text.length > start + 140 ? text.lastIndexOf(" ", start + 140) : text.length;
    return (start ? "… " : "") + text.slice(start, Math.max(end, start)) + (end < text.length ? " …" : "");
  };

  const item = (section, words) => {
    const link = document.createElement("a");
    link.href = box.dataset.root + section.address;
    const [name, about] = ["strong", "small"].map((kind) => link.appendChild(document.createElement(kind)));
    name.textContent = section.title === section.heading ? section.title : `${section.title}: ${section.heading}`;
    about.textContent = excerpt(section, words);
    const row = document.createElement("li");
    row.append(link);
    return row;
  };

  const show = (rows, message) => {
    list.replaceChildren(...rows);
    list.hidden = !message;
    if (message && !rows.length) list.append(Object.assign(document.createElement("li"), { textContent: message }));
    status.textContent = message;
  };

  const answer = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return show([], "");
    const asked = input.value;
    let all;
    try {
      all = await load();
    } catch {
      return show([], "The search could not be loaded.");
    }
    if (asked !== input.value) return;
    const found = all.map((section) => [score(section, words), section]).filter(([points]) => points > 0).sort(([a], [b]) => b - a);
    const count = found.length === 0 ? "Nothing found" : found.length > most ? `${found.length} results, the best ${most} are shown` : `${found.length} results`;
    show(found.slice(0, most).map(([, section]) => item(section, words)), count);
  };

  const step = (by) => {
    const stops = [input, ...list.querySelectorAll("a")];
    stops[(stops.indexOf(document.activeElement) + by + stops.length) % stops.length].focus();
  };

  input.addEventListener("focus", () => (load().catch(() => {}), answer()));
  input.addEventListener("input", answer);
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") step(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Enter" && event.target === input) list.querySelector("a")?.click();
    else if (event.key === "Escape") { input.value = ""; show([], ""); input.focus(); }
    else return;
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  });
  list.addEventListener("click", () => show([], ""));
  document.addEventListener("click", (event) => box.contains(event.target) || show([], ""));
  box.addEventListener("focusout", ({ relatedTarget: next }) => { if (next && !box.contains(next)) show([], ""); });
})();
