// The text before a snippet in its file: it decides whether the snippet begins inside a string or a comment. It is asked for
// when the snippet comes onto the screen, once for all snippets of a file.

import { get } from "../api.js";

const FAR = 300_000;  // characters before a snippet: to read through more would be felt
const AHEAD = "300px";  // of the screen

const squeezed = (text) => text.replace(/\s+/g, "");

/** The lines of a place as they are in its file: what stands before them, "" where that is too far, and they themselves. */
export async function split({ path, repo, start_line: start, end_line: end }, commit, signal) {
  const { snippet } = await get("/open", { target: `${path}:1-${end}`, repo, commit }, signal);
  const lines = snippet.split("\n"), before = lines.slice(0, start - 1).map((line) => `${line}\n`).join("");
  return [before.length <= FAR ? before : "", lines.slice(start - 1).join("\n")];
}

/** Whether a snippet begins as code for sure: where its file does, or with the declaration that it is of. */
export function beginsAsCode({ snippet, start_line: line, signature }) {
  const declared = squeezed(signature || ""), first = squeezed(snippet.split("\n", 1)[0]);
  return line <= 1 || Boolean(first && declared && (first.startsWith(declared) || declared.startsWith(first)));
}

/** Tells cards what stands before them, as they are looked at; those that still wait have `data-colours`. */
export class Before {
  #asked = new Map();  // answers by repository and path
  #last = new Map();  // the last line that is needed of each

  constructor(cards, { commit = "", signal } = {}) {
    this.commit = commit;
    this.signal = signal;
    this.watch = new IntersectionObserver((seen) => { for (const { isIntersecting, target } of seen) if (isIntersecting) this.#tell(target); }, { rootMargin: AHEAD });
    for (const card of cards.filter(({ item }) => item.snippet && item.freshness !== "stale" && !beginsAsCode(item))) {
      const key = this.#key(card.item);
      this.#last.set(key, Math.max(this.#last.get(key) || 0, card.item.start_line - 1));
      card.dataset.colours = "unknown";
      this.watch.observe(card);
    }
  }

  #key({ repo, path }) { return `${repo}:${path}`; }

  #ask(item) {
    const key = this.#key(item);
    if (!this.#asked.has(key)) this.#asked.set(key, get("/open", { target: `${item.path}:1-${this.#last.get(key)}`, repo: item.repo, commit: this.commit }, this.signal));
    return this.#asked.get(key);
  }

  async #tell(card) {
    this.watch.unobserve(card);
    try {
      const { snippet } = await this.#ask(card.item);
      const text = `${snippet.split("\n").slice(0, card.item.start_line - 1).join("\n")}\n`;
      if (text.length <= FAR) card.follows(text);
    } catch { /* without it the snippet is coloured as if code began there */ }
    delete card.dataset.colours;
  }

  close() { this.watch.disconnect(); }
}
