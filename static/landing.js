// What the form can say while it is being filled in. Without this it says so afterwards.
"use strict";

const query = document.querySelector("#query");
const limit = document.querySelector("#query-limit");
const said = document.querySelector("#query-said");
const button = document.querySelector("form button");
const longest = Number(query.dataset.longest);
const number = new Intl.NumberFormat("en");
let timer = 0;

function count() {
  // As the server counts: characters, not the halves that some are stored as.
  const length = Array.from(query.value).length;
  const over = length - longest;
  limit.textContent = over > 0
    ? `${number.format(length)} of ${number.format(longest)} characters: ${number.format(over)} too many.`
    : `${number.format(length)} of ${number.format(longest)} characters.`;
  limit.classList.toggle("over", over > 0);
  // Read out only near the limit, and only once somebody pauses.
  clearTimeout(timer);
  timer = setTimeout(() => { said.textContent = over > -200 ? limit.textContent : ""; }, 1000);
}

function price() {
  const chosen = document.querySelector("[name=tier]:checked");
  button.textContent = button.dataset.says + (chosen ? ` · ${chosen.dataset.price}` : "");
  button.removeAttribute("aria-disabled");
}

query.addEventListener("input", count);
for (const tier of document.querySelectorAll("[name=tier]")) tier.addEventListener("change", price);
document.querySelector("form").addEventListener("submit", (event) => {
  if (button.hasAttribute("aria-disabled")) event.preventDefault(); // pressed twice
  button.setAttribute("aria-disabled", "true");
  button.textContent = "Opening the payment page …";
});
// Also when somebody comes back from the payment page.
window.addEventListener("pageshow", () => { count(); price(); });
