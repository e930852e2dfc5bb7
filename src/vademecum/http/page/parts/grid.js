// A table of any length: only the rows on the screen exist as elements. It is a grid for whoever does not see it, moved
// through by arrow keys, with the position of each row said.

import { el, fresh, replace } from "../dom.js";

const AROUND = 6;  // rows drawn beyond what is seen

/**
 * `columns`: { key, title, class, sort(row) → number or string, cell(row) → what to show }.
 * `height`: of a row in pixels. `onopen(row)`: Enter or a press. `onselect(row)`: also arrows. `onend()`: the last row is near.
 */
export class Grid {
  constructor({ columns, label, height = 32, onopen = null, onselect = null, onend = null, empty = "Nothing here.", sorted = "", descending = false }) {
    Object.assign(this, { columns, height, onopen, onselect, onend, empty, sorted, descending, rows: [], active: -1, id: fresh("grid") });
    this.head = el("div", { class: "grid-head", role: "row", "aria-rowindex": "1" });
    this.sheet = el("div", { class: "sheet", role: "rowgroup" });
    this.nothing = el("p", { class: "empty", hidden: true });
    this.element = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": label, onkeydown: (event) => this.#key(event), onfocus: () => this.#focused() },
      el("div", { role: "rowgroup", class: "grid-top" }, this.head), this.sheet);
    this.whole = el("div", { class: "grid-box" }, this.element, this.nothing);
    this.element.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.sheet.addEventListener("click", (event) => this.#click(event));
    this.watch = new ResizeObserver(() => this.#draw());
    this.watch.observe(this.element);
    this.#heads();
  }

  /** Show these rows. */
  show(rows, empty = this.empty) {
    this.source = rows;
    this.rows = this.#ordered(rows);
    this.active = Math.min(this.active, rows.length - 1);
    this.element.setAttribute("aria-rowcount", rows.length + 1);
    this.element.setAttribute("aria-colcount", this.columns.length);
    this.sheet.style.height = `${rows.length * this.height}px`;
    this.element.hidden = !rows.length;
    this.nothing.hidden = Boolean(rows.length);
    replace(this.nothing, empty);
    this.#draw(true);
  }

  /** Choose the row for which `test` holds and bring it into view. */
  choose(test) {
    const index = this.rows.findIndex(test);
    if (index >= 0) this.#go(index, false);
  }

  close() { this.watch.disconnect(); }

  #ordered(rows) {
    const column = this.columns.find((each) => each.key === this.sorted);
    if (!column?.sort) return rows;
    const turn = this.descending ? -1 : 1;
    const keyed = rows.map((row, index) => [column.sort(row), index, row]);
    keyed.sort(([a, i], [b, j]) => (a === b ? i - j : a === null || a === undefined ? 1 : b === null || b === undefined ? -1 : (a < b ? -1 : 1) * turn));
    return keyed.map((each) => each[2]);
  }

  #heads() {
    replace(this.head, this.columns.map((column) => {
      const on = this.sorted === column.key, order = on ? (this.descending ? "descending" : "ascending") : column.sort ? "none" : undefined;
      const inside = column.sort ? el("button", { type: "button", onclick: () => this.#sort(column) }, column.title, el("span", { class: "order", "aria-hidden": "true" }, on ? (this.descending ? " ↓" : " ↑") : "")) : column.title;
      return el("div", { role: "columnheader", class: `cell ${column.class || ""}`, "aria-sort": order }, inside);
    }));
  }

  #sort(column) {
    this.descending = this.sorted === column.key ? !this.descending : Boolean(column.descending);
    this.sorted = column.key;
    this.rows = this.#ordered(this.source);
    this.#heads();
    this.head.querySelectorAll("[role=columnheader]")[this.columns.indexOf(column)].querySelector("button").focus();
    this.element.scrollTop = 0;
    this.#draw(true);
  }

  #draw(anew = false) {
    const seen = this.element.clientHeight || 600;
    const from = Math.max(0, Math.floor(this.element.scrollTop / this.height) - AROUND);
    const to = Math.min(this.rows.length, Math.ceil((this.element.scrollTop + seen) / this.height) + AROUND);
    if (!anew && this.drawn === `${from}-${to}`) return;
    this.drawn = `${from}-${to}`;
    this.sheet.replaceChildren(...this.rows.slice(from, to).map((row, index) => this.#row(row, from + index)));
    this.#mark();
    if (to >= this.rows.length) this.onend?.();
  }

  #row(row, index) {
    const line = el("div", { class: "grid-row", role: "row", id: `${this.id}-${index}`, "aria-rowindex": index + 2, data: { index } },
      this.columns.map((column) => el("div", { class: `cell ${column.class || ""}`, role: "gridcell" }, column.cell(row))));
    line.style.transform = `translateY(${index * this.height}px)`;
    line.style.height = `${this.height}px`;
    return line;
  }

  #mark() {
    for (const line of this.sheet.children) {
      const on = Number(line.dataset.index) === this.active;
      line.classList.toggle("active", on);
      if (this.onselect || this.onopen) line.setAttribute("aria-selected", on);
    }
    if (this.active >= 0 && this.sheet.querySelector(`#${this.id}-${this.active}`)) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #focused() {
    if (this.active < 0 && this.rows.length) this.#go(0, false);
  }

  #go(index, tell = true) {
    this.active = Math.max(0, Math.min(index, this.rows.length - 1));
    const top = this.active * this.height, { scrollTop, clientHeight } = this.element, head = this.head.offsetHeight;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight - head) this.element.scrollTop = top + this.height - clientHeight + head;
    this.#draw();
    this.#mark();
    if (tell) this.onselect?.(this.rows[this.active]);
  }

  #click(event) {
    const line = event.target.closest(".grid-row");
    if (!line || event.target.closest("a, button, input")) return;
    this.#go(Number(line.dataset.index));
    this.onopen?.(this.rows[this.active]);
  }

  #key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 2);
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (step) this.#go(step === Infinity ? this.rows.length - 1 : step === -Infinity ? 0 : this.active + step);
    else if (event.key === "Enter" && this.active >= 0) this.onopen?.(this.rows[this.active]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
