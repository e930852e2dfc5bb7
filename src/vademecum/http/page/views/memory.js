// What was decided, preferred and done: facts with the time in which they hold, what happened when, and recall.

import { all, get } from "../api.js";
import { el, fresh, replace } from "../dom.js";
import { chance, count, date, moment, plural, stretch } from "../format.js";
import { bring, empty, within } from "../parts/dialog.js";
import { greatest, verdict, why } from "../parts/evidence.js";
import { STATES, anchored, axis, explain, held, stateOf, time, topic } from "../parts/fact.js";
import { Grid } from "../parts/grid.js";
import { repositories } from "../parts/repositories.js";
import { choice, tabs } from "../parts/tabs.js";
import { go, link } from "../router.js";

export const title = "Memory";
const TABS = [["facts", "Facts"], ["timeline", "Timeline"], ["recall", "Recall"]];
const SHOWN = [["holds", "Holds"], ["past", "Past"], ["disputed", "Disputed"], ["rejected", "Rejected"], ["all", "All"]];
const KINDS = ["preference", "instruction", "decision", "fact", "todo", "fix"];
const START = "Agents' transcripts and commits are read with: vade memory sync. One thing is kept with: vade memory remember “…”.";

export function open(main, parameters) {
  let current = parameters, view = null, asking = new AbortController();
  const change = (more, options) => go("memory", { ...Object.fromEntries(current), ...more }, options);
  const field = el("input", { type: "search", class: "field", id: fresh("recall"), placeholder: "Ask what is remembered", "aria-label": "Ask what is remembered", autocomplete: "off", data: { first: "" } });
  const which = repositories((repo) => go("memory", { tab: current.get("tab"), repo }));
  const shelf = tabs("Memory", TABS, (tab) => go("memory", { tab: tab === "facts" ? "" : tab, repo: current.get("repo"), q: tab === "recall" ? current.get("q") || field.value.trim() : "" }));
  replace(main, el("div", { class: "memory-view" },
    el("div", { class: "view-head" }, el("h1", {}, "Memory"), el("p", { class: "quiet", id: "memory-count", role: "status" })),
    el("form", { class: "bar-row", role: "search", onsubmit: (event) => { event.preventDefault(); go("memory", { tab: "recall", q: field.value.trim(), repo: current.get("repo") }); } }, which.element, el("div", { class: "grow" }, field), el("button", { class: "button", type: "submit" }, "Recall")),
    shelf.bar, shelf.panel));

  async function update(given) {
    const tab = given.get("tab") || "facts", repo = given.get("repo") || "";
    const same = view && tab === (current.get("tab") || "facts") && repo === (current.get("repo") || "");
    current = given;
    which.set(repo);
    shelf.set(tab);
    if (document.activeElement !== field) field.value = given.get("q") || "";
    if (same && view.update) { view.update(given); return; }
    view?.close?.();
    asking.abort();
    asking = new AbortController();
    document.getElementById("memory-count").textContent = "";
    replace(shelf.panel, el("div", { class: "skeleton", "aria-hidden": "true" }, el("div", {}), el("div", {})));
    view = await within(shelf.panel, () => ({ facts: showFacts, timeline: showTimeline, recall: showRecall })[tab]?.(shelf.panel, given, { signal: asking.signal, change }));
  }
  update(parameters);
  return { update, close: () => { view?.close?.(); asking.abort(); }, keys: [
    ["f", "to the list", () => shelf.panel.querySelector("[role=grid], .recalled")?.focus()],
    ["1", "facts", () => go("memory", {})], ["2", "timeline", () => go("memory", { tab: "timeline" })], ["3", "recall", () => go("memory", { tab: "recall" })],
  ] };
}

const tell = (text) => { const place = document.getElementById("memory-count"); if (place) place.textContent = text; };

// Facts.

async function showFacts(panel, given, { signal, change }) {
  const repo = given.get("repo") || "";
  const asked = async () => (await Promise.all(["all", "rejected"].map((state) => all("/memory/facts", { state, repo }, signal)))).flat();
  let facts = await asked(), current = given;
  if (!facts.length) { replace(panel, empty("Nothing is remembered yet", START)); return {}; }
  let line = axis(facts);
  const about = el("aside", { class: "beside panel", "aria-label": "The fact that is chosen" });
  const shown = choice("Which facts", SHOWN, (value) => change({ show: value === "holds" ? "" : value, fact: "" }));
  const kind = el("select", { class: "field", id: fresh("kind"), onchange: () => change({ kind: kind.value, fact: "" }) }, el("option", { value: "" }, "Every kind"), KINDS.map((each) => el("option", { value: each }, each)));
  const choose = (id) => change({ fact: id }, { instead: true });
  const grid = new Grid({
    label: "Facts", height: 36, sorted: "last", descending: true, onselect: (fact) => choose(fact.id), onopen: (fact) => choose(fact.id), empty: "No fact is like this.",
    columns: [
      { key: "topic", title: "About", sort: topic, cell: (fact) => topic(fact) },
      { key: "value", title: "What", class: "wide", sort: (fact) => fact.value || fact.text, cell: (fact) => el("span", { title: fact.text }, fact.value || fact.text) },
      { key: "last", title: `${date(line.first)} – today`, class: "axis-cell", sort: (fact) => fact.last_at, descending: true, cell: (fact) => line.bar(fact) },
      { key: "state", title: "State", class: "extra", sort: stateOf, cell: (fact) => el("span", { class: `tag ${STATES[stateOf(fact)][1]}` }, STATES[stateOf(fact)][0]) },
      { key: "sure", title: "Sure", class: "figure extra", descending: true, sort: (fact) => fact.confidence, cell: (fact) => chance(fact.confidence) },
    ],
  });
  grid.element.classList.add("facts-grid");
  replace(panel, el("div", { class: "bar-row" }, shown.element, el("div", { class: "repo-choice" }, el("label", { class: "unseen", for: kind.id }, "Kind of fact"), kind)), el("div", { class: "two" }, grid.whole, about));

  function update(next) {
    current = next;
    const state = next.get("show") || "holds", only = next.get("kind") || "", id = next.get("fact") || "";
    shown.set(state);
    kind.value = only;
    const fits = (fact) => ((state === "rejected") === (fact.state === "rejected") && (state === "all" || state === "rejected" || (state === "past" ? stateOf(fact) === "past" : state === "disputed" ? fact.disputed && fact.valid_to === null : fact.valid_to === null))) && (!only || fact.kind === only);
    const rows = facts.filter(fits);
    const of = facts.filter((fact) => fact.state !== "rejected" || state === "rejected").length;
    tell(`${plural(rows.length, "fact")}${rows.length < of ? ` of ${count(of)}` : ""}`);
    grid.show(rows);
    if (id) { grid.choose((fact) => fact.id === id); explain(about, id, { repo, signal, changed, chosen: choose }); }
    else replace(about, el("p", { class: "quiet" }, "Choose a fact to see who said it and what held before."));
  }
  async function changed(verb) {
    facts = await asked();
    line = axis(facts);
    if (current.get("show") === "rejected" && verb !== "forget") change({ show: "" }, { instead: true });
    else if (verb === "confirm" || !current.get("fact")) update(current);
    else change({ fact: "" }, { instead: true });
  }
  update(given);
  return { update, close: () => grid.close() };
}

// The timeline.

async function showTimeline(panel, given, { signal, change }) {
  const repo = given.get("repo") || "";
  const about = el("aside", { class: "beside panel", "aria-label": "What is chosen" });
  const when = el("input", { type: "text", class: "field", id: fresh("when"), placeholder: "last week, since Monday, 2025-10", onchange: () => change({ when: when.value.trim() }) });
  const told = el("div", {});
  let grid = null, rows = [], cursor = null, loading = false, turn = 0;
  replace(panel, el("div", { class: "bar-row" }, el("div", { class: "labelled when" }, el("label", { for: when.id }, "When"), when)), told);

  async function more() {
    if (!cursor || loading) return;
    loading = true;
    const answer = await get("/memory/timeline", { repo, when: when.value.trim(), limit: 500, cursor }, signal);
    cursor = answer.next;
    rows = [...rows, ...chaptered(answer.items, rows.at(-1)?.chapter)];
    loading = false;
    grid.show(rows);
  }
  async function update(next) {
    const mine = (turn += 1);
    if (document.activeElement !== when) when.value = next.get("when") || "";
    await within(told, async () => {
      const answer = await get("/memory/timeline", { repo, when: next.get("when") || "", limit: 500 }, signal);
      if (mine !== turn) return;
      tell(plural(answer.total, "event"));
      cursor = answer.next;
      rows = chaptered(answer.items);
      grid?.close();
      if (!rows.length) { replace(told, next.get("when") ? empty("Nothing happened then", "Ask for another time, or for all of it.") : empty("Nothing is remembered yet", START)); return; }
      grid = timeline(about, more);
      replace(told, el("div", { class: "two" }, grid.whole, about));
      replace(about, el("p", { class: "quiet" }, "Choose an event to read it whole."));
      grid.show(rows);
    });
  }
  await update(given);
  return { update, close: () => grid?.close() };
}

function timeline(about, more) {
  const show = (row) => { if (row.text !== undefined) replace(about, el("section", {}, el("h2", {}, row.role), el("p", { class: "quiet" }, time(row.at, moment), row.speaker ? `, ${row.speaker}` : "", row.session ? `, session ${row.session.slice(0, 12)}` : ""), el("div", { class: "event-text" }, row.text)), Object.keys(row.metadata).length ? el("section", {}, el("h3", {}, "Metadata"), el("dl", { class: "pairs" }, Object.entries(row.metadata).map(([name, value]) => [el("dt", {}, name), el("dd", {}, shownValue(value))]))) : ""); bring(about); };
  const grid = new Grid({
    label: "Events, the latest first", height: 30, onselect: show, onopen: show, onend: more,
    columns: [
      { key: "at", title: "When", cell: (row) => (row.text === undefined ? el("b", {}, stretch(row.chapter)) : time(row.at, moment)) },
      { key: "role", title: "Who", class: "extra", cell: (row) => (row.text === undefined ? "" : el("span", { class: "tag" }, row.role)) },
      { key: "text", title: "What", class: "wide", cell: (row) => (row.text === undefined ? "" : row.text.slice(0, 300).replaceAll("\n", " ")) },
    ],
  });
  grid.element.classList.add("events-grid");
  return grid;
}

const MOST_TOLD = 20;  // of a list

function shownValue(value) {
  if (!Array.isArray(value)) return typeof value === "string" ? value : JSON.stringify(value);
  return [el("ul", {}, value.slice(0, MOST_TOLD).map((each) => el("li", {}, typeof each === "string" ? each : JSON.stringify(each)))), value.length > MOST_TOLD ? el("span", { class: "quiet" }, `and ${count(value.length - MOST_TOLD)} more`) : ""];
}

// Events with a row before each new chapter.
function chaptered(events, last) {
  const rows = [];
  for (const event of events) {
    if (event.chapter !== last) rows.push({ chapter: event.chapter });
    last = event.chapter;
    rows.push(event);
  }
  return rows;
}

// Recall.

async function showRecall(panel, given, { signal }) {
  const repo = given.get("repo") || "", q = given.get("q") || "";
  const update = (next) => within(panel, () => showRecall(panel, next, { signal }));
  if (!q) { replace(panel, empty("Ask what is remembered", "For instance: which database did we choose, and why?")); return { update }; }
  const found = await get("/memory/recall", { q, repo }, signal), most = greatest(found.evidence);
  tell("");
  replace(panel, verdict(found, `${plural(found.searched, "event")} searched`),
    found.evidence.length ? el("ol", { class: "results recalled", tabindex: "-1" }, found.evidence.map((item) => el("li", {}, remembered(item, most, repo)))) : empty("Nothing like this is remembered", START));
  return { update };
}

function remembered(item, most, repo) {
  const { event } = item, told = el("div", { hidden: true }, why(item.signals, most, item.score));
  const asks = el("button", { type: "button", class: "quiet-button", "aria-expanded": "false", onclick: () => { told.hidden = !told.hidden; asks.setAttribute("aria-expanded", !told.hidden); } }, "Why");
  const fact = (each) => el("li", {}, el("a", { href: link("memory", { fact: each.id, show: "all", repo }) }, each.value || each.text), el("span", { class: "quiet" }, " ", topic(each), ", ", held(each)));
  return el("article", { class: "card" },
    el("header", { class: "card-head" }, el("h2", { class: "card-place" }, time(event.at, moment)), el("span", { class: "tag" }, event.speaker || event.role), item.scope === "global" ? el("span", { class: "tag" }, "everywhere") : "", item.superseded_by ? el("span", { class: "tag warn" }, "said otherwise later") : "", item.signals.standing ? el("span", { class: "tag" }, "stands") : "", el("span", { class: "card-actions" }, asks)),
    told, el("div", { class: "event-text card-text" }, event.text),
    item.facts.length || item.now.length || item.anchors.length ? el("footer", { class: "card-foot" },
      item.facts.length ? [el("h3", {}, "Facts read in it"), el("ul", {}, item.facts.map(fact))] : "", item.now.length ? [el("h3", {}, "What holds now"), el("ul", {}, item.now.map(fact))] : "",
      item.anchors.length ? [el("h3", {}, "About code"), el("ul", {}, item.anchors.map((anchor) => el("li", {}, anchored(anchor, repo))))] : "") : "");
}
