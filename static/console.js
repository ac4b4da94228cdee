// One key, one thing: n the next case, c claim, r resolve. Never while somebody is typing.
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

// A second press while the first is under way does nothing.
document.addEventListener("submit", (event) => {
  if (!event.target.closest(".c-page")) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-sent]")) delete form.dataset.sent;
});
