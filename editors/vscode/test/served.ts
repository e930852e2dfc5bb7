/** A real server over a small repository, started as the extension starts one. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";

import { commandFor, Serving } from "../src/serving";

export const BUDGET = `class Budget:
    """How many tokens an answer may take."""

    def __init__(self, total: int) -> None:
        self.total = total

    def split(self, share: float) -> int:
        """Split the token budget into a primary part and the rest."""
        return int(self.total * share)


def spend_all(budget: Budget) -> int:
    """Spend the whole budget at once."""
    return budget.split(1.0)
`;
const FILES: Record<string, string> = {
  "src/budget.py": BUDGET,
  "src/retry.py": 'def retry_with_backoff(call):\n    """Call again after a pause that doubles."""\n    return call()\n',
  "tests/test_budget.py": "from budget import Budget\n\n\ndef test_split():\n    assert Budget(100).split(0.6) == 60\n",
  "README.md": "# Handbook\n\nHow the token budget is split.\n",
};
/** What starts `vade`: a JSON list, where it is not to be found by its name. */
export const COMMAND = JSON.parse(process.env["VADE_TEST_COMMAND"] ?? '["vade"]') as string[];

export class Served {
  private constructor(readonly top: string, readonly root: string, readonly serving: Serving, readonly url: string) {}

  static async start(environ: Record<string, string> = {}): Promise<Served> {
    const top = realpathSync(mkdtempSync(path.join(tmpdir(), "vademecum-")));
    const root = path.join(top, "handbook");
    for (const [name, text] of Object.entries(FILES)) write(root, name, text);
    execFileSync("git", ["init", "-q", "-b", "main", root]);
    const url = `http://127.0.0.1:${await freePort()}`;
    const serving = await Serving.start(commandFor(COMMAND, [root], url), environment(top, environ));
    const served = new Served(top, root, serving, url);
    return served;
  }

  write(name: string, text: string): void {
    write(this.root, name, text);
  }

  async post<T>(where: string, body: unknown): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${this.url}/v1${where}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  }

  /** Index, and wait for it. */
  async index(): Promise<void> {
    let job = await this.post<{ id: string; state: string }>("/index", {});
    while (job.state === "queued" || job.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, 50));
      job = (await (await fetch(`${this.url}/v1/index/jobs/${job.id}`)).json()) as typeof job;
    }
    if (job.state !== "done") throw new Error(JSON.stringify(job));
  }

  /** Remember what somebody said. */
  async say(text: string, at: number): Promise<void> {
    await this.post("/events", { text, role: "user", session: `s${at}`, at });
  }

  async close(): Promise<void> {
    await this.serving.stop(60_000);
    rmSync(this.top, { recursive: true, force: true });
  }
}

/** Where a server keeps its data in a test: below the test's own folder. */
export function environment(top: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("VADE_"));
  return { ...Object.fromEntries(kept), VADE_HOME: path.join(top, "home"), XDG_CONFIG_HOME: path.join(top, "config"), ...more };
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function write(root: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  writeFileSync(path.join(root, name), text);
}
