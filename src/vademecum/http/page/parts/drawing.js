// A drawing of nodes that one can move, come closer to, and walk through by keys. What is drawn is up to whoever uses it.

import { el, svg } from "../dom.js";

const CLOSEST = 4, FARTHEST = 0.1;

/**
 * `label`: what it is. Nodes are elements with a `text`, handed to `nodes([[item, element], …])`, the most important first; an
 * item has `x` and `y` in drawing units, its `label`, and how far its mark reaches in pixels (`reach`). Arrow keys go from node to node, `onfocus(item)` and `onopen(item)` tell; `onscale(unit)`
 * is told how many units of the drawing a pixel is.
 */
export class Drawing {
  constructor({ label, onfocus = () => {}, onopen = () => {} }) {
    Object.assign(this, { onfocus, onopen, items: [], at: { x: 0, y: 0, scale: 1 }, fingers: new Map() });
    this.view = svg("g");
    this.svg = svg("svg", { class: "drawing", role: "group", "aria-label": `${label}. Arrow keys go from node to node, Enter walks there, plus and minus zoom.` }, this.view);
    const button = (text, said, act) => el("button", { type: "button", class: "button", "aria-label": said, title: said, onclick: act }, text);
    this.element = el("div", { class: "drawing-box" }, this.svg, el("div", { class: "zoom" },
      button("+", "Closer", () => this.zoom(1.3)), button("−", "Farther", () => this.zoom(1 / 1.3)), button("⤢", "Everything", () => this.fit())));
    this.svg.addEventListener("wheel", (event) => { event.preventDefault(); this.#zoomAt(event, Math.exp(-event.deltaY / 500)); }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.fingers.set(event.pointerId, [event.clientX, event.clientY]));
    this.svg.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) this.svg.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
    this.svg.addEventListener("keydown", (event) => this.#key(event));
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.svg);
  }

  /** Say what can be reached: [item, element], the items with x and y. */
  nodes(pairs) {
    this.items = pairs;
    pairs.forEach(([item, element], index) => {
      element.setAttribute("tabindex", index ? -1 : 0);
      element.addEventListener("focus", () => { this.#only(element); this.onfocus(item); });
      element.addEventListener("click", () => { if (!this.dragged) this.onopen(item); });
      element.addEventListener("pointerenter", () => this.onfocus(item));
    });
    this.fit();
  }

  close() { this.watch.disconnect(); }

  /** Show everything. */
  fit() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (!this.items.length || !width) return;
    const xs = this.items.map(([item]) => item.x), ys = this.items.map(([item]) => item.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const names = width > 600 ? 80 : 56, room = [Math.max(60, width - 2 * names), Math.max(60, height - 84)];  // below are the buttons
    const scale = Math.min(1.5, room[0] / (right - left || 1), room[1] / (bottom - top || 1));
    this.at = { scale, x: (width - (left + right) * scale) / 2, y: (height - 32 - (top + bottom) * scale) / 2 };
    this.#move();
  }

  zoom(by) {
    const { width, height, left, top } = this.svg.getBoundingClientRect();
    this.#zoomAt({ clientX: left + width / 2, clientY: top + height / 2 }, by);
  }

  #zoomAt({ clientX, clientY }, by) {
    const frame = this.svg.getBoundingClientRect(), x = clientX - frame.left, y = clientY - frame.top, { at } = this;
    const scale = Math.max(FARTHEST, Math.min(CLOSEST, at.scale * by)), share = scale / at.scale;
    this.at = { scale, x: x - (x - at.x) * share, y: y - (y - at.y) * share };
    this.#move();
  }

  // Marks and names keep their size on the screen. A name stands where it covers no mark and no name, beside its own or above or
  // below it, and inside the frame, shortened where it must be; where there is no such place it is left out until one comes closer.
  #move() {
    const { x, y, scale } = this.at, { width, height } = this.svg.getBoundingClientRect();
    this.view.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    if (scale !== this.scaled) this.onscale?.(1 / scale);
    this.scaled = scale;
    const taken = this.items.map(([item]) => around(x + item.x * scale, y + item.y * scale, item.reach ?? 6));
    this.items.forEach(([item, element], own) => {
      element.setAttribute("transform", `translate(${item.x} ${item.y}) scale(${1 / scale})`);
      const left = x + item.x * scale, top = y + item.y * scale, centre = element.classList.contains("centre");
      const places = names(item, left, width, !centre).map((name) => [name, [left + name.box[0], top + name.box[1], left + name.box[2], top + name.box[3]]]);
      const free = ([, [l, t, r, b]]) => taken.every((box, index) => index === own || l >= box[2] || box[0] >= r || t >= box[3] || box[1] >= b);
      const inside = ([, [l, t, r, b]]) => l >= 0 && t >= 0 && r <= width && b <= height;
      const found = places.find((place) => free(place) && inside(place));
      element.classList.toggle("unnamed", !found && !centre);
      const [name, box] = found || places[0];
      const text = element.querySelector("text");
      if (text && text.textContent !== name.said) text.textContent = name.said;
      for (const [key, value] of Object.entries(name.at)) text?.setAttribute(key, value);
      if (found || centre) taken.push(box);
    });
  }

  #drag(event) {
    const last = this.fingers.get(event.pointerId);
    if (!last) { this.dragged = false; return; }
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    if (Math.hypot(dx, dy) < 3 && !this.dragged) return;  // a hand that presses is not still
    this.dragged = true;
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.fingers.size === 1) {
      this.at.x += dx;
      this.at.y += dy;
      this.#move();
      return;
    }
    const [other] = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const before = Math.hypot(last[0] - other[0], last[1] - other[1]) || 1;
    this.#zoomAt({ clientX: other[0], clientY: other[1] }, Math.hypot(event.clientX - other[0], event.clientY - other[1]) / before);
  }

  #only(element) {
    for (const [, each] of this.items) each.setAttribute("tabindex", each === element ? 0 : -1);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = this.items.find(([, element]) => element === event.target);
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (way && here) nearest(here, this.items, way)?.[1].focus();
    else if (event.key === "Enter" && here) this.onopen(here[0]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

const around = (x, y, reach) => [x - reach - 1, y - reach - 1, x + reach + 1, y + reach + 1];
const LETTER = 6.4, LINE = 15, MARGIN = 4;  // pixels that a letter of a name takes, a line of it, and its wider letters

const SHORT = 10;  // letters of a name that is shortened: the beginning and the end, which tell similar names apart

// Where the name of an item may stand, the best first, as attributes and as the room it takes around the item's middle. `may` is
// whether the name may be shortened.
function names({ label = "", reach = 6 }, left, width, may) {
  const short = may && label.length > SHORT ? `${label.slice(0, SHORT / 2)}…${label.slice(1 - SHORT / 2)}` : "";
  return [label, short].filter((said, index) => said || !index).flatMap((said) => places(said, reach, left, width));
}

// Above and below, a name moves aside as far as the frame needs.
function places(said, reach, left, width) {
  const wide = LETTER * said.length + MARGIN, beside = reach + 4, half = LINE / 2;
  const aside = Math.max(-wide / 2, Math.min(wide / 2, Math.max(wide / 2 - left, Math.min(0, width - wide / 2 - left))));
  return [
    { said, at: { x: beside, y: 4, "text-anchor": "start" }, box: [beside, -half, beside + wide, half] },
    { said, at: { x: -beside, y: 4, "text-anchor": "end" }, box: [-beside - wide, -half, -beside, half] },
    { said, at: { x: aside, y: reach + 12, "text-anchor": "middle" }, box: [aside - wide / 2, reach + 1, aside + wide / 2, reach + 1 + LINE] },
    { said, at: { x: aside, y: -reach - 5, "text-anchor": "middle" }, box: [aside - wide / 2, -reach - 1 - LINE, aside + wide / 2, -reach - 1] },
  ];
}

// What lies in a direction: near, and not far aside.
function nearest([from], items, [wx, wy]) {
  let best = null, least = Infinity;
  for (const pair of items) {
    const dx = pair[0].x - from.x, dy = pair[0].y - from.y, along = dx * wx + dy * wy, aside = Math.abs(dx * wy) + Math.abs(dy * wx);
    if (along > 1 && along + 2 * aside < least) { least = along + 2 * aside; best = pair; }
  }
  return best;
}
