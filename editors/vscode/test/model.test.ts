import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import { contextMarkdown } from "../src/documents";
import { fromPanel } from "../src/messages";
import { lensesOf, notesMarkdown, notesNamed, notesOf, questionOf, type Note } from "../src/notes";
import { fileOf, pathIn, repoOf } from "../src/places";
import { listed, listedCallers, placed } from "../src/results";
import { commandFor, Serving, StartError } from "../src/serving";
import { standingOf } from "../src/standing";
import { coded, fenced, plain, visible } from "../src/text";
import type { AnchorState, Evidence, Fact, Link, Status } from "../src/wire";
import { BUDGET } from "./served";

const EVIL = "x <img src=x onerror=alert(1)> [go](command:workbench.action.quit) `a` \u202egnp";

test("marks that hide or reorder are shown as what they are", () => {
  assert.equal(visible("a\u202eb\u200bc\td\r\ne\u0007"), "aU+202EbU+200Bc\td\neU+0007");
});

test("what is said stays text in Markdown", () => {
  const shown = plain(EVIL);
  assert.match(shown, /\\<img/);
  assert.match(shown, /\\\[go\\\]\(command:/);
  assert.match(shown, /U\+202E/);
  assert.equal(plain("# one\n- two"), "\\# one - two");
  assert.equal(plain("1. first"), "1\\. first");
  assert.equal(plain("- one"), "\\- one");
  assert.equal(plain("test_budget.py: __init__, *a* https://example.org www.example.org a@b.c"),
    "test_budget.py: \\_\\_init\\_\\_, \\*a\\* https:\\//example.org www\\.example.org a\\@b.c");
  assert.equal(coded("a.py:3-4"), "`a.py:3-4`");
  assert.equal(coded("a`b``c"), "``` a`b``c ```");
});

test("no text closes the fence it is in", () => {
  const shown = fenced("before\n```\nafter\n````", "python");
  assert.ok(shown.startsWith("`````python\n") && shown.endsWith("\n`````"));
  assert.ok(fenced("x", "bad language\n# heading").startsWith("```\n"));
});

test("a listing names verdict, probability, places and what is not fresh", () => {
  const evidence: Evidence = {
    repo: "r", path: "src/a\u202eb.py", start_line: 3, end_line: 9, snippet: "def f():\n    \u200bpass", kind: "function", language: "python",
    symbols: ["f"], signature: "def f()", file_kind: "test", freshness: "edited", url: "",
  };
  const shown = listed({ query: "q", verdict: "likely", probability: 0.698, reason: "", nearest: [], searched: 1, evidence: [evidence] });
  assert.equal(shown.headline, "Likely · 70 % · 1 place");
  assert.deepEqual(
    { ...shown.rows[0] },
    { repo: "r", path: "src/a\u202eb.py", first: 3, last: 9, place: "src/aU+202Eb.py:3-9", title: "def f()",
      detail: "function · python · test", snippet: "def f():\n    U+200Bpass", freshness: "edited", url: "" },
  );
  const none = listed({ query: "q", verdict: "not_found", probability: 0.1, reason: "no word occurs", nearest: ["Budget"], searched: 1, evidence: [] });
  assert.equal(none.note, "no word occurs. Nearest: Budget");
  assert.equal(placed("a.py", 4, 4), "a.py:4");
});

test("callers lead to the line of the call", () => {
  const link = (name: string, line: number): Link => ({
    repo: "r", path: "t.py", start_line: 1, end_line: 5, name, kind: "function", tier: "typed", distance: 1, line, line_path: line ? "u.py" : "",
    text: "", signature: "def t()",
  });
  const shown = listedCallers({ query: "f", verdict: "found", of: [link("C.f", 0)], found: [link("t", 4), link("s", 0)], withheld: 2, reason: "", nearest: [] });
  assert.equal(shown.headline, "2 callers of C.f");
  assert.deepEqual(shown.rows.map((row) => row.place), ["u.py:4", "t.py:1-5"]);
  assert.equal(shown.note, "2 uncertain edges left out");
  const unknown = listedCallers({ query: "g", verdict: "not_found", of: [], found: [], withheld: 0, reason: "'g' is defined nowhere here", nearest: [] });
  assert.equal(unknown.headline, "g is not known");
  assert.match(unknown.note, /nowhere/);
});

const fact = (id: string, text: string, more: Partial<Fact> = {}): Fact => ({
  id, text, kind: "decision", reason: "", valid_to: null, disputed: false, confirmed: false, last_at: 1_770_000_000, ...more,
});
const note = (symbol: string, state: AnchorState, at = "src/budget.py"): Note => ({ fact: fact(symbol, `about ${symbol}`), symbol, path: at, state });

test("a fact goes with the symbols it names, and the past is not shown", () => {
  const anchors = [
    { symbol: "Budget.split", path: "src/budget.py", state: "drifted" as const },
    { symbol: "retry_with_backoff", path: "src/retry.py", state: "current" as const },
  ];
  const facts = [
    fact("1", "`Budget.split` rounds down."),
    fact("2", "retry_with_backoff doubles."),
    fact("3", "Splitting retry_with_backoffs hairs."),
    fact("4", "split was once rounded up", { valid_to: 1 }),
  ];
  const found = notesOf({ query: "", evidence: [{ event: { id: "e", at: 1, role: "user" }, facts, anchors }] });
  assert.deepEqual(found.map((each) => [each.fact.id, each.symbol, each.state]), [
    ["1", "Budget.split", "drifted"],
    ["2", "retry_with_backoff", "current"],
  ]);
  assert.deepEqual(notesNamed("split", found).map((each) => each.fact.id), ["1"]);
});

test("notes stand above their symbol, those of code that is gone above the file", () => {
  const notes = [note("Budget.split", "current"), note("Budget.split", "drifted"), note("spend_all", "drifted"), note("old_way", "orphaned"), note("f", "current", "other.py")];
  const shown = lensesOf("src/budget.py", BUDGET, notes);
  assert.deepEqual(shown.map((lens) => [lens.line, lens.symbol, lens.title]), [
    [0, "old_way", "1 note on old_way: 1 orphaned"],
    [6, "Budget.split", "2 notes on Budget.split: 1 current, 1 drifted"],
    [11, "spend_all", "1 note on spend_all: 1 drifted"],
  ]);
});

test("of two methods of one name the one of the right class is meant", () => {
  const text = "class A {\n  split(x) {\n  }\n}\nclass B {\n  static async split(x: number): void {\n    if (x) {\n    }\n  }\n}\n";
  const line = (symbol: string): number | undefined => lensesOf("a.ts", text, [note(symbol, "current", "a.ts")])[0]?.line;
  assert.equal(line("A.split"), 1);
  assert.equal(line("B.split"), 5);
  assert.equal(line("B::split"), 5);
  assert.doesNotMatch(questionOf("a.ts", text), /\bif\b/);
});

test("a question about a file names its symbols and fits an address", () => {
  assert.equal(questionOf("src/budget.py", BUDGET), "src/budget.py Budget __init__ split spend_all");
  assert.ok(questionOf("p", Array.from({ length: 5000 }, (_, n) => `def name_${n}(): pass`).join("\n")).length <= 3500);
});

test("notes are written with kind, day and state, as text", () => {
  const shown = notesMarkdown([{ ...note("f", "drifted"), fact: fact("1", EVIL, { reason: "it had to", confirmed: true }) }]);
  assert.match(shown, /Because it had to/);
  assert.match(shown, /2026-02-02/);
  assert.match(shown, /confirmed; `f`: drifted/);
  assert.doesNotMatch(shown, /[^\\]<img/);
});

test("a context becomes headings, places and fences", () => {
  const piece = { form: "whole", text: "def f():\n    pass", path: "src/a.py", start_line: 4, end_line: 5, freshness: "edited", why: [] };
  const shown = contextMarkdown({
    task: "mend `f`", verdict: "resolved", probability: 0.99, budget: 300,
    sections: [{ name: "primary", chunks: [piece] }, { name: "graph", chunks: [{ form: "line", text: "t calls f", why: [] }] }, { name: "tests", chunks: [] }],
  });
  assert.match(shown, /^# mend \\`f\\`\n\nresolved, 99 %, within 300 tokens\n\n## To read\n\n### `src\/a\.py:4-5` \(edited\)\n\n```py\ndef f/);
  assert.match(shown, /## How it hangs together\n\n- t calls f\n$/);
  assert.match(contextMarkdown({ task: "t", verdict: "not_found", probability: 0, budget: 1, sections: [] }), /Nothing was found/);
});

test("a folder finds its repository, and no path leads out of a root", () => {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), "vademecum-places-")));
  try {
    for (const each of ["app/lib/src", "app-two", "outside"]) mkdirSync(path.join(top, each), { recursive: true });
    writeFileSync(path.join(top, "app/lib/src/a.py"), "");
    writeFileSync(path.join(top, "outside/secret"), "");
    symlinkSync(path.join(top, "app"), path.join(top, "linked"));
    symlinkSync(path.join(top, "outside"), path.join(top, "app/leads-out"));
    const repos = ["app", "app/lib"].map((name) => ({ name, root: path.join(top, name) }));
    assert.equal(repoOf(path.join(top, "app/lib/src"), repos)?.name, "app/lib");
    assert.equal(repoOf(path.join(top, "linked"), repos)?.name, "app");
    assert.equal(repoOf(path.join(top, "app-two"), repos), undefined);
    assert.equal(repoOf(top, repos)?.name, "app");
    const root = path.join(top, "app");
    assert.equal(fileOf("lib/src/a.py", ["/nowhere", root]), path.join(root, "lib/src/a.py"));
    for (const out of ["../outside/secret", path.join(top, "outside/secret"), "leads-out/secret", "lib/none.py"]) {
      assert.equal(fileOf(out, [root]), undefined, out);
    }
    assert.equal(pathIn(root, path.join(top, "linked/lib/src/a.py")), "lib/src/a.py");
    assert.equal(pathIn(root, path.join(top, "outside/secret")), undefined);
  } finally {
    rmSync(top, { recursive: true });
  }
});

test("the status bar tells not indexed, behind, waiting and fresh apart", () => {
  const status: Status = {
    repo: "r", root: "/r", branch: "main", commit: "", files: 1, chunks: 20, languages: {}, skipped: [{ path: "a", reason: "binary" }], fresh: true,
    indexed_at: 5, pending: 0,
  };
  const texts = [{ indexed_at: 0 }, { pending: 3 }, { fresh: false }, {}].map((more) => standingOf({ ...status, ...more }).text);
  assert.deepEqual(texts.map((text) => text.replace(/\$\(.*?\) /, "")), [
    "vademecum: not indexed", "vademecum: 3 vectors to come", "vademecum: behind", "vademecum",
  ]);
  assert.match(standingOf(status).tooltip, /1 file, 20 chunks, 1 file left out; up to date/);
});

test("only messages of the panel's own shape are heard", () => {
  assert.deepEqual(fromPanel({ type: "search", question: " q ", kind: "all", language: "" }), { type: "search", question: "q", kind: "all", language: "" });
  for (const wrong of [null, 3, "search", {}, { type: "search", question: "  ", kind: "all", language: "" }, { type: "search", question: 1, kind: "all", language: "" },
    { type: "open", listing: 1, row: "0" }, { type: "open", listing: 1.5, row: 0 }, { type: "run" }]) {
    assert.equal(fromPanel(wrong), undefined, JSON.stringify(wrong));
  }
});

test("a server is started as words, at the address asked for", () => {
  assert.deepEqual(commandFor(["uvx", "vade"], ["/my repo; rm", "/b"], "http://[::1]:9000"), ["uvx", "vade", "serve", "/my repo; rm", "/b", "--host", "::1", "--port", "9000"]);
});

test("what does not start is named, with the fix", async () => {
  await assert.rejects(Serving.start(["no-such-vade-here"]), (error: Error) => error instanceof StartError && /no `no-such-vade-here`.*pip install/.test(error.message));
  await assert.rejects(Serving.start([]), /vademecum\.command is empty/);
  await assert.rejects(Serving.start([process.execPath, "-e", "console.error('no room'); process.exit(3)"]), /ended with 3: no room/);
  await assert.rejects(Serving.start([process.execPath, "-e", "setInterval(() => 0, 1000)"], process.env, 300), /does not listen after 0.3 s/);
});
