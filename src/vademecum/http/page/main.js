// The page: a rail of views beside the one that is shown. Which one it is stands in the address.

import { get, onKeyNeeded } from "./api.js";
import { el, plain, replace } from "./dom.js";
import { ago, count, plural } from "./format.js";
import { VIEWS, help, start as startKeys, viewKeys } from "./keys.js";
import { keyDialog, problem } from "./parts/dialog.js";
import { icon } from "./parts/icons.js";
import { link, parse } from "./router.js";

const LOAD = {
  search: () => import("./views/search.js"), file: () => import("./views/file.js"), graph: () => import("./views/graph.js"),
  map: () => import("./views/map.js"), memory: () => import("./views/memory.js"), tools: () => import("./views/tools.js"),
  index: () => import("./views/index.js"), settings: () => import("./views/settings.js"),
};
const main = document.getElementById("main"), rail = document.getElementById("rail");
let shown = { name: "", view: null };
let linked = false;  // whether the view's answer has its link
let turn = 0;  // of the last change of view: a slow one must not replace a later one

async function route() {
  const { name, parameters } = parse(location.hash), mine = (turn += 1);
  linked = false;
  if (shown.name === name && shown.view?.update) return shown.view.update(parameters);
  const load = link(name) && LOAD[name];
  shown.view?.close?.();
  shown = { name, view: null };
  viewKeys([]);
  for (const each of rail.querySelectorAll("nav a")) {
    if (each.dataset.view === (name === "file" ? "search" : name)) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (!load) return replace(main, problem({ message: `There is no view called “${name}”`, fix: "Choose one from the list of views." }));
  try {
    const made = await load();
    if (mine !== turn) return undefined;
    const first = !main.childElementCount;
    replace(main);
    document.title = plain(`${made.title} · vademecum`);
    main.dataset.view = name;
    scrollTo(0, 0);
    const view = made.open(main, parameters);
    shown = { name, view };
    viewKeys(view.keys || []);
    if (!first && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  } catch (error) {
    replace(main, problem({ message: "This view could not be opened", fix: `${error.message}. The server may be gone, or be another one than this page came from.` }, () => location.reload()));
  }
  return undefined;
}

function theme() {
  const root = document.documentElement;
  const now = () => root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const said = () => `Theme: switch to ${now() === "dark" ? "light" : "dark"}`;
  const button = el("button", { type: "button", class: "rail-button", id: "theme", onclick: () => {
    root.dataset.theme = now() === "dark" ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds until the page is closed */ }
    button.setAttribute("aria-label", said());
    button.title = said();
    dispatchEvent(new Event("themechange"));
  }, "aria-label": said(), title: said() }, icon("theme"), el("span", {}, "Theme"));
  return button;
}

function drawRail() {
  replace(rail,
    el("a", { class: "wordmark", href: link("search"), "aria-label": "vademecum, to the search" }, el("span", { "aria-hidden": "true" }, "vade", el("i", {}, "mecum"))),
    el("nav", { "aria-label": "Views" }, VIEWS.filter(([name]) => link(name)).map(([name, title]) => el("a", { href: link(name), data: { view: name } }, icon(name), el("span", {}, title)))),
    el("div", { class: "rail-foot" }, el("a", { id: "standing", class: "standing", href: link("index"), hidden: true }), el("div", { class: "rail-buttons" }, el("a", { class: "rail-button", id: "json", target: "_blank", hidden: true, title: "The answer shown here, as JSON" }, icon("json"), el("span", {}, "JSON")), theme(), el("button", { type: "button", class: "rail-button", id: "help", "aria-label": "Keys", title: "Keys", onclick: help }, icon("help"), el("span", {}, "Keys")))));
}

let known = { at: 0, indexed: false };  // when it was last asked, in milliseconds
const ASKED_AGAIN_MS = 15000;
// A question brings the index up to date by itself, so what was said of it before may be old.
const again = () => { if (!known.indexed || performance.now() - known.at > ASKED_AGAIN_MS) standing(); };

/** Whether the index is up to date, at the foot of the rail. */
async function standing() {
  const place = document.getElementById("standing");
  try {
    const repositories = await get("/index/status");
    const files = repositories.reduce((sum, each) => sum + each.files, 0), at = Math.max(0, ...repositories.map((each) => each.indexed_at));
    const fresh = repositories.every((each) => each.fresh);
    replace(place, el("span", { class: `dot ${fresh ? "good" : "warn"}`, "aria-hidden": "true" }),
      el("span", {}, el("b", {}, repositories.length === 1 ? repositories[0].repo : plural(repositories.length, "repository")), el("small", {}, at ? `${count(files)} files, ${fresh ? "up to date" : "changed since"}, ${ago(at)}` : "not indexed yet")));
    known = { at: performance.now(), indexed: Boolean(at) };
    place.hidden = false;
  } catch {
    place.hidden = true;
  }
}

addEventListener("asked", ({ detail }) => {  // what a view asks first is what it is about
  if (linked) return;
  linked = true;
  const place = document.getElementById("json");
  place.hidden = !detail;
  if (detail) place.href = detail;
});
onKeyNeeded(keyDialog);
drawRail();
startKeys();
addEventListener("hashchange", route);
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
route();
standing();
addEventListener("indexed", standing);
addEventListener("answered", again);
addEventListener("hashchange", again);
