// Keys that work wherever one is. A view adds its own while it is shown; none works while one types.

import { el } from "./dom.js";
import { go, link } from "./router.js";
import { dialog } from "./parts/dialog.js";

export const VIEWS = [
  ["search", "Search", "s"], ["graph", "Graph", "g"], ["map", "Map", "r"], ["memory", "Memory", "m"],
  ["tools", "Tools", "t"], ["index", "Index", "i"], ["settings", "Settings", ","],
];

let own = [];  // of the view: [key, what it does, function]
let waiting = 0;  // since `g` was pressed, in milliseconds
const PATIENCE = 1200;

/** Say what keys do in the view that is shown now. */
export const viewKeys = (keys) => { own = keys; };

const types = (target) => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && types(event.target)) { event.target.blur(); return; }
  if (types(event.target)) return;
  if (performance.now() - waiting < PATIENCE) {
    waiting = 0;
    const view = VIEWS.find(([, , key]) => key === event.key);
    if (view) { event.preventDefault(); go(view[0]); return; }
  }
  const mine = own.find(([key]) => key.split(" ").includes(event.key));
  if (mine && mine[2](event) !== false) { event.preventDefault(); return; }
  const done = {
    g: () => { waiting = performance.now(); },
    "/": () => { const field = document.querySelector("main [data-first]"); if (field) { field.focus(); field.select?.(); } else go("search"); },
    "?": help,
  }[event.key];
  if (done) { event.preventDefault(); done(); }
}

/** What keys there are. */
export function help() {
  const rows = (pairs) => el("dl", { class: "keys" }, pairs.map(([key, said]) => [el("dt", {}, key.split(" ").map((each, number) => [number ? " " : "", el("kbd", {}, SHOWN[each] || each)])), el("dd", {}, said)]));
  dialog({
    title: "Keys",
    body: [
      own.length ? [el("h3", {}, "Here"), rows(own.map(([key, said]) => [key, said]))] : "",
      el("h3", {}, "Everywhere"),
      rows([["/", "focus the search field"], ["?", "this list"], ["Esc", "leave the field, close"], ...VIEWS.filter(([name]) => link(name)).map(([, title, key]) => [`g ${key}`, title])]),
    ],
    actions: [["Close", () => {}]],
  });
}
const SHOWN = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

export const start = () => addEventListener("keydown", pressed);
