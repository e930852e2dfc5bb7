// Ask the code a question.

import { get } from "../api.js";
import { el, fresh, replace } from "../dom.js";
import { parts, plural } from "../format.js";
import { empty, within } from "../parts/dialog.js";
import { Before } from "../parts/before.js";
import { card, greatest, verdict } from "../parts/evidence.js";
import { go, link } from "../router.js";

export const title = "Search";
const KINDS = [["all", "All"], ["code", "Code"], ["test", "Tests"], ["doc", "Docs"], ["config", "Config"]];
const FILTERS = ["kind", "lang", "path", "exclude", "regex", "repo", "commit"];
const PAUSE_MS = 250;  // after the last letter
const MORE = 4;  // times as many tokens

export function open(main, parameters) {
  const field = el("input", { type: "search", id: "question", class: "field question", placeholder: "What are you looking for?", "aria-label": "Question", autocomplete: "off", spellcheck: "false", enterkeyhint: "search", data: { first: "" } });
  const filters = new Filters(() => ask());
  const answer = el("div", { class: "answer", "aria-live": "off" });
  const told = el("p", { class: "unseen", role: "status" });
  let pause = 0, asking = new AbortController(), shown = "", entered = false, before = null;

  const state = () => ({ q: field.value.trim(), ...filters.values() });
  const ask = (instead = false) => { clearTimeout(pause); go("search", state(), { instead }); };
  field.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(() => ask(true), PAUSE_MS); });

  replace(main, el("div", { class: "search-view" },
    el("h1", { class: "unseen" }, "Search"),
    el("form", { role: "search", class: "search-form", onsubmit: (event) => event.preventDefault() }, field, filters.element), told, answer));

  async function update(given) {
    const query = Object.fromEntries(["q", ...FILTERS].map((name) => [name, given.get(name) || ""]));
    if (document.activeElement !== field) field.value = query.q;
    filters.set(query);
    const key = JSON.stringify(query);
    if (key === shown) return;
    shown = key;
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    if (!query.q) {
      await within(answer, () => beginning(answer, signal));
      return;
    }
    if (!answer.querySelector(".results")) replace(answer, el("div", { class: "skeleton", "aria-hidden": "true" }, [1, 2, 3].map(() => el("div", {}))));
    await seek(query);
    dispatchEvent(new Event("answered"));
  }

  const seek = (query, budget) => within(answer, async () => show(await get("/search", { ...query, kind: query.kind || undefined, budget }, asking.signal), query));

  function show(found, query) {
    const most = greatest(found.evidence), { commit } = query, several = new Set(found.evidence.map((each) => each.repo)).size > 1;
    const narrowed = FILTERS.some((name) => query[name]);
    told.textContent = `${found.verdict.replace("_", " ")}, ${plural(found.evidence.length, "result")}`;
    replace(answer,
      verdict(found, `${plural(found.searched, "chunk")} searched${narrowed ? " within the filters" : ""}`),
      found.nearest.length ? el("p", { class: "nearest" }, "Similar names: ", found.nearest.map((name) => el("a", { class: "chip", href: link("search", { ...query, q: name }) }, name))) : "",
      facets(found.evidence, query),
      found.evidence.length ? ["results", "results places"].map((name, bare) => el("ol", { class: name }, found.evidence.filter(({ snippet }) => !snippet === Boolean(bare)).map((item) => el("li", {}, card(item, { question: query.q, most, several, commit })))))
        : empty("Nothing to show", narrowed ? el("button", { type: "button", class: "button", onclick: () => go("search", { q: query.q }) }, "Search without filters") : "Ask in other words, or by a name that stands in the code.", el("a", { href: link("index") }, "See what was left out of the index")),
      found.remembered.length ? el("section", {}, el("h2", {}, "Remembered"), el("ul", {}, found.remembered.map((said) => el("li", {}, said)))) : "",
      found.left_out && found.tokens ? el("button", { type: "button", class: "button", onclick: () => seek(query, MORE * found.tokens) }, "Show more") : "");
    before?.close();
    before = new Before(cards(), { commit, signal: asking.signal });
    if (entered) step(1);
    entered = false;
  }

  const cards = () => [...answer.querySelectorAll(".card")];
  const here = () => document.activeElement?.closest?.(".card");
  function step(by) {
    const all = cards(), at = all.indexOf(here());
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    return Boolean(next);
  }
  const on = (act) => () => { const chosen = here() || cards()[0]; if (!chosen) return false; act(chosen); return true; };
  // Enter leads into the results, as soon as they are there.
  const enter = () => { entered = Boolean(answer.closest("[aria-busy]") || answer.ariaBusy); if (!entered) step(1); };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); ask(); remember(field.value.trim()); setTimeout(enter); }
    if (event.key === "ArrowDown" && step(1)) event.preventDefault();
  });

  update(parameters);
  field.value = parameters.get("q") || "";
  if (matchMedia("(hover: hover)").matches || !field.value) field.focus();
  return {
    update,
    close: () => { clearTimeout(pause); asking.abort(); before?.close(); },
    keys: [
      ["j ArrowDown", "next result", () => step(1)], ["k ArrowUp", "previous result", () => step(-1)],
      ["Enter", "show or hide the lines of a place", (event) => (event.target.closest("a, button, summary") ? false : on((chosen) => chosen.toggle())())],
      ["o", "open the file there", on((chosen) => { location.hash = chosen.href; })],
      ["w", "why it ranks there", on((chosen) => chosen.explain())],
      ["c", "its graph", on((chosen) => { if (chosen.item.symbols[0]) go("graph", { symbol: chosen.item.symbols[0] }); })],
    ],
  };
}

/** What narrows a question. */
class Filters {
  constructor(changed) {
    const name = fresh("kind");
    this.kinds = KINDS.map(([value, said]) => el("input", { type: "radio", name, value, id: fresh("k"), checked: value === "all", onchange: () => changed() }));
    this.fields = {
      lang: el("select", { class: "field", id: fresh("f"), onchange: () => changed() }, el("option", { value: "" }, "Any language")),
      path: this.#text("src/**", changed), exclude: this.#text("vendor/**", changed), regex: this.#text("raise .*Error", changed), commit: this.#text("HEAD~3", changed),
      repo: el("select", { class: "field", id: fresh("f"), onchange: () => changed() }, el("option", { value: "" }, "Every repository")),
    };
    this.repo = this.#labelled("Repository", "repo");
    this.repo.hidden = true;
    this.details = el("details", { class: "more-filters" }, el("summary", {}, "Filters", el("span", { class: "filter-count" })));  // what it opens follows it, below the whole row
    const fields = el("div", { class: "filter-fields" }, this.#labelled("Language", "lang"), this.repo, this.#labelled("Only paths", "path"), this.#labelled("Not paths", "exclude"), this.#labelled("Matching", "regex"), this.#labelled("At commit", "commit"));
    this.element = el("div", { class: "filters" },
      el("fieldset", { class: "segments" }, el("legend", { class: "unseen" }, "Kind of file"), KINDS.map(([, said], number) => [this.kinds[number], el("label", { for: this.kinds[number].id }, said)])), this.details, fields);
    this.#offer();
  }

  #text(placeholder, changed) {
    return el("input", { type: "text", class: "field", id: fresh("f"), placeholder, autocomplete: "off", spellcheck: "false", onchange: () => changed() });
  }

  #labelled(said, name) {
    return el("div", { class: "labelled" }, el("label", { for: this.fields[name].id }, said), this.fields[name]);
  }

  async #offer() {
    try {
      const repositories = await get("/index/status");
      const languages = {};
      for (const each of repositories) for (const [language, files] of Object.entries(each.languages)) languages[language] = (languages[language] || 0) + files;
      const offered = new Set([...this.fields.lang.options].map((each) => each.value));
      this.fields.lang.append(...Object.entries(languages).sort((a, b) => b[1] - a[1]).filter(([language]) => !offered.has(language)).map(([language, files]) => el("option", { value: language }, `${language} (${files})`)));
      this.repo.hidden = repositories.length < 2 && !this.fields.repo.value;
      const known = new Set([...this.fields.repo.options].map((each) => each.value));
      this.fields.repo.append(...repositories.filter((each) => !known.has(each.repo)).map((each) => el("option", { value: each.repo }, each.repo)));
    } catch { /* without it one still searches */ }
  }

  values() {
    const kind = this.kinds.find((each) => each.checked).value;
    return { kind: kind === "all" ? "" : kind, ...Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()])) };
  }

  set(query) {
    for (const each of this.kinds) each.checked = each.value === (query.kind || "all");
    let used = 0;
    for (const [name, field] of Object.entries(this.fields)) {
      if (query[name] && field.tagName === "SELECT" && ![...field.options].some((option) => option.value === query[name])) field.append(el("option", { value: query[name] }, query[name]));
      if (document.activeElement !== field) field.value = query[name];
      used += query[name] ? 1 : 0;
    }
    this.details.querySelector(".filter-count").textContent = used || "";
    if (used && !this.details.dataset.touched) this.details.open = true;
    this.details.dataset.touched = "1";
  }
}

/** What of the results lies where, with counts; each narrows the question. */
function facets(evidence, query) {
  const counted = (of) => {
    const counts = new Map();
    for (const item of evidence) counts.set(of(item), (counts.get(of(item)) || 0) + 1);
    return counts.size > 1 ? [...counts].filter(([name]) => name).sort((a, b) => b[1] - a[1]).slice(0, 5) : [];
  };
  const chips = [
    ...counted((item) => item.repo).map(([repo, n]) => [repo, n, { repo }]),
    ...counted((item) => item.language).map(([lang, n]) => [lang, n, { lang }]),
    ...counted((item) => parts(item.path)[0]).map(([folder, n]) => [folder, n, { path: `${folder}**` }]),
  ].filter(([, , narrower]) => Object.keys(narrower).every((name) => !query[name]));
  return chips.length ? el("p", { class: "facets" }, el("span", { class: "quiet" }, "Narrow to "), chips.map(([said, n, narrower]) => el("a", { class: "chip", href: link("search", { ...query, ...narrower }) }, said, " ", el("span", { class: "quiet" }, n)))) : "";
}

// The last questions, kept by this browser alone.
const RECENT = "vademecum-recent", MOST_RECENT = 8;
function recent() {
  try { return JSON.parse(localStorage.getItem(RECENT) || "[]").filter((each) => typeof each === "string"); } catch { return []; }
}
function keep(questions) {
  try { localStorage.setItem(RECENT, JSON.stringify(questions)); } catch { /* none is kept */ }
}
const remember = (question) => { if (question) keep([question, ...recent().filter((each) => each !== question)].slice(0, MOST_RECENT)); };

const readable = (name) => name.replace(/\.\w+$/, "").replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().toLowerCase();

/** Questions that this code can answer: a name, and a file's name in words. */
function examples(entries) {
  const names = [...new Set(entries.map((each) => each.qualified).filter(Boolean))].slice(0, 2);
  const files = [...new Set(entries.map(({ path }) => readable(parts(path)[1])))].filter((said) => said.length > 3).slice(0, 2);
  return [...names, ...files.map((said) => `code for ${said}`)];
}

/** What is shown before one has asked: what there is, and where a reader might begin. */
async function beginning(answer, signal) {
  const [{ entries }, repositories] = await Promise.all([get("/graph/map", { tokens: 900 }, signal), get("/index/status", {}, signal)]);
  const ask = (said) => el("a", { class: "chip", href: link("search", { q: said }) }, said);
  const old = recent(), forget = el("button", { type: "button", class: "quiet-button", onclick: () => { keep([]); forget.closest("section").remove(); } }, "Clear");
  const files = new Map();
  for (const entry of entries) {
    const key = `${entry.repo}:${entry.path}`;
    files.set(key, [...(files.get(key) || []), entry]);
  }
  replace(answer, entries.length ? el("section", { class: "beginning" },
    el("section", { class: "home-repositories" }, repositories.map((each) => el("p", {}, el("b", {}, each.repo), " ", el("span", { class: "quiet" }, [each.branch, plural(each.files, "file"), Object.entries(each.languages).slice(0, 4).map(([language, files]) => `${language} ${files}`).join(", ")].filter(Boolean).join(" · "))))),
    el("section", {}, el("h2", {}, "Try"), el("p", {}, examples(entries).map(ask))),
    old.length ? el("section", {}, el("h2", {}, "Recent ", forget), el("p", {}, old.map(ask))) : "",
    el("h2", {}, "Where to begin"), el("p", { class: "quiet" }, "The declarations that most of the code leads to."),
    el("ul", {}, [...files.values()].slice(0, 12).map((declared) => {
      const { path, repo } = declared[0], [folder, name] = parts(path);
      return el("li", {}, el("a", { class: "place", href: link("file", { path, repo }) }, el("bdi", {}, el("span", { class: "folder" }, folder), el("b", {}, name))),
        el("ul", {}, declared.slice(0, 3).map((each) => el("li", {}, el("a", { href: link("graph", { symbol: each.qualified, repo }) }, el("code", {}, each.signature || each.qualified))))));
    }))) : empty("Nothing is indexed yet", el("a", { href: link("index") }, "Index the repository")));
}
