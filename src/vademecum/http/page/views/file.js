// A file, as it is on disk now, with the lines that were asked for marked.

import { get } from "../api.js";
import { el, replace } from "../dom.js";
import { plural } from "../format.js";
import { file } from "../parts/code.js";
import { toast, within } from "../parts/dialog.js";
import { go, link } from "../router.js";

export const title = "File";

// Where one came from; whoever opened a shared address came from nowhere.
const back = () => (history.length > 1 ? history.back() : go("search"));

// An editor of this machine opens a file of this machine only.
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

async function editor(link_, repo, path, line) {
  if (!LOCAL.has(location.hostname)) return;
  const { items } = await get("/repos");
  const { root } = items.find((each) => each.name === repo) || items[0];
  link_.href = `vscode://file${encodeURI(`${root.startsWith("/") ? "" : "/"}${root}/${path}`)}:${line || 1}`;
  link_.hidden = false;
}

async function copyLink(commit) {
  const [view, query = ""] = location.hash.split("?"), parameters = new URLSearchParams(query);
  if (commit && !commit.endsWith("+edited")) parameters.set("commit", commit);
  const permanent = `${location.origin}${location.pathname}${view}?${parameters}`;
  try { await navigator.clipboard.writeText(permanent); toast("Copied a link to these lines as they are now"); } catch { toast(`Copying is not allowed here: ${permanent}`); }
}

/** The declarations of a file, by line; those inside of another are indented. */
async function outline(box, path, repo) {
  const { items } = await get("/symbols", { path, repo, limit: 500 });
  box.hidden = !items.length;
  replace(box, el("h2", {}, "Outline"), el("ul", {}, items.map((each) => {
    const depth = Math.min(3, items.filter((other) => each.qualified.startsWith(`${other.qualified}.`)).length);
    return el("li", { class: `depth-${depth}` }, el("a", { class: "mono", href: link("file", { path, repo, lines: `${each.start_line}-${each.end_line}` }) }, each.name), " ", el("a", { class: "quiet-button", href: link("graph", { symbol: each.qualified, repo }), "aria-label": `Graph of ${each.qualified}` }, "Graph"));
  })));
}

export function open(main, parameters) {
  const place = el("div", { class: "file-place" }), aside = el("aside", { class: "outline", "aria-label": "Outline", hidden: true });
  const head = el("div", { class: "view-head file-head" });
  let shown = null, key = "", at = "";

  async function update(given) {
    const path = given.get("path") || "", repo = given.get("repo") || "", commit = given.get("commit") || "";
    const [first, last] = (given.get("lines") || "0").split("-").map(Number);
    const steps = path.split("/"), inEditor = el("a", { class: "button", hidden: true, title: "Opens VS Code" }, "Open in editor");
    replace(head,
      el("h1", { class: "crumbs" }, steps.map((step, number) => (number < steps.length - 1
        ? [el("a", { href: link("map", { in: steps.slice(0, number + 1).join("/"), repo }) }, el("bdi", {}, step)), el("span", { class: "slash" }, "/")]
        : el("bdi", {}, step))), first ? el("span", { class: "lines" }, `:${first}${last > first ? `-${last}` : ""}`) : ""),
      el("p", { class: "head-actions" }, inEditor, el("button", { type: "button", class: "button", onclick: () => copyLink(commit || at) }, "Copy link"), el("a", { class: "button", href: link("graph", { path, repo }) }, "Graph of this file"), el("button", { type: "button", class: "button", onclick: back }, "Back")));
    if (!commit) editor(inEditor, repo, path, first);
    if (key === `${repo}:${path}:${commit}` && shown) { shown.mark(first, last || first); return; }
    key = `${repo}:${path}:${commit}`;
    await within(place, async () => {
      const answer = await get("/open", { target: path, repo, commit });
      shown?.close();
      at = answer.commit;
      if (!commit) outline(aside, path, repo).catch(() => { aside.hidden = true; });
      shown = file(answer.snippet, answer.language, { label: `${answer.path}, ${plural(answer.end_line, "line")}` });
      replace(place, shown.element, el("p", { class: "quiet file-foot" }, `${plural(shown.count, "line")} · ${answer.language} · ${answer.branch || "no branch"} ${answer.commit.slice(0, 10)}${answer.commit.endsWith("+edited") ? ", edited since" : ""}`));
      shown.element.addEventListener("click", ({ target }) => { if (target.matches(".t-name, .t-call") && !String(getSelection())) go("graph", { symbol: target.textContent, repo }); });
      shown.mark(first, last || first);
    });
  }
  replace(main, el("div", { class: "file-view" }, head, el("div", { class: "file-body" }, place, aside)));
  update(parameters);
  return { update, close: () => shown?.close(), keys: [["b", "back", back], ["c", "graph of this file", () => go("graph", { path: parameters.get("path") || "" })]] };
}
