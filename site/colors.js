// Applies the colors that the reader chose on the page; without a choice the system's preference holds.
try {
  const chosen = localStorage.getItem("colors");
  if (chosen === "dark" || chosen === "light") document.documentElement.setAttribute("data-colors", chosen);
} catch { /* Storage may be forbidden. */ }
