// Every setting that holds, and where it comes from.

import { get } from "../api.js";
import { el, fresh, replace } from "../dom.js";
import { plural } from "../format.js";
import { empty, within } from "../parts/dialog.js";

export const title = "Settings";

export function open(main, parameters) {
  const asking = new AbortController();
  const field = el("input", { type: "search", class: "field", id: fresh("settings"), placeholder: "search.k, llm, …", autocomplete: "off", value: parameters.get("q") || "", oninput: () => show(), data: { first: "" } });
  const changed = el("input", { type: "checkbox", id: fresh("changed"), onchange: () => show() });
  const body = el("div", {}, el("div", { class: "skeleton", "aria-hidden": "true" }, el("div", {}), el("div", {})));
  let known = null;
  replace(main, el("div", { class: "settings-view" },
    el("div", { class: "view-head" }, el("h1", {}, "Settings"), el("p", { class: "quiet", id: "settings-count", role: "status" })),
    el("div", { class: "bar-row" }, el("div", { class: "labelled when" }, el("label", { for: field.id }, "Find"), field), el("div", { class: "check" }, changed, el("label", { for: changed.id }, "Only what is not a default"))), body));

  function show() {
    if (!known) return;
    const wanted = field.value.trim().toLowerCase();
    const rows = Object.entries(known.settings).filter(([key, { origin, about }]) => `${key} ${about}`.toLowerCase().includes(wanted) && (!changed.checked || origin !== "default"));
    document.getElementById("settings-count").textContent = plural(rows.length, "setting");
    const sections = new Map();
    for (const [key, each] of rows) sections.set(key.split(".")[0], [...(sections.get(key.split(".")[0]) || []), [key, each]]);
    replace(body,
      known.warnings?.length ? el("ul", { class: "warnings" }, known.warnings.map((each) => el("li", {}, el("span", { class: "tag warn" }, "warning"), " ", each))) : "",
      rows.length ? [...sections].map(([name, items]) => el("section", { class: "setting-section" }, el("h2", { id: `section-${name}` }, name),
        el("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": `section-${name}` }, el("table", { class: "settings" }, el("colgroup", {}, el("col", { class: "key" }), el("col", {}), el("col", { class: "origin" })), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Setting"), el("th", { scope: "col" }, "Value"), el("th", { scope: "col" }, "Set by"))),
          el("tbody", {}, items.map(([key, { value, origin, about }]) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: "mono" }, key), about ? el("p", { class: "quiet" }, about.split("`").map((part, n) => (n % 2 ? el("code", {}, part) : part))) : ""), el("td", { class: "mono" }, value === "" ? el("span", { class: "quiet" }, "not set") : String(value)), el("td", {}, el("span", { class: `tag ${origin === "default" ? "" : "good"}` }, origin)))))))))
        : empty("No setting is like this", changed.checked ? "Every setting is a default." : "Look for a part of its name or of its description."),
      el("p", { class: "quiet foot" }, "Settings are changed in these places, of which a later one wins: the user's file, the repository's .vade.toml, the environment, options. The data lies in ", el("code", {}, known.home), "."));
  }

  within(body, async () => { known = await get("/settings", {}, asking.signal); show(); });
  return { update: () => {}, close: () => asking.abort() };
}
