// The server's answers. One place knows how a question is sent, how a refusal looks (RFC 9457) and how a stream of events
// is read.

export class Refusal extends Error {
  constructor(status, message, fix = "") {
    super(message);
    this.status = status;
    this.fix = fix;
  }
}

const KEY = "vademecum-key";
/** Whether this page can answer a path: a page that is one file holds only some. */
export const holds = () => true;
/** Where a view begins, beyond its name. */
export const home = {};
let askForKey = async () => "", asked = null;
/** Say who is asked for a key when the server wants one; it returns "" where there is none. */
export const onKeyNeeded = (ask) => { askForKey = ask; };

const stored = () => { try { return sessionStorage.getItem(KEY) || ""; } catch { return ""; } };
const keep = (key) => { try { sessionStorage.setItem(KEY, key); } catch { /* asked again next time */ } };

function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") query.append(name, each);
    }
  }
  const text = query.toString();
  return `/v1${path}${text ? `?${text}` : ""}`;
}

const TRIES = 2, LONGEST_WAIT_S = 5;  // while the server is busy

async function send(method, path, { parameters, body, signal, accept = "application/json", tries = TRIES } = {}) {
  const headers = { Accept: accept }, key = stored();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(address(path, parameters), { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: "same-origin", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The server does not answer", "Start it again with: vade serve");
  }
  if (response.ok) return response;
  if (response.status === 401 && await otherKey(key)) return send(method, path, { parameters, body, signal, accept });
  if (response.status === 503 && method === "GET" && tries) {  // busy: it says when to ask again
    await new Promise((done) => { setTimeout(done, 1000 * Math.min(LONGEST_WAIT_S, Number(response.headers.get("Retry-After")) || 1)); });
    return send(method, path, { parameters, signal, accept, tries: tries - 1 });
  }
  throw await refusal(response);
}

// Several questions may be refused at once: one is asked, all go on with what is given.
async function otherKey(refused) {
  if (stored() !== refused) return true;
  asked ||= askForKey(Boolean(refused)).then((given) => { if (given) keep(given); return Boolean(given); }).finally(() => { asked = null; });
  return asked;
}

async function refusal(response) {
  let said = {};
  try { said = await response.json(); } catch { /* not one of ours */ }
  const message = typeof said.detail === "string" && said.detail ? said.detail : `The server answered ${response.status}`;
  const cut = message.lastIndexOf(": ");  // "what is wrong: how to mend it"
  return cut > 0 ? new Refusal(response.status, message.slice(0, cut), message.slice(cut + 2)) : new Refusal(response.status, message);
}

const BESIDE = new Set(["/index/status", "/repos"]);  // asked beside what a view is about
export async function get(path, parameters, signal) {
  if (!BESIDE.has(path)) dispatchEvent(new CustomEvent("asked", { detail: stored() ? "" : address(path, parameters) }));  // a link sends no key
  return (await send("GET", path, { parameters, signal })).json();
}
export const post = async (path, body = {}, signal) => {
  const response = await send("POST", path, { body, signal });
  return response.status === 204 ? {} : response.json();
};

export const remove = (path) => send("DELETE", path);

/** Every item of a paged list, page by page; `told` hears how many of how many are there. */
export async function all(path, parameters = {}, signal, told = () => {}) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { limit: 1000, ...parameters, cursor }, signal);
    for (const item of page.items) items.push(item);
    cursor = page.next;
    told(items.length, page.total);
  } while (cursor);
  return items;
}

/** Read server-sent events until the stream ends; EventSource cannot send a key. */
export async function events(path, heard, signal) {
  const response = await send("GET", path, { signal, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    let cut;
    while ((cut = rest.search(/\r?\n\r?\n/)) >= 0) {
      const lines = rest.slice(0, cut).split(/\r?\n/);
      rest = rest.slice(cut).replace(/^\r?\n\r?\n/, "");
      const field = (name) => lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, "")).join("\n");
      if (field("data")) heard(field("event") || "message", JSON.parse(field("data")));
    }
  }
}
