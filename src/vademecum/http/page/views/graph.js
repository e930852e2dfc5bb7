// How code hangs together: what is around a name or a file, drawn and listed, each edge with how it is known.

import { get, holds, home } from "../api.js";
import { el, fresh, replace, svg } from "../dom.js";
import { count, parts, plural } from "../format.js";
import { settle } from "../force.js";
import { combobox } from "../parts/combobox.js";
import { empty, within } from "../parts/dialog.js";
import { Drawing } from "../parts/drawing.js";
import { place } from "../parts/evidence.js";
import { repositories } from "../parts/repositories.js";
import { choice } from "../parts/tabs.js";
import { go, link } from "../router.js";

export const title = "Graph";
const TIERS = { exact: "resolved by scope and import", typed: "by what type it has", unique: "the only one of that name", guess: "a guess among several" };
const FUNCTIONS = new Set("function method constructor macro".split(" "));
const LONGEST = 26;  // characters of a name in the drawing
const SAID = {
  callers: ["Called or named by", "Nobody here calls or names it"], callees: ["Calls or names", "It calls and names nothing here"],
  impact: ["May break when it changes", "Nothing else depends on it"],
};
const FULL = { calls: "calls", references: "names", inherits: "inherits from", implements: "implements", imports: "imports", documents: "documents", tests: "tests", contains: "contains" };
const PASSIVE = { calls: "called by", references: "named by", inherits: "inherited by", implements: "implemented by", imports: "imported by", documents: "documented by", tests: "tested by", contains: "contained in" };

export function open(main, parameters) {
  const offer = async (prefix, signal) => (await get("/symbols", { prefix, limit: 12, repo: state().repo }, signal)).items.map((each) => ({ value: each.qualified, more: `${each.kind}, ${each.path}` }));
  const name = combobox({ label: "Name or file", placeholder: "A name, or a file's path", offer, chosen: (value) => go("graph", around(value)), first: true });
  const target = combobox({ label: "Way to", placeholder: "Way to another name", offer, chosen: (value) => go("graph", { ...Object.fromEntries(current), to: value }) });
  const depth = choice("Steps away", [["1", "1 step"], ["2", "2 steps"], ["3", "3 steps"]], (value) => go("graph", { ...Object.fromEntries(current), depth: value === "1" ? "" : value }));
  const which = repositories((repo) => go("graph", { repo }));
  const head = el("div", {}), drawn = el("div", { class: "graph-drawn" }), about = el("aside", { class: "graph-about panel", "aria-label": "What is drawn" });
  let current = parameters, drawing = null, asking = new AbortController();

  const state = () => ({ symbol: current.get("symbol") || "", path: current.get("path") || "", depth: current.get("depth") || "1", repo: current.get("repo") || "", to: current.get("to") || "" });
  const around = (value) => ({ ...(/[/]|\.\w{1,5}$/.test(value) && value.includes("/") ? { path: value } : { symbol: value }), repo: state().repo, depth: current.get("depth") || "" });

  replace(main, el("div", { class: "graph-view" }, head,
    el("div", { class: "bar-row" }, which.element, el("div", { class: "grow" }, name.element), holds("/graph/path") ? el("div", { class: "grow" }, target.element) : "", depth.element, el("button", { type: "button", class: "button", onclick: () => go("graph", { repo: state().repo, ...home }) }, "Overview")),
    el("div", { class: "graph-body" }, drawn, about)));

  async function update(given) {
    current = given;
    asking.abort();
    asking = new AbortController();
    const { signal } = asking, now = state(), asked = now.symbol || now.path;
    which.set(now.repo);
    name.field.value = asked;
    target.field.value = now.to;
    depth.set(now.depth);
    replace(head, el("div", { class: "view-head" }, el("h1", {}, asked ? el("bdi", { class: "mono-title" }, asked) : "The most central files"), el("p", { class: "quiet", id: "graph-count" }, "")));
    if (!drawn.childElementCount) replace(drawn, el("div", { class: "drawing-box skeleton", "aria-hidden": "true" }, el("div", { class: "drawing" })));
    if (now.to && asked) { await within(drawn, () => showWay(now, signal)); return; }
    await Promise.all([
      within(drawn, () => showAround(now, signal)),
      within(about, async () => { if (now.symbol) await tell(about, now, signal); else replace(about, el("p", { class: "quiet" }, "…")); }),
    ]);
  }

  const neighbourhood = ({ symbol, path, repo, depth: far }, signal) => get("/graph/neighbourhood", { symbol, path, repo, depth: far }, signal);

  async function showAround(now, signal) {
    try { show(await neighbourhood(now, signal), now); } catch (error) {
      if (error.status !== 404) throw error;
      drawing?.close();
      replace(drawn, empty("Nothing to draw", now.path ? "No file of the index has that path." : "Nothing here has that name."));
      if (now.path) replace(about, el("p", { class: "quiet" }, "What was skipped stands under “Index”."));
    }
  }

  async function showWay(now, signal) {
    const answer = await get("/graph/path", { from: now.symbol || now.path, to: now.to, repo: now.repo, depth: 3 }, signal);
    way(about, answer, now);
    if (answer.found.length) show(wayDrawn(answer), now);
    else await showAround(now, signal);
  }

  function show(graph, now) {
    document.getElementById("graph-count").textContent = `${plural(graph.nodes.length, "node")}, ${plural(graph.edges.length, "edge")}${graph.left_out ? `; ${count(graph.left_out)} more not drawn` : ""}`;
    drawing?.close();
    if (!graph.nodes.length) { replace(drawn, empty("Nothing to draw", "Nothing leads to it or from it, or nothing is indexed yet.")); return; }
    drawing = draw(graph, (node) => go("graph", { ...(node.kind === "file" ? { path: node.path } : { symbol: node.name }), repo: now.repo, depth: now.depth === "1" ? "" : now.depth }));
    replace(drawn, drawing.element, relations(drawing.edges), legend(graph));
    drawing.fit();
    if (!now.symbol && !now.to) listed(about, graph, now);
  }

  update(parameters);
  return { update, close: () => { drawing?.close(); asking.abort(); }, keys: [
    ["f", "to the drawing", () => drawn.querySelector("[tabindex='0'].node")?.focus()],
    ["0", "everything drawn", () => drawing?.fit()],
    ["1", "one step away", () => go("graph", { ...Object.fromEntries(current), depth: "" })],
    ["2", "two steps away", () => go("graph", { ...Object.fromEntries(current), depth: "2" })],
  ] };
}

// The drawing.

function draw(graph, walk) {
  const drawing = new Drawing({ label: `Graph of ${graph.title}`, onfocus: (node) => highlight(node), onopen: walk });
  const centre = new Set(graph.centre), byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const edges = graph.edges.map((edge) => ({ ...edge, source: byId.get(edge.from), target: byId.get(edge.to) })).filter((edge) => edge.source && edge.target);
  if (graph.straight) graph.nodes.forEach((node, index) => { node.x = index * 190; node.y = (index % 2) * 50; });
  else settle(graph.nodes, edges, { size: 760, centred: (node) => centre.has(node.id) });
  const tip = fresh("tip");
  drawing.svg.prepend(svg("defs", {}, svg("marker", { id: tip, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 1 8 4 0 7z", fill: "context-stroke" }))));
  for (const edge of edges) {
    edge.shape = svg("line", { class: `edge ${edge.tier}`, x1: edge.source.x, y1: edge.source.y, x2: edge.target.x, y2: edge.target.y, "marker-end": `url(#${tip})` });
    drawing.view.append(edge.shape);
  }
  // marks keep their size on the screen, so where a line has to end depends on how near one looks
  drawing.onscale = (unit) => {
    for (const name of ["markerWidth", "markerHeight"]) drawing.svg.querySelector("marker").setAttribute(name, 8 * unit);
    for (const { source, target, shape } of edges) {
      const dx = target.x - source.x, dy = target.y - source.y, length = Math.hypot(dx, dy) || 1, back = Math.min(length / 2, (radius(target, centre) + 3) * unit);
      shape.setAttribute("x2", target.x - dx / length * back);
      shape.setAttribute("y2", target.y - dy / length * back);
    }
  };
  const shorts = new Map();
  for (const { short } of graph.nodes) shorts.set(short, (shorts.get(short) || 0) + 1);
  const pairs = graph.nodes.map((node) => {
    const named = shorts.get(node.short) > 1 ? told(node) : node.short;
    node.label = named.length > LONGEST ? `${named.slice(0, LONGEST)}…` : named;
    node.reach = radius(node, centre);
    const shape = svg("g", { class: `node ${centre.has(node.id) ? "centre" : ""}`, role: "link", "aria-label": `${node.label}, ${node.kind} ${node.name}, ${node.path}${centre.has(node.id) ? ", the centre" : ""}` },
      mark(node, radius(node, centre)), svg("text", { x: radius(node, centre) + 4, y: 4 }, node.label), svg("title", {}, `${node.kind} ${node.name}\n${node.path}:${node.start}-${node.end}`));
    drawing.view.append(shape);
    return [node, shape];
  });
  function highlight(node) {
    const near = new Set([node]);
    for (const edge of edges) {
      const touches = edge.source === node || edge.target === node;
      edge.shape.classList.toggle("near", touches);
      edge.shape.classList.toggle("far", !touches);
      if (touches) { near.add(edge.source); near.add(edge.target); }
    }
    for (const [each, shape] of pairs) shape.classList.toggle("far", !near.has(each));
  }
  drawing.svg.addEventListener("pointerleave", () => { for (const each of drawing.svg.querySelectorAll(".far, .near")) each.classList.remove("far", "near"); });
  drawing.edges = edges;
  drawing.nodes(pairs.sort(([a], [b]) => centre.has(b.id) - centre.has(a.id) || b.weight - a.weight));
  return drawing;
}

// A name that several have, with what tells them apart: the folder or the class it is in.
const told = ({ name, kind }, between = kind === "file" ? "/" : ".") => name.split(between).slice(-2).join(between);

const radius = (node, centre) => (centre.has(node.id) ? 9 : 4 + 4 * Math.sqrt(node.weight));

// What it is shows in its shape too, for whoever does not tell colours apart.
function mark(node, size) {
  if (node.kind === "file") return svg("rect", { class: "mark file", x: -size, y: -size * 0.8, width: 2 * size, height: 1.6 * size, rx: 2 });
  if (FUNCTIONS.has(node.kind)) return svg("circle", { class: "mark function", r: size });
  return svg("path", { class: "mark type", d: `M0 ${-size * 1.25}L${size * 1.25} 0L0 ${size * 1.25}L${-size * 1.25} 0Z` });
}

// A box takes a relation out of the drawing.
function relations(edges) {
  const known = [...new Set(edges.map(({ relation }) => relation))].sort();
  return known.length < 2 ? "" : el("div", { class: "bar-row" }, known.map((relation) => {
    const own = edges.filter((edge) => edge.relation === relation);
    const box = el("input", { type: "checkbox", checked: true, id: fresh("relation"), onchange: () => { for (const { shape } of own) shape.style.display = box.checked ? "" : "none"; } });
    return el("div", { class: "check" }, box, el("label", { for: box.id }, `${FULL[relation] || relation} (${own.length})`));
  }));
}

function legend(graph) {
  const tiers = Object.keys(TIERS).filter((tier) => graph.edges.some((edge) => edge.tier === tier));
  const sample = (inner) => svg("svg", { width: 26, height: 14, viewBox: "-13 -7 26 14", "aria-hidden": "true" }, inner);
  return el("ul", { class: "legend" },
    tiers.map((tier) => el("li", {}, sample(svg("line", { class: `edge ${tier}`, x1: -11, x2: 11, y1: 0, y2: 0 })), `${tier}: ${TIERS[tier]}`)),
    [["function", "function", "function"], ["class", "type or value", "type"], ["file", "file", "file"]].filter(([kind]) => graph.nodes.some((node) => (kind === "file" ? node.kind === "file" : kind === "function" ? FUNCTIONS.has(node.kind) : node.kind !== "file" && !FUNCTIONS.has(node.kind)))).map(([kind, said]) => el("li", {}, sample(mark({ kind }, 5)), said)));
}

// The same in words.

async function tell(about, now, signal) {
  const asked = { repo: now.repo };
  const [defined, ...answers] = await Promise.all([get(`/symbols/${encodeURIComponent(now.symbol)}`, { ...asked, snippet_lines: 0, k: 5 }, signal),
    ...Object.keys(SAID).map((relation) => get(`/symbols/${encodeURIComponent(now.symbol)}/${relation}`, { ...asked, depth: 1 }, signal))]);
  replace(about,
    defined.evidence.length ? el("section", {}, el("h2", {}, "Defined"), defined.evidence.map((item) => el("div", { class: "defined" }, el("p", {}, el("span", { class: "tag" }, item.kind), " ", place(item)), item.signature ? el("pre", { class: "signature" }, item.signature) : "", item.summary ? el("p", { class: "quiet" }, item.summary) : "")))
      : el("section", {}, el("h2", {}, "Not defined here"), nearly(defined.nearest, (each) => ({ symbol: each, repo: now.repo, depth: now.depth === "1" ? "" : now.depth }))),
    Object.keys(SAID).map((relation, index) => (answers[index].verdict === "not_found" ? "" : neighbours(relation, answers[index], now))));
}

const nearly = (names, to) => (names?.length ? el("p", {}, "Spelled nearly so: ", names.map((each) => [el("a", { class: "chip", href: link("graph", to(each)) }, each), " "])) : el("p", { class: "quiet" }, "Nothing is spelled nearly so."));
const SHOWN = 12;

function neighbours(relation, answer, now) {
  const [said, none] = SAID[relation], items = answer.found.map((each) => el("li", {}, step(each, now)));
  const list = el("ul", { class: "steps" }, items.slice(0, SHOWN));
  const more = items.length > SHOWN ? el("button", { type: "button", class: "more", onclick: () => { list.append(...items.slice(SHOWN)); more.remove(); } }, `${items.length - SHOWN} more`) : "";
  const nothing = answer.verdict === "unknown" ? answer.reason || "It cannot be said" : none;
  return el("section", {}, el("h2", {}, said, answer.total ? el("span", { class: "quiet" }, ` ${answer.total}`) : ""),
    items.length ? [list, more] : el("p", { class: "quiet" }, nothing),
    answer.tests?.length ? el("details", {}, el("summary", {}, `${plural(answer.tests.length, "test file")} to run`), el("ul", {}, answer.tests.map((test) => el("li", {}, el("a", { class: "place", href: link("file", { path: test.path, repo: now.repo }) }, test.path), " ", test.tier === "exact" ? "" : el("span", { class: "tag", title: TIERS[test.tier] }, test.tier))))) : "");
}

function step(each, now) {
  return [el("p", {}, el("a", { class: "mono", href: link("graph", each.kind === "file" ? { path: each.path, repo: now.repo } : { symbol: each.name, repo: now.repo }) }, each.name || each.path), " ",
    each.tier === "exact" ? "" : el("span", { class: "tag", title: TIERS[each.tier] }, each.tier), each.is_test ? el("span", { class: "tag" }, "test") : ""),
  el("p", { class: "step-place" }, place({ path: each.line_path || each.path, repo: each.repo }, { line: each.line || each.start_line, end: 0 })),
  each.text ? el("code", { class: "step-text" }, each.text) : ""];
}

// A way as what is drawn: its stops, each joined to the one before.
function wayDrawn(answer) {
  const stops = [...answer.of.slice(0, 1), ...answer.found];
  return {
    title: answer.query, left_out: 0, straight: true, centre: ["0", String(stops.length - 1)],
    nodes: stops.map((each, index) => ({ id: String(index), name: each.name || each.path, short: (each.name || each.path).split(/[./]/).at(-1), kind: each.kind, path: each.path, start: each.start_line, end: each.end_line, weight: 0.5 })),
    edges: answer.found.map((each, index) => ({ from: String(index), to: String(index + 1), relation: each.relation, tier: each.tier, line: each.line })),
  };
}

function way(about, answer, now) {
  const stops = [...answer.of.slice(0, 1), ...answer.found];
  replace(about, el("section", {}, el("h2", {}, `From ${now.symbol || now.path} to ${now.to}`),
    answer.reason ? el("p", { class: "quiet" }, answer.reason) : "",
    answer.verdict === "not_found" ? nearly(answer.nearest, (each) => ({ ...now, [answer.query === now.to ? "to" : "symbol"]: each, depth: "" })) : "",
    answer.found.length ? el("ol", { class: "steps way" }, stops.map((each, number) => el("li", {}, number ? el("p", { class: "quiet" }, each.relation.replace("_", " ")) : "", step(each, now)))) : ""),
  el("p", {}, el("a", { class: "button", href: link("graph", { symbol: now.symbol, path: now.path, repo: now.repo }) }, "Back to what is around it")));
}

// A file or the whole repository: what is drawn, as a list.
function listed(about, graph, now) {
  const own = new Set(graph.centre);
  const into = new Map(), from = new Map();
  for (const edge of graph.edges) {
    from.set(edge.from, [...(from.get(edge.from) || []), edge]);
    into.set(edge.to, [...(into.get(edge.to) || []), edge]);
  }
  const row = (node) => el("li", {}, el("p", {}, el("a", { class: "mono", href: link("graph", node.kind === "file" ? { path: node.path, repo: now.repo } : { symbol: node.name, repo: now.repo }) }, node.kind === "file" ? [el("span", { class: "folder" }, parts(node.name)[0]), parts(node.name)[1]] : node.name)),
    el("p", { class: "quiet" }, [node.kind === "file" ? "" : node.kind, counted(into.get(node.id), "in"), counted(from.get(node.id), "out")].filter(Boolean).join(" · ")));
  const shown = graph.nodes.filter((node) => !own.has(node.id)).sort((a, b) => b.weight - a.weight);
  replace(about,
    now.path ? el("section", {}, el("h2", {}, "File"), el("p", {}, place({ path: now.path, repo: now.repo }, { line: 0, end: 0 }))) : "",
    el("section", {}, el("h2", {}, now.path ? "What it hangs together with" : "Files, the most central first"), el("ul", { class: "steps" }, shown.slice(0, 80).map(row))));
}

function counted(edges, way) {
  if (!edges) return "";
  const kinds = {};
  for (const edge of edges) kinds[edge.relation] = (kinds[edge.relation] || 0) + 1;
  return Object.entries(kinds).map(([relation, number]) => `${(way === "in" ? PASSIVE : FULL)[relation] || relation} ${count(number)}`).join(", ");
}
