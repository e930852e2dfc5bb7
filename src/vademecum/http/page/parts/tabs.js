// Tabs: arrow keys go between them, and which one is open stands in the address.

import { el, fresh } from "../dom.js";

/** `names`: [value, title]. `changed(value)` is told of a choice; `set(value)` shows one. */
export function tabs(label, names, changed) {
  const id = fresh("tab");
  const buttons = names.map(([value, title]) => el("button", { type: "button", role: "tab", id: `${id}-${value}`, "aria-controls": `${id}-panel`, onclick: () => changed(value) }, title));
  const bar = el("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], here = buttons.indexOf(event.target);
    if (!step || here < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[(here + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  } }, buttons);
  const panel = el("div", { role: "tabpanel", id: `${id}-panel` });
  return { bar, panel, set: (value) => {
    buttons.forEach((button, index) => {
      const on = names[index][0] === value;
      button.setAttribute("aria-selected", on);
      button.tabIndex = on ? 0 : -1;
      if (!on) return;
      panel.setAttribute("aria-labelledby", button.id);
      button.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  } };
}

/** A few values of which one holds. */
export function choice(legend, options, changed) {
  const group = fresh("choice"), inputs = options.map(([value]) => el("input", { type: "radio", name: group, id: fresh("o"), value, onchange: () => changed(value) }));
  return {
    element: el("fieldset", { class: "segments" }, el("legend", { class: "unseen" }, legend), options.map(([, said], index) => [inputs[index], el("label", { for: inputs[index].id }, said)])),
    set: (value) => { for (const input of inputs) input.checked = input.value === value; },
  };
}
