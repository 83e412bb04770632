// Applies the colors that the reader chose on the page; without a choice the system's preference holds.
// The page's first text answers Plan without a scenario, so at another address it is hidden until the program has the right one.
if (!/^(\?view=plan)?$/.test(location.search) || location.hash) document.documentElement.setAttribute("data-asked", "");
try {
  const chosen = localStorage.getItem("colors");
  if (chosen === "dark" || chosen === "light") document.documentElement.setAttribute("data-colors", chosen);
} catch { /* Storage may be forbidden. */ }
