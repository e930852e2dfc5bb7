import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { after, before, beforeEach, test } from "node:test";

import type { ExtensionContext } from "vscode";

import { activate, deactivate } from "../src/extension";
import { BUDGET, COMMAND, environment, freePort, Served } from "./served";
import { newDesk, Position, Range, Selection, TextDocument, TextEditor, Uri, WebviewView, type Desk } from "./vscode";

interface Manifest {
  contributes: { commands: { command: string }[]; menus: Record<string, { command: string }[]>; keybindings: { command: string }[] };
}

let served: Served;
let desk: Desk;
let dispose: () => void = () => undefined;

before(async () => {
  served = await Served.start();
  await served.index();
  await served.say("We decided that `Budget.split` rounds down because tokens are whole.", 1_770_000_000);
});
after(async () => {
  dispose();
  await served.close();
});
beforeEach(() => {
  dispose();
  begin({ folders: [served.root], settings: { "vademecum.server": { byUser: served.url } } });
});

function begin(arranged: Partial<Desk>): void {
  dispose();
  desk = Object.assign(newDesk(), arranged);
  const context = desk.context();
  activate(context as unknown as ExtensionContext);
  dispose = () => context.subscriptions.forEach((each) => each.dispose());
}

const run = (name: string, ...given: unknown[]) => Promise.resolve(desk.commands.get(`vademecum.${name}`)?.(...given));
const document = (name = "src/budget.py", text = BUDGET) => new TextDocument(Uri.file(path.join(served.root, name)), "python", text);

async function until<T>(find: () => T | undefined | false): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const found = find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`it never came: ${JSON.stringify([desk.said, desk.bar])}`);
}

async function panel(): Promise<{ view: WebviewView; told: (type: string) => Promise<Record<string, never>> }> {
  const view = new WebviewView();
  desk.views.get("vademecum.search")?.resolveWebviewView(view);
  view.heard.fire({ type: "ready" });
  return { view, told: (type) => until(() => view.told.findLast((each) => each["type"] === type) as Record<string, never> | undefined) };
}

test("every command of the manifest is there, and none is left without a place", () => {
  const { contributes } = JSON.parse(readFileSync(path.join(__dirname, "..", "package.json"), "utf8")) as Manifest;
  const named = contributes.commands.map((each) => each.command);
  assert.deepEqual([...desk.commands.keys()].filter((name) => name !== "vademecum.showNotes").sort(), [...named].sort());
  for (const { command } of [...Object.values(contributes.menus).flat(), ...contributes.keybindings]) assert.ok(named.includes(command), command);
});

test("the status bar says how the index stands", async () => {
  await until(() => desk.bar.shown && desk.bar.text === "$(check) vademecum");
  assert.match(desk.bar.tooltip?.value ?? "", /handbook: .*up to date/);
});

test("a question in the panel lists evidence, and Enter goes to its lines and marks them", async () => {
  const { view, told } = await panel();
  assert.deepEqual((await told("languages"))["languages"], ["markdown", "python"]);
  view.heard.fire({ type: "search", question: "how is the token budget split", kind: "all", language: "python" });
  const { listing, number } = (await told("listing")) as unknown as { listing: { rows: { path: string; first: number; last: number }[] }; number: number };
  const index = listing.rows.findIndex((row) => row.path === "src/budget.py");
  const row = listing.rows[index];
  assert.ok(row);
  view.heard.fire({ type: "open", listing: number, row: index, beside: false });
  const editor = await until(() => desk.editor);
  assert.equal(editor.document.uri.fsPath, path.join(served.root, "src/budget.py"));
  const shown = () => [...editor.decorations.values()].flat().map((range) => [range.start.line, range.end.line]);
  await until(() => shown().length);
  assert.deepEqual(shown(), [[row.first - 1, row.last - 1]]);
  assert.equal(editor.selection.active.line, row.first - 1);
  desk.selected.fire({ textEditor: editor, kind: undefined });
  assert.equal(shown().length, 1);
  desk.selected.fire({ textEditor: editor, kind: 1 });
  assert.equal(shown().length, 0);
  desk.editor = undefined;
  view.heard.fire({ type: "open", listing: number - 1, row: index, beside: false });
  view.heard.fire({ type: "open", listing: number, row: 999, beside: false });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(desk.editor, undefined); // a listing that is gone leads nowhere
});

test("a panel that is shown again has its list again", async () => {
  const first = await panel();
  first.view.heard.fire({ type: "search", question: "token budget", kind: "doc", language: "" });
  const { listing } = await first.told("listing");
  first.view.disposed.fire();
  const second = await panel();
  assert.deepEqual((await second.told("listing"))["listing"], listing);
});

test("a question for a panel out of sight is asked once it is back", async () => {
  const { view, told } = await panel();
  view.heard.fire({ type: "search", question: "token budget", kind: "all", language: "" });
  await told("listing");
  view.hide();
  desk.editor = Object.assign(new TextEditor(document(), {}), { selection: new Selection(6, 8, 6, 13) });
  await run("searchSelection");
  view.show();
  await until(() => view.told.length >= 2);
  assert.deepEqual(view.told.slice(0, 2).map((each) => each["type"]), ["listing", "ask"]);
  view.heard.fire({ type: "ready" });
  assert.equal(view.told.filter((each) => each["type"] === "ask").length, 1);
});

test("the selection, or the name at the cursor, is searched for when the panel is there", async () => {
  desk.editor = Object.assign(new TextEditor(document(), {}), { selection: new Selection(6, 9, 6, 9) });
  await run("searchSelection");
  assert.deepEqual(desk.run, ["vademecum.search.focus"]);
  const { told } = await panel();
  assert.deepEqual(await told("ask"), { type: "ask", question: "split", run: true });
  desk.editor = undefined;
  await run("searchSelection");
  assert.match(desk.said[0]?.message ?? "", /nothing is selected/);
});

test("a context opens as Markdown", async () => {
  desk.answers.input = ["split the token budget three ways"];
  await run("context");
  const editor = await until(() => desk.editor);
  assert.equal(editor.document.languageId, "markdown");
  assert.match(editor.document.getText(), /^# split the token budget three ways\n[^]*src\/budget\.py/);
  assert.deepEqual(desk.said, []);
});

test("callers are listed in the panel", async () => {
  const { told } = await panel();
  desk.answers.input = ["Budget.split"];
  await run("callers");
  const { listing } = (await told("listing")) as unknown as { listing: { headline: string; rows: { title: string }[] } };
  assert.match(listing.headline, /callers of Budget\.split/);
  assert.ok(listing.rows.some((row) => row.title === "spend_all"));
});

test("memory stands above the symbol, at its name, and opens as a document", async () => {
  const [lens, ...more] = (await desk.lenses?.provideCodeLenses(document())) ?? [];
  assert.equal(more.length, 0);
  assert.equal(lens?.range.start.line, 6);
  assert.equal(lens?.command?.title, "1 note on Budget.split: 1 current");
  await run("showNotes", ...(lens?.command?.arguments ?? []));
  assert.match(desk.editor?.document.getText() ?? "", /^# `Budget\.split`\n\n- We decided that/);
  const hover = await desk.hovers?.provideHover(document(), new Position(6, 9));
  assert.match(hover?.contents.value ?? "", /rounds down[^]*current/);
  assert.equal(hover?.contents.isTrusted || hover?.contents.supportHtml, false);
  assert.deepEqual(hover?.range, new Range(6, 8, 6, 13));
  assert.equal(await desk.hovers?.provideHover(document(), new Position(0, 1)), undefined);
  desk.settings["vademecum.memory.codeLens"] = { byUser: false };
  desk.settings["vademecum.memory.hover"] = { byUser: false };
  assert.deepEqual(await desk.lenses?.provideCodeLenses(document()), []);
  assert.equal(await desk.hovers?.provideHover(document(), new Position(6, 9)), undefined);
});

test("a file of no repository has nothing beside it, and nobody is asked", async () => {
  const elsewhere = new TextDocument(Uri.file("/nowhere/budget.py"), "python", BUDGET);
  assert.deepEqual(await desk.lenses?.provideCodeLenses(elsewhere), []);
  assert.deepEqual(await desk.lenses?.provideCodeLenses(new TextDocument(Uri.parse("git:budget.py"), "python", BUDGET)), []);
});

test("a workspace that names another machine is refused, and told why", async () => {
  desk.settings["vademecum.server"] = { byUser: served.url, byWorkspace: "http://example.org" };
  const { view, told } = await panel();
  view.heard.fire({ type: "search", question: "budget", kind: "all", language: "" });
  assert.match((await told("failed"))["message"] ?? "", /example\.org.*not this machine.*user settings/);
  desk.answers.input = ["task"];
  await run("context");
  assert.match(desk.said[0]?.message ?? "", /user settings/);
});

test("a folder that is not served is named, with what is", async () => {
  desk.folders = ["/somewhere/else"];
  const { view, told } = await panel();
  view.heard.fire({ type: "search", question: "budget", kind: "all", language: "" });
  assert.match((await told("failed"))["message"] ?? "", /serves handbook, not .*somewhere.*vade serve/);
});

test("indexing follows its job to the end", async () => {
  served.write("src/added.py", "def added_later():\n    pass\n");
  await run("index");
  assert.deepEqual(desk.said, []);
  const { view, told } = await panel();
  view.heard.fire({ type: "search", question: "added_later", kind: "all", language: "" });
  const { listing } = (await told("listing")) as unknown as { listing: { rows: { path: string }[] } };
  assert.equal(listing.rows[0]?.path, "src/added.py");
});

test("a key is kept for its own server alone", async () => {
  desk.answers.input = [" secret-key "];
  await run("key");
  assert.deepEqual([...desk.secrets], [[`vademecum.key ${served.url}`, "secret-key"]]);
  desk.answers.input = [""];
  await run("key");
  assert.equal(desk.secrets.size, 0);
});

test("a server is started when asked and agreed, and it alone is stopped", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const top = path.join(served.top, "second");
  Object.assign(process.env, environment(top));
  const settings = { "vademecum.server": { byUser: url }, "vademecum.command": { byUser: COMMAND, byWorkspace: ["evil"] } };
  begin({ folders: [served.root], settings });
  await until(() => desk.bar.text.includes("no server"));
  desk.answers.message = [undefined];
  await run("start"); // not agreed
  assert.match(desk.said[0]?.detail ?? "", new RegExp(`serve ${served.root} --host 127.0.0.1 --port \\d+`));
  assert.doesNotMatch(desk.said[0]?.detail ?? "", /evil/);
  await assert.rejects(fetch(`${url}/healthz`));
  desk.answers = { input: ["split the budget"], message: ["Start Server", "Start"], pick: [] };
  await run("context"); // nothing answers: the error offers to start
  assert.deepEqual(desk.said[1]?.offers, ["Start Server"]);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  await until(() => desk.bar.text.includes("not indexed"));
  await run("start");
  assert.match(desk.said.at(-1)?.message ?? "", /runs already/);
  await deactivate();
  await assert.rejects(fetch(`${url}/healthz`));
  assert.equal((await fetch(`${served.url}/healthz`)).status, 200);
});

test("nothing is started without trust, without a folder, or elsewhere", async () => {
  desk.trusted = false;
  await run("start");
  desk.trusted = true;
  desk.folders = [];
  await run("start");
  desk.folders = [served.root];
  desk.settings["vademecum.server"] = { byUser: "http://example.org:8765" };
  await run("start");
  assert.deepEqual(desk.said.map((each) => /not trusted|no folder|not a plain address/.exec(each.message)?.[0]), ["not trusted", "no folder", "not a plain address"]);
});

test("what the manifest points to is there", () => {
  for (const name of ["media/icon.svg", "media/panel.js", "media/panel.css", "dist/extension.js", "README.md", "LICENSE"]) {
    assert.ok(existsSync(path.join(__dirname, "..", name)), name);
  }
});
