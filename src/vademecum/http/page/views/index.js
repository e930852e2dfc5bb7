// What is indexed, whether it is up to date, what was left out and why, and how far a run is.

import { events, get, post, remove } from "../api.js";
import { el, replace } from "../dom.js";
import { ago, count, moment, percent, plural, size } from "../format.js";
import { empty, toast, within } from "../parts/dialog.js";
import { Grid } from "../parts/grid.js";
import { link } from "../router.js";

export const title = "Index";
const STAGES = { opening: "Opening", reading: "Reading files", indexing: "Indexing", storing: "Storing", linking: "Linking the graph" };
const REMEDIES = {
  "too large": "index.max_file_bytes allows more", secret: "files that may hold secrets are never read", binary: "it is not text",
  generated: "a tool wrote it", ignored: "the repository's own list leaves it out", unreadable: "its permissions do not allow it",
};

export function open(main) {
  const body = el("div", { class: "index-body" }), grids = [];
  let asking = new AbortController();
  replace(main, el("div", { class: "index-view" }, el("div", { class: "view-head" }, el("h1", {}, "Index")), body));

  async function show() {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    while (grids.length) grids.pop().close();
    if (!body.childElementCount) replace(body, el("div", { class: "skeleton", "aria-hidden": "true" }, el("div", {})));
    await within(body, async () => {
      const [states, jobs] = await Promise.all([get("/index/status", {}, signal), get("/index/jobs", { limit: 20 }, signal)]);
      replace(body, states.map((state) => repository(state, jobs.items.find((job) => job.repo === state.repo))));
    });
  }

  function repository(state, job) {
    const progress = el("div", { class: "progress-place", role: "status" });
    const run = (full) => within(progress, async () => { follow(await post("/index", { repo: state.repo, full }), progress); });
    const button = el("button", { type: "button", class: "button primary", onclick: () => run(false) }, state.indexed_at ? "Update" : "Index");
    const fresh = state.fresh && state.indexed_at;
    if (job && ["queued", "running"].includes(job.state)) follow(job, progress);
    else if (job?.state === "failed") replace(progress, el("p", { class: "problem" }, job.problem?.detail || "The last run failed"));
    return el("section", { class: "repository panel", "aria-label": state.repo },
      el("header", { class: "repository-head" },
        el("div", {}, el("h2", {}, state.repo), el("p", { class: "mono quiet" }, state.root)),
        el("p", { class: "head-actions" }, button, el("button", { type: "button", class: "button", onclick: () => run(true) }, "Read everything again"))),
      el("p", { class: "verdict" }, el("span", { class: `badge ${fresh ? "good" : "warn"}` }, fresh ? "Up to date" : state.indexed_at ? "Changed since" : "Not indexed"),
        state.indexed_at ? el("span", {}, "indexed ", el("span", { title: moment(state.indexed_at) }, ago(state.indexed_at))) : "", fresh ? "" : el("span", { class: "quiet" }, state.indexed_at ? "A search takes in what changed by itself." : "A search does this by itself, too.")),
      progress,
      el("dl", { class: "figures" }, [[count(state.files), "files"], [count(state.chunks), "chunks"], [size(state.bytes), "on disk"], [count(state.skipped.length), "left out"]].map(([figure, said]) => el("div", {}, el("dt", {}, said), el("dd", {}, figure)))),
      el("dl", { class: "pairs" }, [["Branch", state.branch || "none"], ["Commit", state.commit || "none"], ["Embedder", state.embedder], ["Database", state.database]].map(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value)])),
      languages(state.languages), skipped(state));
  }

  function skipped(state) {
    if (!state.skipped.length) return el("p", { class: "quiet" }, "Nothing was left out but what is ignored.");
    const grid = new Grid({
      label: `What was left out of ${state.repo}`, sorted: "path",
      columns: [
        { key: "path", title: "File", sort: (row) => row.path, cell: (row) => el("span", { class: "mono" }, row.path) },
        { key: "reason", title: "Why", sort: (row) => row.reason, cell: (row) => [row.reason, row.detail ? el("span", { class: "quiet" }, ` ${row.detail}`) : ""] },
        { key: "remedy", title: "", class: "extra", cell: (row) => el("span", { class: "quiet" }, REMEDIES[row.reason] || "") },
      ],
    });
    grids.push(grid);
    grid.element.classList.add("skipped-grid");
    grid.element.style.height = `${Math.min(420, 36 + 32 * state.skipped.length)}px`;
    grid.show(state.skipped);
    return el("section", {}, el("h3", {}, "Left out"), grid.whole);
  }

  async function follow(job, place) {
    const inner = el("span", { class: "bar-fill" }), told = el("span", {});
    const stop = el("button", { type: "button", class: "button", onclick: async () => { stop.disabled = true; try { await remove(`/index/jobs/${encodeURIComponent(job.id)}`); } catch (error) { toast(error.message); } } }, "Stop");
    const box = el("div", { class: "running" }, el("span", { class: "bar long" }, inner), told, stop);
    replace(place, box);
    const tell = (now) => {
      inner.style.width = now.total ? `${Math.round(100 * now.done / now.total)}%` : "4%";
      told.textContent = now.state === "queued" ? "Waiting" : `${STAGES[now.stage] || now.stage || "Starting"}${now.total ? `, ${count(now.done)} of ${count(now.total)} (${percent(now.done / now.total)})` : ""}`;
    };
    tell(job);
    try {
      await events(`/index/jobs/${encodeURIComponent(job.id)}/events`, (kind, now) => {
        if (kind === "progress") { tell(now); return; }
        if (kind === "failed") { replace(place, el("p", { class: "problem" }, now.problem?.detail || "The run failed")); return; }
        const { report } = now;
        toast(kind === "done" && report ? `${job.repo}: ${plural(report.added, "new file")}, ${count(report.removed)} gone, ${count(report.unchanged)} unchanged, ${report.seconds.toFixed(1)} s` : `${job.repo}: stopped`);
        dispatchEvent(new Event("indexed"));
        show();
      }, asking.signal);
    } catch (error) {
      if (error.name !== "AbortError") replace(place, el("p", { class: "problem" }, error.message));
    }
  }

  show();
  return { update: () => {}, close: () => { asking.abort(); while (grids.length) grids.pop().close(); }, keys: [["u", "update the first repository", () => body.querySelector(".button.primary")?.click()]] };
}

// Shares of files by language, as one bar and in words.
function languages(files) {
  const total = Object.values(files).reduce((sum, each) => sum + each, 0), most = Object.entries(files).sort((a, b) => b[1] - a[1]);
  if (!total) return empty("No files yet");
  const shown = most.slice(0, 7), rest = most.slice(7).reduce((sum, each) => sum + each[1], 0), all = rest ? [...shown, ["others", rest]] : shown;
  return el("section", {}, el("h3", {}, "Languages"),
    el("div", { class: "shares", "aria-hidden": "true" }, all.map(([, number], index) => { const part = el("span", { class: `share-${index}` }); part.style.flexGrow = number; return part; })),
    el("ul", { class: "legend" }, all.map(([name, number], index) => el("li", {}, el("span", { class: `swatch share-${index}` }), name === "others" ? name : el("a", { href: link("search", { lang: name }) }, name), ` ${count(number)}`))));
}
