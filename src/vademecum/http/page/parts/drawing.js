// A drawing of nodes that one can move, come closer to, and walk through by keys. What is drawn is up to whoever uses it.

import { el, svg } from "../dom.js";

const CLOSEST = 4, FARTHEST = 0.1;

/**
 * `label`: what it is. `place(node)` gives { x, y, width of the label } in drawing units; nodes are elements handed to
 * `nodes([[item, element], …])`. Arrow keys go from node to node, `onfocus(item)` and `onopen(item)` tell; `onscale(unit)`
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
    const names = width > 600 ? 180 : 90, room = [Math.max(60, width - names - 30), Math.max(60, height - 60)];
    const scale = Math.min(1.5, room[0] / (right - left || 1), room[1] / (bottom - top || 1));
    this.at = { scale, x: (width - names + 30 - (left + right) * scale) / 2, y: (height - (top + bottom) * scale) / 2 };
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

  // Marks and names keep their size on the screen; a name that would cover another is left out until one comes closer.
  #move() {
    const { x, y, scale } = this.at, taken = [];
    this.view.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    if (scale !== this.scaled) this.onscale?.(1 / scale);
    this.scaled = scale;
    for (const [item, element] of this.items) {
      element.setAttribute("transform", `translate(${item.x} ${item.y}) scale(${1 / scale})`);
      const left = x + item.x * scale, top = y + item.y * scale, box = [left - 8, top - 8, left + 14 + 7 * (item.label || "").length, top + 8];
      const covered = taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3]);
      element.classList.toggle("unnamed", covered && !element.classList.contains("centre"));
      taken.push(covered ? [left - 6, top - 6, left + 6, top + 6] : box);
    }
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

// What lies in a direction: near, and not far aside.
function nearest([from], items, [wx, wy]) {
  let best = null, least = Infinity;
  for (const pair of items) {
    const dx = pair[0].x - from.x, dy = pair[0].y - from.y, along = dx * wx + dy * wy, aside = Math.abs(dx * wy) + Math.abs(dy * wx);
    if (along > 1 && along + 2 * aside < least) { least = along + 2 * aside; best = pair; }
  }
  return best;
}
