// The repository as a treemap: each file an area as large as it has lines, coloured by what one asks about; and as a table.

import { all } from "../api.js";
import { colour, el, replace } from "../dom.js";
import { ago, count, date, plural, size } from "../format.js";
import { empty, within } from "../parts/dialog.js";
import { bar, place } from "../parts/evidence.js";
import { Grid } from "../parts/grid.js";
import { repositories } from "../parts/repositories.js";
import { choice } from "../parts/tabs.js";
import { go, link } from "../router.js";
import { at, cells, leaves, tree } from "../treemap.js";

export const title = "Map";
const YEAR_S = 31557600;
const density = (file) => (file.lines ? 100 * file.complexity / file.lines : 0);
// What can be asked: its name, a share of 0 to 1 or a class for each file, and what the ends mean.
const COLOURS = {
  complexity: { said: "Complexity", share: (file, _, high) => (file.complexity ? Math.min(1, density(file) / high) : null), low: "little", high: (high) => `${Math.round(high)} branches in 100 lines and more` },
  age: { said: "Last commit", share: (file, now) => (file.modified_at ? 1 - Math.min(1, Math.log1p((now - file.modified_at) / 86400) / Math.log1p(2 * YEAR_S / 86400)) : null), low: "two years ago", high: () => "today" },
  freshness: { said: "Freshness", kinds: { fresh: ["raised", "as indexed"], edited: ["warn", "edited since"], stale: ["bad", "gone"] }, kind: (file) => file.freshness },
  kind: { said: "Kind", kinds: { product: ["name", "code"], test: ["typed", "tests"], doc: ["unique", "documents"], config: ["keyword", "configuration"], example: ["type", "examples"], vendored: ["quiet", "vendored"], generated: ["edge", "generated"] }, kind: (file) => file.file_kind },
};
const STEPS = 7;  // shades of a scale
const HIGH = 0.95;  // the share of files that are less complex than what has the darkest shade
const kept = new Map();  // files by repository, until something is indexed
addEventListener("indexed", () => kept.clear());

export function open(main, parameters) {
  let current = parameters, files = null, root = null, view = null, asking = new AbortController();
  const head = el("div", { class: "view-head" }, el("h1", {}, "Map"), el("p", { class: "quiet", id: "map-count", role: "status" }));
  const crumbs = el("nav", { class: "crumbs map-crumbs", "aria-label": "Folder" });
  const body = el("div", { class: "map-body" });
  const change = (more) => go("map", { ...Object.fromEntries(current), ...more });
  const by = choice("Colour by", Object.entries(COLOURS).map(([value, { said }]) => [value, said]), (value) => change({ by: value === "complexity" ? "" : value }));
  const as = choice("Show as", [["drawing", "Drawing"], ["table", "Table"]], (value) => change({ as: value === "drawing" ? "" : value }));
  const which = repositories((repo) => go("map", { repo, by: current.get("by"), as: current.get("as") }));
  replace(main, el("div", { class: "map-view" }, head, el("div", { class: "bar-row" }, which.element, by.element, as.element, crumbs), body));

  async function update(given) {
    const repo = given.get("repo") || "", anew = !files || repo !== (current.get("repo") || "");
    current = given;
    by.set(given.get("by") || "complexity");
    as.set(given.get("as") || "drawing");
    which.set(repo);
    if (anew) {
      replace(body, el("div", { class: "skeleton map-skeleton", "aria-hidden": "true" }, el("div", {})));
      files = await within(body, async () => load(repo));
      if (!files) return;
      root = tree(files, (file) => file.lines);
    }
    show();
  }

  async function load(repo) {
    if (!kept.has(repo)) {
      asking = new AbortController();
      kept.set(repo, await all("/graph/files", { repo, limit: 5000 }, asking.signal, (done, total) => {
        document.getElementById("map-count").textContent = done < total ? `${count(done)} of ${plural(total, "file")}` : "";
      }));
    }
    return kept.get(repo);
  }

  function show() {
    const path = current.get("in") || "", folder = at(root, path), repo = current.get("repo") || "";
    view?.close();
    view = null;
    replace(crumbs, el("a", { href: link("map", { ...Object.fromEntries(current), in: "" }), "aria-current": path ? undefined : "page" }, "all files"),
      path ? path.split("/").map((step, number, steps) => [el("span", { class: "slash" }, " / "), el("a", { href: link("map", { ...Object.fromEntries(current), in: steps.slice(0, number + 1).join("/") }), "aria-current": number === steps.length - 1 ? "page" : undefined }, el("bdi", {}, step))]) : "");
    if (!files.length) { replace(body, empty("Nothing is indexed yet", el("a", { href: link("index") }, "Index the repository"))); return; }
    if (!folder?.folder) { replace(body, empty(`There is no folder ${path}`, el("a", { href: link("map", { repo }) }, "Show all files"))); return; }
    document.getElementById("map-count").textContent = `${plural(folder.files, "file")}, ${plural(folder.size, "line")}`;
    const inside = path ? files.filter((file) => file.path.startsWith(`${path}/`)) : files;
    view = current.get("as") === "table" ? table(inside, repo) : drawing(folder, { ...(COLOURS[current.get("by")] || COLOURS.complexity), top: highest(files) }, repo, (to) => change({ in: to }));
    replace(body, view.element);
    view.ready?.();
  }

  update(parameters);
  return { update, close: () => { view?.close(); asking.abort(); }, keys: [
    ["Backspace u", "out of the folder", () => { const path = current.get("in") || ""; if (!path) return false; change({ in: path.split("/").slice(0, -1).join("/") }); return true; }],
    ["f", "to the drawing or table", () => body.querySelector("canvas, [role=grid]")?.focus()],
    ["v", "drawing or table", () => change({ as: current.get("as") === "table" ? "" : "table" })],
  ] };
}

// How complex a file is that few exceed, so that the shades tell this repository's files apart.
function highest(files) {
  const measured = files.filter((file) => file.complexity).map(density).sort((a, b) => a - b);
  return measured[Math.floor(measured.length * HIGH)] || 1;
}

function table(files, repo) {
  const now = Date.now() / 1000, most = files.reduce((high, file) => Math.max(high, density(file)), 1);
  const grid = new Grid({
    label: "Files", sorted: "lines", descending: true, onopen: (file) => go("file", { path: file.path, repo }),
    columns: [
      { key: "path", title: "File", class: "wide", sort: (file) => file.path, cell: (file) => place({ ...file, repo }, { line: 0, end: 0 }) },
      { key: "language", title: "Language", class: "extra", sort: (file) => file.language, cell: (file) => file.language },
      { key: "lines", title: "Lines", class: "figure", descending: true, sort: (file) => file.lines, cell: (file) => count(file.lines) },
      { key: "bytes", title: "Size", class: "figure extra", descending: true, sort: (file) => file.bytes, cell: (file) => size(file.bytes) },
      { key: "chunks", title: "Chunks", class: "figure extra", descending: true, sort: (file) => file.chunks, cell: (file) => count(file.chunks) },
      { key: "complexity", title: "Branches", class: "figure extra", descending: true, sort: (file) => file.complexity, cell: (file) => (file.complexity ? count(file.complexity) : "") },
      { key: "density", title: "In 100 lines", class: "figure", descending: true, sort: (file) => density(file) || null, cell: (file) => (file.complexity ? [bar(density(file), most), el("span", { class: "beside-bar" }, density(file).toFixed(0))] : "") },
      { key: "freshness", title: "Freshness", class: "extra", sort: (file) => file.freshness, cell: (file) => (file.freshness === "fresh" ? "fresh" : el("span", { class: `tag ${file.freshness === "stale" ? "bad" : "warn"}` }, file.freshness)) },
      { key: "modified", title: "Changed", class: "figure extra", descending: true, sort: (file) => file.modified_at, cell: (file) => (file.modified_at ? el("span", { title: date(file.modified_at) }, ago(file.modified_at, now)) : "") },
    ],
  });
  grid.element.classList.add("files-grid");
  grid.show(files);
  return { element: grid.whole, close: () => grid.close() };
}

// The drawing, on a canvas: its cost is the screen's size, not the repository's.

function drawing(folder, asked, repo, enter) {
  const canvas = el("canvas", { class: "treemap", tabindex: "0", role: "application", "aria-roledescription": "treemap", "aria-label": `Treemap of ${folder.path || "the repository"}: ${plural(folder.files, "file")}. Arrow keys go from area to area, Enter goes in, Backspace out. The table says the same.` });
  const tip = el("div", { class: "map-tip", hidden: true }), told = el("p", { class: "unseen", role: "status" });
  const box = el("div", { class: "map-box" }, canvas, tip);
  const element = el("div", {}, box, told, scale(asked));
  let drawn = [], chosen = null, over = null, palette = null;
  const now = Date.now() / 1000;

  function paint() {
    const { width, height } = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1, pen = canvas.getContext("2d");
    if (!width) return;
    palette ||= colours(asked);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.scale(ratio, ratio);
    drawn = cells(folder, { x: 0, y: 0, width, height });
    canvas.dataset.cells = drawn.length - 1;
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, width, height);
    pen.textBaseline = "middle";
    for (const cell of drawn) area(pen, cell, palette, asked, now);
    for (const [cell, style, thick] of [[over, palette.ink, 1], [chosen && drawn.find((each) => each.item === chosen), palette.accent, 3]]) {
      if (!cell) continue;
      pen.strokeStyle = style;
      pen.lineWidth = thick;
      pen.strokeRect(cell.x + thick / 2, cell.y + thick / 2, Math.max(1, cell.width - thick), Math.max(1, cell.height - thick));
    }
  }
  const under = (event, deepest = Infinity) => {
    const { left, top } = canvas.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
    let found = null;
    for (const cell of drawn) if (cell.depth >= 0 && cell.depth <= deepest && x >= cell.x && x < cell.x + cell.width && y >= cell.y && y < cell.y + cell.height) found = cell;
    return found;
  };
  const into = (item) => {
    if (!item.folder) { go("file", { path: item.path, repo }); return; }
    enter(item.path);
  };
  // A press goes into the outermost folder under it; a file of this very folder is opened.
  canvas.addEventListener("click", (event) => {
    const cell = under(event, 0);
    if (cell) into(cell.item);
  });
  canvas.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (cell !== over) { over = cell; paint(); }
    tip.hidden = !cell;
    if (!cell) return;
    replace(tip, describe(cell.item, now));
    const { left, top, width, height } = box.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(event.clientX - left + 14, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(0, Math.min(event.clientY - top + 16, height - tip.offsetHeight - 4))}px`;
  });
  canvas.addEventListener("pointerleave", () => { over = null; tip.hidden = true; paint(); });
  canvas.addEventListener("focus", () => { if (!chosen) choose(top()[0]); });
  canvas.addEventListener("keydown", (event) => {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (way) choose(towards(top(), drawn.find((each) => each.item === chosen), way));
    else if (event.key === "Enter" && chosen) into(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const top = () => drawn.filter((cell) => cell.depth === 0);
  function choose(cell) {
    if (!cell) return;
    chosen = cell.item;
    told.textContent = `${chosen.path}: ${chosen.folder ? plural(chosen.files, "file") + ", " : ""}${plural(chosen.size, "line")}`;
    paint();
  }
  const anew = () => { palette = null; paint(); };
  const watch = new ResizeObserver(paint), dark = matchMedia("(prefers-color-scheme: dark)");
  watch.observe(canvas);
  addEventListener("themechange", anew);
  dark.addEventListener("change", anew);
  return { element, ready: paint, close: () => { watch.disconnect(); removeEventListener("themechange", anew); dark.removeEventListener("change", anew); } };
}

function towards(items, here, [wx, wy]) {
  if (!here) return items[0];
  const middle = (cell) => [cell.x + cell.width / 2, cell.y + cell.height / 2], [fx, fy] = middle(here);
  let best = here, least = Infinity;
  for (const cell of items) {
    const [x, y] = middle(cell), along = (x - fx) * wx + (y - fy) * wy, aside = Math.abs((x - fx) * wy) + Math.abs((y - fy) * wx);
    if (along > 1 && along + 2 * aside < least) { least = along + 2 * aside; best = cell; }
  }
  return best;
}

function describe(item, now) {
  const { file } = item;
  if (!file) return [el("b", {}, `${item.path}/`), el("br"), `${plural(item.files, "file")}, ${plural(item.size, "line")}`];
  return [el("b", {}, file.path), el("br"), `${plural(file.lines, "line")} of ${file.language}, ${plural(file.chunks, "chunk")}`, el("br"),
    file.complexity ? `complexity ${count(file.complexity)}, ${density(file).toFixed(0)} in 100 lines` : "no functions measured", el("br"),
    file.freshness === "fresh" ? "as indexed" : file.freshness, file.modified_at ? `, changed ${ago(file.modified_at, now)}` : ""];
}

// Shades between two colours of the stylesheet, by what the browser makes of `color-mix`.
function colours(asked) {
  const probe = (value) => {
    const element = document.body.appendChild(el("i", { style: { color: value } })), found = getComputedStyle(element).color;
    element.remove();
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    pen.fillStyle = found;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = pen.getImageData(0, 0, 1, 1).data;
    return { fill: `rgb(${r} ${g} ${b})`, light: (0.2126 * (r / 255) ** 2.2 + 0.7152 * (g / 255) ** 2.2 + 0.0722 * (b / 255) ** 2.2) > 0.19 };
  };
  const shades = Array.from({ length: STEPS }, (_, step) => probe(`color-mix(in oklab, var(--accent) ${Math.round(8 + 92 * step / (STEPS - 1))}%, var(--paper))`));
  const kinds = Object.fromEntries(Object.entries(asked.kinds || {}).map(([kind, [name]]) => [kind, probe(`color-mix(in oklab, var(--${name}) 72%, var(--paper))`)]));
  return { shades, kinds, none: probe("var(--raised)"), folder: probe("color-mix(in oklab, var(--raised) 70%, var(--paper))"), paper: colour("paper"), ink: colour("ink"), quiet: colour("quiet"), line: colour("line"), accent: colour("accent") };
}

function shade(file, palette, asked, now) {
  if (asked.kinds) return palette.kinds[asked.kind(file)] || palette.none;
  return tone(asked.share(file, now, asked.top), palette);
}

const tone = (share, palette) => (share === null ? palette.none : palette.shades[Math.min(STEPS - 1, Math.floor(share * STEPS))]);

// What is too small to be drawn one by one has the colour of its middle, or of most of it.
function mixed(rest, palette, asked, now) {
  let sum = 0, weight = 0;
  const kinds = {};
  for (const item of rest) {
    for (const { file, size: area } of leaves(item)) {
      if (asked.kinds) { kinds[asked.kind(file)] = (kinds[asked.kind(file)] || 0) + area; continue; }
      const share = asked.share(file, now, asked.top);
      if (share !== null) { sum += share * area; weight += area; }
    }
  }
  const most = Object.entries(kinds).sort((a, b) => b[1] - a[1])[0];
  return asked.kinds ? palette.kinds[most?.[0]] || palette.none : tone(weight ? sum / weight : null, palette);
}

function area(pen, cell, palette, asked, now) {
  const { item, x, y, width, height } = cell;
  const filled = item.folder ? (cell.rest.length ? mixed(cell.rest, palette, asked, now) : palette.folder) : shade(item.file, palette, asked, now);
  pen.fillStyle = filled.fill;
  pen.fillRect(x, y, width, height);
  if (cell.depth < 0) return;
  if (item.folder) {
    if (cell.named && cell.rest.length) { pen.fillStyle = palette.folder.fill; pen.fillRect(x, y, width, 16); }
    pen.strokeStyle = palette.line;
    pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), Math.max(0, height - 1));
  }
  const fits = item.folder ? cell.named : width > 34 && height > 13;
  if (!fits) return;
  pen.font = item.folder ? "600 11px system-ui, sans-serif" : "11px system-ui, sans-serif";
  pen.fillStyle = item.folder ? palette.ink : filled.light ? "#101418" : "#ffffff";
  const text = short(pen, item.name, width - 8);
  if (text) pen.fillText(text, x + 4, y + (item.folder ? 9 : Math.min(height / 2, 9)));
}

function short(pen, name, room) {
  const said = name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, "\ufffd");
  if (pen.measureText(said).width <= room) return said;
  let end = said.length - 1;
  while (end > 1 && pen.measureText(`${said.slice(0, end)}…`).width > room) end -= 1;
  return end > 1 ? `${said.slice(0, end)}…` : "";
}

function scale(asked) {
  if (asked.kinds) return el("ul", { class: "legend" }, Object.values(asked.kinds).map(([name, said]) => { const sample = el("span", { class: "swatch" }); sample.style.background = `color-mix(in oklab, var(--${name}) 72%, var(--paper))`; return el("li", {}, sample, said); }));
  const steps = Array.from({ length: STEPS }, (_, step) => { const sample = el("span", { class: "swatch" }); sample.style.background = `color-mix(in oklab, var(--accent) ${Math.round(8 + 92 * step / (STEPS - 1))}%, var(--paper))`; return sample; });
  return el("ul", { class: "legend" }, el("li", {}, asked.low, el("span", { class: "swatches" }, steps), asked.high(asked.top)), el("li", {}, el("span", { class: "swatch none" }), "not measured"));
}
