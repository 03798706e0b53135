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
});
