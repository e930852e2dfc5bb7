// A fact beside the list: when it held, who said so, and what a person may say of it.

import { get, post } from "../api.js";
import { el, replace } from "../dom.js";
import { chance, date, iso, moment, plural } from "../format.js";
import { bar } from "./evidence.js";
import { bring, dialog, toast, within } from "./dialog.js";
import { link } from "../router.js";

export const STATES = { holds: ["holds", ""], confirmed: ["confirmed", "good"], disputed: ["disputed", "warn"], past: ["past", ""], rejected: ["rejected", "bad"] };

export const topic = (fact) => [fact.subject, fact.attribute].filter(Boolean).join(" ") || fact.kind;
export const stateOf = (fact) => fact.state || (fact.valid_to !== null ? "past" : fact.disputed ? "disputed" : fact.confirmed ? "confirmed" : "holds");
export const time = (seconds, shown = date) => el("time", { datetime: iso(seconds), title: moment(seconds) }, shown(seconds));

/** When it held, in words. */
export const held = (fact) => (fact.valid_to === null ? ["since ", time(fact.valid_from)] : [time(fact.valid_from), " to ", time(fact.valid_to)]);

/** Where intervals lie between the first and now; `bar(fact)` draws one as a line on that time. */
export function axis(facts, now = Date.now() / 1000) {
  const first = facts.reduce((least, fact) => Math.min(least, fact.valid_from), now - 60), span = now - first;
  const share = (at) => Math.max(0, Math.min(100, 100 * (at - first) / span));
  return {
    first, now,
    bar: (fact) => {
      const line = el("span", { class: `interval ${stateOf(fact)}` });
      line.style.left = `${share(fact.valid_from)}%`;
      line.style.width = `${Math.max(0.8, share(fact.valid_to ?? now) - share(fact.valid_from))}%`;
      return el("span", { class: "axis", role: "img", "aria-label": fact.valid_to === null ? `holds since ${date(fact.valid_from)}` : `held from ${date(fact.valid_from)} to ${date(fact.valid_to)}` }, line);
    },
  };
}

/** Show where a fact comes from in `box`. `changed()` is told when a person said something of it. */
export async function explain(box, id, { repo, signal, changed, chosen }) {
  await within(box, async () => {
    const why = await get(`/memory/facts/${encodeURIComponent(id)}/why`, { repo }, signal);
    const { fact } = why, state = why.rejected ? "rejected" : stateOf(fact), line = axis(why.history);
    replace(box,
      el("section", {}, el("h2", {}, topic(fact)), el("p", { class: "fact-tags" }, el("span", { class: "tag" }, fact.kind), el("span", { class: `tag ${STATES[state][1]}` }, STATES[state][0]), el("span", { class: "quiet" }, why.rejected ? "said, but not so" : held(fact))),
        el("p", { class: "fact-value" }, fact.value || fact.text), fact.reason ? el("p", {}, el("span", { class: "quiet" }, "because "), fact.reason) : "",
        el("p", { class: "meter" }, el("span", { class: "quiet" }, "sure"), bar(fact.confidence), el("span", { class: "figure" }, chance(fact.confidence)), el("span", { class: "quiet" }, `said ${fact.mentions === 1 ? "once" : plural(fact.mentions, "time")}, ${why.scope}${fact.place ? `, for ${fact.place}` : ""}`))),
      el("div", { class: "fact-actions" }, actions(fact, { repo, changed, rejected: why.rejected })),
      el("section", {}, el("h3", {}, "Said by"), el("ul", { class: "said" }, why.said.map(([event, words]) => el("li", {}, saying(event, words))))),
      why.anchors.length ? el("section", {}, el("h3", {}, "About code"), el("ul", {}, why.anchors.map((each) => el("li", {}, anchored(each, repo))))) : "",
      why.history.length > 1 ? el("section", {}, el("h3", {}, "What held when"), el("ul", { class: "history" }, why.history.map((each) => el("li", {},
        el("button", { type: "button", class: "quiet-button", "aria-current": each.id === fact.id ? "true" : undefined, onclick: () => chosen(each.id) }, each.value || each.text), line.bar(each), el("small", { class: "quiet" }, held(each)))))) : "");
    bring(box);
  });
}

const ANCHORS = { current: "The code is what it was when this was said", drifted: "The code has changed since", orphaned: "Nothing is called that any more" };

/** The code that something is about: a link to what is around it, its file, and what became of it. */
export const anchored = (anchor, repo) => [el("a", { href: link("graph", { symbol: anchor.symbol, repo }) }, el("code", {}, anchor.symbol)), " ", el("span", { class: `tag ${anchor.state === "current" ? "good" : "warn"}`, title: ANCHORS[anchor.state] }, anchor.state), anchor.state === "orphaned" ? "" : [" ", el("a", { class: "quiet mono", href: link("file", { path: anchor.path, repo }) }, anchor.path)]];

// What was said, the words that the fact was read from set off.
function saying(event, words) {
  if (!event) return [el("blockquote", {}, words), el("p", { class: "quiet" }, "The message itself is not kept here.")];
  const cut = event.text.indexOf(words), around = 240;
  const shown = cut < 0 ? [el("mark", {}, words)] : [cut > around ? "…" : "", event.text.slice(Math.max(0, cut - around), cut), el("mark", {}, words), event.text.slice(cut + words.length, cut + words.length + around), event.text.length > cut + words.length + around ? "…" : ""];
  return [el("blockquote", {}, shown), el("p", { class: "quiet" }, [event.speaker || event.role, event.session ? `session ${event.session.slice(0, 12)}` : ""].filter(Boolean).join(", "), ", ", time(event.at, moment))];
}

function actions(fact, { repo, changed, rejected }) {
  const url = (verb) => `/memory/facts/${encodeURIComponent(fact.id)}/${verb}${repo ? `?repo=${encodeURIComponent(repo)}` : ""}`;
  const send = async (verb, said, undo) => {
    try {
      await post(url(verb));
      toast(said, undo);
      changed(verb);
    } catch (error) {
      dialog({ title: error.message, body: el("p", {}, error.fix), actions: [["Close", () => {}]] });
    }
  };
  const quoted = el("blockquote", {}, fact.text);
  return [
    rejected ? el("button", { type: "button", class: "button", onclick: () => send("restore", "Restored: it stands again as it was said") }, "Restore") : "",
    fact.confirmed ? "" : el("button", { type: "button", class: "button", onclick: () => send("confirm", "Confirmed: it is certain from now on") }, "Confirm"),
    rejected ? "" : el("button", { type: "button", class: "button", onclick: () => dialog({
      title: "Reject this fact?", body: [quoted, el("p", {}, "It is shown no more, and not learned again from what was said. The messages stay. Under “Rejected” it can be restored.")],
      actions: [["Reject it", () => send("reject", "Rejected", ["Undo", () => send("restore", "Restored: it stands again as it was said")]), "danger"], ["Cancel", () => {}]],
    }) }, "Reject…"),
    el("button", { type: "button", class: "button danger", onclick: () => dialog({
      title: "Forget this for good?", body: [quoted, el("p", {}, "The fact is deleted, and the words that said it are cut out of the messages. Nothing brings it back, not even reading the transcripts again.")],
      actions: [["Forget it for good", () => send("forget", "Forgotten, with the words that said it"), "danger"], ["Cancel", () => {}]],
    }) }, "Forget…"),
  ];
}
