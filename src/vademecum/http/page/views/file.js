// A file, as it is on disk now, with the lines that were asked for marked.

import { get } from "../api.js";
import { el, replace } from "../dom.js";
import { plural } from "../format.js";
import { file } from "../parts/code.js";
import { within } from "../parts/dialog.js";
import { go, link } from "../router.js";

export const title = "File";

// Where one came from; whoever opened a shared address came from nowhere.
const back = () => (history.length > 1 ? history.back() : go("search"));

export function open(main, parameters) {
  const place = el("div", { class: "file-place" });
  const head = el("div", { class: "view-head file-head" });
  let shown = null, key = "";

  async function update(given) {
    const path = given.get("path") || "", repo = given.get("repo") || "", commit = given.get("commit") || "";
    const [first, last] = (given.get("lines") || "0").split("-").map(Number);
    const steps = path.split("/");
    replace(head,
      el("h1", { class: "crumbs" }, steps.map((step, number) => (number < steps.length - 1
        ? [el("a", { href: link("map", { in: steps.slice(0, number + 1).join("/"), repo }) }, el("bdi", {}, step)), el("span", { class: "slash" }, "/")]
        : el("bdi", {}, step))), first ? el("span", { class: "lines" }, `:${first}${last > first ? `-${last}` : ""}`) : ""),
      el("p", { class: "head-actions" }, el("a", { class: "button", href: link("graph", { path, repo }) }, "Graph of this file"), el("button", { type: "button", class: "button", onclick: back }, "Back")));
    if (key === `${repo}:${path}:${commit}` && shown) { shown.scrollTo(first || 1); return; }
    key = `${repo}:${path}:${commit}`;
    await within(place, async () => {
      const answer = await get("/open", { target: path, repo, commit });
      shown?.close();
      shown = file(answer.snippet, answer.language, { first, last: last || first, label: `${answer.path}, ${plural(answer.end_line, "line")}` });
      replace(place, shown.element, el("p", { class: "quiet file-foot" }, `${plural(shown.count, "line")} · ${answer.language} · ${answer.branch || "no branch"} ${answer.commit.slice(0, 10)}${answer.commit.endsWith("+edited") ? ", edited since" : ""}`));
      shown.scrollTo(first || 1);
    });
  }
  replace(main, el("div", { class: "file-view" }, head, place));
  update(parameters);
  return { update, close: () => shown?.close(), keys: [["b", "back", back], ["c", "graph of this file", () => go("graph", { path: parameters.get("path") || "" })]] };
}
