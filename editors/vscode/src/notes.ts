/** Memory beside the symbol: which facts name the code of a file, whether that code is still what it was, and where to say so. */

import { coded, counted, plain, visible } from "./text";
import type { AnchorState, Fact, Recalled } from "./wire";

export const MOST_RECALLED = 200; // what the server gives at most
const LONGEST_QUESTION = 3_500;
const DECLARED =
  /\b(?:def|class|function|fn|func|fun|interface|struct|enum|type|trait|impl|module|namespace|protocol|record|object|const|let|var|val)\s+(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)/g;
// A method has no keyword in many languages: a name, its parameters, a brace.
const METHOD = /^[ \t]+(?:(?:public|private|protected|static|async|override|final|abstract|readonly|get|set)\s+|[\w<>[\],]+\s+)*([A-Za-z_$][\w$]*)\s*\([^;{}]*\)[^;{}\n]*\{/gm;
const NO_NAMES = new Set(["if", "for", "while", "switch", "catch", "return", "function", "with", "match"]);

/** A fact and what became of the code it names. */
export interface Note {
  readonly fact: Fact;
  readonly symbol: string;
  readonly path: string;
  readonly state: AnchorState;
}

/** Notes that are shown above one line, counted from 0. */
export interface Lens {
  readonly line: number;
  readonly symbol: string;
  readonly title: string;
  readonly notes: readonly Note[];
}

interface Declaration {
  readonly name: string;
  readonly line: number;
}

/** Return the question that recalls what was said of a file and of what it declares. */
export function questionOf(path: string, text: string): string {
  const names = new Set(declarations(text).map((each) => each.name));
  return [path, ...names].join(" ").slice(0, LONGEST_QUESTION);
}

/**
 * Return the facts that are tied to code, each once for each symbol. An answer ties an event's facts to its symbols
 * together; a fact is about those that it names.
 */
export function notesOf(recalled: Recalled): Note[] {
  const found = new Map<string, Note>();
  for (const { facts, anchors } of recalled.evidence) {
    for (const fact of facts.filter((each) => each.valid_to === null)) {
      const said = `${fact.text} ${fact.reason}`;
      for (const { symbol, path, state } of anchors.filter((each) => names(said, lastPart(each.symbol)))) {
        found.set(`${fact.id} ${symbol}`, { fact, symbol, path, state });
      }
    }
  }
  return [...found.values()].sort((a, b) => b.fact.last_at - a.fact.last_at || (a.fact.id < b.fact.id ? -1 : 1));
}

/** Return what is shown in a file: notes of a symbol above it, those of code that is gone above the first line. */
export function lensesOf(path: string, text: string, notes: readonly Note[]): Lens[] {
  const declared = declarations(text);
  const bySymbol = new Map<string, Note[]>();
  for (const note of notes.filter((each) => each.path === path)) {
    bySymbol.set(note.symbol, [...(bySymbol.get(note.symbol) ?? []), note]);
  }
  const lenses = [...bySymbol].map(([symbol, own]) => {
    const gone = own.every((note) => note.state === "orphaned");
    const line = (gone ? undefined : lineOf(symbol, declared)) ?? 0;
    return { line, symbol, notes: own, title: titled(symbol, own) };
  });
  return lenses.sort((a, b) => a.line - b.line || (a.symbol < b.symbol ? -1 : 1));
}

/** Return the notes of what is called by a name. */
export function notesNamed(name: string, notes: readonly Note[]): Note[] {
  return notes.filter((note) => lastPart(note.symbol) === name || note.symbol === name);
}

/** Write notes as Markdown. What they say is shown as it is: no link or picture in it is one. */
export function notesMarkdown(notes: readonly Note[]): string {
  return notes
    .map(({ fact, symbol, state }) => {
      const why = fact.reason && !fact.text.includes(fact.reason) ? ` Because ${plain(fact.reason)}` : "";
      const standing = fact.confirmed ? ", confirmed" : fact.disputed ? ", disputed" : "";
      const day = new Date(fact.last_at * 1000).toISOString().slice(0, 10);
      return `- ${plain(fact.text)}${why}  \n  *${plain(fact.kind)}, ${day}${standing}; ${coded(symbol)}: ${STATES[state]}*`;
    })
    .join("\n");
}

const STATES: Record<AnchorState, string> = {
  current: "current",
  drifted: "drifted, the code has changed since",
  orphaned: "orphaned, the code is gone",
};

function titled(symbol: string, notes: readonly Note[]): string {
  const drifted = notes.filter((note) => note.state === "drifted").length;
  const orphaned = notes.filter((note) => note.state === "orphaned").length;
  const aged = [drifted ? `${drifted} drifted` : "", orphaned ? `${orphaned} orphaned` : ""].filter(Boolean);
  const current = notes.length - drifted - orphaned;
  const states = [current ? `${current} current` : "", ...aged].filter(Boolean).join(", ");
  return `${counted(notes.length, "note")} on ${visible(symbol)}: ${states}`;
}

function declarations(text: string): Declaration[] {
  const found: { name: string; at: number }[] = [];
  for (const pattern of [DECLARED, METHOD]) {
    for (const match of text.matchAll(pattern)) {
      const name = match[1] ?? "";
      if (!NO_NAMES.has(name)) found.push({ name, at: match.index + match[0].lastIndexOf(name) });
    }
  }
  found.sort((a, b) => a.at - b.at);
  let line = 0;
  let from = 0;
  return found.map(({ name, at }) => {
    for (; from < at; from++) if (text[from] === "\n") line++;
    return { name, line };
  });
}

/** A qualified name is declared after what holds it: `split` of `Budget` after `Budget`. */
function lineOf(symbol: string, declared: readonly Declaration[]): number | undefined {
  let after = -1;
  for (const part of parts(symbol)) {
    after = declared.find((each) => each.name === part && each.line >= after)?.line ?? after;
  }
  const own = declared.find((each) => each.name === lastPart(symbol) && each.line >= after);
  return own?.line;
}

function names(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w$])`).test(text);
}

function lastPart(symbol: string): string {
  return parts(symbol).at(-1) ?? symbol;
}

function parts(symbol: string): string[] {
  return symbol.split(/\.|::|#|->/);
}
