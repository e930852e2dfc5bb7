// A question that has to be answered before one goes on, and a short word about what was done.

import { el, fresh, replace } from "../dom.js";

/** Ask. `actions`: [label, function, class]; the last is the safe one and has the focus at first. */
export function dialog({ title, body, actions, onclose = () => {} }) {
  const id = fresh("dialog");
  const box = el("dialog", { "aria-labelledby": id, onclose: () => { box.remove(); onclose(); } },
    el("h2", { id }, title), el("div", { class: "dialog-body" }, body),
    el("div", { class: "actions" }, actions.map(([label, act, kind], number) => el("button", { type: "button", class: `button ${kind || ""}`, autofocus: number === actions.length - 1, onclick: () => { box.close(); act(); } }, label))));
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  return box;
}

/** Ask for the server's key. Returns it, or "" where there is none. */
export function keyDialog(again) {
  return new Promise((resolve) => {
    const field = el("input", { type: "password", class: "field", id: fresh("key"), autocomplete: "off" });
    let given = "";
    const send = () => { given = field.value.trim(); box.close(); };
    const form = el("form", { onsubmit: (event) => { event.preventDefault(); send(); } },
      el("p", {}, again ? "The server does not take this key." : "This server wants a key."), el("label", { for: field.id }, "Key"), field,
      el("p", { class: "quiet" }, "It is kept until this tab is closed."));
    const box = dialog({ title: "Who is asking?", body: form, actions: [["Cancel", () => {}]], onclose: () => resolve(given) });
    box.querySelector(".actions").append(el("button", { type: "button", class: "button primary", onclick: send }, "Send"));
    field.focus();
  });
}

const SHOWN_MS = 6000;

/** Say shortly what was done; `undo`, a label and a function, stays for as long as the focus is on it. */
export function toast(text, undo) {
  const note = el("p", { class: "toast" }, text, undo ? [" ", el("button", { type: "button", class: "quiet-button", onclick: () => { note.remove(); undo[1](); } }, undo[0])] : "");
  document.getElementById("toasts").append(note);
  const end = () => (note.contains(document.activeElement) || note.matches(":hover") ? setTimeout(end, SHOWN_MS) : note.remove());
  setTimeout(end, undo ? 2 * SHOWN_MS : SHOWN_MS);
}

/** What went wrong and what to do, in the place where the answer would stand. */
export function problem(error, again) {
  return el("div", { class: "problem", role: "alert" },
    el("p", { class: "problem-title" }, error.message || "Something went wrong"),
    error.fix ? el("p", {}, error.fix) : "",
    again ? el("button", { type: "button", class: "button", onclick: again }, "Try again") : "");
}

/** On a phone a panel stands below its list: what was chosen comes onto the screen. */
export function bring(panel) {
  if (matchMedia("(max-width: 560px)").matches) panel.scrollIntoView({ block: "nearest" });
}

/** Nothing is here, and what to do about it. */
export const empty = (title, ...said) => el("div", { class: "empty-state" }, el("p", { class: "empty-title" }, title), said.map((each) => el("p", {}, each)));

/** Run `work` while `box` shows that it is busy; a problem is shown in its place. Returns what it gave, or undefined. */
export async function within(box, work) {
  box.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") replace(box, problem(error, () => within(box, work)));
    return undefined;
  } finally {
    box.removeAttribute("aria-busy");
  }
}
