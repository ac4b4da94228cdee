// Looks again by itself and takes over what has changed, until there is nothing to wait for.
// The server renders every state; this only fetches the same page and swaps its article.
"use strict";

const LONGEST = 15; // seconds between two looks, after a while
let pause = 0;
let timer = 0;

function wait() {
  const article = document.querySelector("article[data-look-again]");
  if (!article) return;
  const asked = Number(article.dataset.lookAgain);
  pause = Math.max(asked, Math.min(pause * 1.2, LONGEST));
  timer = setTimeout(look, pause * 1000);
}

async function look() {
  timer = 0;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("article");
    const old = document.querySelector("article");
    if (fresh && fresh.outerHTML !== old.outerHTML) {
      show(old, document.adoptNode(fresh));
      document.title = page.title;
    }
  } catch {
    // Offline for a moment: the next look will tell.
  }
  wait();
}

function show(old, fresh) {
  const focused = old.contains(document.activeElement);
  old.replaceWith(fresh);
  pause = 0;
  // Whoever was inside the article is not thrown back to the top of the page.
  if (focused) fresh.querySelector("h1").focus();
  if (fresh.dataset.says !== old.dataset.says) {
    document.querySelector("#said").textContent = fresh.dataset.says;
  }
}

// Browsers slow down the clock of a tab that nobody looks at.
document.addEventListener("visibilitychange", () => {
  if (document.hidden || !timer || Number(document.querySelector("article").dataset.lookAgain) > LONGEST) return;
  clearTimeout(timer);
  look();
});

wait();
