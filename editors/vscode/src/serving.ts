/** A server of our own: started when somebody says yes, and the only one that is ever stopped. */

import { spawn, type ChildProcess } from "node:child_process";

const START_MS = 60_000;
const END_MS = 10_000;
const KEPT = 4_000; // characters of its log
const LISTENS = /serving .* at (https?:\/\/\S+?)\/?\s/;

export class StartError extends Error {
  override readonly name = "StartError";
}

/** Return the whole command that serves folders at an address. */
export function commandFor(command: readonly string[], folders: readonly string[], server: string): string[] {
  const { hostname, port, protocol } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, "");
  return [...command, "serve", ...folders, "--host", host, "--port", port || (protocol === "https:" ? "443" : "80")];
}

export class Serving {
  private log = "";

  private constructor(private readonly child: ChildProcess, readonly line: readonly string[]) {}

  /**
   * Start a server and wait until it listens. No shell reads the command.
   *
   * @throws StartError it cannot be started, or ended before it listened.
   */
  static async start(line: readonly string[], env: NodeJS.ProcessEnv = process.env, patience = START_MS): Promise<Serving> {
    const [program, ...rest] = line;
    if (!program) throw new StartError("vademecum.command is empty: name what starts `vade`, or run `vade serve` yourself");
    const child = spawn(program, rest, { env, stdio: ["ignore", "ignore", "pipe"], windowsHide: true });
    const serving = new Serving(child, line);
    await serving.listening(program, patience);
    return serving;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The address it listens at. */
  get address(): string {
    return LISTENS.exec(this.log)?.[1] ?? "";
  }

  /** End it as control-C would; it finishes what is under way. One that does not end is killed. */
  stop(patience = END_MS): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => {
      const late = setTimeout(() => this.child.kill("SIGKILL"), patience);
      this.child.once("exit", () => {
        clearTimeout(late);
        resolve();
      });
      this.child.kill("SIGTERM");
    });
  }

  private listening(program: string, patience: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (message: string): void => {
        clearTimeout(late);
        reject(new StartError(message));
      };
      const late = setTimeout(() => {
        this.child.kill("SIGKILL");
        fail(`\`${this.line.join(" ")}\` does not listen after ${patience / 1000} s: ${this.lastLine()}`);
      }, patience);
      this.child.once("error", (error: NodeJS.ErrnoException) => {
        const fix = "pip install 'vademecum[server]', or set vademecum.command to where `vade` is";
        fail(error.code === "ENOENT" ? `there is no \`${program}\`: ${fix}` : `\`${program}\` does not start: ${error.message}: ${fix}`);
      });
      // what is said last comes before "close", not always before "exit"
      this.child.once("close", (code) => fail(`\`${this.line.join(" ")}\` ended with ${code ?? "a signal"}: ${this.lastLine()}`));
      this.child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
        this.log = this.address ? this.log : (this.log + piece).slice(-KEPT); // read to the end: a full pipe would hold it up
        if (this.address) {
          clearTimeout(late);
          resolve();
        }
      });
    });
  }

  private lastLine(): string {
    return this.log.trim().split("\n").at(-1) || "it said nothing";
  }
}
