// The tools of all servers: which there are and how they fared, what fits an intent, what comes next, and how they hang together.

import { all, get, holds } from "../api.js";
import { el, fresh, replace, svg } from "../dom.js";
import { settle } from "../force.js";
import { ago, chance, count, percent, plural } from "../format.js";
import { bring, empty, within } from "../parts/dialog.js";
import { Drawing } from "../parts/drawing.js";
import { bar, verdict } from "../parts/evidence.js";
import { Grid } from "../parts/grid.js";
import { plan } from "../parts/plan.js";
import { tabs } from "../parts/tabs.js";
import { go, link } from "../router.js";

export const title = "Tools";
const TABS = [["catalogue", "Catalogue", "/tools"], ["plan", "Plan a task", "/tools/suggest"], ["graph", "Connections", "/tools/graph"], ["traces", "Traces", "/tools/traces"]].filter(([, , path]) => holds(path));
const START = "Take tools in with vade tools register tools.json, or with vade tools register --servers from running servers. Take in how they were used with vade tools observe traces.jsonl.";
const KINDS = { sequence: "seen in sequence", provides: "provides an input", contains: "belongs to a chain" };
const MOST_DRAWN = 150, MOST_CHAINED = 100;
const LEAST_SHOWN = 0.005;  // a probability that would read 0.00

export function open(main, parameters) {
  let current = parameters, view = null, asking = new AbortController();
  const shelf = tabs("Tools", TABS, (tab) => go("tools", { tab: tab === "catalogue" ? "" : tab, q: current.get("q") }));
  replace(main, el("div", { class: "tools-view" }, el("div", { class: "view-head" }, el("h1", {}, "Tools"), el("p", { class: "quiet", id: "tools-count", role: "status" })), shelf.bar, shelf.panel));

  async function update(given) {
    const tab = given.get("tab") || "catalogue", same = view && tab === (current.get("tab") || "catalogue") && (given.get("with") || "") === (current.get("with") || "");
    current = given;
    shelf.set(tab);
    if (same && view.update) { view.update(given); return; }
    view?.close?.();
    asking.abort();
    asking = new AbortController();
    replace(shelf.panel, el("div", { class: "skeleton", "aria-hidden": "true" }, el("div", {}), el("div", {})));
    view = await within(shelf.panel, () => ({ catalogue, plan: intent, graph: hypergraph, traces: observed })[tab]?.(shelf.panel, given, asking.signal));
  }
  update(parameters);
  return { update, close: () => { view?.close?.(); asking.abort(); }, keys: [
    ["f", "to the list or drawing", () => shelf.panel.querySelector("[role=grid], .task, .node[tabindex='0']")?.focus()],
    ["1", "catalogue", () => go("tools", {})], ["2", "plan a task", () => go("tools", { tab: "plan" })], ["3", "connections", () => go("tools", { tab: "graph" })], ["4", "traces", () => go("tools", { tab: "traces" })],
  ] };
}

const tell = (text) => { const place = document.getElementById("tools-count"); if (place) place.textContent = text; };
const unlisted = (more) => (more > 0 ? `, ${count(more)} more in traces alone` : "");  // called, and never registered
const share = (usage) => (usage?.calls ? 1 - usage.failures / usage.calls : null);

// Which there are.

async function catalogue(panel, given, signal) {
  const [tools, stats] = await Promise.all([all("/tools", {}, signal), get("/tools/stats", {}, signal)]);
  tell(`${plural(tools.length, "tool")} of ${plural(new Set(tools.map((tool) => tool.server)).size, "server")}${unlisted(stats.tools - tools.length)}, ${plural(stats.traces, "trace")}, ${count(stats.unused)} never used`);
  if (!tools.length) { replace(panel, empty("No tools are known yet", START)); return {}; }
  const about = el("aside", { class: "beside panel", "aria-label": "The tool that is chosen" });
  const field = el("input", { type: "search", class: "field", id: fresh("filter"), placeholder: "A part of the name, server or description", "aria-label": "Find a tool", autocomplete: "off", oninput: () => show(), data: { first: "" } });
  const choose = (tool) => { history.replaceState(null, "", link("tools", { tool: tool.id })); describe(about, tool); bring(about); };
  const grid = new Grid({
    label: "Tools", sorted: "calls", descending: true, onselect: choose, onopen: choose, empty: "No tool is like this.",
    columns: [
      { key: "id", title: "Tool", class: "wide", sort: (tool) => tool.id, cell: (tool) => el("span", { class: "mono" }, tool.server ? el("span", { class: "quiet" }, `${tool.server}/`) : "", el("b", {}, tool.name), tool.pinned ? el("span", { class: "tag good" }, "pinned") : "") },
      { key: "about", title: "What it does", class: "extra", cell: (tool) => tool.description.slice(0, 200) },
      { key: "calls", title: "Calls", class: "figure", descending: true, sort: (tool) => tool.usage?.calls || 0, cell: (tool) => (tool.usage ? count(tool.usage.calls) : el("span", { class: "quiet" }, "none")) },
      { key: "went", title: "Went well", class: "figure", descending: true, sort: (tool) => share(tool.usage), cell: (tool) => (tool.usage ? [bar(share(tool.usage), 1, share(tool.usage) < 0.7 ? "bad" : share(tool.usage) < 0.9 ? "warn" : "good"), el("span", { class: "beside-bar" }, percent(share(tool.usage)))] : "") },
      { key: "latency", title: "Takes", class: "figure extra", sort: (tool) => tool.usage?.latency_s || null, cell: (tool) => (tool.usage?.latency_s ? latency(tool.usage.latency_s) : "") },
    ],
  });
  grid.element.classList.add("tools-grid");
  function show() {
    const words = field.value.trim().toLowerCase();
    grid.show(words ? tools.filter((tool) => `${tool.id} ${tool.description}`.toLowerCase().includes(words)) : tools);
  }
  replace(panel, el("div", { class: "bar-row" }, el("div", { class: "grow" }, field)), el("div", { class: "two" }, grid.whole, about));
  replace(about, el("p", { class: "quiet" }, "Choose a tool to see what it takes and how it fared."));
  show();
  const asked = tools.find((tool) => tool.id === given.get("tool"));
  if (asked) { grid.choose((tool) => tool.id === asked.id); describe(about, asked); }
  return { close: () => grid.close(), update: () => {} };
}

const latency = (seconds) => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`);

function describe(about, tool) {
  const { usage } = tool, wanted = Object.entries(tool.input_schema?.properties || {}), required = new Set(tool.input_schema?.required || []), given = Object.keys(tool.output_schema?.properties || {});
  replace(about,
    el("section", {}, el("h2", {}, tool.name), el("p", { class: "mono quiet" }, tool.id), tool.description ? el("p", { class: "event-text" }, tool.description) : ""),
    usage ? el("section", {}, el("h3", {}, "How it fared"), el("dl", { class: "pairs" }, [["Calls", `${count(usage.calls)}, ${count(usage.failures)} failed`], ["Went well", percent(share(usage))], ["Ranking", `× ${usage.reliability.toFixed(2)} for how it fared`], ["Takes", usage.latency_s ? latency(usage.latency_s) : "not said"], ["Last", usage.last_at ? ago(usage.last_at) : "not said"]].map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]))) : el("p", { class: "quiet" }, "It is in no trace yet."),
    wanted.length ? el("section", {}, el("h3", {}, "Takes"), el("ul", { class: "inputs" }, wanted.map(([name, schema]) => el("li", {}, el("code", {}, name), " ", el("span", { class: "quiet" }, [String(schema?.type || "any"), required.has(name) ? "required" : ""].filter(Boolean).join(", ")), typeof schema?.description === "string" ? el("p", { class: "quiet" }, schema.description) : "")))) : "",
    usage && holds("/tools/traces") ? el("p", {}, el("a", { href: link("tools", { tab: "traces", with: tool.id }) }, "The traces that called it")) : "",
    given.length ? el("section", {}, el("h3", {}, "Gives"), el("p", {}, given.map((name) => el("code", { class: "chip" }, name)))) : "");
}

// What fits, what comes next, and the whole plan.

async function intent(panel, given, signal) {
  const field = el("input", { type: "search", class: "field question", "aria-label": "What is to be done", placeholder: "What is to be done?", autocomplete: "off", value: given.get("q") || "", data: { first: "" } });
  const answer = el("div", { class: "intent-answer" });
  replace(panel, el("form", { role: "search", class: "search-form plain", onsubmit: (event) => { event.preventDefault(); go("tools", { tab: "plan", q: field.value.trim() }); } }, field), answer);
  async function update(next) {
    const q = next.get("q") || "";
    if (document.activeElement !== field) field.value = q;
    if (!q) { replace(answer, empty("Say what is to be done", "For instance: mail the weekly report. You get the tools that fit, the next call, and a plan.")); field.focus(); return; }
    await within(answer, async () => {
      const [found, next_, suggested] = await Promise.all([get("/tools/search", { intent: q, k: 8 }, signal), get("/tools/predict", { intent: q, k: 5 }, signal), get("/tools/suggest", { intent: q }, signal)]);
      const about = el("div", { class: "task-about", role: "status" });
      replace(answer,
        el("section", { "aria-label": "Plan" }, plan(suggested, answer.clientWidth, (task) => replace(about, el("p", {}, el("b", { class: "mono" }, task.call), task.inputs.length ? [el("span", { class: "quiet" }, " takes "), task.inputs.map((name) => el("code", { class: "chip" }, name))] : el("span", { class: "quiet" }, " takes nothing"), task.probability ? el("span", { class: "quiet" }, ` probability ${chance(task.probability)}`) : ""))), about),
        el("div", { class: "halves" },
          el("section", {}, el("h2", {}, "Which fit"), verdict(found, `${plural(found.searched, "tool")} searched`), el("ol", { class: "steps" }, found.matches.map(match)), found.matches.length ? "" : empty("No tool fits", START)),
          el("section", {}, el("h2", {}, "What comes next"), el("p", { class: "verdict" }, el("span", { class: `badge ${next_.abstained ? "warn" : "good"}` }, next_.abstained ? "Not sure" : "Next"), el("span", { class: "meter" }, bar(next_.probability), el("span", { class: "figure" }, chance(next_.probability))), next_.reason ? el("span", { class: "quiet" }, next_.reason) : ""),
            el("ol", { class: "steps" }, next_.candidates.filter((each) => each.probability >= LEAST_SHOWN).map((each) => el("li", {}, el("p", {}, el("a", { class: "mono", href: link("tools", { tool: each.tool }) }, each.tool), " ", el("span", { class: "meter" }, bar(each.probability), el("span", { class: "figure" }, chance(each.probability)))), each.path.length > 1 ? el("p", { class: "quiet" }, `by ${each.path.join(" → ")}`) : "", reasons(each.why), behind(each.traces)))))));
    });
  }
  await update(given);
  return { update };
}

const match = (each) => el("li", {}, el("p", {}, each.kind === "tool" ? el("a", { class: "mono", href: link("tools", { tool: each.id }) }, each.id) : el("span", { class: "mono" }, each.kind === "meta" ? each.contains.map((part) => part.join(" → ")).join(" ⇒ ") : each.tools.join(" → ")), " ", each.kind === "tool" ? "" : el("span", { class: "tag" }, each.kind === "meta" ? "chain of chains" : "chain"), each.exact ? el("span", { class: "tag good" }, "by name") : "", each.pinned ? el("span", { class: "tag" }, "pinned") : "", " ", el("span", { class: "meter" }, bar(each.score), el("span", { class: "figure" }, chance(each.score)))),
  each.description ? el("p", { class: "quiet clamp" }, each.description) : "", reasons({ semantic: each.semantic, reliability: each.reliability, ...each.why }), behind(each.traces));

/** The past traces that speak for something, the nearest first. */
const MOST_BEHIND = 5;
const behind = (ids) => (ids.length && holds("/tools/traces") ? el("p", { class: "quiet" }, "as in ", ids.slice(0, MOST_BEHIND).map((id, number) => [number ? ", " : "", el("a", { href: link("tools", { tab: "traces", trace: id }), "aria-label": `trace ${id}` }, id.slice(0, 8))]), ids.length > MOST_BEHIND ? ` and ${count(ids.length - MOST_BEHIND)} more` : "") : "");

function reasons(why) {
  const rows = Object.entries(why);
  return rows.length ? el("details", { class: "reasons" }, el("summary", {}, "Why"), el("dl", { class: "pairs" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", { class: "figure" }, typeof value === "number" ? value.toFixed(2) : value)]))) : "";
}

// What was observed: which calls, in order, for which intent.

async function observed(panel, given, signal) {
  const tool = given.get("with") || "", list = await all("/tools/traces", { tool }, signal);
  tell(`${plural(list.length, "trace")}${tool ? ` with ${tool}` : ""}`);
  if (!list.length) { replace(panel, empty(tool ? "No trace called this tool" : "No traces are known yet", START)); return {}; }
  const about = el("aside", { class: "beside panel", "aria-label": "The trace that is chosen" });
  const choose = (trace) => { history.replaceState(null, "", link("tools", { tab: "traces", with: tool, trace: trace.id })); tellTrace(about, trace); bring(about); };
  const grid = new Grid({
    label: "Traces", sorted: "at", descending: true, onselect: choose, onopen: choose, empty: "No trace is like this.",
    columns: [
      { key: "intent", title: "For", class: "wide", sort: (trace) => trace.intent, cell: (trace) => trace.intent || el("span", { class: "quiet" }, "not said") },
      { key: "calls", title: "Calls", class: "figure", descending: true, sort: (trace) => trace.calls.length, cell: (trace) => count(trace.calls.length) },
      { key: "ok", title: "Went", sort: (trace) => Number(trace.ok), cell: (trace) => el("span", { class: `tag ${trace.ok ? "good" : "bad"}` }, trace.ok ? "well" : "wrong") },
      { key: "at", title: "When", class: "extra", descending: true, sort: (trace) => trace.at, cell: (trace) => (trace.at ? ago(trace.at) : el("span", { class: "quiet" }, "not said")) },
    ],
  });
  grid.element.classList.add("traces-grid");
  replace(panel, el("div", { class: "two" }, grid.whole, about));
  grid.show(list);
  function update(next) {
    const trace = list.find((each) => each.id === next.get("trace"));
    if (trace) { grid.choose((each) => each.id === trace.id); tellTrace(about, trace); }
    else replace(about, next.get("trace") ? el("p", {}, `The trace ${next.get("trace")} is not there any more.`) : el("p", { class: "quiet" }, "Choose a trace to see its calls in order."));
  }
  update(given);
  return { update, close: () => grid.close() };
}

function tellTrace(about, trace) {
  const after = trace.calls.map((_, index) => trace.links.filter(([, to]) => to === index).map(([from]) => from + 1));
  replace(about,
    el("section", {}, el("h2", {}, trace.intent || "An intent that nobody said"), el("p", { class: "quiet" }, [`trace ${trace.id}`, trace.session ? `session ${trace.session.slice(0, 12)}` : "", trace.at ? ago(trace.at) : ""].filter(Boolean).join(", "))),
    el("section", {}, el("h3", {}, "Calls, in order"), el("ol", { class: "steps" }, trace.calls.map((call, index) => el("li", {}, el("p", {}, el("a", { class: "mono", href: link("tools", { tool: call.tool }) }, call.tool), " ", call.ok ? "" : el("span", { class: "tag bad" }, "failed"), " ", call.latency_s ? el("span", { class: "quiet" }, latency(call.latency_s)) : ""),
      call.arguments.length || after[index].length ? el("p", { class: "quiet" }, call.arguments.length ? ["with ", call.arguments.map((name) => el("code", { class: "chip" }, name))] : "", after[index].length ? ` uses what ${after[index].length > 1 ? "calls" : "call"} ${after[index].join(", ")} gave` : "") : "")))));
}

// How they lead to each other: tails meet in a joint, from which one line leads to the head.

// The chains of the most used tools, whole, and then single tools.
function chosen(data, order) {
  const drawn = new Set(), least = (arc) => Math.min(...arc.tail.map((node) => data.nodes[node].calls));
  for (const { tail, head } of data.arcs.filter((arc) => arc.kind === "contains").sort((a, b) => least(b) - least(a))) {
    const parts = tail.filter((node) => !drawn.has(node));
    if (drawn.size + parts.length < MOST_CHAINED && parts.every((node) => data.nodes[node].kind === "tool")) for (const node of [...parts, head]) drawn.add(node);
  }
  for (const node of order) if (drawn.size < MOST_DRAWN && data.nodes[node].kind === "tool") drawn.add(node);
  return [...drawn];
}

async function hypergraph(panel, given, signal) {
  const data = await get("/tools/graph", {}, signal);
  if (!data.nodes.length) { replace(panel, empty("No tools are known yet", START)); return {}; }
  const degree = data.nodes.map(() => 0);
  for (const arc of data.arcs) for (const node of [...arc.tail, arc.head]) degree[node] += 1;
  const known = data.nodes.map((_, index) => index), joinedUp = known.filter((index) => degree[index] || data.nodes[index].calls);
  const order = chosen(data, (joinedUp.length ? joinedUp : known).sort((a, b) => data.nodes[b].calls - data.nodes[a].calls || degree[b] - degree[a] || a - b));
  const drawn = new Map(order.map((index) => [index, { ...data.nodes[index], index }]));
  const arcs = data.arcs.filter((arc) => arc.tail.length && drawn.has(arc.head) && arc.tail.every((node) => drawn.has(node))).map((arc) => ({ ...arc, from: arc.tail.map((node) => drawn.get(node)), to: drawn.get(arc.head) }));
  const nodes = [...drawn.values()];
  settle(nodes, arcs.flatMap((arc) => arc.from.map((source) => ({ source, target: arc.to }))), { size: 1000, pull: 0.25 });
  tell(`${plural(data.tools, "tool")}${unlisted(data.nodes.filter((node) => node.kind === "tool").length - data.tools)}, ${plural(data.traces, "trace")}${nodes.length < data.nodes.length ? `; the ${count(nodes.length)} ${joinedUp.length > MOST_DRAWN ? "most used" : "that lead somewhere or were called"} are drawn, all are in the catalogue` : ""}`);
  const about = el("aside", { class: "beside panel", "aria-label": "What is chosen" }), hidden = new Set();
  const drawing = new Drawing({ label: "Connections of tools", onfocus: (node) => show(node), onopen: (node) => show(node, true) });
  const tip = fresh("tip");
  drawing.svg.prepend(svg("defs", {}, svg("marker", { id: tip, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 1 8 4 0 7z", fill: "context-stroke" }))));
  for (const arc of arcs) { arc.shape = svg("g", { class: `arc ${arc.kind}` }, joined(arc, tip)); drawing.view.append(arc.shape); }
  drawing.onscale = (unit) => {
    for (const name of ["markerWidth", "markerHeight"]) drawing.svg.querySelector("marker").setAttribute(name, 8 * unit);
    for (const arc of arcs) end(arc, unit);
  };
  const pairs = nodes.map((node) => {
    node.label = node.name.length > 26 ? `${node.name.slice(0, 26)}…` : node.name;
    const size = node.reach = reach(node);
    const shape = svg("g", { class: "node", role: "button", "aria-label": `${node.label}, ${node.id}, called ${plural(node.calls, "time")}` }, node.kind !== "tool" ? svg("rect", { class: "mark type", x: -size, y: -size, width: 2 * size, height: 2 * size, rx: 2 }) : svg("circle", { class: "mark function", r: size }), svg("text", { x: size + 4, y: 4 }, node.label), svg("title", {}, node.id));
    drawing.view.append(shape);
    return [node, shape];
  });
  function show(node, keep) {
    const near = new Set([node]);
    for (const arc of arcs) {
      const touches = arc.to === node || arc.from.includes(node);
      arc.shape.classList.toggle("near", touches);
      arc.shape.classList.toggle("far", !touches);
      if (touches) for (const each of [...arc.from, arc.to]) near.add(each);
    }
    for (const [each, shape] of pairs) shape.classList.toggle("far", !near.has(each));
    if (keep || !about.dataset.chosen) tellNode(node);
    if (keep) about.dataset.chosen = node.id;
  }
  function tellNode(node) {
    const list = (said, items) => (items.length ? el("section", {}, el("h3", {}, `${said} (${items.length})`), el("ul", { class: "inputs" }, items)) : "");
    const row = (arc, others) => el("li", {}, others.map((each) => el("code", {}, each.id)).reduce((sum, each) => (sum.length ? [...sum, " and ", each] : [each]), []), el("p", { class: "quiet" }, [KINDS[arc.kind], arc.seen ? plural(arc.seen, "time") : "", arc.input ? `input ${arc.input}` : ""].filter(Boolean).join(", ")));
    replace(about, el("section", {}, el("h2", {}, node.name), el("p", { class: "mono quiet" }, node.id), node.about ? el("p", {}, node.about) : "", node.calls ? el("p", { class: "quiet" }, `called ${plural(node.calls, "time")}, ${percent(node.good / node.calls)} went well`) : ""),
      list("Leads to", arcs.filter((arc) => arc.from.includes(node)).map((arc) => row(arc, [arc.to]))), list("Comes from", arcs.filter((arc) => arc.to === node).map((arc) => row(arc, arc.from))));
  }
  const boxes = Object.entries(KINDS).filter(([kind]) => arcs.some((arc) => arc.kind === kind)).map(([kind, said]) => {
    const box = el("input", { type: "checkbox", checked: true, id: fresh("kind"), onchange: () => { hidden[box.checked ? "delete" : "add"](kind); for (const arc of arcs) arc.shape.style.display = hidden.has(arc.kind) ? "none" : ""; } });
    return el("div", { class: "check" }, box, el("label", { for: box.id }, svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, svg("line", { class: `arc-sample ${kind}`, x1: 1, x2: 21, y1: 5, y2: 5 })), `${said} (${arcs.filter((arc) => arc.kind === kind).length})`));
  });
  const offered = fresh("offered"), find = el("input", { type: "search", class: "field", list: offered, placeholder: "Find a tool", "aria-label": "Find a tool", autocomplete: "off", data: { first: "" }, oninput: () => {
    const node = nodes.find((each) => each.id === find.value) || nodes.find((each) => each.name.toLowerCase() === find.value.trim().toLowerCase());
    if (node) show(node, true);
  } });
  replace(panel, el("p", { class: "quiet" }, "A line leads from a call to one that may follow. Lines that meet at a dot are needed together."),
    el("div", { class: "bar-row" }, el("div", { class: "labelled when" }, find, el("datalist", { id: offered }, nodes.map((node) => el("option", { value: node.id })))), boxes), el("div", { class: "two" }, drawing.element, about));
  replace(about, el("p", { class: "quiet" }, "Choose a tool to see what leads to it and where it leads."));
  drawing.nodes(pairs);
  return { close: () => drawing.close(), update: () => {} };
}

const reach = (node) => 4 + Math.min(7, Math.sqrt(node.calls));

function joined(arc, tip) {
  const { from, to, kind } = arc, middle = (key) => 0.6 * from.reduce((sum, tail) => sum + tail[key], 0) / from.length + 0.4 * to[key];
  arc.joint = { x: middle("x"), y: middle("y") };
  arc.last = svg("line", { class: `arc-line ${kind}`, x1: arc.joint.x, y1: arc.joint.y, "marker-end": `url(#${tip})` });
  arc.spot = from.length > 1 ? svg("circle", { class: `joint ${kind}`, cx: arc.joint.x, cy: arc.joint.y, r: 4 }) : "";
  return [from.map((tail) => svg("line", { class: `arc-line ${kind}`, x1: tail.x, y1: tail.y, x2: arc.joint.x, y2: arc.joint.y })), arc.last, arc.spot];
}

// Marks keep their size on the screen, so where a line has to end depends on how near one looks.
function end({ joint, to, last, spot }, unit) {
  const dx = to.x - joint.x, dy = to.y - joint.y, length = Math.hypot(dx, dy) || 1, back = Math.min(length / 2, (reach(to) + 3) * unit);
  last.setAttribute("x2", to.x - dx / length * back);
  last.setAttribute("y2", to.y - dy / length * back);
  if (spot) spot.setAttribute("r", 4 * unit);
}
