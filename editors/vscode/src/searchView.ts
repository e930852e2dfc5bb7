/** The panel beside the editor: takes questions, lists places, goes to them. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import type { Client } from "./client";
import { fromPanel, type FromPanel, type ToPanel } from "./messages";
import { panelHtml } from "./panelHtml";
import { fileOf } from "./places";
import { listed, type Listing, type Row } from "./results";
import type { Session } from "./session";

const SNIPPET_LINES = 12;

export class SearchView implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private asking: ToPanel | undefined; // a question for a panel that is not there yet
  private last: ToPanel | undefined; // what a panel that comes back has to show
  private shown: Listing = { verdict: "", headline: "", note: "", rows: [] };
  private number = 0;
  private stop = new AbortController();

  constructor(
    private readonly session: Session,
    private readonly extension: vscode.Uri,
    private readonly asked: () => void,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    const media = vscode.Uri.joinPath(this.extension, "media");
    const address = (name: string): string => view.webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
    this.view = view;
    this.ready = false;
    view.webview.options = { enableScripts: true, localResourceRoots: [media] };
    view.webview.onDidReceiveMessage((said) => this.heard(fromPanel(said)));
    // out of sight its page is thrown away; back in sight it is loaded anew, and says that it is ready
    view.onDidChangeVisibility(() => {
      this.ready &&= view.visible;
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
    });
    view.webview.html = panelHtml({
      cspSource: view.webview.cspSource,
      nonce: randomBytes(16).toString("base64url"),
      script: address("panel.js"),
      style: address("panel.css"),
    });
  }

  /** Show the panel, its field with the focus; ask at once where there is a question. */
  async focus(question = ""): Promise<void> {
    this.tell({ type: "ask", question, run: question !== "" });
    await vscode.commands.executeCommand("vademecum.search.focus");
  }

  /** List what was found by other means than a question. */
  async list(listing: Listing): Promise<void> {
    this.stop.abort();
    this.show(listing);
    await vscode.commands.executeCommand("vademecum.search.focus");
  }

  private async heard(message: FromPanel | undefined): Promise<void> {
    switch (message?.type) {
      case "ready":
        this.ready = true;
        if (this.last) this.tell(this.last);
        if (this.asking) this.tell(this.asking);
        this.asking = undefined;
        await this.tellLanguages();
        break;
      case "search":
        await this.search(message.question, message.kind, message.language);
        break;
      case "open": {
        const row = message.listing === this.number ? this.shown.rows[message.row] : undefined;
        if (row) await this.open(row, message.beside);
        break;
      }
      case undefined:
    }
  }

  private async search(question: string, kind: string, language: string): Promise<void> {
    this.stop.abort(); // the question before is answered to nobody
    const { signal } = (this.stop = new AbortController());
    this.tell({ type: "busy", question });
    try {
      const client = await this.session.client();
      const repos = (await this.session.open(client)).map((repo) => repo.name);
      const k = vscode.workspace.getConfiguration("vademecum").get("results", 10);
      const narrowing = { k, kind, languages: language ? [language] : [], repos, snippetLines: SNIPPET_LINES };
      const answer = await client.search(question, narrowing, signal);
      if (!signal.aborted) this.show(listed(answer));
    } catch (error) {
      if (!signal.aborted) this.tell({ type: "failed", message: error instanceof Error ? error.message : String(error) });
    }
    this.asked();
  }

  private async tellLanguages(): Promise<void> {
    try {
      const client: Client = await this.session.client();
      const languages = (await client.status()).flatMap((status) => Object.keys(status.languages));
      this.tell({ type: "languages", languages: [...new Set(languages)].sort() });
    } catch {
      // without a server there are no languages to choose from; a search says why
    }
  }

  private async open(row: Row, beside: boolean): Promise<void> {
    try {
      await goTo(this.session, row, beside);
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  }

  private show(listing: Listing): void {
    this.shown = listing;
    this.tell({ type: "listing", listing, number: ++this.number });
  }

  private tell(message: ToPanel): void {
    if (message.type === "busy" || message.type === "listing" || message.type === "failed") this.last = message;
    if (this.ready) void this.view?.webview.postMessage(message);
    else if (message.type === "ask") this.asking = message;
  }
}

let marking: { editor: vscode.TextEditor; until: vscode.Disposable } | undefined;
const marked = (): vscode.TextEditorDecorationType =>
  (decoration ??= vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.rangeHighlightForeground"),
  }));
let decoration: vscode.TextEditorDecorationType | undefined;

/** Open a place and mark its lines until something else is selected. */
export async function goTo(session: Session, row: Row, beside: boolean): Promise<void> {
  const client = await session.client();
  const root = (await session.repos(client)).find((repo) => repo.name === row.repo)?.root;
  const file = fileOf(row.path, [...(root === undefined ? [] : [root]), ...session.folders()]);
  if (file === undefined) {
    if (/^https?:\/\//.test(row.url)) {
      await vscode.env.openExternal(vscode.Uri.parse(row.url, true));
      return;
    }
    throw new Error(`${row.place} is not on this machine: it may have been moved or deleted; run “vademecum: Index This Workspace”`);
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
  const column = beside ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
  const editor = await vscode.window.showTextDocument(document, { viewColumn: column, preview: true });
  const end = document.lineCount - 1;
  const first = Math.min(Math.max(row.first - 1, 0), end);
  const last = Math.min(Math.max(row.last - 1, first), end);
  const range = new vscode.Range(first, 0, last, document.lineAt(last).text.length);
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  mark(editor, range);
}

function mark(editor: vscode.TextEditor, range: vscode.Range): void {
  unmark();
  editor.setDecorations(marked(), [range]);
  const until = vscode.window.onDidChangeTextEditorSelection((event) => {
    // the cursor that was just put there does not count
    if (event.textEditor === editor && event.kind !== undefined) unmark();
  });
  marking = { editor, until };
}

function unmark(): void {
  marking?.until.dispose();
  marking?.editor.setDecorations(marked(), []);
  marking = undefined;
}
