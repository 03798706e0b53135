// Has the browser make a passkey, or sign with one, before a form is sent that says so. What comes of it is sent with the form.
"use strict";

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const toText = (buffer) => btoa(Array.from(new Uint8Array(buffer), (b) => String.fromCharCode(b)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const named = (list) => (list || []).map((one) => ({ ...one, id: toBytes(one.id) }));

// reason is what the page says of an error.
const reason = (name) => document.querySelector(`[data-wrong-is="${name}"]`)?.textContent;

// ask gives what the browser says, as JSON.
async function ask(kind, options) {
  if (!window.PublicKeyCredential) {
    throw new DOMException("", "SecurityError");
  }
  options.challenge = toBytes(options.challenge);
  if (kind === "create") {
    options.user.id = toBytes(options.user.id);
    options.excludeCredentials = named(options.excludeCredentials);
  } else {
    options.allowCredentials = named(options.allowCredentials);
  }
  const made = await navigator.credentials[kind]({ publicKey: options });
  const response = {};
  for (const part of ["clientDataJSON", "attestationObject", "authenticatorData", "signature"]) {
    if (made.response[part]) {
      response[part] = toText(made.response[part]);
    }
  }
  return JSON.stringify({ id: made.id, rawId: toText(made.rawId), type: made.type, response });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wrong = form.querySelector("[data-wrong]");
    wrong.textContent = "";
    try {
      form.elements.answer.value = await ask(form.dataset.passkey, JSON.parse(form.dataset.options));
    } catch (error) {
      wrong.textContent = reason(error.name) || `${reason("")} (${error.name})`;
      delete form.dataset.sent;
      form.removeAttribute("aria-busy");
      return;
    }
    form.submit();
  });
}
