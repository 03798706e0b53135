// What pages do more of where there are scripts. Every page works without.
"use strict";

// The box for a whole table ticks those of its rows.
for (const all of document.querySelectorAll("[data-all]")) {
  const boxes = [...all.form.querySelectorAll("input[name=pick]")];
  all.addEventListener("change", () => boxes.forEach((box) => { box.checked = all.checked; }));
  for (const box of boxes) {
    box.addEventListener("change", () => { all.checked = boxes.every((one) => one.checked); });
  }
}

const language = document.documentElement.lang;

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
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    form.setAttribute("aria-busy", "true");
  });
}

// Who comes back to a page by the browser's button may send it again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
  }
  document.querySelectorAll("input[type=date]").forEach(sayDate);
});

// A page of what happens looks again every few seconds, until a person has touched it.
if (document.body.hasAttribute("data-live")) {
  let touched = false;
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
      if (!main.contains(focus) || focus === main) {
        main.dataset.shown = fresh.innerHTML;
        main.replaceChildren(...fresh.childNodes);
      }
    }
  };
  for (const kind of ["input", "toggle", "selectstart"]) {
    document.getElementById("main").addEventListener(kind, touch, true);
  }
  setInterval(again, 5000);
}
