// Looks again by itself and takes over what has changed, until there is nothing to wait for.
// The server renders every state; this only fetches the same page and swaps its article.
"use strict";

const LONGEST = 30; // seconds between two looks, after a while
let pause = 0;

function wait() {
  const article = document.querySelector("article[data-look-again]");
  if (!article) return;
  const asked = Number(article.dataset.lookAgain);
  pause = Math.max(asked, Math.min(pause * 1.3, LONGEST));
  setTimeout(look, pause * 1000);
}

async function look() {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const old = document.querySelector("article");
    const fresh = page.querySelector("article");
    if (fresh && fresh.outerHTML !== old.outerHTML) {
      old.replaceWith(document.adoptNode(fresh));
      document.title = page.title;
      pause = 0;
    }
  } catch {
    // Offline for a moment: the next look will tell.
  }
  wait();
}

wait();
