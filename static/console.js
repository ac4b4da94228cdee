// Keyboard shortcuts: n next case, c claim, r resolve. Ignored while typing in a field.
"use strict";

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (target.matches("textarea, input")) {
    target.scrollIntoView({ block: "center" });
    target.focus();
  } else {
    target.click();
  }
});

// Prevents a form from being submitted twice.
document.addEventListener("submit", (event) => {
  if (!event.target.closest(".c-page")) return;
  if (event.target.dataset.submitted) event.preventDefault();
  event.target.dataset.submitted = "1";
});
// A page restored from the back/forward cache can be submitted again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-submitted]")) delete form.dataset.submitted;
});
