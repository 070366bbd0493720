/* The documentation page: trying routes, finding them. All there is to read works without this file. */
(() => {
  const key = document.getElementById("key");
  const show = (element) => { if (element) element.hidden = false; };
  show(document.getElementById("key-form"));
  show(document.querySelector(".find-routes"));
  // The key is in the field and in headers, nowhere else: no form of this page is ever submitted.
  document.addEventListener("submit", (event) => event.preventDefault());

  const target = (form) => {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll("[data-place]")) {
      const value = field.value.trim();
      if (field.dataset.place === "path") {
        if (!value) { field.focus(); throw new Error(`Fill in ${field.dataset.name}`); }
        path = path.replace(`{${field.dataset.name}}`, encodeURIComponent(value));
      }
      if (field.dataset.place === "query" && value) query.append(field.dataset.name, value);
    }
    return query.size ? `${path}?${query}` : path;
  };

  const pretty = (text, type) => {
    if (!type.includes("json")) return text;
    try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
  };

  const send = async (form) => {
    const status = form.querySelector(".try-status");
    const answer = form.querySelector(".try-answer");
    const say = (text, good) => { status.textContent = text; status.classList.toggle("bad", !good); };
    const headers = { Accept: "application/json" };
    const body = form.querySelector("[data-place=body]");
    try {
      const address = target(form);
      if ("keyed" in form.dataset) {
        if (!key.value.trim()) { key.focus(); throw new Error("Enter your key first, at the top of the page"); }
        headers.Authorization = `Bearer ${key.value.trim()}`;
      }
      if (body) headers["Content-Type"] = "application/json";
      say("Sending", true);
      const began = performance.now();
      const reply = await fetch(address, {
        method: form.dataset.method, headers, body: body?.value, credentials: "omit", cache: "no-store", redirect: "error",
      });
      const text = await reply.text();
      say(`${reply.status}, ${Math.round(performance.now() - began)} ms, ${text.length} characters`, reply.ok);
      answer.textContent = pretty(text, reply.headers.get("content-type") ?? "").slice(0, 100000);
      answer.hidden = !text;
    } catch (error) {
      say(error instanceof TypeError ? "The server could not be reached" : error.message, false);
    }
  };

  for (const form of document.querySelectorAll("form.try")) {
    show(form);
    form.addEventListener("submit", () => send(form));
  }

  // A link to a route opens it.
  const open = () => document.getElementById(location.hash.slice(1))?.closest("details.op")?.setAttribute("open", "");
  addEventListener("hashchange", open);
  open();

  const find = document.getElementById("find-routes");
  find?.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const route of document.querySelectorAll("details.op")) {
      const text = route.dataset.find.toLowerCase();
      route.hidden = !words.every((word) => text.includes(word));
      found += route.hidden ? 0 : 1;
    }
    for (const box of document.querySelectorAll(".ops, .tier")) {
      const empty = !box.querySelector("details.op:not([hidden])");
      box.hidden = empty;
      if (box.matches(".ops") && box.previousElementSibling?.matches("h3")) box.previousElementSibling.hidden = empty;
    }
    document.querySelector(".empty-find").hidden = found > 0;
    if (words.length) document.querySelector(".tier:not([hidden])")?.scrollIntoView({ block: "start" });
  });
})();
