// A field that offers what one may mean while one types.

import { el, fresh, replace } from "../dom.js";

const PAUSE_MS = 120;

/** `offer(text, signal)` gives [{ value, said, more }]; `chosen(value)` is told what was taken, or what was typed. */
export function combobox({ label, placeholder = "", offer, chosen, first = false }) {
  const id = fresh("offers");
  const list = el("ul", { role: "listbox", id, class: "offers", "aria-label": label, hidden: true });
  const field = el("input", { type: "text", class: "field mono", role: "combobox", "aria-label": label, placeholder, "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", data: first ? { first: "" } : {} });
  const box = el("div", { class: "combobox" }, field, list);
  let offers = [], at = -1, pause = 0, asking = new AbortController();

  const close = () => { list.hidden = true; at = -1; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); };
  const take = (value) => { clearTimeout(pause); asking.abort(); field.value = value; close(); chosen(value); };
  function mark(next) {
    at = offers.length ? (next + offers.length) % offers.length : -1;
    [...list.children].forEach((each, index) => each.setAttribute("aria-selected", index === at));
    if (at >= 0) { field.setAttribute("aria-activedescendant", `${id}-${at}`); list.children[at].scrollIntoView({ block: "nearest" }); }
  }
  async function ask() {
    asking.abort();
    asking = new AbortController();
    if (!field.value.trim()) { close(); return; }
    try { offers = await offer(field.value.trim(), asking.signal); } catch { return; }
    at = -1;
    replace(list, offers.map((each, index) => el("li", { role: "option", id: `${id}-${index}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); take(each.value); } }, el("b", {}, each.said || each.value), " ", el("span", { class: "quiet" }, each.more || ""))));
    list.hidden = !offers.length || document.activeElement !== field;
    field.setAttribute("aria-expanded", !list.hidden);
  }
  field.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(ask, PAUSE_MS); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && !list.hidden) mark(at + 1);
    else if (event.key === "ArrowUp" && !list.hidden) mark(at - 1);
    else if (event.key === "Enter") take(at >= 0 ? offers[at].value : field.value.trim());
    else if (event.key === "Escape" && !list.hidden) { close(); event.stopPropagation(); }
    else return;
    event.preventDefault();
  });
  return { element: box, field };
}
