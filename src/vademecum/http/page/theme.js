// Runs before anything is drawn, so that a chosen theme does not flash. Storage may be forbidden: then the system's holds.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch { /* the system's theme it is */ }
