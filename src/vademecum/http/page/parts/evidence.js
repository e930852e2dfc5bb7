// One piece of evidence: where it is, what it says, whether it still holds, and why it stands where it does.

import { el, fresh } from "../dom.js";
import { parts, short } from "../format.js";
import { link } from "../router.js";
import { split } from "./before.js";
import { marks, snippet } from "./code.js";
import { toast } from "./dialog.js";

const FRESHNESS = {
  fresh: "The file holds exactly these lines",
  edited: "The file changed since it was indexed; these lines were read just now",
  stale: "The file is gone or cannot be read; these lines are what was indexed",
};
const SIGNALS = {
  lexical: "words in common", dense: "close in meaning", definition: "defines a name asked for", path: "words in the path",
  history: "words of past commits that changed the file",
  prior: "kind of file", file: "the file, by the fitted ranker", piece: "the chunk, by the fitted ranker", worth: "what its lines are worth among all",
  words: "words in common", meaning: "close in meaning", speaker: "who said it", recency: "how recent", usage: "how often it was of use",
  standing: "stands, whatever is asked of it",
};
const MOST_NAMES = 3;

/** A place as a link to the file, folder quieter than name. */
export function place(item, { line = item.start_line, end = item.end_line } = {}) {
  const [folder, name] = parts(item.path);
  return el("a", { class: "place", href: link("file", { path: item.path, lines: end > line ? `${line}-${end}` : line || "", repo: item.repo }) },
    el("bdi", {}, el("span", { class: "folder" }, folder), el("b", {}, name)), line ? el("span", { class: "lines" }, `:${line}${end > line ? `-${end}` : ""}`) : "");
}

/** Signals as bars; `most` gives the greatest value of each among the results. */
export function why(signals, most = {}, score) {
  const rows = Object.entries(signals).sort(([a], [b]) => order(a) - order(b));
  return el("div", { class: "why" },
    el("p", { class: "why-title" }, "Why it is here", score === undefined ? "" : el("span", { class: "quiet" }, ` · score ${short(score)}`)),
    el("table", {}, el("tbody", {}, rows.map(([name, value]) => el("tr", {},
      el("th", { scope: "row" }, name), el("td", { class: "bar-cell" }, bar(value, most[name] || Math.abs(value) || 1)), el("td", { class: "figure" }, short(value)), el("td", { class: "quiet" }, SIGNALS[name] || ""))))));
}
const ORDER = Object.keys(SIGNALS);
const order = (name) => (ORDER.indexOf(name) + 1 || 99);

/** A share of a greatest value as a thin bar. */
export function bar(value, most = 1, kind = "") {
  const inner = el("span", { class: `bar-fill ${kind} ${value < 0 ? "negative" : ""}` });
  inner.style.width = `${Math.max(0, Math.min(100, 100 * Math.abs(value) / (most || 1)))}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, inner);
}

/** The greatest value of each signal. */
export function greatest(items) {
  const most = {};
  for (const { signals } of items) for (const [name, value] of Object.entries(signals)) most[name] = Math.max(most[name] || 0, Math.abs(value));
  return most;
}

/** The names a result declares, members of a named one left out. */
function declared({ symbols = [] }) {
  return symbols.filter((name, at) => !symbols.slice(0, at).some((known) => name.startsWith(`${known}.`)));
}

/** A card: a heading over exactly the lines it names; of a place alone these are fetched on demand. It has `toggle()`, `explain()`, `href` and `item` for the keys, and `follows(text)`, which says what stands before it in its file. */
export function card(item, { question = "", most = {}, several = false, commit = "" } = {}) {
  const id = fresh("place"), marked = question ? marks(question) : null, names = declared(item);
  let text = item.snippet, before = "", told = null;
  const code = () => snippet(text, item.language, item.start_line, { marked, before, label: `Code of ${item.path}, from line ${item.start_line}` });
  const body = el("div", { class: "card-code" }, text ? code() : null);
  function follows(said) {
    before = said;
    body.firstChild?.replaceChildren(...code().children);  // its focus and its place stay
  }
  const opens = text ? "" : el("button", { type: "button", class: "quiet-button", "aria-expanded": "false", onclick: () => toggle() }, "Lines");
  async function toggle() {
    if (!opens) return;
    if (body.firstChild) body.replaceChildren();
    else {
      try { [before, text] = await split(item, commit); } catch (error) { toast([error.message, error.fix].filter(Boolean).join(": ")); return; }
      body.replaceChildren(code());
    }
    opens.setAttribute("aria-expanded", Boolean(body.firstChild));
  }
  const asks = el("button", { type: "button", class: "quiet-button", "aria-expanded": "false", onclick: () => explain() }, "Why");
  function explain() {
    if (told) { told.remove(); told = null; } else { told = why(item.signals, most, item.score); body.before(told); }
    asks.setAttribute("aria-expanded", Boolean(told));
  }
  const copy = el("button", { type: "button", class: "quiet-button", onclick: async () => {
    const text = `${item.path}:${item.start_line}-${item.end_line}`;
    try { await navigator.clipboard.writeText(text); toast("Copied the place"); } catch { toast(`Copying is not allowed here: ${text}`); }
  } }, "Copy");
  const symbol = names[0];
  const element = el("article", { class: "card", tabindex: "-1", "aria-labelledby": id },
    el("header", { class: "card-head" },
      el("h2", { id, class: "card-place" }, several ? el("span", { class: "repo" }, item.repo, " ") : "", place(item)),
      item.freshness === "fresh" ? "" : el("span", { class: `tag ${item.freshness === "stale" ? "bad" : "warn"}`, title: FRESHNESS[item.freshness] }, item.freshness),
      el("span", { class: "card-kind" }, names.slice(0, MOST_NAMES).map((name, at) => [at ? ", " : "", el("bdi", {}, name)]), " ", el("span", { class: "quiet" }, names.length > 1 ? "" : item.kind === "window" ? item.language : item.kind)),
      el("span", { class: "card-actions" }, opens, Object.keys(item.signals || {}).length ? asks : "", symbol ? el("a", { class: "quiet-button", href: link("graph", { symbol, repo: item.repo }) }, "Graph") : "", copy)),
    body);
  return Object.assign(element, { toggle, explain, follows, item, href: link("file", { path: item.path, lines: `${item.start_line}-${item.end_line}`, repo: item.repo }) });
}

const VERDICTS = {
  resolved: ["Resolved", "good", "the answer is here"],
  likely: ["Likely", "good", "the answer is probably among these"],
  ambiguous: ["Ambiguous", "warn", "several places could be meant, or none"],
  not_found: ["Not found", "bad", "the answer is not here"],
};

/** How far to trust an answer. `searched` is what was looked at, in words. */
export function verdict(answer, searched) {
  const [name, kind, meaning] = VERDICTS[answer.verdict] || [answer.verdict, "", ""];
  return el("p", { class: "verdict" },
    el("span", { class: `badge ${kind}` }, name), el("span", { class: "meter" }, bar(answer.probability, 1, kind), el("span", { class: "figure" }, answer.probability.toFixed(2))),
    el("span", {}, answer.reason || meaning), searched && !/\bsearched\b/.test(answer.reason) ? el("span", { class: "quiet" }, searched) : "");
}
