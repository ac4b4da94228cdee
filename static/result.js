// Polls the result page and replaces its article when it has changed, until it is final.
// The server renders every state; this only fetches the same page again.
"use strict";

const MAX_INTERVAL = 15; // seconds between two requests
let interval = 0;
let timer = 0;

function schedule() {
  const article = document.querySelector("article[data-refresh-after]");
  if (!article) return;
  const requested = Number(article.dataset.refreshAfter);
  interval = Math.max(requested, Math.min(interval * 1.2, MAX_INTERVAL));
  timer = setTimeout(poll, interval * 1000);
}

async function poll() {
  timer = 0;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.querySelector("article");
    const old = document.querySelector("article");
    if (fresh && fresh.outerHTML !== old.outerHTML) {
      replace(old, document.adoptNode(fresh));
      document.title = page.title;
    }
  } catch {
    // Offline: the next request will tell.
  }
  schedule();
}

function replace(old, fresh) {
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(fresh);
  interval = 0;
  // Without this, keyboard users would start again at the top of the page.
  if (hadFocus) fresh.querySelector("h1").focus();
  if (fresh.dataset.announcement !== old.dataset.announcement) {
    document.querySelector("#announcement").textContent = fresh.dataset.announcement;
  }
}

// Browsers throttle the timers of hidden tabs, so poll at once when the tab is shown again.
document.addEventListener("visibilitychange", () => {
  const article = document.querySelector("article");
  if (document.hidden || !timer || Number(article.dataset.refreshAfter) > MAX_INTERVAL) return;
  clearTimeout(timer);
  poll();
});

schedule();
