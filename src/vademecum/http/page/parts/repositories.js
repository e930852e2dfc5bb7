// Which repository is meant, where several are served.

import { get } from "../api.js";
import { el, fresh } from "../dom.js";

let known;

/** A choice that is there only where there is one. `changed(name)`; "" is the first. */
export function repositories(changed) {
  const field = el("select", { class: "field", id: fresh("repo"), onchange: () => changed(field.value) });
  const element = el("div", { class: "labelled repo-choice", hidden: true }, el("label", { for: field.id }, "Repository"), field);
  let wanted = "";
  known ||= get("/repos").then((answer) => answer.items).catch(() => []);
  known.then((items) => {
    field.append(...items.map((each, index) => el("option", { value: index ? each.name : "" }, each.name)));
    element.hidden = items.length < 2;
    field.value = wanted;
  });
  return { element, set: (repo) => { wanted = repo; field.value = repo; } };
}
