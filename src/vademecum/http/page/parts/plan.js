// A suggested plan as a drawing: tasks of one layer can run at the same time, lines lead from what each waits for.

import { holds } from "../api.js";
import { el, fresh, svg } from "../dom.js";
import { percent, plural } from "../format.js";
import { layers } from "../layers.js";
import { link } from "../router.js";
import { bar } from "./evidence.js";
import { empty } from "./dialog.js";

const WIDEST = 210, NARROWEST = 132, HEIGHT = 62, ACROSS = 44;  // a task, and the room between two layers, in pixels
const PADDING = 36;

/** Show a plan in so many pixels; `chosen(task)` is told which task one asks about. */
export function plan(found, room, chosen) {
  if (!found.tasks.length) return empty("There is no plan for this", found.reason || "Nothing that was observed, and no tool that is registered, leads there.");
  const wide = Math.round(Math.max(NARROWEST, Math.min(WIDEST, (room - PADDING + ACROSS) / found.layers.length - ACROSS)));
  const { places, order, width, height } = layers(found.tasks, found.layers, { width: wide, height: HEIGHT, across: ACROSS });
  const tip = fresh("tip"), tasks = new Map(found.tasks.map((task) => [task.id, task]));
  const lines = svg("svg", { class: "plan-lines", width, height, "aria-hidden": "true" }, svg("defs", {}, svg("marker", { id: tip, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0 1 8 4 0 7z" }))));
  for (const task of found.tasks) {
    for (const before of task.depends_on) {
      const a = places.get(before), b = places.get(task.id);
      if (a && b) lines.append(svg("path", { class: "plan-line", d: way(a, b, wide, height), "marker-end": `url(#${tip})`, data: { from: before, to: task.id } }));
    }
  }
  const buttons = order.flat().map((id) => {
    const task = tasks.get(id), place = places.get(id);
    const button = el("button", { type: "button", class: "task", data: { id }, "aria-pressed": "false", onclick: () => choose(id) },
      el("b", {}, task.call), el("small", {}, task.depends_on.length ? `after ${task.depends_on.map((each) => tasks.get(each)?.call.split("/").at(-1) || each).join(", ")}` : "first"));
    button.style.width = `${wide}px`;
    button.style.transform = `translate(${place.x}px, ${place.y}px)`;
    return button;
  });
  function choose(id) {
    for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.id === id);
    for (const line of lines.querySelectorAll(".plan-line")) line.classList.toggle("near", line.dataset.from === id || line.dataset.to === id);
    chosen(tasks.get(id));
  }
  const sheet = el("div", { class: "plan-sheet", role: "group", "aria-label": "Plan, layer by layer", onkeydown: (event) => walk(event, order, buttons) }, lines, buttons);
  sheet.style.width = `${width}px`;
  sheet.style.height = `${height}px`;
  return [
    el("p", { class: "verdict" }, el("span", { class: "badge" }, "Plan"), el("span", { class: "meter" }, bar(found.confidence), el("span", { class: "figure" }, percent(found.confidence))),
      el("span", {}, `${plural(found.tasks.length, "task")} in ${plural(found.layers.length, "layer")}`), found.evidence.length && holds("/tools/traces") ? el("span", { class: "quiet" }, "as in ", el("a", { href: link("tools", { tab: "traces", trace: found.evidence[0] }) }, plural(found.evidence.length, "trace"))) : "", found.reason ? el("span", { class: "quiet" }, found.reason) : ""),
    found.missing.length ? el("p", { class: "missing" }, el("span", { class: "tag warn" }, "asks for"), " ", found.missing.map((each) => el("code", { class: "chip" }, each))) : "",
    el("div", { class: "plan-box" }, sheet),
  ];
}

// A line that passes a layer goes below all of it: behind a task it would seem to lead there.
function way(a, b, wide, height) {
  const [x, y, u, v] = [a.x + wide, a.y + HEIGHT / 2, b.x - 2, b.y + HEIGHT / 2];
  if (b.layer - a.layer < 2) return `M${x} ${y}C${(x + u) / 2} ${y} ${(x + u) / 2} ${v} ${u} ${v}`;
  const low = height + 10;
  return `M${x} ${y}C${x + 22} ${y} ${x + 22} ${low} ${x + 44} ${low}L${u - 42} ${low}C${u - 20} ${low} ${u - 20} ${v} ${u} ${v}`;
}

function walk(event, order, buttons) {
  const here = event.target.closest(".task"), step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  if (!here || !step) return;
  event.preventDefault();
  event.stopPropagation();
  const layer = order.findIndex((ids) => ids.includes(here.dataset.id)), row = order[layer].indexOf(here.dataset.id);
  const ids = order[Math.max(0, Math.min(order.length - 1, layer + step[0]))], id = ids[Math.max(0, Math.min(ids.length - 1, row + step[1]))];
  buttons.find((button) => button.dataset.id === id).focus();
}

