"use strict";
// Everything that is drawn stands in #data: {nodes, arcs, plan, tools, traces, left_out}. Nothing is fetched.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const KINDS = { sequence: "seen in sequence", provides: "provides an input", contains: "belongs to" };
const LEVELS = { tool: "tool", capability: "capability", meta: "meta-capability" };
const NODES_DRAWN = 150, SIZE = 1000;
const byId = new Map(data.nodes.map((node, index) => [node.id, index]));
const shown = new Set(Object.keys(KINDS));

const $ = (id) => document.getElementById(id);
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}
function draw(tag, attributes, parent) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}
const percent = (value) => `${Math.round(100 * value)} %`;
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Views.

const VIEWS = ["plan", "map", "list"];
function open(view, focus) {
  for (const name of VIEWS) {
    const tab = $(`tab-${name}`), on = name === view;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    $(name).hidden = !on;
    if (on && focus) tab.focus();
  }
  if (view === "plan") linkTasks();
  if (view === "map") look();  // its size is known only now
}
function tabs() {
  VIEWS.forEach((name, index) => {
    const tab = $(`tab-${name}`);
    tab.addEventListener("click", () => open(name));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      open(VIEWS[(index + step + VIEWS.length) % VIEWS.length], true);
    });
  });
}
function theme() {
  const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const label = () => { $("theme").textContent = dark() ? "Light" : "Dark"; };
  $("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; label(); });
  label();
}

// The plan: layers of tasks, and lines from what each waits for.

function showPlan() {
  const plan = data.plan, about = $("about-plan");
  if (!plan) {
    about.append(make("p", {}, "No plan was asked for. Ask for one with: vade tools graph --html FILE --plan \u201cwhat is to be done\u201d"));
    $("dag").hidden = true;
    return;
  }
  about.append(make("h2", {}, plan.intent || "Suggested plan"));
  const parallel = Math.max(0, ...plan.layers.map((layer) => layer.length));
  about.append(make("p", { class: "quiet" }, `${plural(plan.tasks.length, "task")} in ${plural(plan.layers.length, "layer")}, at most ${parallel} at the same time; confidence ${percent(plan.confidence)}; supported by ${plural((plan.evidence || []).length, "trace")}`));
  if ((plan.missing || []).length) {
    about.append(make("p", { class: "callout" }, make("b", {}, "Still needed: "), plan.missing.join(", ")));
  }
  for (const group of plan.contains) $("within").append(make("p", { class: "quiet" }, `${LEVELS[group.kind]}: `, make("button", { class: "link", type: "button", onclick: () => detail(byId.get(group.id)) }, nameOf(group.id)), `, seen in ${plural(group.traces, "trace")}`));
  const tasks = new Map(plan.tasks.map((task) => [task.id, task]));
  plan.layers.forEach((layer, number) => {
    const column = make("div", { class: "layer", role: "group", "aria-label": `Layer ${number + 1}` }, make("p", { class: "quiet" }, `Layer ${number + 1}`));
    for (const id of layer) if (tasks.has(id)) column.append(taskButton(tasks.get(id)));
    $("layers").append(column);
  });
  $("layers").addEventListener("keydown", walkTasks);
  new ResizeObserver(linkTasks).observe($("layers"));
}
function taskButton(task) {
  const wants = task.inputs.filter((input) => input.required && !input.from).map((input) => input.name);
  const button = make("button", { class: "task", type: "button", "data-id": task.id, "aria-pressed": "false", onclick: () => chooseTask(task) }, make("b", {}, task.call));
  if (task.depends_on.length) button.append(make("small", {}, `after ${task.depends_on.map(callOf).join(", ")}`));
  if (wants.length) button.append(make("small", { class: "wants" }, `asks for ${wants.join(", ")}`));
  return button;
}
const nameOf = (id) => { const node = data.nodes[byId.get(id)]; return node ? node.name : id; };
const callOf = (id) => (data.plan.tasks.find((task) => task.id === id) || { call: id }).call;
function chooseTask(task) {
  for (const button of document.querySelectorAll(".task")) button.setAttribute("aria-pressed", button.dataset.id === task.id);
  linkTasks();
  const extra = [];
  if (task.inputs.length) {
    extra.push(make("h3", {}, "In this plan its inputs come from"), make("ul", {}, ...task.inputs.map(({ name, from, required }) =>
      make("li", {}, make("code", {}, name), from ? ` from ${callOf(from)}` : required ? " from whoever asks" : " (optional)"))));
  }
  detail(byId.get(task.call), extra, task.call);
}
function walkTasks(event) {
  const here = event.target.closest(".task");
  if (!here) return;
  const columns = [...document.querySelectorAll(".layer")].map((layer) => [...layer.querySelectorAll(".task")]);
  const column = columns.findIndex((tasks) => tasks.includes(here)), row = columns[column].indexOf(here);
  const stacked = getComputedStyle($("layers")).flexDirection === "column";
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] || [0, 0];
  const [across, along] = stacked ? [dy, dx] : [dx, dy];
  if (!dx && !dy) return;
  event.preventDefault();
  const tasks = columns[Math.min(Math.max(column + across, 0), columns.length - 1)];
  tasks[Math.min(Math.max(row + along, 0), tasks.length - 1)].focus();
}
function linkTasks() {
  const svg = $("links"), layers = $("layers");
  if (!data.plan || $("plan").hidden) return;
  svg.replaceChildren();
  svg.setAttribute("width", layers.scrollWidth);
  svg.setAttribute("height", layers.scrollHeight);
  const origin = layers.getBoundingClientRect(), chosen = document.querySelector('.task[aria-pressed="true"]');
  const box = (id) => document.querySelector(`.task[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
  const stacked = getComputedStyle(layers).flexDirection === "column";
  const marker = draw("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, draw("defs", {}, svg));
  draw("path", { d: "M0 0 L8 4 L0 8 z", style: "fill: var(--quiet); stroke: none" }, marker);
  for (const task of data.plan.tasks) for (const before of task.depends_on) {
    const a = box(before), b = box(task.id);
    if (!a || !b) continue;
    const line = stacked ? downward(a, b, before, task.id) : across(a, b, before, task.id);
    const on = chosen && (chosen.dataset.id === task.id || chosen.dataset.id === before);
    draw("path", { d: line(origin), class: on ? "on" : "", "marker-end": "url(#tip)" }, svg);
  }
}
// A line that passes a layer goes around all of its tasks: behind one it would seem to lead there.
function passed(before, after) {
  const layers = data.plan.layers, first = layers.findIndex((layer) => layer.includes(before)), last = layers.findIndex((layer) => layer.includes(after));
  return layers.slice(first + 1, last).flat().map((id) => document.querySelector(`.task[data-id="${CSS.escape(id)}"]`).getBoundingClientRect());
}
function across(a, b, before, after) {
  const between = passed(before, after), [y1, y2] = [a.top + a.height / 2, b.top + b.height / 2];
  return ({ left, top }) => {
    const [x, y, u, v] = [a.right - left, y1 - top, b.left - left - 3, y2 - top];
    if (!between.length) return `M${x} ${y}C${(x + u) / 2} ${y} ${(x + u) / 2} ${v} ${u} ${v}`;
    const low = Math.max(...between.map((box) => box.bottom)) - top + 12, [l, r] = [Math.min(...between.map((box) => box.left)) - left, Math.max(...between.map((box) => box.right)) - left];
    return `M${x} ${y}C${(x + l) / 2} ${y} ${(x + l) / 2} ${low} ${l} ${low}L${r} ${low}C${(r + u) / 2} ${low} ${(r + u) / 2} ${v} ${u} ${v}`;
  };
}
function downward(a, b, before, after) {
  const between = passed(before, after), [x1, x2] = [a.left + a.width / 2, b.left + b.width / 2];
  return ({ left, top }) => {
    const [x, y, u, v] = [x1 - left, a.bottom - top, x2 - left, b.top - top - 3];
    if (!between.length) return `M${x} ${y}C${x} ${(y + v) / 2} ${u} ${(y + v) / 2} ${u} ${v}`;
    const side = Math.max(...between.map((box) => box.right)) - left + 10, [t, l] = [Math.min(...between.map((box) => box.top)) - top, Math.max(...between.map((box) => box.bottom)) - top];
    return `M${x} ${y}C${x} ${(y + t) / 2} ${side} ${(y + t) / 2} ${side} ${t}L${side} ${l}C${side} ${(l + v) / 2} ${u} ${(l + v) / 2} ${u} ${v}`;
  };
}

// The map: springs pull what is joined together, charges push all apart; the same picture for the same data.

const map = { nodes: [], arcs: [], view: null, unit: 1, chosen: -1 };
function placed() {
  const degree = data.nodes.map(() => 0);
  for (const arc of data.arcs) for (const node of [...arc.tail, arc.head]) degree[node] += 1;
  const order = data.nodes.map((_, index) => index).sort((a, b) => data.nodes[b].calls - data.nodes[a].calls || degree[b] - degree[a] || a - b);
  const drawn = order.slice(0, NODES_DRAWN), place = new Map(drawn.map((node, index) => [node, index]));
  map.nodes = drawn.map((node) => ({ node }));
  map.arcs = data.arcs.filter((arc) => arc.tail.length && place.has(arc.head) && arc.tail.every((node) => place.has(node)))
    .map((arc) => ({ ...arc, from: arc.tail.map((node) => place.get(node)), to: place.get(arc.head) }));
  relax();
  const hidden = data.nodes.length - drawn.length;
  $("left-out").textContent = hidden ? `The ${drawn.length} most used of ${data.nodes.length} are drawn; all are in the list.` : "";
}
/*FORCE*/
function relax() {
  const links = map.arcs.flatMap((arc) => arc.from.map((tail) => ({ source: map.nodes[tail], target: map.nodes[arc.to] })));
  settle(map.nodes, links, { size: SIZE, pull: 0.25 });
}
function showMap() {
  placed();
  for (const [kind, said] of Object.entries(KINDS)) {
    const count = map.arcs.filter((arc) => arc.kind === kind).length;
    const box = make("input", { type: "checkbox", checked: "", onchange: () => { shown[box.checked ? "add" : "delete"](kind); look(); } });
    const label = make("label", {}, box, make("span", { class: "swatch" }), `${said} (${count})`);
    label.style.setProperty("--tint", `var(--${kind})`);
    $("kinds").append(label);
  }
  $("nearer").addEventListener("click", () => zoom(0.75));
  $("farther").addEventListener("click", () => zoom(1.33));
  $("whole").addEventListener("click", fit);
  const svg = $("drawing");
  svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.15 : 0.87); }, { passive: false });
  svg.addEventListener("keydown", mapKey);
  pan(svg);
  drawMap();
  fit();
}
function drawMap() {
  const svg = $("drawing");
  svg.replaceChildren();
  const nodes = [draw("g", { id: "arcs" }, svg), draw("g", {}, svg)][1];
  map.nodes.forEach((place, index) => {
    const node = data.nodes[place.node], size = radius(node);
    const group = draw("g", { class: `node ${node.kind}`, tabindex: index === Math.max(map.chosen, 0) ? 0 : -1, role: "button", "aria-label": node.kind === "tool" ? `${node.id}, called ${plural(node.calls, "time")}` : `${LEVELS[node.kind]} ${node.name}`, "data-index": index }, nodes);
    draw("circle", { r: size }, group);
    draw("text", { x: size + 3, y: 4 }, group).textContent = node.name;
    group.addEventListener("click", () => chooseOnMap(index));
    group.addEventListener("focus", () => chooseOnMap(index));
  });
  look();
}
const radius = (node) => 4 + Math.min(7, Math.sqrt(node.calls) * 0.6);
// Marks keep their size on the screen, however near one looks; a name that would cover another is left out.
function look() {
  const svg = $("drawing"), view = map.view;
  if (!view) return;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  map.unit = Math.max(view.width / (svg.clientWidth || 800), view.height / (svg.clientHeight || 600));
  const taken = [];
  for (const group of svg.querySelectorAll(".node")) {
    const place = map.nodes[group.dataset.index], node = data.nodes[place.node];
    group.setAttribute("transform", `translate(${place.x} ${place.y}) scale(${map.unit})`);
    const x = place.x / map.unit + radius(node), y = place.y / map.unit, box = [x, y - 8, x + 7 * node.name.length, y + 8];
    const covered = taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3]);
    group.classList.toggle("unnamed", covered);
    if (!covered) taken.push(box);
  }
  $("arcs").replaceChildren();
  for (const arc of map.arcs) if (shown.has(arc.kind)) drawArc(arc, $("arcs"));
  highlight();
}
// Tails meet in a joint, from which one line leads to the head: that is what makes it a hyperarc.
function drawArc(arc, parent) {
  const tails = arc.from.map((index) => map.nodes[index]), head = map.nodes[arc.to], colour = `var(--${arc.kind})`;
  const middle = (key) => 0.6 * tails.reduce((sum, tail) => sum + tail[key], 0) / tails.length + 0.4 * head[key];
  const joint = { x: middle("x"), y: middle("y") };
  const group = draw("g", { class: "arc", "data-nodes": [...arc.from, arc.to].join(" ") }, parent);
  const lines = tails.map((tail) => `M${tail.x} ${tail.y}L${joint.x} ${joint.y}`).join("");
  draw("path", { d: `${lines}M${joint.x} ${joint.y}L${head.x} ${head.y}`, style: `stroke: ${colour}` }, group);
  if (tails.length > 1) draw("circle", { class: "joint", cx: joint.x, cy: joint.y, r: 3 * map.unit, style: `fill: ${colour}` }, group);
  const dx = head.x - joint.x, dy = head.y - joint.y, length = Math.hypot(dx, dy) || 1, [ux, uy] = [dx / length, dy / length];
  const reach = (radius(data.nodes[head.node]) + 2) * map.unit, [tx, ty] = [head.x - ux * reach, head.y - uy * reach], [l, w] = [8 * map.unit, 3.5 * map.unit];
  draw("path", { class: "head", style: `fill: ${colour}`, d: `M${tx} ${ty}L${tx - ux * l - uy * w} ${ty - uy * l + ux * w}L${tx - ux * l + uy * w} ${ty - uy * l - ux * w}z` }, group);
}
function chooseOnMap(index) {
  if (map.chosen === index) return;
  map.chosen = index;
  for (const group of document.querySelectorAll("#drawing .node")) group.setAttribute("tabindex", Number(group.dataset.index) === index ? 0 : -1);
  highlight();
  detail(map.nodes[index].node);
}
function highlight() {
  const near = new Set([map.chosen]);
  for (const group of document.querySelectorAll("#drawing .arc")) {
    const ends = group.dataset.nodes.split(" ").map(Number), on = map.chosen < 0 || ends.includes(map.chosen);
    group.classList.toggle("dim", !on);
    if (on && map.chosen >= 0) ends.forEach((end) => near.add(end));
  }
  for (const group of document.querySelectorAll("#drawing .node")) {
    const index = Number(group.dataset.index);
    group.classList.toggle("chosen", index === map.chosen);
    group.classList.toggle("near", map.chosen >= 0 && near.has(index));
    group.classList.toggle("dim", map.chosen >= 0 && !near.has(index));
  }
}
function mapKey(event) {
  if (event.key === "+" || event.key === "=") return zoom(0.75);
  if (event.key === "-") return zoom(1.33);
  if (event.key === "Escape") { map.chosen = -1; return highlight(); }
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  if (!way) return undefined;
  event.preventDefault();
  const here = map.nodes[Math.max(map.chosen, 0)];
  let best = -1, least = Infinity;
  map.nodes.forEach((there, index) => {
    const dx = there.x - here.x, dy = there.y - here.y, along = dx * way[0] + dy * way[1], aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (along > 1 && along + 2 * aside < least) [best, least] = [index, along + 2 * aside];
  });
  if (best >= 0) document.querySelector(`#drawing .node[data-index="${best}"]`).focus();
  return undefined;
}
function fit() {
  const xs = map.nodes.map((node) => node.x), ys = map.nodes.map((node) => node.y);
  if (!xs.length) return;
  const [left, right, top, bottom] = [Math.min(...xs) - 40, Math.max(...xs) + 140, Math.min(...ys) - 40, Math.max(...ys) + 40];
  map.view = { x: left, y: top, width: Math.max(right - left, 200), height: Math.max(bottom - top, 150) };
  look();
}
function zoom(by) {
  const view = map.view;
  if (!view) return;
  map.view = { x: view.x + view.width * (1 - by) / 2, y: view.y + view.height * (1 - by) / 2, width: view.width * by, height: view.height * by };
  look();
}
function pan(svg) {
  let last = null;
  svg.addEventListener("pointerdown", (event) => { if (!event.target.closest(".node")) { last = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); } });
  svg.addEventListener("pointermove", (event) => {
    if (!last || !map.view) return;
    const box = svg.getBoundingClientRect(), scale = Math.max(map.view.width / box.width, map.view.height / box.height);
    map.view.x -= (event.clientX - last[0]) * scale;
    map.view.y -= (event.clientY - last[1]) * scale;
    last = [event.clientX, event.clientY];
    look();
  });
  svg.addEventListener("pointerup", () => { last = null; });
}

// The list, and what is selected.

function showList() {
  $("filter").addEventListener("input", filterList);
  filterList();
}
function filterList() {
  const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = data.nodes.map((node, index) => index)
    .filter((index) => wanted.every((word) => `${data.nodes[index].id} ${data.nodes[index].name} ${data.nodes[index].about}`.toLowerCase().includes(word)))
    .sort((a, b) => data.nodes[b].calls - data.nodes[a].calls || data.nodes[a].id.localeCompare(data.nodes[b].id));
  $("count").textContent = `${plural(found.length, "tool")}${found.length > 200 ? ", the first 200 shown" : ""}`;
  $("names").replaceChildren(...found.slice(0, 200).map((index) => make("li", {}, make("button", { type: "button", onclick: () => detail(index) },
    data.nodes[index].kind === "tool" ? data.nodes[index].id : `${LEVELS[data.nodes[index].kind]}: ${data.nodes[index].name}`, make("small", {}, data.nodes[index].about)))));
}
function detail(index, extra = [], name = "") {
  const node = data.nodes[index], box = $("detail");
  box.classList.toggle("empty", !node && !name);
  if (!node) {
    box.replaceChildren(make("h2", {}, name || "Nothing selected"), make("p", { class: "quiet" }, name ? "It is not registered: only traces name it." : "Choose a task, or a tool on the map or in the list."), ...extra);
    return;
  }
  const rate = node.calls ? `, ${percent(node.good / node.calls)} went well` : "";
  const grouped = node.kind !== "tool";
  const parts = [make("h2", {}, grouped ? node.name : node.id), make("p", { class: "quiet" }, grouped ? LEVELS[node.kind] : `tool; called ${plural(node.calls, "time")}${rate}`), make("p", {}, node.about || "It says nothing about itself."), ...extra];
  if (node.inputs.length) parts.push(make("h3", {}, "Takes"), make("ul", {}, ...node.inputs.map((input) => make("li", {}, make("code", {}, input.name), ` ${input.type}${input.required ? "" : ", optional"}`))));
  parts.push(...around(index, (arc) => arc.head === index, node.kind === "tool" ? "Comes after" : "Contains", (arc) => arc.tail));
  parts.push(...around(index, (arc) => arc.tail.includes(index), "Leads to", (arc) => [arc.head]));
  box.replaceChildren(...parts);
}
function around(index, wanted, title, ends) {
  const arcs = data.arcs.filter((arc) => wanted(arc) && ends(arc).length).sort((a, b) => a.weight - b.weight).slice(0, 20);
  if (!arcs.length) return [];
  return [make("h3", {}, title), make("ul", {}, ...arcs.map((arc) => make("li", {},
    ...ends(arc).flatMap((end, number) => [number ? " and " : "", make("button", { class: "link", type: "button", onclick: () => detail(end) }, data.nodes[end].kind === "tool" ? data.nodes[end].id : data.nodes[end].name)]),
    make("span", { class: "quiet" }, ` ${arc.input ? `as ${arc.input}` : KINDS[arc.kind] || arc.kind}${arc.seen ? `, ${plural(arc.seen, "time")}` : ""}`))))];
}

$("summary").textContent = `${plural(data.tools, "tool")}, ${plural(data.traces, "trace")}, ${plural(data.arcs.length, "relation")}`;
theme();
tabs();
showPlan();
showMap();
showList();
detail(-1);
open(data.plan ? "plan" : data.nodes.length ? "map" : "list");
