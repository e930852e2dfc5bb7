// The answers of a page that is one file, in place of the server's: what the file holds, and what follows from a drawn graph.

export class Refusal extends Error {
  constructor(status, message, fix = "") {
    super(message);
    this.status = status;
    this.fix = fix;
  }
}

const { start, answers } = JSON.parse(document.getElementById("held").textContent);
const only = document.documentElement.dataset.only;
if (!location.hash) location.replace(`#/${only}?${new URLSearchParams(start)}`);

/** Whether this page can answer a path. */
export const holds = (path) => path in answers;
export const home = start;
export const onKeyNeeded = () => {};

export async function get(path, parameters = {}) {
  if (parameters.intent && parameters.intent !== start.q) throw new Refusal(404, "This file holds another plan", "Ask for one with: vade tools suggest");
  if (path === "/graph/neighbourhood") return around(parameters);
  if (holds(path)) return answers[path];
  if (path === "/symbols") return { items: named(parameters.prefix).map(declared) };
  const [, name, relation] = /^\/symbols\/([^/]+)(?:\/(\w+))?$/.exec(path) || [];
  if (name) return relation ? neighbours(decodeURIComponent(name), relation) : { evidence: whole.nodes.filter(is(decodeURIComponent(name))).map(declared), nearest: [] };
  throw new Refusal(404, "This file does not hold that", "Ask the server: vade serve");
}
export const all = async (path) => (await get(path)).items;

// A graph holds what leads to what, so it answers for each of its nodes.

const whole = answers["/graph/neighbourhood"];
const is = (asked) => ({ name, path, kind }) => (kind === "file" ? path : name) === asked;
const named = (prefix = "") => whole.nodes.filter((node) => node.kind !== "file" && [node.name, node.short].some((each) => each.toLowerCase().startsWith(prefix.toLowerCase()))).slice(0, 12);
const declared = (node) => ({ qualified: node.name, name: node.name, kind: node.kind, path: node.path, start_line: node.start, end_line: node.end });

function around({ symbol, path, depth }) {
  const asked = symbol || path;
  if (!asked || (asked === (start.symbol || start.path) && depth === start.depth)) return whole;
  const centre = whole.nodes.filter(is(asked)).map((node) => node.id), near = new Set(centre);
  if (!centre.length) throw new Refusal(404, `${asked} is not in this file`);
  for (let step = 0; step < Number(depth); step += 1) {
    const before = new Set(near);
    for (const { from, to } of whole.edges) if (before.has(from) || before.has(to)) near.add(from).add(to);
  }
  return { title: asked, centre, left_out: 0, nodes: whole.nodes.filter((node) => near.has(node.id)), edges: whole.edges.filter((edge) => near.has(edge.from) && near.has(edge.to)) };
}

function neighbours(name, relation) {
  if (relation === "impact") return { verdict: "not_found" };
  const [here, there] = relation === "callers" ? ["to", "from"] : ["from", "to"], byId = new Map(whole.nodes.map((node) => [node.id, node]));
  const own = new Set(whole.nodes.filter(is(name)).map((node) => node.id));
  const found = whole.edges.filter((edge) => own.has(edge[here]) && edge.relation !== "contains").map((edge) => ({ ...declared(byId.get(edge[there])), tier: edge.tier, line: edge.line, line_path: byId.get(edge.from).path }));
  return { verdict: found.length ? "found" : "unknown", reason: "Nothing that this file holds", found, total: found.length };
}
