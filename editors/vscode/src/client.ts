/** Asking the server. What goes wrong is told with the thing and the fix. */

import type { Answer, Context, Evidence, Job, Recalled, Relation, Repo, Status } from "./wire";

const PATIENCE_MS = 60_000; // a first search may index what has changed
const LONGEST_ADDRESS = 4_000; // characters of a question in an address; the server takes 5,000

export class ServerError extends Error {
  override readonly name = "ServerError";

  /** `status` is 0 where nothing answered. */
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

export interface Narrowing {
  k?: number;
  kind?: string;
  languages?: readonly string[];
  repos?: readonly string[];
  snippetLines?: number;
}

type Query = Record<string, string | number | readonly string[] | undefined>;

export class Client {
  constructor(readonly server: string, private readonly key: string = "", private readonly patience = PATIENCE_MS) {}

  repos(stop?: AbortSignal): Promise<Repo[]> {
    return this.get<{ items?: Repo[] } | null>("/v1/repos", {}, stop).then((found) => {
      if (!Array.isArray(found?.items)) throw this.stranger();
      return found.items;
    });
  }

  search(question: string, narrowing: Narrowing = {}, stop?: AbortSignal): Promise<Answer> {
    const { k, kind, languages, repos, snippetLines } = narrowing;
    const q = question.slice(0, LONGEST_ADDRESS);
    return this.get("/v1/search", { q, k, kind, lang: languages, repo: repos, snippet_lines: snippetLines }, stop);
  }

  open(target: string, repo?: string, stop?: AbortSignal): Promise<Evidence> {
    return this.get("/v1/open", { target, repo }, stop);
  }

  callers(symbol: string, repo?: string, stop?: AbortSignal): Promise<Relation> {
    return this.get(`/v1/symbols/${encodeURIComponent(symbol)}/callers`, { repo }, stop);
  }

  context(task: string, tokens: number, stop?: AbortSignal): Promise<Context> {
    return this.post("/v1/context", { task, budget: tokens }, {}, stop);
  }

  recall(question: string, k: number, repo?: string, stop?: AbortSignal): Promise<Recalled> {
    return this.get("/v1/memory/recall", { q: question.slice(0, LONGEST_ADDRESS), k, repo }, stop);
  }

  status(stop?: AbortSignal): Promise<Status[]> {
    return this.get("/v1/index/status", {}, stop);
  }

  index(repo: string, stop?: AbortSignal): Promise<Job> {
    return this.post("/v1/index", { repo }, {}, stop);
  }

  job(id: string, stop?: AbortSignal): Promise<Job> {
    return this.get(`/v1/index/jobs/${encodeURIComponent(id)}`, {}, stop);
  }

  private get<T>(path: string, query: Query, stop?: AbortSignal): Promise<T> {
    return this.ask<T>("GET", path, query, undefined, stop);
  }

  private post<T>(path: string, body: unknown, query: Query, stop?: AbortSignal): Promise<T> {
    return this.ask<T>("POST", path, query, body, stop);
  }

  private async ask<T>(method: string, path: string, query: Query, body: unknown, stop?: AbortSignal): Promise<T> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.key) headers["Authorization"] = `Bearer ${this.key}`;
    const patience = AbortSignal.timeout(this.patience);
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.server + path + written(query), {
        method,
        headers,
        redirect: "error", // another place would be asked, with the key
        signal: stop ? AbortSignal.any([stop, patience]) : patience,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await response.text();
    } catch (error) {
      if (stop?.aborted) throw error;
      throw this.silence(patience.aborted);
    }
    const told = json(text);
    if (!response.ok) throw this.refusal(response.status, told);
    if (told === undefined) throw this.stranger();
    return told as T;
  }

  private stranger(): ServerError {
    return new ServerError(`${this.server} is not a vademecum server: set vademecum.server to where \`vade serve\` listens`, 200);
  }

  private silence(late: boolean): ServerError {
    if (late) {
      const seconds = this.patience / 1000;
      return new ServerError(`${this.server} did not answer within ${seconds} s: its log (\`vade serve\` on the terminal) says why`, 504);
    }
    return new ServerError(
      `nothing answers at ${this.server}: run \`vade serve\` in this folder or “vademecum: Start Server”, or set vademecum.server`,
      0,
    );
  }

  private refusal(status: number, told: unknown): ServerError {
    const problem = (told ?? {}) as { title?: unknown; detail?: unknown };
    if (status === 401) {
      const what = this.key ? "does not know this key" : "asks for a key";
      return new ServerError(`${this.server} ${what}: run “vademecum: Set Key of Server”`, status);
    }
    if (typeof problem.detail === "string" && problem.detail) return new ServerError(problem.detail, status);
    if (typeof problem.title === "string") return new ServerError(`${this.server}: ${problem.title}`, status);
    return new ServerError(`${this.server} answered ${status}, not as a vademecum server does: set vademecum.server`, status);
  }
}

function written(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== "") parameters.append(name, String(each));
    }
  }
  const text = parameters.toString();
  return text && `?${text}`;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
