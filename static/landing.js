// Counts characters and shows the price on the button. The server validates the form in any case.
"use strict";

const query = document.querySelector("#query");
const limit = document.querySelector("#query-limit");
const announcement = document.querySelector("#query-announcement");
const button = document.querySelector("form button");
const maxLength = Number(query.dataset.maxLength);
const number = new Intl.NumberFormat("en");
let timer = 0;

function updateCount() {
  // Code points, as the server counts: `length` would count UTF-16 code units.
  const length = Array.from(query.value).length;
  const over = length - maxLength;
  limit.textContent = over > 0
    ? `${number.format(length)} of ${number.format(maxLength)} characters: ${number.format(over)} too many.`
    : `${number.format(length)} of ${number.format(maxLength)} characters.`;
  limit.classList.toggle("over", over > 0);
  // Screen readers announce it only near the limit, and after a pause in typing.
  clearTimeout(timer);
  timer = setTimeout(() => { announcement.textContent = over > -200 ? limit.textContent : ""; }, 1000);
}

function updateButton() {
  const chosen = document.querySelector("[name=tier]:checked");
  button.textContent = button.dataset.text + (chosen ? ` · ${chosen.dataset.price}` : "");
  button.removeAttribute("aria-disabled");
}

query.addEventListener("input", updateCount);
for (const tier of document.querySelectorAll("[name=tier]")) tier.addEventListener("change", updateButton);
document.querySelector("form").addEventListener("submit", (event) => {
  if (button.hasAttribute("aria-disabled")) event.preventDefault(); // double click
  button.setAttribute("aria-disabled", "true");
  button.textContent = "Opening the payment page …";
});
// Also when the browser restores the page after going back from Stripe.
window.addEventListener("pageshow", () => { updateCount(); updateButton(); });
