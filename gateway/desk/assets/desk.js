// What pages do more of where there are scripts. Every page works without.
"use strict";

const language = document.documentElement.lang;
const point = new Intl.NumberFormat(language).formatToParts(0.5).find((part) => part.type === "decimal").value;

// amountText writes an amount as the server does. It is a whole number of the smallest unit of its column.
const amountText = (amount, { digits, minDigits, currency }) => {
  const text = String(amount).replace("-", "").padStart(Number(digits) + 1, "0");
  const whole = new Intl.NumberFormat(language).format(BigInt(text.slice(0, text.length - digits)));
  const fraction = text.slice(text.length - digits).replace(/0+$/, "").padEnd(minDigits, "0");
  return `${amount < 0n ? "-" : ""}${whole}${fraction && point + fraction} ${currency}`.trim();
};

// sayTicked says how many rows of a table are ticked, on the buttons too, and adds up their money to the last digit.
const sayTicked = (form) => {
  const said = form.querySelector("[data-ticked]");
  const rows = [...form.querySelectorAll("input[name=pick]:checked")].map((box) => box.closest("tr"));
  const sums = [...form.querySelectorAll("tfoot [data-digits]")].map((total, _, all) => {
    const column = total.cellIndex;
    const sum = rows.reduce((sum, row) => sum + BigInt(row.cells[column].dataset.amount), 0n);
    const head = form.querySelector("thead tr").cells[column];
    const name = all.length > 1 ? `${(head.querySelector("span:not(.hidden)") ?? head).textContent} ` : "";
    return name + amountText(sum, total.dataset);
  });
  const words = [`${rows.length} ${said.dataset.ticked}`, ...sums.length ? [sums.join(", ")] : []];
  said.textContent = rows.length ? words.join(": ") : "";
  for (const button of form.querySelectorAll("button[data-some]")) {
    button.dataset.none ??= button.textContent;
    const some = [button.dataset.some.replace("%", rows.length), ...button.matches(".main") ? words.slice(1) : []];
    button.textContent = rows.length ? some.join(" – ") : button.dataset.none;
  }
};

// The box for a whole table ticks those of its rows.
document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-all], input[name=pick]")) {
    return;
  }
  const all = target.form.querySelector("[data-all]");
  const boxes = [...target.form.querySelectorAll("input[name=pick]")];
  if (target === all) {
    boxes.forEach((box) => { box.checked = all.checked; });
  } else if (all) {
    all.checked = boxes.every((box) => box.checked);
    all.indeterminate = !all.checked && boxes.some((box) => box.checked);
  }
  sayTicked(target.form);
});

let touched = false; // a page with a person's entries does not look again

// Rows stay ticked, and reasons written, while a table is sorted. Rows that are on another page now are counted.
const sortedKey = "process-idea-sorted";
const reasons = () => [...document.querySelectorAll(".bar input[name=reason]")];
const picks = () => [...document.querySelectorAll("input[name=pick]")];
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-sort]") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    sessionStorage.setItem(sortedKey, JSON.stringify({ ticked: picks().filter((box) => box.checked).map((box) => box.value),
      reasons: reasons().map((field) => [field.id, field.value]) }));
  }
});
const kept = JSON.parse(sessionStorage.getItem(sortedKey) ?? "null");
sessionStorage.removeItem(sortedKey);
const lost = document.querySelector("[data-lost]");
if (kept && lost) {
  picks().forEach((box) => { box.checked = kept.ticked.includes(box.value); });
  reasons().forEach((field) => { field.value = new Map(kept.reasons).get(field.id) ?? field.value; });
  const lostCount = kept.ticked.length - picks().filter((box) => box.checked).length;
  lost.textContent = lostCount ? lost.dataset.lost.replace("%", lostCount) : "";
  touched = kept.ticked.length > 0 || reasons().some((field) => field.value);
}

// A browser shows the date in a field its own way. Below stands which day that is, in the page's words.
const dates = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { dateStyle: "long", timeZone: "UTC" });
const sayDate = (field) => {
  if (!field.nextElementSibling?.matches("output")) {
    field.after(Object.assign(document.createElement("output"), { className: "note" }));
  }
  field.nextElementSibling.value = field.valueAsDate ? dates.format(field.valueAsDate) : "";
};
document.addEventListener("input", ({ target }) => {
  if (target.matches("input[type=date]")) {
    sayDate(target);
  }
});

// A form is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[method=post]")) {
    return;
  }
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  form.setAttribute("aria-busy", "true");
}, true);

// Who comes back to a page by the browser's button may send it again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
  }
  for (const said of document.querySelectorAll("[data-ticked]")) {
    sayTicked(said.closest("form"));
  }
  document.querySelectorAll("input[type=date]").forEach(sayDate);
});

// A page of what happens looks again every few seconds, until a person has touched it.
if (document.body.hasAttribute("data-live")) {
  const touch = () => { touched = true; };
  const again = async () => {
    if (touched || document.hidden) {
      return;
    }
    const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
    if (!answer || answer.status !== 200 || touched) { // 202: it is not there yet
      return;
    }
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    const main = document.getElementById("main");
    if (fresh && !touched && fresh.innerHTML !== main.dataset.shown) {
      const focus = document.activeElement;
      if (!main.contains(focus) || focus.matches("[tabindex='-1']")) { // a place that a link led to
        main.dataset.shown = fresh.innerHTML;
        main.replaceChildren(...fresh.childNodes);
        document.getElementById(focus?.id)?.focus({ preventScroll: true });
      }
    }
  };
  for (const kind of ["input", "toggle", "selectstart"]) {
    document.getElementById("main").addEventListener(kind, touch, true);
  }
  setInterval(again, 5000);
}
